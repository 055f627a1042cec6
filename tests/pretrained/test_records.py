"""What pages show where a model was not fetched is what they compute where it was."""

import nbformat
import pytest
from nbclient import NotebookClient

from helpers.course.environment import find_root
from helpers.course.recorded import RECORDED
from helpers.course.workspace import released_notebooks

PATHS = [find_root() / "notebooks" / path for path in released_notebooks(find_root())]
SHOWING = [p for p in PATHS if "recorded(" in p.read_text(encoding="utf-8")]


@pytest.mark.pretrained
@pytest.mark.parametrize("path", SHOWING, ids=lambda path: path.stem)
def test_records_are_what_a_page_computes(path, monkeypatch):
    monkeypatch.setenv(RECORDED, "compare")
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(nbformat.read(path, as_version=4), timeout=600, resources=place).execute()
