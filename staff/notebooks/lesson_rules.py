"""The rules of lessons: what a lesson has beside what every notebook has. A lab is no lesson."""

from __future__ import annotations

import ast
import base64
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from helpers.course.quiz_texts import QuizTextError, quiz_file, read_quizzes
from helpers.course.workspace import FURTHER, lesson_name
from helpers.display.widgets import RUN_ME
from staff.notebooks.clock import is_one_sitting, time_complaints
from staff.notebooks.folding import ANSWER_TAG, FOLDED_TAG, TITLE
from staff.notebooks.syntax import parse

YOUR_TURN_TAG, PREDICTION_TAG, ALGORITHM_TAG = "your-turn", "prediction", "algorithm"
LEAST_TASKS, LEAST_PREDICTIONS = 4, 2
LEAST_FURTHER = 1  # of either, in a further notebook
MAX_VISIBLE_LINES, MAX_CAPTION_WORDS = 15, 30
MAX_WIDTH, MAX_HEIGHT = 13.0, 6.0  # inches of a figure, and what a tight frame may add
DPI, FRAME = 110, 0.6
HOW_TO = "how to work with this notebook"
SOLUTION = "<details><summary>A solution</summary>"
_SOLUTION = re.compile(
    re.escape(SOLUTION) + r"\n+```python\n(.+?)\n```\n.*</details>\s*", re.DOTALL
)
# Code, formulas, and where a link leads.
_NO_PROSE = re.compile(r"(`+).*?\1|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)", re.DOTALL)
_QUOTED = re.compile(r"^>.*$", re.MULTILINE)  # what a model writes is not ours to word

# Words of our own for what the field has a word for: (pattern, what to write).
PRIVATE_WORDS = (
    (r"\b(?:pays?|paid)\b", "loss, cost or bits"),
    (r"(?<!standard )\bdeviations?\b", "standard deviation"),
    (r"(?<![\w-])grams?\b", "n-gram"),
    (r"\b(?:at|per|each|every|these|those|earlier|later) places?\b", "position or time step"),
    (r"\b(?:beats?|against|lose[s]? to|than) counting\b", "the n-gram model"),
    (r"\bnon-linear function\b", "non-linearity"),
)


def check_lesson(notebook: NotebookNode, name: str) -> list[str]:
    """All complaints about a lesson; ``name`` is relative to notebooks/."""
    further = name.startswith(f"{FURTHER}/")
    if "/" in name and not further:
        return []
    return [
        *tasks_complaints(notebook, LEAST_FURTHER if further else LEAST_TASKS),
        *predictions_complaints(notebook, LEAST_FURTHER if further else LEAST_PREDICTIONS),
        *claims_complaints(notebook),
        *quiz_complaints(notebook, lesson_name(Path(name)) if further else name[:2]),
        *folding_complaints(notebook),
        *caption_complaints(notebook),
        *picture_complaints(notebook),
        *word_complaints(notebook),
        *time_complaints(notebook, name),
        *frame_complaints(notebook, name),
    ]


def tasks_complaints(notebook: NotebookNode, least: int = LEAST_TASKS) -> list[str]:
    """At least four tasks in which the student writes, each with its solution folded below."""
    complaints, tasks = [], []
    for number, cell, tags in _code(notebook):
        called = [
            node.func.attr
            for node in ast.walk(parse(cell.source) or ast.Module([], []))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and getattr(node.func.value, "id", "") == "check"
        ]
        if called and YOUR_TURN_TAG not in tags:
            complaints.append(f"cell {number} calls check and lacks the tag '{YOUR_TURN_TAG}'")
        if YOUR_TURN_TAG not in tags:
            continue
        tasks += called
        if not called:
            complaints.append(f"cell {number} is the student's, but checks nothing")
        below = parse(solution_below(notebook, number))
        if below is None or not below.body:
            complaints.append(
                f"cell {number} is not followed by its solution: '{SOLUTION}', a block of Python, "
                "'</details>'"
            )
        if not any("not attempted yet" in output.get("text", "") for output in cell.outputs):
            complaints.append(f"cell {number} is not stored as it is handed out, without an answer")
    if len(set(tasks)) < least:
        complaints.append(f"the student writes in {len(set(tasks))} tasks; {least} or more")
    return complaints


