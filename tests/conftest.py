"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest

from helpers.course import claims
from tests.notebooks.claims_run import watch_claims

# The kernels that nbval starts inherit this: `helpers.display.widgets.explore` then moves every
# control to the ends of its range, so that a callback that raises fails the notebook.
os.environ["COURSE_DRIVE_WIDGETS"] = "1"
# And this: cells of claims, which sleep for a student, are then checked.
os.environ[claims.VARIABLE] = "1"
# With two notebooks at once on two cores, the threads of one torch wait for those of the other:
# training that takes 0.8 s alone took 18 s. One thread each is faster.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# What takes longest begins first, so that all workers end at about the same time.
LONGEST_FIRST = ("test_marking.py", "browser", "test_full_marks.py", "notebooks", "labs")
# Files that take more than eight seconds; `make check` leaves them out.
SLOW = {
    *("test_bpe.py", "test_convolution.py", "test_full_marks.py", "test_gradients.py"),
    *("test_hidden_markov.py", "test_in_a_kernel.py", "test_lab01.py", "test_lab02.py"),
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by how long they take, and mark those that are slow."""

    def rank(item: pytest.Item) -> int:
        names = item.path.parts
        return next((i for i, name in enumerate(LONGEST_FIRST) if name in names), 9)

    watch_claims(items)
    items.sort(key=rank)  # stable: a file's tests stay together, in their order
    for item in items:
        if item.path.name in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the course."""
    return Path(__file__).resolve().parents[1]
