"""What notebooks store, and that nbval sees a broken widget: with a real kernel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
SETUP = f"""import sys; sys.path.insert(0, {str(ROOT)!r})
from helpers.display import figures, live, plotting, quizzes, widgets
"""
RECORDS = """
import time
from types import SimpleNamespace
def records(steps):
    for step in range(1, steps + 1):
        time.sleep(0.02)
        yield SimpleNamespace(step=step, loss=2.0, tokens=step, seconds=0.0, validation=None)
"""


def notebook(*cells):
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (SETUP, *cells)]
    )
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    return made


@pytest.fixture(scope="module")
def outputs():
    """The stored outputs of a few cells, executed once."""
    cells = {
        "figure": "figures.show(plotting.bars(['a'], [1], xlabel='count'), 'One bar.')",
        "sentence": "figures.say('The value is **1**.')",
        "live": RECORDS
        + "for record in live.watch(records(15), total=15, every_seconds=0.05): pass",
        "stopped": "for record in live.watch(records(9)):\n    if record.step == 5: break",
        "explore": "n = widgets.slider(3, 1, 6)\n"
        "widgets.explore(lambda n: print(n), description='Turn n.', n=n)",
        "quiz": "quizzes.show_quiz("
        "quizzes.ChoiceQuiz('Two?', ['2', '3'], ['2'], {'3': 'Too many.'}))",
    }
    made = notebook(*cells.values())
    NotebookClient(made, timeout=60, kernel_name="python3").execute()
    return {name: cell.outputs for name, cell in zip(cells, made.cells[1:])}


def test_a_figure_is_stored_once_with_its_caption(outputs):
    figure, caption = outputs["figure"]
    assert "image/png" in figure.data
    assert caption.data["text/markdown"] == "**Figure.** One bar."
    (sentence,) = outputs["sentence"]
    assert sentence.data["text/markdown"] == "The value is **1**."


@pytest.mark.parametrize(("name", "steps"), [("live", 15), ("stopped", 5)])
def test_a_live_curve_leaves_one_figure_and_its_caption(outputs, name, steps):
    figure, caption = outputs[name]
    assert "image/png" in figure.data
    assert caption.data["text/markdown"].startswith(f"**Figure.** Training loss over {steps} steps")


def test_widgets_are_stored_in_one_output_with_words(outputs):
    for name, mime in (("explore", "text/markdown"), ("quiz", "text/html")):
        (output,) = outputs[name]
        assert set(output.data) == {"application/vnd.jupyter.widget-view+json", mime, "text/plain"}
    assert "Run this cell" in outputs["explore"][0].data["text/markdown"]
    assert "Too many." in outputs["quiz"][0].data["text/html"]


def test_nbval_fails_notebooks_with_broken_widgets(tmp_path):
    """A callback that raises at once, one that raises at a slider's end, and a sound one."""
    sound = "widgets.explore(lambda n: print(n), n=widgets.slider(3, 1, 6))"
    at_once = "widgets.explore(lambda n: 1 / 0, n=widgets.slider(3, 1, 6))"
    at_the_end = "widgets.explore(lambda n: 1 / (6 - n), n=widgets.slider(3, 1, 6))"
    sources = {"sound": sound, "at_once": at_once, "at_the_end": at_the_end}
    for name, source in sources.items():
        nbformat.write(notebook(source), tmp_path / f"{name}.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", "-rA"]
    command += ["--color=no", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    environment = {**os.environ, "COURSE_DRIVE_WIDGETS": "1"}
    run = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    found = re.findall(r"^(PASSED|FAILED) (\w+)\.ipynb::Cell 1\b", run.stdout, re.MULTILINE)
    assert {name: verdict for verdict, name in found} == {
        "sound": "PASSED",
        "at_once": "FAILED",
        "at_the_end": "FAILED",
    }, run.stdout
