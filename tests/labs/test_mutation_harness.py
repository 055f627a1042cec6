"""The harness of the mutation tests, on a lab of two tasks."""

import dataclasses
import re
import sys
import types

import nbformat
import pytest
from nbformat import v4

from helpers.course.checks.lab import Lab
from staff.notebooks.address import FIRST_LINE
from tests.labs.mutation import (
    Mutant,
    Rewrite,
    caught,
    judge_mutant,
    judge_rewrite,
    lacking,
    mutants,
    patched,
    rewrites,
    run_cells,
    slips,
    solutions,
    table,
)

DOUBLE = "def double(x):\n    ### BEGIN SOLUTION\n    return x + x\n    ### END SOLUTION"
FOUR = (
    "def four_times(x):\n    ### BEGIN SOLUTION\n    i = 0\n    while i < 2:\n        i += 1\n"
    "        x = double(x)\n    return x\n    ### END SOLUTION"
)
RIGHT = Rewrite("double", "by a product", "def double(x):\n    return 2 * x")


@pytest.fixture(autouse=True)
def toy_checks(monkeypatch):
    """A module of checks, as a lab has it."""
    lab = Lab("toy")

    @lab.task(lambda x: 2 * x)
    def double(trial):
        x = 3.0 if trial.integer(0, 10) < 5 else 4.0  # with the seeds 0, 1, 2: 3, 4, 4
        trial.equals(trial.call(x), 2 * x, "twice", "Add it to itself.", given=x)

    @lab.task(lambda x: 4 * x)
    def four_times(trial):
        trial.equals(trial.call(3), 12, "four times", "Twice, and twice again.", given=3)

    module = types.ModuleType("toy_checks")
    vars(module).update(lab=lab, score=lab.score, double=double, four_times=four_times)
    monkeypatch.setitem(sys.modules, "toy_checks", module)
    return module


def code(source, **meta):
    kinds = {"grade": False, "solution": False, "locked": False, "schema_version": 3, **meta}
    return v4.new_code_cell(source, metadata={"nbgrader": kinds} if meta else {})


def task(name, solution):
    test = (
        f"note = '{name}'\n{name} = check.{name}({name})\n### BEGIN HIDDEN TESTS\nhidden = True\n"
        f'check.score("{name}", seed=0)\n### END HIDDEN TESTS'
    )
    return [
        code(solution, solution=True, grade_id=f"{name}_answer"),
        code(test, grade=True, locked=True, points=1, grade_id=name),
    ]


@pytest.fixture
def path(tmp_path):
    cells = [
        code(f"{FIRST_LINE}\n1 / 0"),
        code("import toy_checks as check\n\nruns = []"),
        *task("double", DOUBLE),
        code("runs.append(double(1))\nprint(runs)"),
        *task("four_times", FOUR),
        code("def more():\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION", solution=True),
        code("more()\ndone = four_times(1)"),
    ]
    file = tmp_path / "toy.ipynb"
    nbformat.write(v4.new_notebook(cells=cells), file)
    return file


def test_solutions_have_no_markers(path):
    assert list(solutions(path)) == ["double", "four_times"]  # the stretch task has no check
    assert solutions(path)["double"] == "def double(x):\n    return x + x"


def test_cells_run_in_order(path, capsys):
    namespace = run_cells(path)
    assert namespace["runs"] == [2]
    assert namespace["done"] == 4
    assert "hidden" not in namespace  # hidden blocks do not run, nor does the set-up cell
    assert namespace["__name__"] == "__main__"
    assert capsys.readouterr().out == ""


def test_a_solution_is_replaced(path, toy_checks, capsys):
    wrong = "def double(x):\n    return 3 * x"
    namespace = run_cells(path, {"double": wrong}, until="double")
    assert namespace["double"](1) == 3
    assert "note" not in namespace
    # The check hands back the course's own version, and the rest still runs.
    assert run_cells(path, {"double": wrong})["done"] == 4
    assert toy_checks.double.judge(namespace["double"]).complaint.rule == "twice"
    blank = dict.fromkeys(solutions(path), "def double(x):\n    raise NotImplementedError")
    assert run_cells(path, {"double": blank["double"]})["done"] == 4


def test_code_has_no_flags_of_the_harness(path):
    source = "def double(x: float):\n    return 2 * x"
    assert run_cells(path, {"double": source}, until="double")["double"].__annotations__ == {
        "x": float  # not "float": annotations of the harness are postponed
    }


@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        (Mutant("double", "a square", "x + x", "x * x", "itself"), "twice"),
        (Mutant("double", "an error", "x + x", "x + 'x'", "TypeError"), "without an error"),
        (Mutant("four_times", "eight times", "i < 2", "i < 3", "24"), "four times"),
        (Mutant("four_times", "no end", "i += 1", "pass", "comes to an end"), "20 s"),
    ],
)
def test_wrong_answers_are_caught(path, mutant, words, monkeypatch):
    monkeypatch.setattr("tests.labs.mutation.TIME_LIMIT", 0.1)
    monkeypatch.setenv("COURSE_SPEED", "1")
    verdict = judge_mutant(path, mutant)
    assert words in verdict.complaint.rule
    assert caught(mutant, verdict)
    assert not caught(dataclasses.replace(mutant, says="elsewhere"), verdict)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + x", "2 * x"),  # right
        ("return x + x", "raise NotImplementedError"),  # not attempted
        ("x + x", "8.0"),  # right for some of the inputs
    ],
)
def test_answers_that_pass_are_missed(path, old, new):
    mutant = Mutant("double", "no fault", old, new, "twice")
    verdict = judge_mutant(path, mutant)
    assert verdict.complaint is None
    assert not caught(mutant, verdict)