def solution_below(notebook: NotebookNode, number: int) -> str:
    """The code of the folded solution in the cell after this one; empty where there is none.

    Args:
        number: of the cell in which the student writes, counted from 1.
    """
    below = notebook.cells[number] if number < len(notebook.cells) else None
    if below is None or below.cell_type != "markdown":
        return ""
    found = _SOLUTION.fullmatch(below.source)
    return found[1] if found else ""


def predictions_complaints(notebook: NotebookNode, least: int = LEAST_PREDICTIONS) -> list[str]:
    """At least two predictions, each asked for before the folded result it is compared with."""
    complaints: list[str] = []
    asked: dict[str, int] = {}
    compared = []
    for number, cell, tags in _code(notebook):
        tree = parse(cell.source) or ast.Module([], [])
        if PREDICTION_TAG in tags:
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and getattr(node.value, "value", 0) is Ellipsis:
                    asked |= {getattr(target, "id", ""): number for target in node.targets}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not _name(node.func).startswith("compare"):
                continue
            predicted = _name(node.args[0]) if node.args else ""
            compared.append(predicted)
            if predicted not in asked:
                complaints.append(
                    f"cell {number} compares '{predicted}', asked for in no cell before"
                )
            if ANSWER_TAG not in tags:
                complaints.append(f"cell {number} answers a prediction and lacks '{ANSWER_TAG}'")
    for name in sorted(set(asked) - set(compared)):
        complaints.append(f"cell {asked[name]} asks for '{name}', with which nothing is compared")
    if len(asked) < least:
        complaints.append(f"it asks for {len(asked)} predictions; {least} or more")
    return complaints


def claims_complaints(notebook: NotebookNode) -> list[str]:
    """What the lesson claims is asserted in tests/claims, never before a student's eyes."""
    return [
        f"cell {number} asserts before the student's eyes: claims stand in tests/claims"
        for number, cell, _ in _code(notebook)
        if any(
            isinstance(n, ast.Assert) for n in ast.walk(parse(cell.source) or ast.Module([], []))
        )
    ]


def quiz_complaints(notebook: NotebookNode, number: str) -> list[str]:
    """No text of a quiz in a cell, and every quiz of the notebook's file is asked once."""
    complaints, asked = [], []
    for place, cell, _ in _code(notebook):
        for node in ast.walk(parse(cell.source) or ast.Module([], [])):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            if getattr(getattr(function, "value", None), "id", "") == "quizzes":
                complaints.append(f"cell {place} holds the text of a quiz")
            if _name(function) == "quiz" and node.args:
                asked.append(getattr(node.args[0], "value", ""))
    if number.startswith(FURTHER) and not asked:
        return complaints  # a further notebook may have no quiz
    try:
        known = list(read_quizzes(quiz_file(number)))
    except QuizTextError as error:
        return [*complaints, str(error)]
    complaints += [f"the quiz '{name}' is asked {asked.count(name)} times" for name in known
                   if asked.count(name) != 1]  # fmt: skip
    return complaints + [f"there is no quiz '{name}'" for name in asked if name not in known]


def folding_complaints(notebook: NotebookNode) -> list[str]:
    """Folded cells have a title, answers are hidden; what is seen is short, or the algorithm."""
    complaints = []
    for number, cell, tags in list(_code(notebook))[1:]:
        lines, hidden = cell.source.count("\n") + 1, cell.metadata.get("jupyter", {})
        if {ANSWER_TAG, FOLDED_TAG} <= tags:
            # JupyterLab shows no sign of folded outputs where the source is folded as well.
            complaints.append(f"cell {number} is folded whole, so that nobody finds its outputs")
        if FOLDED_TAG in tags:
            if not cell.source.startswith(TITLE):
                complaints.append(f"cell {number} is folded and does not begin with '{TITLE}'")
            if not hidden.get("source_hidden"):
                complaints.append(f"cell {number} is not folded yet: 'make refresh' does it")
        elif lines > MAX_VISIBLE_LINES and ALGORITHM_TAG not in tags:
            complaints.append(
                f"cell {number} shows {lines} lines; the limit is {MAX_VISIBLE_LINES}, but for one "
                f"tagged '{ALGORITHM_TAG}'"
            )
        if ANSWER_TAG in tags and not hidden.get("outputs_hidden"):
            complaints.append(f"cell {number} shows its answer at once: 'make refresh' hides it")
    return complaints


