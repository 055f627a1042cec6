"""Your turn with attention: weights, the scale, the mask, heads, a memory, a habit."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook09")
Slip = tuple[Callable, str]
LOOKUP = see(9, "Softmax, a selection that can be learned")
ROLES = see(9, "Queries, keys and values")
SCALE = see(9, "Why divide by √d_k")
FUTURE = see(9, "The future is not to be looked at")
HEADS = see(9, "Several heads at once")
ELSEWHERE = see(9, "Queries from elsewhere")
TRAINED = see(9, "Heads of a trained model")
NOT_YET = "The factor 1 / sqrt(d_k) comes in section 3; here the scores are the plain dot products."
WHICH_KEY = "The softmax goes over the keys: the weights of one query sum to 1."


def _one_output(q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return (K @ q).softmax(0) @ V


@turns.task(_one_output)
def one_output(trial: Trial) -> None:
    hint = (
        "Score every key with the query, take the powers of e, divide by their sum, and add up the "
        f"values with these weights. {ROLES}"
    )
    slips: list[Slip] = [
        (
            lambda q, K, V: (K @ q / math.sqrt(len(q))).softmax(0) @ V,
            NOT_YET,
        ),
        (
            lambda q, K, V: (K @ q).exp() @ V,
            "The powers of e are not yet weights: divide them by their sum.",
        ),
        (
            lambda q, K, V: (K @ q / (K @ q).sum()) @ V,
            "Scores are made positive by the exponential before they are divided by their sum.",
        ),
        (
            lambda q, K, V: (K @ q) @ V,
            "These are the scores times the values; first make weights of the scores, by softmax.",
        ),
        (
            lambda q, K, V: V[(K @ q).argmax()],
            "That is the value of the best key alone, as in a dictionary; all values are averaged.",
        ),
        (
            lambda q, K, V: V.mean(0),
            "That is the plain mean: each value has a weight of its own, by its key's score.",
        ),
        (
            lambda q, K, V: (K @ q).softmax(0) @ K if K.shape == V.shape else None,
            "The weights come from the keys, and what is averaged are the values.",
        ),
        (
            lambda q, K, V: (K @ q).softmax(0),
            "These are the weights; the output is the average of the values with them.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    K = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    V = torch.tensor([[10.0, 0.0], [0.0, 5.0], [10.0, 5.0]])
    trial.agrees(
        _one_output,
        torch.tensor([0.0, 2.0]),
        K,
        V,
        rule="by hand: (8.9, 4.5)",
        tolerance=1e-5,
        **look,
    )
    trial.agrees(
        _one_output, torch.zeros(2), K, V, rule="equal scores give the mean", tolerance=1e-5, **look
    )
    for _ in range(3):
        S, d_k = trial.integer(3, 7), trial.integer(2, 5)
        shapes = (d_k,), (S, d_k), (S, trial.integer(2, 5))
        arguments = [trial.normal(*shape, dtype=torch.float32) for shape in shapes]
        trial.agrees(
            _one_output, *arguments, rule="any query, keys and values", tolerance=1e-5, **look
        )


def _attention_weights(Q: Tensor, K: Tensor) -> Tensor:
    return (Q @ K.T).softmax(1)


@turns.task(_attention_weights)
def attention_weights(trial: Trial) -> None:
    hint = f"All dot products are Q K^T, (T, S); the softmax goes along each row. {ROLES}"
    slips: list[Slip] = [
        (lambda Q, K: (Q @ K.T).softmax(0), f"{WHICH_KEY} A query is a row: softmax(1)."),
        (lambda Q, K: Q @ K.T, "These are the scores; the softmax of each row makes weights."),
        (
            lambda Q, K: (K @ Q.T).softmax(1),
            "A row belongs to a query and a column to a key; here it is the other way round.",
        ),
        (
            lambda Q, K: (K @ Q.T).softmax(0),
            "Each query has its weights in a column here; it should have them in a row.",
        ),
        (lambda Q, K: (Q @ K.T / math.sqrt(K.shape[1])).softmax(1), NOT_YET),
        (
            lambda Q, K: (Q @ K.T).exp(),
            "The powers of e are not yet weights: divide each row by its sum.",
        ),
        (
            lambda Q, K: (Q @ K.T).flatten().softmax(0).view(len(Q), len(K)),
            "All weights together sum to 1 here; each row should.",
        ),
        (
            lambda Q, K: (Q @ K.T) / (Q @ K.T).sum(1, keepdim=True),
            "Scores may be negative: a softmax makes them positive before it divides.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    Q = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    K = torch.tensor([[1.0, 1.0], [0.0, 1.0], [1.0, 2.0]])
    trial.agrees(
        _attention_weights, Q, K, rule="by hand: row 2 is 0.11, 0.11, 0.79", tolerance=1e-5, **look
    )
    for _ in range(3):
        T, d_k = trial.integer(2, 4), trial.integer(2, 5)
        shapes = (T, d_k), (T + trial.integer(1, 4), d_k)
        arguments = [trial.normal(*shape, dtype=torch.float32) for shape in shapes]
        trial.agrees(
            _attention_weights,
            *arguments,
            rule="any number of queries and keys",
            tolerance=1e-5,
            **look,
        )


def _scaled_attention(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return (Q @ K.T / math.sqrt(K.shape[1])).softmax(1) @ V


def _with_scale(scale: Callable[[Tensor, Tensor, Tensor], float]) -> Callable:
    return lambda Q, K, V: (Q @ K.T * scale(Q, K, V)).softmax(1) @ V


@turns.task(_scaled_attention)
def scaled_attention(trial: Trial) -> None:
    hint = (
        "Divide the scores by the square root of the length of one query before the softmax, and "
        f"average the values. {SCALE}"
    )
    slips: list[Slip] = [
        (_with_scale(lambda Q, K, V: 1.0), "The scores are not divided by anything yet."),
        (
            _with_scale(lambda Q, K, V: 1 / K.shape[1]),
            "d_k is the variance of the scores; divide once by its root, the standard deviation.",
        ),
        (
            _with_scale(lambda Q, K, V: math.sqrt(K.shape[1])),
            "That multiplies the scores by the root, and makes them larger still.",
        ),
        (
            lambda Q, K, V: (Q @ K.T).softmax(1) @ V / math.sqrt(K.shape[1]),
            "The factor stands inside of the softmax; outside, it only makes the output smaller.",
        ),
        (
            _with_scale(lambda Q, K, V: 1 / math.sqrt(len(K))),
            "That is the root of the number of keys; d_k is the length of one key, a row.",
        ),
        (
            _with_scale(lambda Q, K, V: 1 / math.sqrt(len(Q))),
            "That is the root of the number of queries; d_k is the length of one query, a row.",
        ),
        (
            _with_scale(lambda Q, K, V: 1 / math.sqrt(V.shape[1])),
            "That is d_v, the length of a value; the dot product has d_k terms.",
        ),
        (
            _with_scale(lambda Q, K, V: 1 / 8),
            "8 is right for d_k = 64 only: take the root of the length of a key, K.shape[1].",
        ),
        (
            lambda Q, K, V: (Q @ K.T / math.sqrt(K.shape[1])).softmax(0) @ V,
            f"{WHICH_KEY} A query is a row: softmax(1).",
        ),
        (
            lambda Q, K, V: (Q @ K.T / math.sqrt(K.shape[1])).softmax(1),
            "These are the weights; the output is the average of the values with them.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    Q = torch.tensor([[2.0, 0, 0, 0], [0, 0, 0, 2.0]])
    K = torch.cat([torch.eye(4), torch.zeros(1, 4)])
    V = torch.tensor([[10.0, 0, 1], [4, 3, 0], [1, 0, 2], [0, 6, 0], [2, 2, 2]])
    trial.agrees(
        _scaled_attention,
        Q,
        K,
        V,
        rule="by hand: scores 1, 0, 0, 0, 0 with d_k = 4",
        tolerance=1e-5,
        **look,
    )
    for d_k in (3, 16, 6):
        T, S, d_v = trial.integer(2, 4), trial.integer(7, 12), trial.integer(4, 6)
        shapes = (T, d_k), (S, d_k), (S, d_v)
        arguments = [trial.normal(*shape, dtype=torch.float32) for shape in shapes]
        trial.agrees(_scaled_attention, *arguments, rule="any shapes", tolerance=1e-5, **look)


def _causal_weights(scores: Tensor) -> Tensor:
    return scores.masked_fill(~_seen(scores), -math.inf).softmax(1)


def _seen(scores: Tensor) -> Tensor:
    return torch.ones_like(scores).tril().bool()


@turns.task(_causal_weights)
def causal_weights(trial: Trial) -> None:
    hint = (
        "Put -inf where a column is later than its row, and only then take the softmax of each "
        f"row. {FUTURE}"
    )
    slips: list[Slip] = [
        (lambda s: s.softmax(1), "Nothing is masked yet: the first word looks at all others."),
        (
            lambda s: s.softmax(1).tril(),
            "The mask comes after the softmax here, so rows do not sum to 1 any more, and the "
            "denominator still knows the future.",
        ),
        (
            lambda s: s.tril().softmax(1),
            "A score of 0 is not hidden: exp(0) = 1. The future gets -inf.",
        ),
        (
            lambda s: s.masked_fill(_seen(s), -math.inf).softmax(1),
            "The wrong side is hidden: these rows look at the future only, the last at nothing.",
        ),
        (
            lambda s: s.masked_fill(~_seen(s).tril(-1), -math.inf).softmax(1),
            "A word may look at itself: the diagonal is not the future. (Here the first row has "
            "nothing left to look at.)",
        ),
        (
            lambda s: s.masked_fill(~_seen(s), -math.inf).softmax(0),
            "The softmax goes along the rows: each row sums to 1.",
        ),
        (
            lambda s: s.masked_fill(~_seen(s).T, -math.inf).softmax(1),
            "The wrong side is hidden: here words look at themselves and at the future.",
        ),
        (
            lambda s: s.masked_fill(~_seen(s), -math.inf),
            "These are the masked scores; take the softmax of each row.",
        ),
        (
            lambda s: s.masked_fill(~_seen(s), -1.0).softmax(1),
            "A score of -1 still gets weight: exp(-1) = 0.37. The future gets -inf.",
        ),
        (
            lambda s: s.masked_fill(~_seen(s), -10.0).softmax(1),
            "A score of -10 still gets a little weight: exp(-10) = 0.00005. The future gets -inf.",
        ),
        (
            lambda s: s.softmax(1).tril() / s.softmax(1).tril().sum(1, keepdim=True),
            "0 divided by 0: all the weight of this row was in the future, before it was set to "
            "zero. Mask the scores, before the softmax.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    hand = torch.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 5.0], [0.0, 0.0, 0.0]])
    trial.agrees(
        _causal_weights, hand, rule="by hand: row 2 is 1/2, 1/2, 0", tolerance=1e-5, **look
    )
    large = torch.tensor([[0.0, 300.0], [0.0, 0.0]])
    trial.agrees(
        _causal_weights, large, rule="a very large score in the future", tolerance=1e-5, **look
    )
    for _ in range(3):
        T = trial.integer(3, 8)
        trial.agrees(
            _causal_weights,
            trial.normal(T, T, dtype=torch.float32),
            rule="any scores",
            tolerance=1e-5,
            **look,
        )


def _split_heads(x: Tensor, H: int) -> Tensor:
    return x.unflatten(-1, (H, -1)).transpose(1, 2)


@turns.task(_split_heads)
def split_heads(trial: Trial) -> None:
    hint = (
        "First give each word H groups of D/H neighbouring numbers, (B, T, H, D/H), then exchange "
        f"the axes of words and heads. {HEADS}"
    )
    slips: list[Slip] = [
        (
            lambda x, H: x.reshape(x.shape[0], H, x.shape[1], -1),
            "The shape is right, the numbers are not: reshaping to (B, H, T, D/H) at once mixes "
            "different words. First (B, T, H, D/H), then transpose.",
        ),
        (
            lambda x, H: x.unflatten(-1, (H, -1)),
            "The axis of the heads still stands behind that of the words: exchange them.",
        ),
        (
            lambda x, H: x.unflatten(-1, (-1, H)).permute(0, 3, 1, 2),
            "Head h gets neighbouring columns, the h-th group of D/H; here it gets every H-th one.",
        ),
        (
            lambda x, H: x.unflatten(-1, (H, -1)).transpose(2, 3),
            "Axes 2 and 3 are exchanged, heads and their width; exchange words and heads, 1 and 2.",
        ),
        (
            lambda x, H: x.unflatten(-1, (-1, H)).transpose(1, 2),
            "These are D/H heads of width H; H heads of width D/H are asked for.",
        ),
        (
            lambda x, H: x.unflatten(-1, (H, -1)).permute(2, 0, 1, 3),
            "The batch stays the first axis: (B, H, T, D/H).",
        ),
        (
            lambda x, H: x[:, None].expand(-1, H, -1, -1),
            "Here each head has all D columns; each gets D/H of its own.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    small = torch.arange(12.0).view(1, 3, 4)
    trial.agrees(_split_heads, small, 2, rule="three words of four numbers, two heads", **look)
    for _ in range(3):
        B, T, H, K = trial.integer(2, 4), trial.integer(5, 7), trial.integer(2, 4), 2
        width = H * (K + trial.integer(2, 4))
        x = trial.normal(B, T, width, dtype=torch.float32)
        trial.agrees(_split_heads, x, H, rule="any shape", **look)


def _cross_attention(X: Tensor, M: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor) -> Tensor:
    return _scaled_attention(X @ W_Q, M @ W_K, M @ W_V)


@turns.task(_cross_attention)
def cross_attention(trial: Trial) -> None:
    hint = f"Queries are made of X, keys and values both of the memory M. {ELSEWHERE}"
    slips: list[Slip] = [
        (
            lambda X, M, Q, K, V: _scaled_attention(X @ Q, X @ K, X @ V),
            "That is self-attention of X; the memory is not asked at all.",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(M @ Q, M @ K, M @ V),
            "That is self-attention of the memory; the queries come from X.",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(M @ Q, X @ K, X @ V),
            "X and M have changed places: X asks, M answers.",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(X @ Q, M @ V, M @ K),
            "W_K and W_V have changed places.",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(X @ K, M @ Q, M @ V),
            "W_Q and W_K have changed places.",
        ),
        (
            lambda X, M, Q, K, V: (X @ Q @ (M @ K).T).softmax(1) @ (M @ V),
            "The scores are not divided by the root of d_k yet.",
        ),
        (
            lambda X, M, Q, K, V: (X @ Q @ (M @ K).T / math.sqrt(X.shape[1])).softmax(1) @ (M @ V),
            "That divides by the root of D; d_k is the length of one query, the columns of W_Q.",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(X @ Q, M @ K, M),
            "The values are the memory times W_V.",
        ),
        (
            lambda X, M, Q, K, V: (X @ Q @ (M @ K).T / math.sqrt(Q.shape[1])).softmax(0) @ (M @ V),
            f"{WHICH_KEY} A query is a row: softmax(1).",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(X @ Q, M @ K, X @ V),
            "The values come from the memory, as the keys do.",
        ),
        (
            lambda X, M, Q, K, V: _scaled_attention(X @ Q, X @ K, M @ V),
            "The keys come from the memory, as the values do.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for T, S, rule in ((4, 4, "as many queries as keys"), (3, 6, "fewer queries than keys")):
        for _ in range(2):
            W = [trial.normal(5, 3) for _ in range(3)]
            arguments = trial.normal(T, 5), trial.normal(S, 5), *W
            trial.agrees(_cross_attention, *arguments, rule=rule, **look)


def _to_mark(looks: Tensor, marks: Tensor) -> Tensor:
    b, t = torch.where(marks >= 0)
    return looks[:, :, b, t, marks[b, t]].mean(-1)


def _all_to_mark(looks: Tensor, marks: Tensor) -> Tensor:
    """Tokens without a mark are counted, too; -1 is the last position."""
    at = marks.remainder(marks.shape[1])[..., None].expand(*looks.shape[:4], 1)
    return looks.gather(-1, at).mean((2, 3, 4))


def _by_text(looks: Tensor, marks: Tensor) -> Tensor:
    texts = [b for b in range(len(marks)) if (marks[b] >= 0).any()]
    means = [_to_mark(looks[:, :, [b]], marks[[b]]) for b in texts]
    return torch.stack(means).mean(0)


def _picked(looks: Tensor, marks: Tensor) -> Tensor:
    b, t = torch.where(marks >= 0)
    return looks[:, :, b, t, marks[b, t]]


def _turned(looks: Tensor, marks: Tensor) -> Tensor:
    return _to_mark(looks.transpose(-2, -1), marks)


def _on_itself(looks: Tensor, marks: Tensor) -> Tensor:
    b, t = torch.where(marks >= 0)
    return looks[:, :, b, t, t].mean(-1)


@turns.task(_to_mark)
def to_mark(trial: Trial) -> None:
    hint = (
        "Of the tokens that have a mark, take the weight in row t and column marks[b, t] of their "
        f"text b, for all heads at once, and average over these tokens. {TRAINED}"
    )
    slips: list[Slip] = [
        (_turned, "Rows ask and columns are asked: the row is the token's, the column its mark's."),
        (lambda looks, marks: _picked(looks, marks).sum(-1), "That is a sum; divide by n."),
        (_picked, "These are the weights of the single tokens; their mean is asked for."),
        (
            lambda looks, marks: _picked(looks, marks).mean(),
            "That averages over the heads, too; each head has a mean of its own, (L, H).",
        ),
        (
            lambda looks, marks: _picked(looks, marks).mean((0, 1)),
            "That averages over the heads; average over the tokens, the last axis.",
        ),
        (_by_text, "Each token counts once here: no means of texts, but of all tokens together."),
        (
            _all_to_mark,
            "Tokens without a mark, where marks is -1, do not count; -1 would be the last "
            "position.",
        ),
        (_on_itself, "That is how much the tokens look at themselves: the column is marks[b, t]."),
    ]
    look = {"hint": hint, "slips": slips}
    looks = torch.tensor([[[1.0, 0, 0], [0.3, 0.7, 0], [0.5, 0.2, 0.3]]])[None, None]
    marks = torch.tensor([[-1, 0, 0]])
    by_hand = "by hand: 0.3 and 0.5, so 0.4"
    trial.agrees(_to_mark, looks, marks, rule=by_hand, tolerance=1e-5, **look)
    for _ in range(3):
        L, H, B, T = (trial.integer(low, low + 2) for low in (2, 4, 2, 7))
        looks = trial.normal(L, H, B, T, T, dtype=torch.float32).softmax(-1)
        marks = torch.full((B, T), -1)
        marks[0, 2:] = 1  # texts with different numbers of such tokens
        marks[1, 4:6] = 3
        trial.agrees(_to_mark, looks, marks, rule="any texts and marks", tolerance=1e-5, **look)
