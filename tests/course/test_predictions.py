"""What a student expected is set beside what came out; no prediction ever ends in an error."""

import numpy as np
import pytest
import torch

from helpers.course.predictions import FIRST_LINE, compare, compare_choice, compare_words


class Odd:
    """Of a student's own; it cannot even be shown or compared."""

    def __repr__(self):
        raise RuntimeError

    __str__ = __eq__ = __repr__
    __hash__ = None


MISSING = [..., None, "", "  ", "...", "…", [], (), set()]
UNREADABLE = [Odd(), object(), len, {"a": 1}, b"5", torch.zeros(2), np.zeros(3), [Odd()], 1j]


def said(capsys):
    """What was said, behind a line that tells nothing where outputs are folded away."""
    first, *others = capsys.readouterr().out.split(f"{FIRST_LINE}\n\n")
    assert first == ""
    assert others
    return "".join(others)


@pytest.mark.parametrize(
    ("predicted", "words"),
    [
        (50, "You predicted 50.0 %. Measured: 53.4 % (unseen). You were 3.4 points too low."),
        ("60%", "You predicted 60.0 %. Measured: 53.4 % (unseen). You were 6.6 points too high."),
        (np.float32(53.4), "You predicted 53.4 %. Measured: 53.4 % (unseen). That is exact."),
        (
            "1/2",
            "You predicted 0.5 %. Measured: 53.4 % (unseen). "
            "Shares are typed in per cent: 50, not 0.5.",
        ),
        (
            0.07,
            "You predicted 0.07 %. Measured: 53.4 % (unseen). "
            "Shares are typed in per cent: 7, not 0.07.",
        ),
    ],
)
def test_a_share_is_compared_in_points(capsys, predicted, words):
    compare(predicted, 53.4, "unseen", unit="%")
    assert said(capsys) == f"{words}\n"


def test_a_share_above_one_is_told_to_be_typed_in_per_cent(capsys):
    compare(3.4, 340.5, "MFU", unit="%", digits=0)
    assert said(capsys).endswith("Shares are typed in per cent: 340, not 3.4.\n")


def test_where_less_than_one_per_cent_came_out_a_small_number_is_per_cent(capsys):
    compare(0.2, 0.5, "unseen", unit="%")
    assert said(capsys).endswith("You were 0.3 points too low.\n")


@pytest.mark.parametrize(
    ("predicted", "measured", "words"),
    [
        (10, 4, "You were 6 bits too high, a factor of 2.5."),
        (2, 6, "You were 4 bits too low, a factor of 3.0."),
        (4, 4, "That is exact."),
        ("−4", 4, "You were 8 bits too low."),
    ],
)
def test_another_quantity_also_by_its_factor(capsys, predicted, measured, words):
    compare(predicted, measured, "entropy", unit="bits", digits=0)
    assert said(capsys).endswith(f"Measured: {measured} bits (entropy). {words}\n")


def test_a_difference_in_points_has_no_factor(capsys):
    compare(8, 1.0, "difference", unit="points")
    assert said(capsys).endswith("You were 7.0 points too high.\n")


def test_markdown_marks_the_numbers(monkeypatch):
    shown = []
    monkeypatch.setattr("helpers.course.predictions.publish", shown.append)
    compare(1, 2, "n", digits=0)
    words = "You predicted **1**. Measured: **2** (n)."
    assert shown[0]["text/markdown"].startswith(f"{FIRST_LINE}\n\n{words}")
    assert "*" not in shown[0]["text/plain"]


@pytest.mark.parametrize("predicted", MISSING)
def test_whoever_predicts_nothing_reads_the_result(capsys, predicted):
    compare(predicted, 5, "the best n", digits=0)
    compare_choice(predicted, "E", ["E", "Q"], "the symbol")
    compare_words(predicted, ["Pell", "Bay"], "the words")
    none = "You made no prediction: write one above, then run its cell and this one."
    assert said(capsys).splitlines() == [
        f"{none} Measured: 5 (the best n).",
        f"{none} It is E (the symbol).",
        f"{none} The words: Pell, Bay.",
    ]


@pytest.mark.parametrize("predicted", ["EIO", "e i o", ["E", "I", "O"]])
def test_letters_may_be_typed_without_blanks(capsys, predicted):
    compare_words(predicted, ["O", "U", "I"], "the letters")
    assert "Of your 3 words, 2 came out" in said(capsys)


