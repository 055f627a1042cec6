"""What comes out of marking: a table of points, and one page of feedback for each student.

A page is shown in an assistant's browser: all of it is escaped text, besides pictures in PNG, and
the page itself forbids scripts. It shows the tests as they were released, and of what they print
only the sentences of the checks, since a student's function may print the hidden inputs it gets.
"""

from __future__ import annotations

import base64
import binascii
import csv
import html
import io
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from helpers.course.checks.lab import LEADERBOARD
from staff.marking.submissions import grade_id

LONGEST = 4000  # characters of an output that a page shows
LONGEST_UNIT = 40
LARGEST_PICTURE = 2**20
LARGEST_PAGE = 4 * 2**20
BEFORE = ["student", "file", "lab"]
AFTER = ["total", "out of", "by hand", "leaderboard", "unit", "status", "reason"]

_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
pre { font: 14px/1.45 ui-monospace, monospace; padding: .6rem .8rem; overflow-x: auto; margin: 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.text { font-family: inherit; color: #333; } .code { background: #f3f4f6; }
.output { border-left: 3px solid #d0d4da; } .error { border-left: 3px solid #b3261e; }
.test { border: 1px solid #8a94a3; margin: .8rem 0; } .cell { margin: .8rem 0; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .25rem .8rem .25rem 0;
  vertical-align: top; border-bottom: 1px solid #d0d4da; } td.n { text-align: right; }
td.said { white-space: pre-wrap; }
img { max-width: 100%; }
"""


_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as comma-separated values, one column for each task of the labs that occur.

    A text that a spreadsheet would run as a formula gets an apostrophe.

    Args:
        rows: "student", "file" and what ``worker.mark`` returns.
    """
    tasks = list(dict.fromkeys(name for row in rows for name in row.get("points", ())))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*BEFORE, *map(cell, tasks), *AFTER])
    for row in rows:
        points, possible = row.get("points", {}), row.get("possible", {})
        waiting = [f"{name} ({possible[name]:g})" for name, got in points.items() if got is None]
        values = [row["student"], row["file"], row.get("lab", "")]
        values += [points.get(name) for name in tasks]
        values += [sum(got or 0 for got in points.values()) if points else None]
        values += [sum(possible.values()) if points else None, ", ".join(waiting)]
        values += [*(row.get("leaderboard") or (None, "")), row["status"], row["reason"]]
        writer.writerow(map(cell, values))
    return out.getvalue()


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f"{value:.6g}"
    text = " ".join(_CONTROL.sub(" ", value).split())
    return f"'{text}" if text[:1] in tuple("=+-@") else text


def leaderboard(notebook: NotebookNode) -> tuple[float, str] | None:
    """The number that a notebook announces (``checks.lab.announce``), the last one, with its unit.

    It comes from the student's process, so it is a claim, not a measurement.
    """
    found = None
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {}).get(LEADERBOARD)
            number = shown.get("number") if isinstance(shown, Mapping) else None
            if isinstance(number, int | float) and not isinstance(number, bool):
                unit = shown.get("unit")
                unit = unit[:LONGEST_UNIT] if isinstance(unit, str) else ""
                found = (float(number), unit) if math.isfinite(number) else found
    return found


def too_slow(
    notebook: NotebookNode,
    cells: Mapping[int, str],
    points: Mapping[str, tuple[float | None, float]],
) -> str:
    """Which cells took too long, and whether that can have cost points.

    Args:
        cells: by their numbers, from 1, after how long they were stopped.
        points: by task, what it got (None waits for a person) and what it can get.
    """
    named = []
    for number, after in cells.items():
        first_line = notebook.cells[number - 1].source.strip().partition("\n")[0]
        title = re.sub(r"^# @title (.*?)( \(.*)?$", r"\1", first_line)
        named.append(f"cell {number} ({title[:60]}) after {after}")
    lost = {name for name, (got, most) in points.items() if got not in (None, most)}
    cost = "It cost no points."
    if lost:
        cost = "It cost no points: each task that has none failed on inputs of its check's own."
    hit = [
        grade_id(cell)
        for number, cell in enumerate(notebook.cells, start=1)
        if grade_id(cell) in lost and not _judged(cell, number in cells)
    ]
    if hit:
        cost = f"Cells below may lack what it should have made: look at {', '.join(hit)}."
    return f"Stopped when the notebook was marked: {', '.join(named)}. {cost}"


def unreadable(notebook: NotebookNode) -> str:
    """Which answers Python could not read; empty if it could."""
    names = [
        grade_id(cell)
        for cell in notebook.cells
        if grade_id(cell) and any(o.get("ename") in _UNREADABLE for o in cell.get("outputs", ()))
    ]
    if not names:
        return ""
    told = ", ".join(names)
    return f"Python cannot read {told}; in tasks below the course's version stands for it."


def _judged(cell: NotebookNode, slow: bool) -> bool:
    """Whether a check has found an answer wrong, and not for a name that was never made."""
    errors = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
    said = "\n".join(_sentences(cell))
    return not slow and [o.ename for o in errors] == ["NotSolved"] and "NameError" not in said


def page(
    notebook: NotebookNode,
    release: NotebookNode,
    student: str,
    result: Mapping[str, Any],
    hidden: Sequence[str] = (),
) -> str:
    """One page of feedback, complete in itself.

    Args:
        notebook: as it was executed, with hidden tests.
        release: what the student was given; its test cells are shown.
        student: the name.
        result: what ``worker.mark`` returns.
        hidden: texts that must not appear, such as seeds.
    """
    given = {grade_id(cell): cell.source for cell in release.cells if grade_id(cell)}
    said = {grade_id(cell): _sentences(cell) for cell in notebook.cells if _is_test(cell)}
    points, possible = result["points"], result["possible"]
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">",
        f"<title>{escaped(student)} · {escaped(result['lab'])}</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escaped(student)} · {escaped(result['lab'])}</h1>",
        heading(result),
    ]
    if result["reason"]:
        lines.append(f"<p>{escaped(result['reason'], hidden)}</p>")
    lines.append("<table><tr><th>Task</th><th>Points</th><th></th></tr>")
    for name, got in points.items():
        words = "\n".join(said.get(name, [])) or by_hand(got)
        lines.append(line(name, got, possible[name], words, hidden))
    lines.append("</table><h2>Your notebook</h2>")
    size = 0
    text = {cell.source for cell in release.cells if cell.cell_type == "markdown"}
    for cell in notebook.cells:
        block = _block(cell, given, text, hidden)
        size += len(block)
        if size > LARGEST_PAGE:
            lines.append("<p>The rest of the notebook is left out: it is too long.</p>")
            break
        lines.append(block)
    return "\n".join([*lines, "</body></html>", ""])


