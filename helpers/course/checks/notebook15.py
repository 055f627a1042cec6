"""Your turn with encoders: both sides of a gap, masking, BERT's states, the surest gaps first."""

from types import SimpleNamespace

import torch
from torch import nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PostNormBlock

turns = Lab("notebook15")


def both_sides(draw):
    B = torch.tensor([[0.9, 0.1, 0.0], [0.0, 0.5, 0.5]], dtype=torch.double)
    a, b = torch.tensor([[0.5, 0.5], [0.3, 0.1]], dtype=torch.double)
    yield Case("it gives what the pencil gives", a, b, B)
    a, b = draw.normal(2, 3, 4).softmax(-1), draw.normal(2, 3, 4).exp()
    B = draw.normal(4, 5).softmax(-1)
    yield Case("it is right for several texts", a[0], b[0], B)
    yield Case("it is right for texts and positions", a, b, B)


@turn(
    turns,
    "Multiply what both sides say of each place, divide by the sum over the places, and let each "
    "place emit its sounds. " + see(15, "How much is the right side worth?"),
    cases=both_sides,
    slips="""
    return belief / belief.sum(-1, keepdim=True) @ B => return belief @ B
        These do not sum to 1: the product is no distribution yet.
    belief = before * after => belief = before
        That is what the left side alone says; use `after`, too.
    belief = before * after => belief = after
        That is what the right side alone says; use `before`, too.
    belief = before * after => belief = before + after
        The two sides are multiplied, not added: a place that one side excludes is excluded.
    @ B =>
        That is the belief about the place; the question was about the sound.
    belief / belief.sum(-1, keepdim=True) => belief.softmax(-1)
        Divide by the sum, without a softmax: these are probabilities already, not logits.
    belief.sum(-1, keepdim=True) => belief.sum()
        Each row has a sum of its own: sum(-1, keepdim=True).
    """,
    errors={
        "tensor a (4) must match the size of tensor b (3)": "Each row has a sum of its own, which "
        "has to stay a column: sum(-1, keepdim=True)."
    },
)
def fill_gap(before, after, B):
    """a (..., S), b (..., S) and emissions B (S, V) -> p(sound at the gap) (..., V)."""
    belief = before * after
    return belief / belief.sum(-1, keepdim=True) @ B


def texts_to_mask(draw):
    tokens = torch.tensor([[7, 3, 1, 4, 1, 5, 8]])
    chances = torch.tensor([[0.05, 0.10, 0.90, 0.05, 0.14, 0.60, 0.01]])
    what = torch.tensor([[0.30, 0.50, 0.10, 0.85, 0.95, 0.50, 0.85]])
    by_hand = tokens, tokens > 6, chances, what, torch.full_like(tokens, 2), 9
    yield Case("by hand", *by_hand, given="the seven tokens of the table above")
    tokens = draw.integers(0, 6, 40, 20)
    chances, what = torch.rand(2, 40, 20, generator=draw.generator)
    special = torch.rand(40, 20, generator=draw.generator) < 0.1
    drawn = tokens, special, chances, what, draw.integers(0, 6, 40, 20), 6
    yield Case("for any text", *drawn, given="800 tokens, a tenth of them special")


