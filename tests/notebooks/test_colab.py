"""The notebooks in an environment with Colab's versions, each alone in an empty folder.

``.venv/colab`` stands for Colab (see colab_environment.py). The set-up cell clones the course
from a repository made of the working tree, or finds it in a zip or in a mounted Drive.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from helpers.course.workspace import released_notebooks
from helpers.device import time_for
from staff.notebooks.address import FIRST_LINE, bootstrap_source
from staff.notebooks.refresh import Client

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "language-model-course"
NAME = f"{FOLDER}.zip"
COURSE = "helpers/course/environment.py"  # by which set-up cells know the course
NOTEBOOKS = [ROOT / "notebooks" / path for path in released_notebooks(ROOT)]
# All cells of one notebook run here, of the others the first two: time is short.
WHOLE = sorted(NOTEBOOKS, key=lambda path: not path.name.startswith("03"))[:1]
PYTHON = Path(sys.prefix) / "colab" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

pytestmark = [
    pytest.mark.colab,
    pytest.mark.skipif(
        not PYTHON.exists(),
        reason="no environment with Colab's versions: 'make test' makes .venv/colab",
    ),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A repository of the course as it lies in the working tree, on a branch of its own."""
    tree = tmp_path_factory.mktemp("published") / "course"
    ignored = shutil.ignore_patterns(
        ".*", "work", "__pycache__", "*.egg-info", "build", "dist", NAME
    )
    shutil.copytree(ROOT, tree, ignore=ignored)
    person = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (
        ["init", "--quiet", "--initial-branch=release"],
        ["add", "--all"],
        [*person, "commit", "--quiet", "--message=course"],
    ):
        subprocess.run(["git", *command], cwd=tree, check=True)
    return tree


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """The environment variables of a kernel that looks like Colab's."""
    home = tmp_path_factory.mktemp("colab")
    package = home / "packages" / "google" / "colab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    startup = home / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-colab.py").write_text("import google.colab\n")
    kernel = home / "jupyter" / "kernels" / "colab"
    kernel.mkdir(parents=True)
    argv = [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    specification = {"argv": argv, "display_name": "Colab", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(specification))
    return {
        "PYTHONPATH": str(home / "packages"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PATH": str(home / "jupyter"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
    }


def run(cells, folder, environment, monkeypatch):
    """Execute cells in a kernel of that environment, as a notebook that is alone in a folder."""
    monkeypatch.setenv("JUPYTER_PATH", environment["JUPYTER_PATH"])
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = Client(notebook, folder, timeout=round(time_for(300)), kernel_name="colab")
    client.run({**os.environ, **environment})
    return notebook


def printed(notebook):
    """What the last cell printed."""
    return "".join(output.get("text", "") for output in notebook.cells[-1].outputs)


def code_cells(path, published):
    """The code cells of a notebook, its set-up cell pointed at the published repository."""
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells[0].source.startswith(FIRST_LINE)
    cells[0].source = bootstrap_source(published.as_uri(), "release")
    return cells


VERSIONS = (
    "import json, sys\n"
    "import IPython, ipykernel, ipywidgets, matplotlib, numpy, torch\n"
    "modules = [IPython, ipykernel, ipywidgets, matplotlib, numpy]\n"
    "print(json.dumps({m.__name__.lower(): m.__version__ for m in modules}))"
)


def test_the_first_cells_of_every_notebook(published, colab, tmp_path, monkeypatch):
    # The set-up cell is the same in all (a rule of theirs), so one kernel serves for all imports.
    setup = code_cells(NOTEBOOKS[0], published)[0]
    where = (
        "import os\n\nimport helpers\n\nprint(os.getcwd())\nprint(helpers.__file__)\n" + VERSIONS
    )
    imports = [code_cells(path, published)[1].source for path in NOTEBOOKS]
    assert all("import" in source for source in imports)
    cells = [nbformat.v4.new_code_cell(source) for source in (*imports, where)]
    notebook = run([setup, *cells], tmp_path, colab, monkeypatch)
    clone = tmp_path / "course"
    *places, versions = printed(notebook).splitlines()
    assert places == [str(clone / "notebooks"), str(clone / "helpers" / "__init__.py")]
    # And the environment is Colab's.
    requirements = Path(__file__).with_name("colab-requirements.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in requirements if "==" in line)
    found = json.loads(versions)
    assert found == {name: pinned[name] for name in found}
    assert len(found) == 5


def answer(cells):
    """Every second task gets a useless answer, the others are left empty; predictions are no
    numbers. Returns how many tasks are left empty, and how many are answered."""
    tasks = [cell for cell in cells if "your-turn" in cell.metadata.get("tags", [])]
    for cell in tasks[1::2]:
        cell.source = cell.source.replace("    ...\n", '    return "I do not know"\n')
    for cell in cells:
        if "prediction" in cell.metadata.get("tags", []):
            cell.source = cell.source.replace("= ...", '= "no idea"')
    return len(tasks[::2]), len(tasks[1::2])


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_whole_notebook(path, published, colab, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    cells = code_cells(path, published)
    empty, wrong = answer(cells)
    assert min(empty, wrong) >= 2
    notebook = run(cells, tmp_path, colab, monkeypatch)
    said = [output.get("text", "") for cell in notebook.cells for output in cell.outputs]
    assert sum("not attempted yet" in words for words in said) == empty
    assert sum("✗ " in words for words in said) == wrong
    assert [cell.execution_count for cell in notebook.cells] == [
        number + 1 for number in range(len(notebook.cells))
    ]
    for cell in notebook.cells:
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", output.text


# The rest tries the set-up cell alone, in a plain Python with the same versions.
UNPUBLISHED = bootstrap_source("https://github.com/OWNER/REPOSITORY", "main")


def set_up(folder, environment, source=UNPUBLISHED):
    """Run a set-up cell as on Colab: (the root and the folder it ends in, what it raised)."""
    program = (
        f"import google.colab\n{source}\n"
        "assert sys.path[0] == str(root)\nprint(root)\nprint(os.getcwd())"
    )
    done = subprocess.run(
        [PYTHON, "-c", program],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    raised = done.stderr.strip().rpartition("RuntimeError: ")[2]
    assert (done.returncode == 0) == (raised == ""), done.stderr
    return [Path(line) for line in done.stdout.splitlines()], raised


def tiny_course(folder):
    for name in (COURSE, "notebooks/00.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


def tiny_zip(path, note="", time=1_000_000_000):
    """A zip of a course of three files, uploaded at that time (seconds)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        for name in (COURSE, "notebooks/00.ipynb"):
            file.writestr(f"{FOLDER}/{name}", "")
        file.writestr(f"{FOLDER}/note.txt", note)
    os.utime(path, (time, time))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_zip_beside_the_notebook(colab, tmp_path):
    tiny_zip(tmp_path / NAME)
    (root, folder), _ = set_up(tmp_path, colab)
    assert root.parent == tmp_path
    assert folder == root / "notebooks"
    assert names(root) == ["helpers", "note.txt", "notebooks"]
    (root / "note.txt").write_text("mine")  # unpacked once: what is there stays
    assert set_up(tmp_path, colab) == ([root, folder], "")
    assert set_up(folder, colab) == ([root, folder], "")
    assert (root / "note.txt").read_text() == "mine"
    assert names(tmp_path) == sorted([NAME, root.name])


def test_the_newest_zip_counts(colab, tmp_path):
    tiny_zip(tmp_path / NAME, "first")
    tiny_zip(tmp_path / "holidays.zip", "another", time=1_000_000_009)
    (first, _), _ = set_up(tmp_path, colab)
    tiny_zip(tmp_path / f"{FOLDER} (1).zip", "renamed", time=1_000_000_001)
    (renamed, _), _ = set_up(tmp_path, colab)
    tiny_zip(tmp_path / NAME, "replaced", time=1_000_000_002)
    (replaced, _), _ = set_up(tmp_path, colab)
    roots = {"first": first, "renamed": renamed, "replaced": replaced}
    assert {note: (root / "note.txt").read_text() for note, root in roots.items()} == {
        note: note for note in roots
    }


def test_a_course_unpacked_by_hand(colab, tmp_path):
    root = tiny_course(tmp_path / "of mine")
    assert set_up(tmp_path, colab) == ([root, root / "notebooks"], "")


@pytest.mark.parametrize("place", [".", "course", "Colab Notebooks/course"])
def test_a_folder_in_the_drive(colab, tmp_path, place):
    root = tiny_course(tmp_path / "drive" / "MyDrive" / place)
    tiny_zip(tmp_path / "drive" / "MyDrive" / NAME)
    assert set_up(tmp_path, colab) == ([root, root / "notebooks"], "")
    assert names(tmp_path) == ["drive"]


def test_a_zip_in_the_drive_is_unpacked_outside(colab, tmp_path):
    drive = tmp_path / "drive" / "MyDrive"
    tiny_zip(drive / NAME, "in the Drive")
    (root, folder), _ = set_up(tmp_path, colab)
    assert (root / "note.txt").read_text() == "in the Drive"
    assert (root.parent, folder) == (tmp_path, root / "notebooks")
    assert names(drive) == [NAME]
    # One beside the notebook comes before it, though it is older.
    tiny_zip(tmp_path / NAME, "beside", time=900_000_000)
    (root, _), _ = set_up(tmp_path, colab)
    assert (root / "note.txt").read_text() == "beside"


def test_what_comes_before_what_with_an_address(colab, tmp_path):
    published = bootstrap_source((tmp_path / "nowhere" / "course.git").as_uri(), "main")
    _, raised = set_up(tmp_path, colab, published)
    assert raised.startswith("Could not fetch")
    tiny_zip(tmp_path / NAME, "zip")
    (root, _), _ = set_up(tmp_path, colab, published)
    assert (root / "note.txt").read_text() == "zip"
    clone = tiny_course(tmp_path / "course")
    assert set_up(tmp_path, colab, published) == ([clone, clone / "notebooks"], "")


def test_nothing_is_found(colab, tmp_path):
    (tmp_path / "sample_data").mkdir()
    (tmp_path / "drive" / "MyDrive" / "a" / "b" / "c").mkdir(parents=True)
    _, raised = set_up(tmp_path, colab)
    assert raised == (
        "No course here: upload language-model-course.zip (made by `make zip`) with the folder "
        "symbol at the left or mount a Drive with it, then run this cell again."
    )
    assert names(tmp_path) == ["drive", "sample_data"]


@pytest.mark.parametrize("fault", ["cut off", "a bit", "text", "empty", "no course"])
@pytest.mark.parametrize("place", [".", "drive/MyDrive"])
def test_a_damaged_zip(colab, tmp_path, fault, place):
    path = tiny_zip(tmp_path / place / NAME, "a note of some length")
    content = path.read_bytes()
    if fault == "cut off":
        content = content[: len(content) // 2]
    elif fault == "a bit":
        content = content.replace(b"of some length", b"or some length")
    elif fault == "no course":
        content = content.replace(b"environment.py", b"encirclings.py")
    path.write_bytes({"text": b"<html>", "empty": b""}.get(fault, content))
    _, raised = set_up(tmp_path, colab)
    assert raised == f"{NAME} is broken: upload it again and run this cell"
    assert names(tmp_path) == ([NAME] if place == "." else ["drive"])
    assert names(path.parent) == [NAME]
    tiny_zip(path)
    (root, _), _ = set_up(tmp_path, colab)
    assert root.parent == tmp_path


def test_the_real_zip(colab, course_zip, tmp_path):
    shutil.copy(course_zip, tmp_path / NAME)
    cells = nbformat.read(NOTEBOOKS[0], as_version=4).cells
    setup, imports = [cell.source for cell in cells if cell.cell_type == "code"][:2]
    assert "from helpers" in imports
    check = "import helpers\nassert Path(helpers.__file__) == root / 'helpers' / '__init__.py'"
    (root, folder), raised = set_up(tmp_path, colab, f"{setup}\n{imports}\n{check}")
    assert raised == ""
    assert (root.parent, folder) == (tmp_path, root / "notebooks")
