"""Your turn with attention: weights, the scale, the mask, heads, a memory, a habit."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook09")
SINGLE = 1e-5  # tolerance of single precision


def drawn(draw, *shapes):
    return [draw.normal(*shape, dtype=torch.float32) for shape in shapes]


def single_queries(draw):
    K = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    V = torch.tensor([[10.0, 0.0], [0.0, 5.0], [10.0, 5.0]])
    yield Case("by hand: (8.9, 4.5)", torch.tensor([0.0, 2.0]), K, V)
    yield Case("equal scores give the mean", torch.zeros(2), K, V)
    for _ in range(3):
        S, d_k, d_v = draw.integer(3, 7), draw.integer(2, 5), draw.integer(2, 5)
        yield Case("any query, keys and values", *drawn(draw, (d_k,), (S, d_k), (S, d_v)))


@turn(
    turns,
    "Score every key with the query, take the powers of e, divide by their sum, and add up the "
    "values with these weights. " + see(9, "Queries, keys and values"),
    cases=single_queries,
    tolerance=SINGLE,
    slips="""
    torch.exp(s) => torch.exp(s / len(q) ** 0.5)
        The factor 1 / sqrt(d_k) comes in section 3; here the scores are the plain dot products.
    p / total * v => p * v
        The powers of e are not yet weights: divide them by their sum.
    torch.exp(s) => s
        Scores are made positive by the exponential before they are divided by their sum.
    sum(p / total * v for p, v in zip(powers, V)) => sum(s * v for s, v in zip(scores, V))
        These are the scores times the values; first make weights of the scores, by softmax.
    sum(p / total * v for p, v in zip(powers, V)) => V[scores.index(max(scores))]
        That is the value of the best key alone, as in a dictionary; all values are averaged.
    zip(powers, V) => zip(powers, K)
        The weights come from the keys, and what is averaged are the values.
    sum(p / total * v for p, v in zip(powers, V)) => torch.stack(powers) / total
        These are the weights; the output is the average of the values with them.
    """,
)
def one_output(q, K, V):
    """q (d_k,), K (S, d_k), V (S, d_v) -> the output, a tensor (d_v,), of one query, by loops."""
    scores = [sum(q[i] * k[i] for i in range(len(q))) for k in K]
    powers = [torch.exp(s) for s in scores]
    total = sum(powers)
    return sum(p / total * v for p, v in zip(powers, V))


def queries_and_keys(draw):
    Q = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    K = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    yield Case("by hand: row 2 is 0.11, 0.11, 0.79", Q, K)
    for _ in range(3):
        T, d_k = draw.integer(2, 4), draw.integer(2, 5)
        shapes = (T, d_k), (T + draw.integer(1, 4), d_k)
        yield Case("any number of queries and keys", *drawn(draw, *shapes))


@turn(
    turns,
    "All dot products are Q K^T, (T, S); the softmax goes along each row. "
    + see(9, "Queries, keys and values"),
    cases=queries_and_keys,
    tolerance=SINGLE,
    slips="""
    softmax(1) => softmax(0)
        The softmax goes over the keys: the weights of one query sum to 1. A query is a row:
        softmax(1).
    .softmax(1) =>
        These are the scores; the softmax of each row makes weights.
    Q @ K.T => K @ Q.T
    (Q @ K.T).softmax(1) => (K @ Q.T).softmax(0)
        A row belongs to a query and a column to a key; here it is the other way round, and each
        query has its weights in a column.
    Q @ K.T => Q @ K.T / math.sqrt(K.shape[1])
        The factor 1 / sqrt(d_k) comes in section 3; here the scores are the plain dot products.
    .softmax(1) => .exp()
        The powers of e are not yet weights: divide each row by its sum.
    (Q @ K.T).softmax(1) => (Q @ K.T) / (Q @ K.T).sum(1, keepdim=True)
        Scores may be negative: a softmax makes them positive before it divides.
    """,
)
def attention_weights(Q, K):
    """Q (T, d_k), K (S, d_k) -> the weights (T, S), whose rows sum to 1."""
    return (Q @ K.T).softmax(1)


def of_several_widths(draw):
    Q = torch.tensor([[2.0, 0, 0, 0], [0, 0, 0, 2.0]])
    K = torch.cat([torch.eye(4), torch.zeros(1, 4)])
    V = torch.tensor([[10.0, 0, 1], [4, 3, 0], [1, 0, 2], [0, 6, 0], [2, 2, 2]])
    yield Case("by hand: scores 1, 0, 0, 0, 0 with d_k = 4", Q, K, V)
    for d_k in (3, 16, 6):
        T, S, d_v = draw.integer(2, 4), draw.integer(7, 12), draw.integer(4, 6)
        yield Case("any shapes", *drawn(draw, (T, d_k), (S, d_k), (S, d_v)))


@turn(
    turns,
    "Divide the scores by the square root of the length of one query before the softmax, and "
    "average the values. " + see(9, "Why divide by √d_k"),
    cases=of_several_widths,
    tolerance=SINGLE,
    slips="""
    K / math.sqrt(K.shape[1]) => K
        The scores are not divided by anything yet.
    math.sqrt(K.shape[1]) => K.shape[1]
        d_k is the variance of the scores; divide once by its root, the standard deviation.
    K / math.sqrt => K * math.sqrt
        That multiplies the scores by the root, and makes them larger still.
    attention_weights(Q, K / math.sqrt(K.shape[1])) @ V => \
    attention_weights(Q, K) @ V / math.sqrt(K.shape[1])
        The factor stands inside of the softmax; outside, it only makes the output smaller.
    K.shape[1] => len(K)
    K.shape[1] => len(Q)
        That is the root of the number of keys, or of the number of queries; d_k is the length of
        one of them, of a row.
    K.shape[1] => V.shape[1]
        That is d_v, the length of a value; the dot product has d_k terms.
    math.sqrt(K.shape[1]) => 8
        8 is right for d_k = 64 only: take the root of the length of a key, K.shape[1].
    @ V =>
        These are the weights; the output is the average of the values with them.
    """,
)
def scaled_attention(Q, K, V):
    """Q (T, d_k), K (S, d_k), V (S, d_v) -> the outputs (T, d_v), with scaled scores."""
    return attention_weights(Q, K / math.sqrt(K.shape[1])) @ V


def scores_to_mask(draw):
    hand = torch.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 5.0], [0.0, 0.0, 0.0]])
    yield Case("by hand: row 2 is 1/2, 1/2, 0", hand)
    yield Case("a very large score in the future", torch.tensor([[0.0, 300.0], [0.0, 0.0]]))
    for T in (draw.integer(3, 8) for _ in range(3)):
        yield Case("any scores", *drawn(draw, (T, T)))


@turn(
    turns,
    "Put -inf where a column is later than its row, and only then take the softmax of each row. "
    + see(9, "The future is not to be looked at"),
    cases=scores_to_mask,
    tolerance=SINGLE,
    slips="""
    scores.masked_fill(future, -math.inf) => scores
        Nothing is masked yet: the first word looks at all others.
    scores.masked_fill(future, -math.inf).softmax(1) => scores.softmax(1).tril()
        The mask comes after the softmax here, so rows do not sum to 1 any more, and the
        denominator still knows the future.
    p = scores.softmax(1).tril(); return p / p.sum(1, keepdim=True)
        0 divided by 0: all the weight of this row was in the future, before it was set to zero.
        Mask the scores, before the softmax.
    -math.inf => 0.0
    -math.inf => -1.0
    -math.inf => -10.0
        A finite score is not hidden, it still gets weight: exp(0) = 1, exp(-1) = 0.37,
        exp(-10) = 0.00005. The future gets -inf.
    == 0 => == 1
    tril() => triu()
        The wrong side is hidden: here words look at the future, and not at what came before.
    tril() => tril(-1)
        A word may look at itself: the diagonal is not the future. (Here the first row has nothing
        left to look at.)
    softmax(1) => softmax(0)
        The softmax goes along the rows: each row sums to 1.
    .softmax(1) =>
        These are the masked scores; take the softmax of each row.
    """,
)
def causal_weights(scores):
    """scores (T, T) -> weights (T, T): no row looks at a later column, and each sums to 1."""
    future = torch.ones(len(scores), len(scores)).tril() == 0
    return scores.masked_fill(future, -math.inf).softmax(1)


def wide_words(draw):
    small = torch.arange(12.0).view(1, 3, 4)
    yield Case("three words of four numbers, two heads", small, 2)
    for _ in range(3):
        B, T, H, K = draw.integer(2, 4), draw.integer(5, 7), draw.integer(2, 4), draw.integer(4, 6)
        yield Case("any shape", *drawn(draw, (B, T, H * K)), H)


@turn(
    turns,
    "First give each word H groups of D/H neighbouring numbers, (B, T, H, D/H), then exchange the "
    "axes of words and heads. " + see(9, "Several heads at once"),
    cases=wide_words,
    tolerance=SINGLE,
    slips="""
    x.reshape(B, T, H, D // H).transpose(1, 2) => x.reshape(B, H, T, D // H)
        The shape is right, the numbers are not: reshaping to (B, H, T, D/H) at once mixes
        different words. First (B, T, H, D/H), then transpose.
    .transpose(1, 2) =>
        The axis of the heads still stands behind that of the words: exchange them.
    H, D // H).transpose(1, 2) => D // H, H).permute(0, 3, 1, 2)
        Head h gets neighbouring columns, the h-th group of D/H; here it gets every H-th one.
    transpose(1, 2) => transpose(2, 3)
        Axes 2 and 3 are exchanged, heads and their width; exchange words and heads, 1 and 2.
    H, D // H) => D // H, H)
        These are D/H heads of width H; H heads of width D/H are asked for.
    .transpose(1, 2) => .permute(2, 0, 1, 3)
        The batch stays the first axis: (B, H, T, D/H).
    """,
)
def split_heads(x, H):
    """x (B, T, D) -> (B, H, T, D/H): head h gets the h-th group of neighbouring columns."""
    B, T, D = x.shape
    return x.reshape(B, T, H, D // H).transpose(1, 2)


def memories(draw):
    for T, S, rule in ((4, 4, "as many queries as keys"), (3, 6, "fewer queries than keys")):
        for _ in range(2):
            yield Case(rule, *drawn(draw, (T, 5), (S, 5), (5, 3), (5, 3), (5, 3)))


@turn(
    turns,
    "Queries are made of X, keys and values both of the memory M. "
    + see(9, "Queries from elsewhere"),
    cases=memories,
    tolerance=SINGLE,
    slips="""
    M @ W_K, M @ W_V => X @ W_K, X @ W_V
    M @ W_K => X @ W_K
    M @ W_V => X @ W_V
        Keys and values both come from the memory M; made of X, they make self-attention of X.
    X @ W_Q => M @ W_Q
        That is self-attention of the memory; the queries come from X.
    X @ W_Q, M @ W_K, M @ W_V => M @ W_Q, X @ W_K, X @ W_V
        X and M have changed places: X asks, M answers.
    X @ W_Q, M @ W_K => X @ W_K, M @ W_Q
    M @ W_K, M @ W_V => M @ W_V, M @ W_K
        Two of the maps have changed places: W_Q makes the queries, W_K the keys, W_V the values.
    scaled_attention(X @ W_Q, M @ W_K, M @ W_V) => attention_weights(X @ W_Q, M @ W_K) @ (M @ W_V)
        The scores are not divided by the root of d_k yet.
    return (X @ W_Q @ (M @ W_K).T / math.sqrt(X.shape[1])).softmax(1) @ M @ W_V
        That divides by the root of D; d_k is the length of one query, the columns of W_Q.
    M @ W_V => M
        The values are the memory times W_V.
    """,
)
def cross_attention(X, M, W_Q, W_K, W_V):
    """X (T, D) asks, the memory M (S, D) answers -> the outputs (T, d_v), with scaled scores."""
    return scaled_attention(X @ W_Q, M @ W_K, M @ W_V)


def looks_at_marks(draw):
    looks = torch.tensor([[[1.0, 0, 0], [0.3, 0.7, 0], [0.5, 0.2, 0.3]]])[None, None]
    yield Case("by hand: 0.3 and 0.5, so 0.4", looks, torch.tensor([[-1, 0, 0]]))
    for _ in range(3):
        L, H, B, T = (draw.integer(low, low + 2) for low in (2, 4, 2, 7))
        marks = torch.full((B, T), -1)
        marks[0, 2:] = 1  # texts with different numbers of such tokens
        marks[1, 4:6] = 3
        (looks,) = drawn(draw, (L, H, B, T, T))
        yield Case("any texts and marks", looks.softmax(-1), marks)


@turn(
    turns,
    "Of the tokens that have a mark, take the weight in row t and column marks[b, t] of their text "
    "b, for all heads at once, and average over these tokens. "
    + see(9, "Heads of a trained model"),
    cases=looks_at_marks,
    tolerance=SINGLE,
    slips="""
    t, marks[b, t]] => marks[b, t], t]
        Rows ask and columns are asked: the row is the token's, the column its mark's.
    mean(-1) => sum(-1)
    .mean(-1) =>
        That is a sum, or the weights of the single tokens; their mean is asked for: divide by n.
    mean(-1) => mean()
    mean(-1) => mean((0, 1))
        That averages over the heads, too; each head has a mean of its own, (L, H): average over the
        tokens, the last axis.
    b, t = torch.where(marks >= 0); looks = looks[:, :, b, t, marks[b, t]]; \
    return torch.stack([looks[:, :, b == text].mean(-1) for text in b.unique()]).mean(0)
        Each token counts once here: no means of texts, but of all tokens together.
    marks >= 0 => marks >= -1
        Tokens without a mark, where marks is -1, do not count; -1 would be the last position.
    marks[b, t]] => t]
        That is how much the tokens look at themselves: the column is marks[b, t].
    """,
)
def to_mark(looks, marks):
    """looks (L, H, B, T, T), marks (B, T) -> (L, H): the mean weight of tokens on their mark."""
    b, t = torch.where(marks >= 0)
    return looks[:, :, b, t, marks[b, t]].mean(-1)
