"""A desk to write at: a model writes on from the reader's text, piece by piece.

The model is handed over as a function, so this module knows none. A kernel handles the messages of
buttons between two rounds of its event loop; a text that is written in one go would therefore keep
Stop waiting until its end. Here every piece is a round of its own. JupyterLab may have the messages
of different widgets handled in different threads, at the same time and in any order; all that a
desk does is therefore done by one loop, that of the cell which made it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import islice
from typing import Any

import ipywidgets

from helpers.display.growing_text import (
    ContinueText,
    GrowingText,
    Settings,
    status_html,
    text_html,
)
from helpers.display.widgets import (
    RUN_ME,
    choice,
    driving,
    extreme_values,
    panel,
    show_widget,
    slider,
)
from helpers.inference.rules import Rules

# How long a button waits for what was typed before it was pressed: see above.
SETTLE = 0.1
TOP_K = (1, 2, 3, 5, 10, 20, 50, 100)
SEEDS = 10
NEW, ALL = -1, 0  # the values of "new each time" among the seeds and of "all" for top-k
DESK_RULES = Rules(temperature=0.8)


def writing_desk(
    continue_text: ContinueText,
    *,
    prompt: str,
    length: int = 100,
    max_length: int = 400,
    rules: Rules = DESK_RULES,
    unit: str = "tokens",
    description: str = "Type a beginning, choose how to draw, and press Write.",
) -> None:
    """Show a field for the reader's text, controls, and what the model writes on from it.

    The text grows while it is written, and Stop ends it at any piece. A first text, drawn with the
    settings given here and seed 0, stands there from the start, also for readers without a kernel.

    Example::

        def continue_text(prompt, settings):
            tokens = tokenizer.encode(prompt)  # a ValueError from here is shown to the reader
            for token in stream(predictor, prompt=tokens, rules=settings.rules, ...):
                yield tokenizer.decode([token])

        writing_desk(continue_text, prompt="The keeper of the light ")

    Args:
        continue_text: called as ``continue_text(text, settings)``; gives the pieces of the
            continuation as they come, one per token ("" where a token completes no character). It
            ends early where the model ends the text. A ValueError is shown as a sentence. Other
            code runs between two pieces: ``with torch.no_grad()`` must not stay open around a
            ``yield`` (the decorator form closes it).
        prompt: what stands in the field at first.
        length, rules: where the controls stand at first; there is none for a repetition penalty.
        max_length: the right end of the length's slider.
        unit: what the pieces are, in the plural.

    Raises:
        ValueError: if a setting lies outside its control's range, or the first text cannot be
            written.
        RuntimeError: in the test run, if the model fails at an end of a control's range.
    """
    controls = desk_controls(length, max_length, rules, unit)
    desk = WritingDesk(continue_text, prompt, controls, unit)
    for _ in desk.text.begin(prompt, desk.settings()):
        pass
    if driving():
        try_the_ends(continue_text, prompt, controls)
    words = f"<div>{escape(description)}</div>"
    how = f"Written with {desk.settings().words()}."
    shown = text_html(desk.text.prompt, desk.text.written)
    stored = f"{words}{shown}<div>{escape(how)}</div><p><i>{RUN_ME}</i></p>"
    plain = "\n".join([description, desk.text.prompt + desk.text.written, how, RUN_ME])
    live = panel([ipywidgets.HTML(words), *desk.parts])
    show_widget(live, stored, mime="text/html", plain=plain)


def desk_controls(
    length: int,
    max_length: int,
    rules: Rules,
    unit: str = "tokens",
) -> dict[str, ipywidgets.Widget]:
    """The controls of a desk by the names of the settings; a seed of ``NEW`` is drawn anew.

    Raises:
        ValueError: if a value lies outside its control's range, or has no control.
    """
    if rules.repetition != 1:
        raise ValueError(f"repetition is {rules.repetition}; expected 1, the desk cannot set it.")
    counts = sorted({*TOP_K, *([rules.top_k] if rules.top_k else [])})
    share = 1.0 if rules.top_p is None else float(rules.top_p)
    cut = slider(share, 0.05, 1.0, 0.05, "top-p (1: all)")
    k = ipywidgets.SelectionSlider(
        options=[*((str(count), count) for count in counts), ("all", ALL)],
        value=rules.top_k or ALL,
        description="top-k",
        continuous_update=False,
        style=cut.style,
        layout=cut.layout,
    )
    least = max(1, min(10, length))
    seeds = [*((str(seed), seed) for seed in range(SEEDS)), ("new each time", NEW)]
    return {
        "temperature": slider(float(rules.temperature), 0.0, 2.0, 0.1, "temperature"),
        "top_k": k,
        "top_p": cut,
        "length": slider(length, least, max_length, 10, f"length, {unit}"),
        "seed": choice(seeds, 0, "seed"),
    }


class WritingDesk:
    """The widgets of a desk and what its buttons do; tests call the same methods.

    Attributes:
        task: the writing that was started last, where the desk was made in an event loop.
    """

    def __init__(
        self,
        continue_text: ContinueText,
        prompt: str,
        controls: dict[str, ipywidgets.Widget],
        unit: str = "tokens",
    ) -> None:
        self.controls, self.task = controls, None
        self._loop = _running_loop()
        self.field = ipywidgets.Textarea(
            value=prompt,
            description="your text",
            placeholder="type a beginning",
            continuous_update=False,
            rows=3,
            style={"description_width": "9em"},
            layout=ipywidgets.Layout(width="98%"),
        )
        self._text, self._status = ipywidgets.HTML(), ipywidgets.HTML()
        self.buttons = {}
        for name, act in (("Write", self.write), ("Go on", self.go_on), ("Stop", self.stop)):
            look = ipywidgets.Layout(width="8em", height="38px")
            self.buttons[name] = ipywidgets.Button(description=name, layout=look)
            self.buttons[name].on_click(lambda _, act=act: self._in_turn(act))
        self.buttons["Write"].button_style = "primary"
        wrap = ipywidgets.Layout(flex_flow="row wrap", grid_gap="4px 24px", margin="4px 0")
        box = ipywidgets.Box(list(controls.values()), layout=wrap)
        row = ipywidgets.HBox(list(self.buttons.values()))
        row.layout.grid_gap = "8px"
        self.parts = [self.field, box, row, self._status, self._text]
        self.text = GrowingText(continue_text, unit, self._show)

    def settings(self, part: int = 0) -> Settings:
        """What the controls say now."""
        return settings_of({name: c.value for name, c in self.controls.items()}, part)

    def write(self) -> None:
        """Write on from the reader's text."""
        self._carry_out(lambda: self.text.begin(self.field.value, self.settings()))

    def go_on(self) -> None:
        """Write on from all that is shown, the model's own words included."""
        if not self.text.at_work:
            self._carry_out(lambda: self.text.go_on(self.settings(self.text.part + 1)))

    def stop(self) -> None:
        """End the text that is being written."""
        self.text.stop()

    def _in_turn(self, act: Callable[[], None]) -> None:
        """Do what a button says in the thread of the loop, whichever thread its message is in."""
        # At once where this is that thread: a message behind this one may come before a new round.
        if self._loop is None or _running_loop() is self._loop:
            act()
        else:
            self._loop.call_soon_threadsafe(act)

    def _carry_out(self, start: Callable[[], Iterator[None]]) -> None:
        """Between messages where an event loop runs, as in a kernel; otherwise now."""
        if self._loop is not None:
            self.task = self._loop.create_task(_one_by_one(start))
            return
        with contextlib.suppress(ValueError):
            for _ in start():
                pass

    def _show(self) -> None:
        self._status.value = status_html(self.text)
        self._text.value = text_html(self.text.prompt, self.text.written, self.text.at_work)


