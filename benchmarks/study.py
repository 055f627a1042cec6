"""What the studies share: a file of results, rows that are not computed twice, and tuned rates.

A study trains many small models and keeps what it measures in ``results/NAME.json``, which a
notebook shows. Every call reads that file anew and writes it whole: a study that was cut off goes
on where it was, and several calls may run side by side. Run one from the root of the repository, as
in ``python -m benchmarks.attention_study all``.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from helpers.device import best_device, describe, mixed_precision, processor
from helpers.files import write_whole

FOLDER = Path(__file__).with_name("results")
Row = dict[str, Any]


class Study:
    """The results of one study: what it says about itself, and rows, in one part or several.

    Args:
        file: the script's ``__file__``.
        about: gives what is written beside the rows, such as machine and settings; nothing, and
            not even the script's name, if it is left out.
        results: the name of the file of results, if it is not the script's.
        form: of the file, as ``json.dumps`` takes it; an indent of 1 if none is given.
    """

    def __init__(
        self,
        file: str,
        about: Callable[[], Mapping] | None = None,
        results: str = "",
        **form: Any,
    ) -> None:
        self.name, self.about, self.form = Path(file).stem, about, form or {"indent": 1}
        self.path = FOLDER / f"{results or self.name}.json"

    def read(self) -> Row:
        """All that is there."""
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def rows(self, part: str = "rows") -> list[Row]:
        """The rows of a part."""
        return self.read().get(part, [])

    def write(self, **parts: Any) -> None:
        """Put these parts into the file, beside all others."""
        self._change(lambda content: parts)

    def add(self, rows: Iterable[Row], part: str = "rows", instead: Collection[Row] = ()) -> None:
        """Put rows at the end of a part, ``instead`` of some that are there."""
        self._change(
            lambda content: {
                part: [*(row for row in content.get(part, []) if row not in instead), *rows]
            }
        )

    def row(
        self, asked: Row, make: Callable[[], Row], part: str = "rows", unsaid: Collection[str] = ()
    ) -> Row:
        """The row that has these entries: the one that is there, or one made and written now.

        It is printed without its entries ``unsaid``.
        """
        asked = json.loads(json.dumps(asked))  # as it comes back from the file
        for row in self.rows(part):
            if asked.items() <= row.items():
                return row
        row = asked | make()
        self.add([row], part)
        print({name: value for name, value in row.items() if name not in unsaid}, flush=True)
        return row

    def _change(self, change: Callable[[Row], Row]) -> None:
        with _alone():
            content = self.read()
            if self.about is not None:
                content = {"script": f"benchmarks/{self.name}.py"} | content | dict(self.about())
            content |= change(content)
            write_whole(self.path, json.dumps(content, **self.form) + "\n")


@contextmanager
def _alone() -> Iterator[None]:
    """Whoever else wants to write waits: two calls at once would lose one another's rows."""
    FOLDER.mkdir(exist_ok=True)
    folder = os.open(FOLDER, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # the system gives it free however the call ends
        yield
    finally:
        os.close(folder)


def tuned(
    rates: Iterable[float],
    measure: Callable[[float], float],
    factor: float = 2.0,
    digits: int = 3,
    more: int = 2,
) -> float:
    """The rate with the least ``measure``; while it is the first or last, one beyond is tried.

    Args:
        rates: to be tried.
        measure: of a rate, the less the better.
        factor: how far away the one beyond is, which is rounded to so many ``digits``.
        more: rates to try beyond the given ones, at most.
    """
    tried = {rate: measure(rate) for rate in rates}
    for _ in range(more):
        best = min(tried, key=tried.__getitem__)
        way = {min(tried): 1 / factor, max(tried): factor}.get(best)
        if way is None:
            break
        beyond = float(f"{best * way:.{digits - 1}e}")
        tried[beyond] = measure(beyond)
    return min(tried, key=tried.__getitem__)


def command(
    doc: str | None, parts: Collection[str] = (), seeds: int = 0
) -> argparse.ArgumentParser:
    """The parser of a study: the parts to run, all if none is named, and ``--seeds`` of each."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])

    def part(name: str) -> str:
        if name not in parts:
            raise argparse.ArgumentTypeError(f"no part {name!r}; there are {', '.join(parts)}")
        return name

    if parts:
        parser.add_argument("parts", nargs="*", type=part, default=list(parts))
    if seeds:
        parser.add_argument("--seeds", type=int, default=seeds)
    return parser


def machine(how: str = "one thread") -> str:
    """What the rows were made on, in words."""
    return f"{processor()}, {how}, torch {torch.__version__}"


def device() -> dict[str, str]:
    """What the rows were made on, of a study that takes a GPU where there is one."""
    return {
        "device": describe(best_device()),
        "processor": processor(),
        "torch": torch.__version__,
        "precision": mixed_precision(best_device()),
    }
