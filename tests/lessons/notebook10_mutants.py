"""Other right answers to notebook 10."""

from tests.labs.mutation import Rewrite

# All wrong answers are slips.
MUTANTS = []

REWRITES = [
    Rewrite(
        "judge",
        "with an infinite diagonal added",
        """
def judge(P):
    away = torch.cdist(P, P) + torch.full((len(P),), math.inf).diag().nan_to_num(0.0, posinf=1e30)
    return float(abs(P).max()), float(away.min())
""",
    ),
    Rewrite(
        "binary",
        "shifted bits",
        """
def binary(T, bits):
    return torch.tensor([[float(t >> j & 1) for j in range(bits)] for t in range(T)])
""",
    ),
    Rewrite(
        "shift_pair",
        "as an exponential",
        """
def shift_pair(b):
    turn = torch.tensor([[0.0, b], [-b, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(turn)
""",
    ),
    Rewrite(
        "by_distance",
        "loops",
        """
def by_distance(A):
    T = len(A)
    means = [sum(A[j + d, j] for j in range(T - d)) / (T - d) for d in range(T)]
    return torch.stack(means)
""",
    ),
    Rewrite(
        "score_by_distance",
        "length and angle",
        """
def score_by_distance(q, k, theta, distance):
    size = math.hypot(*q.tolist()) * math.hypot(*k.tolist())
    between = math.atan2(k[1], k[0]) - math.atan2(q[1], q[0])
    return torch.tensor(size * math.cos(between - theta * distance), dtype=q.dtype)
""",
    ),
    Rewrite(
        "alibi_bias",
        "loops",
        """
def alibi_bias(slope, T):
    row = lambda i: [-slope * (i - j) if j <= i else -math.inf for j in range(T)]
    return torch.tensor([row(i) for i in range(T)])
""",
    ),
    Rewrite(
        "window_mask",
        "two triangles",
        """
def window_mask(T, width):
    ones = torch.ones(T, T, dtype=torch.bool)
    return ones.tril() & ones.triu(1 - width)
""",
    ),
]
