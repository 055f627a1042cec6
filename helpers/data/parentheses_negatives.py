"""Sequences of coloured parentheses that are not balanced, of several kinds, crude to honest.

Each kind is a function of balanced sequences, tokens (n, L), a generator and the number of colours;
it gives as many that are not balanced, (n, L).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.data.parentheses import (
    COLOURS,
    are_balanced,
    colour_shapes,
    depths,
    sample_balanced,
    sample_shapes,
)


def random_strings(tokens: Tensor, generator: torch.Generator, colours: int = COLOURS) -> Tensor:
    """Uniform among all strings of this length that are not balanced."""

    def draw(rows: Tensor) -> Tensor:
        return torch.randint(2 * colours, tokens[rows].shape, generator=generator)

    return _redraw(draw, lambda drawn: ~are_balanced(drawn, colours), len(tokens))


def wrong_order(tokens: Tensor, generator: torch.Generator, colours: int = COLOURS) -> Tensor:
    """The same symbols in a random order in which something closes before it was opened."""

    def draw(rows: Tensor) -> Tensor:
        keys = torch.rand(len(rows), tokens.shape[1], generator=generator)
        return tokens[rows].gather(1, keys.argsort(1))

    return _redraw(draw, lambda drawn: depths(drawn, colours).amin(1) < 0, len(tokens))


def one_colour_swapped(
    tokens: Tensor, generator: torch.Generator, colours: int = COLOURS
) -> Tensor:
    """One symbol, anywhere, gets another colour; it still opens or closes as before.

    Raises:
        ValueError: only one colour.
    """
    _check_two_colours(colours)
    n, length = tokens.shape
    place = torch.randint(length, (n, 1), generator=generator)
    shift = torch.randint(1, colours, (n, 1), generator=generator)
    old = tokens.gather(1, place)
    side = old // colours * colours  # 0 for an opening, c for a closing
    return tokens.scatter(1, place, side + (old - side + shift) % colours)


def one_token_moved(tokens: Tensor, generator: torch.Generator, colours: int = COLOURS) -> Tensor:
    """One symbol is taken out and put back elsewhere, where it breaks the balance."""
    length = tokens.shape[1]

    def draw(rows: Tensor) -> Tensor:
        old, new = torch.randint(length, (2, len(rows), 1), generator=generator)
        place = torch.arange(length)
        # Between the two places everything moves up by one, away from the new place.
        source = place + ((old <= place) & (place < new)).long()
        source = source - ((new < place) & (place <= old)).long()
        return tokens[rows].gather(1, torch.where(place == new, old, source))

    return _redraw(draw, lambda drawn: ~are_balanced(drawn, colours), len(tokens))


def truncated(
    tokens: Tensor, generator: torch.Generator, colours: int = COLOURS, cut: int = 4
) -> Tensor:
    """The first L symbols of a new balanced sequence of length L + cut: something stays open."""
    length = tokens.shape[1]

    def draw(rows: Tensor) -> Tensor:
        return sample_balanced(len(rows), length + cut, generator, colours)[:, :length]

    return _redraw(draw, lambda drawn: depths(drawn, colours)[:, -1] > 0, len(tokens))


def colours_exchanged(tokens: Tensor, generator: torch.Generator, colours: int = COLOURS) -> Tensor:
    """Two inner closings of different colours exchange their colours.

    Inner closings come right after a closing and not right before an opening, so shape, length,
    depth, the number of each symbol and every pair of neighbours with an opening in it stay the
    same. All pairs of inner closings of different colours are equally likely to be chosen, and the
    exchange keeps their number. So on sequences from ``sample_exchangeable`` it leaves the joint
    distribution of the shape and the closings as it was, and every count of symbols or of
    neighbours has the same mean in both classes: a linear classifier on counts stays at chance.
    (Were a closing before an opening taken too, the two would have one colour more often than by
    chance, for it may be that opening's own closing that it exchanges with.)

    Raises:
        ValueError: a sequence without such a pair.
    """
    pairs = _pairs(tokens, colours)
    if not bool((pairs.sum(1) > 0).all()):
        raise ValueError(
            "A sequence has no two inner closings of different colours to exchange: draw the "
            "sequences with sample_exchangeable."
        )
    first = torch.multinomial(pairs.double(), 1, generator=generator)  # (n, 1)
    colour = tokens.gather(1, first)
    others = _inner(tokens >= colours) & (tokens != colour)
    second = torch.multinomial(others.double(), 1, generator=generator)
    return tokens.scatter(1, first, tokens.gather(1, second)).scatter(1, second, colour)


Negative = Callable[[Tensor, torch.Generator, int], Tensor]
NEGATIVES: dict[str, Negative] = {
    "random_strings": random_strings,
    "wrong_order": wrong_order,
    "one_colour_swapped": one_colour_swapped,
    "one_token_moved": one_token_moved,
    "truncated": truncated,
    "colours_exchanged": colours_exchanged,
}
# Each breaks a balanced sequence in one place or two; together they can be learned from.
NEAR_MISSES = ("one_colour_swapped", "one_token_moved", "truncated", "colours_exchanged")
KINDS = ("balanced", *NEGATIVES)


def sample_exchangeable(
    n: int,
    length: int,
    generator: torch.Generator,
    colours: int = COLOURS,
    depth: int | None = None,
) -> Tensor:
    """Balanced sequences (n, L) in which ``colours_exchanged`` has something to exchange.

    Uniform over the shapes with two inner closings or more, then over the colourings of each that
    do not give all its inner closings one colour.

    Raises:
        ValueError: there is no such sequence of this length and depth.
    """
    _check_two_colours(colours)
    if length < 6 or length % 2 or (depth is not None and depth < 3):
        raise ValueError(
            f"No balanced sequence of length {length}"
            + ("" if depth is None else f" and depth {depth}")
            + " has two inner closings: the length must be even and 6 or more, the depth 3 or more."
        )

    def draw_shapes(rows: Tensor) -> Tensor:
        return sample_shapes(len(rows), length, generator, depth)

    shapes = _redraw(draw_shapes, lambda drawn: _inner(~drawn).sum(1) >= 2, n)

    def draw_colours(rows: Tensor) -> Tensor:
        opening_colours = torch.randint(colours, (len(rows), length // 2), generator=generator)
        return colour_shapes(shapes[rows], opening_colours, colours)

    return _redraw(draw_colours, lambda drawn: _pairs(drawn, colours).sum(1) > 0, n)


def _inner(closes: Tensor) -> Tensor:
    """(n, L) bool: closings right after a closing and not right before an opening."""
    inner = closes.clone()
    inner[:, 0] = False
    inner[:, 1:] &= closes[:, :-1]
    inner[:, :-1] &= closes[:, 1:]
    return inner


def _pairs(tokens: Tensor, colours: int) -> Tensor:
    """(n, L): for each inner closing, how many inner closings have another colour."""
    inner = _inner(tokens >= colours)
    total, pairs = inner.sum(1, keepdim=True), torch.zeros_like(tokens)
    for closing in range(colours, 2 * colours):
        same = inner & (tokens == closing)
        pairs += same * (total - same.sum(1, keepdim=True))
    return pairs


def _redraw(draw: Callable[[Tensor], Tensor], fits: Callable[[Tensor], Tensor], n: int) -> Tensor:
    """Rows drawn again, (rows (m,) -> (m, L)), until all n of them fit."""
    result = draw(torch.arange(n))
    left = (~fits(result)).nonzero()[:, 0]
    while len(left):
        again = draw(left)
        result[left] = again
        left = left[~fits(again)]
    return result


def _check_two_colours(colours: int) -> None:
    if colours < 2:
        raise ValueError(f"colours is {colours}: another colour needs two or more.")
