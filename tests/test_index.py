"""The index of ideas names what there is."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
INDEX = (ROOT / "helpers" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| `([\w/]+)\.py:([\w.]+)` \| (\d\d) \|$", INDEX, re.MULTILINE)


def test_every_row_is_read():
    assert len(ROWS) == INDEX.count("\n|") - 2  # all but the table's head


@pytest.mark.parametrize(("idea", "file", "name", "notebook"), ROWS, ids=[row[0] for row in ROWS])
def test_the_function_and_the_notebook_exist(idea, file, name, notebook):
    module = import_module(f"helpers.{file.replace('/', '.')}")
    found = reduce(getattr, name.split("."), module)
    assert found.__module__ == module.__name__, "it stands there itself, and is not imported"
    assert list((ROOT / "notebooks").glob(f"{notebook}_*.ipynb"))
