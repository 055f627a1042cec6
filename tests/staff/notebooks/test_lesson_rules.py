"""Each rule for notebooks can be broken, and the check of it says so."""

import base64
import struct

import pytest
from nbformat import v4

from helpers.course.workspace import released_notebooks
from helpers.display.widgets import RUN_ME
from staff.notebooks import clock
from staff.notebooks import lesson_rules as rules
from staff.notebooks.clock import write_time

NAMES = ("first", "second", "third", "fourth")
QUIZZES = """
[one]
question = "How many?"
answer = 1
tolerance = 0
hint = "Count."
[two]
question = "And now?"
answer = 2
tolerance = 0
hint = "Count again."
"""


def code(source, *outputs, tags=(), **hidden):
    metadata = {"tags": list(tags)} if tags else {}
    if hidden:
        metadata["jupyter"] = hidden
    return v4.new_code_cell(source, outputs=list(outputs), metadata=metadata)


def markdown(source):
    return v4.new_markdown_cell(source)


def notebook(*cells):
    return v4.new_notebook(cells=list(cells))


def printed(text):
    return v4.new_output("stream", name="stdout", text=text)


def said(text):
    return v4.new_output("display_data", data={"text/markdown": text})


def picture(width, height):
    """The beginning of a PNG of so many inches."""
    size = struct.pack(">II", round(width * rules.DPI), round(height * rules.DPI))
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + size + b"\0" * 40).decode()
    return v4.new_output("display_data", data={"image/png": data})


def turn(name, *outputs):
    """A task's cell, and its solution below."""
    outputs = outputs or (printed(f"○ {name}: not attempted yet.\n  Later cells use ours."),)
    source = f"def {name}(x):\n    ...\n\n\n{name} = check.{name}({name})"
    solution = f"{rules.SOLUTION}\n\n```python\ndef {name}(x):\n    return x\n```\n\n</details>"
    return [code(source, *outputs, tags=["your-turn"]), markdown(solution)]


def prediction(name):
    """A question, the cell for the answer, and what came out."""
    compared = code(f"compare({name}, 5, 'n')", said("**5**"), tags=["answer"], outputs_hidden=True)
    return [markdown("How many?"), code(f"{name} = ...", tags=["prediction"]), compared]


@pytest.fixture(autouse=True)
def _quizzes(tmp_path, monkeypatch):
    """The quizzes of one notebook, 99."""
    monkeypatch.setattr("helpers.course.quiz_texts.FOLDER", tmp_path)
    (tmp_path / "99_x.toml").write_text(QUIZZES, encoding="utf-8")


def opening():
    """What stands before the first sentence of content."""
    return [
        markdown("# A title\n\n**Time**"),
        code("# Set-up\n" * 30, source_hidden=True),
        code("# @title Imports\nimport math\n" + "\n" * 20, tags=["folded"], source_hidden=True),
        markdown("## 1 A question\n\nWhy?"),
    ]


def timed(cells):
    """A notebook whose *Time* paragraph is right."""
    made = notebook(*cells)
    write_time(made, 60)
    return made


def lesson():
    """The cells of a small lesson without fault."""
    return [
        *opening(),
        *(cell for name in NAMES for cell in turn(name)),
        *(cell for name in ("mine", "mine_too") for cell in prediction(name)),
        code("show(ax, 'A line.')", picture(13, 6), said("**Figure.** A line that rises.")),
        code("explore(f, n=slider(1, 1, 3))", said(f"*{RUN_ME}*"), printed("1")),
        code('quiz("one")', said("How many?")),
        code('quiz("two")', said("And now?")),
    ]


def test_a_good_lesson_has_no_complaints():
    assert rules.check_lesson(timed(lesson()), "99_x.ipynb") == []


