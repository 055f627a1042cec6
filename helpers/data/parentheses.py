"""Balanced parentheses of several colours: counting, sampling and checking.

With c colours (the lecture has 5) the opening symbols are 0 .. c-1 and the one that closes i is
2c-1-i, so that the two add up to 2c-1. The id 2c is no symbol: it fills the ends of short rows.
A *shape* is a sequence without its colours: where it opens and where it closes. The *height* is the
number of parentheses that are open, the *depth* of a sequence its largest height.

Source: B. Galerne, Recurrent neural networks and transformers, the task of the coloured
parentheses; N. Chomsky and M. Schützenberger, The Algebraic Theory of Context-Free Languages
(1963), where these are the Dyck languages. Labelled sets are in ``helpers.data.parentheses_sets``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

COLOURS = 5
_OPENINGS, _CLOSINGS = "([{<«", ")]}>»"


def padding(colours: int = COLOURS) -> int:
    """The id that fills the ends of short rows: 2c, one more than the last symbol."""
    return 2 * colours


def text(tokens: Tensor | Iterable[int], colours: int = COLOURS) -> str:
    """Token ids as brackets, one colour a kind of bracket; padding is left out.

    Raises:
        ValueError: more than 5 colours, or ids that are no symbols.
    """
    signs = _signs(colours)
    return "".join(signs[token] for token in _symbols(tokens, colours))


def tokens(text: str, colours: int = COLOURS) -> Tensor:
    """The ids (L,) of a sequence written in the brackets ``([{<«»>}])``.

    Raises:
        ValueError: more than 5 colours, or a sign that is none of these brackets.
    """
    signs = _signs(colours)
    unknown = sorted(set(text) - set(signs))
    if unknown:
        raise ValueError(
            f"The text holds {unknown[0]!r}, which is none of the brackets {signs} of {colours} "
            "colours: leave it out."
        )
    return torch.tensor([signs.index(sign) for sign in text], dtype=torch.long)


def depths(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """The height after each symbol, colours ignored: (..., L) -> (..., L). It may be negative."""
    tokens = torch.as_tensor(tokens)
    steps = (tokens < colours).long() - ((tokens >= colours) & (tokens < 2 * colours)).long()
    return steps.cumsum(-1)


def is_balanced(tokens: Tensor | Iterable[int], colours: int = COLOURS) -> bool:
    """Whether each parenthesis is closed by its own colour, in the right order, by a stack.

    Padding at the end is left out; the empty sequence is balanced.

    Raises:
        ValueError: ids that are no symbols.
    """
    stack: list[int] = []
    for token in _symbols(tokens, colours):
        if token < colours:
            stack.append(token)
        elif not stack or stack.pop() + token != 2 * colours - 1:
            return False
    return not stack


def stacks(tokens: Tensor | Iterable[int], colours: int = COLOURS) -> list[tuple[int, ...]]:
    """The openings that are open after each symbol, the first at the bottom (first).

    It ends before the first closing that does not fit, and is then shorter than the sequence.
    Padding at the end is left out.

    Raises:
        ValueError: ids that are no symbols.
    """
    found: list[tuple[int, ...]] = []
    stack: tuple[int, ...] = ()
    for token in _symbols(tokens, colours):
        if token < colours:
            stack = (*stack, token)
        elif stack and stack[-1] + token == 2 * colours - 1:
            stack = stack[:-1]
        else:
            break
        found.append(stack)
    return found


def are_balanced(tokens: Tensor, colours: int = COLOURS) -> Tensor:
    """``is_balanced`` of every row at once: tokens (N, L), padded at the end -> (N,) bool."""
    n, length = tokens.shape
    rows, height = torch.arange(n), torch.zeros(n, dtype=torch.long)
    stack = torch.zeros(length + 1, n, dtype=torch.long)
    good = torch.ones(n, dtype=torch.bool)
    for token in tokens.T.contiguous():  # (N,)
        opens, closes = token < colours, (token >= colours) & (token < 2 * colours)
        top = stack[(height - 1).clamp(min=0), rows]
        good &= ~closes | ((height > 0) & (top + token == 2 * colours - 1))
        # Where nothing opens, the place above the top is free: what is written there is not read.
        stack[height, rows] = token
        height = (height + opens.long() - closes.long()).clamp(min=0)
    return good & (height == 0)


def count_shapes(length: int, depth: int | None = None) -> int:
    """How many balanced shapes have this length, and this depth where one is given. Exact.

    Of length 2m there are Catalan(m) = (2m)! / (m! (m+1)!).

    Raises:
        ValueError: a negative length or depth.
    """
    if length < 0 or (depth is not None and depth < 0):
        raise ValueError(f"length {length} and depth {depth} must not be negative.")
    if depth is None:
        return _ways(length, length // 2)[length][0]
    below = _ways(length, depth - 1)[length][0] if depth else 0
    return _ways(length, depth)[length][0] - below


def sample_shapes(
    n: int, length: int, generator: torch.Generator, depth: int | None = None
) -> Tensor:
    """Draw n balanced shapes, each equally likely: (n, L) bool, True where it opens.

    Args:
        n: how many.
        length: L, even.
        generator: the source of randomness.
        depth: if given, all and only shapes of exactly this depth.

    Raises:
        ValueError: there is no such shape.

    Source: A. Nijenhuis and H. Wilf, Combinatorial Algorithms, 2nd edition (1978): each step is
    drawn in proportion to the number of ways to go on from there.
    """
    if length < 2 or length % 2 or (depth is not None and not 1 <= depth <= length // 2):
        raise ValueError(
            f"There is no balanced sequence of length {length}"
            + ("" if depth is None else f" and depth {depth}")
            + ": the length must be even and positive, the depth from 1 to half of it."
        )
    tables = _opening_probabilities(length, depth)  # (L, 2 (H+1))
    heights = tables.shape[1] // 2
    height = torch.zeros(n, dtype=torch.long)
    reached = torch.full((n,), depth is None)
    shape = torch.empty(length, n, dtype=torch.bool)
    for t in range(length):
        p = tables[t][height + heights * reached]
        shape[t] = torch.rand(n, generator=generator, dtype=torch.float64) < p
        height = height + torch.where(shape[t], 1, -1)
        reached = reached | (height == depth) if depth is not None else reached
    return shape.T.contiguous()


def colour_shapes(opens: Tensor, opening_colours: Tensor, colours: int = COLOURS) -> Tensor:
    """Give the k-th opening of each shape the k-th colour, and closings the colour they close.

    Args:
        opens: (N, L) bool, shapes whose height never falls below 0 (they may end above it).
        opening_colours: (N, K) long, K at least the number of openings.
        colours: c.

    Returns:
        (N, L) long.
    """
    n, length = opens.shape
    number = (opens.long().cumsum(1) - 1).clamp(min=0)  # of the opening
    colour = opening_colours.gather(1, number).T.contiguous()  # (L, N), used where it opens
    rows, height = torch.arange(n), torch.zeros(n, dtype=torch.long)
    stack = torch.zeros(length + 1, n, dtype=torch.long)
    tokens = torch.empty(length, n, dtype=torch.long)
    for t, opening in enumerate(opens.T.contiguous()):
        stack[height, rows] = colour[t]  # stays only where it opens: else the height goes down
        top = stack[torch.where(opening, height, height - 1), rows]
        tokens[t] = torch.where(opening, top, 2 * colours - 1 - top)
        height = height + torch.where(opening, 1, -1)
    return tokens.T.contiguous()


def sample_balanced(
    n: int,
    length: int,
    generator: torch.Generator,
    colours: int = COLOURS,
    depth: int | None = None,
) -> Tensor:
    """Draw n balanced sequences, uniform over shapes and colours: (n, L) long.

    Args:
        n: how many.
        length: L, even.
        generator: the source of randomness.
        colours: c; each opening takes one of them, all equally likely.
        depth: if given, all and only shapes of exactly this depth.

    Raises:
        ValueError: there is no such sequence, or no colour.
    """
    _check_colours(colours)
    shapes = sample_shapes(n, length, generator, depth)
    opening_colours = torch.randint(colours, (n, length // 2), generator=generator)
    return colour_shapes(shapes, opening_colours, colours)


def _ways(length: int, highest: int) -> list[list[int]]:
    """``ways[r][h]``: how many paths lead from height h to 0 in r steps, between 0 and highest."""
    rows = [[1] + [0] * highest]
    for _ in range(length):
        last = [0, *rows[-1], 0]
        rows.append([last[h] + last[h + 2] for h in range(highest + 1)])
    return rows


@lru_cache(maxsize=256)
def _opening_probabilities(length: int, depth: int | None) -> Tensor:
    """(L, 2 (H+1)): the probability of opening at each step, by height, H the largest.

    The second half of a row is for paths that were at the wanted depth already and need only come
    home; the first is for those that must still get there.
    """
    highest = length // 2 if depth is None else depth
    home, lower = _ways(length, highest), _ways(length, highest - 1)

    def ways(left: int, reached: bool, height: int) -> int:
        if reached or height == highest:
            return home[left][height]
        return home[left][height] - lower[left][height]

    def p(left: int, reached: bool, height: int) -> float:
        if height == highest or not ways(left, reached, height):
            return 0.0
        return ways(left - 1, reached, height + 1) / ways(left, reached, height)

    heights = range(highest + 1)
    rows = [
        [p(left, reached, height) for reached in (False, True) for height in heights]
        for left in range(length, 0, -1)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def _symbols(tokens: Tensor | Iterable[int], colours: int) -> Sequence[int]:
    """The ids as ints, without the padding at the end."""
    ids = [int(token) for token in tokens]
    while ids and ids[-1] == 2 * colours:
        ids.pop()
    wrong = [token for token in ids if not 0 <= token < 2 * colours]
    if wrong:
        raise ValueError(
            f"The sequence holds the id {wrong[0]}; {colours} colours have the symbols 0 to "
            f"{2 * colours - 1}, and padding ({2 * colours}) may stand at the end only."
        )
    return ids


def _signs(colours: int) -> str:
    _check_colours(colours)
    if colours > len(_OPENINGS):
        raise ValueError(f"There are brackets for {len(_OPENINGS)} colours, not for {colours}.")
    return _OPENINGS[:colours] + _CLOSINGS[:colours][::-1]


def _check_colours(colours: int) -> None:
    if colours < 1:
        raise ValueError(f"colours is {colours}, expected at least one.")
