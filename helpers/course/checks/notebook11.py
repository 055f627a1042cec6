"""Your turn with a transformer block: its stream, its norm, its feed-forward layer, the whole."""

import torch
from torch import nn
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention

turns = Lab("notebook11")


def streams(draw):
    double = [lambda x: 2 * x, lambda x: x * x]
    start = torch.tensor([1.0, -1.0]).double()
    given = "x = (1, -1) and the layers 2x and x²: first (3, -3), then (12, 6)"
    yield Case("by hand", start, double, given=given)
    for depth in (1, 4):
        Ws = [draw.normal(3, 3) for _ in range(depth)]
        layers = [lambda x, W=W: (x @ W).tanh() for W in Ws]
        yield Case("any layers", draw.normal(2, 3), layers, given=f"{depth} layers tanh(xW)")


@turn(
    turns,
    "Begin with the list [x]; each layer reads the last state, and the next state is that one plus "
    "what the layer gives. " + see(11, "Residual connections: add, do not replace"),
    cases=streams,
    slips="""
    states[-1] + layer(states[-1]) => layer(states[-1])
        Nothing is added to anything here: the old state is missing.
    states[-1] + layer(states[-1]) => states[-1] + layer(x)
        Each layer reads the last state, not the first.
    states[-1] + layer(states[-1]) => x + layer(states[-1])
        What a layer gives is added to the last state, not to the first.
    return states => return states[1:]
        The list begins with x itself: L layers, L + 1 states.
    return states => return states[:-1]
        The state after the last layer is missing: L layers, L + 1 states.
    return states => return states[-1]
        That is the last state alone; the list of all of them is asked for.
    """,
)
def residual_stream(x, layers):
    """The list [x_0, ..., x_L] of the stream's states, x_{l+1} = x_l + f_l(x_l)."""
    states = [x]
    for layer in layers:
        states.append(states[-1] + layer(states[-1]))
    return states


def vectors(draw):
    yield Case("by hand", torch.tensor([[1.0, 1.0, -5.0]]).double(), torch.ones(3).double(), 0.0)
    for _ in range(3):
        d = draw.integer(3, 7)
        yield Case("any batch", 2 * draw.normal(3, 4, d) + 1, draw.normal(d), 0.1)


@turn(
    turns,
    "Square, take the mean over the last dimension with keepdim=True, add eps, take the root; "
    "divide x by it and multiply by g. " + see(11, "Norms: one vector at a time"),
    cases=vectors,
    without=("rms_norm", "RMSNorm"),
    slips="""
    return x / => x = x - x.mean(-1, keepdim=True); return x /
        The mean stays where it is: RMSNorm subtracts nothing.
    (x**2).mean(-1, keepdim=True) => (x**2).sum(-1, keepdim=True)
        That is the length of the vector: the *mean* of the squares is asked for.
    (x**2).mean(-1, keepdim=True) => x.mean(-1, keepdim=True) ** 2
        That is the square of the mean: square first, then take the mean.
    ((x**2).mean(-1, keepdim=True) + eps).sqrt() => (x.std(-1, keepdim=True) + eps)
        x.std is the distance from the mean (and divides by d - 1): RMSNorm squares x itself.
    .sqrt() =>
        The root is missing: root of the mean of the squares.
    ((x**2).mean(-1, keepdim=True) + eps).sqrt() => ((x**2).mean(-1, keepdim=True).sqrt() + eps)
        eps is added before the root, not after it.
    mean(-1, keepdim=True) => mean()
        One mean for all: each vector is normalized by itself.
    + eps =>
        eps is missing: a vector of zeros would give 0/0.
    .sqrt() * g => .sqrt()
        The learned factors g are missing.
    """,
)
def rmsnorm(x, g, eps):
    """RMSNorm of every vector of x (..., d); g has d numbers."""
    return x / ((x**2).mean(-1, keepdim=True) + eps).sqrt() * g


def filled(kind, sizes, weights, *inputs):
    """What a module of these sizes gives with these weights."""
    made = kind(*sizes).double()
    found, wanted = (
        {n: tuple(w.shape) for n, w in d.items()} for d in (made.state_dict(), weights)
    )
    if found != wanted:
        others = sorted(n for n in {**found, **wanted} if found.get(n) != wanted.get(n))
        got, expected = (
            ", ".join(f"{n} {d.get(n, 'missing')}" for n in others) for d in (found, wanted)
        )
        raise Complaint(
            "its parts have these names and shapes",
            "Make just the parts that the comment names, in __init__, with biases where PyTorch "
            "gives some by itself.",
            given=f"sizes {sizes}",
            got=got,
            expected=expected,
        )
    made.load_state_dict(weights)
    with torch.no_grad():
        return made(*inputs)


