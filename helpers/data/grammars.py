"""A probabilistic context-free grammar as a source of text whose truth is known.

Long-range agreement and nested clauses, which no n-gram can hold, and still every next-word
probability exact. See ``helpers.data.sources`` for the simpler sources.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import torch
from torch import Tensor

Rules = dict[str, tuple[tuple[float, tuple[str, ...]], ...]]
Stack = tuple[str, ...]  # what is still to be expanded, the leftmost symbol last


class GrammarSource:
    """Sentences of a probabilistic context-free grammar, one after another.

    Symbols in capitals are nonterminals, all others are words; ``end`` closes each sentence.

    Args:
        rules: for each nonterminal its (probability, symbols) pairs; the first is where sentences
            start.
        end: the token that closes a sentence.

    Attributes:
        rules: the same, with probabilities that sum to 1.
        words: the vocabulary in the order of the token ids; ``end`` is the last.
        expected_length: tokens in a sentence, its end included.
        derivation_entropy: of the choices that make a sentence, in nats.

    Raises:
        ValueError: probabilities that do not sum to 1, an unknown nonterminal, left recursion, or
            sentences of infinite expected length.

    Source: S. Soule, Entropies of Probabilistic Grammars, Information and Control 25 (1974);
    A. Stolcke, An Efficient Probabilistic Context-Free Parsing Algorithm that Computes Prefix
    Probabilities, Computational Linguistics 21 (1995), for what the predictor computes.
    """

    def __init__(
        self, rules: Mapping[str, Sequence[tuple[float, Sequence[str]]]], end: str = "."
    ) -> None:
        self.rules = _checked(rules, end)
        self.end, self._axiom = end, next(iter(self.rules))
        used = {s for options in self.rules.values() for _, symbols in options for s in symbols}
        self.words = (*sorted(used - set(self.rules)), end)
        self.vocab_size = self.bos = len(self.words)
        self._ids = {word: i for i, word in enumerate(self.words)}
        self.expected_length, self.derivation_entropy = _expectations(self.rules)
        self._openings = _openings(self.rules, self.words)

    def decode(self, tokens: Tensor | Iterable[int]) -> str:
        """The words of token ids, with spaces between."""
        return " ".join(self.words[int(token)] for token in tokens)

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """Draw n tokens: (n,) long. The text begins with a sentence; its last one may be cut."""
        if n < 1:
            raise ValueError(f"n is {n}, expected at least one token.")
        # Each nonterminal's cumulative probabilities, closed by 1, and its symbols, leftmost last.
        choices = {
            head: ([*accumulate(p for p, _ in options[:-1]), 1.0], [s[::-1] for _, s in options])
            for head, options in self.rules.items()
        }
        drawn, tokens, stack = uniforms(generator), [], []
        while len(tokens) < n:
            if not stack:
                stack = [self.end, self._axiom]
            symbol = stack.pop()
            if symbol in choices:
                cumulative, symbols = choices[symbol]
                stack += symbols[bisect_right(cumulative, next(drawn))]
            else:
                tokens.append(self._ids[symbol])
        return torch.tensor(tokens)

    def entropy_rate(self) -> float:
        """Entropy of a derivation / expected length of a sentence, in nats per token.

        Exact when no sentence has two derivations: the entropy of a sentence is then that of its
        derivation (Soule 1974), sentences are independent, and the end token parts them. For an
        ambiguous grammar it is an upper bound.
        """
        return self.derivation_entropy / self.expected_length

    def start(self, batch_size: int) -> tuple[dict[Stack, float], ...]:
        """For each text the stacks that may lie ahead, with their probabilities."""
        return (self._expand({(): 1.0}),) * batch_size

    def step(
        self, tokens: Tensor, state: tuple[dict[Stack, float], ...]
    ) -> tuple[Tensor, tuple[dict[Stack, float], ...]]:
        """Read tokens (B,): log-probabilities (B, V) in nats and the new sets of stacks.

        A stack is the rest of a leftmost derivation, with a word on top. Probabilities sum over
        all derivations of what was read. After a token that could not come, of probability 0, a
        new sentence begins.
        """
        pairs = zip(tokens.tolist(), state, strict=True)
        state = tuple(self._read(token, stacks) for token, stacks in pairs)
        rows = []
        for stacks in state:
            row = [0.0] * self.vocab_size
            for stack, p in stacks.items():
                row[self._ids[stack[-1]]] += p
            rows.append(row)
        return torch.tensor(rows, dtype=torch.float64).log(), state

    def _read(self, token: int, stacks: dict[Stack, float]) -> dict[Stack, float]:
        word = None if token == self.bos else self.words[token]
        left = {stack[:-1]: p for stack, p in stacks.items() if stack[-1] == word}
        return self._expand(left or {(): 1.0})

    def _expand(self, stacks: dict[Stack, float]) -> dict[Stack, float]:
        """Expand until each stack has a word on top; the weights are made to sum to 1 again."""
        expanded: dict[Stack, float] = {}
        pending, total = list(stacks.items()), sum(stacks.values())
        while pending:
            stack, weight = pending.pop()
            if not stack:
                stack = (self.end, self._axiom)
            for p, opening in self._openings[stack[-1]]:
                longer = stack[:-1] + opening
                if opening:
                    expanded[longer] = expanded.get(longer, 0.0) + weight * p / total
                else:  # the symbol vanished: what lies below it is next
                    pending.append((longer, weight * p))
        return expanded


def small_english() -> GrammarSource:
    """English-like sentences with number agreement over any distance, and no ambiguity.

    A subject agrees with its verb across nested relative clauses and prepositional phrases. A noun
    carries at most one of these, after it, and verbs carry none: so each belongs to the nearest
    noun, and every sentence has one derivation.
    """
    rules: dict[str, list[tuple[float, tuple[str, ...]]]] = {
        "S": [(0.55, ("NP_SG", "VP_SG")), (0.45, ("NP_PL", "VP_PL"))],
        "NP": [(0.55, ("NP_SG",)), (0.45, ("NP_PL",))],
        "PP": [(1.0, ("P", "NP"))],
    }
    for number in ("SG", "PL"):
        rules |= {
            f"NP_{number}": [
                (0.70, (f"DET_{number}", f"NOM_{number}")),
                (0.15, (f"DET_{number}", f"NOM_{number}", "PP")),
                (0.15, (f"DET_{number}", f"NOM_{number}", "that", f"RC_{number}")),
            ],
            f"NOM_{number}": [(0.75, (f"N_{number}",)), (0.25, ("ADJ", f"NOM_{number}"))],
            f"RC_{number}": [
                (0.60, (f"VP_{number}",)),
                (0.22, ("NP_SG", "VT_SG")),
                (0.18, ("NP_PL", "VT_PL")),
            ],
            f"VP_{number}": [
                (0.45, (f"VI_{number}",)),
                (0.45, (f"VT_{number}", "NP")),
                (0.10, (f"VS_{number}", "that", "S")),
            ],
        }
    words = {
        "DET_SG": "the the the a a every",
        "DET_PL": "the the the some some two",
        "N_SG": "sailor sailor baker baker child goose cat seal",
        "N_PL": "sailors sailors bakers children children geese cats seals",
        "ADJ": "small small grey grey quiet brave",
        "P": "near near behind with",
        "VI_SG": "sleeps sleeps sings waits",
        "VI_PL": "sleep sleep sing wait",
        "VT_SG": "sees sees follows feeds hears",
        "VT_PL": "see see follow feed hear",
        "VS_SG": "knows says",
        "VS_PL": "know say",
    }
    for head, listed in words.items():
        drawn = listed.split()  # a word's share of the list is its probability
        rules[head] = [(drawn.count(w) / len(drawn), (w,)) for w in dict.fromkeys(drawn)]
    return GrammarSource(rules)


def uniforms(generator: torch.Generator) -> Iterator[float]:
    """Endless uniform numbers in [0, 1), taken from the generator in blocks of 4096."""
    while True:
        yield from torch.rand(4096, generator=generator, dtype=torch.float64).tolist()


def _checked(rules: Mapping[str, Sequence[tuple[float, Sequence[str]]]], end: str) -> Rules:
    """The rules as tuples with probabilities that sum to 1, or a ValueError that says why not."""
    if not rules:
        raise ValueError("The grammar has no rules: give at least one nonterminal with rules.")
    checked: Rules = {}
    for head, options in rules.items():
        if not head.isupper():
            raise ValueError(f"{head!r} has rules, so write it in capitals, as {head.upper()!r}.")
        total = sum(p for p, _ in options)
        if not abs(total - 1) < 1e-5 or min(p for p, _ in options) < 0:
            raise ValueError(
                f"The rules of {head!r} have the probabilities {[p for p, _ in options]}; expected "
                "numbers >= 0 that sum to 1."
            )
        checked[head] = tuple((p / total, tuple(symbols)) for p, symbols in options if p > 0)
        for symbol in (symbol for _, symbols in options for symbol in symbols):
            if symbol == end:
                raise ValueError(
                    f"A rule of {head!r} holds {end!r}, which closes sentences: leave it out, or "
                    "choose another end."
                )
            if symbol.isupper() and symbol not in rules:
                raise ValueError(
                    f"A rule of {head!r} holds the nonterminal {symbol!r}, which has no rules: "
                    "add them, or write it in small letters if it is a word."
                )
    for head, corners in _left_corners(checked).items():
        if head in corners:
            raise ValueError(
                f"{head!r} is left recursive, an expansion of it can begin with {head!r}: let the "
                "recursion stand further right in its rules."
            )
    return checked


def _left_corners(rules: Rules) -> dict[str, set[str]]:
    """For each nonterminal those that its expansions, of one step or more, can begin with."""
    vanishing: set[str] = set()  # the nonterminals that can derive the empty sequence
    corners: dict[str, set[str]] = {head: set() for head in rules}
    changed = True
    while changed:
        before = len(vanishing) + sum(map(len, corners.values()))
        for head, options in rules.items():
            for _, symbols in options:
                for symbol in symbols:
                    if symbol in rules:
                        corners[head] |= {symbol} | corners[symbol]
                    if symbol not in vanishing:
                        break
                else:
                    vanishing.add(head)
        changed = len(vanishing) + sum(map(len, corners.values())) > before
    return corners


def _openings(rules: Rules, words: Sequence[str]) -> dict[str, list[tuple[float, Stack]]]:
    """For each symbol all ways to its first word: probability and stack, () where it vanishes."""
    openings: dict[str, list[tuple[float, Stack]]] = {word: [(1.0, (word,))] for word in words}

    def of_sequence(symbols: tuple[str, ...]) -> Iterator[tuple[float, Stack]]:
        if not symbols:
            yield 1.0, ()
            return
        for p, opening in of_symbol(symbols[0]):
            if opening:
                yield p, symbols[:0:-1] + opening
            else:
                yield from ((p * q, later) for q, later in of_sequence(symbols[1:]))

    def of_symbol(symbol: str) -> list[tuple[float, Stack]]:
        if symbol not in openings:
            merged: dict[Stack, float] = {}
            for p, symbols in rules[symbol]:
                for q, opening in of_sequence(symbols):
                    merged[opening] = merged.get(opening, 0.0) + p * q
            openings[symbol] = [(p, opening) for opening, p in merged.items()]
        return openings[symbol]

    for head in rules:
        of_symbol(head)
    return openings


def _expectations(rules: Rules) -> tuple[float, float]:
    """Expected tokens of a sentence, its end included, and the entropy of its derivation in nats.

    Both solve x = own + children x, where ``children`` counts the nonterminals that one expansion
    brings forth on average.
    """
    heads = {head: i for i, head in enumerate(rules)}
    children = torch.zeros(len(heads), len(heads), dtype=torch.float64)
    own = torch.zeros(len(heads), 2, dtype=torch.float64)  # words and entropy of one expansion
    for head, options in rules.items():
        for p, symbols in options:
            own[heads[head], 1] -= p * math.log(p)
            for symbol in symbols:
                if symbol in heads:
                    children[heads[head], heads[symbol]] += p
                else:
                    own[heads[head], 0] += p
    growth = float(torch.linalg.eigvals(children).abs().max())  # the spectral radius
    if growth > 1 - 1e-9:
        raise ValueError(
            f"Sentences have no finite expected length: each generation of nonterminals is "
            f"{growth:.3g} times the one before, expected less than 1; make recursive rules rarer."
        )
    identity = torch.eye(len(heads), dtype=torch.float64)
    length, entropy = torch.linalg.solve(identity - children, own)[0].tolist()
    return length + 1, entropy
