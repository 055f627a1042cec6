"""Shannon's guessing game to play, beside the same game played by a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import ipywidgets
import torch
from torch import Tensor

from helpers.contracts import Predictor
from helpers.display import palette
from helpers.display.signs import SIGNS, visible
from helpers.display.widgets import RUN_ME, driving, panel, show_widget, storing
from helpers.inference.guessing import GuessingGame, guess_ranks

YOU, MODEL = palette.BLUE, palette.VERMILION
# Names of symbols that cannot be seen.
_NAMES = {" ": "space", "\n": "new line", "\t": "tab"}


def guessing_game(
    texts: Sequence[str],
    alphabet: str,
    predictor: Predictor | None = None,
    encode: Callable[[str], Sequence[int] | Tensor] | None = None,
    *,
    start: int = 30,
    length: int = 40,
    description: str = "Guess the hidden letter, again and again until it is found.",
    only_shown: str = "",
) -> None:
    """Show the playable game: the text so far, a key per symbol, and the score.

    Under every letter stands how many guesses it took: the reader's in the first row, the
    model's in the second, as in Shannon's paper. Both are scored on the same letters,
    those that the reader guessed.

    Args:
        texts: passages that use only symbols of the alphabet; "New passage" goes round them.
        alphabet: the symbols, one key each, in this order.
        predictor: the model to compare with; none by default.
        encode: passage -> token ids, one per symbol; by default positions in the alphabet.
        start: how many symbols are shown at the beginning of a passage.
        length: how many are to be guessed at most.
        description: words above the game, and for readers without a kernel.
        only_shown: symbols without a key, such as capitals, which occur among the first ``start``
            alone.

    Raises:
        ValueError: if a passage has a symbol outside the alphabet.
    """
    how = (predictor, encode, start, length, only_shown)
    board = GuessingBoard(texts, alphabet, *how)
    if driving():
        play_a_round(GuessingBoard(texts, alphabet, *how))
    words = ipywidgets.HTML(f"<div>{escape(description)}</div>")
    seen = "".join(part.value for part in board.parts if isinstance(part, ipywidgets.HTML))
    first = [{"text/html": seen, "text/plain": board.game.shown}] if storing() else None
    show_widget(panel([words, *board.parts]), f"{description} *{RUN_ME}*".strip(), first=first)


class GuessingBoard:
    """The widgets of the game and what their buttons do; ``press`` is also there for tests."""

    def __init__(
        self,
        texts: Sequence[str],
        alphabet: str,
        predictor: Predictor | None = None,
        encode: Callable[[str], Sequence[int] | Tensor] | None = None,
        start: int = 30,
        length: int = 40,
        only_shown: str = "",
    ) -> None:
        self._passages = [text[: start + length] for text in texts]
        for passage in self._passages:  # complain now, not in the middle of a lecture
            GuessingGame(passage, start, alphabet + only_shown)
            if strange := sorted(set(passage[start:]) - set(alphabet)):
                raise ValueError(f"{strange[0]!r} is to be guessed in a passage and has no key.")
        self._alphabet, self._start, self._number = alphabet, start, -1
        self._only_shown = only_shown
        self._predictor, self._encode = predictor, encode or self._positions
        self._text, self._status, self._score = (ipywidgets.HTML() for _ in range(3))
        self.keys = {symbol: self._key(symbol) for symbol in alphabet}
        keyboard = ipywidgets.GridBox(
            list(self.keys.values()),
            layout=ipywidgets.Layout(
                grid_template_columns="repeat(9, 74px)", grid_gap="4px", margin="6px 0"
            ),
        )
        wide = ipywidgets.Layout(width="15em")
        self.model_button = ipywidgets.Button(description="Let the model guess", layout=wide)
        self.new_button = ipywidgets.Button(description="New passage", layout=wide)
        self.model_button.on_click(lambda _: self.let_the_model_guess())
        self.new_button.on_click(lambda _: self.new_passage())
        buttons = [self.new_button] if predictor is None else [self.model_button, self.new_button]
        self.parts = [self._text, self._status, keyboard, ipywidgets.HBox(buttons), self._score]
        self.new_passage()

    def press(self, symbol: str) -> None:
        """Name a symbol for the hidden letter."""
        tries = len(self.game.wrong) + 1
        if self.game.guess(symbol):
            times = "guess" if tries == 1 else "guesses"
            self._refresh(f"✓ {_name(symbol)} is right, after {tries} {times}.")
        else:
            self._refresh(f"✗ It is not {_name(symbol)}. Guess again.")

    def let_the_model_guess(self) -> None:
        """The model finds the hidden letter; the reader's score does not count it."""
        tries = int(self.ranks[self.game.position])
        symbol = self.game.reveal()
        times = "guess" if tries == 1 else "guesses"
        self._refresh(f"The model found {_name(symbol)} after {tries} {times}; not in your score.")

    def new_passage(self) -> None:
        """Begin a round on the next passage."""
        self._number = (self._number + 1) % len(self._passages)
        passage = self._passages[self._number]
        self.game = GuessingGame(passage, self._start, self._alphabet + self._only_shown)
        self.ranks = self._model_ranks(passage)
        self._refresh("Which symbol comes next?")

    def _key(self, symbol: str) -> ipywidgets.Button:
        layout = ipywidgets.Layout(width="74px", height="38px")
        button = ipywidgets.Button(description=_NAMES.get(symbol, symbol), layout=layout)
        button.add_class("guess-key")
        button.on_click(lambda _: self.press(symbol))
        return button

    def _positions(self, text: str) -> list[int]:
        symbols = self._alphabet + self._only_shown
        return [symbols.index(symbol) for symbol in text]

    def _model_ranks(self, passage: str) -> Tensor | None:
        if self._predictor is None:
            return None
        tokens = torch.as_tensor(self._encode(passage), dtype=torch.long)
        return guess_ranks(self._predictor, tokens)

    def _refresh(self, status: str) -> None:
        over = self.game.finished
        for symbol, key in self.keys.items():
            key.disabled = over or symbol in self.game.wrong
        self.model_button.disabled = over
        if over:
            status += " The passage is finished."
        self._status.value = f'<div style="min-height: 1.5em"><b>{escape(status)}</b></div>'
        self._text.value = transcript_html(self.game, self.ranks)
        self._score.value = score_html(self.game, self.ranks)


