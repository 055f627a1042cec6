"""A cell of claims counts as run by nbval only if it says that its claims were checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from helpers.course.claims import CHECKED
from staff.notebooks.folding import CLAIMS_TAG


class SleepingClaims(AssertionError):
    """A cell of claims was executed and its claims were not."""


def watch_claims(items: Iterable[Any]) -> None:
    """Let nbval's cells that hold claims fail where these stay asleep."""
    for item in items:
        if CLAIMS_TAG in getattr(item, "cell", {}).get("metadata", {}).get("tags", []):
            item.runtest = _watched(item, item.runtest)


def _watched(item: Any, run: Callable[[], None]) -> Callable[[], None]:
    def runtest() -> None:
        run()
        said = "".join(output.get("text", "") for output in item.test_outputs)
        if CHECKED not in said:
            raise SleepingClaims(f"{item.nodeid}: the claims of this cell were not checked.")

    return runtest
