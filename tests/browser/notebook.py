"""A notebook that is open in JupyterLab, worked as a person works it.

A page shows what a kernel says when the message arrives, so no test reads it once after an event.
What must stand there is awaited: with Playwright's ``expect``, which looks again until it is true,
or with ``changes``, which first lets everything come in that was still on its way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, expect

from helpers.device import time_for
from tests.browser.needed import needed

SECONDS = time_for(60)  # how long what is awaited may take
expect.set_options(timeout=1000 * SECONDS)

KERNEL = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
NOTEBOOK = "window.jupyterapp.shell.currentWidget.content"
CODE_CELLS = (  # the models of the code cells, each with its place among all cells
    f"[...{NOTEBOOK}.model.cells].map((cell, place) => [cell, place])"
    ".filter(([cell]) => cell.type === 'code')"
)
ERRORS = ", ".join(
    f".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.{kind}']"
    for kind in ("error", "stderr")
)


class Notebook:
    """A notebook in a page of Playwright; ready to run when it is made."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=1000 * time_for(90))
        self.wait_for_kernel()

    def wait_for_kernel(self, seconds: float = 120) -> None:
        """Wait until the kernel is connected and has nothing more to do."""
        self.page.wait_for_function(
            f"() => {{ const k = {KERNEL};"
            " return k && k.status === 'idle' && k.connectionStatus === 'connected' }",
            timeout=1000 * time_for(seconds),
            polling=100,  # milliseconds; without it the page is drawn without end
        )

    def settle(self) -> None:
        """Wait until all that was sent to the kernel is done and has come back to the page.

        An empty request is answered after everything that the page sent before it. Twice, because
        a widget keeps its newest value back until the value before that has been answered.
        """
        for _ in range(2):
            done = self.page.evaluate(
                f"""async (seconds) => await Promise.race([
                    {KERNEL}.requestExecute({{code: '', silent: true}}).done.then(() => true),
                    new Promise(resolve => setTimeout(() => resolve(false), 1000 * seconds)),
                ])""",
                2 * SECONDS,
            )
            assert done, f"the kernel was busy for {2 * SECONDS:.0f} seconds"

    def run_all(self, seconds: float = 300) -> None:
        """Run all cells, and wait until they have run; none may have raised."""
        self.execute("notebook:run-all-cells", seconds)
        self.shows_no_errors()

    def run_for(self, text: str, seconds: float = 300) -> Locator:
        """Run the first code cell whose source contains a text, and of all before it what it needs.

        Returns:
            The interactive part below the cell.
        """
        sources = self.page.evaluate(f"() => {CODE_CELLS}.map(([cell]) => cell.sharedModel.source)")
        target = next(i for i, source in enumerate(sources) if text in source)
        self._finish(
            f"""async (wanted) => {{
                const notebook = {NOTEBOOK}, places = {CODE_CELLS}.map(([, place]) => place);
                for (const number of wanted) {{
                    notebook.deselectAll();
                    notebook.activeCellIndex = places[number];
                    await window.jupyterapp.commands.execute('notebook:run-cell');
                }}
                notebook.activeCell.inputHidden = false;  // a folded one is found by its text
            }}""",
            needed(sources, target),
            seconds,
        )
        self.shows_no_errors()
        return self.panel(text)

    def write(self, text: str, old: str, new: str) -> None:
        """Change the source of the first code cell that contains a text, as a student may."""
        self.page.evaluate(
            f"""([text, before, after]) => {{
                const cells = {CODE_CELLS}.map(([cell]) => cell.sharedModel);
                const cell = cells.find(cell => cell.source.includes(text));
                cell.setSource(cell.source.replace(before, after));
            }}""",
            [text, old, new],
        )

    def run_cell(self, text: str, seconds: float = 120) -> Locator:
        """Run the first code cell whose source contains a text; the outputs below it."""
        self.cell(text).locator(".jp-InputArea").first.click()
        self.execute("notebook:run-cell", seconds)
        return self.outputs(text)

    def execute(self, command: str, seconds: float) -> None:
        """Execute one of JupyterLab's commands, and wait until the cells have run."""
        self._finish("(name) => window.jupyterapp.commands.execute(name)", command, seconds)

    def _finish(self, function: str, argument: Any, seconds: float) -> None:
        """Call a function of the page, and wait until it and the kernel have come to their end."""
        seconds = time_for(seconds)
        done = self.page.evaluate(
            f"""async ([argument, seconds]) => await Promise.race([
                ({function})(argument).then(() => true),
                new Promise(resolve => setTimeout(() => resolve(false), 1000 * seconds)),
            ])""",
            [argument, seconds],
        )
        assert done, f"the cells did not finish within {seconds:.0f} seconds"

    def counts(self) -> list[int | None]:
        """The execution counts of the code cells, as the notebook's model has them."""
        return self.page.evaluate(f"() => {CODE_CELLS}.map(([cell]) => cell.executionCount)")

    def shows_no_errors(self) -> None:
        """Neither an error nor anything of stderr, in cells and inside widgets."""
        self.settle()
        shown = self.page.locator(ERRORS).all_inner_texts()
        assert shown == [], "\n".join(shown)

    def cell(self, text: str) -> Locator:
        """The first code cell whose source contains a text."""
        return (
            self.page.locator(".jp-CodeCell")
            .filter(has=self.page.locator(".jp-InputArea", has_text=text))
            .first
        )

    def outputs(self, text: str) -> Locator:
        """What stands below the first code cell whose source contains a text."""
        return self.cell(text).locator(".jp-OutputArea").first

    def panel(self, text: str) -> Locator:
        """The interactive part below the first code cell whose source contains a text."""
        return self.cell(text).locator(".course-panel")

    @contextmanager
    def changes(self, element: Locator) -> Iterator[None]:
        """What is done in here must change the content of an element; wait until it has."""
        self.settle()
        before = element.inner_html()
        yield
        self.wait_until(lambda: element.inner_html() != before)
        self.settle()

    def wait_until(self, condition, seconds: float = SECONDS) -> None:
        """Wait until a function of no arguments gives true; for what ``expect`` cannot say."""
        for _ in range(round(20 * seconds)):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"nothing of the kind within {seconds} seconds")

    def move_slider(self, slider: Locator, key: str = "ArrowRight", times: int = 1) -> None:
        """Move a slider (an element that holds one) by keys, as a person may."""
        handle = slider.locator(".noUi-handle").first
        handle.scroll_into_view_if_needed()
        handle.focus()
        for _ in range(times):
            handle.press(key)

    def slide(self, text: str, times: int = 1) -> None:
        """Run the cell with this text; moving its first slider must draw another picture."""
        panel = self.run_for(text)
        output = panel.locator(".jp-OutputArea").first
        expect(output.locator("img")).to_have_count(1)
        with self.changes(output):
            self.move_slider(panel, times=times)
        expect(output.locator("img")).to_have_count(1)

    def enter(self, panel: Locator, text: str) -> Locator:
        """Type a text into the first field of a panel; what stands below it, once new."""
        output = panel.locator(".jp-OutputArea").first
        field = panel.locator("input[type=text]").first
        with self.changes(output):
            field.fill(text)
            field.press("Enter")
        return output