def play_a_round(board: GuessingBoard, letters: int = 3) -> None:
    """Play by pressing the keys in order until each of a few letters is found; for tests."""
    for _ in range(letters):
        if board.game.finished:
            break
        before = board.game.position
        for symbol in board.keys:
            board.press(symbol)
            if board.game.position > before:
                break
    if board.ranks is not None and not board.game.finished:
        board.let_the_model_guess()
    board.new_passage()


def transcript_html(game: GuessingGame, ranks: Tensor | None = None) -> str:
    """The text so far, in columns: a symbol, the reader's guesses for it, the model's."""
    words, columns = [], []  # lines break between words only
    for position, symbol in enumerate(game.shown):
        count: object = ""
        guess: object = ""
        if position >= game.start:
            count = game.counts[position - game.start] or "–"
            guess = "" if ranks is None else int(ranks[position])
        columns.append(_column(symbol, count, guess))
        if symbol in SIGNS:
            words, columns = [*words, columns], []
    if not game.finished:
        columns.append(_column("?", len(game.wrong) + 1, "", hidden=True))
    text = "".join(
        f'<span style="display: inline-block">{"".join(word)}</span>' for word in [*words, columns]
    )
    left = len(game.text) - game.position - (not game.finished)
    legend = f'<b style="color:{YOU}">your guesses</b>'
    if ranks is not None:
        legend += f', then <b style="color:{MODEL}">the model\'s</b>'
    return (
        '<div style="font-family: monospace; font-size: 24px; line-height: 1.15">'
        f"{text}</div>"
        f'<div style="font-size: 14px; margin-top: 4px">Under each letter: {legend}. '
        f"Hidden after the box: {left}.</div>"
    )


def score_html(game: GuessingGame, ranks: Tensor | None) -> str:
    """Guesses of the reader, and of the model on the same letters."""
    positions = game.guessed_positions()
    rows = [_score_row("You", [c for c in game.counts if c is not None])]
    if ranks is not None:
        rows.append(_score_row("The model, same letters", [int(ranks[p]) for p in positions]))
    heads = ["", "letters guessed", "right at once", "guesses per letter"]
    cell = 'style="padding: 3px 12px; text-align: right; white-space: nowrap"'
    head = "".join(f"<th {cell}>{name}</th>" for name in heads)
    return (
        '<table style="border-collapse: collapse; margin-top: 6px">'
        f'<tr style="border-bottom: 1px solid gray">{head}</tr>'
        + "".join(
            f"<tr><th {cell}>{row[0]}</th>{''.join(f'<td {cell}>{w}</td>' for w in row[1:])}</tr>"
            for row in rows
        )
        + "</table>"
    )


def _score_row(name: str, counts: list[int]) -> list[str]:
    if not counts:
        return [name, "0", "–", "–"]
    right, mean = f"{counts.count(1) / len(counts):.0%}", f"{sum(counts) / len(counts):.1f}"
    return [name, str(len(counts)), right, mean]


def _name(symbol: str) -> str:
    return _NAMES.get(symbol, f"“{symbol}”")


def _column(symbol: str, count: object, guess: object, hidden: bool = False) -> str:
    look = "border: 2px solid currentColor; border-radius: 4px" if hidden else ""
    look = "opacity: .35" if symbol in SIGNS else look
    small = "font-size: 16px; min-height: 1.2em"
    style = "display: inline-block; width: 1.15em; text-align: center; vertical-align: top"
    return (
        f'<div style="{style}; margin-bottom: 6px">'
        f'<div style="{look}">{escape(visible(symbol))}</div>'
        f'<div style="{small}; color: {YOU}">{count}</div>'
        f'<div style="{small}; color: {MODEL}">{guess}</div></div>'
    )