def test_marking_must_find_it_too(path, toy_checks, monkeypatch):
    monkeypatch.setattr(toy_checks.lab, "score", lambda name, seed: None)
    assert judge_mutant(path, Mutant("double", "a square", "x + x", "x * x", "twice")).right


def test_one_answer_leaves_the_others_alone(path):
    wrong = Mutant("double", "a square", "x + x", "x * x", "twice")
    assert not judge_mutant(path, wrong).right
    assert judge_rewrite(path, RIGHT).right
    right = Rewrite("four_times", "twice twice", "def four_times(x):\n    return double(double(x))")
    assert judge_rewrite(path, right).right


def test_a_rewrite_that_is_rejected(path):
    half = Rewrite("double", "for half of the inputs", "def double(x):\n    return 8.0")
    verdict = judge_rewrite(path, half)
    assert verdict.complaint.rule in ("twice", "it is right on hidden inputs")


@pytest.mark.parametrize(
    ("mutant", "message"),
    [
        (Mutant("double", "m", "y", "z", ""), "occurs 0 times"),
        (Mutant("double", "m", "x", "z", ""), "occurs 3 times"),
        (Mutant("double", "m", "x + x", "x +", ""), "not valid Python"),
        (Mutant("double", "m", "x + x", "(x + x)  # again", ""), "changes nothing"),
        (Mutant("triple", "m", "x", "z", ""), "no task of toy.ipynb; there are: double, four"),
    ],
)
def test_patches_that_do_not_fit(path, mutant, message):
    with pytest.raises(ValueError, match=message):
        patched(path, mutant)


def test_the_reference_is_no_rewrite(path):
    same = Rewrite("double", "the same", "def double(x):\n    return (x + x)  # the same")
    with pytest.raises(ValueError, match="this is the reference"):
        judge_rewrite(path, same)


def test_magics_are_refused(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = "%time 1"
    nbformat.write(notebook, path)
    with pytest.raises(ValueError, match=r"Cell 2 of toy\.ipynb is not plain Python"):
        run_cells(path)


def test_the_table(path, capsys):
    good = Mutant("double", "a square", "x + x", "x * x", "twice")
    silent = Mutant("double", "right after all", "x + x", "x * 2", "twice")
    other = Mutant("double", "one more", "x + x", "x + x + 1", "never said")
    bad = Rewrite("double", "wrong after all", "def double(x):\n    return x")
    assert table(path, [good], [RIGHT]) == []
    faults = table(path, [good, silent, other], [RIGHT, bad])
    assert [fault.split(":")[0] for fault in faults] == [
        "double, right after all",
        "double, one more",
        "double, wrong after all",
    ]
    printed = capsys.readouterr().out
    for word in ("caught", "MISSED", "OTHER WORDS", "passes", "REJECTED"):
        assert word in printed
    assert "3 wrong answers, 2 right ones; judged wrongly: 3" in printed


def test_too_few_answers(path):
    mutants = [Mutant("double", str(i), "x + x", "x", "twice") for i in range(5)]
    found = lacking(path, [*mutants, mutants[0], Mutant("triple", "m", "a", "b", "c")], [RIGHT] * 2)
    assert found == [
        "four_times has 0 wrong answers, not 5",
        "'triple' is no task",
        "double and 0 occurs 2 times",
        "four_times has 0 right answers, not 2",
        "double and by a product occurs 2 times",
    ]


AS_TEXT = r"""
== double
a square | x + x => x * x | itself
signs | return x + x => \
    return x | y | twice
nothing |   return x + x => | ends without return
some lines | a negative number
     def double(x):
-    return x + x
+    x = abs(x)
+
+    return x + x

== four_times
no end | i += 1 => pass | comes to an end
"""


def test_wrong_answers_as_text():
    assert mutants(AS_TEXT) == [
        Mutant("double", "a square", "x + x", "x * x", "itself"),
        Mutant("double", "signs", "return x + x", "return x | y", "twice"),
        Mutant("double", "nothing", "return x + x", "", "ends without return"),
        Mutant(
            "double",
            "some lines",
            "    def double(x):\n    return x + x",
            "    def double(x):\n    x = abs(x)\n\n    return x + x",
            "a negative number",
        ),
        Mutant("four_times", "no end", "i += 1", "pass", "comes to an end"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name | old => new", "double: 'name | old => new' is not of the form"),
        ("name | old | words", "'name | old | words' is not of the form"),
        ("name | => new | words", "is not of the form"),
        ("name | a => b | words\n-    a", "is not of the form 'name | words'"),
        ("-    a\n+    b", "'-    a' stands below no name"),
    ],
)
def test_wrong_answers_that_are_no_such_text(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        mutants(f"== double\n{text}\n")


def test_right_answers_as_text():
    text = (
        "== double | by a product\ndef double(x):\n    return 2 * x\n\n== four_times | one\n\nx\n"
    )
    assert rewrites(text) == [RIGHT, Rewrite("four_times", "one", "x")]


def test_the_slips_of_a_lab_are_wrong_answers():
    found = slips("lab03")
    assert {slip.task for slip in found} >= {"first_error", "smallest_window"}
    assert all(slip.says and slip.name == slip.old for slip in found)
