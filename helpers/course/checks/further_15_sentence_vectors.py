"""Your turn with sentence vectors: one vector for a text, and the contrastive loss."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_15_sentence_vectors")
NEAR = 1e-5  # of numbers in single precision, added up in any order


def normal(draw, *shape):
    """Random numbers, in the precision that a network has."""
    return draw.normal(*shape, dtype=torch.float32)


def states(draw):
    h = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]])
    keep = torch.tensor([[True, True, False]])
    yield Case("by hand: the mean (3, 4) becomes (0.6, 0.8)", h, keep, given="states (3, 0), "
               "(3, 8), (9, 9), of which the last is padding")  # fmt: skip
    for B, T, D in ((3, 4, 2), (2, 6, 5)):
        lengths = [T, *(draw.integer(1, T) for _ in range(B - 1))]
        keep = torch.arange(T) < torch.tensor(lengths)[:, None]
        yield Case("texts of several lengths", normal(draw, B, T, D), keep,
                   given=f"B = {B}, T = {T}, D = {D}, lengths {lengths}")  # fmt: skip


@turn(
    turns,
    "Set the states of padding to zero, add up the states of each text, divide by the number of "
    "its tokens, and divide each vector by its length (F.normalize does it).",
    cases=states,
    tolerance=NEAR,
    errors={
        "dimension 2": "keep has the shape (B, T), h the shape (B, T, D): keep[..., None] has a "
        "last dimension of 1, and so stands beside h.",
        "dimension 1": "The sums have the shape (B, D), the counts (B,): keep.sum(1, keepdim=True) "
        "has the shape (B, 1).",
    },
    slips="""
    mean = (h * keep[..., None]).sum(1) / keep.sum(1, keepdim=True) => mean = h.mean(1)
        Padding is no part of the text: leave its states out of the sum and out of the count.
    / keep.sum(1, keepdim=True) => / h.shape[1] ;; F.normalize(mean, dim=-1) => mean
        Divide by the number of tokens that are kept, not by T, and make the length 1.
    F.normalize(mean, dim=-1) => mean
        The vector is to have the length 1: divide it by its norm.
    F.normalize(mean, dim=-1) => F.normalize(mean, dim=0)
        Each text is to have the length 1: its norm runs over D, dim=-1, and not over the texts.
    return F.normalize(h[:, 0], dim=-1)
        That is the state of [CLS] alone; the mean of all tokens is asked for.
    return F.normalize((F.normalize(h, dim=-1) * keep[..., None]).sum(1), dim=-1)
        Normalize the mean, not the states before it: long states may count more.
    """,
)
def text_vectors(h, keep):
    """States h (B, T, D), keep (B, T) True where a token is no padding -> unit vectors (B, D)."""
    mean = (h * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
    return F.normalize(mean, dim=-1)


def pairs(draw):
    a = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    yield Case("by hand: ln(1 + e^-2)", a, a, 0.5,
               given="(1, 0) and (0, 1) with themselves, temperature 0.5")  # fmt: skip
    yield Case("by hand: two pairs, all alike: ln 2", a[:1].repeat(2, 1), a[:1].repeat(2, 1), 0.5,
               given="four times the vector (1, 0), temperature 0.5")  # fmt: skip
    for B, D in ((3, 2), (5, 4)):
        a, b = (F.normalize(normal(draw, B, D), dim=-1) for _ in range(2))
        yield Case("random vectors", a, b, 0.2, given=f"B = {B}, D = {D}, temperature 0.2")


@turn(
    turns,
    "a @ b.T is the table of all cosines, a row for each text of a. Divided by the temperature "
    "they are the logits of a softmax, and the right class of row i is i.",
    cases=pairs,
    tolerance=NEAR,
    slips="""
    / temperature =>
        The cosines are divided by the temperature before the softmax.
    / temperature => * temperature
        Divide by the temperature: a small one makes the softmax sharp.
    return F.cross_entropy(b @ a.T / temperature, torch.arange(len(a)))
        A row is a text of a, and its right partner is looked for among the texts of b.
    return (1 - (a * b).sum(-1)).mean()
        That only draws partners together; without the other texts of the batch all vectors may \
become one.
    return F.cross_entropy(a @ b.T / temperature, torch.arange(len(a)), reduction="sum")
        The mean over the batch is asked for, not the sum.
    F.cross_entropy(scores, => F.cross_entropy(scores.softmax(1),
        F.cross_entropy takes logits and makes the softmax itself: give it the scores.
    F.cross_entropy(scores, torch.arange(len(a))) => (scores.masked_fill(torch.eye(len(a)) > 0, \
-torch.inf).logsumexp(1) - scores.diag()).mean()
        The partner is one of the classes: it stands in the denominator as well.
    len(a))) => len(a))) / 2 + F.cross_entropy(scores.T, torch.arange(len(a))) / 2
        That looks for the partner of each b as well; here only the rows count, a text of a each.
    """,
)
def contrastive_loss(a, b, temperature):
    """Unit vectors a, b (B, D), row i of both a pair -> mean cross-entropy of the partners."""
    scores = a @ b.T / temperature  # (B, B)
    return F.cross_entropy(scores, torch.arange(len(a)))
