"""The harness for tasks inside lessons, on a notebook of two tasks."""

import dataclasses
import sys
import types

import matplotlib as mpl
import nbformat
import pytest
from nbformat import v4

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn
from tests.labs.mutation import Mutant, Rewrite
from tests.lessons import your_turn
from tests.lessons.your_turn import (
    handed_over,
    judge,
    judge_mutant,
    judge_rewrite,
    judge_slip,
    lacking,
    lessons,
    slips,
    turns,
)

IMPORTS = "import matplotlib as mpl\nimport toy_checks as check\n\nmpl.rcParams['font.size'] = 99"
SQUARE = Mutant("double", "a square", "x + x", "x * x", "itself")
PRODUCT = Rewrite("double", "by a product", "def double(x):\n    return 2 * x")


@pytest.fixture(autouse=True)
def toy_checks(monkeypatch):
    """A module of checks, as a lesson has it."""
    turns = Lab("toy")

    @turns.task(lambda x: 2 * x)
    def double(trial):
        x = 3.0 if trial.integer(0, 10) < 5 else 4.0  # with the seeds 0, 1, 2: 3, 4, 4
        trial.equals(trial.call(x), 2 * x, "twice", "Add it to itself.", given=x)

    @turns.task(lambda x: 4 * x)
    def four_times(trial):
        trial.equals(trial.call(3), 12, "four times", "Twice, and twice again.", given=3)

    module = types.ModuleType("toy_checks")
    vars(module).update(turns=turns, double=double, four_times=four_times)
    monkeypatch.setitem(sys.modules, "toy_checks", module)
    return module


def task(name, body):
    blank = f"def {name}(x):\n    ...\n\n\n{name} = check.{name}({name})\nprint({name}(1))"
    solution = f"```python\ndef {name}(x):\n    {body}\n```"
    return [
        v4.new_code_cell(blank, metadata={"tags": ["your-turn"]}),
        v4.new_markdown_cell(f"<details><summary>A solution</summary>\n\n{solution}\n\n</details>"),
    ]


def write(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(v4.new_notebook(cells=list(cells)), path)
    return path


@pytest.fixture
def path(tmp_path):
    return write(
        tmp_path / "notebooks" / "99_toy.ipynb",
        v4.new_markdown_cell("# Toy"),
        v4.new_code_cell("1 / 0  # the set-up cell does not run"),
        v4.new_code_cell(IMPORTS),
        *task("double", "return x + x"),
        v4.new_code_cell("1 / 0  # nor does what only shows something"),
        *task("four_times", "return double(double(x))"),
    )


def test_tasks_are_found_with_their_parts(path):
    double, four = turns(path).values()
    assert (double.task, double.number, double.given, double.kept) == (
        "double",
        4,
        "double",
        "double",
    )
    assert double.blank == "def double(x):\n    ..."
    assert double.solution == "def double(x):\n    return x + x"
    assert (four.task, four.number) == ("four_times", 7)


def test_lessons_are_the_notebooks_in_which_the_student_writes(path, tmp_path):
    other = path.with_name("98_x.ipynb")
    write(other, v4.new_markdown_cell("# X"), v4.new_code_cell("double = check.double(double)"))
    write(tmp_path / "notebooks/labs/lab01_x.ipynb", *task("double", "return x"))
    assert lessons(tmp_path) == {"notebook99": path}


def test_answers_have_the_imports_and_the_course_s_versions_before(path, toy_checks):
    check, answer = handed_over(path, "four_times", turns(path)["four_times"].solution)
    assert check is toy_checks.four_times
    assert answer(5) == 20
    assert answer.__globals__["double"] is toy_checks.double.fallback
    assert mpl.rcParams["font.size"] != 99


def test_an_answer_is_judged_with_every_seed(path):
    assert [v.right for v in judge(path, "double", turns(path)["double"].solution)] == [True] * 3
    assert [v.attempted for v in judge(path, "double", turns(path)["double"].blank)] == [False] * 3
    right = [v.right for v in judge(path, "double", "def double(x):\n    return 8.0")]
    assert right == [False, True, True]


def test_wrong_answers_that_are_caught_and_missed(path):
    assert judge_mutant(path, SQUARE).complaint.hint == "Add it to itself."
    sometimes = dataclasses.replace(SQUARE, new="8.0")  # right for some of the inputs
    assert judge_mutant(path, sometimes).complaint is None
    blank = dataclasses.replace(SQUARE, old="return x + x", new="...")
    assert judge_mutant(path, blank).complaint is None


def test_right_answers_that_pass_and_are_rejected(path):
    assert judge_rewrite(path, PRODUCT).right
    half = Rewrite("double", "for half of the inputs", "def double(x):\n    return 8.0")
    assert judge_rewrite(path, half).complaint.rule == "twice"
    same = dataclasses.replace(PRODUCT, source="def double(x):\n    return (x + x)  # the same")
    with pytest.raises(ValueError, match="this is the printed solution"):
        judge_rewrite(path, same)


@pytest.fixture
def as_data(monkeypatch):
    """The slips of a module of checks that is written as data, in the place of notebook 99."""
    lab = Lab("toy")

    @turn(
        lab,
        "Add it to itself.",
        cases=lambda draw: [Case("twice", 3.0 if draw.integer(0, 10) < 5 else 4.0)],
        slips="""
        x + x => x * x
            That is the square.
        x + x => 8.0
            It depends on x.
        x + x => x + x + 0
            That is nothing.
        """,
    )
    def double(x):
        return x + x

    module = types.ModuleType("helpers.course.checks.notebook99")
    module.turns, module.__spec__ = lab, object()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    yield slips("notebook99")
    slips.cache_clear()


def test_slips_that_are_told_or_not(as_data):
    square, sometimes, nothing = as_data
    assert (square.task, square.name, square.says) == (
        "double",
        "x + x => x * x",
        "That is the square.",
    )
    assert judge_slip(square).complaint.hint == square.says
    assert judge_slip(sometimes).complaint is None  # right for some of the inputs
    assert judge_slip(nothing).complaint is None


def test_slips_are_wrong_answers(as_data, path):
    module = types.SimpleNamespace(MUTANTS=[], REWRITES=[PRODUCT])
    assert lacking(path, module) == [
        "four_times has 0 wrong answers, not 3",
        "four_times has 0 right answers, not 1",
    ]


def test_a_cell_of_the_student_s_without_a_check(tmp_path):
    cell, solution = task("double", "return x")
    cell.source = "double = ..."
    path = write(tmp_path / "a.ipynb", cell, solution)
    with pytest.raises(ValueError, match=r"Cell 1 of a\.ipynb has no line 'name = check\.task"):
        turns(path)


def test_the_command_prints_a_table(path, tmp_path, monkeypatch, capsys):
    module = types.SimpleNamespace(MUTANTS=[SQUARE], REWRITES=[PRODUCT])
    monkeypatch.setattr(your_turn, "find_root", lambda: tmp_path)
    monkeypatch.setattr(your_turn, "answers", {"notebook99": module}.get)
    assert your_turn.main(["99"]) == 1
    printed = capsys.readouterr().out
    assert "1 wrong answers, 1 right ones; judged wrongly: 0" in printed
    assert "double has 1 wrong answers, not 3" in printed
    monkeypatch.setattr(your_turn, "lacking", lambda path, module: [])
    assert your_turn.main(["99"]) == 0
