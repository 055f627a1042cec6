"""Slides of a notebook: what is shown, with what above it, and what goes into the notes."""

import nbformat
import pytest
from nbformat import v4

from helpers.course.workspace import released_notebooks
from staff.notebooks import slides
from tests.conftest import ROOT

LECTURES = [ROOT / "notebooks" / p for p in released_notebooks(ROOT) if p.parent.name == ""]

PNG = v4.new_output("display_data", data={"image/png": "aGVsbG8=", "text/plain": "[figure]"})
CAPTION = v4.new_output("display_data", data={"text/markdown": "**Figure.** A line that <rises>."})
SOLUTION = "<details><summary>A solution</summary>\n\n```python\nreturn x\n```\n\n</details>"


def code(source, *outputs, tags=()):
    return v4.new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def printed(text):
    return v4.new_output("stream", name="stdout", text=text)


def lecture():
    text = v4.new_markdown_cell
    folded = "<details><summary>The result, without a prediction</summary>\n\nMeasured: **3**.\n"
    answer = v4.new_output("display_data", data={"text/markdown": folded + "\n</details>"})
    return v4.new_notebook(
        cells=[
            text("# 01 · A title\n\n[![badge](x)](y)\n\n**What is asked?**\n\nMore."),
            code("import torch"),
            text("## 1 One\n\nBefore. We draw $x$. (An aside.)"),
            code("# @title Draw", PNG, CAPTION, tags=["folded", "show"]),
            text("So it rises.\n\nLet it rise twice.\n\n**Before you go on**: how far?"),
            code("mine = ...", tags=["prediction"]),
            code("# @title Draw again", PNG, CAPTION, tags=["folded", "show"]),
            code("compare()", printed("What came out:\n"), answer, tags=["answer", "show"]),
            text("## 2 Two\n\nNow code.\n\n**Your turn.** Write $f$."),
            code("def f(x):\n    ...\n\n\nf = check.f(f)", tags=["your-turn", "show"]),
            text(SOLUTION),
            text("It holds:\n\n- a list"),
            code("print(1)", printed("1 < 2\n"), tags=["show"]),
            text("**So what.** It ends."),
        ]
    )


def test_what_stands_on_each_slide():
    title, drawing, _, answer, task, run = slides.slides_of(lecture())
    assert "A title" in title.body[0]
    assert "What is asked?" in title.body[1]
    assert drawing.section == "1 One"
    assert "We draw $x$." in drawing.body[0]
    assert "aside" not in drawing.body[0]
    assert 'alt="A line that &lt;rises&gt;."' in drawing.body[1]
    assert all("# @title" not in piece for piece in drawing.body)
    assert "Let it rise twice." in answer.body[0]
    assert "So it rises" not in answer.body[0]
    assert "how far?" in answer.body[1]
    assert ["Measured: <strong>3</strong>" in piece for piece in answer.then] == [True]
    assert "Now code." in task.body[0]
    assert "Write $f$" in task.body[1]
    assert "check" not in task.body[2]
    assert any("return x" in text for text in task.notes)
    assert len(run.body) == 2  # a list is no sentence to begin with
    assert "1 &lt; 2" in run.body[1]


def test_prose_between_the_slides_is_what_the_speaker_says():
    _, drawing, _, answer, task, run = slides.slides_of(lecture())
    assert [text[:9] for text in drawing.notes] == ["## 1 One\n", "So it ris"]
    assert answer.notes == []
    assert any("It holds" in text for text in task.notes)
    assert run.notes == ["**So what.** It ends."]


def test_a_heading_within_a_cell_parts_the_notes():
    parted = v4.new_markdown_cell("It rises.\n\n### Why?\n\nBecause.\n\n**Your turn.** Write $f$.")
    first, task = code("1", tags=["show"]), code("...", tags=["your-turn", "show"])
    for last in (task, code("2", tags=["show"])):
        cells = [v4.new_markdown_cell("# A"), v4.new_markdown_cell("## 1 One"), first, parted, last]
        _, before, behind = slides.slides_of(v4.new_notebook(cells=cells))
        assert before.notes[-1] == "It rises."
        assert "Because." in behind.notes[0]
        assert "It rises." not in behind.notes[0]


def test_the_title_is_spoken_to():
    frame = "After this notebook you will be able to\n\n- draw.\n\n**Time** an hour"
    cell = v4.new_markdown_cell(f"# A\n\n**What?**\n\n> A riddle.\n\nMore.\n\n{frame}")
    (title,) = slides.slides_of(v4.new_notebook(cells=[cell]))
    assert title.notes == ["> A riddle.", "More."]


