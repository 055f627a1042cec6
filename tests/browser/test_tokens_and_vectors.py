"""Notebooks 03 and 04 in JupyterLab: their widgets, moved by hand."""

import re

import pytest

pytestmark = pytest.mark.browser


def test_merges_are_stepped_through_and_a_text_of_ones_own_is_cut(open_notebook):
    notebook = open_notebook("03")
    notebook.run_all()
    assert notebook.errors() == []

    merges = notebook.cell("show_merges,").locator(".course-panel")
    output = merges.locator(".jp-OutputArea").first
    before = output.inner_html()
    label = notebook.page.locator(".widget-label", has_text=re.compile("^merges$"))
    notebook.move_slider(merges.locator(".widget-slider", has=label), "ArrowRight")
    assert "merge 51:" in notebook.wait_for_change(output, before)

    cut = notebook.cell("look_at,").locator(".course-panel")
    output = notebook.enter(cut, "<b>été</b> 🙂")
    assert "12 characters, 17 bytes" in output.inner_text()
    assert notebook.errors() == []


def test_neighbours_are_shown_and_unknown_words_are_answered(open_notebook):
    notebook = open_notebook("04")
    notebook.run_all(seconds=400)
    assert notebook.errors() == []

    panel = notebook.cell("neighbours_of,").locator(".course-panel")
    for word, shown in (("monday", "img"), ("mondai", "pre")):
        output = notebook.enter(panel, word, shows=shown)
    assert "did you mean 'monday'" in output.inner_text()
    assert notebook.errors() == []