def test_a_further_notebook_may_have_fewer_tasks_and_no_quiz():
    few = [*opening(), *turn("first"), *prediction("mine")]
    assert rules.check_lesson(timed(few), "further/99_more.ipynb") == []
    asks = timed([*few, code('quiz("one")', said("How many?"))])
    (complaint,) = rules.check_lesson(asks, "further/99_more.ipynb")
    assert complaint.startswith("0 files in")
    assert complaint.endswith("begin with 'further_99_more'; expected one.")
    assert rules.check_lesson(timed(opening()), "further/99_more.ipynb") == [
        "the student writes in 0 tasks; 1 or more",
        "it asks for 0 predictions; 1 or more",
    ]


def test_check_lesson_calls_every_check(monkeypatch):
    checks = [name for name in vars(rules) if name.endswith("_complaints")]
    for name in checks:
        monkeypatch.setattr(rules, name, lambda *_, name=name: [name])
    assert sorted(rules.check_lesson(notebook(), "99_x.ipynb")) == sorted(checks)


def test_labs_are_let_off_and_no_lesson_is(root):
    for path in released_notebooks(root):
        lab = path.parent.name == "labs"
        assert bool(rules.check_lesson(notebook(), path.as_posix())) is not lab, path


# --- tasks ---


def complaint(check, *cells, **options):
    """The one complaint of a check."""
    (found,) = check(notebook(*cells), **options)
    return found


def tasks(*changed):
    """Four tasks, of which the first is another one."""
    return [*changed, *(cell for name in NAMES[1:] for cell in turn(name))]


def test_fewer_than_four_tasks():
    assert "writes in 3 tasks; 4 or more" in complaint(rules.tasks_complaints, *tasks())
    twice = complaint(rules.tasks_complaints, *tasks(*turn("second")))
    assert "writes in 3 tasks" in twice


def test_a_task_without_its_tag():
    cell, solution = turn("first")
    del cell.metadata["tags"]
    found = rules.tasks_complaints(notebook(*tasks(cell, solution)))
    assert found[0] == "cell 1 calls check and lacks the tag 'your-turn'"


def test_a_cell_of_the_student_s_that_checks_nothing():
    cell, solution = turn("first")
    cell.source = "first = ..."
    found = rules.tasks_complaints(notebook(*tasks(cell, solution), *turn("fifth")))
    assert found == ["cell 1 is the student's, but checks nothing"]


@pytest.mark.parametrize(
    "below",
    [
        [],
        [markdown(f"{rules.SOLUTION}\n\n```python\n```\n\n</details>")],
        [markdown("Now look."), turn("first")[1]],
        [code(f'"""{rules.SOLUTION}\n\n```python\nx = 1\n```\n\n</details>"""')],
    ],
)
def test_a_task_without_solution_below(below):
    found = complaint(rules.tasks_complaints, *tasks(turn("first")[0], *below))
    assert found.startswith("cell 1 is not followed by its solution: '<details><summary>A sol")


def test_the_solution_below_is_read():
    cell, solution = turn("first")
    assert rules.solution_below(notebook(cell, solution), 1) == "def first(x):\n    return x"
    solution.source = solution.source.replace("</details>", "Why it is so.\n\n</details>\n")
    assert rules.solution_below(notebook(cell, solution), 1) == "def first(x):\n    return x"
    assert rules.solution_below(notebook(cell, solution), 2) == ""
    assert rules.solution_below(notebook(solution, cell), 1) == ""


@pytest.mark.parametrize(
    "outputs",
    [[printed("✓ first: by hand.")], [printed("✗ first: this does not hold")], [said("5")]],
)
def test_a_stored_attempt(outputs):
    found = complaint(rules.tasks_complaints, *tasks(*turn("first", *outputs)))
    assert found == "cell 1 is not stored as it is handed out, without an answer"


# --- predictions ---


def test_fewer_than_two_predictions():
    found = complaint(rules.predictions_complaints, *prediction("mine"))
    assert "asks for 1 predictions; 2 or more" in found


