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

# What takes longest begins first, so that both workers end at about the same time.
LONGEST_FIRST = ("browser", "notebooks", "marking", "labs")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by how long they take; see CONTRIBUTING, "Tests"."""

    def rank(item: pytest.Item) -> int:
        folders = item.path.parts
        return next((i for i, name in enumerate(LONGEST_FIRST) if name in folders), 9)

    items.sort(key=rank)  # stable: a file's tests stay together, in their order


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the course."""
    return Path(__file__).resolve().parents[1]
