"""Notebook 03 and the further 04_skip_gram in JupyterLab: their widgets, moved by hand."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


def test_merges_are_stepped_through_and_a_word_of_ones_own_gets_its_tree(open_notebook):
    notebook = open_notebook("03")
    steps = notebook.run_for("show_state,")
    picture = steps.locator("img")
    first = picture.get_attribute("src")
    notebook.move_slider(steps.locator(".widget-slider"), times=2)
    notebook.wait_until(lambda: picture.get_attribute("src") != first)
    tree = notebook.run_for("    show_tree,")
    expect(notebook.enter(tree, " harbour").locator("img")).to_have_count(1)
    notebook.shows_no_errors()


def test_neighbours_are_shown_and_unknown_words_are_answered(open_notebook):
    notebook = open_notebook("04_skip_gram")
    panel = notebook.run_for("neighbours_of,")
    expect(notebook.enter(panel, "monday").locator("img")).to_have_count(1)
    expect(notebook.enter(panel, "mondai").locator("pre")).to_contain_text("did you mean 'monday'")
    notebook.shows_no_errors()
