"""Lab 01 as a student does it: two wrong answers, repaired, and the rest left blank."""

import re

import pytest
from playwright.sync_api import expect

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


def test_a_student_answers_wrongly_and_then_rightly(open_notebook):
    notebook = open_notebook("lab01")
    notebook.run_all()
    tasks = solutions(SOURCE)
    untouched = re.compile("not attempted yet|own version")
    for task in tasks:
        expect(notebook.outputs(f"check.{task}(")).to_contain_text(untouched)
    for task, answer in list(tasks.items())[:2]:
        wrong = next(mutant for mutant in MUTANTS if mutant.task == task)
        type_answer(notebook, task, patched(SOURCE, wrong))
        expect(notebook.run_cell(f"check.{task}(")).to_contain_text(f"✗ {task}")
        type_answer(notebook, task, answer)
        expect(notebook.run_cell(f"check.{task}(")).to_contain_text(f"✓ {task}")
