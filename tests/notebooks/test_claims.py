"""Claims are awake in ``make test``: a false one fails its notebook, and one that sleeps, too."""

import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
from nbformat import v4

from helpers.course.claims import CHECKED, VARIABLE
from staff.notebooks.folding import CLAIMS_TAG
from tests.notebooks.claims_run import SleepingClaims, watch_claims

IMPORT = "from helpers.course.claims import claims_are_checked"
GOOD = "if claims_are_checked():\n    assert 1 < 2"
FALSE = "if claims_are_checked():\n    assert 1 > 2, 'one is less'"
UNASKED = "if False and claims_are_checked():\n    assert 1 > 2"
OVERRIDDEN = "claims_are_checked = lambda: False\nif claims_are_checked():\n    assert 1 > 2"
NOTEBOOKS = {
    "good": (GOOD, "PASSED"),
    "false": (FALSE, "FAILED"),
    "unasked": (UNASKED, "FAILED"),
    "overridden": (OVERRIDDEN, "FAILED"),
}


def test_they_are_awake_in_this_very_run():
    assert os.environ[VARIABLE] == "1"


class Item:
    """A cell as nbval collects it, which prints some words when it is run."""

    nodeid = "a.ipynb::Cell 1"

    def __init__(self, *printed, tags=(CLAIMS_TAG,)):
        self.printed, self.ran = printed, 0
        self.cell = v4.new_code_cell(GOOD, metadata={"tags": list(tags)})

    def runtest(self):
        self.ran += 1
        outputs = [v4.new_output("stream", text=text) for text in self.printed]
        self.test_outputs = [*outputs, v4.new_output("display_data", data={"text/plain": "x"})]


@pytest.mark.parametrize("printed", [[CHECKED], ["before\n", f"{CHECKED}\n", "after"]])
def test_a_cell_that_checks_its_claims_passes(printed):
    item = Item(*printed)
    watch_claims([item])
    item.runtest()
    assert item.ran == 1


@pytest.mark.parametrize("printed", [[], ["other words"]])
def test_a_cell_that_does_not_fails(printed):
    item = Item(*printed)
    watch_claims([item])
    with pytest.raises(SleepingClaims, match=r"a\.ipynb::Cell 1: the claims of this cell were not"):
        item.runtest()
    assert item.ran == 1


def test_other_tests_are_left_alone():
    untagged, unit = Item(tags=["folded"]), SimpleNamespace(runtest=lambda: "ran")
    watch_claims([untagged, unit])
    untagged.runtest()
    assert untagged.ran == 1
    assert unit.runtest() == "ran"


def recipe(root):
    """The arguments that ``make test`` hands to pytest."""
    text = (root / "Makefile").read_text(encoding="utf-8")
    workers = re.search(r"^WORKERS := (.*)$", text, re.MULTILINE)[1]
    body = re.search(r"^test:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1].replace("\\\n", " ")
    (called,) = re.findall(r"-m pytest (.*)$", body, re.MULTILINE)
    assert "$" not in called.replace("$(WORKERS)", "")
    return called.replace("$(WORKERS)", workers).split()


@pytest.fixture(scope="module")
def course(root, tmp_path_factory):
    """A course with the hook of this one, one small test, and four notebooks with a claim each."""
    folder = tmp_path_factory.mktemp("course")
    for path in ("pyproject.toml", "tests/conftest.py", "tests/notebooks/claims_run.py"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / path, folder / path)
    (folder / "tests/test_small.py").write_text("def test_small():\n    assert True\n")
    (folder / "notebooks").mkdir()
    for name, (source, _) in NOTEBOOKS.items():
        claim = v4.new_code_cell(source, metadata={"tags": [CLAIMS_TAG]})
        notebook = v4.new_notebook(cells=[v4.new_code_cell(IMPORT), claim])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, folder / "notebooks" / f"{name}.ipynb")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("way", ["as make test does", "as CONTRIBUTING says"])
def test_pytest_checks_the_claims_of_notebooks(root, course, way):
    arguments = recipe(root)
    assert arguments[-4:-2] == ["tests", "notebooks"]
    if way == "as CONTRIBUTING says":  # a folder of tests as well as notebooks, and no workers
        arguments = ["--nbval-lax", "--nbval-current-env", "tests/test_small.py"]
        arguments += [f"notebooks/{name}.ipynb" for name in NOTEBOOKS]
    # Neither the variable nor anything else of this run is handed on.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COURSE_"))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "-rA", "--color=no", "-p", "no:cacheprovider"],
        env={**kept, "PYTHONPATH": str(root)},
        cwd=course,
        capture_output=True,
        text=True,
    )
    found = re.findall(r"^(PASSED|FAILED) notebooks/(\w+)\.ipynb::Cell 1\b", run.stdout, re.M)
    assert {name: verdict for verdict, name in found} == {
        name: verdict for name, (_, verdict) in NOTEBOOKS.items()
    }, run.stdout
    assert re.search(r"^=+ 3 failed, 6 passed", run.stdout, re.M), run.stdout
    assert "one is less" in run.stdout
    for name in ("unasked", "overridden"):
        words = rf"notebooks/{name}\.ipynb::Cell 1: the claims of this cell were not checked"
        assert re.search(words, run.stdout), run.stdout
