"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest

# The kernels that nbval starts inherit this: `helpers.display.widgets.explore` then moves every
# control to the ends of its range, so that a callback that raises fails the notebook.
os.environ["COURSE_DRIVE_WIDGETS"] = "1"
# With two notebooks at once on two cores, the threads of one torch wait for those of the other:
# training that takes 0.8 s alone took 18 s. One thread each is faster.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the course."""
    return Path(__file__).resolve().parents[1]
