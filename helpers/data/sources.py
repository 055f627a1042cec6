"""Sources of text whose truth is known: every probability exact, and the entropy rate with it.

Each source samples tokens, knows its entropy rate (or bounds of it) in nats per token, and is a
predictor (see ``helpers.contracts``): the best possible one for its own text, so its cross-entropy
is the floor for every model that learns from that text. Probabilities are kept in float64, on the
CPU.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.token_ids import check_range

_MOST_CONTEXTS = 4096  # the stationary distribution is solved exactly, by a dense linear system
_MOST_NUMBERS = 2**25  # in one tensor of an enumeration: 256 MiB


class MarkovSource:
    """A stationary Markov source of order k: a token depends on the k before it.

    Args:
        transitions: (V,) * k + (V,); ``transitions[x1, ..., xk]`` is the distribution of the token
            after x1 ... xk (x1 the oldest).

    Raises:
        ValueError: wrong shape, a row that is no distribution, more than one stationary
            distribution, or more than 4096 contexts.

    Source: C. E. Shannon, A Mathematical Theory of Communication (1948), sections 4 to 7.
    """

    def __init__(self, transitions: Tensor | Sequence[Any]) -> None:
        self.transitions = _distributions(transitions, "transitions")
        shape = self.transitions.shape
        self.order, self.vocab_size = len(shape) - 1, shape[-1]
        if self.order < 1 or set(shape) != {self.vocab_size}:
            raise ValueError(
                f"transitions has the shape {tuple(shape)}; a Markov source of order k >= 1 over V "
                "tokens needs k + 1 dimensions of the same size V."
            )
        self.bos = self.vocab_size
        contexts = self.vocab_size**self.order
        if contexts > _MOST_CONTEXTS:
            raise ValueError(
                f"A source of order {self.order} over {self.vocab_size} tokens has {contexts} "
                f"contexts, more than the {_MOST_CONTEXTS} that are solved exactly: lower the "
                "order or merge tokens."
            )
        self._rows = self.transitions.reshape(contexts, self.vocab_size)
        # After x1 ... xk and y the context is x2 ... xk y: drop the oldest digit, append y.
        following = (torch.arange(contexts)[:, None] * self.vocab_size) % contexts
        following = following + torch.arange(self.vocab_size)  # (V^k, V)
        chain = torch.zeros(contexts, contexts, dtype=torch.float64)
        self.stationary = _stationary(chain.scatter_add_(1, following, self._rows)).reshape(
            shape[:-1]
        )  # (V,) * k: how often each context occurs
        self._nodes, self._next = self._tree(following)

    def _tree(self, following: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities and successors for every context of 0 ... k tokens, shortest first."""
        tables, successors, offset = [], [], 0
        for length in range(self.order):
            size = self.vocab_size**length
            joint = self.stationary.reshape(size, self.vocab_size, -1).sum(-1)
            total = joint.sum(-1, keepdim=True)
            # A beginning that never occurs has no distribution of its own; any will do.
            uniform = torch.full_like(joint, 1 / self.vocab_size)
            tables.append(torch.where(total > 0, joint / total, uniform))
            offset += size
            successors.append(
                offset + torch.arange(size * self.vocab_size).view(size, self.vocab_size)
            )
        tables.append(self._rows)
        successors.append(offset + following)
        root = torch.zeros(offset + len(following), 1, dtype=torch.long)  # where bos leads
        return torch.cat(tables).log(), torch.cat([torch.cat(successors), root], dim=1)

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """Draw a text of n tokens: (n,) long. It begins in the stationary distribution."""
        uniforms = _uniforms(n + 1, generator)
        rows, contexts, size = _cumulative(self._rows), len(self._rows), self.vocab_size
        context = bisect_right(_cumulative(self.stationary.reshape(1, -1))[0], uniforms[0])
        tokens = [context // size**i % size for i in reversed(range(self.order))]
        for uniform in uniforms[1 : n - self.order + 1]:
            token = bisect_right(rows[context], uniform)
            context = (context * size + token) % contexts
            tokens.append(token)
        return torch.tensor(tokens[:n])

    def entropy_rate(self) -> float:
        """The entropy of a token given the k before it, in nats per token (Shannon, section 7)."""
        return float((self.stationary * _entropy(self.transitions)).sum())

    def start(self, batch_size: int) -> Tensor:
        """The empty context of each text, (B,)."""
        return torch.zeros(batch_size, dtype=torch.long)

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Read tokens (B,): log-probabilities (B, V) in nats and the new contexts (B,)."""
        state = self._next[state, tokens]
        return self._nodes[state], state


def lagged_source(vocab_size: int, lag: int, noise: float) -> MarkovSource:
    """A token is the successor (modulo V) of the one ``lag`` places back, or noise: any of the V.

    All tokens are equally frequent, and places that are no multiple of the lag tell nothing. Who
    looks at the right place reaches the entropy rate, which does not depend on the lag.

    Args:
        vocab_size: V.
        lag: how far back, 1 or more.
        noise: probability that the token is drawn uniformly instead; above 0, at most 1.
    """
    shape = (vocab_size,) * (lag + 1)
    transitions = torch.full(shape, noise / vocab_size, dtype=torch.float64)
    for oldest in range(vocab_size):
        transitions[oldest, ..., (oldest + 1) % vocab_size] += 1 - noise
    return MarkovSource(transitions)


def pair_source(seed: int = 0) -> MarkovSource:
    """After each pair of 64 tokens four likely successors; frequencies as Zipf saw them in words.

    There are 64 x 64 pairs, a few of them frequent and most of them rare. So there is always
    something left to learn, for a larger model or from a longer text.
    """
    V, likely, leak = 64, (0.4, 0.2, 0.12, 0.08), 0.2  # the rest goes to all tokens by frequency
    generator = torch.Generator().manual_seed(seed)
    often = 1 / torch.arange(1, V + 1, dtype=torch.float64)
    often /= often.sum()
    noise = torch.rand(V * V, V, generator=generator, dtype=torch.float64)
    drawn = (often.log() - (-noise.log()).log()).topk(len(likely)).indices  # without replacement
    table = leak * often.repeat(V * V, 1)
    table.scatter_add_(1, drawn, torch.tensor(likely, dtype=torch.float64).expand(V * V, -1))
    return MarkovSource(table.view(V, V, V))


class HiddenMarkovSource:
    """A hidden Markov chain of which only noisy tokens are seen.

    Args:
        transitions: (S, S), from each hidden state to the next.
        emissions: (S, V), the tokens that each state emits.

    Raises:
        ValueError: wrong shapes, a row that is no distribution, or more than one stationary
            distribution of the states.

    Source: L. R. Rabiner, A Tutorial on Hidden Markov Models (1989); T. Cover and J. Thomas,
    Elements of Information Theory, 2nd edition, section 4.5.
    """

    def __init__(
        self, transitions: Tensor | Sequence[Any], emissions: Tensor | Sequence[Any]
    ) -> None:
        self.transitions = _distributions(transitions, "transitions", dimensions=2)
        self.emissions = _distributions(emissions, "emissions", dimensions=2)
        self.vocab_size = self.bos = self.emissions.shape[1]
        self.stationary = _stationary(self.transitions)  # (S,)

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """Draw a text of n tokens: (n,) long. It begins in the stationary distribution."""
        moves, draws = _uniforms(n, generator), _uniforms(n, generator)
        rows, emissions = _cumulative(self.transitions), _cumulative(self.emissions)
        row, tokens = _cumulative(self.stationary[None])[0], []
        for move, draw in zip(moves, draws, strict=True):
            hidden = bisect_right(row, move)
            tokens.append(bisect_right(emissions[hidden], draw))
            row = rows[hidden]
        return torch.tensor(tokens)

    def sample_texts(
        self, n: int, length: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Draw n texts: their hidden states and their tokens, (n, length) long each.

        Much faster than ``sample`` where many are wanted, because they are drawn side by side.
        """
        hidden = torch.multinomial(self.stationary, n, replacement=True, generator=generator)
        states, tokens = [], []
        for _ in range(length):
            states.append(hidden)
            drawn = torch.multinomial(self.emissions[hidden], 1, generator=generator)
            tokens.append(drawn[:, 0])
            hidden = torch.multinomial(self.transitions[hidden], 1, generator=generator)[:, 0]
        return torch.stack(states, dim=1), torch.stack(tokens, dim=1)

    def entropy_rate_bounds(self, n: int) -> tuple[float, float]:
        """A lower and an upper bound of the entropy rate, in nats per token, from n tokens.

        H(Y_n | Y_1 ... Y_{n-1}, X_1) <= H <= H(Y_n | Y_1 ... Y_{n-1}), over all V^n texts (Cover
        and Thomas, theorem 4.5.1). Both close in on the rate as n grows.

        Raises:
            ValueError: n is so large that the enumeration would not fit in memory.
        """
        states = len(self.stationary)
        numbers = states * self.vocab_size ** (n - 1) * max(states, self.vocab_size)
        if numbers > _MOST_NUMBERS:
            raise ValueError(
                f"Bounds from n = {n} tokens need {numbers} numbers at once, more than "
                f"{_MOST_NUMBERS}: choose a smaller n."
            )
        # paths[first, text, now]: the probability of X_1, Y_1 ... Y_{t-1} and X_t together
        paths = self.stationary.diag()[:, None, :]  # (S, V^(t-1), S)
        for _ in range(n - 1):
            longer = paths[:, :, None, :] * self.emissions.T  # (S, V^(t-1), V, S)
            paths = longer.flatten(1, 2) @ self.transitions
        before = paths.sum(-1)  # (S, V^(n-1)): X_1 and Y_1 ... Y_{n-1}
        after = (paths @ self.emissions).flatten(1)  # (S, V^n)
        lower = _entropy(after.flatten()) - _entropy(before.flatten())
        upper = _entropy(after.sum(0)) - _entropy(before.sum(0))
        return float(lower), float(upper)

    def start(self, batch_size: int) -> Tensor:
        """Log-probabilities of the first hidden state, (B, S)."""
        return self.stationary.log().repeat(batch_size, 1)

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Read tokens (B,) and filter: log-probabilities (B, V) in nats of the next ones.

        The state holds log P(hidden state | tokens read), (B, S). After a token that could not
        come, of probability 0, the filter begins anew.
        """
        start = self.stationary.log()
        seen = state + self.emissions.log().T[tokens % self.vocab_size]  # bos is replaced below
        moved = torch.logsumexp(seen[:, :, None] + self.transitions.log(), dim=1)  # (B, S)
        total = torch.logsumexp(moved, dim=1, keepdim=True)
        anew = (tokens == self.bos)[:, None] | total.isneginf()
        state = torch.where(anew, start, moved - total)
        return torch.logsumexp(state[:, :, None] + self.emissions.log(), dim=1), state

    def fill(self, tokens: Tensor, seen: Tensor) -> Tensor:
        """Log-probabilities (B, T, V) in nats of the token at each position, given the others.

        The exact answer to masked language modelling: P(Y_t | all Y_s with s seen and s != t), by
        the forward-backward algorithm (Rabiner 1989, section III.A) in which tokens that are not
        seen tell nothing. No model that reads the same tokens can have a lower mean loss.

        Args:
            tokens: (B, T); ids at positions that are not seen do not matter.
            seen: (B, T) bool, which tokens are read.

        Raises:
            ValueError: seen tokens out of range.
        """
        before, _, after = self._messages(tokens, seen)
        return (_normalised(before * after) @ self.emissions).log()

    def posterior(self, tokens: Tensor, seen: Tensor) -> Tensor:
        """P(hidden state at each position | all tokens that are seen), (B, T, S).

        The position's own token counts, if it is seen: Rabiner's gamma. Nobody who reads the same
        tokens can name the states with a lower mean loss. Arguments as for ``fill``.
        """
        before, told, after = self._messages(tokens, seen)
        return _normalised(before * told * after)

    def _messages(self, tokens: Tensor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What is said of each hidden state from before, by its own token and from after it.

        (B, T, S) each; the first sums to one, the others are likelihoods up to a factor.
        """
        check_range(
            tokens[seen],
            self.vocab_size,
            "The seen tokens go from {low} to {high}; expected 0 to {last}.",
        )
        known = torch.where(seen, tokens, 0)
        told = torch.where(seen[..., None], self.emissions.T[known], 1.0)  # (B, T, S)
        B, T, S = told.shape
        before, after = told.new_empty(B, T, S), told.new_empty(B, T, S)
        belief, hope = self.stationary.expand(B, S), told.new_ones(B, S)
        for t in range(T):  # P(X_t | what was seen before t)
            before[:, t] = belief
            belief = _normalised(belief * told[:, t]) @ self.transitions
        for t in reversed(range(T)):  # P(what is seen after t | X_t), up to a factor
            after[:, t] = hope
            hope = _normalised(hope * told[:, t]) @ self.transitions.T
        return before, told, after


def _normalised(rows: Tensor) -> Tensor:
    return rows / rows.sum(-1, keepdim=True)


def _distributions(values: Any, name: str, dimensions: int | None = None) -> Tensor:
    """``values`` as float64, every row along the last dimension a distribution."""
    tensor = torch.as_tensor(values, dtype=torch.float64)
    if tensor.dim() != (dimensions or tensor.dim()) or tensor.dim() == 0 or tensor.numel() == 0:
        raise ValueError(
            f"{name} has the shape {tuple(tensor.shape)}, expected {dimensions or 'two or more'} "
            "dimensions, none of them empty."
        )
    if not bool((tensor >= 0).all()):  # also false for NaN
        raise ValueError(f"{name} holds {float(tensor.min())}; probabilities must be >= 0.")
    sums = tensor.sum(-1, keepdim=True)
    worst = float(sums.flatten()[(sums - 1).abs().argmax()])
    if not abs(worst - 1) < 1e-5:  # float32 rounding passes
        raise ValueError(f"{name} has a row that sums to {worst:.6g}; expected 1: divide by it.")
    return tensor / sums


def _entropy(probabilities: Tensor) -> Tensor:
    """Entropies in nats along the last dimension, with 0 log 0 = 0."""
    return torch.special.entr(probabilities).sum(-1)


def _stationary(chain: Tensor) -> Tensor:
    """The one stationary distribution (N,) of a Markov chain (N, N)."""
    positive = (chain > 0).double()

    def reached(steps: Tensor, begin: int) -> Tensor:
        """The states that some number of steps leads to from ``begin``: (N,) bool."""
        found = torch.zeros(len(steps), dtype=torch.bool)
        found[begin] = True
        while True:
            more = found | (found.double() @ steps > 0)
            if torch.equal(more, found):
                return found
            found = more

    # Go downwards until what a state leads to also leads back: there the chain ends up.
    state = 0
    while True:
        closed, back = reached(positive, state), reached(positive.T, state)
        if not (closed & ~back).any():
            break
        state = int((closed & ~back).nonzero()[0])
    if not back.all():
        raise ValueError(
            "transitions has more than one stationary distribution (it falls into parts that never "
            f"meet: {int(state)} cannot be reached from {int((~back).nonzero()[0])}): connect them."
        )
    inside = closed.nonzero().flatten()
    # p (P - I) = 0 has one redundant equation; sum p = 1 takes its place.
    equations = chain[inside][:, inside].T - torch.eye(len(inside), dtype=torch.float64)
    equations[-1] = 1
    right = torch.zeros(len(inside), dtype=torch.float64)
    right[-1] = 1
    stationary = torch.zeros(len(chain), dtype=torch.float64)
    stationary[inside] = torch.linalg.solve(equations, right).clamp(min=0)
    return stationary / stationary.sum()


def _cumulative(rows: Tensor) -> list[list[float]]:
    """Cumulative rows for ``bisect_right``; exactly 1 from the last possible token on."""
    sums = rows.cumsum(-1)
    return (sums / sums[:, -1:]).tolist()


def _uniforms(n: int, generator: torch.Generator) -> list[float]:
    return torch.rand(n, generator=generator, dtype=torch.float64).tolist()
