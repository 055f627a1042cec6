"""The cells of notebook 00 give the same again when later ones have been run."""

import json
import symtable
import sys

import pytest

from helpers.course.environment import find_root

NOTEBOOK = find_root() / "notebooks/00_start_here.ipynb"
ON_PURPOSE = {"word"}  # section 3 shows what happens to it
AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")  # they read when their cell is run


def code_cells():
    """(id, source) of each cell with code, but for those of the tests."""
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        tags = cell["metadata"].get("tags", [])
        if cell["cell_type"] == "code" and "claims" not in tags:
            yield cell["id"], "".join(cell["source"])


def made_and_taken(source):
    """The names that a cell binds, and those that it or its functions take from the kernel."""
    top = symtable.symtable(source, "cell", "exec")
    made = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    taken = {s.get_name() for s in top.get_symbols() if s.is_referenced()} - made
    inner = [(table, False) for table in top.get_children()]
    while inner:
        table, later = inner.pop()
        later |= table.get_name() not in AT_ONCE  # a function reads when it is called
        inner += [(child, later) for child in table.get_children()]
        names = {s.get_name() for s in table.get_symbols() if s.is_global()}
        taken |= names if later else names - made
    return made, taken


def clashes(cells):
    """What an earlier cell or function takes and a later cell makes anew."""
    cells = [(name, *made_and_taken(source)) for name, source in cells]
    return [
        (name, earlier, later)
        for k, (earlier, _, taken) in enumerate(cells)
        for later, made, _ in cells[k + 1 :]
        for name in sorted(taken & made - ON_PURPOSE)
    ]


@pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="there a symbol table has the variables of comprehensions, too, which bind nothing",
)
def test_no_cell_takes_away_what_an_earlier_one_needs():
    assert clashes(code_cells()) == []


def test_a_name_that_is_taken_away_is_found():
    tell = "end = 3\ndef tell():\n    return [end for _ in 'ab']"
    assert clashes([("a", tell), ("b", "for end in 'xy':\n    print(end)")]) == [("end", "a", "b")]
    assert clashes([("a", "m = 1"), ("b", "print(m)"), ("c", "m = 2")]) == [("m", "b", "c")]
    assert clashes([("a", "m = 1\nprint(m)"), ("b", "m = 2\nprint(m)")]) == []
