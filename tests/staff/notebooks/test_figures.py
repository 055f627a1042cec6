"""The figures of a notebook, drawn anew as PNG and SVG, with their captions."""

import nbformat
import pytest
from nbformat import v4

from staff.notebooks import figures
from staff.notebooks.refresh import RefreshError

DRAW = """
import matplotlib.pyplot as plt
from helpers.display.figures import show

figure, ax = plt.subplots()
ax.plot([1, 2])
show(figure, "A line [1] that rises.")
"""


def written(folder, *sources):
    cells = [v4.new_code_cell(source, id=f"c{i}") for i, source in enumerate(sources)]
    nbformat.write(v4.new_notebook(cells=cells), folder / "01_a.ipynb")
    return figures.write(folder / "01_a.ipynb", folder / "out")


def test_each_figure_is_there_twice_with_its_caption(tmp_path, monkeypatch, root):
    monkeypatch.setenv("PYTHONPATH", str(root))
    (png,) = written(tmp_path, "x = 1", DRAW)
    assert png.name == "01_c1.png"
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in png.with_suffix(".svg").read_text()
    said = png.with_name("README.md").read_text()
    assert "![A line (1) that rises.](01_c1.png)\n\nA line [1] that rises." in said


def test_a_cell_that_raises_is_named(tmp_path, monkeypatch, root):
    monkeypatch.setenv("PYTHONPATH", str(root))
    with pytest.raises(RefreshError, match="raised ZeroDivisionError"):
        written(tmp_path, "x = 1", "1 / 0")
