"""The human half of marking: points and comments of a person, a roster, exports, who is alike."""

import csv
import io
import json
import os
import shutil
import zipfile

import nbformat
import pytest
from nbformat import v4

from helpers.course.environment import find_root
from helpers.files import write_whole
from staff.authoring.labs import lab_sources
from staff.marking import by_hand, report
from staff.marking.state import State
from staff.marking.submissions import MARKS, find_submissions, printed

QUESTION = next(q for q in by_hand.questions(lab_sources(find_root())) if q.lab == "lab05")
RELEASE = v4.new_notebook()


def row(student, file, tested, by_person=None):
    return {
        "student": student,
        "file": file,
        "lab": "lab05",
        "status": "marked",
        "reason": "",
        "points": {"pack": tested, QUESTION.task: by_person},
        "possible": {"pack": 3.0, QUESTION.task: QUESTION.points},
    }


@pytest.fixture
def folder(tmp_path):
    """Anna (in a folder of Moodle) and Ben have handed in lab 05, and it has been marked."""
    answers = {
        "Anna Li_1234_assignsubmission_file_/lab.ipynb": "<b>One</b> thing",
        "Ben.ipynb": "No",
    }
    for name, answer in answers.items():
        cells = [
            v4.new_code_cell(
                "def pack(): pass", metadata={"nbgrader": {"grade_id": "pack-answer"}}
            ),
            v4.new_markdown_cell(answer, metadata={"nbgrader": {"grade_id": QUESTION.task}}),
        ]
        (tmp_path / name).parent.mkdir(exist_ok=True)
        nbformat.write(v4.new_notebook(cells=cells), tmp_path / name)
    submissions = find_submissions(tmp_path)
    (tmp_path / MARKS / "feedback").mkdir(parents=True)
    state = State(tmp_path / MARKS, submissions, "")
    for submission in submissions:
        result = row(submission.student, submission.file, 3.0)
        page = report.page(RELEASE, RELEASE, submission.student, result)
        state.add(submission, {k: v for k, v in result.items() if k != "file"}, page)
    return tmp_path


def table(text):
    return {line["student"]: line for line in csv.DictReader(io.StringIO(text))}


def test_points_and_comments_come_into_pages_sums_and_exports(folder):
    before = {p: p.read_bytes() for p in (folder / MARKS).rglob("*.*")}
    (folder / "by_hand.csv").write_text(
        f'student,task,points,comment\nAnna Li,{QUESTION.task},2.5,"Fine, <but> short"\n'
    )
    (folder / "class.csv").write_text("name,number\nanna li,7\nCleo,9\n")
    said = by_hand.write_all(folder, None, folder / "class.csv")
    assert "Not on the roster, so without a number: Ben." in said
    assert "1 of the roster have handed nothing in." in said
    assert any(line.startswith("1 answers wait for a person") for line in said)
    page = (folder / MARKS / "returned/Anna Li.html").read_text()
    assert f"<strong>5.5 of {3 + QUESTION.points:g} points</strong></p>" in page
    assert "Fine, &lt;but&gt; short" in page
    assert "A person reads this one." not in page
    rows = table((folder / MARKS / "all.csv").read_text())
    assert (rows["Anna Li"]["total"], rows["Anna Li"]["number"]) == ("5.5", "7")
    assert rows["Ben"]["by hand"] == f"{QUESTION.task} ({QUESTION.points:g})"
    assert rows["Cleo"]["status"] == "not handed in"
    moodle = (folder / MARKS / "moodle.csv").read_text().splitlines()
    assert moodle == ["Full name,ID number,lab05", "Anna Li,7,5.5", "Ben,,"]
    assert (folder / MARKS / "canvas.csv").read_text().splitlines()[1] == "Anna Li,,7,,5.5"
    assert {p: p.read_bytes() for p in before} == before  # the automatic half is as it was


