"""Synchronous context-free grammars: two languages derived by one tree, word alignment included.

A rule rewrites a symbol in both languages at once; the parts may stand in another order:

    VP -> (ADVERB VERB OBJECT, VERB ADVERB OBJECT)        often sees them, les voit souvent

So a tree gives a sentence, its translation, and which words came from the same rule. Source:
P. Lewis and R. Stearns, Syntax-Directed Transduction, Journal of the ACM 15 (1968); D. Chiang,
An Introduction to Synchronous Grammars (2006).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

Part = str | int  # a word, or which of the rule's children stands here
Tree = tuple["Rule", tuple["Tree", ...]]
Phrase = tuple[list[str], list[str], list[tuple[int, int]]]  # English, French, links


@dataclass(frozen=True, eq=False)
class Rule:
    """One rewriting of a symbol in both languages.

    Attributes:
        children: the symbols to be rewritten further.
        sides: the parts of the English and of the French side.
        links: (place among the French parts, place among the English parts) of aligned words.
        weight: relative frequency among the rules of its symbol.
        deeper: whether the rule embeds one phrase in another, and so counts for the depth.
    """

    children: tuple[str, ...]
    sides: tuple[tuple[Part, ...], tuple[Part, ...]]
    links: tuple[tuple[int, int], ...]
    weight: float = 1.0
    deeper: bool = False


def read_rule(text: str, weight: float = 1.0, deeper: bool = False) -> Rule:
    """A rule from its notation, ``"English parts / French parts"``.

    Symbols begin with a capital letter, and the k-th occurrence of one on the left is the k-th on
    the right. All words of one side are aligned with all words of the other, unless they have
    tags: ``"near:a the:b X / près:a du:ab X"`` aligns words that share a letter.
    """
    left, _, right = text.partition(" / ")
    children = tuple(part for part in left.split() if part[0].isupper())
    sides, tags = [], []
    for side in (left, right):
        free, letters = list(enumerate(children)), []
        parts: list[int | str] = []
        for part in side.split():
            word, _, tag = part.partition(":")
            if part[0].isupper():
                entry = next(entry for entry in free if entry[1] == part)
                free.remove(entry)
                parts.append(entry[0])
            else:
                parts.append(word)
            letters.append(set(tag or "*") if not part[0].isupper() else set())
        sides.append(tuple(parts))
        tags.append(letters)
    links = tuple((j, i) for j, b in enumerate(tags[1]) for i, a in enumerate(tags[0]) if a & b)
    return Rule(children, (sides[0], sides[1]), links, weight, deeper)


class SynchronousGrammar:
    """Rules with what can be done with them: count, enumerate, draw and parse trees.

    Args:
        rules: symbol -> its rules; no symbol derives nothing at all, and none begins with itself.
        start: the symbol of whole sentences.
    """

    def __init__(self, rules: dict[str, list[Rule]], start: str = "S") -> None:
        self.rules, self.start = rules, start
        self._count = cache(self._count_trees)
        self._choices = cache(self._weighted_rules)
        self._first = tuple(self._first_words(side) for side in (0, 1))

    def count(self, depth: int) -> int:
        """How many trees embed phrases at most ``depth`` deep."""
        return self._count(self.start, depth)

    def trees(self, depth: int, symbol: str | None = None) -> Iterator[Tree]:
        """All trees that embed phrases at most ``depth`` deep, one after another."""

        def together(symbols: tuple[str, ...], depth: int) -> Iterator[tuple[Tree, ...]]:
            if not symbols:
                yield ()
                return
            for first in self.trees(depth, symbols[0]):
                for others in together(symbols[1:], depth):
                    yield (first, *others)

        for rule in self.rules[symbol or self.start]:
            if depth >= rule.deeper:
                for children in together(rule.children, depth - rule.deeper):
                    yield rule, children

    def draw(self, depth: int, uniforms: Iterator[float], symbol: str | None = None) -> Tree:
        """One tree at random: each rule by its weight, among those that the depth allows."""
        rules, cumulative = self._choices(symbol or self.start, depth)
        rule = rules[0]
        if len(rules) > 1:
            drawn = next(uniforms) * cumulative[-1]
            rule = rules[bisect_right(cumulative, drawn, hi=len(rules) - 1)]
        left = depth - rule.deeper
        return rule, tuple(self.draw(left, uniforms, child) for child in rule.children)

    def parse(self, words: Sequence[str], side: int) -> tuple[list[Tree], int]:
        """All trees of a sentence, and how many of its words any tree can begin with.

        Args:
            words: the sentence.
            side: 0 if it is English, 1 if it is French.
        """
        furthest, known = 0, {}

        def of_symbol(symbol: str, place: int) -> list[tuple[int, Tree]]:
            if place == len(words) or words[place] not in self._first[side][symbol]:
                return []
            if (symbol, place) not in known:
                found = []
                for rule in self.rules[symbol]:
                    for end, by_child in of_parts(rule, 0, place):
                        found.append((end, (rule, tuple(by_child[c] for c in sorted(by_child)))))
                known[symbol, place] = found
            return known[symbol, place]

        def of_parts(rule: Rule, at: int, place: int) -> Iterator[tuple[int, dict[int, Tree]]]:
            nonlocal furthest
            furthest = max(furthest, place)
            if at == len(rule.sides[side]):
                yield place, {}
                return
            part = rule.sides[side][at]
            if isinstance(part, str):
                if place < len(words) and words[place] == part:
                    yield from of_parts(rule, at + 1, place + 1)
                return
            for middle, tree in of_symbol(rule.children[part], place):
                for end, others in of_parts(rule, at + 1, middle):
                    yield end, {part: tree, **others}

        trees = [tree for end, tree in of_symbol(self.start, 0) if end == len(words)]
        return trees, furthest

    def words(self, side: int) -> tuple[str, ...]:
        """All words of the English (0) or the French side (1), in alphabetical order."""
        rules = (rule for options in self.rules.values() for rule in options)
        return tuple(sorted({p for rule in rules for p in rule.sides[side] if isinstance(p, str)}))

    def _count_trees(self, symbol: str, depth: int) -> int:
        total = 0
        for rule in self.rules[symbol]:
            if depth >= rule.deeper:
                product = 1
                for child in rule.children:
                    product *= self._count(child, depth - rule.deeper)
                total += product
        return total

    def _weighted_rules(self, symbol: str, depth: int) -> tuple[list[Rule], list[float]]:
        rules = [
            rule
            for rule in self.rules[symbol]
            if depth >= rule.deeper
            and all(self._count(child, depth - rule.deeper) for child in rule.children)
        ]
        return rules, [*accumulate(rule.weight for rule in rules)]

    def _first_words(self, side: int) -> dict[str, set[str]]:
        first: dict[str, set[str]] = {symbol: set() for symbol in self.rules}
        changed = True
        while changed:
            changed = False
            for symbol, rules in self.rules.items():
                before = len(first[symbol])
                for rule in rules:
                    part = rule.sides[side][0]
                    first[symbol] |= {part} if isinstance(part, str) else first[rule.children[part]]
                changed |= len(first[symbol]) > before
        return first


def phrase(tree: Tree) -> Phrase:
    """The English words, the French words and the (French, English) links that a tree derives."""
    rule, children = tree
    parts = [phrase(child) for child in children]
    words: tuple[list[str], list[str]] = ([], [])
    begins: list[list[int]] = [[], []]  # where each part of a side begins
    at: list[dict[int, int]] = [{}, {}]  # where each child begins
    for side in (0, 1):
        for part in rule.sides[side]:
            begins[side].append(len(words[side]))
            if isinstance(part, str):
                words[side].append(part)
            else:
                at[side][part] = len(words[side])
                words[side].extend(parts[part][:2][side])
    links = [(begins[1][j], begins[0][i]) for j, i in rule.links]
    for child, (_, _, inner) in enumerate(parts):
        links += [(j + at[1][child], i + at[0][child]) for j, i in inner]
    return words[0], words[1], links
