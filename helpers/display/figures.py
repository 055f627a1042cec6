"""Show a figure with its caption, and a sentence that was made by running code.

Outputs are plain PNG and Markdown, so that they look the same in JupyterLab, in Colab and on
GitHub, and stay in the stored notebook. Without IPython the words are printed instead.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from IPython import get_ipython
from IPython.display import display
from PIL import Image

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 110
_seen = True  # by somebody; False in ``unseen``


def show(figure: Figure | Axes, caption: str) -> None:
    """Display a figure as a PNG, then its caption as a second output; then close the figure.

    The caption says in words what is to be seen: JupyterLab drops alternative texts, so it is all
    that a reader who cannot see the figure has. Markdown and $formulas$ are allowed in it.

    Args:
        figure: a matplotlib figure, or axes, whose whole figure is shown.
        caption: one to three sentences. It is displayed behind the word "Figure."

    Raises:
        ValueError: if the caption is empty.
    """
    caption_bundle = caption_output(caption)
    # Here, not above: whoever only says something need not wait for matplotlib.
    from helpers.display.plotting import uncover

    figure = _figure_of(figure)
    uncover(figure)
    if not _seen:
        figure.draw_without_rendering()
    elif get_ipython() is not None:
        publish(figure_output(figure))
    publish(caption_bundle)
    _close(figure)


@contextmanager
def unseen() -> Iterator[None]:
    """For a test: what ``show`` is given is drawn, which may fail, but no picture is made of it."""
    global _seen
    before, _seen = _seen, False
    try:
        yield
    finally:
        _seen = before


def say(text: str) -> None:
    """Display a sentence in Markdown; for sentences that hold a number measured by the cell."""
    text = " ".join(text.split()) if "\n" not in text.strip() else text.strip()
    publish({"text/markdown": text, "text/plain": text})


def figure_output(figure: Figure) -> dict[str, str]:
    """The figure as a MIME bundle: a PNG in base64, and a word for terminals."""
    drawn = io.BytesIO()
    quickly = {"compress_level": 1}  # it is read again at once
    look = {"dpi": DPI, "bbox_inches": "tight", "facecolor": "white", "pil_kwargs": quickly}
    figure.savefig(drawn, format="png", **look)
    return {
        "image/png": base64.b64encode(with_few_colours(drawn.getvalue())).decode("ascii"),
        "text/plain": "[figure]",
    }


def with_few_colours(png: bytes) -> bytes:
    """A PNG with 256 colours: enough for a plot, at a third of the size; notebooks hold many."""
    image, small = Image.open(io.BytesIO(png)).convert("RGB"), io.BytesIO()
    # This method keeps the ends and the steps of a colour scale, which others sacrifice to areas.
    few = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(small, format="png", optimize=True)
    return small.getvalue()


def caption_output(caption: str) -> dict[str, str]:
    """The caption as a MIME bundle. Raises ValueError if it is empty."""
    caption = " ".join(caption.split())
    if not caption:
        raise ValueError("A figure needs a caption that says in words what is to be seen in it.")
    return {"text/markdown": f"**Figure.** {caption}", "text/plain": f"Figure. {caption}"}


def publish(bundle: dict[str, Any], *, display_id: bool = False) -> Any:
    """Send a MIME bundle to the notebook as one output; print its plain text without IPython.

    Returns:
        A display handle if ``display_id`` is set and the front end has them, otherwise None.
    """
    if get_ipython() is None:
        print(bundle["text/plain"])
        return None
    if display_id:
        return display(bundle, raw=True, display_id=True)
    return display(bundle, raw=True)


def _figure_of(figure: Figure | Axes) -> Figure:
    if hasattr(figure, "savefig"):
        return figure
    if hasattr(figure, "get_figure"):
        return figure.get_figure()
    raise TypeError(f"Give a matplotlib figure or axes; this is a {type(figure).__name__}.")


def _close(figure: Figure) -> None:
    from matplotlib import pyplot as plt

    # Otherwise the inline backend would show the figure a second time at the end of the cell.
    plt.close(figure)