def caption_complaints(notebook: NotebookNode) -> list[str]:
    """A caption says what is seen, in thirty words at most."""
    complaints = []
    for number, cell, _ in _code(notebook):
        for output in cell.outputs:
            caption = output.get("data", {}).get("text/markdown", "")
            words = len(caption.removeprefix("**Figure.**").split())
            if caption.startswith("**Figure.**") and words > MAX_CAPTION_WORDS:
                complaints.append(f"cell {number} has a caption of {words} words")
    return complaints


def picture_complaints(notebook: NotebookNode) -> list[str]:
    """Figures fit a projector, and a widget stores what it shows at first."""
    complaints = []
    for number, cell, tags in _code(notebook):
        if "widget" in tags:
            complaints.append(f"cell {number} has a widget that stores nothing for its readers")
        last = cell.outputs[-1].get("data", {}) if cell.outputs else {}
        if RUN_ME in last.get("text/markdown", ""):  # and nothing after it
            complaints.append(f"cell {number} does not store the first state of its widget")
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                width, height = _inches(output.data["image/png"])
                if width > MAX_WIDTH + FRAME or height > MAX_HEIGHT + FRAME:
                    complaints.append(
                        f"cell {number} has a figure of {width:.1f} x {height:.1f} inches; "
                        f"{MAX_WIDTH:g} x {MAX_HEIGHT:g} at most"
                    )
    return complaints


def word_complaints(notebook: NotebookNode) -> list[str]:
    """The field's words, which a student can search for."""
    complaints = []
    for number, cell in enumerate(notebook.cells, start=1):
        outputs = [o.get("data", {}).get("text/markdown", "") for o in cell.get("outputs", [])]
        outputs = [_QUOTED.sub("", output) for output in outputs]
        prose = "\n".join([cell.source if cell.cell_type == "markdown" else "", *outputs])
        prose = " ".join(_NO_PROSE.sub(" ", prose).split())  # lines break anywhere
        for pattern, instead in PRIVATE_WORDS:
            if found := re.search(pattern, prose, re.IGNORECASE):
                complaints.append(f"cell {number} says '{found[0]}'; the field says {instead}")
    return complaints


def frame_complaints(notebook: NotebookNode, name: str) -> list[str]:
    """What stands before the content is short, nothing is optional; for those that were cut."""
    if not is_one_sitting(Path(name)):
        return []
    complaints = []
    kinds = [cell.cell_type for cell in notebook.cells[:4]]
    folded = [cell.metadata.get("jupyter", {}).get("source_hidden") for cell in notebook.cells[1:3]]
    if kinds != ["markdown", "code", "code", "markdown"] or folded != [True, True]:
        complaints.append(
            "between the opening, one cell, and the first sentence of content stand not just two "
            "folded cells, set-up and imports"
        )
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            if re.search(r"(?im)^#+ .*\boptional\b", cell.source):
                complaints.append(
                    f"cell {number} heads a section as optional: move it to {FURTHER}/, or keep it"
                )
            if not name.startswith("00") and HOW_TO in " ".join(cell.source.lower().split()):
                complaints.append(f"cell {number} explains '{HOW_TO}', which notebook 00 does")
    return complaints


def _code(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode, set[str]]]:
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code":
            yield number, cell, set(cell.metadata.get("tags", []))


def _name(node: ast.expr) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))


def _inches(png: str) -> tuple[float, float]:
    header = base64.b64decode(png[:64])
    if len(header) < 24:
        return 0.0, 0.0
    width, height = struct.unpack(">II", header[16:24])
    return width / DPI, height / DPI
