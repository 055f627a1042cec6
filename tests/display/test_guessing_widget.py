from __future__ import annotations

import pytest
import torch

from helpers.display import guessing_widget
from helpers.display.guessing_widget import GuessingBoard, play_a_round

ALPHABET = "abc "


class Fixed:
    """Likes b best, then a, c and the space."""

    vocab_size = bos = 4

    def start(self, batch_size):
        return None

    def step(self, tokens, state):
        return torch.tensor([0.3, 0.4, 0.2, 0.1]).log().expand(len(tokens), -1), state


def board(texts=("ab ca", "cab"), **options):
    return GuessingBoard(texts, ALPHABET, Fixed(), start=1, length=10, **options)


def test_a_round_by_pressing_keys():
    play = board()
    play.keys["c"].click()
    assert play.keys["c"].disabled
    assert not play.keys["b"].disabled
    play.keys["b"].click()
    assert not play.keys["c"].disabled
    assert play.game.counts == [2]
    play.model_button.click()
    assert play.game.counts == [2, None]
    for symbol in "ca":
        play.press(symbol)
    assert play.game.finished
    assert all(key.disabled for key in play.keys.values())
    assert play.model_button.disabled


def test_model_and_reader_are_scored_on_the_same_letters():
    play = board(["abca"])
    play.press("b")
    play.model_button.click()
    play.press("b")
    play.press("a")
    assert play.ranks.tolist() == [2, 1, 3, 2]
    assert play._score.value.count(">50%</td>") == 2  # the reader took 1 and 2 guesses, the model
    assert play._score.value.count(">1.5</td>") == 2  # as many


def test_a_new_passage_comes_round():
    play = board()
    play.press("b")
    play.new_button.click()
    assert play.game.text == "cab"
    assert play.game.counts == []
    play.new_button.click()
    assert play.game.text == "ab ca"


def test_the_hidden_text_is_not_in_the_page():
    play = board(["aacb"], encode=lambda text: [ALPHABET.index(s) for s in text])
    shown = play._text.value
    assert ">a</div>" in shown
    assert ">b</div>" not in shown
    assert ">c</div>" not in shown
    assert "Hidden after the box: 2" in shown


def test_symbols_are_escaped_and_named():
    play = GuessingBoard(["<& <"], "<& ", start=1, length=3)
    play.press("&")
    assert "&lt;" in play._text.value
    assert play.keys[" "].description == "space"
    assert play.ranks is None
    assert "model" not in play._text.value


def test_a_round_can_be_played_by_itself():
    play = board()
    play_a_round(play)
    assert play.game.text == "cab"
    play_a_round(GuessingBoard(["ab"], ALPHABET, start=1, length=1))


@pytest.mark.parametrize(
    ("texts", "encode", "message"),
    [
        (["abc", "aXc"], None, "'X'"),
    ],
)
def test_bad_passages_are_refused_at_once(texts, encode, message):
    with pytest.raises(ValueError, match=message):
        board(texts, encode=encode)


def test_the_output_carries_words(monkeypatch):
    shown, played = [], []
    monkeypatch.setattr(
        guessing_widget, "show_widget", lambda *given, first: shown.append((*given, first))
    )
    monkeypatch.setattr(guessing_widget, "play_a_round", played.append)
    monkeypatch.delenv("COURSE_DRIVE_WIDGETS", raising=False)
    guessing_widget.guessing_game(["abca"], ALPHABET, Fixed(), start=1)
    assert not played
    _, words, first = shown[0]
    assert "Run this cell" in words
    assert first is None
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    guessing_widget.guessing_game(["abca"], ALPHABET, Fixed(), start=1)
    assert len(played) == 1


def test_the_first_state_is_the_text_and_what_to_do(monkeypatch):
    shown = []
    monkeypatch.setattr(guessing_widget, "show_widget", lambda *given, first: shown.extend(first))
    monkeypatch.delenv("COURSE_DRIVE_WIDGETS", raising=False)
    monkeypatch.setenv("COURSE_STORE_FIRST_STATE", "1")
    guessing_widget.guessing_game(["abca"], ALPHABET, Fixed(), start=2)
    (first,) = shown
    play = GuessingBoard(["abca"], ALPHABET, Fixed(), start=2, length=40)
    assert first == {
        "text/html": play._text.value + play._status.value + play._score.value,
        "text/plain": "ab",
    }
    assert "Which symbol comes next?" in first["text/html"]


def test_symbols_that_are_only_shown_have_no_key():
    play = GuessingBoard(["Xabc"], ALPHABET, start=1, length=3, only_shown="X")
    assert set(play.keys) == set(ALPHABET)
    assert play.game.shown == "X"
    with pytest.raises(ValueError, match="'X' is to be guessed in a passage and has no key"):
        GuessingBoard(["aXbc"], ALPHABET, start=1, length=3, only_shown="X")
