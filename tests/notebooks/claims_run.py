"""nbval runs the cells of notebooks; this runs, after each, the claims that name it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from queue import Empty
from typing import Any

from helpers.course.workspace import FURTHER
from helpers.device import time_for
from staff.notebooks.claims import Block, claims_file, read_claims

WHOLE = "COURSE_WHOLE_TRAININGS"  # a variable: notebooks train as long as they say
SECONDS = time_for(300)  # for one block


class ClaimError(AssertionError):
    """A claim of a notebook does not hold, or could not be checked."""


def watch_claims(items: Iterable[Any], root: Path) -> None:
    """Let nbval's cells fail where what is claimed after them does not hold.

    Args:
        items: what pytest has collected; nbval's cells among it.
        root: of the course.
    """
    lessons = (root / "notebooks", root / "notebooks" / FURTHER)
    claims: dict[Path, dict[str, list[Block]]] = {}
    for item in items:
        cell = getattr(item, "cell", None)
        if cell is None:
            continue
        if item.path not in claims:
            claims[item.path] = defaultdict(list)
            if item.path.parent in lessons:
                for block in read_claims(claims_file(root, item.path)):
                    claims[item.path][block.cell].append(block)
        if blocks := claims[item.path][cell.get("id", "")]:
            item.runtest = _with_claims(item, item.runtest, blocks)


def _with_claims(item: Any, run: Callable[[], None], blocks: Sequence[Block]) -> Callable[[], None]:
    def runtest() -> None:
        run()
        whole = os.environ.get(WHOLE) == "1"
        for block in blocks:
            if whole or not block.trained:
                check(item.parent.kernel.kc, block)

    return runtest


def check(client: Any, block: Block) -> None:
    """Send a block to a kernel, and wait until it has run.

    Raises:
        ClaimError: it raised, or the kernel did not come to an end.
    """
    sent = client.execute(block.in_kernel(), store_history=False, allow_stdin=False)
    failed = None
    while True:
        try:
            message = client.get_iopub_msg(timeout=SECONDS)
        except Empty:
            raise ClaimError(f"{block.file.name}:{block.line}: no end in {SECONDS:.0f} s") from None
        if message["parent_header"].get("msg_id") != sent:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            failed = block.failed(content["ename"], content["evalue"], content["traceback"])
        if kind == "status" and content["execution_state"] == "idle":
            break
    reply = client.get_shell_msg(timeout=SECONDS)
    while reply["parent_header"].get("msg_id") != sent:
        reply = client.get_shell_msg(timeout=SECONDS)
    if failed or reply["content"]["status"] != "ok":
        raise ClaimError(failed or f"{block.file.name}:{block.line}: it was not run")