def weights_of(draw, module):
    return {name: draw.normal(*w.shape) / 2 for name, w in module.state_dict().items()}


def feed_forward_layers(draw):
    for D in (2, 3):
        weights = weights_of(draw, FeedForward.fallback(D))
        given = f"D = {D}, random weights, x (2, 3, {D})"
        yield Case("any weights", (D,), weights, 2 * draw.normal(2, 3, D), given=given)


@turn(
    turns,
    "self.up is an nn.Linear from D to 4 * D, self.down one from 4 * D to D; forward is down of "
    "GELU of up. " + see(11, "The feed-forward layer"),
    cases=feed_forward_layers,
    call=filled,
    slips="""
    F.gelu( => F.relu(
        The non-linearity of this layer is GELU: F.gelu.
    F.gelu(self.up(x)) => F.gelu(self.up(x), approximate="tanh")
        That is an approximation of GELU by tanh: leave out approximate.
    F.gelu(self.up(x)) => self.up(x)
        Without a non-linearity two matrices are no more than one: GELU stands between them.
    self.down(F.gelu(self.up(x))) => F.gelu(self.down(self.up(x)))
        GELU stands between the two matrices, on the 4 D hidden units.
    return self => return x + self
        What the layer gives is added to the stream by the block, not by the layer itself.
    """,
)
class FeedForward(nn.Module):
    """Two matrices with a GELU between them, applied to each position by itself."""

    def __init__(self, D):
        super().__init__()
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x):
        """x (..., D) -> (..., D)."""
        return self.down(F.gelu(self.up(x)))


def uses_of_the_block(draw):
    for rule, T, mask in (
        ("one position", 1, None),
        ("five positions, no mask", 5, None),
        ("a causal mask", 5, torch.ones(5, 5).tril() == 1),
    ):
        weights = weights_of(draw, Block.fallback(4, 2))
        given = f"D = 4, H = 2, random weights, x (2, {T}, 4)"
        yield Case(rule, (4, 2), weights, draw.normal(2, T, 4), mask, given=given)


@turn(
    turns,
    "Four parts: self.norm_1 and self.norm_2, two nn.LayerNorm(D), self.attention and "
    "self.feed_forward. Forward is two lines of the form x = x + part(norm(x)); attention gets the "
    "mask by its name, mask=mask. " + see(11, "The whole block, in one class"),
    cases=uses_of_the_block,
    call=filled,
    uses={"MultiHeadAttention", "FeedForward"},
    slips="""
    x + self.attention(self.norm_1(x), mask=mask) => self.norm_1(x + self.attention(x, mask=mask)) \
    ;; x + self.feed_forward(self.norm_2(x)) => self.norm_2(x + self.feed_forward(x))
        That is post-norm: the norms stand on the stream. In pre-norm they stand on the branches.
    x = x + self => x = self
    return x + self => return self
        Each of the two parts has a residual connection of its own.
    x = x + self => x = self.norm_1(x) + self ;; return x + self => return self.norm_2(x) + self
        What a part gives is added to the stream itself, not to its norm.
    self.attention(self.norm_1(x), mask=mask) => self.norm_1(self.attention(x, mask=mask)) \
    ;; self.feed_forward(self.norm_2(x)) => self.norm_2(self.feed_forward(x))
        The norm stands before the part, not behind it.
    self.norm_2(x) => x
        The feed-forward layer reads the stream without a norm here.
    self.norm_1(x) => x
        Attention reads the stream without a norm here.
    self.norm_2(x) => self.norm_1(x)
        The second part has a norm of its own, norm_2.
    , mask=mask =>
        Attention does not get the mask here, so it looks at the future: mask=mask.
    """,
)
class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, D, H):
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(D), MultiHeadAttention(D, H)
        self.norm_2, self.feed_forward = nn.LayerNorm(D), FeedForward(D)

    def forward(self, x, mask=None):
        """x (B, T, D) -> (B, T, D); mask (T, T), which attention gets: True where it may look."""
        x = x + self.attention(self.norm_1(x), mask=mask)
        return x + self.feed_forward(self.norm_2(x))
