"""Notebooks in JupyterLab, as a student sees them."""

import pytest

pytestmark = pytest.mark.browser


def test_the_first_notebook_opens_and_runs(open_notebook):
    notebook = open_notebook("00")
    notebook.run_all()
    counts = notebook.counts()
    assert counts == list(range(1, len(counts) + 1))
