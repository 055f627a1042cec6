"""Other right answers to the further notebook 19, leaderboards, and wrong ones beside its slips."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== elo
another K | 32 * => 16 * | First e
in place | list(ratings), 32 => ratings, 32 | a list of your own
twice | new[a] += change => new[a] += 2 * change | First e
""")

REWRITES = rewrites("""
== elo | with exp
def elo(ratings, a, b, won):
    difference = (ratings[a] - ratings[b]) / 400
    expected = 10**difference / (1 + 10**difference)
    change = 32 * (won - expected)
    return [r + change * ((i == a) - (i == b)) for i, r in enumerate(ratings)]
""")