@turn(
    turns,
    "Chosen is where draw < 0.15, but never a special token. Of the chosen ones: [MASK] where "
    "what < 0.8, the random token from there to 0.9, otherwise the token itself. The target is the "
    "token wherever it was chosen, and -100 elsewhere. " + see(15, "Masking"),
    cases=texts_to_mask,
    slips="""
    (draw < 0.15) & ~special => draw < 0.15
        [CLS] and [SEP] are marks and no words: a special token is never chosen.
    chosen & (what < 0.8), mask => (what < 0.8), mask ;; \
    chosen & (what >= 0.8) & (what < 0.9) => (what >= 0.8) & (what < 0.9)
        80 % of *all* tokens are masked here: the three shares are of the chosen 15 %.
    chosen & (what < 0.8) => chosen
        All chosen tokens are masked: a tenth of them gets a random token.
    & (what < 0.9) =>
        All that are not masked get a random token: from what = 0.9 on they stay themselves.
    torch.where(chosen, tokens, -100) => torch.where(inputs == mask, tokens, -100)
        Every *chosen* token is predicted, a random and an unchanged one, too; this leaves a fifth \
        of them out.
    torch.where(chosen, tokens, -100) => torch.where(inputs != tokens, tokens, -100)
        The chosen tokens that were left unchanged are predicted, too.
    torch.where(chosen, tokens, -100) => tokens
        Only chosen tokens are predicted: the targets of all others are -100.
    torch.where(chosen, tokens, -100) => torch.where(chosen, inputs, -100)
        The target is what stood in the text, not what the model reads instead.
    torch.where(chosen, tokens, -100) => torch.where(chosen, tokens, 0)
        The targets of the other tokens are -100; 0 and the id of [MASK] are tokens.
    return inputs, torch.where(chosen, tokens, -100) => return inputs
        Hand back both: return inputs, targets.
    """,
)
def mask_tokens(tokens, special, draw, what, random, mask):
    """ids, which of them are special, two random numbers and a random token for each
    -> inputs, targets, of one shape."""
    chosen = (draw < 0.15) & ~special
    inputs = torch.where(chosen & (what < 0.8), mask, tokens)
    inputs = torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)
    return inputs, torch.where(chosen, tokens, -100)


HINT_OF_THE_MASK = (
    "The mask needs the shape (N, 1, 1, T), one for all heads and for all who look: "
    "(tokens != bert.pad)[:, None, None]."
)


def berts(draw):
    for N, T, L in ((1, 3, 1), (3, 6, 2)):
        V, D, H = 9, 8, 2
        parts = SimpleNamespace(pad=V - 1, positions=draw.normal(10, D))
        parts.tokens, parts.segments = (nn.Embedding(n, D).double() for n in (V, 2))
        parts.norm = nn.LayerNorm(D).double()
        made = [
            PostNormBlock(D, MultiHeadAttention(D, H, bias=True), FeedForward(D)) for _ in range(L)
        ]
        parts.blocks = [block.double().eval() for block in made]
        with torch.no_grad():
            for part in (parts.tokens, parts.segments, parts.norm, *parts.blocks):
                for weight in part.requires_grad_(False).parameters():
                    weight.copy_(0.7 * draw.normal(*weight.shape))
        tokens = draw.integers(0, V - 1, N, T)
        tokens[-1, :2] = torch.tensor([0, 1])  # tokens as any others: no padding
        segments = (torch.arange(T) >= T - 2).long().expand(N, T)
        if N > 1:
            tokens[1, 4:], tokens[2, 3:] = V - 1, V - 1
        rule = "a batch with padding" if N > 1 else "one text"
        given = f"random parts with D = {D}, {L} block(s), {N} text(s) of {T} tokens, pad = 8"
        yield Case(rule, parts, tokens, segments, given=given)


