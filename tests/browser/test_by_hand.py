"""The page on which a person gives points to the answers of a class, worked by keys."""

import csv
import io

import pytest

from staff.marking.by_hand import Question, question_page

pytestmark = pytest.mark.browser


def test_points_by_keys_are_saved_to_a_file(browser, tmp_path):
    question = Question("lab05", "experiment", 4.0, "One point for each part.")
    answers = [("Anna", "</script><b>Mine</b>"), ("Ben", "Short."), ("Cleo", "None.")]
    given = {("Cleo", "experiment"): (1.0, "as before"), ("Anna", "other"): (2.0, "kept")}
    path = tmp_path / "question.html"
    path.write_text(question_page(question, answers, given), encoding="utf-8")
    page = browser.new_page()
    try:
        page.goto(path.as_uri())
        assert page.locator("#count").inner_text() == "1 of 3 done."
        page.keyboard.press("3")  # for Anna; then Ben is next
        page.keyboard.press("9")  # more than there are: nothing
        page.keyboard.press("2")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("+")
        page.keyboard.press("c")
        page.keyboard.type('Not "3"')
        assert page.locator("#count").inner_text() == "3 of 3 done."
        page.reload()  # what was given is still there
        with page.expect_download() as download:
            page.locator("#save").click()
        text = download.value.path().read_text(encoding="utf-8")
    finally:
        page.close()
    rows = sorted(list(row.values()) for row in csv.DictReader(io.StringIO(text)))
    assert rows == [
        ["Anna", "experiment", "3", ""],
        ["Anna", "other", "2", "kept"],
        ["Ben", "experiment", "2.5", 'Not "3"'],
        ["Cleo", "experiment", "1", "as before"],
    ]
