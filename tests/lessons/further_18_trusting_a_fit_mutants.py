"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== power_law
base ten | np.log(x), np.log(y) => np.log10(x), np.log(y) | logarithms
""")

REWRITES = rewrites("""
== power_law | by means
def power_law(x, y):
    u, v = np.log(np.asarray(x)), np.log(np.asarray(y))
    slope = ((u - u.mean()) * (v - v.mean())).sum() / ((u - u.mean()) ** 2).sum()
    return float(np.exp(v.mean() - slope * u.mean())), float(-slope)
""")
