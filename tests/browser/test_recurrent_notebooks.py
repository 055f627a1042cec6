"""Notebooks 06 and 07 in JupyterLab: the puzzle, the state while a sequence is read, a gate."""

import pytest

pytestmark = pytest.mark.browser


def test_the_puzzle_is_played_and_a_sequence_of_ones_own_is_read(open_notebook):
    notebook = open_notebook("06")
    notebook.run_all(seconds=400)
    assert notebook.errors() == []

    puzzle = notebook.cell("rule_puzzle(").locator(".course-panel")
    rows = puzzle.locator("table tr")
    solved = rows.count()
    puzzle.locator("button", has_text="class 1").click()
    notebook.wait_until(lambda: rows.count() == solved + 1)
    assert "of 1 right" in puzzle.inner_text()
    puzzle.locator("button", has_text="give me the rule").click()
    notebook.wait_until(lambda: "closes the one" in puzzle.inner_text())

    state = notebook.cell("explore_state,").locator(".course-panel")
    for sequence, shown in (("([<>])()", "img"), ("(x)", "pre")):
        output = notebook.enter(state, sequence, shows=shown)
    assert "'x'" in output.inner_text()
    assert notebook.errors() == []


def test_a_gate_is_opened(open_notebook):
    notebook = open_notebook("07")
    notebook.run_through("explore_gate,")
    panel = notebook.cell("explore_gate,").locator(".course-panel")
    output = panel.locator(".jp-OutputArea").first
    notebook.wait_until(lambda: output.locator("img").count() == 1)
    before = output.inner_html()
    notebook.move_slider(panel, "ArrowRight", times=3)
    notebook.wait_for_change(output, before)
    assert notebook.errors() == []
