"""Notebooks 12 to 14 in JupyterLab: a row of the table, a step, rules, a cache, a desk."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_the_sliders_of_the_parameter_count_and_the_table(open_notebook):
    notebook = open_notebook("12_sizes")
    panel = notebook.run_for("budget,")
    with notebook.changes(panel.locator(".jp-OutputArea").first):
        notebook.move_slider(panel, times=3)
    table = notebook.run_for("explain,")
    table.locator("select").select_option("T5")
    expect(table.locator(".jp-OutputArea").first).to_contain_text("stated 11B")
    notebook.shows_no_errors()


def test_one_step_of_training(open_notebook):
    notebook = open_notebook("13")
    panel = notebook.run_for("def one_step(")
    with notebook.changes(panel):
        notebook.move_slider(panel)
    notebook.shows_no_errors()


def test_rules_the_cache_and_the_desk(open_notebook):
    notebook = open_notebook("14")
    for cell in ("three_rules,", "growing,"):
        panel = notebook.run_for(cell)
        with notebook.changes(panel.locator(".jp-OutputArea").first):
            notebook.move_slider(panel.locator(".widget-slider").first)
    desk = notebook.run_for("writing_desk(")
    with notebook.changes(desk):
        desk.get_by_role("button", name="Write").click()
    notebook.shows_no_errors()