@pytest.mark.parametrize("name", ["compare", "compare_choice", "compare_words"])
def test_an_answer_cell_without_tag(name):
    cells = [*prediction("mine"), *prediction("mine_too")]
    cells[2].source = f"x = 1\n{name}(mine, x, 'n')"
    assert rules.predictions_complaints(notebook(*cells)) == []
    del cells[2].metadata["tags"]
    found = complaint(rules.predictions_complaints, *cells)
    assert found == "cell 3 answers a prediction and lacks 'answer'"


def test_a_prediction_that_is_asked_for_too_late_or_never():
    question, asked, compared = prediction("mine")
    others = [*prediction("b"), *prediction("c")]
    late = complaint(rules.predictions_complaints, question, compared, asked, *others)
    assert late == "cell 2 compares 'mine', asked for in no cell before"
    del asked.metadata["tags"]
    untagged = complaint(rules.predictions_complaints, question, asked, compared, *others)
    assert untagged == "cell 3 compares 'mine', asked for in no cell before"
    asked.metadata["tags"], asked.source = ["prediction"], "mine = 5  # told already"
    told = complaint(rules.predictions_complaints, question, asked, compared, *others)
    assert told == "cell 3 compares 'mine', asked for in no cell before"


def test_a_prediction_with_which_nothing_is_compared():
    cells = [*prediction("a"), *prediction("b"), *prediction("c")[:2]]
    found = complaint(rules.predictions_complaints, *cells)
    assert found == "cell 8 asks for 'c', with which nothing is compared"


# --- claims ---


@pytest.mark.parametrize("source", ["assert x", "def f(x):\n    assert x"])
def test_claims_before_the_student_s_eyes(source):
    found = complaint(rules.claims_complaints, code("x = 1"), code(source))
    assert found == "cell 2 asserts before the student's eyes: claims stand in tests/claims"


# --- quizzes ---


def asked(*names):
    return [code(f'quiz("{name}")') for name in names]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (asked("one"), "the quiz 'two' is asked 0 times"),
        (asked("one", "two", "one"), "the quiz 'one' is asked 2 times"),
        (asked("one", "two", "three"), "there is no quiz 'three'"),
    ],
)
def test_a_quiz_that_is_never_asked_or_unknown(cells, words):
    assert complaint(rules.quiz_complaints, *cells, number="99") == words


@pytest.mark.parametrize(
    "source", ["quizzes.show_quiz(ChoiceQuiz('Why?'))", "q = quizzes.show_quiz(one)"]
)
def test_the_text_of_a_quiz_in_a_cell(source):
    cells = [*asked("one", "two"), code(source)]
    found = complaint(rules.quiz_complaints, *cells, number="99")
    assert found == "cell 3 holds the text of a quiz"


def test_a_lesson_without_a_file_of_quizzes(tmp_path):
    assert "0 files in" in complaint(rules.quiz_complaints, number="98")
    (tmp_path / "97_y.toml").write_text("[one]\n", encoding="utf-8")
    found = complaint(rules.quiz_complaints, number="97")
    assert found == "97_y.toml, quiz 'one': 'question' is missing in a quiz."


# --- folding, captions, figures ---


def lines(number):
    return "\n".join(["x = 1"] * number)


SETUP = code(lines(40), source_hidden=True)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (code(lines(16)), "cell 2 shows 16 lines; the limit is 15, but for one tagged 'algorithm'"),
        (code(lines(16), tags=["your-turn"]), "cell 2 shows 16 lines"),
        (code(lines(2), tags=["folded"], source_hidden=True), "does not begin with '# @title '"),
        (code("# @title A", tags=["folded"]), "cell 2 is not folded yet: 'make refresh' does it"),
        (code("x", tags=["answer"]), "cell 2 shows its answer at once: 'make refresh' hides it"),
        (
            code(
                "# @title Draw",
                tags=["folded", "answer"],
                source_hidden=True,
                outputs_hidden=True,
            ),
            "cell 2 is folded whole, so that nobody finds its outputs",
        ),
    ],
)
def test_what_is_not(cell, words):
    assert words in complaint(rules.folding_complaints, SETUP, cell)


