"""Your turn with Gemma 3: its parameters, its cache, its attention, and its two kinds of layers."""

import math

import torch
from torch import nn

from helpers.course.checks import notebook10
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn
from helpers.models.blocks import RMSNorm
from helpers.models.gemma import GemmaBlock, GemmaConfig
from helpers.models.positions import RotaryPositions

turns = Lab("further_12_gemma")
SINGLE = 1e-5  # tolerance of single precision

window_mask = notebook10.window_mask.fallback


def share_heads(k, n_heads):
    """k (B, G, T, K) -> (B, n_heads, T, K): each of the G heads repeated for its group."""
    return k.repeat_interleave(n_heads // k.shape[1], dim=1)


def sizes_of_models(draw):
    yield Case("by hand: 50 for the table, 120 + 135 + 28 in a block, 5 for the last norm",
               10, 5, 1, 2, 1, 4, 9)  # fmt: skip
    for _ in range(3):
        G, K = draw.integer(1, 4), 2 * draw.integer(2, 5)
        yield Case("any sizes", draw.integer(50, 90), draw.integer(5, 20), draw.integer(2, 6),
                   2 * G, G, K, draw.integer(20, 40))  # fmt: skip


@turn(
    turns,
    "Go through the table of tensors, line by line: each has as many numbers as the product of its "
    "shape. What stands in a block counts L times.",
    cases=sizes_of_models,
    slips="""
    2 * D * G * K => 2 * D * H * K
        Keys and values have G heads each, not H: look at the shapes of attn_k and attn_v.
    2 * D * G * K => D * G * K
        There are two such matrices, one for keys and one for values.
    + H * K * D =>
        The matrix behind the heads is missing, attn_output: H K columns, D rows.
    D * H * K + 2 => D * D + 2 ;; H * K * D => D * D
        H K is not D here: look at the shapes of attn_q and attn_output.
    3 * D * hidden => 2 * D * hidden
        A gated layer has three matrices: ffn_gate, ffn_up and ffn_down.
    4 * D + 2 * K => 4 * D
        Six norms in a block: four of width D, and those of queries and keys, which all heads share,
        of width K.
    V * D + => 2 * V * D +
        The output's matrix is the table of embeddings once more: count it once.
    """,
)
def count_parameters(V, D, L, H, G, K, hidden):
    """How many parameters a Gemma has; hidden is the width of its feed-forward layers."""
    attention = D * H * K + 2 * D * G * K + H * K * D  # queries; keys and values; output
    feed_forward = 3 * D * hidden  # gate, up, down
    norms = 4 * D + 2 * K  # before and after each sub-layer; of queries and of keys
    return V * D + L * (attention + feed_forward + norms) + D


def caches(draw):
    yield Case("by hand: 10 + 2 x 3 tokens, each a key and a value of 4 numbers", 10, 1, 2, 1, 4, 3)
    yield Case("a text shorter than the window", 5, 1, 2, 3, 4, 8)
    for _ in range(3):
        W = draw.integer(4, 9)
        yield Case("any sizes", W + draw.integer(1, 90), draw.integer(1, 5), draw.integer(1, 9),
                   draw.integer(1, 5), draw.integer(3, 9), W)  # fmt: skip


@turn(
    turns,
    "First how many tokens are kept, over all layers; then how many numbers a token needs in a "
    "layer, at two bytes each. " + see(11, "Grouped-query attention"),
    cases=caches,
    slips="""
    min(n_tokens, W) => W
        A local layer cannot keep more tokens than the text has.
    min(n_tokens, W) => min(n_tokens, W - 1)
        The window of W tokens counts the query's own, whose key is kept like the others.
    min(n_tokens, W) => n_tokens
        A local layer never looks at what is further back than its window: it need not keep it.
    n_global * n_tokens + n_local * => (n_global + n_local) *
        A global layer keeps all tokens of the text, a local one those of its window.
    2 * G * K * 2 * => 2 * G * K *
        A key *and* a value, and each of their numbers has two bytes: a factor of four.
    2 * G * K * 2 * => 2 * K * 2 *
        Each of the G heads keeps a key and a value of its own.
    """,
)
def cache_bytes(n_tokens, n_global, n_local, G, K, W):
    """Bytes of all keys and values of a text: G heads of K numbers, local layers' windows of W."""
    kept = n_global * n_tokens + n_local * min(n_tokens, W)
    return 2 * G * K * 2 * kept


def with_weights(weights, kind, *arguments):
    """A module of this kind, in double precision, with these weights."""
    made = kind(*arguments).double()
    made.load_state_dict(weights)
    return made


def attended(attention, c, window, base, weights, x):
    with torch.no_grad():
        return with_weights(weights, attention, c, window, base)(x)


def uses_of_attention(draw):
    for rule, window, G in (
        ("a global layer", 20, 1),
        ("a local layer", 3, 1),
        ("two heads of keys and values for four of queries", 3, 2),
    ):
        c, base = GemmaConfig(d_model=12, d_head=4, n_heads=4, n_kv_heads=G), 50.0
        layer = Attention.fallback(c, window, base)
        weights = {n: draw.normal(*p.shape) for n, p in layer.state_dict().items()}
        x = draw.normal(2, 7, 12)
        given = f"D = 12, K = 4, H = 4, G = {G}, a window of {window}, x (2, 7, 12)"
        yield Case(rule, c, window, base, weights, x, given=given)


@turn(
    turns,
    "Queries, keys and values of x, split into heads; normalize queries and keys, then turn them; "
    "repeat keys and values for the heads that share them; then attention, with the mask of the "
    "window. " + see(9, "Several heads at once"),
    cases=uses_of_attention,
    call=attended,
    tolerance=SINGLE,
    slips="""
    self.rotary.rotate(self.query_norm(q)) => self.query_norm(self.rotary.rotate(q)) ;; \
    self.rotary.rotate(self.key_norm(k)) => self.key_norm(self.rotary.rotate(k))
        First the norm, then the rotation: the norm's gain differs from feature to feature.
    self.query_norm(q) => q ;; self.key_norm(k) => k
        Queries and keys are both normalized, head by head.
    self.rotary.rotate(self.query_norm(q)) => self.query_norm(q) ;; \
    self.rotary.rotate(self.key_norm(k)) => self.key_norm(k)
        Queries and keys are both turned, by self.rotary.rotate.
    for y in (k, v)) => for y in (k, self.rotary.rotate(v)))
        Only queries and keys are turned; values stay as they are.
    math.sqrt(self.d_head) => 1
        The scores are divided by the root of K, the number of features of a head.
    (share_heads(y, q.shape[1]) for y in (k, v)) => \
    (y.repeat(1, q.shape[1] // y.shape[1], 1, 1) for y in (k, v))
        With two heads of keys, queries 0 and 1 share the first: in the order 0 0 1 1, not 0 1 0 1.
    scores.masked_fill(~window_mask(x.shape[1], self.window), -math.inf) => \
    scores ;; (scores.softmax(-1) @ v) => \
    (scores.softmax(-1) * window_mask(x.shape[1], self.window) @ v)
        The mask comes before the softmax, or the weights of a query no longer sum to 1.
    window_mask(x.shape[1], self.window) => window_mask(x.shape[1], x.shape[1])
        That is the causal mask: hide what is further back than self.window as well.
    self.window), -math.inf) => self.window - 1), -math.inf)
        The window counts the query's own token, and so does window_mask(T, W).
    .transpose(1, 2).flatten(2)) => .reshape(x.shape[0], x.shape[1], -1))
        Before the heads are merged, (B, heads, T, K) must become (B, T, heads, K).
    """,
    uses={"RMSNorm", "RotaryPositions", "share_heads", "window_mask"},
)
class Attention(nn.Module):
    """H heads of queries, G of keys and values, over the last `window` tokens."""

    def __init__(self, c, window, base):
        super().__init__()
        self.query = nn.Linear(c.d_model, c.n_heads * c.d_head, bias=False)
        self.key = nn.Linear(c.d_model, c.n_kv_heads * c.d_head, bias=False)
        self.value = nn.Linear(c.d_model, c.n_kv_heads * c.d_head, bias=False)
        self.output = nn.Linear(c.n_heads * c.d_head, c.d_model, bias=False)
        self.query_norm, self.key_norm = RMSNorm(c.d_head), RMSNorm(c.d_head)
        self.d_head, self.window, self.rotary = c.d_head, window, RotaryPositions(c.d_head, base)

    def forward(self, x):
        """x (B, T, D) -> (B, T, D)."""
        q, k, v = (
            part(x).unflatten(2, (-1, self.d_head)).transpose(1, 2)  # (B, heads, T, K)
            for part in (self.query, self.key, self.value)
        )
        q = self.rotary.rotate(self.query_norm(q))
        k = self.rotary.rotate(self.key_norm(k))
        k, v = (share_heads(y, q.shape[1]) for y in (k, v))
        scores = q @ k.mT / math.sqrt(self.d_head)
        scores = scores.masked_fill(~window_mask(x.shape[1], self.window), -math.inf)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def logits_of(model, c, weights, tokens):
    with torch.no_grad():
        return with_weights(weights, model, c, GemmaBlock)(tokens)


def uses_of_the_model(draw):
    for n_layers, every in ((4, 3), (7, 3)):
        c = GemmaConfig(
            vocab_size=11, n_layers=n_layers, d_model=9, d_head=4, n_heads=2, d_hidden=6,
            max_length=20, window=3, global_every=every, local_base=20.0, global_base=500.0,
        )  # fmt: skip
        model = MyGemma.fallback(c, GemmaBlock)
        weights = {n: draw.normal(*p.shape) for n, p in model.state_dict().items()}
        given = f"{n_layers} layers, each {every}. of them global, a window of 3, 8 tokens"
        rule = "its logits are those of the formula"
        yield Case(rule, c, weights, draw.integers(0, 11, 2, 8), given=given)


def keeps_init(trial):
    """Section 9 of the notebook changes the scale of a model."""
    c = GemmaConfig(vocab_size=5, n_layers=1, d_model=4, d_head=4, n_heads=1, d_hidden=4)
    hint = "Leave self.scale in __init__: section 9 looks for it."
    trial.holds(hasattr(trial.answer(c, GemmaBlock), "scale"), "it has its scale", hint)


@turn(
    turns,
    "L blocks in an nn.ModuleList, counted from 1: every c.global_every-th gets (c.max_length, "
    "c.global_base), the others (c.window, c.local_base). Then forward: embeddings times the root "
    "of D, the blocks, the last norm, and the embeddings once more as output.",
    cases=uses_of_the_model,
    call=logits_of,
    tolerance=SINGLE,
    also=keeps_init,
    slips="""
    for i in range(1, c.n_layers + 1) => for i in range(c.n_layers)
        Layers are counted from 1: of 18 the sixth, twelfth and eighteenth are global.
    (local if i % c.global_every else to_all) => (to_all if i % c.global_every else local)
        Local and global layers are exchanged: few are global.
    (local if i % c.global_every else to_all) => local
        All layers are local: every c.global_every-th looks at all tokens.
    (c.max_length, c.global_base) => (c.max_length, c.local_base)
        The two kinds of layers have bases of their own.
    * self.scale =>
        The embeddings are multiplied by the root of D before they enter the stream.
    self.norm(x) @ => x @
        The last norm is missing: it stands behind the blocks.
    """,
    uses={"RMSNorm"},
)
class MyGemma(nn.Module):
    """tokens (B, T) -> logits (B, T, V); block(c, window, base) makes a block."""

    def __init__(self, c, block):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(c.vocab_size, c.d_model), RMSNorm(c.d_model)
        self.scale = math.sqrt(c.d_model)
        local, to_all = (c.window, c.local_base), (c.max_length, c.global_base)
        self.blocks = nn.ModuleList(
            block(c, *(local if i % c.global_every else to_all)) for i in range(1, c.n_layers + 1)
        )

    def forward(self, tokens):
        """(B, T) -> (B, T, V)."""
        x = self.embedding(tokens) * self.scale
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.embedding.weight.T
