"""Notebook 02 in JupyterLab: its widgets, moved by hand."""

import re

import pytest

from helpers.data import corpora

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def passage():
    """The first passage of the guessing game, as the notebook makes it."""
    tale = corpora.lantern_bay().validation_documents[0].text.split("\n\n", 1)[1]
    return re.sub("[^A-Z]+", " ", tale.upper()).strip()


def test_the_sampler_and_a_round_of_the_guessing_game(open_notebook, passage):
    notebook = open_notebook("02")
    notebook.run_all()
    assert notebook.errors() == []

    # The sampler: another n writes another text, and back again the same.
    sampler = notebook.cell("explore(").locator(".course-panel")
    text = sampler.locator(".jp-OutputArea-output pre")
    label = notebook.page.locator(".widget-label", has_text=re.compile("^n$"))
    slider = sampler.locator(".widget-slider", has=label)
    at_four = text.inner_html()
    notebook.move_slider(slider, "ArrowRight", times=2)
    at_six = notebook.wait_for_change(text, at_four)
    assert at_six != at_four
    notebook.move_slider(slider, "ArrowLeft", times=2)
    notebook.wait_until(lambda: text.inner_html() == at_four)

    # The game: a wrong key is used up, right keys uncover the letters and are counted.
    game = notebook.cell("guessing_game(").locator(".course-panel")
    keys = game.locator(".guess-key")
    assert keys.count() == 27

    def press(symbol):
        name = "space" if symbol == " " else symbol
        before = game.inner_html()
        keys.get_by_text(name, exact=True).click()
        notebook.wait_for_change(game, before)

    hidden = passage[30:70]
    press("Z" if hidden[0] != "Z" else "X")
    assert game.locator(".guess-key[disabled]").count() == 1
    for symbol in hidden[:12]:
        press(symbol)
    cells = game.locator("tr", has_text="You").locator("td").all_inner_texts()
    assert cells[0] == "12"
    assert cells[1] == "92%"  # all but the first were right at once
    assert game.locator("tr", has_text="The model").locator("td").first.inner_text() == "12"

    before = game.inner_html()
    game.get_by_text("Let the model guess").click()
    assert "The model found" in notebook.wait_for_change(game, before)
    for symbol in hidden[13:]:
        press(symbol)
    assert "The passage is finished" in game.inner_text()
    assert notebook.errors() == []
