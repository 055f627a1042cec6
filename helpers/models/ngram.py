"""n-gram language models: maximum likelihood, add-k, Jelinek-Mercer, Kneser-Ney.

``n`` is the length of the gram: an n-gram model looks at n-1 tokens (a Markov model of order n-1).

Every smoothing method here has the same recursive form (Chen and Goodman 1999),

    p_k(w | context of k-1) = alpha_k(context, w) + gamma_k(context) * p_{k-1}(w | shorter context)

with p_0 uniform over the vocabulary. A method is the two arrays alpha (one number per row of table
k, see ``gram_counts``) and gamma (one per context); a context that was never seen takes p_{k-1} as
it is. p_k sums to 1 when the alphas of a context and its gamma do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from helpers.models.gram_counts import Ints, NGramCounts, looked_up

Floats = NDArray[np.float64]


class NGram:
    """What all n-gram models share; the subclasses say how counts become probabilities.

    A model is a predictor (see ``helpers.contracts``); its state holds, for each text of the batch,
    the rows of its last 0, 1, ..., n-1 tokens. After ``end`` the next token starts a new sentence.

    Args:
        n: length of the gram.
        end: the token that closes a sentence, if there is one.
    """

    def __init__(self, n: int, end: int | None = None) -> None:
        self.n, self.end = n, end

    def fit(self, tokens: Tensor, vocab_size: int) -> NGram:
        """Count a text of token ids (T,) and return the model itself."""
        return self.fit_counts(NGramCounts(tokens, self.n, vocab_size, self.end))

    def fit_counts(self, counts: NGramCounts) -> NGram:
        """Use counts made before, of the same n or longer: many models can share one counting."""
        if counts.n < self.n or counts.end != self.end:
            raise ValueError(
                f"These counts reach n = {counts.n} with end = {counts.end}; this model needs "
                f"n = {self.n} with end = {self.end}."
            )
        self.counts, self.vocab_size, self.bos = counts, counts.vocab_size, counts.bos
        self.alpha, self.gamma = [], []
        for k in range(1, self.n + 1):
            alpha, gamma = self._level(k)
            self.alpha.append(alpha)
            self.gamma.append(gamma)
        return self

    def _level(self, k: int) -> tuple[Floats, Floats]:
        """alpha (one per row of table k) and gamma (one per context; NaN: context never seen)."""
        raise NotImplementedError

    def _sums(self, k: int, values: NDArray) -> Floats:
        """Sum per context of values per row of table k, NaN where there is nothing to sum."""
        table = self.counts.tables[k - 1]
        sums = np.bincount(table.context, weights=values, minlength=len(table.start) - 1)
        return np.where(sums > 0, sums, np.nan)

    def log_probs(self, tokens: Tensor) -> Tensor:
        """Log-probability (T,) in nats of each token of a text, given all before it."""
        return torch.from_numpy(self.levels(tokens)[-1]).log()

    def levels(self, tokens: Tensor) -> list[Floats]:
        """Probabilities (T,) of each token under p_0 (uniform), p_1, ..., p_n."""
        grams, contexts = self.counts.rows(tokens, self.n)
        p = [np.full(len(grams[0]), 1 / self.vocab_size)]
        for row, context, alpha, gamma in zip(
            grams, contexts, self.alpha, self.gamma, strict=False
        ):
            keep = looked_up(gamma, context, np.nan)
            p.append(_combined(looked_up(alpha, row, 0.0), keep, p[-1]))
        return p

    def start(self, batch_size: int) -> Ints:
        """The state before anything is read."""
        state = np.full((batch_size, self.n), -1)
        state[:, 0] = 0
        return state

    def step(self, tokens: Tensor, state: Ints) -> tuple[Tensor, Ints]:
        """Read tokens (B,): log-probabilities (B, V) in nats of the next, and the new state."""
        read = torch.as_tensor(tokens).numpy().astype(np.int64)
        new = np.full_like(state, -1)
        new[:, 0] = 0
        opens = (read == self.bos) | (read == (-1 if self.end is None else self.end))
        if self.n > 1:
            new[:, 1] = np.where(opens, self.bos, read)
        for k in range(2, self.n):
            new[:, k] = np.where(opens, -1, self.counts.find(k, state[:, k - 1], read))
        return torch.from_numpy(np.stack([self._distribution(row) for row in new])).log(), new

    def _distribution(self, contexts: Ints) -> Floats:
        """Probabilities (V,) after the contexts whose rows are given, from the shortest up."""
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        for k, context in enumerate(contexts):
            if context < 0:
                break
            table, V = self.counts.tables[k], self.vocab_size
            rows = slice(table.start[context], table.start[context + 1])
            alpha = np.zeros(V)
            alpha[table.word[rows]] = self.alpha[k][rows]
            p = _combined(alpha, self.gamma[k][context], p)
        return p


class MaximumLikelihood(NGram):
    """Relative frequencies: count(context, w) / count(context). Lecture [Y], Shannon (1948).

    It gives nothing to a gram that was never seen, and says nothing after a context that was never
    seen; there the longest part of the context that was seen is used.
    """

    def _level(self, k: int) -> tuple[Floats, Floats]:
        count, table = self.counts.tables[k - 1].count, self.counts.tables[k - 1]
        total = self._sums(k, count)
        return count / total[table.context], total * 0


class AddK(NGram):
    """(count(context, w) + k) / (count(context) + k V); k = 1 is Laplace's rule."""

    def __init__(self, n: int, k: float = 1.0, end: int | None = None) -> None:
        if not k > 0:
            raise ValueError(f"k is added to every count and must be positive, not {k}.")
        super().__init__(n, end)
        self.k = k

    def _level(self, k: int) -> tuple[Floats, Floats]:
        table, added = self.counts.tables[k - 1], self.k * self.vocab_size
        total = self._sums(k, table.count)
        if k < self.n:  # only the full context counts: below it, stay uniform
            return np.zeros(len(table.count)), np.where(np.isnan(total), np.nan, 1.0)
        return table.count / (total[table.context] + added), added / (total + added)


