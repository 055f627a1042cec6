"""Refreshing stores clean outputs, or leaves the file as it was."""

import re
from types import SimpleNamespace

import nbformat
import pytest
from nbformat import v4

from helpers.course.own_work import TESTS
from helpers.device import SPEED
from staff.notebooks import clock
from staff.notebooks import refresh as module
from staff.notebooks.notebook_rules import WIDGET_VIEW
from staff.notebooks.refresh import (
    CapturedOutput,
    RefreshError,
    environment,
    refresh,
    strip_widgets,
)


def write(path, *sources):
    cells = [v4.new_markdown_cell("# Title"), *map(v4.new_code_cell, sources)]
    for number, cell in enumerate(cells):
        cell.id = f"cell{number}"
    nbformat.write(v4.new_notebook(cells=cells), path)
    return path


def test_outputs_are_stored(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    path = write(
        tmp_path / "a.ipynb",
        "import os\n\nopen('here', 'w').close()\nos.environ.get('COURSE_DRIVE_WIDGETS')",
        "import sys\n\nprint(1)\nsys.stdout.flush()\nprint(2)\n6 * 7",
        "import ipywidgets as widgets\n\nslider = widgets.IntSlider(3)\nslider",
        "def f(n):\n    print(n)\n\n\nwidgets.interact(f, n=slider);",
    )
    assert refresh(path)
    notebook = nbformat.read(path, as_version=4)
    cells = notebook.cells[1:]
    assert [cell.execution_count for cell in cells] == [1, 2, 3, 4]
    assert (tmp_path / "here").exists()  # the kernel's folder is the notebook's
    assert cells[0].outputs == []  # COURSE_DRIVE_WIDGETS is not set
    assert [output.get("text") for output in cells[1].outputs] == ["1\n2\n", None]
    assert cells[1].outputs[1].data == {"text/plain": "42"}
    assert cells[2].outputs == cells[3].outputs == []
    setup = {"jupyter": {"source_hidden": True}, "cellView": "form"}
    widget = {"tags": ["widget"]}
    assert [cell.metadata for cell in cells] == [setup, {}, widget, widget]
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert "version" not in notebook.metadata.language_info
    nbformat.validate(notebook)
    text = path.read_bytes()
    assert not refresh(path)
    assert path.read_bytes() == text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.ipynb", "here"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n1 / 0", r"cell 3 \(x = 1\) raised ZeroDivisionError: division by zero"),
        (
            "import ipywidgets\n\nipywidgets.interact(lambda n: 1 / n, n=0);",
            "cell 3 .* has a widget whose callback raised ZeroDivisionError",
        ),
        ("import sys\n\nprint('oh', file=sys.stderr)", "cell 3 writes to stderr: oh"),
        ("import warnings\n\nwarnings.warn('old')", "cell 3 writes to stderr"),
        ("print('/home/ada/course')", "cell 3 shows a path of the machine"),
    ],
)
def test_a_fault_leaves_the_file_as_it_was(tmp_path, source, message):
    path = write(tmp_path / "a.ipynb", "y = 1", source)
    text = path.read_bytes()
    with pytest.raises(RefreshError, match=message):
        refresh(path)
    assert path.read_bytes() == text
    assert [p.name for p in tmp_path.iterdir()] == ["a.ipynb"]


def test_an_output_widget_sends_nothing_to_the_kernel():
    """nbclient's own does, and then sometimes waits for ever (jupyter/nbclient, issue 312)."""
    executor = SimpleNamespace(raised=[], widget_state={"1": {}})
    widget = CapturedOutput("1", {"outputs": []}, None, executor)  # there is no one to send to
    kind = {"msg_type": "stream"}
    content = {"name": "stdout", "text": "x"}
    message = {**kind, "header": kind, "parent_header": {}, "content": content}
    widget.output([], message, None, 0)
    assert [output.text for output in widget.outputs] == ["x"]
    widget.clear_output([], {"parent_header": {}, "content": {}}, 0)
    assert widget.outputs == executor.raised == []


def test_a_cell_that_takes_too_long(tmp_path, monkeypatch):
    monkeypatch.setenv(SPEED, "1")
    path = write(tmp_path / "a.ipynb", "import time\n\ntime.sleep(60)")
    with pytest.raises(RefreshError, match=r"cell 2 \(import time\) took more than 1 seconds"):
        refresh(path, timeout=1)


def test_a_kernel_that_dies(tmp_path):
    path = write(tmp_path / "a.ipynb", "import os\n\nos._exit(1)")
    with pytest.raises(RefreshError, match="ended the kernel"):
        refresh(path)


