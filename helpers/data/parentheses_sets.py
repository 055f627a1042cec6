"""Labelled sets of coloured parentheses, balanced or not, and batches of them.

A classifier that scores well has learned the language only if nothing easier tells the two classes
apart. What is not balanced is in ``helpers.data.parentheses_negatives``, the sets of the usual
practical are in ``helpers.data.parentheses_lecture``, and the rules that look at less than the
language asks for in ``helpers.models.shortcuts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.data.parentheses import COLOURS, padding, sample_balanced
from helpers.data.parentheses_negatives import KINDS, NEGATIVES, sample_exchangeable


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
    return put_together(parts, generator, colours)


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


def put_together(
    parts: Sequence[tuple[Tensor, Tensor]], generator: torch.Generator, colours: int
) -> LabelledSequences:
    """Sequences of several lengths as one set, in random order.

    Args:
        parts: for each length the tokens (n, L), and their kinds (n,), indices into ``KINDS``.
        generator: the source of randomness.
        colours: c.
    """
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
