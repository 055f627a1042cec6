"""The site on a telephone."""

import shutil

import pytest

from staff.site import build
from tests.conftest import ROOT

pytestmark = pytest.mark.browser


def two_pages(root, folder):
    (folder / "README.md").write_text("# Start\n\n## Part\n\n```{toctree}\n\nother.md\n```\n")
    (folder / "other.md").write_text("# The other page\n")
    shutil.copy(ROOT / "staff/site/conf.py", folder / "conf.py")


@pytest.mark.parametrize("side", ["primary", "secondary"])
def test_the_side_bars_open_on_a_narrow_screen(browser, tmp_path, monkeypatch, side):
    monkeypatch.setattr(build, "collect", two_pages)
    build.build(ROOT, tmp_path)
    page = browser.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((tmp_path / "index.html").as_uri())
    bar = page.locator(f"#pst-{side}-sidebar-modal")
    assert not bar.is_visible()
    page.locator(f".{side}-toggle:visible").click()
    bar.wait_for(state="visible")
    wanted = {"primary": "The other page", "secondary": "Part"}[side]
    assert wanted in bar.inner_text()
    page.close()
