"""Notebooks 08 to 11 in JupyterLab: a sentence of one's own, a head, a rotation, a cache."""

import pytest

pytestmark = pytest.mark.browser


def test_a_sentence_of_ones_own_is_translated_and_an_unknown_word_is_answered(open_notebook):
    notebook = open_notebook("08")
    notebook.run_all(seconds=600)
    assert notebook.errors() == []
    panel = notebook.cell("translate_and_draw,").locator(".course-panel")
    for sentence, shown in (("le roi dort .", "img"), ("le roi dormait .", "pre")):
        output = notebook.enter(panel, sentence, shows=shown)
    assert "'dormait'" in output.inner_text()
    assert notebook.errors() == []


def test_a_head_is_chosen_and_reads_a_text_of_ones_own(open_notebook):
    notebook = open_notebook("09")
    notebook.run_all(seconds=600)
    assert notebook.errors() == []
    panel = notebook.cell("show_head,").locator(".course-panel")
    for text, shown in (("Zoë's 🙂 lamp", "img"), (" ", "pre")):
        output = notebook.enter(panel, text, shows=shown)
    output = notebook.enter(panel, "A door.", shows="img")
    before = output.inner_html()
    notebook.move_slider(panel.locator(".widget-slider").nth(1), "ArrowRight")
    notebook.wait_for_change(output, before)
    assert notebook.errors() == []


@pytest.mark.parametrize(("name", "cell"), [("10", "explore_rope,"), ("11", "cache_picture,")])
def test_a_slider_changes_the_picture(open_notebook, name, cell):
    notebook = open_notebook(name)
    notebook.run_through(cell, seconds=400)
    panel = notebook.cell(cell).locator(".course-panel")
    output = panel.locator(".jp-OutputArea").first
    notebook.wait_until(lambda: output.locator("img").count() == 1)
    before = output.inner_html()
    notebook.move_slider(panel, "ArrowRight", times=3)
    notebook.wait_for_change(output, before)
    assert notebook.errors() == []
