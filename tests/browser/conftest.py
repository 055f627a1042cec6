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
from playwright.sync_api import Page, sync_playwright

from helpers.course.workspace import find_notebook, lay_copies
from tests.browser.notebook import Notebook

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


@pytest.fixture(scope="module")
def browser():
    """A window of this machine's browser; the test is skipped where there is none.

    Until it is closed, Playwright's event loop runs in this process, in which other tests follow.
    """
    if CHROMIUM is None:
        pytest.skip("no Chromium found: install it (Debian: apt install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        # One window for all pages: JupyterLab's scripts are read once.
        yield browser.new_context(viewport={"width": 1280, "height": 1000})
        browser.close()


@pytest.fixture
def open_notebook(browser, jupyterlab):
    """Open a student's working copy by the beginning of its name: ``open_notebook("02")``."""
    url, course = jupyterlab
    pages: list[Page] = []

    def open_by_name(name):
        page = browser.new_page()
        pages.append(page)
        page.goto(f"{url}/lab/tree/work/{find_notebook(course, name).as_posix()}?reset")
        return Notebook(page)

    yield open_by_name
    for page in pages:
        # A kernel that nobody looks at any more still holds its memory, and may still compute.
        page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
        page.close()