def heading(result: Mapping[str, Any]) -> str:
    """The sum, and what is still to come."""
    points, possible = result["points"], result["possible"]
    return (
        f"<p><strong>{sum(got or 0 for got in points.values()):g} of {sum(possible.values()):g} "
        f"points</strong>{_waiting(points, possible)}</p>"
    )


def line(name: str, got: float | None, most: float, words: str, hidden: Sequence[str] = ()) -> str:
    """The row of a task: its name, its points (None waits for a person), what is said of it."""
    number = f"– of {most:g}" if got is None else f"{got:g} of {most:g}"
    cells = [("", escaped(name)), ("n", number), ("said", escaped(words, hidden))]
    inner = "".join(f'<td class="{kind}">{value}</td>' for kind, value in cells)
    return f"<tr>{inner}</tr>"


def by_hand(got: float | None) -> str:
    return "A person reads this one." if got is None else "No answer." if got == 0 else ""


def _waiting(points: Mapping[str, Any], possible: Mapping[str, float]) -> str:
    rest = sum(possible[name] for name, got in points.items() if got is None)
    return f"; {rest:g} more are given by a person" if rest else ""


def _is_test(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.metadata.get("nbgrader", {}).get("grade"))


def _sentences(cell: NotebookNode) -> list[str]:
    """What a check says in a test cell, without anything else that is printed there."""
    kept: list[str] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            inside = False
            for line in output.text.split("\n"):
                verdict = line[:2] in ("✓ ", "✗ ", "○ ")
                later = line.startswith("  Later cells")
                if verdict or (inside and line.startswith("  ") and not later):
                    kept.append(line)
                # Nothing belongs to a verdict after its last line: what follows is printed by the
                # student's function, on hidden inputs.
                inside = (verdict and line[0] != "✓") or (
                    inside and line.startswith("  ") and not later
                )
        elif output.output_type == "error":
            known = output.ename in ("NotSolved", "Stopped", "NotRun", "NoWord")
            # An error of the student's own code may hold a hidden input in its words.
            words = output.evalue if known else f"The cell ended with {output.ename}."
            if not set(words.split("\n")) <= set(kept):  # the hidden inputs tell something else
                kept += ["On hidden inputs:"] * (output.ename == "NotSolved" and bool(kept))
                kept.append(words)
    return "\n".join(kept)[:LONGEST].split("\n") if kept else []


