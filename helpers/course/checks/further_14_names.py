"""Your turn with the heads of a trained GPT: its own part, an induction score, what is copied."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention

turns = Lab("further_14_names")


def layers_of_heads(draw):
    for D, H in ((8, 2), (12, 3)):
        attention = MultiHeadAttention(D, H).double().requires_grad_(False)
        for weight in attention.parameters():
            weight.copy_(draw.normal(*weight.shape) if weight.dim() > 1 else 0 * weight)
        for h in (0, H - 1):
            given = f"random matrices without biases, T = 5, D = {D}, H = {H}, h = {h}"
            rule = "the first head" if h == 0 else "the last head"
            yield Case(rule, attention, draw.normal(5, D), h, given=given)


@turn(
    turns,
    "attention.value(x) are the values of all heads, K = D / H numbers each. Keep those from h K "
    "to (h + 1) K - 1, set the others to zero, and send them through attention.output.",
    cases=layers_of_heads,
    slips="""
    return attention.output(only) => return only
        That is the head's value; what it *writes* has passed through attention.output.
    return attention.output(only) => return attention.output(values)
        Those are all heads together: set the numbers of the others to zero.
    values = attention.value(x) => values = x
        The stream is turned into values first: attention.value(x).
    values[:, h * K : (h + 1) * K] => x[:, h * K : (h + 1) * K] ;; \
    return attention.output(only) => return attention.output(attention.value(only))
        Cut the head's part out of the *values*: each of them is made of all numbers of x.
    only[:, h * K : (h + 1) * K] = values[:, h * K : (h + 1) * K] => \
    only[:, (h - 1) * K : h * K] = values[:, (h - 1) * K : h * K]
        Heads are counted from 0: the numbers of head h begin at h K.
    return attention.output(only) => \
    return values[:, h * K : (h + 1) * K] @ attention.output.weight[h * K : (h + 1) * K]
        attention.output multiplies by the *transposed* weight: the head has K of its columns.
    return attention.output(only) => return attention.output(values - only)
        Those are the other heads: yours is the one that stays.
    K = values.shape[1] // attention.n_heads => K = attention.n_heads
        A head has K = D / H numbers; H is the number of heads.
    """,
)
def own_part(attention, x, h):
    """What head h writes into the stream when it looks at each position of x (T, D): (T, D)."""
    values = attention.value(x)  # (T, D): H heads of K numbers
    K = values.shape[1] // attention.n_heads
    only = torch.zeros_like(values)
    only[:, h * K : (h + 1) * K] = values[:, h * K : (h + 1) * K]
    return attention.output(only)


def as_number(answer, weights, n):
    value = answer(weights, n)
    return float(value) if not isinstance(value, torch.Tensor) or value.numel() == 1 else value


def weights_of_a_head(draw):
    for n in (4, draw.integer(5, 9)):
        T = 1 + 2 * n
        later = torch.ones(T, T, dtype=torch.bool).triu(1)
        weights = draw.normal(T, T).masked_fill(later, -math.inf).softmax(-1)
        given = f"random weights ({T}, {T}), n = {n}"
        yield Case("it is the mean weight on what followed last time", weights, n, given=given)


@turn(
    turns,
    "For t from n + 1 to 2n, take weights[t, t - n + 1], and average these n numbers.",
    cases=weights_of_a_head,
    call=as_number,
    slips="""
    t - n + 1] => t - n]
        That is the weight on the same token, and the one after it is looked for.
    t - n + 1] => t - n - 1]
        That is the token before the earlier one: the one after it is looked for.
    range(n + 1, => range(n,
        The second round begins at position n + 1: position 0 holds the token that begins the text.
    2 * n + 1) => 2 * n)
        The last position, 2n, belongs to the second round.
    [t, t - n + 1] => [t - n + 1, t]
        Rows look, columns are looked at: weights[looking, looked at].
    total / n => total
        A mean is asked for: divide the sum by n.
    total / n => total / len(weights)
        The second round has n positions: divide by n.
    """,
)
def induction_score(weights, n):
    """The mean weight of the second round on what followed the same token in the first."""
    total = 0.0
    for t in range(n + 1, 2 * n + 1):
        total += weights[t, t - n + 1]
    return total / n


def sequences(words, n):
    return set(zip(*(words[i:] for i in range(n)), strict=False))


def texts_and_books(draw):
    text = ["the", "cat", "sat", "on", "the", "cat", "the"]
    book = ["on", "the", "cat"]
    given = "six pairs, of which (on, the) and, twice, (the, cat) are known"
    yield Case("by hand", text, sequences(book, 2), 2, given=given)
    for n in (1, 3, 4):
        text, book = (list(draw.text(*how)) for how in ((40, "abcd"), (60, "abc")))
        given = f"a text of {len(text)} letters for words, n = {n}"
        yield Case("any texts", text, sequences(book, n), n, given=given)


@turn(
    turns,
    "Make a list of the sequences of n words of the text, as tuples, text[i : i + n]; count how "
    "many of them are known, and divide by the length of the list.",
    cases=texts_and_books,
    slips="""
    return sum(piece in known for piece in pieces) / len(pieces) => \
    return len(set(pieces) & known) / len(set(pieces))
        A sequence that occurs twice in the text counts twice.
    len(text) - n + 1 => len(text) - n
        The last sequence is missing: a text of m words has m - n + 1 of them.
    tuple(text[i : i + n]) => tuple(text[i : i + n - 1])
        The known sequences are tuples of n words: tuple(text[i : i + n]).
    / len(pieces) => / len(text)
        A text of m words has m - n + 1 sequences of n words: divide by their number.
    / len(pieces) =>
        A share is asked for: divide by the number of sequences.
    / len(pieces) => / len(known)
        The share is that of the text's sequences, not of the known ones.
    (piece in known for piece in pieces) => (piece not in known for piece in pieces)
        Those are new; count the ones that are known.
    """,
)
def copied(text, known, n):
    """The share of the sequences of n words of text, a list, that are in known, a set of tuples."""
    pieces = [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]
    return sum(piece in known for piece in pieces) / len(pieces)
