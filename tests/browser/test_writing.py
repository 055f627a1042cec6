"""The writing desk in JupyterLab, in a notebook of its own with a slow model."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from helpers.course.workspace import lay_copies

pytestmark = pytest.mark.browser

# The first text is there at once. The others take half a minute, in which a busy machine too has
# time to press Stop, unless the text asks for haste.
CELL = """
import os, sys, time
sys.path.insert(0, os.path.dirname(os.getcwd()))
from helpers.display.writing import writing_desk

def slowly(text, settings):
    if "ß" in text:
        raise ValueError("The model does not know the character 'ß'.")
    for number in range(settings.length):
        time.sleep(0.1 if text.endswith(", ") else 0)
        yield f"<{settings.rules.temperature:g}>\\n" if number == 1 else "ox "[number % 3]

writing_desk(slowly, prompt="at once", length=300, max_length=300)
"""


@pytest.fixture
def desk(open_notebook, jupyterlab):
    """The panel of the desk, run in the notebook that it stands in; (notebook, panel)."""
    _, course = jupyterlab
    path = course / "notebooks" / "writing_desk_alone.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(made, path)
    lay_copies(course)
    notebook = open_notebook(path.stem)
    notebook.run_all()
    return notebook, notebook.panel("writing_desk(")


def test_write_streams_stop_stops_and_settings_apply(desk):
    notebook, panel = desk
    text, status = panel.locator(".writing-text"), panel.locator(".writing-status")
    field = panel.locator("textarea")
    write, go_on, stop = (
        panel.get_by_role("button", name=name) for name in ("Write", "Go on", "Stop")
    )
    # The first text stands there; it is shown as it is, with its line break.
    expect(status).to_contain_text("Written: 300 tokens")
    assert text.inner_text().startswith("at onceo<0.8>\n ox ox")

    # The text grows; Stop ends it long before its end.
    field.fill("my cat, ")
    write.click()
    notebook.wait_until(lambda: text.inner_text().startswith("my cat, o<0.8>\n"))
    expect(status).to_contain_text("Writing:")
    early = len(text.inner_text())
    notebook.wait_until(lambda: len(text.inner_text()) > early + 5)
    stop.click()
    expect(status).to_contain_text(re.compile(r"Stopped after \d+ tokens"))
    notebook.settle()
    stopped, count = text.inner_text(), re.search(r"after (\d+)", status.inner_text()).group(1)
    assert 7 < int(count) < 300
    notebook.page.wait_for_timeout(500)
    notebook.settle()
    assert text.inner_text() == stopped

    # Go on keeps what is there. Sliders and the list apply to what is written next.
    notebook.move_slider(panel.locator(".widget-slider").first, "ArrowLeft", times=3)
    label = notebook.page.locator(".widget-label", has_text=re.compile("^length"))
    length = panel.locator(".widget-slider", has=label)
    notebook.move_slider(length, "Home")
    notebook.move_slider(length, "ArrowRight")
    panel.locator("select").select_option("7")
    notebook.settle()
    go_on.click()
    expect(status).to_contain_text("Written: 20 tokens")
    expect(status).to_contain_text("temperature 0.5, top-k all, top-p all, length 20, seed 1007")
    notebook.settle()
    assert text.inner_text().startswith(stopped.rstrip())
    assert "<0.5>" in text.inner_text()

    # What the model objects to is said in a sentence, and the desk goes on working.
    for typed, said in (("Straße", "does not know the character 'ß'"), ("", "The text is empty")):
        field.fill(typed)
        write.click()
        expect(status).to_contain_text(said)
    notebook.shows_no_errors()


def test_the_desk_is_worked_by_keys(desk):
    notebook, panel = desk
    keyboard, field = notebook.page.keyboard, panel.locator("textarea")
    field.fill("")
    field.focus()
    keyboard.type("add a dd, ")  # letters that mean something to JupyterLab outside a field
    expect(field).to_have_value("add a dd, ")
    keyboard.press("Enter")
    expect(field).to_have_value("add a dd, \n")
    keyboard.type("so, ")
    expect(panel.get_by_label("your text")).to_have_count(1)
    met = []
    for _ in range(12):
        keyboard.press("Tab")
        met.append(
            notebook.page.evaluate(
                "() => { const e = document.activeElement;"
                " return e.textContent.trim() || e.className || e.tagName }"
            )
        )
        if "Stop" in met[-1]:
            break
    assert sum("noUi-handle" in name for name in met) == 4, met
    assert met[-3:] == ["Write", "Go on", "Stop"]
    keyboard.press("Shift+Tab")
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    text, status = panel.locator(".writing-text"), panel.locator(".writing-status")
    notebook.wait_until(lambda: text.inner_text().startswith("add a dd, \nso, o<0.8>\n"))
    expect(status).to_contain_text("Writing:")
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(status).to_contain_text("Stopped after")
    notebook.shows_no_errors()
