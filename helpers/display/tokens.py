"""A text cut into tokens, each in a box of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import torch
from IPython.display import HTML
from matplotlib import colormaps
from torch import Tensor

from helpers.display import palette
from helpers.display.plotting import word_of
from helpers.display.signs import visible


def token_strings(tokens: Sequence[bytes]) -> list[str]:
    r"""Each token as it can be shown: its text, or \x.. for bytes that are no whole characters."""
    return [token.decode("utf-8", errors="backslashreplace") for token in tokens]


def token_boxes(
    pieces: Sequence[str], values: Sequence[float] | Tensor | None = None, unit: str = ""
) -> HTML:
    """HTML with one box per token, in alternating shades or coloured by a number per token.

    Spaces and line breaks are made visible. A number is also written under its token, so that
    colour is never the only sign.

    Args:
        pieces: the tokens as strings, in order.
        values: one number per token, such as its surprise; light is low, dark is high. Infinity is
            as dark as the highest finite one, NaN as light as the lowest; both are said below.
        unit: what the numbers are, for the line below.

    Raises:
        ValueError: if there is not one value per token.
    """
    numbers = None if values is None else torch.as_tensor(values, dtype=torch.double).tolist()
    if numbers is not None and len(numbers) != len(pieces):
        raise ValueError(f"There are {len(pieces)} tokens and {len(numbers)} values.")
    top = max(filter(math.isfinite, numbers or ()), default=0.0)
    boxes = []
    for i, piece in enumerate(pieces):
        shade, ink, below = palette.NEIGHBOURS[i % 2], palette.BLACK, ""
        if numbers is not None:
            number, finite = numbers[i], math.isfinite(numbers[i])
            share = float(number > 0) if not finite else number / top if top > 0 else 0.0
            red, green, blue, _ = colormaps["YlGnBu"](0.75 * min(max(share, 0.0), 1.0))
            shade = f"rgb({255 * red:.0f},{255 * green:.0f},{255 * blue:.0f})"
            ink = palette.WHITE if share > 0.7 else ink
            words = f"{number:.1f}" if finite else word_of(number)
            below = f'<br><span style="font-size: 11px">{words}</span>'
        shown = escape(visible(piece)) or "&nbsp;"
        boxes.append(
            f'<span style="display: inline-block; background: {shade}; color: {ink}; border: 1px '
            f"solid {palette.FRAME}; border-radius: 3px; margin: 1px; padding: 0 3px; "
            f'text-align: center; font-family: monospace; font-size: 16px">{shown}{below}</span>'
            + ("<br>" if "\n" in piece else "")
        )
    note = f'<div style="font-size: 13px">Under each token: {escape(unit)}.</div>' if unit else ""
    return HTML(f'<div style="line-height: 1.5">{"".join(boxes)}</div>{note}')
