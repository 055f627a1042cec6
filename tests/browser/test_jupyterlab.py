"""Notebook 00 in JupyterLab, as a student sees it: it runs, and its game is played."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_first_notebook_opens_and_runs_and_its_game_is_played(open_notebook):
    notebook = open_notebook("00")
    notebook.run_all()
    counts = notebook.counts()
    assert counts == list(range(1, len(counts) + 1))

    game = notebook.panel("play(passages[:8])")
    keys = game.locator(".guess-key")
    expect(keys).to_have_count(27)
    keys.get_by_text("z", exact=True).click()  # right or wrong, it is answered
    expect(game).to_contain_text(re.compile("[✓✗]"))
    with notebook.changes(game):
        game.get_by_text("Let the model guess").click()
    expect(game).to_contain_text("The model found")
    notebook.shows_no_errors()
