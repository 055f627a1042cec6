"""Other right answers to the further notebook 10, rotations."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== by_distance | loops
def by_distance(A):
    T = len(A)
    means = [sum(A[j + d, j] for j in range(T - d)) / (T - d) for d in range(T)]
    return torch.stack(means)

== score_by_distance | the query turned by the distance
def score_by_distance(q, k, theta, distance):
    c, s = math.cos(theta * distance), math.sin(theta * distance)
    return torch.tensor([[c, -s], [s, c]]) @ q @ k

== score_by_distance | length and angle
def score_by_distance(q, k, theta, distance):
    size = math.hypot(*q.tolist()) * math.hypot(*k.tolist())
    between = math.atan2(k[1], k[0]) - math.atan2(q[1], q[0])
    return torch.tensor(size * math.cos(between - theta * distance), dtype=q.dtype)
""")