class JelinekMercer(NGram):
    """Interpolation of all orders: p_k = lambda_k ML_k + (1 - lambda_k) p_{k-1}.

    Jelinek and Mercer (1980), with one weight per order. ``tune`` finds the weights on held-out
    text; before that they are 0.5.
    """

    def __init__(
        self, n: int, weights: Sequence[float] | None = None, end: int | None = None
    ) -> None:
        super().__init__(n, end)
        self.weights = [0.5] * n if weights is None else list(weights)
        if len(self.weights) != n or not all(0 <= weight < 1 for weight in self.weights):
            raise ValueError(f"Give {n} weights, one per order, each in [0, 1): got {weights}.")

    def _level(self, k: int) -> tuple[Floats, Floats]:
        table, weight = self.counts.tables[k - 1], self.weights[k - 1]
        total = self._sums(k, table.count)
        return weight * table.count / total[table.context], total * 0 + 1 - weight

    def tune(self, held_out: Tensor, iterations: int = 30) -> JelinekMercer:
        """Weights that maximise the likelihood of held-out tokens, by expectation-maximisation."""
        levels = []  # per order: which tokens have a context that was seen, and their ML estimate
        for k, (row, context) in enumerate(
            zip(*self.counts.rows(held_out, self.n), strict=True), 1
        ):
            count = self.counts.tables[k - 1].count
            total = looked_up(self._sums(k, count), context, np.nan)
            seen = np.flatnonzero(~np.isnan(total))
            levels.append((seen, (looked_up(count, row, 0) / total)[seen]))
        for _ in range(iterations):
            p = [np.full(len(held_out), 1 / self.vocab_size)]
            for weight, (seen, likelihood) in zip(self.weights, levels, strict=True):
                p.append(p[-1].copy())
                p[-1][seen] = weight * likelihood + (1 - weight) * p[-1][seen]
            reach = np.ones(len(held_out))  # posterior that the token came from level k or below
            for k in range(self.n, 0, -1):
                seen, arrived = levels[k - 1][0], reach[levels[k - 1][0]].sum()
                reach[seen] *= (1 - self.weights[k - 1]) * p[k - 1][seen] / p[k][seen]
                if arrived > 0:
                    stay = 1 - float(reach[seen].sum() / arrived)
                    self.weights[k - 1] = min(max(stay, 0.0), 1 - 1e-9)
        self.fit_counts(self.counts)
        return self


