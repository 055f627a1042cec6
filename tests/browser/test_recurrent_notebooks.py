"""Notebooks 05 to 07 in JupyterLab: a gradient, a puzzle, a stack, a game, a gate, a cell."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_the_gradient_is_stepped_back_through_time(open_notebook):
    notebook = open_notebook("05")
    notebook.slide("draw_backward,", times=2)
    notebook.shows_no_errors()


def test_a_puzzle_a_stack_and_a_network(open_notebook):
    notebook = open_notebook("06")
    puzzle = notebook.run_for("rule_puzzle(")
    rows = puzzle.locator("table tr")
    solved = rows.count()
    puzzle.locator("button", has_text="class 1").click()
    expect(rows).to_have_count(solved + 1)
    expect(puzzle).to_contain_text("of 1 right")
    puzzle.locator("button", has_text="give me the rule").click()
    expect(puzzle).to_contain_text("closes something that is open")

    notebook.slide("read_with_stack,")

    game = notebook.run_for("fool_the_network(")
    for tried, (signs, truth) in enumerate(
        (("([)]()", "not balanced"), ("()()()", "balanced")), start=1
    ):
        game.locator("input[type=text]").fill(signs)
        game.locator("input[type=text]").press("Enter")
        expect(game.locator("table tr")).to_have_count(tried + 1)
        expect(game.locator("table tr").nth(1)).to_contain_text(truth)
    expect(game).to_contain_text("3 tries left")
    game.locator("button", has_text="new round").click()
    expect(game).to_contain_text("5 tries left")
    notebook.shows_no_errors()


def test_a_gate_is_opened_and_an_lstm_stepped_through(open_notebook):
    notebook = open_notebook("07")
    notebook.slide("explore_gate,", times=3)
    notebook.slide("animate(\n    lstm_step,")
    notebook.shows_no_errors()
