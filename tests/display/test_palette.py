"""Colours stand in the palette, and in no other module of display and no notebook."""

import json
import re
from pathlib import Path

import pytest

from helpers.files import own_files

ROOT = Path(__file__).resolve().parents[2]
# A hexadecimal number, and the names that matplotlib has for its own colours.
NUMBER = re.compile(r"""#[0-9A-Fa-f]{6}\b|["']#[0-9A-Fa-f]{3}["']|["'](?:tab:\w+|C\d)["']""")


def numbers(path):
    """The colours that a module, or a notebook's code, writes as numbers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return NUMBER.findall(text)


MODULES = [p for p in own_files(ROOT / "helpers/display", "*.py") if p.name != "palette.py"]
NOTEBOOKS = own_files(ROOT / "notebooks", "*.ipynb")


@pytest.mark.parametrize("path", [*MODULES, *NOTEBOOKS], ids=lambda path: path.stem)
def test_colours_come_from_the_palette(path):
    assert numbers(path) == []


def test_the_check_finds(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("""a = "#0072B2", '#fff', 'tab:blue', "C0"; b = "C major", "# 12", "#head" """)
    assert numbers(path) == ["#0072B2", "'#fff'", "'tab:blue'", '"C0"']