def test_a_drawing_below_a_solution_stands_with_what_its_task_speaks_of():
    task = "Old.\n\nMask the future:\n\n$$x$$\n\nBy hand.\n\n**Your turn.** Write it."
    cells = [v4.new_markdown_cell(task), code("...", tags=["your-turn"])]
    cells += [v4.new_markdown_cell(SOLUTION), code("# @title Draw", PNG, tags=["folded", "show"])]
    said, _ = slide_of(*cells).body
    assert [part for part in ("Mask the future", "$$x$$", "By hand.") if part not in said] == []
    assert "Your turn" not in said
    assert "Old." not in said


def slide_of(*cells):
    (_, slide) = slides.slides_of(v4.new_notebook(cells=[v4.new_markdown_cell("# A"), *cells]))
    return slide


@pytest.mark.parametrize(
    ("prose", "seen", "unseen"),
    [
        ("Old.\n\nThe loss is\n\n$$x$$\n\nwhere $x$ is new.", ["The loss is", "$$x$$"], ["Old"]),
        ("Old.\n\nThe loss is\n\n$$x$$\n\nA remark.", ["The loss is", "A remark"], ["Old"]),
        ("Old.\n\nTake two:\n\n| a | 1 |\n\nSo $x$:\n\n$$x$$", ["Take two", "| a |"], ["Old"]),
        ("<details>Told.</details>\n\nNew.", ["New."], ["Told."]),
        ("Old.\n\nSee [09](09_self.ipynb#1-One).", ["See 09."], ["href", "Old"]),
        (f"{'Word. ' * 95}New.", ["New."], ["Word. " * 91]),
    ],
)
@pytest.mark.parametrize("between", ["\n\n", None])
def test_a_question_brings_what_it_speaks_of(prose, seen, unseen, between):
    ask, text = "**Before you go on**: how much?", v4.new_markdown_cell
    cells = [text(prose + between + ask)] if between else [text(prose), code("x = 1"), text(ask)]
    slide = slide_of(*cells, code("compare()", printed("3"), tags=["answer", "show"]))
    context, question = slide.body
    assert "how much?" in question
    assert [part for part in seen if part not in context] == []
    assert [part for part in unseen if part in context] == []
    if between:  # the speaker has all of it
        assert prose in slide.notes[0]


@pytest.mark.parametrize("end", ["", "\n\nwhere $d$ is the width."])
def test_a_formula_above_a_cell_stands_on_its_slide(end):
    said = "Old.\n\nNew. Divide:\n\n$$x / d$$"
    slide = slide_of(v4.new_markdown_cell(said + end), code("divide()", tags=["show"]))
    assert "$$x / d$$" in slide.body[0]
    assert "Old" not in slide.body[0]
    assert "divide" in slide.body[1]


def test_the_answer_of_a_quiz_comes_second():
    asked = "Which?<details><summary>Answer, with reasons</summary>It is B.</details>"
    output = v4.new_output("display_data", data={"text/html": asked})
    slide = slide_of(code('quiz("one")', output, tags=["show"]))
    assert ["Which?" in piece and "It is B." not in piece for piece in slide.body] == [True]
    assert slide.then == ["It is B."]


def test_what_is_said_to_whoever_runs_a_cell_is_left_out():
    said = v4.new_output(
        "display_data", data={"text/markdown": "Move the slider to see the next step."}
    )
    own = printed("block: the course's version (own/notebook11_block.py is not there).\n1.5\n")
    slide = slide_of(code("draw()", said, own, tags=["show"]))
    shown = " ".join(slide.body)
    assert "slider" not in shown
    assert "own/" not in shown
    assert "1.5" in shown


def test_the_slide_types_follow():
    notebook = lecture()
    slides.write_slide_types(notebook)
    types = [cell.metadata["slideshow"]["slide_type"] for cell in notebook.cells]
    first, rest = types[:8], types[8:]
    assert first == ["slide", "skip", "notes", "slide", "subslide", "skip", "subslide", "fragment"]
    assert rest == ["slide", "-", "notes", "notes", "subslide", "notes"]


@pytest.mark.parametrize(
    ("prose", "sentence"),
    [
        ("One. Two *goes* on:", "One. Two *goes* on"),
        ("One. So two. *Three*.", "So two. *Three*."),
        (f"{'word ' * 40}. Two.", "Two."),
        ("One.\n\n$$x$$", ""),
        ("It costs 3.5 bits. (Not more.)", "It costs 3.5 bits."),
    ],
)
def test_the_sentence_above_a_cell(prose, sentence):
    assert slides.lead(prose) == sentence


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_shows_twelve_to_eighteen_cells(path):
    notebook = nbformat.read(path, as_version=4)
    shown = [cell for cell in notebook.cells if slides.SHOW_TAG in slides.tags_of(cell)]
    assert 12 <= len(shown) <= 18
