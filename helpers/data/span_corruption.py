"""Span corruption, the objective of T5: runs of tokens are cut out, and are to be written.

    text    Thank you for inviting me to your party last week.
    source  Thank you <0> me to your party <1> week.
    target  <0> for inviting <1> last <2>

Nothing is lost: ``restore_spans`` puts the text together again. Raffel et al. (2020), "Exploring
the limits of transfer learning with a unified text-to-text transformer", section 3.1.4.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


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
