"""A folder of submissions, some of which mean harm, is marked: every one becomes a row."""

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat import v4

from helpers.device import SPEED
from staff.authoring.cells import read_notebook
from staff.authoring.student_version import student_version, with_seeds
from staff.marking import marking as module
from staff.marking import sandbox
from staff.marking.limits import Limits
from staff.marking.marking import Marking, main
from staff.marking.sandbox import NoSandbox

pytestmark = pytest.mark.marking

ROOT = Path(__file__).resolve().parents[3]
BOXED = shutil.which("bwrap") is not None
SECRET = "a class's own"
QUICK = Limits(seconds=24, memory=2.0)  # 8 s for a cell

PERPLEXITY = """def perplexity(probabilities):
    ### BEGIN SOLUTION
    import math

    if 0 in probabilities:
        return math.inf
    return math.exp(-sum(map(math.log, probabilities)) / len(probabilities))
    ### END SOLUTION"""
LIKELIHOOD = """def maximum_likelihood(counts, context):
    ### BEGIN SOLUTION
    row = counts.get(context, {})
    return {symbol: count / sum(row.values()) for symbol, count in row.items()}
    ### END SOLUTION"""
TEST = """{0} = check.{0}({0})
### BEGIN HIDDEN TESTS
check.score("{0}", seed=0)
### END HIDDEN TESTS"""
SETUP = (
    "from helpers.course.checks import lab01 as check\n\nVARIANT = 0\ncheck.use_variant(VARIANT)"
)


def cell(make, source, name, **marks):
    marks = {"grade": False, "locked": False, "solution": False, "task": False} | marks
    nbgrader = {"grade_id": name, "schema_version": 3, **marks}
    return make(source, id=name.replace("_", "-"), metadata={"nbgrader": nbgrader})


def source():
    """A lab with two tasks, worth 1 and 2 points, and a question worth 3."""
    code, text = v4.new_code_cell, v4.new_markdown_cell
    test = {"grade": True, "locked": True}
    scheme = "=== BEGIN MARK SCHEME ===\nSecret scheme.\n=== END MARK SCHEME ==="
    cells = [
        cell(code, SETUP, "setup", locked=True),
        cell(code, PERPLEXITY, "perplexity_answer", solution=True),
        cell(code, TEST.format("perplexity"), "perplexity", points=1, **test),
        cell(code, LIKELIHOOD, "likelihood_answer", solution=True),
        cell(code, TEST.format("maximum_likelihood"), "likelihood", points=2, **test),
        cell(text, f"Why?\n\n{scheme}", "why", grade=True, solution=True, points=3),
    ]
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    return notebook


def named(notebook, name):
    found = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name]
    return found[0]


def answered():
    """The release with right answers, as a student would hand it in."""
    notebook = student_version(source())
    for name, text in (("perplexity_answer", PERPLEXITY), ("likelihood_answer", LIKELIHOOD)):
        named(notebook, name).source = re.sub(r" *###.*\n?", "", text)
    named(notebook, "why").source = "Because."
    return notebook


def insert(notebook, place, code):
    notebook.cells.insert(place, v4.new_code_cell(code))
    return notebook


def before_likelihood(code):
    """Right answers, and a cell of the student's own between the two tasks."""
    return insert(answered(), 3, code)


def without_a_function(first="", last=""):
    """A first task whose cell fails before it makes its function, which the second one calls."""
    notebook = answered()
    answer = named(notebook, "perplexity_answer")
    answer.source = f"{first}\n{answer.source}\n{last}"
    answer = named(notebook, "likelihood_answer")
    answer.source = answer.source.replace("count / sum(row.values())", CALLING)
    return notebook


CALLING = "1 / perplexity([count / sum(row.values())])"


def curious():
    """Right answers; looks around, shows markup, leaves a process behind, exits in a cell."""
    notebook = insert(answered(), 0, LOOK_AROUND)
    insert(notebook, 1, 'from IPython.display import HTML\nHTML("<script>alert(1)</script>")')
    insert(notebook, 2, 'print("<script>alert(2)</script>")\nimport sys\nsys.exit()')
    notebook.cells.append(v4.new_code_cell(ANNOUNCED))
    return notebook


# What it may do outside, the tests of the sandbox say.
LOOK_AROUND = """
import os, pathlib, subprocess
print("tests", os.path.exists("COURSE/tests"), "others", os.path.exists("SUBMISSIONS"))
found = pathlib.Path("/tmp").rglob("*.db")
print("files of the marking:", [p for p in found if pathlib.Path("COURSE") not in p.parents])
open("mine", "w").write("here")
subprocess.Popen(["sleep", "987654"], start_new_session=True)
""".replace("COURSE", str(ROOT))
ANNOUNCED = """from helpers.course.checks.lab import announce
announce(2.25, "bits per byte")"""

