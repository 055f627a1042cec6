"""The writing desk in JupyterLab, in a notebook of its own with a slow model."""

import re

import nbformat
import pytest

from helpers.course.workspace import lay_copies

pytestmark = pytest.mark.browser

CELL = """
import os, sys, time
sys.path.insert(0, os.path.dirname(os.getcwd()))
from helpers.display.writing import writing_desk

def slowly(text, settings):
    if "ß" in text:
        raise ValueError("The model does not know the character 'ß'.")
    for number in range(settings.length):
        time.sleep(0.02 if text != "at once" else 0)
        yield f"<{settings.rules.temperature:g}>\\n" if number == 1 else "ox "[number % 3]

writing_desk(slowly, prompt="at once", length=60, max_length=300)
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
    assert notebook.errors() == []
    return notebook, notebook.cell("writing_desk(").locator(".course-panel")


def test_write_streams_stop_stops_and_settings_apply(desk):
    notebook, panel = desk
    text, status = panel.locator(".writing-text"), panel.locator(".writing-status")
    field = panel.locator("textarea")
    write, go_on, stop = (
        panel.get_by_role("button", name=name) for name in ("Write", "Go on", "Stop")
    )
    # The first text stands there; it is shown as it is, with its line break.
    assert text.inner_text().startswith("at onceo<0.8>\n ox ox")
    assert "Written: 60 tokens" in status.inner_text()

    # The text grows; Stop ends it long before its end.
    field.fill("my cat, ")
    write.click()
    notebook.wait_until(lambda: text.inner_text().startswith("my cat, o<0.8>"))
    early = text.inner_text()
    assert "Writing:" in status.inner_text()
    notebook.wait_until(lambda: len(text.inner_text()) > len(early) + 5)
    stop.click()
    notebook.wait_until(lambda: "Stopped after" in status.inner_text())
    count = int(re.search(r"after (\d+) tokens", status.inner_text()).group(1))
    assert 10 < count < 60
    stopped = text.inner_text()
    notebook.page.wait_for_timeout(500)
    assert text.inner_text() == stopped

    # Go on keeps what is there. Sliders and the list apply to what is written next.
    notebook.move_slider(panel.locator(".widget-slider").first, "ArrowLeft", times=3)
    label = notebook.page.locator(".widget-label", has_text=re.compile("^length"))
    notebook.move_slider(panel.locator(".widget-slider", has=label), "ArrowLeft", times=4)
    panel.locator("select").select_option("7")
    go_on.click()
    notebook.wait_until(lambda: "Written: 20 tokens" in status.inner_text())
    assert "temperature 0.5, top-k all, top-p all, length 20, seed 1007" in status.inner_text()
    assert text.inner_text().startswith(stopped.rstrip())
    assert "<0.5>" in text.inner_text()

    # What the model objects to is said in a sentence, and the desk goes on working.
    for typed, said in (("Straße", "does not know the character 'ß'"), ("", "The text is empty")):
        field.fill(typed)
        write.click()
        notebook.wait_until(lambda said=said: said in status.inner_text())
    assert notebook.errors() == []


def test_the_desk_is_worked_by_keys(desk):
    notebook, panel = desk
    keyboard = notebook.page.keyboard
    panel.locator("textarea").fill("")
    panel.locator("textarea").focus()
    keyboard.type("add a dd, ")  # letters that mean something to JupyterLab outside a field
    keyboard.press("Enter")
    assert panel.locator("textarea").input_value() == "add a dd, \n"
    assert panel.get_by_label("your text").count() == 1
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
    notebook.wait_until(lambda: "Writing:" in status.inner_text())
    assert text.inner_text().startswith("add a dd, \no<")
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Enter")
    notebook.wait_until(lambda: "Stopped after" in status.inner_text())
    assert notebook.errors() == []
