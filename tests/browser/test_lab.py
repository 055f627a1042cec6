"""Lab 01 as a student does it: a wrong answer, a repaired one, and the rest left blank."""

import pytest

from helpers.course.environment import find_root
from staff.authoring.labs import lab_sources
from tests.labs.lab01_mutants import MUTANTS
from tests.labs.mutation import patched, solutions

pytestmark = pytest.mark.browser
SOURCE = lab_sources(find_root())["lab01"]


def type_answer(notebook, task, source):
    """Put the cursor into the cell of a task's answer, type over what is there, and run it."""
    cell = notebook.cell(f"def {task}(")
    cell.locator(".cm-content").first.click()
    notebook.page.keyboard.press("ControlOrMeta+a")
    notebook.page.keyboard.insert_text(source)
    notebook.execute("notebook:run-cell", 60)


def check(notebook, task):
    """Run the check cell of a task; what stands below it."""
    cell = notebook.cell(f"check.{task}(")
    cell.locator(".jp-InputArea").first.click()
    notebook.execute("notebook:run-cell", 60)
    return cell.locator(".jp-OutputArea").first.inner_text()


def test_a_student_answers_wrongly_and_then_rightly(open_notebook):
    notebook = open_notebook("lab01")
    notebook.run_all(seconds=300)
    assert notebook.errors() == []
    said = [check(notebook, task) for task in solutions(SOURCE)]
    assert all("not attempted yet" in words or "own version" in words for words in said)
    for task, answer in solutions(SOURCE).items():
        wrong = next(mutant for mutant in MUTANTS if mutant.task == task)
        type_answer(notebook, task, patched(SOURCE, wrong))
        assert f"✗ {task}" in check(notebook, task)
        type_answer(notebook, task, answer)
        assert f"✓ {task}" in check(notebook, task)
    notebook.run_all(seconds=300)
    assert notebook.errors() == []
    shown = [check(notebook, task) for task in solutions(SOURCE)]
    assert all(words.startswith("✓") for words in shown)
