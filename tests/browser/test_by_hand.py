"""The page on which a person gives points to the answers of a class, worked by keys."""

import csv
import io

import pytest

from staff.marking.by_hand import Question, question_page

pytestmark = pytest.mark.browser


def test_points_by_keys_are_saved_to_a_file(browser, tmp_path):
    question = Question("lab05", "experiment", 4.0, "One point for each part.")
    answers = [("Anna", "</script><b>Mine</b>"), ("Ben", "Short."), ("Cleo", "None.")]
    given = {("Cleo", "experiment"): (1.0, "as before"), ("Anna", "other"): (2.0, "not here")}
    path = tmp_path / "question.html"
    path.write_text(question_page(question, answers, given), encoding="utf-8")
    page = browser.new_page()
    try:
        page.goto(path.as_uri())
        assert page.locator("#count").inner_text() == "1 of 3 done."
        page.keyboard.press("9")  # more than there are: nothing
        page.keyboard.press("3")
        page.keyboard.press("+")  # all for Anna, and so is the comment
        page.keyboard.press("c")
        page.keyboard.type('Not "3"')
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        page.keyboard.press("c")
        page.keyboard.type("Points later")
        assert page.locator("#count").inner_text() == "2 of 3 done."
        page.reload()  # what was given is still there, a comment without points as well
        text = saved(page)
        assert sorted(list(row.values()) for row in csv.DictReader(io.StringIO(text))) == [
            ["Anna", "experiment", "3.5", 'Not "3"'],
            ["Ben", "experiment", "", "Points later"],
            ["Cleo", "experiment", "1", "as before"],
        ]
        page.keyboard.press("4")  # on the page as it was, after the file was saved
        given = {("Anna", "experiment"): (3.5, 'Not "3"'), ("Cleo", "experiment"): (2.0, "typed")}
        path.write_text(question_page(question, answers, given), encoding="utf-8")
        page.reload()  # Cleo's were changed in the file: they are not what the browser remembers
        rows = {row["student"]: row["points"] for row in csv.DictReader(io.StringIO(saved(page)))}
        assert rows == {"Anna": "4", "Ben": "", "Cleo": "2"}
    finally:
        page.close()


def test_the_mark_scheme_stays_in_sight_above_the_answer(browser, tmp_path):
    question = Question("lab05", "experiment", 4.0, "One point for each part.\n" * 40)
    answers = [(f"Student {i}", "A line.\n" * 30) for i in range(4)]
    path = tmp_path / "question.html"
    path.write_text(question_page(question, answers, {}), encoding="utf-8")
    page = browser.new_page()
    try:
        page.set_viewport_size({"width": 1000, "height": 700})
        page.goto(path.as_uri())
        for _ in range(2):
            page.keyboard.press("Enter")
        scheme = page.locator("#scheme").bounding_box()
        name = page.locator("h2", has_text="Student 2").bounding_box()
        page.keyboard.press("o")
        shown = [element.is_visible() for element in page.locator("details pre").all()]
        assert shown == [False, False, True, False]
        assert 0 <= scheme["y"] < scheme["y"] + scheme["height"] <= name["y"] < 450
    finally:
        page.close()


def saved(page):
    with page.expect_download() as download:
        page.locator("#save").click()
    assert download.value.suggested_filename == "by_hand-lab05-experiment.csv"
    page.evaluate("document.activeElement.blur()")
    return download.value.path().read_text(encoding="utf-8")
