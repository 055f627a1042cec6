"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== products
no weight | * w * => * | times w
no square | h[t] ** 2 => h[t] | Begin with [1.0]
one too many | h) - 1, 0, -1 => h) - 1, -1, -1 | T, T - 1, ..., 1
""")

REWRITES = rewrites("""
== products | while
def products(w, h):
    result, t = [1.0], len(h) - 1
    while t > 0:
        result += [result[-1] * (w - w * h[t] * h[t])]
        t -= 1
    return result

== products | an array
def products(w, h):
    factors = w * (1 - np.array(h[:0:-1]) ** 2)
    return np.concatenate([[1.0], np.cumprod(factors)])
""")