def test_points_for_a_checked_task_stand_in_its_row_too(folder):
    state = State(folder / MARKS, find_submissions(folder), "")
    page = folder / MARKS / "feedback" / state.pages["Ben.ipynb"]
    said = report.line("pack", 3.0, 3.0, "✓ pack: <all>.")
    page.write_text(page.read_text().replace(report.line("pack", 3.0, 3.0, ""), said))
    hand = f"student,task,points,comment\nBen,pack,1,By luck\nBen,{QUESTION.task},,Come by\n"
    (folder / "by_hand.csv").write_text(hand)
    by_hand.write_all(folder, None, None)
    page = (folder / MARKS / "returned/Ben.html").read_text()
    assert f"<strong>1 of {3 + QUESTION.points:g} points</strong>" in page
    assert report.line("pack", 1.0, 3.0, "✓ pack: <all>.\nBy luck") in page
    assert "A person reads this one.\nCome by" in page  # a comment without points is kept


@pytest.mark.parametrize(
    ("mark", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), (",", "cp1252")]
)
def test_a_file_that_a_spreadsheet_has_saved(folder, mark, encoding, capsys):
    lines = [["student", "task", "points", "comment"], ["Ben", QUESTION.task, "2", "schön"]]
    text = "\r\n".join(mark.join(line) for line in lines)
    (folder / "by_hand.csv").write_bytes(text.encode(encoding))
    assert by_hand.main([str(folder)]) == (2 if encoding == "cp1252" else 0)
    assert ("save it as CSV UTF-8" in capsys.readouterr().err) == (encoding == "cp1252")
    if encoding != "cp1252":
        assert "schön" in (folder / MARKS / "returned/Ben.html").read_text(encoding="utf-8")


def test_files_of_several_pages_are_read_and_the_newer_one_counts(folder):
    head, line = "student,task,points,comment\n", "{},{},{},\n"
    for age, (name, *given) in enumerate(
        [
            ("by_hand-lab05-q (1).csv", "Ben", QUESTION.task, 2),
            ("by_hand-lab05-q.csv", "Ben", QUESTION.task, 1),
            ("by_hand.csv", "Anna Li", QUESTION.task, 3),
        ]
    ):
        (folder / name).write_text(head + line.format(*given))
        os.utime(folder / name, (10**9 - age, 10**9 - age))
    said = by_hand.write_all(folder, None, None)
    assert (
        "Points by hand are from by_hand.csv, by_hand-lab05-q.csv, by_hand-lab05-q (1).csv." in said
    )
    rows = table((folder / MARKS / "all.csv").read_text())
    assert (rows["Anna Li"]["total"], rows["Ben"]["total"]) == ("6", "5")


@pytest.mark.parametrize("last", ["Last name", "Surname"])
def test_a_roster_as_moodle_exports_it(tmp_path, last):
    roster = tmp_path / "class.csv"
    lines = [f'"First name","{last}","ID number","Email address"', "Anna,Li,7,a@b.c", "Ben,,,"]
    roster.write_text("\n".join(lines), encoding="utf-8-sig")
    assert by_hand.read_roster(roster) == {"Anna Li": "7", "Ben": ""}


@pytest.mark.parametrize("text", ["name,email\nAnna,a@b.c\n", "First name,ID number\nAnna,7\n", ""])
def test_another_roster_is_told_in_one_sentence(folder, text, capsys):
    (folder / "class.csv").write_text(text)
    assert by_hand.main([str(folder), "--roster", str(folder / "class.csv")]) == 2
    said = capsys.readouterr().err
    assert "class.csv needs the columns name and number, or those of Moodle: First name," in said
    assert said.count(".") == 2


def test_who_has_handed_in_under_another_spelling_in_no_notebook_or_twice(folder):
    (folder / "class.csv").write_text(
        "name,number\nAnna Lí,1\nben x,2\nCleo,3\nDan,4\nDan,5\n", encoding="utf-8"
    )
    (folder / "Anna Li_1234_assignsubmission_file_").rename(folder / "Anna Li\u0301")  # of a Mac
    (folder / "Ben.ipynb").rename(folder / "Ben_X.ipynb")
    (folder / "Cleo_99_assignsubmission_file_").mkdir()
    (folder / "Cleo_99_assignsubmission_file_/lab.pdf").touch()
    submissions = find_submissions(folder)
    state = State(folder / MARKS, submissions, "")
    for s in submissions:
        state.add(s, row(s.student, s.file, 3.0, 1.0), None)
    nbformat.write(RELEASE, folder / "Dan.ipynb")
    said = by_hand.write_all(folder, None, folder / "class.csv")
    rows = table((folder / MARKS / "all.csv").read_text())
    assert {name: (r["number"], r["status"]) for name, r in rows.items()} == {
        "Anna Li\u0301": ("1", "marked"),
        "Ben_X": ("2", "marked"),
        "Cleo": ("3", "no notebook"),
        "Dan": ("", "not marked yet"),  # two on the roster have this name
    }
    assert "lab.pdf" in rows["Cleo"]["reason"]
    assert not any("roster" in line for line in said)
    assert "No notebook is in the folder of Cleo." in said
    assert "1 still to be marked: call make mark again." in said


