"""Span corruption, the objective of T5: runs of tokens are cut out, and are to be written.

    text    Thank you for inviting me to your party last week.
    source  Thank you <0> me to your party <1> week.
    target  <0> for inviting <1> last <2>

Nothing is lost: ``restore_spans`` puts the text together again. Raffel et al. (2020), "Exploring
the limits of transfer learning with a unified text-to-text transformer", section 3.1.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor


def corrupt_spans(
    tokens: Tensor,
    sentinels: Sequence[int],
    generator: torch.Generator,
    share: float = 0.15,
    mean_length: float = 3.0,
) -> tuple[Tensor, Tensor]:
    """Source and target, ids (S,) and (U,), of a text (N,) of two tokens or more.

    round(N share) tokens, one at least, are cut out in round(that / mean_length) spans. How long
    they are and where they stand is drawn so that all ways are equally likely in which no two spans
    touch and the text begins with a token that is kept, as in T5's code.

    Args:
        tokens: the text.
        sentinels: ids <0>, <1>, ... that the text does not hold; one more than there are spans.
        generator: draws the spans.
        share: of the tokens that are cut out.
        mean_length: of a span, in tokens.

    Raises:
        ValueError: a text of one token, that holds a sentinel, or too few sentinels.
    """
    spans = _spans(len(tokens), generator, share, mean_length)
    return cut_spans(tokens, spans, sentinels)


def cut_spans(
    tokens: Tensor, spans: Sequence[tuple[int, int]], sentinels: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Source and target for given spans (first, after the last), in order and not touching.

    Raises:
        ValueError: spans that touch or leave the text, a sentinel in the text, or too few of them.
    """
    tokens, marks = torch.as_tensor(tokens, dtype=torch.long), list(sentinels)
    inside = set(tokens.tolist()) & set(marks)
    if inside or len(marks) <= len(spans):
        raise ValueError(
            f"The text holds the sentinels {sorted(inside)} and there are {len(marks)} of them for "
            f"{len(spans)} spans; expected one more than spans, and none in the text."
        )
    ends = [0, *(end for span in spans for end in span), len(tokens)]
    if (
        any(first >= after for first, after in spans)
        or any(spans[i][1] >= spans[i + 1][0] for i in range(len(spans) - 1))
        or ends != sorted(ends)
    ):
        raise ValueError(f"The spans {list(spans)} of a text of {len(tokens)} touch or leave it.")
    source, target, begin = [], [], 0
    for (first, after), mark in zip(spans, marks, strict=False):
        source += [*tokens[begin:first].tolist(), mark]
        target += [mark, *tokens[first:after].tolist()]
        begin = after
    source += tokens[begin:].tolist()
    return torch.tensor(source), torch.tensor([*target, marks[len(spans)]])


def restore_spans(source: Tensor, target: Tensor, sentinels: Sequence[int]) -> Tensor:
    """The text (N,) behind a source and a target; what a target leaves out stays cut out."""
    marks, spans, now = set(sentinels), {}, None
    for token in target.tolist():
        if token in marks:
            now = spans.setdefault(token, [])
        elif now is not None:
            now.append(token)
    text = []
    for token in source.tolist():
        text += spans.get(token, []) if token in marks else [token]
    return torch.tensor(text, dtype=torch.long)


def _spans(
    length: int, generator: torch.Generator, share: float, mean_length: float
) -> list[tuple[int, int]]:
    if length < 2:
        raise ValueError(f"The text has {length} tokens; expected two or more.")
    hidden = min(max(1, round(length * share)), length - 1)
    number = min(max(1, round(hidden / mean_length)), hidden, length - hidden)
    of_hidden, of_kept = (
        _composition(total, number, generator) for total in (hidden, length - hidden)
    )
    spans, begin = [], 0
    for kept, cut in zip(of_kept, of_hidden, strict=True):
        spans.append((begin + kept, begin + kept + cut))
        begin += kept + cut
    return spans


def _composition(total: int, parts: int, generator: torch.Generator) -> list[int]:
    """``total`` as a sum of ``parts`` whole numbers of 1 or more, all ways equally likely."""
    cuts = torch.randperm(total - 1, generator=generator)[: parts - 1].sort().values + 1
    ends = [0, *cuts.tolist(), total]
    return [after - first for first, after in pairwise(ends)]
