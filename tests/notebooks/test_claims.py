"""A false claim fails its notebook, in its own words; so does one that was not checked."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat import v4

from helpers.course.workspace import released_notebooks
from staff.notebooks.claims import FOLDER, claims_file, read_claims
from staff.notebooks.refresh import RefreshError, refresh
from tests.conftest import ROOT
from tests.notebooks.claims_run import WHOLE

LESSONS = [ROOT / "notebooks" / p for p in released_notebooks(ROOT) if p.parent.name != "labs"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_block_names_a_cell_of_its_notebook(path):
    cells = nbformat.read(path, as_version=4).cells
    ids = [cell.id for cell in cells if cell.cell_type == "code"]
    named = [block.cell for block in read_claims(claims_file(ROOT, path))]
    assert named
    assert [name for name in named if name not in ids] == []
    assert [ids.index(name) for name in named] == sorted(map(ids.index, named))


def test_every_file_of_claims_belongs_to_a_notebook():
    named = {claims_file(ROOT, path) for path in LESSONS}
    assert named == set((ROOT / FOLDER).glob("*.py"))


HEAD = '"""What notebook 01 claims."""\n\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("assert x\n\n# %% a\nassert y\n", "asserts above its first"),
        ("# %% a\nx = 1\n", "block of a has no assert that surely runs"),
        ("# %% a\nif x:\n    assert y\n", "block of a has no assert that surely runs"),
        ("# %% a\ndef f():\n    assert y\n", "block of a has no assert that surely runs"),
        ("# %% a trained\nassert y\n\n# %% b\n", "block of b has no assert that surely runs"),
    ],
)
def test_what_is_no_file_of_claims(tmp_path, text, words):
    path = tmp_path / "notebook01.py"
    path.write_text(HEAD + text)
    with pytest.raises(ValueError, match=words):
        read_claims(path)


CELLS = {"set": "import torch\n\nx = 1\ntorch.manual_seed(3)", "drawn": "y = torch.rand(1)"}
GOOD = "# %% set\nassert x == 1\nx, z = 2, torch.rand(5)\n\n# %% drawn\nassert y < 1\n"
FALSE = "# %% set\nw = x\nassert w == 1\n\n# %% drawn\nassert y < 0, 'too large'\n"
UNKNOWN = "# %% drawn\nassert lost\n"
TRAINED = "# %% drawn trained\nassert y < 0\n"
NOTEBOOKS = {
    "00_a": GOOD,
    "01_a": FALSE,
    "02_a": UNKNOWN,
    "03_a": TRAINED,
    "further/01_b": FALSE,
}
FALLS = {
    "01_a": "tests/claims/notebook01.py:8: assert y < 0, 'too large' (AssertionError: too large)",
    "02_a": "tests/claims/notebook02.py:4: assert lost (NameError: name 'lost' is not defined)",
}
FALLS["further/01_b"] = FALLS["01_a"].replace("notebook01", "further_01_b")


def recipe(root):
    """The arguments that ``make test`` hands to pytest."""
    text = (root / "Makefile").read_text(encoding="utf-8")
    workers = re.search(r"^WORKERS := (.*)$", text, re.MULTILINE)[1]
    body = re.search(r"^test:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1].replace("\\\n", " ")
    (called,) = re.findall(r"-m pytest (.*)$", body, re.MULTILINE)
    assert "$" not in called.replace("$(WORKERS)", "")
    return shlex.split(called.replace("$(WORKERS)", workers))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with this one's conftest, one small test, and five notebooks with their claims."""
    folder = tmp_path_factory.mktemp("course")
    kept = ["pyproject.toml", "tests/conftest.py"]
    kept += [f"tests/notebooks/{n}.py" for n in ("claims_run", "short_trainings", "warm_kernels")]
    for path in kept:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    (folder / "tests/test_small.py").write_text("def test_small():\n    assert True\n")
    for name in ("notebooks/further", FOLDER):
        (folder / name).mkdir(parents=True)
    for name, claims in NOTEBOOKS.items():
        cells = [v4.new_code_cell(source, id=cell) for cell, source in CELLS.items()]
        notebook = v4.new_notebook(cells=cells)
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        path = folder / "notebooks" / f"{name}.ipynb"
        nbformat.write(notebook, path)
        claims_file(folder, path).write_text(HEAD + claims)
    return folder


def pytest_run(course, arguments, **variables):
    # Neither a variable nor anything else of this run is handed on.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COURSE_"))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "-rA", "--color=no", "-p", "no:cacheprovider"],
        env={**kept, "PYTHONPATH": str(ROOT), **variables},
        cwd=course,
        capture_output=True,
        text=True,
    )
    return run.stdout


@pytest.mark.slow
def test_make_test_checks_the_claims_that_are_exact(root, course):
    arguments = recipe(root)
    assert arguments[-4:-2] == ["tests", "notebooks"]
    said = pytest_run(course, [*arguments, "-n", "1"])  # each worker would import what it needs
    found = re.findall(r"^FAILED notebooks/(\S+)\.ipynb::Cell 1\b", said, re.M)
    assert sorted(found) == sorted(FALLS), said
    assert re.search(r"^=+ 3 failed, 8 passed", said, re.M), said
    for words in FALLS.values():
        assert words in said, said


@pytest.mark.slow
def test_where_trainings_are_whole_their_claims_are_checked(course):
    # A folder of tests as well as a notebook, and no workers, as CONTRIBUTING says.
    arguments = ["--nbval-lax", "--nbval-current-env", "tests", "notebooks/03_a.ipynb"]
    said = pytest_run(course, arguments, **{WHOLE: "1"})
    assert "tests/claims/notebook03.py:4: assert y < 0 (AssertionError)" in said, said
    assert re.search(r"^=+ 1 failed, 2 passed", said, re.M), said


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_refreshing_checks_all_claims(course, name):
    path = course / "notebooks" / f"{name}.ipynb"
    claims = read_claims(claims_file(course, path))
    before = path.read_bytes()
    if name == "00_a":
        assert refresh(path, claims=claims)
        cells = nbformat.read(path, as_version=4).cells
        assert [cell.execution_count for cell in cells] == [1, 2]
        path.write_bytes(before)
        return
    words = FALLS.get(name, "03.py:4: assert y < 0")
    with pytest.raises(RefreshError, match=re.escape(words)):
        refresh(path, claims=claims)
    assert path.read_bytes() == before


def test_claims_leave_neither_names_nor_random_numbers(course):
    path = course / "notebooks" / "00_a.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(v4.new_code_cell("print(x, 'z' in globals(), torch.rand(1).item())"))
    target = course / "notebooks" / "09_b.ipynb"
    try:
        said = []
        for claims in ([], read_claims(course / FOLDER / "notebook00.py")):
            nbformat.write(notebook, target)
            refresh(target, claims=claims)
            said.append(nbformat.read(target, as_version=4).cells[-1].outputs[0].text)
    finally:
        target.unlink()
    assert said[0] == said[1]
    assert said[0].startswith("1 False 0.")
