"""Slides in a browser without a network: every slide fits, every formula is set."""

import nbformat
import pytest

from helpers.course.workspace import released_notebooks
from staff.notebooks import slides
from tests.conftest import ROOT

pytestmark = pytest.mark.browser
LECTURES = [ROOT / "notebooks" / p for p in released_notebooks(ROOT) if p.parent.name == ""]
SMALLEST = 0.6  # of the size in which a slide's text is set: below it, nobody in the last row reads
OVERFLOWS = """[...document.querySelectorAll(".slides > section")].map((slide, i) => {
  const body = slide.querySelector(".body"), scale = Number(slide.dataset.scale);
  const wide = [...body.querySelectorAll("pre, table, img")].some(
    part => part.scrollWidth > part.clientWidth + 1 || part.offsetWidth > body.offsetWidth + 1);
  const high = body.offsetTop + body.offsetHeight * scale > 702;
  return [i, scale, wide, high];
})"""


@pytest.fixture
def page(browser):
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page, asked
    page.close()


def test_no_slide_is_higher_than_the_screen(page, tmp_path):
    page, asked = page
    for path in LECTURES:
        if not slides.is_lecture(nbformat.read(path, as_version=4)):
            continue
        file = slides.write(path, tmp_path)
        asked.clear()
        page.goto(file.as_uri())
        assert page.evaluate("window.ready")
        found = page.evaluate(OVERFLOWS)
        assert len(found) > 1
        assert [row for row in found if row[1] < SMALLEST or row[2] or row[3]] == [], path.stem
        assert page.locator("mjx-merror").count() == 0, path.stem
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == [], path.stem


def test_a_formula_stands_once_in_the_notes(page, tmp_path):
    page, _ = page
    page.goto(slides.write(LECTURES[9], tmp_path).as_uri())
    page.evaluate("window.ready")
    notes = page.locator("aside.notes")
    assert notes.locator("mjx-container svg").count() > 50
    # MathJax's copy for screen readers: nothing hides it in the speaker's window.
    assert notes.locator("mjx-assistive-mml").count() == 0
    assert page.locator(".body mjx-assistive-mml").count() > 0


def test_an_answer_comes_second(page, tmp_path):
    page, _ = page
    page.goto(slides.write(LECTURES[9], tmp_path).as_uri())
    page.evaluate("window.ready")
    all_slides = '[...document.querySelectorAll(".slides > section")]'
    number = page.evaluate(f'{all_slides}.findIndex(slide => slide.querySelector(".fragment"))')
    page.evaluate(f"Reveal.slide({number})")
    fragment = page.locator(".slides > section.present .fragment").first
    assert "visible" not in fragment.get_attribute("class").split()
    page.keyboard.press("ArrowRight")
    assert "visible" in fragment.get_attribute("class").split()
