"""A training curve that is redrawn while the model trains.

``watch`` wraps the trainer's records and hands them on::

    for record in live.watch(Training(model, batches, steps=1000), total=1000):
        ...
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from IPython import get_ipython
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tqdm.auto import tqdm

from helpers.display import palette, plotting
from helpers.display.figures import caption_output, figure_output, publish


class TrainingRecord(Protocol):
    """What is drawn of a record; ``helpers.learning.training`` makes such ones."""

    step: int
    loss: float
    tokens: int
    validation: float | None


R = TypeVar("R", bound=TrainingRecord)


class LiveCurve:
    """Collects records and draws them; knows neither the trainer nor the notebook."""

    def __init__(
        self,
        ylabel: str = "nats per token",
        floor: Mapping[str, float] | None = None,
        validation_ylabel: str | None = None,
        total: int | None = None,
        unit: str = "tokens",
    ) -> None:
        self.ylabel, self.validation_ylabel, self.total = ylabel, validation_ylabel, total
        self.unit = unit
        self.floor = dict(floor or {})
        self.steps: list[int] = []
        self.losses: list[float] = []
        self.validations: list[tuple[int, float]] = []
        self.last: TrainingRecord | None = None

    def add(self, record: TrainingRecord) -> None:
        """Take a record in."""
        self.steps.append(record.step)
        self.losses.append(float(record.loss))
        if record.validation is not None:
            self.validations.append((record.step, float(record.validation)))
        self.last = record

    @property
    def first(self) -> bool:
        """Whether exactly one record has been taken in."""
        return len(self.steps) == 1

    def draw(self) -> Figure:
        """The curve so far: each step's loss pale, its centred mean over it, validation as marks.

        Validation stands in axes of its own if it has a unit of its own (``validation_ylabel``).
        """
        with plotting.course_style():
            apart = self.validation_ylabel is not None
            figure = Figure(figsize=(9.0, 4.2))
            FigureCanvasAgg(figure)
            axes = figure.subplots(1, 1 + apart, squeeze=False)[0]
            plain = {"marker": "", "linestyle": "-"}
            axes[0].plot(self.steps, self.losses, color=palette.PALE_BLUE, lw=1.2, **plain)
            axes[0].plot(self.steps, smooth(self.losses), color=palette.BLUE, **plain)
            axes[0].lines[-1].set_label("training, centred mean")
            axes[0].set(xlabel="step", ylabel=self.ylabel)
            if self.validations:
                steps, values = zip(*self.validations, strict=True)
                look = {"color": palette.VERMILION, "marker": "s", "linestyle": "--"}
                axes[-1].plot(steps, values, label="validation", markevery=1, **look)
            if apart:
                axes[1].set(xlabel="step", ylabel=self.validation_ylabel, title="validation")
            elif self.validations:
                axes[0].legend()
            for ax in axes if self.total else ():
                ax.set_xlim(0, self.total)
            plotting.reference_lines(axes[-1], self.floor)
        return figure

    def caption(self) -> str:
        """What the curve shows, with its last numbers."""
        if self.last is None:
            return "No step of training was made: the run had come to its end before."
        last = self.losses[-max(1, len(self.losses) // 30) :]
        which = f"the mean of the last {len(last)}" if len(last) > 1 else "the last loss"
        words = (
            f"Training loss over {self.last.step:,} steps and {self.last.tokens:,} {self.unit}: "
            f"{which} is {sum(last) / len(last):.3f} {self.ylabel}"
        )
        if self.validations:
            measured_in = self.validation_ylabel or self.ylabel
            words += f", validation stands at {self.validations[-1][1]:.3f} {measured_in}"
        if self.floor:
            lines = ", ".join(f"{name} at {value:.3f}" for name, value in self.floor.items())
            words += f"; dashed: {lines}"
        return f"{words}."


def watch(
    records: Iterable[R],
    total: int | None = None,
    *,
    ylabel: str = "nats per token",
    floor: Mapping[str, float] | None = None,
    validation_ylabel: str | None = None,
    unit: str = "tokens",
    caption: str = "",
    every_seconds: float = 0.5,
) -> Iterator[R]:
    """Yield the records on while their curve is drawn; at the end one figure and caption are left.

    The figure and the line of progress under it are outputs that are updated in place; the line
    becomes the caption. A front end without updated displays gets a progress bar of text and the
    figure at the end; without IPython there is the bar and the caption's words. Whoever stops the
    loop, or interrupts it, keeps what was drawn.

    Args:
        records: with ``step``, ``loss``, ``tokens`` and ``validation`` (may be None).
        total: how many records are expected; for the progress and the width of the curve.
        ylabel: the unit of the loss.
        floor: label -> height of a dashed line, in the unit of the validation if that has axes
            of its own.
        validation_ylabel: the unit of the validation where it is not that of the loss, such as
            "bits per byte".
        unit: what the records' ``tokens`` count, in the caption; each target of a batch is one.
        caption: stands before the measured words of the caption.
        every_seconds: the least time between two drawings. It grows to ten times what a drawing
            takes, so that the curve costs a tenth of the time at most; 0 draws every record.
    """
    curve = LiveCurve(ylabel, floor, validation_ylabel, total, unit)
    return _watch(records, curve, caption, every_seconds)


def smooth(values: Sequence[float]) -> list[float]:
    """Centred running mean over about a thirtieth of the values.

    A mean of the last values alone would lag behind: while the loss falls, it lies above it, and a
    validation loss of the same moment seems too low. Towards both ends the window narrows, so that
    it stays centred.
    """
    n, half = len(values), len(values) // 60
    sums = [0.0, *itertools.accumulate(map(float, values))]
    means = []
    for i in range(n):
        reach = min(half, i, n - 1 - i)
        means.append((sums[i + reach + 1] - sums[i - reach]) / (2 * reach + 1))
    return means


def _watch(
    records: Iterable[R], curve: LiveCurve, caption: str, every_seconds: float
) -> Iterator[R]:
    began = drawn = time.monotonic()
    wait = every_seconds
    figure = line = bar = None
    try:
        for record in records:
            curve.add(record)
            if curve.first and get_ipython() is not None:
                figure = publish(figure_output(curve.draw()), display_id=True)
                line = figure and publish(_progress(curve, began), display_id=True)
            if figure is None and bar is None:
                # tqdm writes to stderr by default, which a stored notebook must not contain.
                bar = tqdm(total=curve.total, file=sys.stdout, leave=False, unit="step")
            if bar is not None:
                bar.update()
            elif (starts := time.monotonic()) - drawn >= wait:
                figure.update(figure_output(curve.draw()), raw=True)
                line.update(_progress(curve, began), raw=True)
                drawn = time.monotonic()
                wait = every_seconds and max(every_seconds, 10 * (drawn - starts))
            yield record
    finally:
        if bar is not None:
            bar.close()
        words = caption_output(f"{caption} {curve.caption()}")
        if curve.last is None:
            print(curve.caption())
        elif figure is not None:
            figure.update(figure_output(curve.draw()), raw=True)
            line.update(words, raw=True)
        else:
            if get_ipython() is not None:
                publish(figure_output(curve.draw()))
            publish(words)


def _progress(curve: LiveCurve, began: float) -> dict[str, Any]:
    """tqdm's line of progress as an output of its own, which the caption will replace."""
    elapsed = time.monotonic() - began
    meter = tqdm.format_meter(len(curve.steps), curve.total, elapsed, unit="step", ncols=70)
    return {"text/markdown": f"`{meter}`", "text/plain": meter}
