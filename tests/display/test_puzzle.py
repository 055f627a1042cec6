from __future__ import annotations

from html.parser import HTMLParser

from helpers.display import puzzle as module
from helpers.display.puzzle import PuzzleBoard, RulePuzzle, rule_puzzle, table_html

EXAMPLES = [("[0, 9]", 1), ("[4, 5]", 1), ("[9, 0]", 0), ("[2, 0, 9, 7]", 1), ("[0, 0]", 0)]
WORDS = {"question": "Does it follow the rule?", "rule": "**Pairs** add up to $9$.\n\nSo it is."}


class Table(HTMLParser):
    """The texts of a table's rows, cell by cell; the entities are resolved by Python's parser."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def make(examples=EXAMPLES, shown=1, **words):
    return RulePuzzle(examples, **{**WORDS, **words}, shown=shown)


def rows(html):
    return Table(html).rows[1:]


def test_the_first_examples_of_each_class_are_solved_and_the_others_asked_in_order():
    puzzle = make()
    assert puzzle.solved == [("[0, 9]", 1), ("[9, 0]", 0)]
    assert puzzle.asked == [("[4, 5]", 1), ("[2, 0, 9, 7]", 1), ("[0, 0]", 0)]
    assert make(shown=2).asked == [("[2, 0, 9, 7]", 1)]
    assert make([(text, bool(kind)) for text, kind in EXAMPLES]).asked == puzzle.asked


def test_answers_are_graded_until_there_are_no_more_examples():
    puzzle = make()
    assert [puzzle.answer(kind) for kind in (1, 0)] == [True, False]
    assert not puzzle.over
    assert puzzle.answer(0)
    assert puzzle.over
    assert puzzle.verdicts == [True, False, True]


def test_the_score_counts_all_answers_and_the_last_ten():
    examples = [(f"[{i}]", i % 2) for i in range(16)]
    puzzle = make(examples)
    assert module.score_text(puzzle) == "No answers yet"
    for right in (False, False, False, True, True, True, True, True, True):
        puzzle.answer(puzzle.asked[len(puzzle.given)][1] ^ (not right))
    assert module.score_text(puzzle) == "6 of 9 right"
    puzzle.answer(1 - puzzle.asked[9][1])
    assert module.score_text(puzzle) == "6 of 10 right, last ten: 6 of 10"
    for number in (10, 11, 12):  # the three wrong ones at the beginning drop out
        puzzle.answer(puzzle.asked[number][1])
    assert module.score_text(puzzle) == "9 of 13 right, last ten: 9 of 10"


def test_the_table_marks_in_words_and_signs_the_newest_first():
    puzzle = make()
    puzzle.answer(1)
    puzzle.answer(0)
    assert rows(table_html(puzzle)) == [
        ["2", "[2, 0, 9, 7]", "0 (no)", "1 (yes)", "✗ wrong"],
        ["1", "[4, 5]", "1 (yes)", "1 (yes)", "✓ right"],
        ["–", "[0, 9]", "–", "1 (yes)", "solved"],
        ["–", "[9, 0]", "–", "0 (no)", "solved"],
    ]
    assert "color" not in table_html(puzzle)


def test_the_buttons_play_to_the_end():
    board = PuzzleBoard(make(answers=("balanced", "broken")))
    yes, no = board.buttons[1], board.buttons[0]
    assert [yes.description, no.description, board.rule_button.description] == [
        "class 1 (balanced)",
        "class 0 (broken)",
        "give me the rule",
    ]
    assert "Number 1 of 3" in board._example.value
    assert "[4, 5]" in board._example.value
    assert board._feedback.value == ""
    yes.click()
    assert "✓ Right. Number 1 is class 1 (balanced)." in board._feedback.value
    no.click()
    assert "✗ Wrong. Number 2 is class 1 (balanced)." in board._feedback.value
    assert "1 of 2 right" in board._score.value
    assert not yes.disabled
    no.click()
    assert "There are no more examples: 2 of 3 right." in board._example.value
    assert yes.disabled
    assert no.disabled
    assert board._explanation.value == ""
    assert len(rows(board._table.value)) == len(EXAMPLES)
    board.answer(1)  # a click that was under way
    assert board.puzzle.given == [1, 0, 0]
    board.rule_button.click()
    assert "<b>Pairs</b> add up to $9$." in board._explanation.value
    assert "no more examples: 2 of 3 right" in board._example.value


def test_the_rule_ends_the_game():
    board = PuzzleBoard(make())
    board.buttons[1].click()
    assert "Pairs" not in "".join(part.value for part in board.parts if hasattr(part, "value"))
    board.rule_button.click()
    assert board._explanation.value.count("<p>") == 2
    assert "2 of 3 were not answered" in board._example.value
    assert "1 of 1 right" in board._score.value
    assert all(button.disabled for button in (*board.buttons.values(), board.rule_button))
    board.answer(0)
    assert board.puzzle.given == [1]
    assert len(rows(board._table.value)) == 3


def test_what_is_not_answered_yet_is_not_in_the_page():
    board = PuzzleBoard(make())
    page = "".join(part.value for part in board.parts if hasattr(part, "value"))
    assert "[4, 5]" in page
    assert "[4, 5]" not in board._table.value
    assert "[2, 0, 9, 7]" not in page
    assert "[0, 0]" not in page


def test_the_output_carries_the_solved_examples(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "show_widget", lambda *given, **words: calls.append((given, words)))
    monkeypatch.delenv("COURSE_DRIVE_WIDGETS", raising=False)
    rule_puzzle(EXAMPLES, **WORDS, shown=1)
    (((_, fallback), words),) = calls
    assert words["mime"] == "text/html"
    table = [line for line in rows(fallback) if line[0] == "–"]
    assert [line[1] for line in table] == ["[0, 9]", "[9, 0]"]
    assert words["plain"].splitlines() == [
        "Puzzle. Does it follow the rule?",
        "[0, 9]  class 1 (yes)",
        "[9, 0]  class 0 (no)",
        "Run this cell to use the interactive part.",
    ]
    for said in (fallback, words["plain"]):
        assert "Run this cell" in said
        assert "[4, 5]" not in said
        assert "add up" not in said
