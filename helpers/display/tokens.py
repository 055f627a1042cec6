"""A text cut into tokens, each in a box of its own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from IPython.display import HTML

from helpers.display import palette
from helpers.display.signs import visible


def token_strings(tokens: Sequence[bytes]) -> list[str]:
    r"""Each token as it can be shown: its text, or \x.. for bytes that are no whole characters."""
    return [token.decode("utf-8", errors="backslashreplace") for token in tokens]


def token_boxes(pieces: Sequence[str]) -> HTML:
    """HTML with one box per token, in alternating shades; spaces and line breaks are visible."""
    boxes = []
    for i, piece in enumerate(pieces):
        shown = escape(visible(piece)) or "&nbsp;"
        boxes.append(
            f'<span style="display: inline-block; background: {palette.NEIGHBOURS[i % 2]}; '
            f"color: {palette.BLACK}; border: 1px solid {palette.FRAME}; border-radius: 3px; "
            "margin: 1px; padding: 0 3px; text-align: center; font-family: monospace; "
            f'font-size: 16px">{shown}</span>' + ("<br>" if "\n" in piece else "")
        )
    return HTML(f'<div style="line-height: 1.5">{"".join(boxes)}</div>')
