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
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

import ipywidgets

from helpers.display import palette
from helpers.display.widgets import (
    RUN_ME,
    choice,
    driving,
    extreme_values,
    panel,
    show_widget,
    slider,
)

SECONDS = 0.05  # the least time between two updates of the text that is shown
# How long a button waits for what was typed before it was pressed: see above.
SETTLE = 0.1
TOP_K = (1, 2, 3, 5, 10, 20, 50, 100)
SEEDS = 10
NEW, ALL = -1, 0  # the values of "new each time" among the seeds and of "all" for top-k
# Dark ink on a paper of its own, whatever the theme; the prompt is bold and shaded as well.
PROMPT_LOOK = f"color: {palette.DARK_BLUE}; background: {palette.PALEST_BLUE}; font-weight: bold"
WRITTEN_LOOK = f"color: {palette.BROWN}; background: {palette.WHITE}"
PAPER = (
    f"background: {palette.WHITE}; border: 1px solid {palette.FRAME}; border-radius: 4px; "
    "padding: 10px 14px; margin: 6px 0; font: 20px/1.5 sans-serif; white-space: pre-wrap; "
    "overflow-wrap: anywhere; word-break: normal; min-height: 6em"
)


@dataclass(frozen=True)
class Settings:
    """How the reader wants the text to be drawn.

    Attributes:
        temperature: 0 takes the likeliest token, 1 samples as the model says.
        top_k: only the k likeliest tokens; None for all.
        top_p: only the likeliest tokens that hold this share of the probability; None for all.
        length: tokens to write at most.
        seed: of the generator that draws.
    """

    temperature: float
    top_k: int | None
    top_p: float | None
    length: int
    seed: int

    def words(self) -> str:
        """The settings in one line, enough to make the same text again."""
        top_k = "all" if self.top_k is None else self.top_k
        top_p = "all" if self.top_p is None else f"{self.top_p:g}"
        return (
            f"temperature {self.temperature:g}, top-k {top_k}, top-p {top_p}, "
            f"length {self.length}, seed {self.seed}"
        )


ContinueText = Callable[[str, Settings], Iterable[str]]


def writing_desk(
    continue_text: ContinueText,
    *,
    prompt: str,
    length: int = 100,
    max_length: int = 400,
    temperature: float = 0.8,
    top_k: int | None = None,
    top_p: float | None = None,
    unit: str = "tokens",
    description: str = "Type a beginning, choose how to draw, and press Write.",
) -> None:
    """Show a field for the reader's text, controls, and what the model writes on from it.

    The text grows while it is written, and Stop ends it at any piece. A first text, drawn with the
    settings given here and seed 0, stands there from the start, also for readers without a kernel.

    Example::

        def continue_text(prompt, settings):
            tokens = tokenizer.encode(prompt)  # a ValueError from here is shown to the reader
            for token in stream(predictor, prompt=tokens, ...):
                yield tokenizer.decode([token])

        writing_desk(continue_text, prompt="The keeper of the light ")

    Args:
        continue_text: called as ``continue_text(text, settings)``; gives the pieces of the
            continuation as they come, one per token ("" where a token completes no character). It
            ends early where the model ends the text. A ValueError is shown as a sentence. Other
            code runs between two pieces: ``with torch.no_grad()`` must not stay open around a
            ``yield`` (the decorator form closes it).
        prompt: what stands in the field at first.
        length, temperature, top_k, top_p: where the controls stand at first; None is "all".
        max_length: the right end of the length's slider.
        unit: what the pieces are, in the plural.
        description: words above the desk, and for readers without a kernel.

    Raises:
        ValueError: if a setting lies outside its control's range, or the first text cannot be
            written.
        RuntimeError: in the test run, if the model fails at an end of a control's range.
    """
    controls = desk_controls(length, max_length, temperature, top_k, top_p, unit)
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
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    unit: str = "tokens",
) -> dict[str, ipywidgets.Widget]:
    """The controls of a desk by the names of the settings; a seed of ``NEW`` is drawn anew.

    Raises:
        ValueError: if a value lies outside its control's range.
    """
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}: give 1 or more, or None for all {unit}.")
    counts = sorted({*TOP_K, *([top_k] if top_k else [])})
    cut = slider(1.0 if top_p is None else float(top_p), 0.05, 1.0, 0.05, "top-p (1: all)")
    k = ipywidgets.SelectionSlider(
        options=[*((str(count), count) for count in counts), ("all", ALL)],
        value=top_k or ALL,
        description="top-k",
        continuous_update=False,
        style=cut.style,
        layout=cut.layout,
    )
    least = max(1, min(10, length))
    seeds = [*((str(seed), seed) for seed in range(SEEDS)), ("new each time", NEW)]
    return {
        "temperature": slider(float(temperature), 0.0, 2.0, 0.1, "temperature"),
        "top_k": k,
        "top_p": cut,
        "length": slider(length, least, max_length, 10, f"length, {unit}"),
        "seed": choice(seeds, 0, "seed"),
    }