def test_two_notebooks_of_one_name_have_no_sum_until_one_is_left(folder):
    shutil.copy(folder / "Ben.ipynb", folder / "Anna Li_1234_assignsubmission_file_/lab (1).ipynb")
    submissions = find_submissions(folder)
    state = State(folder / MARKS, submissions, "")
    for s in submissions:
        state.is_done(s, folder)
        state.add(s, row(s.student, s.file, 3.0, 1.0), f"<html>{s.file}")
    said = by_hand.write_all(folder, None, None)
    assert any(line.startswith("Anna Li has 2 notebooks of lab05: ") for line in said)
    moodle = (folder / MARKS / "moodle.csv").read_text().splitlines()
    assert moodle[1:] == ["Anna Li,,", "Ben,,4"]
    state.add(submissions[0], row("Anna Li", submissions[0].file, 3.0), "<html>")
    said = by_hand.write_all(folder, None, None)
    assert not any("wait for a person" in line for line in said)  # theirs stand on no page
    state.tidy()
    (folder / submissions[0].file).unlink()
    state = State(folder / MARKS, find_submissions(folder), "")
    state.tidy()
    # Its page would have another name now: it is marked again, and the old one is not kept.
    assert [state.is_done(s, folder) for s in state.submissions] == [False, True]
    assert [p.name for p in (folder / MARKS / "feedback").iterdir()] == ["Ben.html"]
    by_hand.write_all(folder, None, None)
    assert [p.name for p in (folder / MARKS / "returned").iterdir()] == ["Ben.html"]


def test_who_is_alike_in_one_lab_is_told_when_another_is_marked_too():
    rows = [{**row(n, n, 3.0), "lab": lab} for n in ("anna", "ben") for lab in ("lab05", "lab06")]
    text = by_hand.whole_table(rows, {}, {("anna", "lab05"): ("ben", 0.9, 312)})
    told = [line[-1] for line in csv.reader(io.StringIO(text))][1:]
    assert told == ["ben: 90% of 312", "", "", ""]


def test_who_is_alike_is_told_once_all_are_marked(folder):
    for path in list(folder.rglob("*.ipynb")):
        notebook = nbformat.read(path, 4)
        notebook.cells[0].source = "x = [" + ", ".join(f"x - {i}" for i in range(40)) + "]"
        nbformat.write(notebook, path)
    column = "talk about (shared unusual passages)"
    by_hand.write_all(folder, None, None)
    told = table((folder / MARKS / "all.csv").read_text())["Ben"][column]
    assert told.startswith("Anna Li: 100% of ")
    assert int(told.rpartition(" ")[2]) > by_hand.LEAST
    nbformat.write(RELEASE, folder / "Dan.ipynb")
    by_hand.write_all(folder, None, None)
    assert {line[column] for line in table((folder / MARKS / "all.csv").read_text()).values()} == {
        ""
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Nobody,{task},1,", "line 2: nobody called 'Nobody' has handed anything in"),
        ("Ben,other,1,", "line 2: the lab of Ben has no task 'other'"),
        ("Ben,{task},99,", "gives 0 to"),
        ("Ben,{task},much,", "'much' is no number of points"),
    ],
)
def test_a_line_that_cannot_be_is_named_and_nothing_is_written(folder, line, words, capsys):
    text = "student,task,points,comment\n" + line.format(task=QUESTION.task) + "\n"
    (folder / "hand.csv").write_text(text)
    assert by_hand.main([str(folder), "--hand", str(folder / "hand.csv")]) == 2
    assert words in capsys.readouterr().err
    assert not (folder / MARKS / "all.csv").exists()


