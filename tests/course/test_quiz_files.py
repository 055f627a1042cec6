"""The files of quizzes are as they should be; what is not is refused in one clear sentence."""

import pytest

from helpers.course import quiz_texts
from helpers.course.quiz_texts import FOLDER, QuizTextError, quiz_file, quizzes_of, read_quizzes
from helpers.course.workspace import FURTHER, lesson_name, released_notebooks
from helpers.display.quizzes import ChoiceQuiz, NumberQuiz
from helpers.files import own_files

FILES = own_files(FOLDER)
CHOICE = """
[which]
question = "Which one?"
[[which.option]]
text = "this"
right = true
[[which.option]]
text = "that"
reason = "No."
"""
NUMBER = """
[how_many]
question = "How many?"
answer = "6/12"
tolerance = 0.01
unit = "bits"
because = "So it is."
[[how_many.slip]]
answer = 2
reason = "Upside down."
"""


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "99_x.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_builds(path):
    quizzes = read_quizzes(path)
    assert quizzes
    for quiz in quizzes.values():
        quiz.drive()  # the grading agrees with the answers


def test_every_file_belongs_to_a_notebook(root):
    stems = {
        lesson_name(path) if path.parent.name == FURTHER else path.stem
        for path in released_notebooks(root)
    }
    assert [path.name for path in FILES if path.suffix != ".toml" or path.stem not in stems] == []


def test_both_kinds_are_read_in_order(file):
    quizzes = read_quizzes(file(NUMBER + CHOICE))
    assert list(quizzes) == ["how_many", "which"]
    assert quizzes["which"] == ChoiceQuiz("Which one?", ["this", "that"], ["this"], {"that": "No."})
    assert quizzes["how_many"] == NumberQuiz(
        "How many?", 0.5, 0.01, {2.0: "Upside down."}, unit="bits", because="So it is."
    )


def test_several_may_be_right_and_say_why(file):
    both = CHOICE + '[[which.option]]\ntext = "these"\nright = true\nreason = "Both are."\n'
    quiz = read_quizzes(file(both))["which"]
    assert quiz.several
    assert quiz.correct == ["this", "these"]
    assert quiz.reasons["these"] == "Both are."


@pytest.mark.parametrize(
    ("text", "quiz", "words"),
    [
        (CHOICE.replace('reason = "No."', ""), "which", "Give a reason why 'that' is wrong."),
        (CHOICE.replace("right = true", 'reason = "No."'), "which", "No option is right: give one"),
        (CHOICE.replace('question = "Which one?"', ""), "which", "'question' is missing in a quiz"),
        (CHOICE.replace('"that"', '"this"'), "which", "at least two options, all different."),
        ('[which]\nquestion = "Which?"', "which", "'option' is missing in a quiz."),
        ('which = "this"', "which", "'this' is no table: a quiz needs question and option."),
        (NUMBER.replace('"6/12"', '"many"'), "how_many", "'many' is no number: write such as 0.5"),
        (NUMBER.replace("answer = 2", 'answer = "1/2"'), "how_many", "0.5 counts as right"),
        (NUMBER.replace('reason = "Upside down."', ""), "how_many", "'reason' is missing in a"),
        (NUMBER.split("[[")[0], "how_many", "Give reasons for wrong numbers, or a hint"),
        (NUMBER + NUMBER[NUMBER.index("[[") :], "how_many", "Two slips have the same answer."),
    ],
)
def test_a_faulty_quiz_is_refused(file, text, quiz, words):
    with pytest.raises(QuizTextError) as caught:
        read_quizzes(file(text))
    message = str(caught.value)
    assert message.startswith(f"99_x.toml, quiz {quiz!r}: ")
    assert words in message
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize("content", [b"question = ", b"[a]\n[a]", b"a = '\xff'"])
def test_what_is_no_toml_is_refused(tmp_path, content):
    path = tmp_path / "99_x.toml"
    path.write_bytes(content)
    with pytest.raises(QuizTextError, match=r"^99_x\.toml is not TOML: [^\n]*\.$"):
        read_quizzes(path)


def test_the_file_of_a_notebook(tmp_path, monkeypatch):
    monkeypatch.setattr(quiz_texts, "FOLDER", tmp_path / "quizzes")
    with pytest.raises(QuizTextError, match="0 files in quizzes/ begin with '99'; expected one"):
        quiz_file("99")
    (tmp_path / "quizzes").mkdir()
    for name in ("99_x", "98_y"):
        (tmp_path / "quizzes" / f"{name}.toml").write_text(CHOICE, encoding="utf-8")
    assert quiz_file("99").name == "99_x.toml"
    with pytest.raises(QuizTextError, match="2 files in quizzes/ begin with '9'; expected one"):
        quiz_file("9")


def test_a_notebook_shows_its_quizzes_by_name(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(quiz_texts, "FOLDER", tmp_path)
    monkeypatch.setattr(quiz_texts, "show_quiz", shown.append)
    (tmp_path / "99_x.toml").write_text(CHOICE + NUMBER, encoding="utf-8")
    quiz = quizzes_of("99")
    quiz("how_many")
    assert [one.question for one in shown] == ["How many?"]
    with pytest.raises(QuizTextError, match="no quiz 'why'; there are: which, how_many"):
        quiz("why")
