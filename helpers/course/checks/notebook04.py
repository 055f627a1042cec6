"""Your turn with vectors: a gradient, the factored table, the window network, neighbours."""

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook04")
BY_HAND = "it gives what the pencil gives"


def pairs_of_symbols(draw):
    Z = torch.tensor([[0.5, -1.0, 2.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.0]], dtype=torch.double)
    yield Case(BY_HAND, Z, torch.tensor([0]), torch.tensor([1]))
    yield Case("pairs that share a row are added", Z, *torch.tensor([[1, 1, 0], [2, 0, 0]]))
    for _ in range(3):
        yield Case(
            "it is the mean's gradient",
            draw.normal(5, 5), draw.integers(0, 5, 40), draw.integers(0, 5, 40),
        )  # fmt: skip


@turn(
    turns,
    "Each pair adds p - onehot(b) to row a of a table of zeros; in the end divide by the number of "
    "pairs. " + see(4, "A network that rediscovers counting"),
    cases=pairs_of_symbols,
    slips="""
    errors) / len(a) => errors)
        That is the sum over the pairs; the loss is their mean.
    errors[torch.arange(len(b)), b] -= 1 => pass
        This is what the model says; what came, a one at b, is not subtracted yet.
    errors[torch.arange(len(b)), b] -= 1 => errors[:, b] -= 1
        errors[:, b] reaches every column in every row; errors[range(B), b] is one number of each
        pair.
    return torch.zeros_like(Z).index_add(0, a, errors) / len(a) => \
    grad = torch.zeros_like(Z); grad[a] += errors; return grad / len(a)
        grad[a] += ... adds only one of several pairs that share a row; index_add adds all.
    index_add(0, a, => index_add(0, b,
        The error of a pair belongs into row a, the symbol that was read, not into row b.
    softmax(dim=1) => softmax(dim=0)
        The softmax runs over the symbols that may follow: along the rows, dim=1.
    """,
)
def gradient(Z, a, b):
    """Gradient (V, V) of the mean loss of the pairs a (B,) -> b (B,), for scores Z (V, V)."""
    errors = Z[a].softmax(dim=1)  # (B, V): what the model says ...
    errors[torch.arange(len(b)), b] -= 1  # ... minus what came
    return torch.zeros_like(Z).index_add(0, a, errors) / len(a)


def two_matrices(draw):
    E, U = torch.tensor([[2.0], [0.0], [0.0]]).double(), torch.tensor([[1.0, 0.0, -1.0]]).double()
    given = "the pair of the pencil, and one more of the same row"
    yield Case(BY_HAND, E, U, torch.tensor([0, 0]), torch.tensor([1, 0]), given=given)
    for V, D in ((5, 2), (4, 4), (7, 3)):
        a, b = draw.integers(0, V, 9), draw.integers(0, V, 9)
        yield Case("it is the mean loss of the pairs", draw.normal(V, D), draw.normal(D, V), a, b)


def that_can_be_trained(factored_loss, E, U, a, b):
    loss = factored_loss(E.clone().requires_grad_(), U.clone().requires_grad_(), a, b)
    if isinstance(loss, Tensor) and loss.requires_grad:
        return loss.detach()
    without = isinstance(loss, Tensor | float)
    return "a number without a way back to E and U" if without else loss


@turn(
    turns,
    "Rows a of E, times U, are the scores (B, V) of all followers; their cross-entropy with what "
    "came, b, is the loss, a tensor (no .item(), no .detach(): it is to be differentiated). "
    + see(4, "The factored table"),
    cases=two_matrices,
    call=that_can_be_trained,
    slips="""
    F.cross_entropy(scores, b) => F.cross_entropy(scores.softmax(1), b)
        That is a softmax of a softmax: F.cross_entropy takes the scores themselves.
    F.cross_entropy(scores, b) => F.nll_loss(scores.softmax(1), b)
        The logarithm is missing: the loss is -log p of what came, and yours -p.
    F.cross_entropy(scores, b) => F.nll_loss(scores, b)
        There is no softmax yet: F.nll_loss takes log-probabilities, F.cross_entropy the scores.
    F.cross_entropy(scores, b) => F.cross_entropy(scores, b, reduction="sum")
        That is the sum over the pairs; the loss is their mean.
    E[a] @ U => E[b] @ U
        The word that was read, a, picks the row of E; b is what came.
    """,
)
def factored_loss(E, U, a, b):
    """Mean loss in nats of the pairs a (B,) -> b (B,) under the table of E (V, D) and U (D, V)."""
    scores = E[a] @ U  # (B, V): of the whole table only the rows that are read
    return F.cross_entropy(scores, b)


