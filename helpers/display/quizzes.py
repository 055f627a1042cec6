"""The course's own small quiz: one right option, several, or a number, with a reason for each slip.

A live quiz needs ipywidgets alone. The same output carries the question and, folded away, the
answers with their reasons, so that it can be read on GitHub or on paper. Questions, options and
reasons are plain text with `code`, **bold**, *emphasis* and $formulas$; everything else in them is
shown as it is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape

import ipywidgets

from helpers.display import palette
from helpers.display.widgets import driving, panel, show_widget

RIGHT, WRONG = "✓ Right.", "✗ Not yet."


@dataclass(frozen=True)
class ChoiceQuiz:
    """A question with lettered options, of which those in ``correct`` are right.

    Attributes:
        options: the options' texts, all different.
        correct: the texts of the right options, at least one; where there are more, several can be
            chosen.
        reasons: option -> why it is wrong; needed for every wrong option. A right option may have
            one too, and then says why it is right.
    """

    question: str
    options: Sequence[str]
    correct: Collection[str]
    reasons: Mapping[str, str]

    def __post_init__(self) -> None:
        options = self.options
        if not self.question.strip() or len(options) < 2 or len(set(options)) != len(options):
            raise ValueError("A quiz needs a question and at least two options, all different.")
        for option in options:
            if option not in self.correct and not self.reasons.get(option, "").strip():
                raise ValueError(f"Give a reason why {option!r} is wrong.")

    @property
    def several(self) -> bool:
        return len(self.correct) > 1

    def letter(self, option: str) -> str:
        """A for the first option, B for the second, ..."""
        return chr(ord("A") + self.options.index(option))

    def grade(self, chosen: Collection[str]) -> tuple[bool, str]:
        """Whether exactly the right options were chosen, and what to tell the student."""
        picked = [option for option in self.options if option in chosen]
        if not picked:
            return False, "Choose an option first."
        right = set(picked) == set(self.correct)
        told = [o for o in picked if o in self.reasons and (right or o not in self.correct)]
        words = [f"{self.letter(o)}: {self.reasons[o]}" for o in told]
        if right:
            return True, " ".join([RIGHT, *words])
        if self.several and set(self.correct) - set(picked):
            words.append("A right option is still missing.")
        return False, " ".join([WRONG, *words])

    def answers(self) -> str:
        """All options with verdict and reason, as HTML, for readers without a kernel."""
        lines = []
        for option in self.options:
            verdict = "right" if option in self.correct else "wrong"
            reason = f": {markup(self.reasons[option])}" if option in self.reasons else ""
            lines.append(f"<li><b>{self.letter(option)}</b> is {verdict}{reason}</li>")
        return f"<ul>{''.join(lines)}</ul>"

    def drive(self) -> None:
        """Try every option once; raises if the grading contradicts the answers."""
        for option in self.options:
            right, words = self.grade([option])
            assert right == (set(self.correct) == {option})
            assert markup(words)
        assert self.grade(self.correct)[0]


@dataclass(frozen=True)
class NumberQuiz:
    """A question whose answer is a number.

    Attributes:
        tolerance: how far off (absolutely) still counts as right.
        reasons: wrong number -> how one comes to it.
        hint: what is said to any other wrong number.
        unit: stands behind the field and the answer.
        because: why the answer is right; said after it was found.
    """

    question: str
    answer: float
    tolerance: float
    reasons: Mapping[float, str] = field(default_factory=dict)
    hint: str = ""
    unit: str = ""
    because: str = ""

    def __post_init__(self) -> None:
        if not self.question.strip() or not math.isfinite(self.answer):
            raise ValueError("A quiz needs a question and a finite number as its answer.")
        if not (math.isfinite(self.tolerance) and self.tolerance >= 0):
            raise ValueError(f"The tolerance must be zero or more, not {self.tolerance}.")
        if not self.hint.strip() and not self.reasons:
            raise ValueError("Give reasons for wrong numbers, or a hint for all of them.")
        for value, reason in self.reasons.items():
            if not reason.strip():
                raise ValueError(f"Give a reason why {value} is wrong.")
            if self._near(value, self.answer):
                raise ValueError(f"{value} counts as right within the tolerance {self.tolerance}.")

    def grade(self, typed: str | float) -> tuple[bool, str]:
        """Whether a number is right, and what to tell the student; accepts "0,5" and "1/2" too."""
        try:
            value = float(Fraction(str(typed).strip().replace(",", ".").replace("−", "-")))
        except (ValueError, ZeroDivisionError, OverflowError):
            return False, "Type a number, such as 2.5 or 1/3."
        if self._near(value, self.answer):
            shown = f"{self.answer:g} {self.unit}".strip()
            return True, f"{RIGHT} The answer is {shown}. {self.because}".strip()
        known = [wrong for wrong in self.reasons if self._near(value, wrong)]
        if known:
            nearest = min(known, key=lambda wrong: abs(wrong - value))
            return False, f"{WRONG} {self.reasons[nearest]}"
        side = "large" if value > self.answer else "small"
        return False, f"{WRONG} {value:g} is too {side}. {self.hint}".strip()

    def answers(self) -> str:
        """The answer and the known slips, as HTML, for readers without a kernel."""
        shown = escape(f"{self.answer:g} {self.unit}".strip())
        lines = [f"<li>Right: <b>{shown}</b>. {markup(self.because)}</li>"]
        if self.hint:
            lines.append(f"<li>Hint: {markup(self.hint)}</li>")
        for value, reason in self.reasons.items():
            lines.append(f"<li>Wrong: {value:g}. {markup(reason)}</li>")
        return f"<ul>{''.join(lines)}</ul>"

    def drive(self) -> None:
        """Try the answer and every known slip; raises if the grading contradicts them."""
        assert self.grade(self.answer)[0]
        for typed in (*self.reasons, "no number", self.answer + 2 * self.tolerance + 1):
            right, words = self.grade(typed)
            assert not right
            assert markup(words)

    def _near(self, value: float, other: float) -> bool:
        # The smallest slack above rounding: 0.1 + 0.2 counts as 0.3 at tolerance 0.
        return abs(value - other) <= self.tolerance + 1e-9 * max(1.0, abs(other))


def show_quiz(quiz: ChoiceQuiz | NumberQuiz) -> None:
    """Show a quiz, live and with its answers folded away below."""
    (_show_choice if isinstance(quiz, ChoiceQuiz) else _show_number)(quiz)


def markup(text: str) -> str:
    """Escaped HTML of a plain text; `code`, **bold**, *emphasis* and $formulas$ are kept."""
    parts = re.split(r"(`[^`]+`|\$[^$]+\$)", text)
    done = []
    for part in parts:
        safe = escape(part, quote=False)
        if len(part) > 2 and part[0] == part[-1] == "`":
            safe = f"<code>{safe[1:-1]}</code>"
        elif not (len(part) > 2 and part[0] == part[-1] == "$"):
            safe = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", safe)
            safe = re.sub(r"(?<![\w*])\*(?!\s)([^*]+?)\*(?![\w*])", r"<i>\1</i>", safe)
        done.append(safe)
    return "".join(done)


def feedback_html(right: bool, words: str) -> str:
    """Feedback in words and a sign, with a coloured bar that only repeats them."""
    colour = palette.GREEN if right else palette.VERMILION
    return (
        f'<div style="border-left: 6px solid {colour}; padding: 2px 10px; margin-top: 6px">'
        f"{markup(words)}</div>"
    )


def _question_html(question: str) -> str:
    return f'<div style="margin-bottom: 4px"><b>Quiz.</b> {markup(question)}</div>'


def _show_number(quiz: NumberQuiz) -> None:
    if driving():
        quiz.drive()
    field_ = ipywidgets.Text(placeholder="a number", layout=ipywidgets.Layout(width="10em"))
    check = ipywidgets.Button(description="Check", button_style="primary")
    feedback = ipywidgets.HTMLMath()
    unit_label = ipywidgets.HTML(escape(quiz.unit))

    def answer_given(_: object) -> None:
        feedback.value = feedback_html(*quiz.grade(field_.value))

    check.on_click(answer_given)
    # Leaving or entering the line reports its value in ipywidgets 7 and 8; on_submit is deprecated.
    field_.continuous_update = False
    field_.observe(answer_given, "value")
    row = ipywidgets.HBox([field_, unit_label, check])
    row.layout.align_items = "center"
    row.layout.grid_gap = "10px"
    live = panel([ipywidgets.HTMLMath(_question_html(quiz.question)), row, feedback])
    _show(quiz, live, "")


def _show_choice(quiz: ChoiceQuiz) -> None:
    if driving():
        quiz.drive()
    feedback = ipywidgets.HTMLMath()
    kind = ipywidgets.ToggleButton if quiz.several else ipywidgets.Button
    buttons, rows = {}, []
    for option in quiz.options:
        layout = ipywidgets.Layout(width="3.2em", flex="0 0 auto")
        buttons[option] = kind(description=quiz.letter(option), layout=layout)
        row = ipywidgets.HBox([buttons[option], ipywidgets.HTMLMath(markup(option))])
        row.layout.align_items = "center"
        row.layout.grid_gap = "10px"
        rows.append(row)

    def check(chosen: Collection[str]) -> None:
        feedback.value = feedback_html(*quiz.grade(chosen))

    if quiz.several:
        done = ipywidgets.Button(description="Check", button_style="primary")
        done.on_click(lambda _: check([option for option, b in buttons.items() if b.value]))
        rows.append(done)
    else:
        for option, button in buttons.items():

            def clicked(pressed: ipywidgets.Button, option: str = option) -> None:
                check([option])
                sign = "✓" if option in quiz.correct else "✗"
                pressed.description = f"{quiz.letter(option)} {sign}"

            button.on_click(clicked)
    note = " (several may be right)" if quiz.several else ""
    live = panel([ipywidgets.HTMLMath(_question_html(quiz.question + note)), *rows, feedback])
    lines = [f"<div><b>{quiz.letter(o)}</b>&ensp;{markup(o)}</div>" for o in quiz.options]
    _show(quiz, live, "".join(lines), note)


def _show(
    quiz: ChoiceQuiz | NumberQuiz, live: ipywidgets.Widget, body: str, note: str = ""
) -> None:
    fallback = (
        f"{_question_html(quiz.question + note)}{body}"
        f"<details><summary>Answer, with reasons</summary>{quiz.answers()}</details>"
    )
    plain = [f"Quiz. {quiz.question}{note}"]
    if isinstance(quiz, ChoiceQuiz):
        plain += [f"{quiz.letter(option)}  {option}" for option in quiz.options]
    show_widget(live, fallback, mime="text/html", plain="\n".join(plain))
