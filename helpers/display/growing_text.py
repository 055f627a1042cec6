"""A text that a model writes on, piece by piece: how it is drawn, how it stands, how it looks.

The model is handed over as a function, so this module knows none, and it knows no widgets.
"""

from __future__ import annotations

import time
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import islice

from helpers.display import palette
from helpers.inference.rules import Rules

SECONDS = 0.05  # the least time between two updates of the text that is shown
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
    """How the reader wants the text to be drawn."""

    rules: Rules
    length: int
    seed: int

    def words(self) -> str:
        """The settings in one line, enough to make the same text again."""
        top_k = "all" if self.rules.top_k is None else self.rules.top_k
        top_p = "all" if self.rules.top_p is None else f"{self.rules.top_p:g}"
        return (
            f"temperature {self.rules.temperature:g}, top-k {top_k}, top-p {top_p}, "
            f"length {self.length}, seed {self.seed}"
        )


ContinueText = Callable[[str, Settings], Iterable[str]]


class GrowingText:
    """A text that a model writes on, one piece per step.

    Attributes:
        status: what is going on, as a sentence.
        problem: whether the status tells of one.
        details: the traceback of an error that is no ValueError.
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


def _shown(text: str) -> str:
    """Escaped; signs that a page cannot hold (controls, halves of characters) are replaced."""
    kept = "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in text
    )
    return escape(kept)
