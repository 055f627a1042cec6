"""Notebooks 08 to 11 in JupyterLab: a translation's steps, a head, a rotation, a cache."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_head_is_chosen_and_reads_a_text_of_ones_own(open_notebook):
    notebook = open_notebook("09")
    panel = notebook.run_for("show_head,")
    for text, shown in (("Zoë's 🙂 lamp", "img"), (" ", "pre"), ("A door.", "img")):
        output = notebook.enter(panel, text)
        expect(output.locator(shown)).to_have_count(1)
    with notebook.changes(output):
        notebook.move_slider(panel.locator(".widget-slider").first)
    expect(output.locator("img")).to_have_count(1)
    notebook.shows_no_errors()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("08", "step_through,"),
        ("09_scale_and_mask", "draw_lookup,"),
        ("10", "draw_clock,"),
        ("10", "explore_rope,"),
        ("11", "show_position,"),
        ("11", "cache_picture,"),
    ],
)
def test_a_slider_changes_the_picture(open_notebook, name, cell):
    notebook = open_notebook(name)
    notebook.slide(cell, times=3)
    notebook.shows_no_errors()