def test_before_marking_and_without_the_file(folder, tmp_path_factory, capsys):
    assert by_hand.main([str(folder), "--hand", str(folder / "none.csv")]) == 2
    assert "There is no file" in capsys.readouterr().err
    fresh = tmp_path_factory.mktemp("fresh")
    nbformat.write(RELEASE, fresh / "Ben.ipynb")
    assert by_hand.main([str(fresh)]) == 2
    assert "make mark does that first" in capsys.readouterr().err


def test_all_answers_stand_below_the_mark_scheme(folder):
    by_hand.write_all(folder, None, None)
    page = (folder / MARKS / f"questions/lab05-{QUESTION.task}.html").read_text()
    for words in (QUESTION.asked, QUESTION.scheme):
        assert words
        assert report.escaped(words)[:60] in page
    assert "&lt;b&gt;One&lt;/b&gt; thing" in page
    assert "<b>One" not in page
    assert "{{" not in page


def test_what_a_notebook_had_printed_stands_below_its_answer(folder):
    path = folder / "Ben.ipynb"
    notebook = nbformat.read(path, 4)
    image = {"image/png": "AAAA", "text/plain": ["a ", "picture"]}
    notebook.cells[0].outputs = [
        v4.new_output("stream", text="0.25 <b>bits\n"),
        v4.new_output("display_data", data=image),
    ]
    nbformat.write(notebook, path)
    by_hand.write_all(folder, None, None)
    page = (folder / MARKS / f"questions/lab05-{QUESTION.task}.html").read_text()
    assert "<pre>0.25 &lt;b&gt;bits\na picture</pre>" in page
    assert page.count("<pre>Nothing.</pre>") == 1  # Anna's
    odd = [None, 1, {"data": 1, "text": [1, "x"]}, {"data": {"text/plain": {}}}]
    write_whole(path, json.dumps({"cells": [{"outputs": odd}, {"outputs": 1}, {"outputs": odd}]}))
    assert printed(path) == "x\nx"


def test_who_is_alike():
    own = "def f(x):\n" + "\n".join(f"    x = x * {i} + {i + 1} - x // {i}" for i in range(9))
    renamed = own.replace("x", "value") + "  # mine"
    others = {
        f"s{k}": "def f(a):\n" + "\n".join(f"    a = [a, {k}, {i}, a][{i}]" for i in range(9))
        for k in range(8)
    }
    found = by_hand.alike({"anna": own, "ben": renamed, **others})
    assert found["anna"][:2] == ("ben", 1.0)
    all_but_one = len(by_hand.passages(own)) - 1  # everyone begins in the same way
    assert found["ben"] == ("anna", 1.0, all_but_one)
    assert all(share < 0.6 for student, (_, share, _) in found.items() if student in others)
    # Anna has all of Ada's; Ben's is the longer copy, so it is he who is named.
    more = {f"t{k}": f"y = [{k}]" for k in range(8)}
    part = "\n".join(own.splitlines()[:7])
    codes = {"ada": part, "ben": renamed, "anna": own, **others, **more}
    assert by_hand.alike(codes)["anna"][:2] == ("ben", 1.0)
    left = by_hand.alike({"anna": own, "ben": own, **others}, released=renamed)
    assert not {"anna", "ben"} & set(left)  # both have changed nothing
    assert by_hand.alike({"anna": "x = 1", "ben": "x = 1"}) == {}
    assert by_hand.passages("def f(:\n  'unfinished") == set()


def test_a_folder_of_moodle_gives_the_name(folder):
    assert [s.student for s in find_submissions(folder)] == ["Anna Li", "Ben"]


def test_moodle_gets_the_pages_back_in_its_own_folders(folder):
    by_hand.write_all(folder, None, None)
    path, name = folder / MARKS / by_hand.ZIP, "Anna Li_1234_assignsubmission_file_"
    with zipfile.ZipFile(path) as file:
        assert file.namelist() == [f"{name}/Anna Li.html"]
        page = (folder / MARKS / "returned/Anna Li.html").read_bytes()
        assert file.read(f"{name}/Anna Li.html") == page
    shutil.rmtree(folder / name)
    by_hand.write_all(folder, None, None)
    assert not path.exists()
