"""Which submissions are marked, and the files that say so."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from unicodedata import category

from helpers.files import write_whole
from staff.marking import report
from staff.marking.submissions import Refused, Submission, read_bytes

VERSION = 1  # of state.json; another one is marked anew
FINAL = ("marked", "stopped", "refused")  # what is not tried again


class State:
    """Which submissions are done, with their rows; written whole after each."""

    def __init__(self, marks: Path, submissions: Sequence[Submission], fingerprint: str) -> None:
        self.marks, self.submissions, self.fingerprint = marks, submissions, fingerprint
        self.pages = _page_names(submissions)
        self.digests: dict[str, str] = {}
        self.done: dict[str, dict[str, Any]] = {}
        with suppress(OSError, ValueError, AttributeError):
            stored = json.loads((marks / "state.json").read_text("utf-8"))
            known = {submission.file for submission in submissions}
            if stored.get("version") == VERSION:
                self.done = {f: e for f, e in stored["files"].items() if f in known}

    def is_done(self, submission: Submission, folder: Path) -> bool:
        try:
            content = read_bytes(folder / submission.file)
        except Refused as refusal:
            content = str(refusal).encode()
        digest = hashlib.sha256(self.fingerprint.encode() + content).hexdigest()
        self.digests[submission.file] = digest
        entry, page = self.done.get(submission.file, {}), self.pages[submission.file]
        same = entry.get("digest") == digest and entry.get("page", page) == page
        return same and entry["row"]["status"] in FINAL

    def add(self, submission: Submission, result: Mapping[str, Any], page: str | None) -> None:
        path = self.marks / "feedback" / self.pages[submission.file]
        if page is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, page)
        row = {"student": submission.student, "file": submission.file, **result}
        digest = self.digests.get(submission.file, "")
        page_name = self.pages[submission.file]
        self.done[submission.file] = {"digest": digest, "row": row, "page": page_name}
        self.write()

    def rows(self) -> list[dict[str, Any]]:
        return [self.done[s.file]["row"] for s in self.submissions if s.file in self.done]

    def tidy(self) -> None:
        """Take away pages of files that are gone, or whose student has several by now."""
        for page in (self.marks / "feedback").glob("*.html"):
            if page.name not in self.pages.values():
                page.unlink()

    def write(self) -> None:
        _write(self.marks / "points.csv", report.table(self.rows()))
        state = {"version": VERSION, "files": self.done}
        _write(self.marks / "state.json", json.dumps(state, indent=1))


def _page_names(submissions: Sequence[Submission]) -> dict[str, str]:
    """A file name for each submission: the student's, unless there are several of one student."""
    times, used, names = Counter(s.student for s in submissions), set(), {}
    for submission in submissions:
        name = submission.student
        if times[name] > 1:
            name += "-" + Path(submission.file).stem
        kept = (c if category(c)[0] in "LMN" or c in "-_. " else "_" for c in name)
        name = "".join(kept)[:60]
        if name.casefold() in used:
            name += "-" + hashlib.sha256(submission.file.encode("utf-8", "replace")).hexdigest()[:8]
        used.add(name.casefold())
        names[submission.file] = f"{name}.html"
    return names


def _write(path: Path, text: str) -> None:
    write_whole(path, text.encode("utf-8", "replace"))  # names of files may hold surrogates
