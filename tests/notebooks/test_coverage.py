"""The table of what is taught where names notebooks and headings that exist."""

import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
TEXT = (NOTEBOOKS / "COVERAGE.md").read_text(encoding="utf-8")
LINKS = dict(re.findall(r"(?m)^\[([^\]]+)\]: (\S+)$", TEXT))
ROWS = re.findall(r"(?m)^\| ([LYGBC]\d\S*) \| [^|]+ \| ([^|]+) \|([^|]*)\|([^|]*)\|$", TEXT)


def headings_of(path):
    """The headings of a notebook, without the signs in front of them."""
    cells = nbformat.read(path, as_version=4).cells
    sources = (cell.source for cell in cells if cell.cell_type == "markdown")
    return {title for text in sources for title in re.findall(r"(?m)^#+ +(.+?) *$", text)}


@pytest.mark.parametrize(("label", "link"), LINKS.items())
def test_every_heading_that_is_named_stands_in_its_notebook(label, link):
    named = {
        heading.strip()
        for _, _, where, _ in ROWS
        for there, headings in re.findall(r"\[([^\]]+)\]:([^\[]*)", where)
        if there == label
        for heading in headings.split(";")
    } - {""}
    assert named
    assert named - headings_of(NOTEBOOKS / link) == set()


def test_every_topic_says_where_it_is_taught_or_why_it_is_not():
    assert len(ROWS) == len(re.findall(r"(?m)^\| [LYGBC]\d", TEXT)) > 200
    for slide, status, where, remark in ROWS:
        assert set(re.findall(r"\[([^\]]+)\]", where + remark)) <= set(LINKS), slide
        if status == "not":
            assert (where.strip(), bool(remark.strip())) == ("", True), slide
        else:
            assert status in ("taught", "in prose"), slide
            assert re.match(r" \[[^\]]+\]: \S", where), slide
