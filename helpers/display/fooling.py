"""A game: type a sequence of parentheses on which a network is wrong, and score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

import ipywidgets

from helpers.data import parentheses
from helpers.display.widgets import RUN_ME, driving, panel, show_widget, text_box

TRIES, LONGEST, SHORT = 5, 40, 8  # in a round; symbols that may be typed; of a short sequence
RULES = (
    f"You have {TRIES} tries. A sequence on which the network is wrong scores 1 point, or 2 "
    f"points if it has {SHORT} symbols or fewer. A sequence counts once."
)


@dataclass(frozen=True)
class Try:
    """One sequence that was typed."""

    text: str
    probability: float
    balanced: bool
    points: int

    @property
    def fooled(self) -> bool:
        """Whether the network was wrong."""
        return (self.probability > 0.5) != self.balanced


@dataclass
class Game:
    """A round against one network.

    Args:
        says: the probability that a network gives to "balanced", from the ids of a sequence (L,).
        shortest: brackets that a sequence needs.
    """

    says: Callable[..., float]
    shortest: int = 1
    tried: list[Try] = field(default_factory=list, init=False)

    @property
    def over(self) -> bool:
        """Whether all tries are used."""
        return len(self.tried) >= TRIES

    @property
    def points(self) -> int:
        """The score so far."""
        return sum(one.points for one in self.tried)

    def ask(self, text: str) -> Try:
        """Ask the network about a sequence; blanks in it are left out.

        Raises:
            ValueError: the round is over, the sequence was typed before, is empty or too long, or
                has signs that are no brackets.
        """
        text = "".join(text.split())
        if self.over:
            raise ValueError(f"Your {TRIES} tries are used: begin a new round.")
        if not self.shortest <= len(text) <= LONGEST:
            fits = f"{self.shortest} to {LONGEST}"
            raise ValueError(f"Type {fits} brackets; these are {len(text)}.")
        if text in [one.text for one in self.tried]:
            raise ValueError(f"You have tried {text} before: a sequence counts once.")
        ids = parentheses.tokens(text)
        p, balanced = float(self.says(ids)), parentheses.is_balanced(ids)
        fooled = (p > 0.5) != balanced
        self.tried.append(Try(text, p, balanced, (1 + (len(text) <= SHORT)) * fooled))
        return self.tried[-1]


class GameBoard:
    """The widgets of a game and what they do."""

    def __init__(self, game: Game, against: str) -> None:
        self.game = game
        self.box = text_box(label="sequence")
        self.button = ipywidgets.Button(description="new round", layout={"width": "auto"})
        self._said, self._score, self._table = (ipywidgets.HTML() for _ in range(3))
        self.box.observe(lambda change: self.play(change["new"]), names="value")
        self.button.on_click(lambda _: self.restart())
        title = ipywidgets.HTML(
            f"<b>Fool the network</b> {escape(against)}. {escape(_rules(game))}"
        )
        row = ipywidgets.Box([self.box, self.button], layout={"flex_flow": "row wrap"})
        self.parts = [title, row, self._said, self._score, self._table]
        self._refresh("")

    def play(self, text: str) -> None:
        """Ask about what was typed; what cannot be asked about is said and uses no try."""
        if not text.strip():  # the box was emptied
            return
        try:
            one = self.game.ask(text)
        except ValueError as problem:
            self._refresh(str(problem))
            return
        won = f"Fooled! {one.points} point{'s' * (one.points > 1)}."
        self._refresh(won if one.fooled else "The network is right.")

    def restart(self) -> None:
        """Begin a new round against the same network."""
        self.game = Game(self.game.says, self.game.shortest)
        self.box.value = ""
        self._refresh("")

    def _refresh(self, said: str) -> None:
        self._said.value = f"<div>{escape(said)}</div>"
        self._score.value = f"<div><b>{score_text(self.game)}</b></div>"
        self._table.value = table_html(self.game)


def fool_the_network(says: Callable[..., float], against: str, shortest: int = 1) -> None:
    """Show the game.

    Args:
        against: which network this is, in a few words.
    """
    if driving():
        board = GameBoard(Game(says, shortest), against)
        for text in ("()" * shortest, "([)]", "(x)", "()", "(" * (LONGEST + 1), ""):
            board.play(text)
        board.restart()
    board = GameBoard(Game(says, shortest), against)
    rules = _rules(board.game)
    words = f"<p><b>Fool the network</b> {escape(against)}. {escape(rules)}</p>"
    plain = f"Fool the network {against}. {rules}\n{RUN_ME}"
    html = f"{words}{table_html(board.game)}<p><i>{RUN_ME}</i></p>"
    show_widget(panel(board.parts), html, mime="text/html", plain=plain)


def _rules(game: Game) -> str:
    """What is told before the first try."""
    return RULES + f" It has {game.shortest} symbols or more." * (game.shortest > 1)


def score_text(game: Game) -> str:
    """The score and the tries that are left."""
    left = TRIES - len(game.tried)
    state = "the round is over" if game.over else f"{left} tries left" if left > 1 else "1 try left"
    return f"{game.points} point{'s' * (game.points != 1)}, {state}"


def table_html(game: Game) -> str:
    """What was tried, the newest first."""
    heads = ["sequence", "the network: P(balanced)", "the truth", "points"]
    cell = 'style="padding: 3px 12px; text-align: left"'
    lines = ["".join(f'<th scope="col" {cell}>{name}</th>' for name in heads)]
    for one in reversed(game.tried):
        truth = "balanced" if one.balanced else "not balanced"
        words = [f"{one.probability:.3f}", truth, str(one.points) if one.fooled else "–"]
        code = f"<code>{escape(one.text)}</code>"  # as code it is no formula to MathJax
        lines.append("".join(f"<td {cell}>{word}</td>" for word in [code, *words]))
    body = "".join(f'<tr style="border-bottom: 1px solid gray">{line}</tr>' for line in lines)
    return f'<table style="border-collapse: collapse; margin-top: 6px">{body}</table>'
