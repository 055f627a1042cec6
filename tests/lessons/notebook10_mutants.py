"""Plausible wrong answers to notebook 10, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # judge
    Mutant(
        "judge",
        "its own neighbour",
        "    distances.fill_diagonal_(math.inf)  # a row is no neighbour of itself\n",
        "",
        "at distance 0 from itself",
    ),
    Mutant("judge", "no absolute value", "P.abs().max()", "P.max()", "large negative entry"),
    Mutant("judge", "lengths", "P.abs().max()", "P.norm(dim=1).max()", "length of the longest row"),
    Mutant(
        "judge",
        "the farthest two",
        "distances.fill_diagonal_(math.inf)  # a row is no neighbour of itself\n"
        "    return P.abs().max().item(), distances.min()",
        "return P.abs().max().item(), distances.max()",
        "farthest apart",
    ),
    Mutant(
        "judge",
        "neighbours only",
        "distances.min().item()",
        "(P[1:] - P[:-1]).norm(dim=1).min().item()",
        "any two positions may be near",
    ),
    Mutant(
        "judge",
        "without zeros",
        "distances.fill_diagonal_(math.inf)  # a row is no neighbour of itself\n"
        "    return P.abs().max().item(), distances.min()",
        "return P.abs().max().item(), distances[distances > 0].min()",
        "not the zeros",
    ),
    Mutant(
        "judge",
        "exchanged",
        "return P.abs().max().item(), distances.min().item()",
        "return distances.min().item(), P.abs().max().item()",
        "largest value comes first",
    ),
    Mutant(
        "judge",
        "squared",
        "distances.min().item()",
        "distances.min().item() ** 2",
        "squared distance",
    ),
    # binary
    Mutant("binary", "highest first", "torch.arange(bits)", "torch.arange(bits).flip(0)", "lowest"),
    Mutant("binary", "from 1", "torch.arange(T)[", "torch.arange(1, T + 1)[", "count from 0"),
    Mutant("binary", "turned", ".float()", ".float().T", "A row is a position"),
    Mutant("binary", "no remainder", " % 2)", ")", "is it odd?"),
    Mutant("binary", "remainder only", "t // 2**j % 2", "t % 2**j", "keeps the lower digits"),
    Mutant("binary", "weights", "t // 2**j % 2", "t & 2**j", "still has its weight"),
    Mutant("binary", "even", "% 2)", "% 2 == 0)", "are exchanged"),
    Mutant("binary", "whole numbers", ".float()", "", "Floats are asked for"),
    # shift_pair
    Mutant("shift_pair", "back", "[[c, s], [-s, c]]", "[[c, -s], [s, c]]", "turns back"),
    Mutant("shift_pair", "no minus", "[-s, c]", "[s, c]", "minus sign is missing"),
    Mutant("shift_pair", "exchanged", "[[c, s], [-s, c]]", "[[s, c], [c, -s]]", "nothing moves"),
    Mutant("shift_pair", "degrees", "c, s = ", "b = math.radians(b); c, s = ", "radians already"),
    Mutant("shift_pair", "single", ", dtype=torch.float64", "", "float64 is asked for"),
    # by_distance
    Mutant("by_distance", "upper side", "-delta", "delta", "keys lie in the future"),
    Mutant("by_distance", "sums", ".mean()", ".sum()", "fewer pairs"),
    Mutant("by_distance", "by T", ".mean()", ".sum() / len(A)", "T - delta entries"),
    Mutant("by_distance", "from 1", "range(len(A))", "range(1, len(A))", "comes first"),
    Mutant("by_distance", "first entries", ".mean()", "[0]", "first column alone"),
    Mutant(
        "by_distance",
        "columns",
        "torch.stack([A.diagonal(-delta).mean() for delta in range(len(A))])",
        "A.mean(0)",
        "mean of each column",
    ),
    Mutant(
        "by_distance",
        "the last query",
        "torch.stack([A.diagonal(-delta).mean() for delta in range(len(A))])",
        "A[-1].flip(0)",
        "last row alone",
    ),
    # score_by_distance
    Mutant(
        "score_by_distance",
        "the other side",
        "b = q[0] * k[1] - q[1] * k[0]",
        "b = q[1] * k[0] - q[0] * k[1]",
        "stands behind the query",
    ),
    Mutant(
        "score_by_distance",
        "cosine only",
        " + b * math.sin(theta * distance)",
        "",
        "b is missing",
    ),
    Mutant("score_by_distance", "a sum", "k[1] - q[1]", "k[1] + q[1]", "b is a difference"),
    Mutant(
        "score_by_distance",
        "no distance",
        "a * math.cos(theta * distance) + b * math.sin(theta * distance)",
        "a * math.cos(theta) + b * math.sin(theta)",
        "grows with the distance",
    ),
    Mutant(
        "score_by_distance",
        "exchanged",
        "a * math.cos(theta * distance) + b * math.sin(theta * distance)",
        "b * math.cos(theta * distance) + a * math.sin(theta * distance)",
        "changed places",
    ),
    Mutant("score_by_distance", "no dot product", "k[0] + q[1]", "k[0] - q[1]", "plain dot prod"),
    # alibi_bias
    Mutant("alibi_bias", "far wins", "-slope", "slope", "farthest key gets the highest"),
    Mutant(
        "alibi_bias",
        "no mask",
        ".masked_fill(distance < 0, -math.inf)",
        "",
        "future get a higher score",
    ),
    Mutant("alibi_bias", "zeros", "-math.inf", "0.0", "A 0 does not hide"),
    Mutant(
        "alibi_bias",
        "both sides",
        "(-slope * distance).masked_fill(distance < 0, -math.inf)",
        "-slope * distance.abs()",
        "like those of the past",
    ),
    Mutant("alibi_bias", "turned", "t[:, None] - t ", "t - t[:, None] ", "A row is a query"),
    Mutant("alibi_bias", "not itself", "distance < 0", "distance <= 0", "sees itself"),
    Mutant("alibi_bias", "one slope", "-slope * distance", "-1.0 * distance", "slope of its own"),
    Mutant("alibi_bias", "wrong side", "distance < 0", "distance >= 0", "wrong side is hidden"),
    Mutant(
        "alibi_bias",
        "the key's position",
        "(-slope * distance)",
        "(-slope * t.expand(T, T))",
        "key's position",
    ),
    Mutant("alibi_bias", "a low number", "-math.inf", "-1e9", "exactly 0"),
    Mutant(
        "alibi_bias",
        "key's position",
        "(-slope * distance).masked",
        "(slope * t.expand(T, T)).masked",
        "0 on the diagonal",
    ),
    # window_mask
    Mutant(
        "window_mask",
        "blocks",
        "(distance < width)",
        "(t[:, None] // width == t // width)",
        "blocks of width",
    ),
    Mutant("window_mask", "one too many", "< width", "<= width", "One key too many"),
    Mutant("window_mask", "one too few", "< width", "< width - 1", "One key too few"),
    Mutant("window_mask", "the future", "(distance >= 0) & ", "", "looks into the future"),
    Mutant(
        "window_mask",
        "both sides",
        "(distance >= 0) & (distance < width)",
        "distance.abs() < width",
        "looks into the future",
    ),
    Mutant("window_mask", "not itself", "distance >= 0", "distance > 0", "own position is seen"),
    Mutant("window_mask", "causal", " & (distance < width)", "", "That is the causal mask"),
    Mutant(
        "window_mask",
        "hidden",
        "(distance >= 0) & (distance < width)",
        "(distance < 0) | (distance >= width)",
        "seen, not hidden",
    ),
    Mutant("window_mask", "turned", "t[:, None] - t", "t - t[:, None]", "A row is a query"),
]

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