def test_a_caption_of_thirty_one_words():
    thirty = "**Figure.** " + " ".join(["word"] * 30)
    assert rules.caption_complaints(notebook(code("show(f)", said(thirty)))) == []
    longer = complaint(rules.caption_complaints, code("show(f)", said(f"{thirty} word")))
    assert longer == "cell 1 has a caption of 31 words"
    other = said(thirty.removeprefix("**Figure.** ") + " word" * 20)
    assert rules.caption_complaints(notebook(code("say(x)", other))) == []


@pytest.mark.parametrize(
    "size",
    [
        (13, 7),
    ],
)
def test_a_figure_that_is_too_large(size):
    found = complaint(rules.picture_complaints, code("show(f)", picture(1, 1), picture(*size)))
    width, height = size
    assert found == f"cell 1 has a figure of {width:.1f} x {height:.1f} inches; 13 x 6 at most"


@pytest.mark.parametrize("call", ["explore(f, n=n)", "animate(f, 3, 'c')", "guessing_game(t, 'a')"])
def test_a_widget_without_its_first_state(call):
    words = said(f"Turn n. *{RUN_ME}*")
    assert rules.picture_complaints(notebook(code(call, words, picture(2, 2)))) == []
    found = complaint(rules.picture_complaints, code(call, printed("before"), words))
    assert found == "cell 1 does not store the first state of its widget"
    tagged = complaint(rules.picture_complaints, code(call, tags=["widget"]))
    assert tagged == "cell 1 has a widget that stores nothing for its readers"


# --- words ---


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The model pays 3 bits.", "pays"),
        ("The deviation is small.", "deviation"),
        ("At\nplaces", "At places"),
        ("a non-linear function", "non-linear function"),
    ],
)
def test_a_private_word(text, word):
    wanted = f"cell 1 says '{word}'; the field says "
    assert complaint(rules.word_complaints, markdown(text)).startswith(wanted)
    caption = said(f"**Figure.** {text}")
    assert complaint(rules.word_complaints, code("show(f)", caption)).startswith(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "```python\ndeviation = pays(gram)\n```",
        "$deviation$ and $$\nf(pays)\n$$",
        "[n-grams](pays.ipynb#each-place)",
        "The standard\ndeviation of n-grams, bigrams and 10-grams, a program, a payment.",
    ],
)
def test_words_of_the_field_code_and_formulas(text):
    assert rules.word_complaints(notebook(markdown(text), code("show(f)", said(text)))) == []


# --- the frame ---


NOT_TWO = (
    "between the opening, one cell, and the first sentence of content stand not just two folded "
    "cells, set-up and imports"
)


@pytest.mark.parametrize("change", ["less", "more", "seen", "text"])
def test_what_stands_before_the_content(change, monkeypatch):
    cells = opening()
    assert rules.frame_complaints(notebook(*cells), "99_x.ipynb") == []
    if change == "seen":
        cells[2] = code("import math")
    else:
        new = {"less": [], "more": [cells[2], opening()[2]], "text": [markdown("Hello."), cells[2]]}
        cells[2:3] = new[change]
    assert complaint(rules.frame_complaints, *cells, name="99_x.ipynb") == NOT_TWO
    monkeypatch.setattr(clock, "NOT_YET_CUT", {"99"})
    assert rules.frame_complaints(notebook(*cells), "99_x.ipynb") == []


def test_no_section_is_optional():
    cells = [*opening(), markdown("An optional word.\n\n### Optional: more\n\nText.")]
    said = complaint(rules.frame_complaints, *cells, name="99_x.ipynb")
    assert said == "cell 5 heads a section as optional: move it to further/, or keep it"


def test_how_to_work_with_notebooks_stands_in_the_first_alone():
    cells = [*opening(), markdown("How to work with\nthis notebook: run the cells.")]
    said = complaint(rules.frame_complaints, *cells, name="further/99_x.ipynb")
    assert said == "cell 5 explains 'how to work with this notebook', which notebook 00 does"
