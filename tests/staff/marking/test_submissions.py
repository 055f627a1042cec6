"""Submissions are found and read, whatever programs have left beside them or in them."""

import json

import pytest
from nbformat import v4

from staff.marking import submissions
from staff.marking.state import _page_names
from staff.marking.submissions import Refused, Submission, find_submissions, read_submission


def test_what_programs_leave_is_no_submission(tmp_path):
    kept = ("ann.ipynb", "bob/lab01.ipynb")
    left = ("__MACOSX/cyd.ipynb", ".ipynb_checkpoints/a.ipynb", "bob/._lab01.ipynb", "~$ann.ipynb")
    for name in (*kept, *left):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [submission.file for submission in find_submissions(tmp_path)] == [*kept]


def handed_in(path, printed=""):
    cell = v4.new_code_cell("x = 1", outputs=[v4.new_output("stream", text=printed)])
    path.write_text(json.dumps(v4.new_notebook(cells=[cell])), encoding="utf-8")
    return path


def test_printed_output_makes_no_submission_too_large(tmp_path):
    notebook = read_submission(handed_in(tmp_path / "a.ipynb", "x" * (21 * 2**20)))
    assert notebook.cells[0].source == "x = 1"
    assert notebook.cells[0].outputs == []


def test_what_would_fill_the_memory_is_refused_with_a_way_on(tmp_path, monkeypatch):
    path = handed_in(tmp_path / "a.ipynb", "x" * 3000)
    monkeypatch.setattr(submissions, "LARGEST_FILE", 2**10)
    with pytest.raises(Refused, match=r"The file is too large \(.*\): clear its outputs\."):
        read_submission(path)
    monkeypatch.setattr(submissions, "LARGEST_FILE", 2**20)
    monkeypatch.setattr(submissions, "LARGEST", 4)
    with pytest.raises(Refused, match="Its cells are too large"):
        read_submission(path)


def test_a_byte_order_mark_is_no_obstacle(tmp_path):
    path = handed_in(tmp_path / "a.ipynb")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_submission(path).cells[0].source == "x = 1"


def test_a_name_with_combining_marks_names_its_page():
    submission = Submission("हिन्दी/e\u0301", "a.ipynb")
    assert _page_names([submission]) == {"a.ipynb": "हिन्दी_e\u0301.html"}
