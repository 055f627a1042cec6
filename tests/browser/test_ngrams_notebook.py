"""Notebook 02 in JupyterLab: its widgets, moved by hand."""

import re

import pytest
from playwright.sync_api import expect

from helpers.data import corpora

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def passage():
    """The first passage of the guessing game, as the notebook makes it."""
    tale = corpora.lantern_bay().validation_documents[0].text.split("\n\n", 1)[1]
    return re.sub("[^A-Z]+", " ", tale.upper()).strip()


def test_what_is_folded_a_task_the_sampler_the_game_and_what_moves(open_notebook, passage):
    notebook = open_notebook("02")
    # A folded cell shows its title alone; an answer shows the first line of what came out.
    folded = notebook.page.locator(".jp-InputPlaceholder", has_text="Imports")
    expect(folded.first).to_be_visible()
    answers = notebook.page.locator(".jp-OutputPlaceholder", has_text="memory 0:")
    expect(answers.first).to_be_visible()

    # A task left empty says so, and a wrong answer gets its reason.
    task = "check.next_from_book("
    notebook.run_for(task)
    expect(notebook.outputs(task)).to_contain_text("not attempted yet")
    notebook.write(task, "...", "return book[book.find(context, start)]")
    expect(notebook.run_cell(task)).to_contain_text("the answer stands after it")
    notebook.shows_no_errors()

    # The window slides: each step is another picture, and back again the first.
    steps = notebook.run_for("animate(")
    picture = steps.locator("img")
    first = picture.get_attribute("src")
    notebook.move_slider(steps.locator(".widget-slider"), "ArrowRight", times=2)
    notebook.wait_until(lambda: picture.get_attribute("src") != first)
    notebook.move_slider(steps.locator(".widget-slider"), "ArrowLeft", times=2)
    notebook.wait_until(lambda: picture.get_attribute("src") == first)

    # The sampler: another n writes another text, and back again the same.
    sampler = notebook.run_for("explore(")
    text = sampler.locator(".jp-OutputArea-output pre")
    label = notebook.page.locator(".widget-label", has_text=re.compile("^n$"))
    slider = sampler.locator(".widget-slider", has=label)
    at_four = text.inner_text()
    with notebook.changes(text):
        notebook.move_slider(slider, "ArrowRight", times=2)
    expect(text).not_to_have_text(at_four)
    notebook.move_slider(slider, "ArrowLeft", times=2)
    notebook.wait_until(lambda: text.inner_text() == at_four)

    # The game: a wrong key is used up, right keys uncover the letters and are counted.
    game = notebook.run_for("guessing_game(")
    keys = game.locator(".guess-key")
    expect(keys).to_have_count(27)

    cells = game.locator("tr", has_text="You").locator("td")

    def press(symbol):
        name = "space" if symbol == " " else symbol
        keys.get_by_text(name, exact=True).click()

    hidden = passage[30:70]
    press("Z" if hidden[0] != "Z" else "X")
    expect(game.locator(".guess-key[disabled]")).to_have_count(1)
    for found, symbol in enumerate(hidden[:12], 1):
        press(symbol)
        expect(cells.nth(0)).to_have_text(str(found))
    expect(cells.nth(1)).to_have_text("92%")  # all but the first were right at once
    expect(game.locator("tr", has_text="The model").locator("td").first).to_have_text("12")
    with notebook.changes(game):
        game.get_by_text("Let the model guess").click()
    expect(game).to_contain_text("The model found")
    for found, symbol in enumerate(hidden[13:], 13):
        press(symbol)
        expect(cells.nth(0)).to_have_text(str(found))
    expect(game).to_contain_text("The passage is finished")
    notebook.shows_no_errors()
