"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== falls
one character | character in characters => character == characters[0] | Ta
a list | torch.tensor([character in characters for character in text]) \
    => [character in characters for character in text] | not a list

== share_won
per cent | return won => return 100 * won | divide by the number
""")

REWRITES = rewrites("""
== falls | weights
def falls(gates, text, characters):
    at = torch.tensor([character in set(characters) for character in text]).to(gates)
    return (1 - at) @ gates / (1 - at).sum() - at @ gates / at.sum()

== share_won | two loops
def share_won(first, second):
    won = 0.0
    for a in first:
        for b in second:
            won += 1.0 if a < b else 0.5 if a == b else 0.0
    return won / len(first) / len(second)
""")
