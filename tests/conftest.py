"""Settings shared by all tests."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest
from jupyter_client.connect import LocalPortCache
from jupyter_client.provisioning import local_provisioner

# Before torch is imported, by what follows. With two tests at once on two cores, the threads of one
# torch wait for those of the other: training that takes 0.8 s alone took 18 s with two threads.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from helpers.course import own_work
from helpers.device import SPEED, time_for
from tests.notebooks.claims_run import WHOLE, watch_claims
from tests.notebooks.warm_kernels import free_port, launch

ROOT = Path(__file__).resolve().parents[1]

# The kernels that nbval starts inherit all of this. A notebook then reads nothing of a student's
# own work, and leaves nothing there.
os.environ[own_work.TESTS] = "1"
# Limits in seconds are five times as long: nothing is measured while three tests share two cores.
os.environ.setdefault(SPEED, "0.2")
if os.environ.get(WHOLE) != "1":
    # `helpers.display.widgets.explore` moves every control to the ends of its range, so that a
    # callback that raises fails the notebook.
    os.environ["COURSE_DRIVE_WIDGETS"] = "1"
    # Trainings end after a few steps.
    profile = tempfile.TemporaryDirectory(prefix="ipython-")
    startup = Path(profile.name) / "profile_default" / "startup"
    startup.mkdir(parents=True)
    shutil.copy(ROOT / "tests/notebooks/short_trainings.py", startup)
    os.environ["IPYTHONDIR"] = profile.name

# A clock decides nothing: what is tried may take longer on a busy machine.
hypothesis.settings.register_profile("course", deadline=None)
hypothesis.settings.load_profile("course")

# What takes longest begins first, so that all workers end at about the same time.
LONGEST_FIRST = ("test_marking.py", "test_full_marks.py", "browser", "notebooks", "labs")
# Files that take more than eight seconds; `make check` leaves them out.
SLOW = {
    *("test_bpe.py", "test_convolution.py", "test_full_marks.py", "test_gradients.py"),
    *("test_hidden_markov.py", "test_in_a_kernel.py", "test_lab01.py", "test_lab02.py"),
    *("test_lab04.py", "test_lab05.py"),
    *(
        "test_layers.py",
        "test_marking.py",
        "test_mutations.py",
        "test_pretrain.py",
        "test_refresh.py",
    ),
    *("test_release.py", "test_sandbox.py", "test_shipped_model.py", "test_speculative.py"),
    *("test_transformer.py", "test_translation.py"),
}


def pytest_configure(config: pytest.Config) -> None:
    """A cell of a notebook may take as long as this machine needs for five minutes' work."""
    if getattr(config.option, "nbval_cell_timeout", 0) == 2000:  # as nbval has it, if nobody says
        config.option.nbval_cell_timeout = time_for(300)
    LocalPortCache.find_available_port = free_port
    if sys.platform == "linux" and os.environ.get(WHOLE) != "1":  # whole runs are timed
        local_provisioner.launch_kernel = launch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by how long they take, and mark those that are slow."""

    def rank(item: pytest.Item) -> int:
        names = item.path.parts
        return next((i for i, name in enumerate(LONGEST_FIRST) if name in names), 9)

    watch_claims(items, ROOT)
    items.sort(key=rank)  # stable: a file's tests stay together, in their order
    for item in items:
        if item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the course."""
    return ROOT


@pytest.fixture(scope="session")
def course_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last commit's course in one file, as `make zip` writes it."""
    if shutil.which("make") is None or not (ROOT / ".git").exists():
        pytest.skip("the zip needs make and a clone")
    path = tmp_path_factory.mktemp("zip") / "language-model-course.zip"
    subprocess.run(["make", "--silent", "-C", ROOT, "zip", f"ZIP={path}"], check=True)
    return path
