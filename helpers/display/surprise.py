"""A text whose tokens are coloured by their surprise: where a model was caught out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import torch
from IPython.display import HTML
from torch import Tensor

from helpers.display import palette
from helpers.display.signs import visible

LEVELS = (  # (bits from here on, background, ink, mark)
    (0.0, palette.STEPS[0], palette.BLACK, "▁"),
    (1.0, palette.STEPS[1], palette.BLACK, "▂"),
    (2.0, palette.STEPS[2], palette.BLACK, "▄"),
    (4.0, palette.STEPS[3], palette.WHITE, "▆"),
    (8.0, palette.STEPS[4], palette.WHITE, "█"),
)
NOTHING = (palette.LIGHTEST, palette.BLACK, "–")  # for a token that was not predicted
LONGEST = 30  # tokens in a row that may not be parted by the end of a line


def surprise_boxes(
    tokens: Sequence[str],
    nats: Sequence[float] | Tensor,
    *,
    caption: str = "",
    numbers: bool = True,
) -> HTML:
    """HTML with one box per token, coloured by its surprise -log2 p in bits, above a legend.

    The levels are fixed, so that two texts and two models can be compared by eye. Spaces and line
    breaks are made visible, lines break between words, and a mark under every token repeats what
    its colour says.

    Args:
        tokens: the tokens as strings, in order (``token_strings`` makes them of bytes).
        nats: (T,) their surprises -ln p; infinity where the model held a token for impossible, NaN
            where it did not predict one, such as the first.
        caption: a sentence below the legend: the means per token and per character, say.
        numbers: write the bits under every token; otherwise a bar of five heights, which suits
            single characters.

    Raises:
        ValueError: if there is not one surprise per token, or one is negative.
    """
    surprises = torch.as_tensor(nats, dtype=torch.double).flatten().tolist()
    if len(surprises) != len(tokens):
        raise ValueError(f"There are {len(tokens)} tokens and {len(surprises)} surprises.")
    # A probability of 1 may come out as a little more.
    if any(value < -1e-4 for value in surprises):
        raise ValueError(
            f"A surprise is {min(surprises):g} nats: give -log p, which is never negative."
        )
    bits = [max(value, 0.0) / math.log(2) if value == value else value for value in surprises]
    words: list[list[str]] = [[]]
    for i, (token, value) in enumerate(zip(tokens, bits, strict=True)):
        after = i > 0 and tokens[i - 1][-1:].isspace()
        if after or token[:1].isspace() or len(words[-1]) == LONGEST:
            words.append([])
        # A line ends after a token that ends it, and before one that holds its end and goes on.
        breaks = ("<br>" * ("\n" in token[:-1]), "<br>" * token.endswith("\n"))
        words[-1].append(_box(token, value, numbers).join(breaks))
    text = "".join(f'<span style="white-space: nowrap">{"".join(word)}</span>' for word in words)
    below = f'<div style="font-size: 16px; margin-top: 4px">{escape(caption)}</div>'
    return HTML(
        f'<div style="line-height: 1.3">{text}</div>{legend_html(numbers)}'
        + (below if caption else "")
    )


def level(bits: float) -> int:
    """The number of a surprise's level, 0 to 4; an edge belongs to the level above it."""
    return max(i for i, (least, *_) in enumerate(LEVELS) if bits >= least)


def legend_html(numbers: bool = True) -> str:
    """The levels in bits and as probabilities."""
    entries = []
    for i, (least, ground, ink, mark) in enumerate(LEVELS):
        if i + 1 < len(LEVELS):
            top = LEVELS[i + 1][0]
            words = f"{least:g} to {top:g} bits (p over 1/{2**top:g})"
        else:
            words = f"{least:g} bits or more"
        sign = "&nbsp;" if numbers else mark
        entries.append(
            f'<span style="white-space: nowrap; margin-right: 14px"><span style="background: '
            f'{ground}; color: {ink}; {_FRAME}; padding: 0 6px">{sign}</span> {words}</span>'
        )
    unit = "Under each token: its surprise in bits. " if numbers else "Surprise in bits. "
    return f'<div style="font-size: 15px; margin-top: 6px">{unit}<br>{" ".join(entries)}</div>'


_FRAME = f"display: inline-block; border: 1px solid {palette.FRAME}; border-radius: 3px"


def _box(token: str, bits: float, numbers: bool) -> str:
    if math.isnan(bits):
        ground, ink, mark = NOTHING
        number, title = "–", "not predicted"
    else:
        _, ground, ink, mark = LEVELS[level(bits)]
        number = "∞" if math.isinf(bits) else f"{bits:.1f}" if bits < 9.95 else f"{bits:.0f}"
        title = f"{bits:.2f} bits"
    below = number if numbers else mark
    size = "13px" if numbers else "14px"
    shown = escape(visible(token)) or "&nbsp;"
    return (
        f'<span title="{title}" style="{_FRAME}; background: {ground}; color: {ink}; '
        f"margin: 1px {int(numbers)}px; padding: 0 {3 if numbers else 1}px; text-align: center; "
        f'font-family: monospace; font-size: 18px">{shown}<br>'
        f'<span style="font-size: {size}">{below}</span></span>'
    )
