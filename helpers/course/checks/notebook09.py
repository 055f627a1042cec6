"""Your turn with attention: weights, the mask, heads, and the whole of it."""

import math

import torch
from torch import nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook09")
SINGLE = 1e-5  # tolerance of single precision


def drawn(draw, *shapes):
    return [draw.normal(*shape, dtype=torch.float32) for shape in shapes]


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
    (Q @ K.T).softmax(1) => (K @ Q.T).softmax(0)
        A row belongs to a query and a column to a key; here it is the other way round, and each
        query has its weights in a column.
    Q @ K.T => Q @ K.T / math.sqrt(K.shape[1])
        The factor 1 / sqrt(d_k) comes in section 3; here the scores are the plain dot products.
    """,
)
def attention_weights(Q, K):
    """Q (T, d_k), K (S, d_k) -> the weights (T, S), whose rows sum to 1."""
    return (Q @ K.T).softmax(1)


def scores_to_mask(draw):
    hand = torch.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 5.0], [0.0, 0.0, 0.0]])
    yield Case("by hand: row 2 is 1/2, 1/2, 0", hand)
    yield Case("a very large score in the future", torch.tensor([[0.0, 300.0], [0.0, 0.0]]))
    for T in (draw.integer(3, 8) for _ in range(3)):
        yield Case("any scores", *drawn(draw, (T, T)))


@turn(
    turns,
    "Put -inf where a column is later than its row (masked_fill wants booleans: `== 0` makes "
    "them), and only then take the softmax of each row. "
    + see(9, "The future is not to be looked at"),
    cases=scores_to_mask,
    tolerance=SINGLE,
    slips="""
    scores.masked_fill(future, -math.inf).softmax(1) => scores.softmax(1).tril()
        The mask comes after the softmax here, so rows do not sum to 1 any more, and the
        denominator still knows the future.
    p = scores.softmax(1).tril(); return p / p.sum(1, keepdim=True)
        0 divided by 0: all the weight of this row was in the future, before it was set to zero.
        Mask the scores, before the softmax.
    -math.inf => 0.0
        A finite score is not hidden, it still gets weight: exp(0) = 1. The future gets -inf.
    .softmax(1) => .softmax(0)
        The softmax goes along each row, over the words that are looked at: softmax(1).
    tril() => triu()
        The wrong side is hidden: here words look at the future, and not at what came before.
    tril() => tril(-1)
        A word may look at itself: the diagonal is not the future. (Here the first row has nothing
        left to look at.)
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
    "axes of words and heads. Sizes are whole numbers: D // H, not D / H. "
    + see(9, "Several heads at once"),
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
    """,
)
def split_heads(x, H):
    """x (B, T, D) -> (B, H, T, D/H): head h gets the h-th group of neighbouring columns."""
    B, T, D = x.shape
    return x.reshape(B, T, H, D // H).transpose(1, 2)


MAPS = ("query", "key", "value", "output")


def with_weights(module, D, H, weights, *given):
    """The output of a module whose four maps have these weights."""
    made = module(D, H).double()
    with torch.no_grad():
        for name, weight in zip(MAPS, weights):
            getattr(made, name).weight.copy_(weight)
        return made(*given)


def uses_of_attention(draw):
    for rule, H, S, mask in (
        ("one head", 1, None, None),
        ("three heads", 3, None, None),
        ("a memory answers", 3, 5, None),
        ("a causal mask", 3, None, torch.ones(5, 5).tril() == 1),
        ("a memory whose last two are hidden", 2, 7, torch.arange(7)[None, None, None] < 5),
    ):
        D = 12
        weights = [draw.normal(D, D) / D**0.5 for _ in MAPS]
        x, source = draw.normal(2, 5, D), None if S is None else draw.normal(2, S, D)
        shapes = "x (2, 5, 12)" + (f", source (2, {S}, 12)" if S else "")
        given = f"D = {D}, H = {H}, {shapes}, {'a mask' if mask is not None else 'no mask'}"
        yield Case(rule, D, H, weights, x, source, mask, given=given)


@turn(
    turns,
    "Queries are made of x, keys and values of the source; split all three into heads; scale and "
    "mask the scores; put the averages of the values side by side again; last comes the output "
    "matrix. " + see(9, "The whole of it, in one class"),
    cases=uses_of_attention,
    call=with_weights,
    tolerance=SINGLE,
    slips="""
    scores.softmax(-1) => scores.softmax(1)
        Axis 1 counts the heads here; the keys are the last axis: softmax(-1).
    / math.sqrt(q.shape[-1]) =>
        The scores are not divided by the root of a head's width: section 3.
    math.sqrt(q.shape[-1]) => math.sqrt(x.shape[-1])
        That divides by the root of D; a query of one head has only D / H numbers.
    self.value(source) => self.value(x)
        Keys and values both come from the source; queries come from x.
    .transpose(1, 2).flatten(2) => .reshape(x.shape)
        A reshape alone mixes words and heads: exchange their axes first, as the split did.
    self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)) => \
    (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        The last matrix, self.output, which mixes the heads, is missing.
    ~mask => mask
        True means may be looked at: fill the scores where the mask is False.
    """,
)
class MultiHeadAttention(nn.Module):
    """H attentions side by side, each in D / H dimensions of its own."""

    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.output = (
            nn.Linear(D, D, bias=False) for _ in range(4)
        )

    def forward(self, x, source=None, mask=None):
        """x (B, T, D) asks; source (B, S, D), or x itself, answers -> (B, T, D).

        mask: True where one may look, (T, S) or any shape that fits the scores (B, H, T, S).
        """
        source = x if source is None else source
        q = split_heads(self.query(x), self.H)  # (B, H, T, D/H)
        k = split_heads(self.key(source), self.H)  # (B, H, S, D/H)
        v = split_heads(self.value(source), self.H)
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, H, T, S)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
