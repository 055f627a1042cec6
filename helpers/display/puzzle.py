"""A puzzle to play: find the hidden rule that puts sequences into class 1 or class 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape

import ipywidgets

from helpers.display.quizzes import RIGHT, feedback_html, markup
from helpers.display.widgets import RUN_ME, driving, panel, show_widget


def rule_puzzle(
    examples: Sequence[tuple[str, int]],
    *,
    question: str,
    rule: str,
    answers: tuple[str, str] = ("yes", "no"),
    shown: int = 2,
) -> None:
    """Show sequences one after another; the reader says the class of each and is told at once.

    What was answered stays in a table, the newest first, with a running score above it. The reader
    may ask for the rule at any time, which ends the game.

    Example::

        rule_puzzle([("[0, 9]", 1), ("[9, 0]", 0), ("[2, 0, 9, 7]", 1), ("[0, 0]", 0)],
                    question="Does it follow the rule?", rule="**Balanced** pairs.", shown=1)

    Args:
        examples: (the text of a sequence, its class 1 or 0), in the order in which they are asked.
        question: what is asked of every sequence; marked up as in a quiz.
        rule: the explanation, marked up likewise; an empty line begins a new paragraph.
        answers: a word for class 1 and a word for class 0.
        shown: how many examples of each class, the first ones, are solved from the start.
    """
    puzzle = RulePuzzle(list(examples), question, rule, answers, shown)
    if driving():
        play_a_few(PuzzleBoard(replace(puzzle)))
    board = PuzzleBoard(puzzle)
    words = f"<p>{board.question.value}</p>{table_html(puzzle)}<p><i>{RUN_ME}</i></p>"
    solved = [f"{text}  class {puzzle.name(kind)}" for text, kind in puzzle.solved]
    plain = "\n".join([f"Puzzle. {question}", *solved, RUN_ME])
    show_widget(panel(board.parts), words, mime="text/html", plain=plain)


@dataclass
class RulePuzzle:
    """The state of a puzzle; the first five as in ``rule_puzzle``."""

    examples: Sequence[tuple[str, int]]
    question: str
    rule: str
    answers: tuple[str, str] = ("yes", "no")
    shown: int = 2
    given: list[int] = field(default_factory=list, init=False)
    revealed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.solved, self.asked = _split(self.examples, self.shown)

    @property
    def over(self) -> bool:
        """Whether no answer is taken any more."""
        return self.revealed or len(self.given) == len(self.asked)

    @property
    def verdicts(self) -> list[bool]:
        """For each answer, whether it was right."""
        return [given == self.asked[i][1] for i, given in enumerate(self.given)]

    def name(self, kind: int) -> str:
        """The number of a class with its word."""
        return f"{kind} ({self.answers[1 - kind]})"

    def answer(self, kind: int) -> bool:
        """Say that the current sequence is of this class; whether that is right."""
        if self.over or kind not in (0, 1):
            raise ValueError(f"Got the answer {kind!r}: give 1 or 0, and none after the end.")
        self.given.append(kind)
        return self.verdicts[-1]


class PuzzleBoard:
    """The widgets of a puzzle and what its buttons do."""

    def __init__(self, puzzle: RulePuzzle) -> None:
        self.puzzle = puzzle
        self._example, self._score, self._table = (ipywidgets.HTML() for _ in range(3))
        self._feedback, self._explanation = (ipywidgets.HTMLMath() for _ in range(2))
        names = [f"class {puzzle.name(1)}", f"class {puzzle.name(0)}", "give me the rule"]
        yes, no, ends = (ipywidgets.Button(description=n, layout={"width": "auto"}) for n in names)
        self.buttons, self.rule_button = {1: yes, 0: no}, ends
        row = ipywidgets.Box([yes, no, ends], layout={"flex_flow": "row wrap", "grid_gap": "10px"})
        yes.on_click(lambda _: self.answer(1))
        no.on_click(lambda _: self.answer(0))
        ends.on_click(lambda _: self.reveal())
        self.question = ipywidgets.HTMLMath(f"<b>Puzzle.</b> {markup(puzzle.question)}")
        self.parts = [self.question, self._example, row, self._feedback, self._score]
        self.parts += [self._explanation, self._table]
        self._refresh()

    def answer(self, kind: int) -> None:
        """Answer for the current sequence; without effect once the game is over."""
        if self.puzzle.over:  # the second of two quick clicks on the last example
            return
        right = self.puzzle.answer(kind)
        number, sign = len(self.puzzle.given), RIGHT if right else "✗ Wrong."
        truth = self.puzzle.name(self.puzzle.asked[number - 1][1])
        self._feedback.value = feedback_html(right, f"{sign} Number {number} is class {truth}.")
        self._refresh()

    def reveal(self) -> None:
        """Show the rule and end the game."""
        self.puzzle.revealed = True
        paragraphs = "".join(f"<p>{markup(part)}</p>" for part in self.puzzle.rule.split("\n\n"))
        self._explanation.value = f"<div><b>The rule.</b></div>{paragraphs}"
        self._refresh()

    def _refresh(self) -> None:
        for button in self.buttons.values():
            button.disabled = self.puzzle.over
        self.rule_button.disabled = self.puzzle.revealed
        self._example.value = example_html(self.puzzle)
        self._score.value = f"<div><b>{score_text(self.puzzle)}</b></div>"
        self._table.value = table_html(self.puzzle)


def play_a_few(board: PuzzleBoard, answers: int = 3) -> None:
    """Answer class 1 and class 0 in turn a few times, then ask for the rule; for tests."""
    for number in range(answers):
        board.answer(1 - number % 2)
    board.reveal()


def example_html(puzzle: RulePuzzle) -> str:
    """The sequence that is asked for now, or why there is none."""
    done, total = len(puzzle.given), len(puzzle.asked)
    if not puzzle.over:
        text = f'<code style="font-size: 24px">{escape(puzzle.asked[done][0])}</code>'
        return f"<div>Number {done + 1} of {total}:</div><div>{text}</div>"
    if done < total:
        return f"<div>The game is over; {total - done} of {total} were not answered.</div>"
    return f"<div>There are no more examples: {score_text(puzzle)}.</div>"


def score_text(puzzle: RulePuzzle) -> str:
    """How many answers were right, and from ten answers on how many of the last ten."""
    verdicts = puzzle.verdicts
    last = f", last ten: {sum(verdicts[-10:])} of 10" if len(verdicts) >= 10 else ""
    return f"{sum(verdicts)} of {len(verdicts)} right{last}" if verdicts else "No answers yet"


def table_html(puzzle: RulePuzzle) -> str:
    """What is known: the answers, the newest first, then what is solved from the start."""
    rows = [["–", text, "–", puzzle.name(kind), "solved"] for text, kind in puzzle.solved]
    for i, right in enumerate(puzzle.verdicts):
        text, kind = puzzle.asked[i]
        verdict = "✓ right" if right else "✗ wrong"
        given = puzzle.name(puzzle.given[i])
        rows.insert(0, [str(i + 1), text, given, puzzle.name(kind), verdict])
    heads = ["number", "sequence", "your answer", "truth", "verdict"]
    cell = 'style="padding: 3px 12px; text-align: left"'
    lines = ["".join(f'<th scope="col" {cell}>{name}</th>' for name in heads)]
    for row in rows:
        words = [escape(word) for word in row]
        # As code it is no formula to MathJax, whatever signs it has.
        words[1] = f'<code style="font-size: 16px">{words[1]}</code>'
        lines.append("".join(f"<td {cell}>{word}</td>" for word in words))
    body = "".join(f'<tr style="border-bottom: 1px solid gray">{line}</tr>' for line in lines)
    return f'<table style="border-collapse: collapse; margin-top: 6px">{body}</table>'


def _split(examples: Sequence[tuple[str, int]], shown: int) -> tuple[list, list]:
    """The first ``shown`` examples of each class, and the others; both keep their order."""
    examples = [(text, int(kind)) for text, kind in examples]
    places = [[i for i, (_, kind) in enumerate(examples) if kind == c][:shown] for c in (0, 1)]
    firsts = {*places[0], *places[1]}
    solved = [example for i, example in enumerate(examples) if i in firsts]
    return solved, [example for i, example in enumerate(examples) if i not in firsts]
