"""Your turn with sentence vectors: one vector for a text, and the contrastive loss."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_15_sentence_vectors")


def states(draw):
    h = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]])
    keep = torch.tensor([[True, True, False]])
    yield Case("by hand: the mean (3, 4) becomes (0.6, 0.8)", h, keep, given="states (3, 0), "
               "(3, 8), (9, 9), of which the last is padding")  # fmt: skip
    for B, T, D in ((3, 4, 2), (2, 6, 5)):
        lengths = [T, *(draw.integer(1, T) for _ in range(B - 1))]
        keep = torch.arange(T) < torch.tensor(lengths)[:, None]
        yield Case("texts of several lengths", draw.normal(B, T, D), keep,
                   given=f"B = {B}, T = {T}, D = {D}, lengths {lengths}")  # fmt: skip


@turn(
    turns,
    "Set the states of padding to zero, add up the states of each text, divide by the number of "
    "its tokens, and divide each vector by its length (F.normalize does it).",
    cases=states,
    slips="""
    mean = (h * keep[..., None]).sum(1) / keep.sum(1, keepdim=True) => mean = h.mean(1)
        Padding is no part of the text: leave its states out of the sum and out of the count.
    / keep.sum(1, keepdim=True) => / h.shape[1] ;; F.normalize(mean, dim=-1) => mean
        Divide by the number of tokens that are kept, not by T, and make the length 1.
    F.normalize(mean, dim=-1) => mean
        The vector is to have the length 1: divide it by its norm.
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
    yield Case("by hand: two pairs, all alike: ln 2", a[:1].repeat(2, 1), a[:1].repeat(2, 1), 0.5,
               given="four times the vector (1, 0), temperature 0.5")  # fmt: skip
    yield Case("by hand: ln(1 + e^-2)", a, a, 0.5,
               given="(1, 0) and (0, 1) with themselves, temperature 0.5")  # fmt: skip
    for B, D in ((3, 2), (5, 4)):
        a, b = (F.normalize(draw.normal(B, D), dim=-1) for _ in range(2))
        yield Case("random vectors", a, b, 0.2, given=f"B = {B}, D = {D}, temperature 0.2")


@turn(
    turns,
    "a @ b.T is the table of all cosines, a row for each text of a. Divided by the temperature "
    "they are the logits of a softmax, and the right class of row i is i.",
    cases=pairs,
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
    """,
)
def contrastive_loss(a, b, temperature):
    """Unit vectors a, b (B, D), row i of both a pair -> mean cross-entropy of the partners."""
    scores = a @ b.T / temperature  # (B, B)
    return F.cross_entropy(scores, torch.arange(len(a)))
