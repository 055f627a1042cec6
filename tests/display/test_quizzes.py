from __future__ import annotations

import pytest

from helpers.display import quizzes, widgets
from helpers.display.quizzes import ChoiceQuiz, NumberQuiz, markup

OPTIONS = ["ten", "three", "one"]
REASONS = {"three": "That is the entropy.", "one": "That is a sure thing."}
TEN = ChoiceQuiz("How many?", OPTIONS, ["ten"], REASONS)
BITS = NumberQuiz("Bits?", 1, 0.01, {0.693: "That is in nats."}, unit="bits")


@pytest.fixture
def shown(monkeypatch):
    calls = []
    monkeypatch.setattr(
        quizzes, "show_widget", lambda widget, fallback, **words: calls.append((widget, fallback))
    )
    return calls


def find(widget, kind):
    children = getattr(widget, "children", ())
    here = [widget] if type(widget).__name__ == kind else []
    return here + [found for child in children for found in find(child, kind)]


def test_one_right_answer_is_graded_with_reasons():
    quiz = ChoiceQuiz("How many?", OPTIONS, ["ten"], REASONS)
    assert quiz.grade(["ten"]) == (True, "✓ Right.")
    assert quiz.grade(["three"]) == (False, "✗ Not yet. B: That is the entropy.")
    assert quiz.grade([])[0] is False
    told = ChoiceQuiz("How many?", OPTIONS, ["ten"], {**REASONS, "ten": "Of course."})
    assert told.grade(["ten"]) == (True, "✓ Right. A: Of course.")


def test_several_right_answers_must_all_be_found():
    quiz = ChoiceQuiz("Which?", OPTIONS, ["ten", "one"], {"three": "No."})
    assert quiz.grade(["one", "ten"])[0]
    assert quiz.grade(["ten"]) == (False, "✗ Not yet. A right option is still missing.")
    assert quiz.grade(OPTIONS) == (False, "✗ Not yet. B: No.")
    right, words = quiz.grade(["ten", "three"])
    assert not right
    assert "B: No." in words
    assert "missing" in words


@pytest.mark.parametrize(
    ("options", "correct", "reasons", "message"),
    [
        (OPTIONS, ["ten"], {"three": "No."}, "why 'one' is wrong"),
        (["ten", "ten"], ["ten"], {}, "all different"),
    ],
)
def test_a_faulty_choice_is_refused(options, correct, reasons, message):
    with pytest.raises(ValueError, match=message):
        ChoiceQuiz("How many?", options, correct, reasons)


@pytest.mark.parametrize("typed", ["1", " 1.0 ", "1,005", "2/2", 1, "1e0"])
def test_numbers_within_the_tolerance_are_right(typed):
    assert NumberQuiz("Bits?", 1, 0.01, hint="Think.").grade(typed)[0]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("0.693", "That is in nats."),
        ("3", "3 is too large. Use the formula."),
        ("one", "Type a number"),
        ("nan", "Type a number"),
    ],
)
def test_wrong_numbers_get_a_reason(typed, words):
    quiz = NumberQuiz("Bits?", 1, 0.01, {0.693: "That is in nats."}, hint="Use the formula.")
    right, feedback = quiz.grade(typed)
    assert not right
    assert words in feedback


def test_the_answer_is_told_with_its_unit():
    quiz = NumberQuiz("Bits?", 0.3, 0, hint="Add.", unit="bits", because="Two sides.")
    assert quiz.grade(0.1 + 0.2) == (True, "✓ Right. The answer is 0.3 bits. Two sides.")


@pytest.mark.parametrize(
    ("answer", "tolerance", "reasons", "hint", "message"),
    [
        (1, 0.1, {}, "", "hint"),
        (1, 0.1, {1.05: "Close."}, "", "counts as right"),
        (1, -1, {2: "No."}, "", "tolerance"),
    ],
)
def test_a_faulty_number_is_refused(answer, tolerance, reasons, hint, message):
    with pytest.raises(ValueError, match=message):
        NumberQuiz("Bits?", answer, tolerance, reasons, hint)


def test_markup_escapes_all_but_its_own_signs():
    assert markup("a < b & c") == "a &lt; b &amp; c"
    assert markup("<script>alert(1)</script>").startswith("&lt;script&gt;")
    assert markup("`x < 1`, **bold** and *soft*") == (
        "<code>x &lt; 1</code>, <b>bold</b> and <i>soft</i>"
    )
    assert markup("$a*b*c$ and 2*3*4") == "$a*b*c$ and 2*3*4"
    assert markup(r"$p < \frac{1}{2}$") == r"$p &lt; \frac{1}{2}$"


def test_a_click_answers_a_choice(shown):
    quizzes.show_quiz(TEN)
    ((live, fallback),) = shown
    buttons = find(live, "Button")
    feedback = live.children[-1]
    assert [button.description for button in buttons] == ["A", "B", "C"]
    buttons[1].click()
    assert buttons[1].description == "B ✗"
    assert "That is the entropy." in feedback.value
    buttons[0].click()
    assert "✓ Right." in feedback.value
    assert "<details>" in fallback
    for words in ("How many?", *OPTIONS, *REASONS.values(), "<b>A</b> is right"):
        assert words in fallback


def test_choices_are_checked_together(shown):
    both = ChoiceQuiz("Which?", OPTIONS, ["ten", "one"], {"three": "No."})
    quizzes.show_quiz(both)
    live = shown[0][0]
    marks, (check,) = find(live, "ToggleButton"), find(live, "Button")
    marks[0].value = True
    check.click()
    assert "still missing" in live.children[-1].value
    marks[2].value = True
    check.click()
    assert "✓ Right." in live.children[-1].value


def test_a_number_is_typed(shown):
    quizzes.show_quiz(BITS)
    live, fallback = shown[0]
    (field,) = find(live, "Text")
    field.value = "0.693"
    assert "in nats" in live.children[-1].value
    field.value = "1"
    assert "✓ Right. The answer is 1 bits." in live.children[-1].value
    find(live, "Button")[0].click()
    assert "✓ Right." in live.children[-1].value
    assert "Wrong: 0.693. That is in nats." in fallback


def test_driving_tries_every_option(shown, monkeypatch):
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    assert widgets.driving()
    tried = []
    grade = ChoiceQuiz.grade
    monkeypatch.setattr(
        ChoiceQuiz, "grade", lambda self, chosen: tried.append(list(chosen)) or grade(self, chosen)
    )
    quizzes.show_quiz(TEN)
    assert all([option] in tried for option in OPTIONS)
    quizzes.show_quiz(BITS)
    monkeypatch.setattr(ChoiceQuiz, "grade", lambda self, chosen: (True, "✓ Right."))
    with pytest.raises(AssertionError):
        quizzes.show_quiz(TEN)