def embedded_texts(draw):
    for B, T, D, k in ((1, 3, 2, 2), (2, 5, 3, 4), (2, 2, 4, 3)):
        yield Case(f"windows (B, T, {k} D)", draw.normal(B, k - 1 + T, D), k)
    yield Case("with k = 1 it is e", draw.normal(1, 4, 3), 1)


@turn(
    turns,
    "Window t holds the embeddings t, t+1, ..., t+k-1 side by side, the oldest first; there are T "
    "of them. " + see(4, "A language model with a window"),
    cases=embedded_texts,
    slips="""
    for i in range(k)] => for i in reversed(range(k))]
        The order is turned round: the oldest word of the window comes first.
    torch.cat([e[:, i : i + T] for i in range(k)], dim=-1) => \
    torch.stack([e[:, i : i + T] for i in range(k)], dim=-1).flatten(2)
        The numbers of different words are mixed: first all of the oldest word, and so on.
    torch.cat([e[:, i : i + T] for i in range(k)], dim=-1) => \
    torch.stack([e[:, i : i + T] for i in range(k)]).mean(0)
        That is the mean of the window, which forgets the order: put them side by side.
    torch.cat([e[:, i : i + T] for i in range(k)], dim=-1) => \
    torch.stack([e[:, i : i + T] for i in range(k)], dim=2)
        The last two dimensions are to be one of length k D: (B, T, k D).
    - k + 1 => - k
        One window is missing: of k-1+T embeddings there are T windows.
    dim=-1 => dim=1
        The windows stand one after another in time: join them in the last dimension.
    """,
)
def window_vectors(e, k):
    """Windows side by side (B, T, k D), oldest word first, of embeddings e (B, k-1+T, D)."""
    T = e.shape[1] - k + 1
    return torch.cat([e[:, i : i + T] for i in range(k)], dim=-1)


def vectors_of_words(draw):
    few = torch.tensor([[1.0, 2.0], [10.0, 20.0], [2.0, 1.0], [-1.0, -2.0], [5.0, -1.0]]).double()
    yield Case("it gives what the pencil gives", few, 0, 2)
    for i, n in ((3, 4), (0, 7)):
        lengths = 0.2 + 3 * draw.normal(20, 1).abs()  # they must not matter
        yield Case("it finds the smallest angles", draw.normal(20, 4) * lengths, i, n)


@turn(
    turns,
    "Make all rows one unit long; then the dot products with row i are the cosines. Take row i out "
    "of the race, and hand back the indices of the n largest. " + see(4, "What is in the vectors?"),
    cases=vectors_of_words,
    slips="""
    F.normalize(vectors, dim=1) => vectors
        That is the dot product, in which long vectors win: make all rows equally long.
    F.normalize(vectors, dim=1) => F.normalize(vectors, dim=0)
        dim=0 makes the columns equally long; each word is a row.
    cosines[i] = -torch.inf => pass ;; topk(n).indices.tolist() => topk(n + 1).indices.tolist()[1:]
        You dropped the first of the list. Another row may have the cosine 1, too, and then the
        first is not row i: take out row i itself.
    cosines[i] = -torch.inf => pass
        The nearest row to row i is row i: leave it out.
    cosines.topk(n) => cosines.topk(n, largest=False)
        These are the rows farthest away: the smallest angle has the largest cosine.
    cosines.topk(n).indices => cosines.topk(n).values
        Those are the cosines; their places in the table are asked for.
    unit @ unit[i] => -(vectors - vectors[i]).norm(dim=1)
        That is the distance between the points, for which lengths matter; take the angle.
    """,
)
def nearest(vectors, i, n):
    """Rows of the n vectors of (V, D) with the largest cosine to row i, as a list, without i."""
    unit = F.normalize(vectors, dim=1)
    cosines = unit @ unit[i]  # (V,)
    cosines[i] = -torch.inf
    return cosines.topk(n).indices.tolist()
