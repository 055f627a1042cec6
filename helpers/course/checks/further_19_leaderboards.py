"""Your turn with leaderboards: a rating after one battle."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("further_19_leaderboards")


def some_battles(draw):
    yield Case("by hand", [1000.0, 1000.0], 0, 1, 1)
    yield Case("a favourite loses", [1000.0, 1200.0, 1400.0], 2, 0, 0)
    yield Case("a favourite wins", [1500.0, 1100.0], 0, 1, 1)
    ratings = (1000 + 150 * draw.normal(5)).tolist()
    a, b = 3, draw.integer(0, 2)
    for won in (0, 1):
        yield Case(
            "any battle", ratings, a, b, won, given=f"five ratings, {a} meets {b}, s = {won}"
        )


def list_of_ratings(answer, ratings, a, b, won):
    before = list(ratings)
    got = answer(ratings, a, b, won)
    if ratings != before:
        hint = "Make a list of your own first, list(ratings), and change that."
        raise Complaint("the ratings given stay as they are", hint, got=repr(ratings))
    return got


@turn(
    turns,
    "First e from the two ratings; then in a list of your own a rises by K (s - e) and b falls by "
    "as much, and the others stay.",
    cases=some_battles,
    call=list_of_ratings,
    tolerance=1e-6,
    slips="""
    ratings[b] - ratings[a] => ratings[a] - ratings[b]
        The sign is turned round: who has the higher rating is expected to win more often.
    32 * (won - e) => 32 * won
        What was expected is taken off: a favourite gains little by winning.
    32 * (won - e) => 32 * (e - won)
        The sign is turned round: who wins rises.
    new[b] -= change =>
        What a gains, b loses.
    new[b] -= change => new[b] += change
        What a gains, b loses: one of the two rises and the other one falls.
    10 ** => 2.718281828 **
        The base is 10: 400 points are odds of ten to one.
    """,
)
def elo(ratings, a, b, won):
    """The ratings after a has met b, where won is 1 if a has won and 0 if not; K = 32."""
    e = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
    new, change = list(ratings), 32 * (won - e)
    new[a] += change
    new[b] -= change
    return new