# Catches what should interrupt it, prints nothing, and does not end.
STUBBORN = """import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True: pass"""


def cheating():
    """Cells deleted, duplicated, renamed, retyped, revalued, skipped; a number for points."""
    notebook = answered()
    test = named(notebook, "perplexity")
    test.metadata["tags"] = ["skip-execution"]
    test.metadata.nbgrader.update(grade=False, points=1000)
    test.source = "pass"
    notebook.cells.insert(2, nbformat.from_dict(json.loads(json.dumps(test))))
    answer = named(notebook, "perplexity_answer")
    answer.source = "def perplexity(p):\n    get_ipython().displayhook(1.0)\n    return 1"
    notebook.cells.append(v4.new_code_cell("while True: pass"))
    notebook.cells.remove(named(notebook, "setup"))
    notebook.cells.remove(named(notebook, "likelihood"))
    return notebook


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    else:
        path.write_text(json.dumps(content))  # nbformat would refuse duplicated ids


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    write(folder / "lab01" / "lab01_tiny.ipynb", source())
    return {"lab01": folder / "lab01" / "lab01_tiny.ipynb"}


def snapshot(folder, *left_out):
    """What is in a folder: names, kinds, sizes, times of change."""
    found = {}
    for where, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in ("__pycache__", *left_out)]
        for name in files:
            status = os.lstat(os.path.join(where, name))
            found[os.path.join(where, name)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found


OTHERS: set[psutil.Process] = set()  # that ran before: JupyterLab of the browser's tests, say


def strays():
    """Processes that a submission or a worker left, wherever they hang."""
    found = [p.info["cmdline"] for p in psutil.process_iter(["cmdline"])]
    found = [words for words in found if words and "987654" in words]
    workers = psutil.Process().children(recursive=True)
    return found + [p for p in workers if p not in OTHERS and p.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module", autouse=True)
def temporary(tmp_path_factory):
    """A folder of our own for temporary files, with a short name for the sake of sockets."""
    tmp_path_factory.getbasetemp()  # which pytest would put there otherwise
    OTHERS.update(psutil.Process().children(recursive=True))
    kept, folder = tempfile.tempdir, tempfile.mkdtemp(prefix="m-")
    tempfile.tempdir = folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SPEED, "1")  # the seconds of these limits are those that are waited for
        yield Path(folder)
    tempfile.tempdir = kept
    shutil.rmtree(folder)


def read_rows(folder):
    with open(folder / "marks/points.csv", newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def marked(tmp_path_factory, sources):
    """One folder with everything, marked once: (folder, rows, page of a student)."""
    if not BOXED:
        pytest.skip("the sandbox needs bubblewrap")
    folder = tmp_path_factory.mktemp("submissions")
    looking = curious()
    looking.cells[0].source = looking.cells[0].source.replace("SUBMISSIONS", str(folder))
    write(folder / "curious.ipynb", looking)
    write(folder / "=cmd<b>" / "copy of lab (1).ipynb", student_version(source()))
    write(folder / "cheating.ipynb", cheating())
    write(folder / "stubborn.ipynb", before_likelihood(STUBBORN))
    write(folder / "killer.ipynb", before_likelihood("import os\nos.kill(os.getpid(), 9)"))
    write(folder / "unreadable.ipynb", without_a_function(last="    return (1 +"))
    write(folder / "no package.ipynb", without_a_function(first="import nothing_of_the_kind"))
    write(folder / "junk.ipynb", "{")
    write(folder / "nested.ipynb", "[" * 100_000)
    write(folder / "list.ipynb", "[1, 2]")
    write(folder / "odd.ipynb", {"cells": [{"cell_type": 7, "source": {"a": 1}}]})
    write(folder / "old.ipynb", {"worksheets": []})
    write(folder / "other.ipynb", v4.new_notebook(cells=[v4.new_code_cell("1")]))
    write(folder / "enormous.ipynb", '{"cells": [{"source": "' + "x" * (21 * 2**20) + '"}]}')
    (folder / "linked.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.ipynb")
    (folder / "binary.ipynb").write_bytes(b"\x89\xff\x00")
    watched = [folder, ROOT / "helpers", ROOT / "data"]
    before = [snapshot(path, "marks") for path in watched]
    Marking(folder, SECRET, 2, QUICK, sources=sources).run()
    after = [snapshot(path, "marks") for path in watched]
    return folder, read_rows(folder), before == after


POINTS = ("perplexity", "likelihood", "why")


def points(row):
    return tuple(row[name] for name in POINTS)


def test_right_answers_get_all_points(marked):
    row = marked[1]["curious"]
    assert points(row) == ("1", "2", "")
    assert (row["total"], row["out of"], row["by hand"]) == ("3", "6", "why (3)")
    assert (row["lab"], row["status"]) == ("lab01", "marked")
    assert (row["leaderboard"], row["unit"]) == ("2.25", "bits per byte")


def test_code_sees_nothing_outside(marked):
    page = (marked[0] / "marks/feedback/curious.html").read_text()
    assert "tests False others False" in page
    assert "files of the marking: []" in page


def test_the_page_of_feedback_is_safe(marked):
    page = (marked[0] / "marks/feedback/curious.html").read_text()
    assert "&lt;script&gt;alert(2)" in page
    assert "<script" not in page.lower()
    assert "✓ perplexity: right on hidden inputs too." in page
    for hidden in ("HIDDEN", "check.score", "Secret scheme"):
        assert hidden not in page


def test_an_untouched_release_gets_nothing(marked):
    row = marked[1]["'=cmd<b>"]  # the apostrophe keeps a spreadsheet from running the name
    assert points(row) == ("0", "0", "0")
    assert row["status"] == "marked"
    page = (marked[0] / "marks/feedback/_cmd_b_.html").read_text()
    assert "○ perplexity: not attempted yet." in page
    assert "<b>" not in page


def test_cells_that_were_tampered_with(marked):
    row = marked[1]["cheating"]
    assert points(row) == ("0", "2", "")
    assert "missing and put back: setup, likelihood." in row["reason"]
    assert "Cells occur twice: perplexity." in row["reason"]
    assert row["out of"] == "6"
    # A cell that can be interrupted costs itself alone.
    assert row["reason"].endswith(
        " Stopped when the notebook was marked: cell 8 (while True: pass) after 8 s. "
        "It cost no points: each task that has none failed on inputs of its check's own."
    )
    assert row["status"] == "marked"


@pytest.mark.parametrize(
    ("student", "reason"), [("unreadable", "cannot read perplexity_answer;"), ("no package", "")]
)
def test_a_cell_without_its_function_costs_its_own_task_alone(marked, student, reason):
    row = marked[1][student]
    assert points(row) == ("0", "2", "")
    assert reason in row["reason"]
    assert row["status"] == "marked"


@pytest.mark.parametrize(
    ("student", "reason"),
    [
        ("stubborn", "went on after 8 s, when it was told to stop"),
        ("killer", "the kernel ended itself"),
    ],
)
def test_code_that_is_ended_keeps_the_points_before(marked, student, reason):
    row = marked[1][student]
    assert row["status"] == "stopped", row
    assert points(row) == ("1", "0", "")
    assert re.search(rf"^Ended at cell 4: .*({reason})", row["reason"]), row["reason"]
    page = (marked[0] / f"marks/feedback/{student}.html").read_text()
    assert "not run: " in page
    assert len(page) < 100_000


def test_an_endless_loop_costs_its_processor_time_however_long_that_takes(tmp_path, sources):
    if not BOXED:
        pytest.skip("the sandbox needs bubblewrap")
    sleeper = before_likelihood("import time\ntime.sleep(8)\nprint('awake')")
    write(tmp_path / "loop.ipynb", insert(sleeper, 3, "while True: pass"))
    write(tmp_path / "stubborn.ipynb", before_likelihood(STUBBORN))
    limits = Limits(seconds=3600, work=6)  # so that no clock on the wall ends a cell
    Marking(tmp_path, SECRET, 2, limits, sources=sources).run()
    rows = read_rows(tmp_path)
    assert points(rows["loop"]) == ("1", "2", "")
    assert (
        "cell 4 (while True: pass) after 6 s of processor time. It cost" in rows["loop"]["reason"]
    )
    assert "awake" in (tmp_path / "marks/feedback/loop.html").read_text()
    told = "Ended at cell 4: it went on after 6 s of processor time, when it was told to stop."
    assert rows["stubborn"]["reason"] == told


@pytest.mark.parametrize(
    ("student", "reason"),
    [
        ("junk", "not a notebook: it is not JSON"),
        ("nested", "not a notebook: it is not JSON"),
        ("list", "not a notebook: no cells"),
        ("odd", "not a notebook: cell 1 has no text"),
        ("old", "format is older than 4"),
        ("other", "no cell of a lab"),
        ("enormous", r"too large \(2\d MB, at most 20\)"),
        ("linked", "a link to another file"),
        ("pipe", "not a file"),
        ("binary", "not text in UTF-8"),
    ],
)
def test_files_that_are_no_submission(marked, student, reason):
    row = marked[1][student]
    assert (row["status"], row["total"]) == ("refused", "")
    assert re.search(reason, row["reason"])
    assert row["reason"].count(".") <= 2


def test_nothing_else_changed_and_nothing_is_left(marked, temporary):
    folder, _, unchanged = marked
    assert unchanged
    names = {path.name for path in (folder / "marks").iterdir()}
    assert names == {"points.csv", "feedback", "state.json"}
    assert list(temporary.glob("marking-*")) == []
    assert strays() == []


def test_only_what_is_new_is_marked_again(marked, sources, monkeypatch):
    folder = marked[0]
    seen = []

    def one(self, number, submission):
        seen.append(submission.file)
        return {"status": "refused", "reason": "Seen."}, None

    monkeypatch.setattr(module.Workers, "_one", one)
    call = {"secret": SECRET, "limits": QUICK, "sources": sources}
    stored = (folder / "marks/points.csv").read_text()
    Marking(folder, **call).run()
    assert seen == []
    assert (folder / "marks/points.csv").read_text() == stored
    write(folder / "junk.ipynb", "[")
    write(folder / "late" / "x.ipynb", "[")
    (folder / "list.ipynb").unlink()
    Marking(folder, **call).run()
    assert sorted(seen) == ["junk.ipynb", "late/x.ipynb"]
    rows = read_rows(folder)
    assert rows["late"]["reason"] == "Seen."
    assert "list" not in rows
    seen.clear()
    Marking(folder, **call | {"secret": "another"}).run()
    assert len(seen) == len(rows)
    state = (folder / "marks/state.json").read_text()
    assert SECRET not in state
    assert hashlib.sha256(SECRET.encode()).hexdigest() not in state


def test_interrupted_marking_leaves_what_was_done(
    tmp_path, sources, temporary, monkeypatch, capsys
):
    for name in "abc":
        write(tmp_path / f"{name}.ipynb", "{")
    add = module.State.add

    def interrupted(self, submission, result, page):
        if self.done:
            raise KeyboardInterrupt
        add(self, submission, result, page)

    monkeypatch.setattr(module.State, "add", interrupted)
    monkeypatch.setattr(module, "lab_sources", lambda root: sources)
    monkeypatch.setattr(sandbox, "try_out", lambda *_: None)
    assert main([str(tmp_path)]) == 1
    assert "call it again" in capsys.readouterr().err
    assert len(read_rows(tmp_path)) == 1
    assert list(temporary.glob("marking-*")) == []
    assert strays() == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX systems")
def test_without_a_sandbox(tmp_path, sources, monkeypatch, capsys):
    write(
        tmp_path / "a.ipynb", insert(answered(), 0, "from pathlib import Path\nPath('y').touch()")
    )
    monkeypatch.setattr(module, "lab_sources", lambda root: sources)
    assert main([str(tmp_path), "--no-sandbox", "--workers", "1"]) == 0
    printed = capsys.readouterr()
    assert "limits on time and memory alone" in printed.err
    assert "1 submissions: 1 marked" in printed.out
    assert points(read_rows(tmp_path)["a"]) == ("1", "2", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.ipynb", "marks"]


def test_a_machine_without_bubblewrap_is_told_what_to_do(tmp_path, monkeypatch, capsys):
    write(tmp_path / "a.ipynb", "{")
    monkeypatch.setattr(module, "lab_sources", lambda root: {"lab01": tmp_path / "a.ipynb"})
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    with pytest.raises(NoSandbox, match="not installed"):
        Marking(tmp_path).run()
    assert main([str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "docker run --rm --network none --memory" in told
    assert "--no-sandbox" in told
    assert not (tmp_path / "marks").exists()


def test_bad_input_is_one_sentence(tmp_path, capsys):
    assert main([str(tmp_path / "none")]) == 2
    assert "There is no folder" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "no notebook in" in capsys.readouterr().err
    assert main([str(tmp_path), "--secret-file", str(tmp_path / "none")]) == 2
    assert "secret cannot be read" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--workers", "0"])


def test_a_class_has_its_own_hidden_inputs(sources):
    notebook = read_notebook(sources["lab01"])
    text = [json.dumps(with_seeds(notebook, "lab01", secret)) for secret in (None, "a", "b")]
    assert "seed=0" in text[0]
    assert "seed=0" not in text[1] + text[2]
    seeds = [re.findall(r"seed=(\d+)", t) for t in text[1:]]
    assert len(set(seeds[0] + seeds[1])) == 4


def test_a_closed_terminal_and_kill_end_it_as_ctrl_c_does():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        module.stop_as_by_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
