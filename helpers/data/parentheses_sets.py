"""Labelled sets of coloured parentheses, balanced or not, and the shortcuts that may solve them.

A classifier that scores well has learned the language only if nothing easier tells the two classes
apart. Here are several kinds of sequences that are not balanced, from crude to honest, the sets of
the usual practical, and the rules that look at less than the language asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.data.parentheses import (
    COLOURS,
    are_balanced,
    colour_shapes,
    depths,
    padding,
    sample_balanced,
    sample_shapes,
)


@dataclass(frozen=True)
class LabelledSequences:
    """Sequences with their classes.

    Attributes:
        tokens: (N, L) long, short rows filled up at the end with the padding id 2c.
        labels: (N,) long, 1 where the sequence is balanced.
        kinds: (N,) long, an index into ``KINDS``.
        colours: c.
    """

    tokens: Tensor
    labels: Tensor
    kinds: Tensor
    colours: int = COLOURS

    @property
    def lengths(self) -> Tensor:
        """Symbols in each sequence, (N,)."""
        return (self.tokens < padding(self.colours)).sum(1)

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Tensor | slice) -> LabelledSequences:
        """The sequences of these rows, in this order."""
        return LabelledSequences(
            self.tokens[rows], self.labels[rows], self.kinds[rows], self.colours
        )


# Sequences that are not balanced: (tokens (n, L) balanced, generator, colours) -> (n, L)


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
KINDS = ("balanced", *NEGATIVES, "below_zero")  # the last: shapes of the usual practical


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


# Sets


def near_miss_set(
    n: int,
    lengths: Sequence[int],
    generator: torch.Generator,
    kinds: Sequence[str] = tuple(NEGATIVES),
    colours: int = COLOURS,
    depth: int | None = None,
) -> LabelledSequences:
    """Half balanced, half of the given kinds, in random order, the same lengths in both classes.

    The balanced sequences, and those that the others are made from, are drawn alike: by
    ``sample_exchangeable`` where that kind is asked for, else by ``sample_balanced``. Only
    ``random_strings`` and ``truncated`` are drawn anew.

    Args:
        n: how many sequences.
        lengths: even; each pair of a balanced and another sequence takes one at random.
        generator: the source of randomness.
        kinds: names of ``NEGATIVES``, each equally likely.
        colours: c.
        depth: if given, of all balanced sequences that are so drawn.

    Raises:
        ValueError: an unknown kind, no lengths, or lengths or a depth that a kind cannot have.
    """
    unknown = [kind for kind in kinds if kind not in NEGATIVES]
    if n < 1 or unknown or not kinds or not len(lengths):
        raise ValueError(
            f"n is {n}, kinds {tuple(kinds)} and lengths {tuple(lengths)}; expected one sequence, "
            f"one length and one kind or more, kinds out of {', '.join(NEGATIVES)}."
        )
    draw = sample_exchangeable if "colours_exchanged" in kinds else sample_balanced
    choice = torch.randint(len(lengths), ((n + 1) // 2,), generator=generator)
    drawn = torch.as_tensor(lengths)[choice]
    drawn = torch.cat([drawn, drawn[: n // 2]])  # (n,), balanced ones first
    kind = torch.tensor([KINDS.index(kind) for kind in kinds])
    kind = kind[torch.randint(len(kinds), (n,), generator=generator)]
    kind[: (n + 1) // 2] = 0
    parts = []
    for length in drawn.unique().tolist():
        here = kind[drawn == length]
        tokens = draw(len(here), length, generator, colours, depth)
        for index in here.unique().tolist():
            if index:
                rows = here == index
                tokens[rows] = NEGATIVES[KINDS[index]](tokens[rows], generator, colours)
        parts.append((tokens, here))
    return _labelled(parts, generator, colours)


def honest_set(
    n: int,
    lengths: Sequence[int],
    generator: torch.Generator,
    colours: int = COLOURS,
    depth: int | None = None,
) -> LabelledSequences:
    """Half balanced, half ``colours_exchanged``: the classes agree in all that is counted.

    Every rule of ``SHORTCUTS`` stays at chance, and so does every linear classifier on counts of
    symbols or neighbours. What tells the classes apart is which opening a closing closes, and that
    is easy where the two stand close together: see ``pairs_within``.

    Arguments and errors as in ``near_miss_set``.
    """
    return near_miss_set(n, lengths, generator, ("colours_exchanged",), colours, depth)


def lecture_set(
    n: int,
    generator: torch.Generator,
    colours: int = COLOURS,
    min_length: int = 4,
    max_length: int = 20,
) -> LabelledSequences:
    """The training set of the usual practical: by the toss of a coin balanced, or a random string.

    All even lengths from ``min_length`` to ``max_length`` are equally likely, all shapes of a
    length, all colours, and all strings. A random string that happens to be balanced counts as
    balanced. (The practical's own labelling lets an opening close a closing, and so calls a few
    more of them balanced.)

    Source: M. Lelarge, Deep Learning Do It Yourself (dataflowr), module 11, RNN practicals, whose
    networks are those of the lecture.
    """
    coins, halves = _lecture_draws(n, generator, min_length, max_length)
    parts = []
    for half in halves.unique().tolist():
        coin = coins[halves == half]
        strings = torch.randint(2 * colours, (len(coin), 2 * half), generator=generator)
        balanced = sample_balanced(len(coin), 2 * half, generator, colours)
        tokens = torch.where(coin[:, None], balanced, strings)
        kinds = torch.where(are_balanced(tokens, colours), 0, KINDS.index("random_strings"))
        parts.append((tokens, kinds))
    return _labelled(parts, generator, colours)


def lecture_test_set(
    n: int,
    generator: torch.Generator,
    colours: int = COLOURS,
    min_length: int = 4,
    max_length: int = 20,
) -> LabelledSequences:
    """The first test set of the usual practical, whose classes differ in their lengths.

    Balanced sequences all have ``max_length``, the others any even length. Those begin with an
    opening, open as often as they close, and fall below height 0, but never below -2.

    Source: as for ``lecture_set``.
    """
    coins, halves = _lecture_draws(n, generator, min_length, max_length)
    parts = []
    for half in halves[~coins].unique().tolist():
        tokens = _below_zero(int(((halves == half) & ~coins).sum()), 2 * half, generator, colours)
        parts.append((tokens, torch.full((len(tokens),), KINDS.index("below_zero"))))
    balanced = sample_balanced(int(coins.sum()), max_length, generator, colours)
    parts.append((balanced, torch.zeros(len(balanced), dtype=torch.long)))
    return _labelled(parts, generator, colours)


def lecture_hard_set(
    n: int, generator: torch.Generator, colours: int = COLOURS, length: int = 20
) -> LabelledSequences:
    """The second test set of the usual practical, of sequences twice as long as in training.

    Two balanced sequences in a row, of ``length`` each; or one that falls below height 0, a closing
    too many, and a balanced one: an odd length.

    Source: as for ``lecture_set``.
    """
    coins, _ = _lecture_draws(n, generator, length, length)
    good, bad = int(coins.sum()), int((~coins).sum())
    second = sample_balanced(n, length, generator, colours)
    first = sample_balanced(good, length, generator, colours)
    wrong = _below_zero(bad, length, generator, colours)
    closing = 2 * colours - 1 - second[good:, :1]
    parts = [
        (torch.cat([first, second[:good]], 1), torch.zeros(good, dtype=torch.long)),
        (
            torch.cat([wrong, closing, second[good:]], 1),
            torch.full((bad,), KINDS.index("below_zero")),
        ),
    ]
    return _labelled(parts, generator, colours)


def batches(
    labelled: LabelledSequences,
    batch_size: int,
    generator: torch.Generator,
    passes: int | None = 1,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of (tokens (B, L), labels (B,)), each of one length, so that none holds padding.

    Each pass gives every sequence once, in a new random order of batches. The last batch of a
    length may be smaller. A batch size of 1 gives the sequences one at a time.

    Args:
        labelled: the set.
        batch_size: B.
        generator: the source of randomness.
        passes: over the set; endless for None.

    Raises:
        ValueError: a batch size below 1 or an empty set.
    """
    if batch_size < 1 or not len(labelled):
        raise ValueError(
            f"batch_size is {batch_size} and the set has {len(labelled)} sequences; expected at "
            "least one of each."
        )
    lengths, done = labelled.lengths, 0
    sizes = torch.bincount(lengths)
    while passes is None or done < passes:
        order = torch.randperm(len(labelled), generator=generator)
        order = order[lengths[order].argsort(stable=True)]
        groups = [
            part
            for group in order.split(sizes[sizes > 0].tolist())
            for part in group.split(batch_size)
        ]
        for i in torch.randperm(len(groups), generator=generator).tolist():
            rows = groups[i]
            length = int(lengths[rows[0]])
            yield labelled.tokens[rows, :length], labelled.labels[rows]
        done += 1


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


