"""Other right answers to the further notebook 13, what it is worth, and further wrong ones."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== gaps
the first seed | unchanged[row["seed"]] => next(iter(unchanged.values())) | those of the same seed
""")

REWRITES = rewrites("""
== gaps | two loops
def gaps(rows, entry):
    found = []
    for one in rows:
        for other in rows:
            pair = one["entry"], other["entry"]
            if pair == (entry, "all") and one["seed"] == other["seed"]:
                found.append(one["bits"] - other["bits"])
    return found
""")
