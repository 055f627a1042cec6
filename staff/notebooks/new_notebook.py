"""The skeleton of a new notebook: the notebook, its claims, the checks of its tasks, its quizzes.

    python -m staff.notebooks.new_notebook 15_bert_and_encoders
    python -m staff.notebooks.new_notebook further/02_smoothing

It has the frame that all notebooks share, and two short sections to be written over, with one of
each kind of cell. Once its outputs are stored, the rules ask for nothing but more of them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import FURTHER, lesson_name
from staff.notebooks.address import read_address
from staff.notebooks.claims import claims_file
from staff.notebooks.folding import fold
from staff.notebooks.refresh import normalise_metadata

_NAME = re.compile(rf"(?:{FURTHER}/)?\d\d(?:_[a-z0-9]+)+")

_OPENING = """\
# {number} · {title}

{badge}

**Which one question does this notebook answer?**

The hook: two or three sentences about something that fails or surprises, and why it matters.

After this notebook you will be able to

- write the thing itself;
- predict what it does;
- recognise it in a paper.

**Builds on** [{before}]({before_file}): what is needed from there.

**Time** is written here in minutes by `make refresh`.

**Lectures** the slides that it follows, and where it goes on alone."""

_IMPORTS = """\
# @title Imports
from collections import Counter

from helpers.course.checks import {lesson} as check
from helpers.course.predictions import compare
from helpers.course.quiz_texts import quizzes_of
from helpers.data import corpora
from helpers.display import plotting
from helpers.display.figures import show

plotting.set_style()
quiz = quizzes_of("{quizzes}")"""

_QUESTION = """\
## 1 A question that can be felt

Begin with something that fails or surprises, on two or three lines that run, and not with a
definition. Can the letters of a text be told apart by how often they occur?"""

_EXAMPLE = """\
counts = Counter("banana")
counts.most_common()"""

_IDEA = """\
Then the idea in plain words, with its *because* and a drawing of the object; the smallest example,
which a pencil can check; and the formula, in which each symbol is named:

$$p(w) = \\frac{c(w)}{N},$$

where $c(w)$ says how often the letter $w$ occurs and $N$ how many letters there are. Here is the
algorithm, in the few lines in which a paper would write it. Its heart is the student's to write.

**Your turn.** Return the relative frequency of every symbol."""

_TURN = """\
def relative_frequencies(counts):
    \"\"\"P(w) for every symbol w, from how often each occurred.\"\"\"
    ...


relative_frequencies = check.relative_frequencies(relative_frequencies)"""

_RELATIVE_FREQUENCIES = '''\
def relative_frequencies(counts):
    """P(w) for every symbol w, from how often each occurred."""
    total = sum(counts.values())
    return {symbol: count / total for symbol, count in counts.items()}'''

_SOLUTION = f"""\
<details><summary>A solution</summary>

```python
{_RELATIVE_FREQUENCIES}
```

</details>"""

_QUIZ = 'quiz("which_sum")'

_PREDICTION = """\
## 2 The experiment

**Before you go on**: what percentage of all letters of the tales is the most frequent one?"""

_PREDICTED = "my_share = ...  # per cent of all letters"

_EXPERIMENT = """\
letters = Counter(filter(str.isalpha, corpora.lantern_bay().train.lower()))
p = relative_frequencies(letters)
names = sorted(p, key=p.__getitem__, reverse=True)[:10]
compare(my_share, 100 * p[names[0]], "share of the most frequent letter", unit="%")"""

_DRAWING = """\
# @title Draw the ten most frequent letters
shares = [100 * p[name] for name in names]
ax = plotting.bars(names, shares, xlabel="% of all letters", value_format=".1f")
show(ax, "The ten most frequent letters of the tales, and their shares; e comes first.")"""

_CLAIMS = '''\
"""What {lesson} claims: see staff/notebooks/claims.py."""

# %% {cell}
assert names[0] == "e"
assert abs(sum(p.values()) - 1) < 1e-9
'''

_CHECKS = '''\
"""Your turn in {lesson}: what it is about."""

from collections import Counter

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("{lesson}")


def counted(draw):
    yield Case("by hand", Counter("banana"))
    yield Case("any text", Counter(draw.text(40, "abcde")))


@turn(
    turns,
    "The count of a symbol over the sum of all counts.",
    cases=counted,
    slips="""
    sum(counts.values()) => len(counts)
        You divide by the number of different symbols, not by the number of all.
    / total =>
        These are counts: a frequency lies between 0 and 1.
    """,
)
{solution}
'''

_QUIZZES = """\
# The quizzes of {lesson}; ../quiz_texts.py says how they are written.

[which_sum]
question = "What do the relative frequencies of all symbols of a text sum to?"

[[which_sum.option]]
text = "the length of the text"
reason = "That is what the counts sum to; each was divided by it."

[[which_sum.option]]
text = "1"
right = true
reason = "Every token of the text is counted for exactly one symbol."
"""

_READING = """\
Read the result with the reader: what to look at, what agrees, what is inconvenient, how sure it is.
Then say what follows from it, where it fails, and what comes next.

**Exercise.** Does the order change in `corpora.python_docs()`?"""

_ANSWER = """\
<details><summary>Answer</summary>

