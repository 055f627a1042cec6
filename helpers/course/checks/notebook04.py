"""Your turn with word vectors: two bigram networks, skip-gram, PPMI, analogies, a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook04")
ANALOGIES = see(4, "Analogies, and a baseline that ignores the question")
Slip = tuple[Callable, str]


def _errors(Z: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return Z[a].softmax(dim=1) - F.one_hot(b, Z.shape[1])


def _gradient(Z: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.zeros_like(Z).index_add(0, a, _errors(Z, a, b)) / len(a)


def _once_a_row(Z: Tensor, a: Tensor, b: Tensor) -> Tensor:
    grad = torch.zeros_like(Z)
    grad[a] += _errors(Z, a, b)
    return grad / len(a)


def _all_pairs(Z: Tensor, a: Tensor, b: Tensor) -> Tensor:
    errors = Z[a].softmax(dim=1)
    errors[:, b] -= 1
    return torch.zeros_like(Z).index_add(0, a, errors) / len(a)


@turns.task(_gradient)
def gradient(trial: Trial) -> None:
    hint = (
        "Each pair adds p - onehot(b) to row a of a table of zeros; in the end divide by the "
        f"number of pairs. {see(4, 'A network that rediscovers counting')}"
    )
    slips: list[Slip] = [
        (
            lambda Z, a, b: _gradient(Z, a, b) * len(a),
            "That is the sum over the pairs; the loss is their mean.",
        ),
        (
            lambda Z, a, b: -_gradient(Z, a, b),
            "The sign is turned round: what the model says, minus what came.",
        ),
        (
            _all_pairs,
            "errors[:, b] reaches every column in every row; errors[range(B), b] is one number of "
            "each pair.",
        ),
        (
            lambda Z, a, b: (
                _gradient(Z, a, b) * len(a) / torch.bincount(a, minlength=len(Z))[:, None].clamp(1)
            ),
            "That is a mean for each row; divide the sum by the number of all pairs.",
        ),
        (
            _once_a_row,
            "grad[a] += ... adds only one of several pairs that share a row; index_add adds all.",
        ),
        (
            lambda Z, a, b: torch.zeros_like(Z).index_add(0, a, Z[a].softmax(1)) / len(a),
            "This is what the model says; what came, a one at b, is not subtracted yet.",
        ),
        (
            lambda Z, a, b: (
                torch.zeros_like(Z).index_add(0, a, Z[a].softmax(0) - F.one_hot(b, Z.shape[1]))
                / len(a)
            ),
            "The softmax runs over the symbols that may follow: along the rows, dim=1.",
        ),
        (
            lambda Z, a, b: (
                torch.zeros_like(Z).index_add(0, a, Z[a] - F.one_hot(b, Z.shape[1])) / len(a)
            ),
            "Scores are no probabilities yet: take the softmax of the rows first.",
        ),
        (
            lambda Z, a, b: _errors(Z, a, b),
            "That is one row for each pair. Each belongs to row a of a table as large as Z.",
        ),
        (
            lambda Z, a, b: torch.zeros_like(Z).index_add(0, b, _errors(Z, a, b)) / len(a),
            "The error of a pair belongs into row a, the symbol that was read, not into row b.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    Z = torch.tensor([[0.5, -1.0, 2.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.0]], dtype=torch.double)
    one = torch.tensor([0]), torch.tensor([1])
    trial.agrees(_gradient, Z, *one, rule="it is the row worked out by hand", **look)
    two = torch.tensor([1, 1, 0]), torch.tensor([2, 0, 0])
    trial.agrees(_gradient, Z, *two, rule="pairs that share a row are added", **look)
    for _ in range(4):
        a, b = trial.integers(0, 5, 40), trial.integers(0, 5, 40)
        trial.agrees(_gradient, trial.normal(5, 5), a, b, rule="it is the mean's gradient", **look)


def _factored_loss(E: Tensor, U: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return F.cross_entropy(E[a] @ U, b)


@turns.task(_factored_loss)
def factored_loss(trial: Trial) -> None:
    hint = (
        "Look up row a of E, multiply it with U, and take the cross-entropy with b. "
        f"{see(4, 'The factored table')}"
    )
    slips: list[Slip] = [
        (
            lambda E, U, a, b: F.cross_entropy(E[a] @ U, b, reduction="sum"),
            "That is the sum over the pairs; their mean is asked for.",
        ),
        (
            lambda E, U, a, b: F.cross_entropy((E[a] @ U).softmax(1), b),
            "cross_entropy takes the softmax itself: give it the scores.",
        ),
        (
            lambda E, U, a, b: F.cross_entropy(E[b] @ U, a),
            "The symbol that is read is a, and the one to be predicted is b.",
        ),
        (
            lambda E, U, a, b: -(E[a] @ U)[torch.arange(len(b)), b].mean(),
            "These are scores; the loss is made of the log-probabilities, after a softmax.",
        ),
        (
            lambda E, U, a, b: -(E[a] @ U).softmax(1)[torch.arange(len(b)), b].mean(),
            "Probabilities without their logarithm: the loss is -log p.",
        ),
        (
            lambda E, U, a, b: -F.cross_entropy(E[a] @ U, b),
            "The sign is turned round: a loss is smaller for a better model.",
        ),
        (lambda E, U, a, b: E[a] @ U, "These are the scores: the loss is one number."),
    ]
    look = {"hint": hint, "slips": slips}
    for V, D in ((5, 2), (4, 4), (7, 3)):
        E, U = trial.normal(V, D), trial.normal(D, V)
        a, b = trial.integers(0, V, 9), trial.integers(0, V, 9)
        trial.agrees(_factored_loss, E, U, a, b, rule="the cross-entropy of Z = E U", **look)


def _context_pairs(tokens: Sequence, radii: Sequence[int]) -> list[tuple]:
    return [
        (tokens[i], tokens[j])
        for i in range(len(tokens))
        for j in range(max(0, i - radii[i]), min(len(tokens), i + radii[i] + 1))
        if j != i
    ]


def _pairs_where(tokens: Sequence, keep: Callable[[int, int], bool]) -> list[tuple]:
    n = range(len(tokens))
    return [(tokens[i], tokens[j]) for i in n for j in n if i != j and keep(i, j)]


@turns.task(_context_pairs)
def context_pairs(trial: Trial) -> None:
    hint = (
        "For each position i go through the positions j from i - radii[i] to i + radii[i] that "
        f"exist, without i itself. {see(4, 'Skip-gram: a word and its neighbours')}"
    )
    slips: list[Slip] = [
        (
            lambda t, r: [
                (t[i], t[j])
                for i in range(len(t))
                for j in range(max(0, i - r[i]), min(len(t), i + r[i] + 1))
            ],
            "A word is no neighbour of itself: leave the position of the centre out.",
        ),
        (
            lambda t, r: _pairs_where(t, lambda i, j: abs(i - j) <= r[i] and t[i] != t[j]),
            "The same word may well stand beside itself: compare positions, not words.",
        ),
        (
            lambda t, r: _pairs_where(t, lambda i, j: -r[i] <= j - i < r[i]),
            "range ends before its second number: the last word of the window is missing.",
        ),
        (
            lambda t, r: _pairs_where(t, lambda i, j: 0 < j - i <= r[i]),
            "The window reaches to both sides; the words on the left are missing.",
        ),
        (
            lambda t, r: _pairs_where(t, lambda i, j: 0 < i - j <= r[i]),
            "The window reaches to both sides; the words on the right are missing.",
        ),
        (
            lambda t, r: [(o, c) for c, o in _context_pairs(t, r)],
            "The centre comes first in a pair, then the word of its context.",
        ),
        (
            lambda t, r: _pairs_where(t, lambda i, j: abs(i - j) <= r[j]),
            "The radius that counts is that of the centre, radii[i].",
        ),
        (
            lambda t, r: _pairs_where(t, lambda i, j: abs(i - j) <= r[0]),
            "Each position has a radius of its own, radii[i].",
        ),
        (
            lambda t, r: [
                (t[i], t[j])
                for i in range(len(t))
                for j in range(i - r[i], min(len(t), i + r[i] + 1))
                if j != i
            ],
            "In Python -1 is the last position: begin at 0 where the window would begin before.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    words = ["Wren", "rowed", "the", "boat", "to", "shore"]
    trial.agrees(_context_pairs, words, [1] * 6, rule="a window of one word", **look)
    trial.agrees(_context_pairs, words, [2, 1, 2, 2, 1, 1], rule="a radius for each word", **look)
    for _ in range(5):
        n = trial.integer(3, 9)
        tokens, radii = trial.integers(0, 3, n).tolist(), trial.integers(1, 4, n).tolist()
        trial.agrees(_context_pairs, tokens, radii, rule="right for any text", **look)


def _pair_scores(v: Tensor, u: Tensor) -> Tensor:
    return torch.bmm(u, v[:, :, None])[:, :, 0]


@turns.task(_pair_scores)
def pair_scores(trial: Trial) -> None:
    hint = (
        "Score k of example i is the dot product of v[i] and u[i, k]: multiply with v[:, None] "
        f"and sum over D. {see(4, 'Skip-gram: a word and its neighbours')}"
    )
    slips: list[Slip] = [
        (
            lambda v, u: u * v[:, None],
            "A dot product is one number: sum over the last dimension.",
        ),
        (
            lambda v, u: _pair_scores(v, u).sigmoid(),
            "These are probabilities; the scores are asked for, the loss takes their sigmoid.",
        ),
        (
            lambda v, u: _pair_scores(F.normalize(v, dim=-1), F.normalize(u, dim=-1)),
            "These are cosines; skip-gram uses the plain dot product.",
        ),
        (
            lambda v, u: (u * v[:, None]).mean(-1),
            "The mean over D is too small by the factor D: a dot product is the sum.",
        ),
        (
            lambda v, u: (u * v[:, None]).sum(1),
            "You sum over the words of an example; sum over the D numbers of a vector.",
        ),
        (
            lambda v, u: torch.einsum("id,jkd->ijk", v, u),
            "Every centre meets the words of every example here; it shall meet its own only.",
        ),
        (
            lambda v, u: _pair_scores(v[:1].expand_as(v), u),
            "Every example has a centre of its own: v[i] goes with u[i].",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for B, K, D in ((1, 2, 3), (4, 3, 5), (2, 6, 2)):
        v, u = trial.normal(B, D), trial.normal(B, K, D)
        trial.agrees(_pair_scores, v, u, rule="dot products (B, 1+K)", **look)


def _loss(scores: Tensor, is_context: Tensor) -> Tensor:
    sign = 2 * is_context - 1
    return -F.logsigmoid(sign * scores).sum(1).mean()


@turns.task(_loss)
def negative_sampling_loss(trial: Trial) -> None:
    hint = (
        "-log s(score) where is_context is 1, -log s(-score) where it is 0; sum over the words of "
        f"an example, mean over the examples. {see(4, 'Skip-gram: a word and its neighbours')}"
    )
    slips: list[Slip] = [
        (
            lambda s, y: _loss(s, y) / s.shape[1],
            "You average over the words of an example, too; the formula has their sum.",
        ),
        (
            lambda s, y: _loss(s, y) * len(s),
            "That is the sum over the examples of the batch; their mean is asked for.",
        ),
        (
            lambda s, y: -F.logsigmoid(s).sum(1).mean(),
            "Noise words are pulled near as well: their score has a minus sign in the sigmoid.",
        ),
        (
            lambda s, y: -F.logsigmoid(s * y).sum(1).mean(),
            "Times 0 the score of a noise word is lost; times -1 it enters with a minus.",
        ),
        (
            lambda s, y: _loss(s, 1 - y),
            "True and noise words have changed places: is_context is 1 for the true one.",
        ),
        (
            lambda s, y: -(F.logsigmoid(s) * y).sum(1).mean(),
            "The noise words do not enter: then all scores could grow without limit.",
        ),
        (
            lambda s, y: -(2 * y - 1).mul(F.logsigmoid(s)).sum(1).mean(),
            "For noise the minus belongs inside: log s(-x), not -log s(x).",
        ),
        (lambda s, y: -_loss(s, y), "The sign is turned round: the loss is never negative."),
        (
            lambda s, y: F.cross_entropy(s, y.argmax(1)),
            "That is a softmax over the 1+K words; here each of them is a yes or no of its own.",
        ),
        (
            lambda s, y: (2 * y - 1).mul(s).sigmoid().neg().sum(1).mean(),
            "The logarithm is missing: F.logsigmoid gives log s(x).",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for B, K in ((2, 3), (4, 2), (6, 5)):
        true = F.one_hot(trial.integers(0, K, B), K).double()
        trial.agrees(_loss, 2 * trial.normal(B, K), true, rule="it is the formula", **look)
    zero = torch.zeros(1, 3, dtype=torch.double), torch.tensor([[1.0, 0.0, 0.0]]).double()
    trial.agrees(_loss, *zero, rule="with scores of 0 it is (1 + K) log 2", **look)


def _ppmi(counts: Tensor) -> Tensor:
    expected = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    return torch.where(counts > 0, (counts / expected).log(), 0.0).clamp(min=0)


def _pmi(counts: Tensor) -> Tensor:
    return (counts * counts.sum() / (counts.sum(1, keepdim=True) * counts.sum(0))).log()


@turns.task(_ppmi)
def ppmi(trial: Trial) -> None:
    hint = (
        "Expected is (sum of the row) x (sum of the column) / (sum of all); then the logarithm of "
        "counts / expected, and 0 where that is negative or the count is 0. "
        f"{see(4, 'What skip-gram computes: shifted PMI')}"
    )
    slips: list[Slip] = [
        (
            _pmi,
            "That is PMI: the first P of PPMI replaces everything below 0 by 0.",
        ),
        (
            lambda c: (c * c.sum() / (c.sum(1, keepdim=True) * c.sum(0))).clamp(min=1),
            "The logarithm is missing.",
        ),
        (
            lambda c: (c * c.sum() / (c.sum(1, keepdim=True) * c.sum(0))).clamp(min=0),
            "The logarithm is missing.",
        ),
        (
            lambda c: (c / (c.sum(1, keepdim=True) * c.sum(0))).log().clamp(min=0),
            "The sum of all counts is missing: with counts in the place of shares, expected is "
            "row sum x column sum / total.",
        ),
        (
            lambda c: (c / c.sum()).div(c.sum(1, keepdim=True) * c.sum(0)).log().clamp(min=0),
            "Divide all three by the total: p(w, o), p(w) and p(o) are shares.",
        ),
        (
            lambda c: (c * c.sum() / (c.sum(1) * c.sum(0))).log().clamp(min=0),
            "The sums of the rows belong to the rows: keepdim=True, or [:, None].",
        ),
        (
            lambda c: (c / c.sum(1, keepdim=True) * len(c)).log().clamp(min=0),
            "How frequent the second word is does not enter: the sums of the columns.",
        ),
        (
            lambda c: _pmi(c).clamp(min=0) / torch.log(torch.tensor(2.0, dtype=c.dtype)),
            "These are bits; the natural logarithm is meant, because the loss is in nats.",
        ),
        (
            lambda c: torch.where(c > 0, _pmi(c), 0.0),
            "Values below 0 are to become 0 as well, not only those of pairs never seen.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    hand = torch.tensor([[3.0, 1.0], [1.0, 3.0]], dtype=torch.double)
    trial.agrees(_ppmi, hand, rule="the example on paper", **look)
    holes = torch.tensor([[6.0, 0.0, 1.0], [0.0, 4.0, 1.0], [1.0, 3.0, 0.0]], dtype=torch.double)
    trial.agrees(_ppmi, holes, rule="pairs that never occurred get 0", **look)
    for _ in range(3):
        counts = trial.integers(0, 9, 4, 4).double() + torch.eye(4, dtype=torch.double)
        trial.agrees(_ppmi, counts, rule="right for any counts", **look)


def _analogy(
    vectors: Tensor, a: int, b: int, c: int, *, sign: float = 1.0, out: bool = True
) -> int:
    unit = F.normalize(vectors, dim=1)
    cosine = unit @ F.normalize(sign * (unit[b] - unit[a]) + unit[c], dim=0)
    if out:
        cosine[[a, b, c]] = -torch.inf
    return int(cosine.argmax())


def _analogy_of_lengths(vectors: Tensor, a: int, b: int, c: int, *, all_raw: bool = False) -> int:
    target = vectors[b] - vectors[a] + vectors[c]
    score = (vectors if all_raw else F.normalize(vectors, dim=1)) @ target
    score[[a, b, c]] = -torch.inf
    return int(score.argmax())


def _nearest_to(vectors: Tensor, row: int, out: Sequence[int]) -> int:
    cosine = F.normalize(vectors, dim=1) @ F.normalize(vectors[row], dim=0)
    cosine[list(out)] = -torch.inf
    return int(cosine.argmax())


@turns.task(_analogy)
def analogy(trial: Trial) -> None:
    hint = (
        "Make all rows equally long, form b - a + c, take the cosine with every row, and put the "
        f"three given words out of the race. {ANALOGIES}"
    )
    slips: list[Slip] = [
        (
            lambda v, a, b, c: _analogy(v, a, b, c, out=False),
            "The best answer is one of the three given words: they must be left out.",
        ),
        (
            lambda v, a, b, c: _analogy(v, a, b, c, sign=-1.0),
            "The direction is turned round: from a to b is b - a.",
        ),
        (
            lambda v, a, b, c: _nearest_to(v, c, [a, b, c]),
            "That is the nearest neighbour of c, which ignores the question.",
        ),
        (
            lambda v, a, b, c: _analogy_of_lengths(v, a, b, c),
            "All vectors are made equally long before they are added.",
        ),
        (
            lambda v, a, b, c: _analogy_of_lengths(v, a, b, c, all_raw=True),
            "Make the vectors equally long: otherwise long ones win every dot product.",
        ),
        (
            lambda v, a, b, c: F.normalize(v[b] - v[a] + v[c], dim=0),
            "That is the direction; the row of the word nearest to it is asked for.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    corners = torch.tensor(
        [[1.0, 1.0, 0.1], [1.0, 3.0, 0.0], [2.0, 1.0, 0.0], [2.0, 3.0, 0.2], [-1.0, 0.5, 1.0]]
    ).double()
    trial.agrees(_analogy, corners, 0, 1, 2, rule="the fourth corner", **look)
    for _ in range(4):
        vectors, a, b, c = _telling(trial, [slip for slip, _ in slips[:5]])
        given = f"20 vectors of different lengths, a = {a}, b = {b}, c = {c}"
        rule = "it finds the word nearest to b - a + c"
        trial.agrees(_analogy, vectors, a, b, c, rule=rule, given=given, **look)


def _telling(trial: Trial, slips: Sequence[Callable]) -> tuple[Tensor, int, int, int]:
    """A question for which the answer and those of all slips are different words."""
    while True:
        vectors = trial.normal(20, 4) * (0.3 + 3 * trial.normal(20, 1).abs())
        a, b, c = torch.randperm(20, generator=trial.generator)[:3].tolist()
        if len({slip(vectors, a, b, c) for slip in (_analogy, *slips)}) == 1 + len(slips):
            return vectors, a, b, c


def _window_vectors(e: Tensor, W: int) -> Tensor:
    T = e.shape[1] - W + 1
    return torch.cat([e[:, i : i + T] for i in range(W)], dim=-1)


@turns.task(_window_vectors)
def window_vectors(trial: Trial) -> None:
    hint = (
        "Window t holds the embeddings t, t+1, ..., t+W-1 side by side, the oldest first; there "
        f"are T of them. {see(4, 'A language model with a window')}"
    )
    slips: list[Slip] = [
        (
            lambda e, W: torch.cat([e[:, i : e.shape[1] - W + 1 + i] for i in range(W)][::-1], -1),
            "The order is turned round: the oldest word of the window comes first.",
        ),
        (
            lambda e, W: torch.stack(
                [e[:, i : e.shape[1] - W + 1 + i] for i in range(W)], -1
            ).flatten(2),
            "The numbers of different words are mixed: first all of the oldest word, and so on.",
        ),
        (
            lambda e, W: _window_vectors(e, W).unflatten(-1, (W, -1)).mean(2),
            "That is the mean of the window, which forgets the order: put them side by side.",
        ),
        (
            lambda e, W: _window_vectors(e, W).unflatten(-1, (W, -1)).sum(2),
            "That is the sum of the window: put the embeddings side by side.",
        ),
        (
            lambda e, W: _window_vectors(e, W).unflatten(-1, (W, -1)),
            "The last two dimensions are to be one of length W D: (B, T, W D).",
        ),
        (
            lambda e, W: torch.cat([e[:, i : i + e.shape[1] - W] for i in range(W)], -1),
            "One window is missing: of W-1+T embeddings there are T windows.",
        ),
        (
            lambda e, W: torch.cat([e[:, : e.shape[1] - W + 1]] * W, -1),
            "The same word stands W times in each window: let the start move on.",
        ),
        (
            lambda e, W: torch.cat([e[:, i : i + e.shape[1] - W + 1] for i in range(W)], 1),
            "The windows stand one after another in time: join them in the last dimension.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for B, T, D, W in ((1, 3, 2, 2), (2, 5, 3, 4), (2, 2, 1, 3), (1, 4, 3, 1)):
        e = trial.normal(B, W - 1 + T, D)
        trial.agrees(_window_vectors, e, W, rule=f"windows (B, T, {W} D)", **look)
