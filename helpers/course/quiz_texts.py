"""The quizzes of a notebook, whose texts stand in a file of their own beside this module.

In a cell there would be the right answer and all reasons above the question, so the cell says only
which quiz to show::

    quiz = quizzes_of("02")
    quiz("add_one")

``quizzes/02_ngrams_and_shannon.toml`` holds the texts. A quiz with options is a table that has a
``question`` and several ``option``, each with its ``text`` and either ``right = true`` or a
``reason`` why it is wrong (a right one may have a reason too); more than one may be right. A quiz
whose answer is a number has ``answer`` (a number, or words such as "6/1010"), ``tolerance``, and
``slip`` tables of ``answer`` and ``reason``; ``hint``, ``unit`` and ``because`` may be added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from helpers.display.quizzes import ChoiceQuiz, NumberQuiz, show_quiz

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).with_name("quizzes")
_WORDS = {"hint": str, "unit": str, "because": str}  # of a quiz whose answer is a number
_KINDS = {str: "words", bool: "true or false", list: "tables, each under a [[quiz.name]]"}


class QuizTextError(ValueError):
    """The file of a notebook's quizzes is not as it should be; says where."""


def quizzes_of(notebook: str) -> Callable[[str], None]:
    """A function that shows one quiz of a notebook, given its name.

    Raises:
        QuizTextError: there is no such file, or a quiz in it lacks something.
    """
    quizzes = read_quizzes(quiz_file(notebook))

    def quiz(name: str) -> None:
        """Show the quiz of that name."""
        if name not in quizzes:
            raise QuizTextError(f"There is no quiz {name!r}; there are: {', '.join(quizzes)}.")
        show_quiz(quizzes[name])

    return quiz


def quiz_file(notebook: str) -> Path:
    """The file with the quizzes of a notebook."""
    found = sorted(FOLDER.glob(f"{notebook}*.toml"))
    if len(found) != 1:
        raise QuizTextError(
            f"{len(found)} files in {FOLDER.name}/ begin with {notebook!r}; expected one."
        )
    return found[0]


def read_quizzes(path: Path) -> dict[str, ChoiceQuiz | NumberQuiz]:
    """All quizzes of a file, by name, in order.

    Raises:
        QuizTextError: it is no TOML, or a quiz has no right answer, a wrong one without a
            reason, or an entry that is missing, unknown or of another kind; names file and quiz.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML's own, or of bytes that are no text
        raise QuizTextError(f"{path.name} is not TOML: {error}.") from error
    quizzes: dict[str, ChoiceQuiz | NumberQuiz] = {}
    for name, table in tables.items():
        try:
            numeric = isinstance(table, dict) and "answer" in table
            quizzes[name] = _number(table) if numeric else _choice(table)
        except ValueError as error:
            raise QuizTextError(f"{path.name}, quiz {name!r}: {error}") from error
    return quizzes


def _choice(table: Any) -> ChoiceQuiz:
    entries = _entries(table, "a quiz", {"question": str, "option": list})
    options = [
        _entries(option, "an option", {"text": str}, {"right": bool, "reason": str})
        for option in entries["option"]
    ]
    right = [option["text"] for option in options if option.get("right", False)]
    if not right:
        raise ValueError("No option is right: give one of them 'right = true'.")
    return ChoiceQuiz(
        entries["question"].strip(),
        [option["text"] for option in options],
        right,
        {option["text"]: option["reason"] for option in options if "reason" in option},
    )


def _number(table: Any) -> NumberQuiz:
    needed = {"question": str, "answer": object, "tolerance": object}
    entries = _entries(table, "a quiz", needed, {"slip": list, **_WORDS})
    slips = [
        _entries(slip, "a slip", {"answer": object, "reason": str})
        for slip in entries.get("slip", [])
    ]
    reasons = {_value(slip["answer"]): slip["reason"] for slip in slips}
    if len(reasons) < len(slips):
        raise ValueError("Two slips have the same answer.")
    return NumberQuiz(
        entries["question"].strip(),
        _value(entries["answer"]),
        _value(entries["tolerance"]),
        reasons,
        **{name: entries[name] for name in _WORDS if name in entries},
    )


def _entries(
    table: Any, what: str, needed: Mapping[str, type], allowed: Mapping[str, type] | None = None
) -> dict[str, Any]:
    """A table, if it has what is needed and beside it only what is allowed.

    Raises:
        ValueError: it is no table, or an entry is missing, unknown or of another kind.
    """
    known = {**needed, **(allowed or {})}
    if not isinstance(table, dict):
        raise ValueError(f"{table!r} is no table: {what} needs {' and '.join(needed)}.")
    if strange := sorted(set(table) - set(known)):
        raise ValueError(f"{strange[0]!r} is none of {', '.join(sorted(known))}.")
    for name, kind in known.items():
        if name in needed and name not in table:
            raise ValueError(f"{name!r} is missing in {what}.")
        if name in table and not isinstance(table[name], kind):
            raise ValueError(f"{name} = {table[name]!r} must be {_KINDS[kind]}.")
    return table


def _value(entry: Any) -> float:
    try:
        return float(Fraction(str(entry)))
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f'{entry!r} is no number: write such as 0.5 or "6/1010".') from error
