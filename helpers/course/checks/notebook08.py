"""Your turn with translation: a step, the additive score, the look back, the bilinear score."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook08")
SMALL_S = torch.tensor([[[0.5, 2.0]]])
SMALL_H = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]])
NEAR = 1e-5  # of numbers in single precision, which a loop into torch.zeros has as well


def normals(draw, *sizes):
    """Random tensors of these sizes."""
    return [draw.normal(*size, dtype=torch.float32) for size in sizes]


def decoders(draw):
    for B, V, D, H in ((1, 5, 2, 3), (4, 7, 4, 5)):
        E, W_x, W_h, W_y = (
            draw.normal(*size) for size in ((V, D), (H, D + H), (H, H), (V, 2 * H + D))
        )
        parts = (
            lambda ids, E=E: E[ids],
            lambda x, h, W_x=W_x, W_h=W_h: torch.tanh(x @ W_x.T + h @ W_h.T),
            lambda row, W_y=W_y: row @ W_y.T,
        )
        rule = "one sentence" if B == 1 else "a batch of sentences"
        given = f"{B} sentences, random layers, D = {D}, H = {H}"
        states = draw.normal(B, H), draw.normal(B, H)
        yield Case(rule, draw.integers(0, V, B), *states, *parts, given=given)


@turn(
    turns,
    "Embed y. The cell reads [y; c] and the old state, the output reads [s; c; y] with the new "
    "state; torch.cat([...], dim=1) puts vectors side by side. "
    + see(8, "The same vector at every step"),
    cases=decoders,
    slips="""
    output(torch.cat([s, c, y], dim=1)), s => s, output(torch.cat([s, c, y], dim=1))
        The logits come first, then the new state.
    output(torch.cat([s, c, y], dim=1)), s => output(torch.cat([s, c, y], dim=1)).softmax(1), s
        Logits are asked for: the softmax comes later, in the loss.
    output(torch.cat([s, c, y], dim=1)), s => output(torch.cat([s, c, y], dim=1))
        The state is missing: return two things, the logits and the new state.
    s = cell( => new = cell(
        The output reads the *new* state, and it is the new state that is handed back.
    s = cell( => new = cell( ;; torch.cat([s, c, y] => torch.cat([new, c, y]
        The old state is handed back: the next step must go on from the new one.
    torch.cat([y, c], dim=1), s => torch.cat([y, c], dim=1), torch.zeros_like(s)
        The old state s is not used: what has been written so far would be lost.
    """,
)
def decoder_step(y, s, c, embed, cell, output):
    """Word ids y (B,), states s and vectors c (B, H) -> logits (B, V), new states (B, H)."""
    y = embed(y)
    s = cell(torch.cat([y, c], dim=1), s)
    return output(torch.cat([s, c, y], dim=1)), s


def compared_by_a_network(draw):
    yield Case("by hand: 1.951, 1.461, 0.059", SMALL_S, 2 * SMALL_H, torch.eye(2), torch.ones(2))
    for B, T, S, H in ((2, 3, 3, 3), (3, 2, 5, 4)):
        given = f"B = {B}, T = {T}, S = {S}, A = 3, H = {H}, random numbers"
        numbers = normals(draw, (B, T, H), (B, S, 3), (3, H), (3,))
        yield Case("it is the formula", *numbers, given=given)


@turn(
    turns,
    "W s for all states is s @ W.T, with the shape (B, T, A). Put an axis of length 1 into it for "
    "the French words, [:, :, None], and one into Uh for the English ones, [:, None]; then they "
    f"add up to (B, T, S, A), and @ v at the end sums over A. {see(8, 'The additive score')}",
    cases=compared_by_a_network,
    tolerance=NEAR,
    slips="""
    s @ W.T => s @ W
        A row of s times W transposed: s @ W.T.
    Ws[:, :, None] + Uh => Ws[:, :, None] * Uh
        The two are added, which is why it is called additive.
    torch.tanh(Ws[:, :, None] + Uh[:, None]) => (Ws[:, :, None] + Uh[:, None])
        tanh is missing. Without it the part with s would shift all scores alike.
    torch.tanh(Ws[:, :, None] + Uh[:, None]) @ v => \
    torch.tanh((Ws[:, :, None] + Uh[:, None]) @ v)
        tanh stands inside, before the product with v.
    @ v => .sum(-1)
        The numbers are added up without weights: multiply by v.
    return torch.tanh(Ws[:, :, None] + Uh[:, None]) @ v => \
    return (torch.tanh(Ws[:, :, None] + Uh[:, None]) @ v).softmax(-1)
        Scores are asked for; the softmax comes in the next task.
    Ws[:, :, None] + Uh[:, None] => Ws[:, None] + Uh[:, :, None]
        A row belongs to an English word, a column to a French one: (B, T, S).
    """,
)
def additive_scores(s, Uh, W, v):
    """States s (B, T, H), U h (B, S, A), W (A, H), v (A,) -> scores (B, T, S)."""
    Ws = s @ W.T  # (B, T, A)
    return torch.tanh(Ws[:, :, None] + Uh[:, None]) @ v


def scores_with_padding(draw):
    scores = torch.tensor([[[1.951, 1.461, 0.059]]])
    two, three = torch.tensor([[[True, True, False]]]), torch.ones(1, 1, 3, dtype=torch.bool)
    yield Case("padding has no weight", scores, SMALL_H, two)
    yield Case("by hand: (0.481, 0.348)", scores, SMALL_H, three)
    for B, T, S, H in ((3, 3, 3, 3), (3, 2, 5, 4)):
        mask = (torch.arange(S) < torch.tensor([S, S - 1, S - 2])[:, None])[:, None]
        given = f"B = {B}, T = {T}, S = {S}, H = {H}, random numbers, padding in two rows"
        numbers = normals(draw, (B, T, S), (B, S, H))
        yield Case("each row sums to 1", *numbers, mask, given=given)


@turn(
    turns,
    "Put minus infinity where mask is False, take the softmax over the French words, the last "
    "axis, and multiply the weights with h. Return the contexts, then the weights. "
    + see(8, "Weights, and the context vector"),
    cases=scores_with_padding,
    tolerance=NEAR,
    slips="""
    scores.masked_fill(~mask, -torch.inf) => scores
        Padding gets a weight: put minus infinity there before the softmax.
    -torch.inf => 0.0
        A score of 0 still has a share in the softmax, as exp(0) is 1: take minus infinity.
    ~mask => mask
        The mask is True at words, and these are shut out here: fill where it is ~mask.
    scores.masked_fill(~mask, -torch.inf).softmax(dim=-1) => scores.softmax(dim=-1) * mask
        Without the padding the weights no longer sum to 1: mask the scores, not the weights.
    softmax(dim=-1) => softmax(dim=1)
        This softmax goes over sentences or English words, axis 0 or 1: each English word shares
        its weight out over the French words, the last axis.
    weights @ h, weights => weights, weights @ h
        The contexts come first, then the weights.
    weights @ h, weights => weights @ h
        The weights are missing: return two tensors.
    """,
)
def look_back(scores, h, mask):
    """Scores (B, T, S), h (B, S, H), mask (B, 1, S) -> contexts (B, T, H), weights (B, T, S)."""
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights @ h, weights


def compared_by_a_matrix(draw):
    swap = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    yield Case("with W = I, the dot product: 0.5, 2, -0.5", SMALL_S, SMALL_H, torch.eye(2))
    yield Case("by hand: 0, 0.5, 0", SMALL_S, SMALL_H, swap)
    for B, T, S, H in ((2, 3, 3, 3), (3, 2, 5, 4)):
        given = f"B = {B}, T = {T}, S = {S}, H = {H}, random numbers"
        numbers = normals(draw, (B, T, H), (B, S, H), (H, H))
        yield Case("it is the formula", *numbers, given=given)


@turn(
    turns,
    "Entry (t, i) is (row t of s) W (row i of h): two products of matrices, with h transposed in "
    f"its last two axes, h.transpose(1, 2). {see(8, 'Scores without a network')}",
    cases=compared_by_a_matrix,
    tolerance=NEAR,
    slips="""
    s @ W @ h.transpose(1, 2) => s @ h.transpose(1, 2)
        W is not used: this is the plain dot product.
    s @ W @ => s @ W.T @
        This is h W s: in the formula s stands to the left of W and h to its right.
    s @ W @ h.transpose(1, 2) => (s @ W @ h.transpose(1, 2)).transpose(1, 2)
        A row belongs to an English word: s comes first.
    s @ W @ h.transpose(1, 2) => s @ W @ h.transpose(1, 2) / s.shape[-1] ** 0.5
        No scaling here: add up the products, no more.
    s @ W @ h.transpose(1, 2) => (s @ W @ h.transpose(1, 2)).softmax(-1)
        Scores are asked for: no softmax yet.
    s @ W @ h.transpose(1, 2) => torch.tanh(s @ W @ h.transpose(1, 2))
        There is no tanh in this score.
    """,
)
def bilinear_scores(s, h, W):
    """States s (B, T, H) and h (B, S, H), W (H, H) -> scores (B, T, S)."""
    return s @ W @ h.transpose(1, 2)