class KneserNey(NGram):
    """Interpolated Kneser-Ney: absolute discounting over continuation counts.

    Kneser and Ney (1995) in the interpolated form of Chen and Goodman (1999). Below the longest
    order a gram counts the different tokens that it follows, not its occurrences.

    Args:
        n: length of the gram.
        end: the token that closes a sentence, if there is one.
        discounts: one per order 1..n, in [0, 1]; when not given, n1 / (n1 + 2 n2), where n1 and n2
            are the numbers of grams counted once and twice.
        continuation: False lets every order count occurrences, which is absolute discounting (Ney,
            Essen and Kneser 1994): what Kneser-Ney was before its second idea.
    """

    def __init__(
        self,
        n: int,
        end: int | None = None,
        discounts: Sequence[float] | None = None,
        continuation: bool = True,
    ) -> None:
        super().__init__(n, end)
        self.continuation = continuation
        if discounts is not None and (
            len(discounts) != n or not all(0 <= d <= 1 for d in discounts)
        ):
            raise ValueError(f"Give {n} discounts, one per order, each in [0, 1]: got {discounts}.")
        self.discounts = discounts

    def _level(self, k: int) -> tuple[Floats, Floats]:
        table = self.counts.tables[k - 1]
        count = self.counts.continuation(k) if self.continuation and k < self.n else table.count
        if k == 1:
            count = np.where(table.word == self.bos, 0, count)  # is read, never predicted
        total = self._sums(k, count)
        discount = np.minimum(self._discounts(k, count)[np.minimum(count, 3)], count)
        gamma = self._sums(k, discount) / total
        return (count - discount) / total[table.context], np.where(
            np.isnan(total), np.nan, np.nan_to_num(gamma)
        )

    def _discounts(self, k: int, count: Ints) -> Floats:
        """What is taken off a count of 0, 1, 2, and 3 or more."""
        if self.discounts is not None:
            return np.array([0.0] + [self.discounts[k - 1]] * 3)
        once, twice = (int(np.count_nonzero(count == i)) for i in (1, 2))
        discount = once / (once + 2 * twice) if once else 0.5
        return np.array([0.0, discount, discount, discount])


class ModifiedKneserNey(KneserNey):
    """Kneser-Ney with discounts for counts of 1, 2, and 3 or more (Chen and Goodman 1999)."""

    def _discounts(self, k: int, count: Ints) -> Floats:
        n1, n2, n3, n4 = (int(np.count_nonzero(count == i)) for i in (1, 2, 3, 4))
        if self.discounts is not None or not (n1 and n2 and n3 and n4):
            return super()._discounts(k, count)  # too small a text to estimate three
        y = n1 / (n1 + 2 * n2)
        discounts = [0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
        if min(discounts[1:]) <= 0:  # counts unlike those of text: nothing would be left to unseen
            return super()._discounts(k, count)
        return np.minimum(discounts, [0, 1, 2, 3])


def _combined(alpha: Floats, gamma: Floats, lower: Floats) -> Floats:
    """alpha + gamma p_{k-1}; p_{k-1} as it is where the context was never seen."""
    return np.where(np.isnan(gamma), lower, alpha + gamma * lower)