def test_a_result_without_a_prediction_is_folded_away(monkeypatch):
    shown = []
    monkeypatch.setattr("helpers.course.predictions.publish", shown.append)
    compare(..., 5, "the best n", digits=0)
    seen, folded = shown[0]["text/markdown"].split("<details>")
    assert "5" not in seen
    assert "\n\nMeasured: **5** (the best n).\n\n</details>" in folded


@pytest.mark.parametrize("predicted", UNREADABLE, ids=lambda value: type(value).__name__)
def test_what_cannot_be_read_is_told_so(capsys, predicted):
    compare(predicted, 5, "the best n", digits=0)
    compare_choice(predicted, "E", ["E", "Q"], "the symbol")
    number, chosen = said(capsys).splitlines()
    assert number.startswith("Your prediction ")
    assert number.endswith(" is no number: type one such as 12.5. Measured: 5 (the best n).")
    assert chosen.endswith(" is none of E, Q. It is E (the symbol).")


@pytest.mark.parametrize("predicted", ["many", "nan", "1/0", True])
def test_words_that_are_no_number(capsys, predicted):
    compare(predicted, 5, "the best n")
    assert "is no number" in said(capsys)


@pytest.mark.parametrize("predicted", [Odd(), 5, len, [1, 2], [Odd()], np.zeros(3)])
def test_what_is_no_list_of_words_is_told_so(capsys, predicted):
    compare_words(predicted, ["Pell"], "the words")
    words = said(capsys)
    assert words.startswith("Your prediction ")
    assert words.endswith(" is no list of words. The words: Pell.\n")


@pytest.mark.parametrize(
    ("predicted", "words"),
    [
        ("q", "You predicted Q. It is space (the row)."),
        (" Space ", "You predicted space, and so it is (the row)."),
        ("X", "Your prediction 'X' is none of space, Q. It is space (the row)."),
    ],
)
def test_one_of_several(capsys, predicted, words):
    compare_choice(predicted, "space", ["space", "Q"], "the row")
    assert said(capsys) == f"{words}\n"


@pytest.mark.parametrize(
    "predicted",
    [
        "the time",
        "Time",
    ],
)
def test_an_article_may_be_left_out(capsys, predicted):
    compare_choice(predicted, "the time", ["the score", "the time"], "the cause")
    assert said(capsys) == "You predicted the time, and so it is (the cause).\n"


@pytest.mark.parametrize(
    "predicted",
    [
        "␣t",
        "␣ t",
        "␣ + t",
        (" ", "t"),
    ],
)
def test_a_blank_may_be_typed_for_its_sign(capsys, predicted):
    compare_choice(predicted, "␣t", ["et", "t", "␣t"], "the pair")
    assert said(capsys) == "You predicted ␣t, and so it is (the pair).\n"


@pytest.mark.parametrize("predicted", ["e t", ("e", "t"), "Et"])
def test_a_choice_may_be_typed_in_parts(capsys, predicted):
    compare_choice(predicted, "et", ["et", "␣t"], "the pair")
    assert said(capsys) == "You predicted et, and so it is (the pair).\n"


@pytest.mark.parametrize(
    ("predicted", "words"),
    [
        (0.001, "You predicted **0.001**, and so it is (the rate)."),
        (10, "You predicted **10**. It is **0.001** (the rate)."),
        (0.03, "You predicted **0.03**. It is **0.001** (the rate)."),
        (0.3, "Your prediction 0.3 is none of 0.001, 0.03, 10. It is **0.001** (the rate)."),
        (True, "Your prediction True is none of 0.001, 0.03, 10. It is **0.001** (the rate)."),
    ],
)
def test_one_of_several_numbers(capsys, predicted, words):
    compare_choice(predicted, "0.001", ["0.001", "0.03", "10"], "the rate")
    assert said(capsys) == words.replace("**", "") + "\n"


def test_what_came_out_is_one_of_them():
    with pytest.raises(ValueError, match="'Z' came out and is none of space, Q"):
        compare_choice("Q", "Z", ["space", "Q"], "the row")


@pytest.mark.parametrize(
    ("predicted", "words"),
    [
        ("pell, Fenn", "Of your 2 words, 1 came out (pell)."),
        (["Bay", "Pell"], "Of your 2 words, 2 came out (Bay, Pell)."),
        ("Pell pell PELL", "Of your 1 word, 1 came out (PELL)."),
        ("Fenn", "Of your 1 word, 0 came out."),
    ],
)
def test_words(capsys, predicted, words):
    compare_words(predicted, ["Pell", "Bay"], "the words that lose most")
    assert said(capsys) == f"{words} The words that lose most: Pell, Bay.\n"
