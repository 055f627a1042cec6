"""The lecturer's guide agrees with the notebooks; a page that does not is told what is wrong."""

import pytest

from staff.notebooks import guide
from tests.conftest import ROOT

PAGES = sorted((ROOT / "guide").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_agrees_with_its_notebook(page):
    path = ROOT / "notebooks" / f"{page.stem}.ipynb"
    assert guide.complaints(page.read_text(encoding="utf-8"), ROOT, path) == []


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
