"""JupyterLab on a copy of the course, and a browser that drives it as a student does."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from helpers.course.workspace import find_notebook, lay_copies

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
# A container has no user namespaces and little shared memory for the browser's own sandbox.
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # keep all cells in the page
}
KERNEL = "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"


class Notebook:
    """A notebook that is open in JupyterLab, in a page of Playwright."""

    def __init__(self, page):
        self.page = page
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=90_000)
        self.wait_for_kernel()

    def wait_for_kernel(self, seconds=120):
        """Wait until the kernel is connected and has nothing more to do."""
        self.page.wait_for_function(
            f"() => {{ const k = {KERNEL};"
            " return k && k.status === 'idle' && k.connectionStatus === 'connected' }",
            timeout=1000 * seconds,
        )

    def run_all(self, seconds=300):
        """Run all cells, and wait until they have run."""
        self.execute("notebook:run-all-cells", seconds)

    def run_through(self, text, seconds=120):
        """Run the first code cell whose source contains a text, and all before it."""
        self.cell(text).locator(".jp-InputArea").first.click()
        self.execute("notebook:run-all-above", seconds)
        self.cell(text).locator(".jp-InputArea").first.click()
        self.execute("notebook:run-cell", seconds)

    def execute(self, command, seconds):
        """Execute one of JupyterLab's commands, and wait until the cells have run."""
        done = self.page.evaluate(
            """async ([command, seconds]) => await Promise.race([
                window.jupyterapp.commands.execute(command).then(() => true),
                new Promise(resolve => setTimeout(() => resolve(false), 1000 * seconds)),
            ])""",
            [command, seconds],
        )
        assert done, f"the cells did not finish within {seconds} seconds"
        self.wait_for_kernel()

    def counts(self):
        """The execution counts of the code cells, as the notebook's model has them."""
        return self.page.evaluate(
            """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
                .filter(cell => cell.type === 'code').map(cell => cell.executionCount)"""
        )

    def errors(self):
        """What the page shows of errors and of stderr, in cells and inside widgets."""
        kinds = ("application/vnd.jupyter.error", "application/vnd.jupyter.stderr")
        places = ", ".join(f".jp-OutputArea-output[data-mime-type='{kind}']" for kind in kinds)
        return self.page.locator(places).all_inner_texts()

    def cell(self, text):
        """The first code cell whose source contains a text."""
        return (
            self.page.locator(".jp-CodeCell")
            .filter(has=self.page.locator(".jp-InputArea", has_text=text))
            .first
        )

    def move_slider(self, slider, key="ArrowRight", times=1):
        """Move a slider (an element that holds one) by keys, as a person may."""
        handle = slider.locator(".noUi-handle").first
        handle.scroll_into_view_if_needed()
        handle.focus()
        for _ in range(times):
            handle.press(key)

    def enter(self, panel, text, shows=None):
        """Type a text into the first field of a panel; return what stands below it, once new.

        With ``shows``, such as "img" or "pre", once it holds one element of that kind.
        """
        output, field = (
            panel.locator(".jp-OutputArea").first,
            panel.locator("input[type=text]").first,
        )
        before = output.inner_html()
        field.fill(text)
        field.press("Enter")
        self.wait_for_change(output, before)
        if shows is not None:
            self.wait_until(lambda: output.locator(shows).count() == 1)
        return output

    def wait_until(self, condition, seconds=60):
        """Wait until a function of no arguments gives true."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"nothing of the kind within {seconds} seconds"
            self.page.wait_for_timeout(100)

    def wait_for_change(self, element, before, seconds=60):
        """Wait until the content of an element is another than it was; return it."""
        self.wait_until(lambda: element.inner_html() != before, seconds)
        return element.inner_html()


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory):
    """JupyterLab on a copy of the course with working copies laid; (its address, the copy)."""
    home = tmp_path_factory.mktemp("jupyterlab")
    course = home / "course"
    ignored = shutil.ignore_patterns(".*", "work", "__pycache__", "*.egg-info", "build", "dist")
    shutil.copytree(ROOT, course, ignore=ignored)
    lay_copies(course)
    for name, settings in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(settings))
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    environment.pop("COURSE_DRIVE_WIDGETS", None)  # here a person moves them
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"]
    command += [f"--port={port}", f"--ServerApp.root_dir={course}", "--IdentityProvider.token="]
    command += ["--LabApp.expose_app_in_browser=True"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    log = home / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=course, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 90
        while True:
            try:
                urllib.request.urlopen(f"{url}/api/status", timeout=2).close()
                break
            except OSError:
                alive = server.poll() is None and time.monotonic() < end
                assert alive, f"JupyterLab did not start:\n{log.read_text()}"
                time.sleep(0.25)
        yield url, course
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="session")
def browser():
    """A browser of this machine; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium found: install it (Debian: apt install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def open_notebook(browser, jupyterlab):
    """Open a student's working copy by the beginning of its name: ``open_notebook("02")``."""
    url, course = jupyterlab
    pages = []

    def open_by_name(name):
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        pages.append(page)
        page.goto(f"{url}/lab/tree/work/{find_notebook(course, name).as_posix()}?reset")
        return Notebook(page)

    yield open_by_name
    for page in pages:
        page.close()
