"""Other right answers to the further notebook on what tokens hide."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites('''
== digits_behind | from the right
def digits_behind(tokens):
    """For each token of a number, how many digits stand to the right of it; a list."""
    behind, out = 0, []
    for token in reversed(tokens):
        out.insert(0, behind)
        behind += len(token)
    return out
''')
