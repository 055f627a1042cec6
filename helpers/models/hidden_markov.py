"""The hidden Markov model, learned from text by expectation-maximisation (Baum-Welch).

A chain of hidden states q_t, which nobody sees, emits the tokens o_t that everybody sees. In the
notation of L. R. Rabiner, A Tutorial on Hidden Markov Models (1989), with probabilities in place of
his joint terms ("scaling", section V.A),

    pi_i = P(q_1 = i),   A_ij = P(q_{t+1} = j | q_t = i),   B_iv = P(o_t = v | q_t = i)
    c_t = P(o_t | o_1 ... o_{t-1})                                   (1 / his c_t)
    alpha_t(i) = P(q_t = i | o_1 ... o_t)                            forward
    beta_t(i) = P(o_{t+1} ... o_T | q_t = i) / (c_{t+1} ... c_T)     backward
    gamma_t(i) = P(q_t = i | o_1 ... o_T) = alpha_t(i) beta_t(i)

None of them underflows, however long the text is, and log P(text) is the sum of the log c_t.
``helpers.data.sources.HiddenMarkovSource`` is the same model with probabilities that are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.token_ids import check_range


@dataclass(frozen=True)
class ExpectedCounts:
    """How often each thing is expected to have happened, given the tokens; all in float64.

    Attributes:
        starts: (S,), texts that begin in each state.
        transitions: (S, S), moves from each state to the next.
        emissions: (S, V), tokens that each state emitted.
        log_likelihood: of the tokens under the model that made these counts, in nats.
    """

    starts: Tensor
    transitions: Tensor
    emissions: Tensor
    log_likelihood: float


class HiddenMarkovModel:
    """A hidden Markov model: a predictor (see ``helpers.contracts``) that learns from text.

    It looks back without limit, through what it believes of the hidden state: P(q_t | o_1 ... o_t)
    sums up all that was read. It is not smoothed, so a token that never occurred in training has
    probability 0 afterwards.

    Args:
        n_states: S.
        vocab_size: V.
        generator: draws the model that learning starts from, every row uniform among all
            distributions. Learning climbs to a local maximum, so try several starts and keep the
            one that makes the training text most likely.

    Attributes:
        pi: (S,), the distribution of the first state.
        A: (S, S), from each state to the next.
        B: (S, V), the tokens that each state emits.

    Source: lecture [G], "Hidden Markov Models"; L. R. Rabiner (1989), sections II to V.
    """

    def __init__(self, n_states: int, vocab_size: int, generator: torch.Generator) -> None:
        self.n_states = n_states
        self.vocab_size = self.bos = vocab_size
        self.pi, self.A, self.B = (
            _normalise(-torch.log1p(-torch.rand(shape, generator=generator, dtype=torch.float64)))
            for shape in ((n_states,), (n_states, n_states), (n_states, vocab_size))
        )

    def fit(self, tokens: Tensor, iterations: int, length: int = 100) -> Iterator[float]:
        """Learn from a text (N,) and yield its log-likelihood, nats per token, per iteration.

        The value yielded belongs to the model as it is then; it never falls but for rounding. The
        text is cut into stretches of ``length`` tokens that are read side by side, each as a text
        of its own: pi becomes the distribution of the state at any place, and what a stretch could
        know from the one before it is lost. Longer stretches lose less and take more time.

        Raises:
            ValueError: tokens outside 0 .. V-1, or a text that the model gives no probability to
                begin with.
        """
        tokens = self._checked(tokens)
        length = min(length, len(tokens))
        padding = -len(tokens) % length
        stretches = F.pad(tokens, (0, padding), value=self.vocab_size).view(-1, length)  # (B, T)
        counts = self.expect(stretches)
        for _ in range(iterations):
            self.maximise(counts)
            counts = self.expect(stretches)
            yield counts.log_likelihood / len(tokens)

    def expect(self, tokens: Tensor) -> ExpectedCounts:
        """The E step: expected counts given texts (B, T), shorter ones filled up with V at the end.

        Raises:
            ValueError: a text has probability 0, so there is nothing to expect.
        """
        alpha, c = self._forward(tokens)  # (T, B, S), (T, B)
        if not bool((c > 0).all()):
            raise ValueError(
                "The model gives this text the probability 0, and zeros in pi, A and B stay zeros "
                "however long it learns: start from a model without them."
            )
        tokens, beta = tokens.T, torch.ones_like(alpha)
        after = self._emitted(tokens) / c[:, :, None]  # (T, B, S), times beta in the loop
        for t in reversed(range(len(after))):
            after[t] *= beta[t]
            if t > 0:
                beta[t - 1] = after[t] @ self.A.T
        gamma = alpha * beta  # (T, B, S)
        after[tokens == self.vocab_size] = 0  # no move leads into the filling
        moves = self.A * (alpha[:-1].flatten(0, 1).T @ after[1:].flatten(0, 1))  # (S, S)
        emissions = gamma.new_zeros(self.vocab_size + 1, self.n_states)
        emissions.index_add_(0, tokens.flatten(), gamma.flatten(0, 1))
        return ExpectedCounts(gamma[0].sum(0), moves, emissions[:-1].T, float(c.log().sum()))

    def maximise(self, counts: ExpectedCounts) -> None:
        """The M step: pi, A and B become the relative frequencies in the expected counts.

        A state that is never left, or never visited, keeps what it had.
        """
        self.pi = _normalise(counts.starts, self.pi)
        self.A = _normalise(counts.transitions, self.A)
        self.B = _normalise(counts.emissions, self.B)

    def log_probs(self, tokens: Tensor) -> Tensor:
        """Log-probability (N,) in nats of each token of a text, given all before it."""
        return self._forward(self._checked(tokens)[None])[1][:, 0].log()

    def start(self, batch_size: int) -> Tensor:
        """The distribution of the first hidden state, for each text: (B, S)."""
        return self.pi.repeat(batch_size, 1)

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Read tokens (B,): log-probabilities (B, V) in nats of the next, and the new state.

        The state is P(hidden state at the next token | tokens read), (B, S). After ``bos``, and
        after a token that could not come, of probability 0, it begins anew.
        """
        tokens = torch.as_tensor(tokens, dtype=torch.long)
        _, _, state = self._filter(state, self._emitted(tokens))
        state = torch.where((tokens == self.bos)[:, None], self.pi, state)
        return (state @ self.B).log(), state

    def _forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """alpha (T, B, S) and c (T, B) of texts (B, T)."""
        state, alphas, scales = self.start(len(tokens)), [], []
        for emitted in self._emitted(tokens.T):
            alpha, c, state = self._filter(state, emitted)
            alphas.append(alpha)
            scales.append(c)
        return torch.stack(alphas), torch.stack(scales)[:, :, 0]

    def _filter(self, state: Tensor, emitted: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """From P(q_t | o_1 ... o_{t-1}) and P(o_t | q_t): alpha_t, c_t (B, 1), the next state."""
        joint = state * emitted  # (B, S)
        c = joint.sum(1, keepdim=True)
        alpha = joint / c
        return alpha, c, torch.where(c > 0, alpha @ self.A, self.pi)

    def _emitted(self, tokens: Tensor) -> Tensor:
        """P(token | state) for each state: (..., S). V stands for nothing seen: 1 everywhere."""
        return F.pad(self.B, (0, 1), value=1.0).T[tokens]

    def _checked(self, tokens: Tensor) -> Tensor:
        tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
        check_range(
            tokens,
            self.vocab_size,
            "The text holds token ids from {low} to {high}, but this model knows 0 to {last}: give "
            "it the vocab_size of the text.",
        )
        return tokens


def _normalise(counts: Tensor, fallback: Tensor | None = None) -> Tensor:
    """Rows of counts as distributions; a row of zeros becomes the row of ``fallback``."""
    total = counts.sum(-1, keepdim=True)
    rows = counts / total
    return rows if fallback is None else torch.where(total > 0, rows, fallback)
