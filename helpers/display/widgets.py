"""Interactive parts: controls, a function of their values, and what it shows.

Only what ipywidgets 7.7.1 (Colab) and 8 share is used. A widget is displayed as one output that
also carries words for readers without a kernel. With COURSE_DRIVE_WIDGETS=1 in the environment,
as in the test run, everything interactive is tried once at the ends of its range, so that
executing a notebook also tests its widgets.
"""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import ipywidgets
from IPython.utils.capture import CapturedIO, capture_output

from helpers.display.figures import publish, unseen

# With COURSE_STORE_FIRST_STATE=1, as in the refresh command, a widget also brings what it shows at
# first, under this type: a list of MIME bundles, for the reader who sees the stored notebook.
FIRST_STATE = "application/vnd.course.first-state+json"
RUN_ME = "Run this cell to use the interactive part."
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# Sizes for a projector. Colours are left to the theme, which may be dark.
STYLE_SHEET = """<style>
.course-panel {--jp-widgets-font-size: 16px; --jp-widgets-inline-height: 34px;
  --jp-widgets-inline-label-width: 9em; font-size: 16px; line-height: 1.45;
  border: 1px solid rgba(128,128,128,.45); border-radius: 6px; padding: 10px 14px}
.course-panel .widget-html-content, .course-panel .widget-html > div {
  font-size: 16px; line-height: 1.45; white-space: normal; height: auto}
.course-panel .widget-button, .course-panel button {font-size: 16px}
.course-panel .widget-readout {min-width: 3.5em}
</style>"""


def slider(
    value: float, minimum: float, maximum: float, step: float = 1, label: str = ""
) -> ipywidgets.IntSlider | ipywidgets.FloatSlider:
    """A slider that reports when it is let go; for whole numbers if all four numbers are.

    Raises:
        ValueError: if ``value`` lies outside minimum .. maximum or the step is not positive.
    """
    if not minimum <= value <= maximum or step <= 0:
        raise ValueError(
            f"A slider needs minimum <= value <= maximum and a positive step; got value {value}, "
            f"minimum {minimum}, maximum {maximum}, step {step}."
        )
    whole = all(isinstance(number, int) for number in (value, minimum, maximum, step))
    kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
    look = {**_look(label), "continuous_update": False}
    return kind(value=value, min=minimum, max=maximum, step=step, **look)


def choice(options: Sequence[Any], value: Any = None, label: str = "") -> ipywidgets.Dropdown:
    """A list to choose one value from; options are values or (words, value) pairs."""
    options = list(options)
    values = _option_values(options)
    value = values[0] if value is None else value
    return ipywidgets.Dropdown(options=options, value=value, **_look(label))


def text_box(value: str = "", label: str = "") -> ipywidgets.Text:
    """A line of text; it reports when Enter is pressed or the line is left."""
    look = {**_look(label), "continuous_update": False}
    return ipywidgets.Text(value=value, placeholder="type, then press Enter", **look)


def explore(
    function: Callable[..., Any], /, *, description: str = "", **controls: ipywidgets.Widget
) -> None:
    """Show controls, call ``function`` with their values, and again whenever one is changed.

    What the function prints, displays or draws (end it with ``plt.show()``) stands below the
    controls; an exception that it raises is shown there, and fails the notebook under nbval. The
    function should be quick, and should not depend on how often it was called before.

    Example::

        explore(show_sample, n=slider(3, 1, 6, label="n"), corpus=choice(names, label="corpus"))

    Args:
        function: called as ``function(**values)``, one keyword per control.
        description: one or two sentences; with it the reader on GitHub knows what is missing.
        controls: the widgets, by keyword, in the order in which they are shown.

    Raises:
        RuntimeError: in the test run, if the function fails at an end of a control's range.
    """
    if driving():
        _drive(function, controls)
    first = first_state(function, controls) if storing() else None
    output = ipywidgets.interactive_output(function, controls)
    words = [ipywidgets.HTML(f"<div>{escape(description)}</div>")] if description else []
    box = ipywidgets.Box(
        list(controls.values()),
        layout=ipywidgets.Layout(flex_flow="row wrap", grid_gap="4px 24px", margin="0 0 6px 0"),
    )
    show_widget(panel([*words, box, output]), f"{description} *{RUN_ME}*".strip(), first=first)