def settings_of(values: Mapping[str, Any], part: int = 0) -> Settings:
    """The settings that the controls' values stand for.

    A text's further parts have seeds of their own: the same seed could draw the same words again.
    """
    seed = values["seed"]
    if seed == NEW:
        seed = random.SystemRandom().randrange(SEEDS, 1000)
    top_k = None if values["top_k"] == ALL else values["top_k"]
    top_p = None if values["top_p"] >= 1 else values["top_p"]
    rules = Rules(values["temperature"], top_k, top_p)
    return Settings(rules, values["length"], seed + 1000 * part)


def try_the_ends(
    continue_text: ContinueText,
    prompt: str,
    controls: Mapping[str, ipywidgets.Widget],
    pieces: int = 3,
) -> None:
    """Take the first pieces at the ends of every control's range; for tests.

    Raises:
        RuntimeError: if the model fails at one of them; it names the setting.
    """
    for values in extreme_values(controls):
        settings = settings_of(values)
        try:
            for piece in islice(continue_text(prompt, settings), min(pieces, settings.length)):
                text_html(prompt, piece)
        except Exception as error:
            raise RuntimeError(
                f"The writing desk fails with {settings.words()}: {type(error).__name__}: {error}"
            ) from error


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that this thread is in, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _one_by_one(start: Callable[[], Iterator[None]]) -> None:
    await asyncio.sleep(SETTLE)
    # Errors have been shown by then, and nobody awaits this task.
    with contextlib.suppress(Exception):
        for _ in start():
            await asyncio.sleep(0)
