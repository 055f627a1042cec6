"""Which cells must run before one cell can: those that make the names that it uses, and theirs."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence

CHANGES = {"add", "append", "extend", "insert", "setdefault", "update"}


def needed(sources: Sequence[str], target: int) -> list[int]:
    """The cells that must run for the cell ``target``, in order, itself included.

    A name comes from the last cell before that makes it; with it come the cells in between that
    fill it (``found[name] = ...``, ``found.append(...)``). What only uses it, such as a training or
    a figure, is not needed. The first two code cells, set-up and imports, always are.

    Args:
        sources: of a notebook's code cells.
        target: which of them is wanted.
    """
    makes, fills, uses = zip(*map(_names, sources), strict=True)
    wanted: set[int] = set()
    waiting = [0, 1, target]
    while waiting:
        cell = waiting.pop()
        if cell in wanted:
            continue
        wanted.add(cell)
        for name in uses[cell]:
            makers = [i for i in range(target) if name in makes[i]]
            # A function may name what is made after it, and before it is called.
            made = max((i for i in makers if i < cell), default=min(makers, default=None))
            if made is not None:
                waiting.append(made)
                waiting += [i for i in range(made + 1, cell) if name in fills[i]]
    return sorted(wanted)


def _names(source: str) -> tuple[set[str], set[str], set[str]]:
    """The names that a cell makes, those that it fills, and those that it needs from before."""
    makes, fills, uses = set(), set(), set()
    for statement in ast.parse(source).body:
        table = symtable.symtable(ast.unparse(statement), "cell", "exec")
        own = {name.id for target in _targets(statement) for name in _all_names(target)}
        uses |= _looked_up(table) - own - makes
        makes |= {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
                fills.add(_root(node))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in CHANGES:
                fills.add(_root(node.func))
    return makes, fills, uses


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    """What loops and with-blocks bind themselves."""
    for node in ast.walk(statement):
        if isinstance(node, ast.For):
            yield node.target
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield node.optional_vars


def _all_names(target: ast.expr) -> Iterator[ast.Name]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name))


def _looked_up(table: symtable.SymbolTable) -> set[str]:
    """The names of the notebook that a piece of code looks up, functions in it included."""
    top = table.get_type() == "module"
    used = [symbol for symbol in table.get_symbols() if symbol.is_referenced()]
    found = {symbol.get_name() for symbol in used if top or symbol.is_global()}
    return found.union(*map(_looked_up, table.get_children()))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")