class GrowingText:
    """A text that a model writes on, one piece per step; it knows no widgets.

    Attributes:
        prompt, written: the reader's text and what the model has written after it.
        status: what is going on, as a sentence.
        problem: whether the status tells of one.
        details: the traceback of an error that is no ValueError.
        at_work: whether a text is being written.
        part: how often the model has gone on from its own words.
    """

    def __init__(
        self,
        continue_text: ContinueText,
        unit: str = "tokens",
        show: Callable[[], None] = lambda: None,
    ) -> None:
        self._continue_text, self._unit, self._show = continue_text, unit, show
        self.prompt = self.written = self.status = self.details = ""
        self.problem = self.at_work = False
        self.part = self._turn = self._count = 0

    def begin(self, prompt: str, settings: Settings) -> Iterator[None]:
        """The steps of writing on from a prompt. A text that is being written is given up.

        Raises:
            ValueError: from the iterator: an empty prompt, or what the model objects to. Like any
                other error, it has been put into the status by then.
        """
        self.prompt, self.written, self.part = prompt, "", 0
        return self._start(settings)

    def go_on(self, settings: Settings) -> Iterator[None]:
        """The steps of writing on from all that is there; raises as ``begin`` does."""
        self.part += 1
        return self._start(settings)

    def stop(self) -> None:
        """End the text that is being written; what is there stays."""
        if self.at_work:
            self._turn += 1
            self._end(f"Stopped after {self._count} {self._unit}.")

    def _start(self, settings: Settings) -> Iterator[None]:
        self._turn, self._count, self.at_work = self._turn + 1, 0, True
        self._say(f"Reading {len(self.prompt + self.written):,} characters …")
        return self._steps(settings, self._turn)

    def _steps(self, settings: Settings, turn: int) -> Iterator[None]:
        began, shown = time.monotonic(), 0.0
        text = self.prompt + self.written
        try:
            if not text:
                raise ValueError("The text is empty: type a beginning for the model to go on from.")
            for piece in islice(self._continue_text(text, settings), settings.length):
                self.written, self._count = self.written + piece, self._count + 1
                if time.monotonic() - shown >= SECONDS:
                    self._say(f"Writing: {self._count} of {settings.length} {self._unit} …")
                    shown = time.monotonic()
                yield
                if turn != self._turn:
                    return
        except Exception as error:
            known = isinstance(error, ValueError)
            self.details = "" if known else traceback.format_exc()
            self._end(str(error) if known else f"{type(error).__name__}: {error}", problem=True)
            raise
        seconds = time.monotonic() - began
        how = "Written:" if self._count == settings.length else "The model ended the text after"
        rate = f" ({self._count / seconds:,.0f} per second)" if seconds > 0 else ""
        self._end(f"{how} {self._count} {self._unit}{rate}, with {settings.words()}.")

    def _say(self, status: str, problem: bool = False) -> None:
        self.status, self.problem = status, problem
        self._show()

    def _end(self, status: str, problem: bool = False) -> None:
        self.at_work = False
        self._say(status, problem)


class WritingDesk:
    """The widgets of a desk and what its buttons do; tests call the same methods.

    Attributes:
        text: what is shown.
        field, controls, buttons: the widgets, the latter two by name.
        parts: all widgets, from top to bottom.
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
    settings = {**values, "top_k": top_k, "top_p": top_p, "seed": seed + 1000 * part}
    return Settings(**settings)


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


def text_html(prompt: str, written: str, at_work: bool = False) -> str:
    """The reader's text, bold on a shade, and the model's; with a bar at its end while it grows."""
    caret = '<span aria-hidden="true">▌</span>' if at_work else ""
    return (
        f'<pre class="writing-text" style="{PAPER}"><b style="{PROMPT_LOOK}">{_shown(prompt)}</b>'
        f'<span style="{WRITTEN_LOOK}">{_shown(written)}</span>{caret}</pre>'
        '<div style="font-size: 15px">Bold: your text. The rest: the model.</div>'
    )


def status_html(text: GrowingText) -> str:
    """The status as a sentence; a problem has a sign and a bar, and its traceback folded away."""
    sign = "⚠ " if text.problem else ""
    bar = f"; border-left: 6px solid {palette.VERMILION}; padding: 2px 10px" if text.problem else ""
    folded = ""
    if text.problem and text.details:
        folded = f"<details><summary>Details</summary><pre>{escape(text.details)}</pre></details>"
    return (
        f'<div class="writing-status" role="status" style="min-height: 1.5em{bar}">'
        f"{sign}{escape(text.status)}{folded}</div>"
    )


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


def _shown(text: str) -> str:
    """Escaped; signs that a page cannot hold (controls, halves of characters) are replaced."""
    kept = "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in text
    )
    return escape(kept)