@pytest.fixture
def _with_helpers(monkeypatch, root):
    """The kernel finds this course's package, wherever the notebook lies."""
    monkeypatch.setenv("PYTHONPATH", str(root))


@pytest.mark.usefixtures("_with_helpers")
def test_what_a_widget_shows_at_first_is_stored(tmp_path):
    source = (
        "import matplotlib.pyplot as plt\nfrom helpers.display.widgets import explore, slider\n\n"
        "def f(n):\n    print('n is', n)\n    plt.plot([n])\n    plt.show()\n\n"
        "explore(f, description='Turn n.', n=slider(3, 1, 6))"
    )
    path = write(tmp_path / "a.ipynb", "%matplotlib inline", source)
    assert refresh(path)
    cell = nbformat.read(path, as_version=4).cells[2]
    words, printed, picture = cell.outputs
    assert words.data["text/markdown"].startswith("Turn n. *Run this cell")
    assert printed.data == {"text/plain": "n is 3\n"}
    assert picture.data["image/png"].startswith("iVBORw0KGgo")
    assert "tags" not in cell.metadata
    assert not refresh(path)


def test_the_environment_of_what_is_stored(monkeypatch):
    monkeypatch.delenv(SPEED, raising=False)
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    monkeypatch.setenv("COURSE_OTHER", "2")
    monkeypatch.delenv(TESTS)
    found = {k: v for k, v in environment().items() if k.startswith("COURSE_")}
    assert found == {TESTS: "1", "COURSE_STORE_FIRST_STATE": "1", "COURSE_OTHER": "2"}


def bundle(**data):
    data = {key.replace("text_", "text/"): value for key, value in data.items()}
    return v4.new_output("display_data", data={WIDGET_VIEW: {"model_id": "1"}, **data})


def test_strip_widgets():
    picture = v4.new_output("display_data", data={"image/png": "aGVsbG8="})
    cells = [
        v4.new_code_cell("a", outputs=[bundle(text_plain="IntSlider()"), picture]),
        v4.new_code_cell("b", outputs=[bundle(text_plain="Quiz", text_html="<p>Why?</p>")]),
        v4.new_code_cell("c", outputs=[bundle(text_markdown="Why?")]),
        v4.new_code_cell("d", outputs=[picture], metadata={"tags": ["widget", "x"]}),
    ]
    notebook = v4.new_notebook(cells=cells, metadata={"widgets": {"state": {}}})
    strip_widgets(notebook)
    assert "widgets" not in notebook.metadata
    kept = [[sorted(output.data) for output in cell.outputs] for cell in notebook.cells]
    assert kept == [
        [["image/png"]],
        [["text/html", "text/plain"]],
        [["text/markdown"]],
        [["image/png"]],
    ]
    tags = [cell.metadata.get("tags") for cell in notebook.cells]
    assert tags == [["widget"], None, None, ["x"]]


def test_the_time_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv(SPEED, "0.5")
    monkeypatch.setattr(module, "execute", lambda *_: 120)  # seconds here
    monkeypatch.setattr(module, "check_counts", lambda _: [])
    monkeypatch.setattr(clock, "NOT_YET_CUT", {"98"})
    words = "about a minute to run on a recent laptop, about three on a slow one."
    for name, written in (("further/98_b", True), ("98_b", False), ("labs/lab01", False)):
        path = tmp_path / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("# A\n\n**Time** new.")]), path)
        refresh(path)
        source = nbformat.read(path, as_version=4).cells[0].source
        assert source.endswith(f"0 minutes to work through, {words}") is written
        assert source.endswith("new.") is not written


def test_the_command(tmp_path, monkeypatch, capsys):
    (tmp_path / "notebooks").mkdir()
    write(tmp_path / "notebooks" / "00_a.ipynb", "1 / 0")
    good = write(tmp_path / "notebooks" / "01_b.ipynb", "1")
    monkeypatch.setattr(module, "find_root", lambda: tmp_path)
    assert module.main([]) == 1  # the first fails, the second is stored all the same
    printed = capsys.readouterr()
    assert "00_a.ipynb was left as it was" in printed.err
    assert re.search(r"01_b\.ipynb: outputs stored \(\d+ s\); 0 minutes to work", printed.out)
    assert nbformat.read(good, as_version=4).cells[1].execution_count == 1
    assert module.main(["01"]) == 0
    assert "01_b.ipynb: unchanged" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        module.main(["09"])