def _block(
    cell: NotebookNode, given: Mapping[str, str], text: Collection[str], hidden: Sequence[str]
) -> str:
    if cell.cell_type == "markdown" and cell.source in text:  # of the lab's own, the headings
        heads = re.findall(r"(?m)^#+ (.+)$", cell.source)
        return "".join(f"<p><strong>{escaped(head, hidden)}</strong></p>" for head in heads)
    if cell.cell_type != "code":
        return f'<div class="cell"><pre class="text">{escaped(cell.source, hidden)}</pre></div>'
    if _is_test(cell):
        words = escaped("\n".join(_sentences(cell)), hidden)
        code = escaped(given.get(grade_id(cell), ""), hidden)
        inner = f'<pre class="code">{code}</pre><pre class="output">{words}</pre>'
        return f'<div class="test">{inner}</div>'
    inner = "".join(_output(output, hidden) for output in _shown(cell.outputs))
    return f'<div class="cell"><pre class="code">{escaped(cell.source, hidden)}</pre>{inner}</div>'


def _shown(outputs: Sequence[NotebookNode]) -> Iterable[NotebookNode]:
    yield from outputs[:40]
    if len(outputs) > 40:
        yield NotebookNode(output_type="stream", name="stdout", text="(more outputs were left out)")


def _output(output: NotebookNode, hidden: Sequence[str]) -> str:
    if output.output_type == "stream":
        return f'<pre class="output">{escaped(output.text, hidden, LONGEST)}</pre>'
    if output.output_type == "error":
        words = f"{output.ename}: {output.evalue}"
        if output.traceback and output.ename not in ("Stopped", "NotRun"):
            words = "\n".join(output.traceback)
        return f'<pre class="error">{escaped(words, hidden, LONGEST)}</pre>'
    data = output.get("data", {})
    picture = _picture(data.get("image/png"))
    if picture:
        return f'<p><img alt="" src="data:image/png;base64,{picture}"></p>'
    plain = data.get("text/plain", "(something that is no text)")
    return f'<pre class="output">{escaped(str(plain), hidden, LONGEST)}</pre>'


def _picture(data: Any) -> str:
    """A PNG in base64, written anew; empty if it is something else."""
    if not isinstance(data, str) or len(data) > LARGEST_PICTURE:
        return ""
    try:
        content = base64.b64decode(data)
    except (binascii.Error, ValueError):
        return ""
    return base64.b64encode(content).decode() if content.startswith(b"\x89PNG\r\n") else ""


def escaped(text: str, hidden: Sequence[str] = (), longest: int | None = None) -> str:
    """Escaped, without control characters and what is hidden, and cut in the middle."""
    text = _CONTROL.sub("", _COLOURS.sub("", str(text)))
    for secret in hidden:
        text = text.replace(secret, "(hidden)")
    if longest is not None and len(text) > longest:
        left_out = f"\n... {len(text) - longest} characters left out ...\n"
        text = text[: longest // 2] + left_out + text[-longest // 2 :]
    return html.escape(text, quote=True)
