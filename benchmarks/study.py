"""What the studies share: a file of results, rows that are not computed twice, and tuned rates.

A study trains many small models and keeps what it measures in ``results/NAME.json``, which a
notebook shows. Every call reads that file anew and writes it whole: a study that was cut off goes
on where it was, and several calls may run side by side. Run one from the root of the repository, as
in ``python -m benchmarks.attention_study all``. To try one out, let it make a single row elsewhere:
``--rows 1 --folder /tmp``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from helpers.data.batching import seeded
from helpers.device import best_device, describe, mixed_precision, processor
from helpers.files import write_whole

Row = dict[str, Any]
PATIENCE = 60  # seconds


class Study:
    """The results of one study: what it says about itself, and rows, in one part or several.

    A part is a list of rows, or a dictionary that has them as ``runs`` beside settings.

    Args:
        file: the script's ``__file__``.
        about: gives what is written beside the rows, such as machine and settings; nothing, and
            not even the script's name, if it is left out.
        results: the name of the file of results, if it is not the script's.
        unsaid: entries of a row that are not printed.
        form: of the file, as ``json.dumps`` takes it; an indent of 1 if none is given.
    """

    folder = Path(__file__).with_name("results")
    left = sys.maxsize  # rows that may still be made

    def __init__(
        self,
        file: str,
        about: Callable[[], Mapping] | None = None,
        results: str = "",
        unsaid: Collection[str] = (),
        **form: Any,
    ) -> None:
        self.script, self.about, self.unsaid = Path(file).stem, about, unsaid
        self.name, self.form = results or self.script, form or {"indent": 1}

    @property
    def path(self) -> Path:
        return self.folder / f"{self.name}.json"

    def read(self) -> Row:
        """All that is there."""
        with self._alone():
            return self._read()

    def rows(self, part: str = "rows") -> list[Row]:
        """The rows of a part."""
        return _rows(self.read(), part)

    def write(self, **parts: Any) -> None:
        """Put these parts into the file, beside all others, unless they are there already."""
        if not parts.items() <= self.read().items():
            self._change(lambda content: content.update(parts))

    def add(self, rows: Iterable[Row], part: str = "rows") -> None:
        """Put rows at the end of a part."""
        self._change(lambda content: _rows(content, part).extend(rows))

    def begin(self, part: str, **settings: Any) -> None:
        """Let a part be a dictionary of these settings and its rows, unless it is there."""
        if part not in self.read():
            self.write(**{part: settings | {"runs": []}})

    def entry(self, name: str, make: Callable[[], Any]) -> Any:
        """The entry of the file with this name: the one that is there, or one made now."""
        if name not in (content := self.read()):
            self._count()
            content = {name: make()}
            self.write(**content)
            print(name, str(content[name])[:300], flush=True)
        return content[name]

    def row(self, asked: Row, make: Callable[[], Row], part: str = "rows") -> Row:
        """The row that has these entries: the one that is there, or one made and written now."""
        return self.several(asked, lambda: [make()], part)[0]

    def several(
        self, asked: Row, make: Callable[[], Iterable[Row]], part: str = "rows"
    ) -> list[Row]:
        """All rows that have these entries; if there are none, they are made and written now."""
        found = _with(asked, self.rows(part))
        if not found:
            self._count()
            found = [_plain(asked | row) for row in make()]
            self._keep(found, part)
        return found

    def side_by_side(
        self,
        asked: Sequence[Row],
        make: Callable[[Row], Row],
        part: str = "rows",
        processes: int = 2,
    ) -> list[Row]:
        """``row`` for each of these; those that are missing are made in several processes.

        Args:
            make: a function of a module, which is called with the entries that are asked for.
        """
        known = self.rows(part)
        missing = [one for one in asked if not _with(one, known)]
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            made = pool.map(make, missing[: self.left])
            for one in missing:
                self._count()
                self._keep([one | next(made)], part)
        known = self.rows(part)
        return [_with(one, known)[0] for one in asked]

    def _count(self) -> None:
        if Study.left < 1:
            raise SystemExit("As many rows are made as were asked for.")
        Study.left -= 1

    def _keep(self, rows: list[Row], part: str) -> None:
        self.add(rows, part)
        for row in rows:
            print({n: value for n, value in row.items() if n not in self.unsaid}, flush=True)

    def _read(self) -> Row:
        return json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}

    def _change(self, change: Callable[[Row], None]) -> None:
        with self._alone():
            content = self._read()
            if self.about is not None:
                content = {"script": f"benchmarks/{self.script}.py"} | content | dict(self.about())
            change(content)
            write_whole(self.path, json.dumps(content, **self.form) + "\n")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Whoever else wants the file waits: two calls at once would lose one another's rows."""
        lock, until = self.path.with_suffix(".lock"), time.monotonic() + PATIENCE
        lock.parent.mkdir(exist_ok=True)
        while True:
            try:
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
                break
            except (FileExistsError, PermissionError) as there:  # the second one on Windows
                if time.monotonic() > until:
                    message = f"Another call has had {lock} for a minute: if none runs, remove it."
                    raise TimeoutError(message) from there
                time.sleep(0.01)
        try:
            yield
        finally:
            lock.unlink()


def _rows(content: Row, part: str) -> list[Row]:
    found = content.setdefault(part, [])
    return found["runs"] if isinstance(found, dict) else found


def _with(asked: Row, rows: list[Row]) -> list[Row]:
    return [row for row in rows if _plain(asked).items() <= row.items()]


def _plain(row: Row) -> Row:
    """As it comes back from the file."""
    return json.loads(json.dumps(row))


class Numbered:
    """Numbered batches of rows, in a new order each pass.

    Args:
        collate: what makes a batch of some rows.
    """

    def __init__(
        self, rows: Sequence, size: int, seed: int, collate: Callable[[list], Any]
    ) -> None:
        self.rows, self.size, self.seed, self.collate = rows, size, seed, collate

    def batch(self, step: int) -> Any:
        number, place = divmod(step, len(self.rows) // self.size)
        order = torch.randperm(len(self.rows), generator=seeded(self.seed, number))
        return self.collate([self.rows[i] for i in order[place * self.size :][: self.size]])


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
    parser.add_argument("--folder", type=_into, help="of the results, if it is another one")
    parser.add_argument("--rows", type=_at_most, help="make so many rows at most, then end")
    return parser


def _into(folder: str) -> None:
    Study.folder = Path(folder)


def _at_most(rows: str) -> None:
    Study.left = int(rows)


def machine(how: str = "one thread") -> str:
    """What the rows were made on, in words."""
    return f"{processor()}, {how}, torch {torch.__version__}"


def device() -> dict[str, Any]:
    """What the rows were made on, of a study that takes a GPU where there is one."""
    return {
        "device": describe(best_device()),
        "processor": processor(),
        "torch": torch.__version__,
        "precision": mixed_precision(best_device()),
    }
