"""One tag folds a cell away, in JupyterLab and on Colab."""

import nbformat
from nbformat import v4

from staff.notebooks.folding import ANSWER_TAG, FOLDED_TAG, fold

FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}


def metadata(*tags, **more):
    """What is in the metadata of a cell, the second one, after it was folded."""
    cell = v4.new_code_cell("# @title Draw", metadata={"tags": list(tags), **more})
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("#"), v4.new_code_cell("1"), cell])
    fold(notebook)
    nbformat.validate(notebook)
    first = {key: dict(cell.metadata) for key, cell in enumerate(notebook.cells)}
    fold(notebook)
    assert {key: dict(cell.metadata) for key, cell in enumerate(notebook.cells)} == first
    assert first[0] == {}
    assert first[1] == FOLDED  # the set-up cell
    assert first[2].pop("tags") == list(tags)
    return first[2]


def test_the_source_is_hidden():
    assert metadata(FOLDED_TAG) == FOLDED
    assert metadata("other", FOLDED_TAG) == FOLDED


def test_an_answer_s_output_is_hidden():
    assert metadata(ANSWER_TAG) == {"jupyter": {"outputs_hidden": True}}
    both = {"source_hidden": True, "outputs_hidden": True}
    assert metadata(FOLDED_TAG, ANSWER_TAG) == {"jupyter": both, "cellView": "form"}


def test_what_lost_its_tag_is_unfolded():
    was = {"jupyter": {"source_hidden": True, "outputs_hidden": True}, "cellView": "form"}
    assert metadata("other", **was) == {}


def test_other_metadata_stay():
    more = {"slideshow": {"slide_type": "skip"}, "jupyter": {"other": 1}}
    assert metadata(**more) == more
    wanted = {"jupyter": {"other": 1, "source_hidden": True}, "cellView": "form"}
    assert metadata(FOLDED_TAG, **more) == {**more, **wanted}