def extreme_values(controls: Mapping[str, ipywidgets.Widget]) -> list[dict[str, Any]]:
    """The settings at which a test should call the function of ``explore``.

    Every control goes once through its ends (all options of a choice, both states of a box, an
    empty text and its own), all controls together from their first to their last; and then again
    with every second control the other way round, so that an empty text, say, does not hide what
    happens at one end of a slider. No setting comes twice; the controls are left as they are.
    """
    ends = {name: _ends(control) for name, control in controls.items()}
    most = max(map(len, ends.values()))
    settings = []
    for turned in (False, True):
        for step in range(most):
            setting = {}
            for number, (name, values) in enumerate(ends.items()):
                at = step * (len(values) - 1) // max(1, most - 1)
                setting[name] = values[-1 - at if turned and number % 2 else at]
            settings.append(setting)
    return list({repr(setting): setting for setting in settings}.values())


def first_state(
    function: Callable[..., Any], controls: Mapping[str, ipywidgets.Widget]
) -> list[dict[str, Any]]:
    """What a function of ``explore`` shows for the controls as they are: MIME bundles, in order.

    What it prints comes first; errors pass.
    """
    with quietly() as caught:
        function(**{name: control.value for name, control in controls.items()})
    bundles = [dict(output.data) for output in caught.outputs]
    if caught.stdout:
        bundles.insert(0, {"text/plain": caught.stdout})
    return [{kind: _as_text(content) for kind, content in b.items()} for b in bundles]


def storing() -> bool:
    """Whether outputs will be stored, and the first state with them."""
    return os.environ.get("COURSE_STORE_FIRST_STATE") == "1"


def driving() -> bool:
    """Whether this is a test run, in which widgets try themselves (COURSE_DRIVE_WIDGETS=1)."""
    return os.environ.get("COURSE_DRIVE_WIDGETS") == "1"


@contextmanager
def quietly() -> Iterator[CapturedIO]:
    """Keep what is printed, displayed and drawn inside out of the notebook; errors pass."""
    from matplotlib import pyplot as plt

    before = set(plt.get_fignums())
    try:
        with capture_output() as caught:
            yield caught
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def panel(children: Sequence[ipywidgets.Widget]) -> ipywidgets.VBox:
    """A framed column of widgets in the course's look."""
    box = ipywidgets.VBox([ipywidgets.HTML(STYLE_SHEET), *children])
    # The style sheet takes no room of its own.
    box.children[0].layout.height = "0px"
    box.children[0].layout.margin = "0"
    box.add_class("course-panel")
    return box


def show_widget(
    widget: ipywidgets.Widget,
    fallback: str,
    *,
    mime: str = "text/markdown",
    plain: str = "",
    first: list[dict[str, Any]] | None = None,
) -> None:
    """Display a widget as one output that also says ``fallback`` where no widget can be alive.

    ipywidgets 8 displays itself through ``_repr_mimebundle_``, version 7 through
    ``_ipython_display_``; the bundle is made here, so that both send the same. Front ends prefer
    the widget; once the refresh command has taken the view away, the words are left. Colab gets
    what ipywidgets itself would send, the widget and plain text, since it never shows stored
    outputs of ours beside a live kernel. ``first`` is what the widget shows at first, if that is to
    be stored.
    """
    plain = plain or fallback.replace("*", "")
    bundle: dict[str, Any] = {"text/plain": plain}
    if "google.colab" not in sys.modules:
        bundle[mime] = fallback
    if first:
        bundle[FIRST_STATE] = first
    bundle[WIDGET_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    publish(bundle)


def _look(label: str) -> dict[str, Any]:
    layout = ipywidgets.Layout(width="430px", max_width="98%")
    return {"description": label, "style": {"description_width": "9em"}, "layout": layout}


def _as_text(content: Any) -> Any:
    return base64.b64encode(content).decode("ascii") if isinstance(content, bytes) else content


def _option_values(options: Any) -> list[Any]:
    options = list(options)
    if all(isinstance(option, (tuple, list)) and len(option) == 2 for option in options):
        return [value for _, value in options]
    return options


def _ends(control: ipywidgets.Widget) -> list[Any]:
    """The values at the ends of a control's range, the first and the last at opposite ends."""
    if hasattr(control, "options"):
        return _option_values(control.options)
    if hasattr(control, "min") and hasattr(control, "max"):
        return [control.min, control.max]
    if isinstance(control.value, bool):
        return [False, True]
    if isinstance(control.value, str):
        return ["", control.value]
    return [control.value]


def _drive(function: Callable[..., Any], controls: Mapping[str, ipywidgets.Widget]) -> None:
    for values in extreme_values(controls):
        try:
            with quietly(), unseen():
                function(**values)
        except Exception as error:
            setting = ", ".join(f"{name}={value!r}" for name, value in values.items())
            raise RuntimeError(
                f"The interactive part fails at {setting}: {type(error).__name__}: {error}"
            ) from error
