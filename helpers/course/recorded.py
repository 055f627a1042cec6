"""Results of pretrained models, shown live where the model is here and as recorded where not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from helpers.course.environment import find_root
from helpers.device import processor
from helpers.files import write_whole
from helpers.pretrained.store import find, missing

RECORDED = "COURSE_RECORDED"  # "write": record anew; "compare": fail where live and record differ
_TOLD: set[str] = set()  # what is missing is said once
CLOSE = 0.02  # by how much, of the larger one, two numbers may differ: processors round differently


def recorded(name: str, make: Callable[[], Any], *needs: str, live: bool = True) -> Any:
    """What ``make`` gives, if all that it needs was fetched; else what it gave when recorded.

    Args:
        name: of the record, ``data/recorded/name.json``.
        make: without arguments; what it gives must be what JSON can hold (lists, not tuples).
        needs: names of ``helpers.pretrained.store.THINGS``.
        live: False for what takes minutes: the record is shown here, too, unless COURSE_RECORDED
            says what to do with it.
    """
    path, wish = find_root() / "data/recorded" / f"{name}.json", os.environ.get(RECORDED, "")
    away = [thing for thing in needs if find(thing) is None]
    if away:
        record = json.loads(path.read_text(encoding="utf-8"))
        if away[0] not in _TOLD:
            print(f"{missing(away[0])} What follows from it was recorded on {record['machine']}.")
        _TOLD.add(away[0])
        return record["result"]
    if not (live or wish):
        return json.loads(path.read_text(encoding="utf-8"))["result"]
    result = make()
    if wish == "write":
        record = {"needs": needs, "machine": processor(), "result": result}
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    elif wish == "compare":
        stored = json.loads(path.read_text(encoding="utf-8"))["result"]
        if not alike(stored, result):
            raise AssertionError(f"{name}: recorded was {stored!r}, live it is {result!r}.")
    return result


def alike(a: Any, b: Any) -> bool:
    """Whether two results are the same up to what processors differ by."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, int | float):
        return abs(a - b) <= CLOSE * max(abs(a), abs(b), 1)
    return bool(a == b)
