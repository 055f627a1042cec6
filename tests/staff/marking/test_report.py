"""The table of points, and pages that are safe to open and silent on what is hidden."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from nbformat import v4

from helpers.course.checks.lab import LEADERBOARD
from staff.marking.report import LONGEST, leaderboard, page, table, too_slow, unreadable

SEED = "5197094163344920720"
PNG = (  # one red point
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def row(student, **more):
    return {"student": student, "file": f"{student}.ipynb", "status": "marked", "reason": ""} | more


def read(rows):
    return list(csv.DictReader(io.StringIO(table(rows))))


def test_table():
    first = row("ada", lab="lab01", points={"a": 1.0, "b": None}, possible={"a": 1.0, "b": 4.0})
    second = row(
        "bob", lab="lab02", points={"c": 0.5}, possible={"c": 2.0}, leaderboard=(2.125, "=bits")
    )
    third = row("eve", status="refused", reason="No, it is\nnot.")
    rows = read([first, second, third])
    assert list(rows[0]) == [
        *["student", "file", "lab", "a", "b", "c"],
        *["total", "out of", "by hand", "leaderboard", "unit", "status", "reason"],
    ]
    assert [r["total"] for r in rows] == ["1", "0.5", ""]
    assert [r["out of"] for r in rows] == ["5", "2", ""]
    assert [r["by hand"] for r in rows] == ["b (4)", "", ""]
    assert [r["c"] for r in rows] == ["", "0.5", ""]
    assert (rows[1]["leaderboard"], rows[1]["unit"]) == ("2.125", "'=bits")
    assert rows[2]["reason"] == "No, it is not."


@pytest.mark.parametrize(("error", "told"), [("IndentationError", True), ("NameError", False)])
def test_an_answer_that_python_cannot_read_is_named(error, told):
    answer = graded("a_answer", [raised(error, "line 2")])
    said = unreadable(v4.new_notebook(cells=[v4.new_code_cell("x ="), answer]))
    assert bool(said) == told
    assert ("a_answer" in said) == told


@pytest.mark.parametrize(
    ("got", "error", "cost"),
    [
        (2.0, None, "It cost no points."),
        (0.0, ("NotSolved", "✗ a: no."), "It cost no points: each task that has none failed on"),
        (0.0, ("NotSolved", "✗ a: no.\n  yours  NameError: m"), "Cells below may lack what"),
        (0.0, ("NameError", "name 'a' is not defined"), "Cells below may lack what"),
    ],
)
def test_a_cell_that_was_stopped_is_named_and_what_it_can_have_cost(got, error, cost):
    source = "# @title Fine-tune the reader (run this cell; a minute)\nSTEPS = 500"
    test = graded("a", [raised(*error)] if error else [])
    cells = [v4.new_markdown_cell("# Lab"), v4.new_code_cell(source), test]
    points = {"a": (got, 2.0), "by hand": (None, 4.0)}
    words = too_slow(v4.new_notebook(cells=cells), {2: "108 s"}, points)
    start = "Stopped when the notebook was marked: cell 2 (Fine-tune the reader) after 108 s. "
    assert words.startswith(start + cost)
    assert words.endswith("look at a.") == ("Cells" in cost)


@pytest.mark.parametrize(
    "name",
    [
        "=1+1",
        "@SUM(A1)",
        "\t=1",
    ],
)
def test_a_spreadsheet_runs_nothing(name):
    shown = read([row(name)])[0]["student"]
    assert shown.startswith("'")
    assert shown.count("\n") == 0


@pytest.mark.parametrize(
    ("data", "number"),
    [
        ({"number": 2.5, "unit": "bits per byte"}, (2.5, "bits per byte")),
        ({"number": 3, "unit": [1]}, (3.0, "")),
        ({"number": 3, "unit": "x" * 1000}, (3.0, "x" * 40)),
        ({"number": True}, None),
        ({"number": float("nan")}, None),
        ({"number": "2"}, None),
        ("x", None),
    ],
)
def test_leaderboard(data, number):
    shown = v4.new_output("display_data", data={LEADERBOARD: data})
    cells = [v4.new_markdown_cell("x"), v4.new_code_cell("1", outputs=[shown])]
    assert leaderboard(v4.new_notebook(cells=cells)) == number


def stream(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def raised(name, words):
    return v4.new_output("error", ename=name, evalue=words, traceback=[words])


def graded(name, outputs=()):
    hidden = f'### BEGIN HIDDEN TESTS\ncheck.score("{name}", seed={SEED})\n### END HIDDEN TESTS'
    meta = {"nbgrader": {"grade_id": name, "grade": True, "solution": False, "locked": True}}
    return v4.new_code_cell(f"check.{name}\n{hidden}", outputs=list(outputs), metadata=meta)


def shown(*cells, student="ada", reason="", points=None, release=()):
    points = points or {}
    release = [*release, v4.new_code_cell("check.a", metadata=graded("a").metadata)]
    result = {"lab": "lab01", "points": points, "reason": reason}
    result["possible"] = dict.fromkeys(points, 2.0)
    notebooks = v4.new_notebook(cells=list(cells)), v4.new_notebook(cells=release)
    return page(*notebooks, student, result, [SEED])


class Tags(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.attributes = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_no_markup_of_a_student_gets_through():
    outputs = [
        stream(EVIL),
        stream("\x1b[31mred\x1b[0m\x00\ud800", "stderr"),
        v4.new_output("error", ename=EVIL, evalue=EVIL, traceback=[EVIL]),
        v4.new_output("display_data", data={"text/html": EVIL, "text/plain": EVIL}),
        v4.new_output("display_data", data={"image/svg+xml": EVIL}),
        v4.new_output("display_data", data={"image/png": f'{PNG}"><script>x</script>'}),
        v4.new_output("display_data", data={"image/png": "PHN2Zz4="}),
        v4.new_output("display_data", data={"text/markdown": f"[x](javascript:{EVIL})"}),
    ]
    cells = [v4.new_markdown_cell(EVIL), v4.new_code_cell(EVIL, outputs=outputs)]
    cells += [v4.new_raw_cell(EVIL), graded("a", [stream(f"✗ a: {EVIL}")])]
    text = shown(*cells, student=EVIL, reason=EVIL, points={"a": 0.0, EVIL: None})
    tags = Tags(text)
    assert tags.seen <= {
        *["html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "strong", "table"],
        *["tr", "th", "td", "div", "pre", "br", "img"],
    }
    assert tags.attributes <= {"lang", "charset", "http-equiv", "content", "class", "alt", "src"}
    assert re.findall(r'src="(.{22})', text) in ([], ["data:image/png;base64,"])
    assert "default-src 'none'" in text
    assert "red" in text
    assert "\x1b" not in text
    text.encode("utf-8")


def test_a_picture_is_shown():
    output = v4.new_output("display_data", data={"image/png": PNG, "text/plain": "<Figure>"})
    assert f"base64,{PNG}" in shown(v4.new_code_cell("plot()", outputs=[output]))


def test_what_is_hidden_stays_hidden():
    said = (
        "debug: hidden input 0.123\n✗ a: this does not hold: by hand.\n  input    [0.5]\n"
        "  yours    0.3\n           and more\n  hint     Think.\n"
        "  Later cells use the course's own version.\n  0.456 printed on a hidden input\n"
    )
    failed = v4.new_output("error", ename="NotSolved", evalue="✗ a: any text.", traceback=["tb"])
    test = graded("a", [stream(said), failed])
    own = v4.new_code_cell("print(In)", outputs=[stream(f"check.score('a', seed={SEED})")])
    raised = v4.new_output("error", ename="ValueError", evalue="0.789", traceback=["0.789"])
    text = shown(test, own, graded("b", [raised]), points={"a": 0.0})
    for kept in ("by hand", "[0.5]", "and more", "Think.", "any text", "The cell ended with"):
        assert kept in text
    for secret in ("HIDDEN", SEED, "0.123", "0.456", "0.789", ">tb"):
        assert secret not in text
    after_right = stream("✓ a: by hand.\n  0.456 printed on a hidden input\n")
    assert "0.456" not in shown(graded("a", [after_right]), points={"a": 2.0})


def test_a_page_says_each_thing_once_and_repeats_no_text_of_the_lab():
    said = "✗ a: by hand.\n  input    0.5\n  hint     Think.\n  Later cells use the course's own."
    hidden = ["✗ a: by hand.\n  hint     Think.", "✗ a: any text.\n  hint     Think."]
    for words, times in zip(hidden, (0, 2), strict=True):  # in the table, and in the notebook
        text = shown(graded("a", [stream(said), raised("NotSolved", words)]), points={"a": 0.0})
        assert text.count("On hidden inputs:") == text.count("any text") == times
        assert text.count("by hand") == 2
        assert "Later cells" not in text
    lab, own = v4.new_markdown_cell("## Head\nLong text."), v4.new_markdown_cell("My long answer.")
    text = shown(lab, own, release=[lab])
    assert "Head" in text
    assert "Long text" not in text
    assert "My long answer." in text


def test_long_outputs_are_cut():
    text = shown(v4.new_code_cell("1", outputs=[stream("begin" + "x" * 10**6 + "end")] * 100))
    assert len(text) < 60 * LONGEST
    assert "begin" in text
    assert "end\n" in text or "end<" in text
    assert "characters left out" in text
    assert "more outputs were left out" in text
    many = shown(*[v4.new_code_cell("x" * 10**5) for _ in range(60)])
    assert len(many) < 5 * 2**20
    assert "it is too long" in many


def test_points_that_wait_for_a_person():
    text = shown(points={"a": 2.0, "why": None})
    assert "2 of 4 points" in text
    assert "2 more are given by a person" in text
    assert "– of 2" in text
