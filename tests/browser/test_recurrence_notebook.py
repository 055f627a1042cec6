"""Notebook 05 in JupyterLab: the gradient runs back along the unrolled network, step by step."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_gradient_is_stepped_back_through_time(open_notebook):
    notebook = open_notebook("05")
    panel = notebook.run_for("draw_backward,")
    output = panel.locator(".jp-OutputArea").first
    expect(output.locator("img")).to_have_count(1)
    with notebook.changes(output):
        notebook.move_slider(panel, times=2)
    expect(output.locator("img")).to_have_count(1)
    notebook.shows_no_errors()