An answer that was run, with its reason.

</details>"""

_SUMMARY = """\
## Summary

- What was shown, and nothing else.

**References.** A. Author, *Title*, where it appeared (year).

**Next** the [lab]({up}labs/README.md) that belongs to it."""


def make_notebook(root: Path, name: str) -> Path:
    """Write the skeleton of a notebook, without outputs, and what belongs to it.

    Args:
        root: of the course.
        name: of the file: its number and what it is about, such as "15_bert_and_encoders"; the
            number is the next one, or that of a notebook beside which "further/02_smoothing" is.

    Returns:
        The notebook's path.

    Raises:
        ValueError: the name has another form, its number is another one, or it is taken.
    """
    folder, name = root / "notebooks", name.removesuffix(".ipynb")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"'{name}' is no name of a notebook: give its number and what it is about in small "
            "letters, such as 15_bert_and_encoders."
        )
    path, course = folder / f"{name}.ipynb", root / "helpers/course"
    before = _core_notebook(path) if "/" in name else _last_notebook(path)
    lesson = lesson_name(path)
    quizzes = lesson if "/" in name else name
    notebook = _skeleton(root, path, before)
    (drawing,) = (cell.id for cell in notebook.cells if cell.source == _DRAWING)
    texts = {
        path: nbformat.writes(notebook) + "\n",
        claims_file(root, path): _CLAIMS.format(lesson=lesson, cell=drawing),
        course / f"checks/{lesson}.py": _CHECKS.format(
            lesson=lesson, solution=_RELATIVE_FREQUENCIES
        ),
        course / f"quizzes/{quizzes}.toml": _QUIZZES.format(lesson=lesson),
    }
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def _last_notebook(path: Path) -> Path:
    """The last notebook, if this one has the next number."""
    lessons = sorted(path.parent.glob("[0-9][0-9]_*.ipynb"))
    number, following = path.name[:2], f"{int(lessons[-1].name[:2]) + 1:02}"
    if taken := [lesson.stem for lesson in lessons if lesson.name.startswith(number)]:
        raise ValueError(f"There is a notebook {taken[0]} already: the next number is {following}.")
    if number != following:
        raise ValueError(f"'{path.stem}' leaves out a number: the next one is {following}.")
    return lessons[-1]


def _core_notebook(path: Path) -> Path:
    """The notebook beside which a further one stands, if that is not there yet."""
    if path.exists():
        raise ValueError(f"There is a further notebook {path.stem} already.")
    found = sorted(path.parents[1].glob(f"{path.name[:2]}_*.ipynb"))
    if not found:
        raise ValueError(f"There is no notebook {path.name[:2]}, beside which it could stand.")
    return found[0]


def _skeleton(root: Path, path: Path, before: Path) -> NotebookNode:
    address, number, lesson = read_address(root), path.name[:2], lesson_name(path)
    further = path.parent.name == FURTHER
    up = "../" * further
    first = nbformat.read(before, as_version=4).cells[0].source
    opening = _OPENING.format(
        number=number,
        title=path.stem[3:].replace("_", " ").capitalize(),
        badge=address.badge(path.relative_to(root / "notebooks").as_posix()),
        before=first.partition("\n")[0].removeprefix("# "),
        before_file=up + before.name,
    )
    notebook = v4.new_notebook(
        cells=[
            _text(opening, "slide"),
            _code(address.bootstrap(), "skip"),
            _code(
                _IMPORTS.format(lesson=lesson, quizzes=lesson if further else number),
                "skip",
                ["folded"],
            ),
            _text(_QUESTION, "slide"),
            _code(_EXAMPLE, tags=["nbval-check-output"]),
            _text(_IDEA),
            _code(_TURN, tags=["your-turn"]),
            _text(_SOLUTION, "skip"),
            _code(_QUIZ),
            _text(_PREDICTION, "slide"),
            _code(_PREDICTED, tags=["prediction"]),
            _code(_EXPERIMENT, tags=["answer"]),
            _code(_DRAWING, tags=["folded"]),
            _text(_READING),
            _text(_ANSWER, "skip"),
            _text(_SUMMARY.format(up=up), "slide"),
        ]
    )
    fold(notebook)
    normalise_metadata(notebook)
    return notebook


def _text(source: str, slide: str = "-") -> NotebookNode:
    return v4.new_markdown_cell(source, metadata={"slideshow": {"slide_type": slide}})


def _code(source: str, slide: str = "-", tags: Sequence[str] = ()) -> NotebookNode:
    metadata: dict[str, Any] = {"slideshow": {"slide_type": slide}}
    if tags:
        metadata["tags"] = list(tags)
    return v4.new_code_cell(source, metadata=metadata)


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.notebooks.new_notebook",
        description="Write the skeleton of a new notebook.",
    )
    parser.add_argument("name", help="15_bert_and_encoders, or further/02_smoothing")
    root = find_root()
    try:
        path = make_notebook(root, parser.parse_args(arguments).name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"wrote {path.relative_to(root).as_posix()}, and in helpers/course its checks and quizzes"
    )
    print(f"Write it, then store its outputs: make refresh NOTEBOOK={path.stem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
