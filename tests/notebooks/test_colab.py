"""The notebooks in an environment with Colab's versions, each alone in an empty folder.

``.venv/colab`` stands for Colab (see colab_environment.py). The set-up cell clones the course
from a repository made of the working tree.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from helpers.course.workspace import released_notebooks
from staff.notebooks.address import FIRST_LINE, bootstrap_source
from staff.notebooks.refresh import Client

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = [ROOT / "notebooks" / path for path in released_notebooks(ROOT)]
# All cells of one notebook run here, of the others the first two: time is short.
WHOLE = sorted(NOTEBOOKS, key=lambda path: not path.name.startswith("02"))[:1]
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
    ignored = shutil.ignore_patterns(".*", "work", "__pycache__", "*.egg-info", "build", "dist")
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
    client = Client(notebook, folder, timeout=300, kernel_name="colab")
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


def test_the_environment_is_colabs(published, colab, tmp_path, monkeypatch):
    source = (
        "import json, sys\n"
        "import IPython, ipykernel, ipywidgets, matplotlib, numpy, torch\n"
        "modules = [IPython, ipykernel, ipywidgets, matplotlib, numpy]\n"
        "print(json.dumps({m.__name__.lower(): m.__version__ for m in modules}))"
    )
    found = json.loads(
        printed(run([nbformat.v4.new_code_cell(source)], tmp_path, colab, monkeypatch))
    )
    requirements = Path(__file__).with_name("colab-requirements.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in requirements if "==" in line)
    assert found == {name: pinned[name] for name in found}
    assert len(found) == 5


def test_the_first_cells_of_every_notebook(published, colab, tmp_path, monkeypatch):
    # The set-up cell is the same in all (a rule of theirs), so one kernel serves for all imports.
    setup = code_cells(NOTEBOOKS[0], published)[0]
    where = nbformat.v4.new_code_cell(
        "import os\n\nimport helpers\n\nprint(os.getcwd())\nprint(helpers.__file__)"
    )
    imports = [code_cells(path, published)[1] for path in NOTEBOOKS]
    assert all("import" in cell.source for cell in imports)
    notebook = run([setup, *imports, where], tmp_path, colab, monkeypatch)
    clone = tmp_path / "course"
    assert printed(notebook).splitlines() == [
        str(clone / "notebooks"),
        str(clone / "helpers" / "__init__.py"),
    ]


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_whole_notebook(path, published, colab, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    notebook = run(code_cells(path, published), tmp_path, colab, monkeypatch)
    assert [cell.execution_count for cell in notebook.cells] == [
        number + 1 for number in range(len(notebook.cells))
    ]
    for cell in notebook.cells:
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", output.text
