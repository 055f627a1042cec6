"""The lecturer's guide agrees with the notebooks; a page that does not is told what is wrong."""

import re

import pytest

from helpers.course.workspace import released_notebooks
from staff.notebooks import guide
from tests.conftest import ROOT

LESSONS = [ROOT / "notebooks" / p for p in released_notebooks(ROOT) if p.parent.name == ""]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_notebook_has_a_page_that_agrees_with_it(path):
    page = ROOT / "guide" / f"{path.stem}.md"
    assert guide.complaints(page.read_text(encoding="utf-8"), ROOT, path) == []
    listed = (ROOT / "guide/README.md").read_text(encoding="utf-8")
    assert f"[guide]({page.name})" in listed


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_route_of_ninety_minutes_takes_ninety(path):
    text = (ROOT / "guide" / f"{path.stem}.md").read_text(encoding="utf-8")
    route = text.partition("\n## Ninety minutes\n")[2].partition("\n## ")[0]
    minutes = [int(found) for found in re.findall(r"(?m)^\| (\d+) \|", route)]
    assert 85 <= sum(minutes) <= 90


def test_what_is_wrong_is_named():
    page = ROOT / "guide/09_self_attention.md"
    path = ROOT / "notebooks/09_self_attention.ipynb"
    text = page.read_text(encoding="utf-8")
    changed = text.replace("| 4 Does the order matter? | 2", "| 4 Does the order matter? | 3")
    (said,) = guide.complaints(changed, ROOT, path)
    assert "out of date" in said
    (said,) = guide.complaints(text.replace("[7](", "[17](", 1), ROOT, path)
    assert said == "09_self_attention.ipynb has no section 17"
    (said,) = guide.complaints(text.replace("## Live", "## Alive"), ROOT, path)
    assert "'Live' is not written" in said
    begun = guide.complaints(guide.up_to_date("", ROOT, path), ROOT, path)
    assert len(begun) == len(guide.PARTS)
