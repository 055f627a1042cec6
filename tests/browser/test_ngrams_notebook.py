"""Notebook 02 in JupyterLab."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_what_is_folded_a_task_and_what_moves(open_notebook):
    notebook = open_notebook("02")
    # A folded cell shows its title alone; an answer shows the first line of what came out.
    folded = notebook.page.locator(".jp-InputPlaceholder", has_text="Imports")
    expect(folded.first).to_be_visible()
    answers = notebook.page.locator(".jp-OutputPlaceholder", has_text="different n-grams")
    expect(answers.first).to_be_visible()

    # A task left empty says so, and a wrong answer gets its reason.
    task = "check.unseen_mass("
    notebook.run_for(task)
    expect(notebook.outputs(task)).to_contain_text("not attempted yet")
    notebook.write(task, "...", "return sum(count == 1 for count in counts.values())")
    expect(notebook.run_cell(task)).to_contain_text("which share of all tokens is it?")
    notebook.shows_no_errors()

    # The window slides: each step is another picture, and back again the first.
    steps = notebook.run_for("animate(")
    picture = steps.locator("img")
    first = picture.get_attribute("src")
    notebook.move_slider(steps.locator(".widget-slider"), "ArrowRight", times=2)
    notebook.wait_until(lambda: picture.get_attribute("src") != first)
    notebook.move_slider(steps.locator(".widget-slider"), "ArrowLeft", times=2)
    notebook.wait_until(lambda: picture.get_attribute("src") == first)
    notebook.shows_no_errors()
