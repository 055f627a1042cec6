"""Your turn with what tokens hide: the position that a number's digits have."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_03_what_tokens_hide")


def numbers(draw):
    yield Case("as with the pencil", ["6", "41", "30"])
    for _ in range(4):
        tokens = [draw.text(draw.integer(1, 4), "0123456789") for _ in range(draw.integer(3, 6))]
        yield Case("it is right for any tokens", tokens)


@turn(
    turns,
    "For each token, add up how many digits the tokens after it have; after the last one there "
    "are none.",
    cases=numbers,
    slips="""
    [k + 1 :] => [:k]
        These are the digits to the left of each token: count those to the right.
    [k + 1 :] => [k:]
        Each token's own digits are counted, too: begin behind it.
    len("".join(tokens[k + 1 :])) => len(tokens[k + 1 :])
        That is the number of tokens behind it: a token may have several digits.
    range(len(tokens)) => reversed(range(len(tokens)))
        The first number belongs to the first token.
    [k + 1 :] => [k + 1 : k + 2]
        That is the next token alone: count the digits of all that follow.
    """,
)
def digits_behind(tokens):
    """For each token of a number, how many digits stand to the right of it; a list."""
    return [len("".join(tokens[k + 1 :])) for k in range(len(tokens))]
