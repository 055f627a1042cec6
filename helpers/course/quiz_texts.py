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
_CHOICE = {"question", "option"}
_NUMBER = {"question", "answer", "tolerance", "slip", "hint", "unit", "because"}


class QuizTextError(ValueError):
    """The file of a notebook's quizzes is not as it should be; says where."""


def quizzes_of(notebook: str) -> Callable[[str], None]:
    """A function that shows one quiz of a notebook, given its name.

    Args:
        notebook: the beginning of the notebook's file name, such as "02".

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
    """The file with the quizzes of a notebook.

    Raises:
        QuizTextError: no file or several begin so.
    """
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
            reason, or an entry that is not known.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise QuizTextError(f"{path.name} is not TOML: {error}.") from error
    quizzes: dict[str, ChoiceQuiz | NumberQuiz] = {}
    for name, table in tables.items():
        try:
            quizzes[name] = _number(table) if "answer" in table else _choice(table)
        except (KeyError, TypeError, AttributeError) as error:
            raise QuizTextError(f"{path.name}, quiz {name!r}: {error} is missing.") from error
        except ValueError as error:
            raise QuizTextError(f"{path.name}, quiz {name!r}: {error}") from error
    return quizzes


def _choice(table: Mapping[str, Any]) -> ChoiceQuiz:
    _check_names(table, _CHOICE)
    options = table["option"]
    for option in options:
        _check_names(option, {"text", "right", "reason"})
    right = [option["text"] for option in options if option.get("right", False)]
    return ChoiceQuiz(
        table["question"].strip(),
        [option["text"] for option in options],
        right,
        {option["text"]: option["reason"] for option in options if "reason" in option},
        several=len(right) > 1,
    )


def _number(table: Mapping[str, Any]) -> NumberQuiz:
    _check_names(table, _NUMBER)
    slips = table.get("slip", [])
    return NumberQuiz(
        table["question"].strip(),
        _value(table["answer"]),
        _value(table["tolerance"]),
        {_value(slip["answer"]): slip["reason"] for slip in slips},
        table.get("hint", ""),
        table.get("unit", ""),
        table.get("because", ""),
    )


def _check_names(table: Mapping[str, Any], known: set[str]) -> None:
    if strange := sorted(set(table) - known):
        raise ValueError(f"{strange[0]!r} is none of {', '.join(sorted(known))}.")


def _value(entry: Any) -> float:
    return float(Fraction(str(entry)))