def _below_zero(n: int, length: int, generator: torch.Generator, colours: int) -> Tensor:
    """Sequences (n, L) of the usual practical: a first opening, lowest height -1 or -2, end at 0.

    What closes nothing has the colour of the second opening, what does so next of the third.
    """

    def draw(rows: Tensor) -> Tensor:
        opens = torch.rand(len(rows), length - 1, generator=generator).argsort(1) < length // 2 - 1
        return torch.cat([torch.ones(len(rows), 1, dtype=torch.bool), opens], 1)

    def fits(shapes: Tensor) -> Tensor:
        lowest = torch.where(shapes, 1, -1).cumsum(1).amin(1)
        return (lowest == -1) | (lowest == -2)

    shapes = _redraw(draw, fits, n)
    opening_colours = torch.randint(colours, (n, length // 2), generator=generator)
    # Two openings put in front, and taken away again, are what the closings too many close.
    front = opening_colours[:, [2 % (length // 2), 1]]
    raised = torch.cat([torch.ones(n, 2, dtype=torch.bool), shapes], 1)
    return colour_shapes(raised, torch.cat([front, opening_colours], 1), colours)[:, 2:]


def _lecture_draws(
    n: int, generator: torch.Generator, min_length: int, max_length: int
) -> tuple[Tensor, Tensor]:
    """For each of n sequences a coin, True for balanced, and half a length."""
    if n < 1 or not 4 <= min_length <= max_length or min_length % 2 or max_length % 2:
        raise ValueError(
            f"n is {n} and the lengths go from {min_length} to {max_length}; expected one sequence "
            "or more and even lengths, 4 or more."
        )
    coins = torch.rand(n, generator=generator) < 0.5
    return coins, torch.randint(min_length // 2, max_length // 2 + 1, (n,), generator=generator)


def _labelled(
    parts: Sequence[tuple[Tensor, Tensor]], generator: torch.Generator, colours: int
) -> LabelledSequences:
    """Put (tokens, kinds) of several lengths together, in random order."""
    longest = max(tokens.shape[1] for tokens, _ in parts)
    total = sum(len(tokens) for tokens, _ in parts)
    order, begin = torch.randperm(total, generator=generator), 0
    tokens = torch.full((total, longest), padding(colours))
    kinds = torch.empty(total, dtype=torch.long)
    for rows, kind in parts:
        places = order[begin : begin + len(rows)]
        tokens[places, : rows.shape[1]] = rows
        kinds[places] = kind
        begin += len(rows)
    return LabelledSequences(tokens, (kinds == 0).long(), kinds, colours)


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