@turn(
    turns,
    "Add three vectors for each token (its own, its position's, its segment's), normalize the sum, "
    "and send it through all blocks. Nobody may look at padding: mask is True where tokens differ "
    "from bert.pad, in the shape (N, 1, 1, T). " + see(15, "What an encoder reads"),
    cases=berts,
    slips="""
    , mask=real =>
        Padding is looked at: give each block the mask, True where a token is not bert.pad.
    tokens != bert.pad => tokens == bert.pad
        The mask says who *may* be looked at: True where a token is not bert.pad.
    tokens != bert.pad => tokens != 0
        The id of the padding is bert.pad.
    bert.tokens(tokens) + bert.positions[: tokens.shape[1]] + bert.segments(segments) => \
    bert.tokens(tokens) + bert.positions[: tokens.shape[1]]
        The segments' vectors are missing: without them the two texts cannot be told apart.
    bert.tokens(tokens) + bert.positions[: tokens.shape[1]] + bert.segments(segments) => \
    bert.tokens(tokens) + bert.segments(segments)
        The positions' vectors are missing: for this encoder each order of the words is the same.
    bert.positions[: tokens.shape[1]] => bert.positions[tokens]
        A position's vector is found by where the token stands, not by which token it is.
    bert.positions[: tokens.shape[1]] => bert.positions[: len(tokens)]
        len(tokens) is the number of texts; their length is tokens.shape[1].
    x = bert.norm(x) =>
        The sum is normalized before the first block: bert.norm.
    mask=real => mask=real, causal=True
        Nobody hides the future from an encoder: no causal mask.
    [:, None, None] => [:, None, :, None]
        That hides padding from those who look; the mask is for those who are looked at: its shape \
        is (N, 1, 1, T).
    return x => return x[:, 0]
        Hand back the states of all tokens; only a head reads [CLS] alone.
    """,
    errors={
        "not callable": "bert.positions is a table: take its first T rows, "
        "bert.positions[: tokens.shape[1]].",
        "tensor b (10)": "The table has more rows than the text has tokens: take its first T rows, "
        "bert.positions[: tokens.shape[1]].",
        "all 4 dimensions": HINT_OF_THE_MASK,
        "tensor a (6) must match the size of tensor b (3)": HINT_OF_THE_MASK,
    },
)
def encode(bert, tokens, segments):
    """The parts of BERT, ids and segments (N, T) -> states (N, T, D)."""
    x = bert.tokens(tokens) + bert.positions[: tokens.shape[1]] + bert.segments(segments)
    x = bert.norm(x)
    real = (tokens != bert.pad)[:, None, None]  # (N, 1, 1, T): who may be looked at
    for block in bert.blocks:
        x = block(x, mask=real)
    return x


def gapped(draw):
    tokens = torch.tensor([5, 9, 2, 9, 9])
    p = torch.tensor([0.9, 0.45, 0.99, 0.8, 0.6], dtype=torch.double)
    given = "tokens 5, 9, 2, 9, 9; p = 0.55, 0.8 and 0.6 at the three gaps; mask = 9, k = 2"
    yield Case("by hand", tokens, torch.stack([1 - p, p], 1).log(), 9, 2, given=given)
    tokens = torch.tensor([9, 9, 9, 9])
    p = [
        [0.39, 0.38, 0.12, 0.11],
        [0.4, 0.2, 0.2, 0.2],  # the largest margin
        [0.49, 0.49, 0.01, 0.01],  # the least entropy
        [0.55, 0.4, 0.03, 0.02],
    ]
    rows = "; ".join(", ".join(map(str, row)) for row in p)
    given = f"four gaps with p = {rows}; mask = 9, k = 1"
    yield Case("the likeliest token decides", tokens, torch.tensor(p).log(), 9, 1, given=given)
    for T, gaps, k in ((8, 5, 2), (12, 6, 6)):
        tokens = draw.integers(0, 7, T)
        where = torch.randperm(T, generator=draw.generator)[:gaps]
        tokens[where] = 7
        given = f"{T} tokens, {gaps} of them [MASK] (id 7), k = {k}"
        yield Case("any text", tokens, draw.normal(T, 7).log_softmax(-1), 7, k, given=given)


@turn(
    turns,
    "At every position take the largest log-probability and the token that has it (max(-1) gives "
    "both). Of the gaps alone, find the k largest, and write their tokens into a copy. "
    + see(15, "An encoder that writes"),
    cases=gapped,
    slips="""
    best = best.masked_fill(tokens != mask, -torch.inf) =>
        A token that is there already was written over: only gaps may be filled.
    where = best.topk(k).indices => where = (tokens == mask).nonzero().flatten()[:k]
        Those are the first k gaps from the left; asked for are the surest ones.
    where = best.topk(k).indices => where = (tokens == mask).nonzero().flatten()
        All gaps were filled at once; asked for are the k surest ones.
    best = best.masked_fill(tokens != mask, -torch.inf) => \
    best, said = best[tokens == mask], said[tokens == mask]
        topk counts the gaps alone here; write at the positions of these gaps in the text.
    said[where] => where
        What is written is the token, the index of the largest of V, and not its position.
    """,
)
def fill_surest(tokens, log_p, mask, k):
    """ids (T,), log-probabilities (T, V): fill the k gaps of which the model is surest."""
    best, said = log_p.max(-1)
    best = best.masked_fill(tokens != mask, -torch.inf)
    where = best.topk(k).indices
    return tokens.index_copy(0, where, said[where])
