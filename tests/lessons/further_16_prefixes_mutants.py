"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== exchange
one flat list | table.append(row) => table += row | : length
""")

REWRITES = rewrites("""
== exchange | one sentence after the other
def exchange(write, french, english):
    counts = [[0, 0], [0, 0]]
    for f, e in zip(french, english):
        for i, prefix in enumerate(("to-English:", "to-French:")):
            for j, words in enumerate((f, e)):
                (text,) = write([(prefix,) + tuple(words)])
                counts[i][j] += text == (e, f)[i]
    return [[count / len(french) for count in row] for row in counts]
""")
