"""Notebooks 12 to 14 in JupyterLab: a row of the table, a rate, stories, a rule, a desk."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_the_sliders_of_the_parameter_count_and_the_table(open_notebook):
    notebook = open_notebook("12")
    panel = notebook.run_for("budget,")
    with notebook.changes(panel.locator(".jp-OutputArea").first):
        notebook.move_slider(panel, times=3)
    table = notebook.run_for("explain,")
    table.locator("select").select_option("T5")
    expect(table.locator(".jp-OutputArea").first).to_contain_text("stated 11B")
    notebook.shows_no_errors()


def test_the_schedule_of_the_rate(open_notebook):
    notebook = open_notebook("13")
    notebook.slide("schedule,", times=3)
    notebook.shows_no_errors()


def test_stories_rules_the_desk_and_surprise(open_notebook):
    notebook = open_notebook("14")
    for cell in ("one_more,", "growing,", "three_rules,"):
        panel = notebook.run_for(cell)
        with notebook.changes(panel.locator(".jp-OutputArea").first):
            notebook.move_slider(panel.locator(".widget-slider").first)
    desk = notebook.run_for("writing_desk(")
    with notebook.changes(desk):
        desk.get_by_role("button", name="Write").click()
    panel = notebook.run_for("surprise,")
    output = notebook.enter(panel, "The sea was calm.")
    expect(output).to_contain_text("bits per token")
    expect(notebook.enter(panel, "")).to_contain_text("Type a text.")
    notebook.shows_no_errors()
