"""What the code of a cell will do, told from its syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Calls that always show something, wherever they stand outside an `if`; and calls that end a cell
# without showing anything, because they return None.
SHOWING = {"show", "say", "print", "explore", "display", "quizzes"}
SILENT = {
    *("append", "extend", "insert", "update", "add", "clear", "remove", "sort", "reverse"),
    *("set_style", "backward", "step", "zero_grad", "close", "mkdir", "write", "setdefault"),
}


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell; None where it is not plain Python (magics, a shell)."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def shows(source: str) -> bool:
    """Whether running this cell surely shows something."""
    tree = parse(source)
    if tree is None or not tree.body:
        return False
    last = tree.body[-1]
    if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
        if not isinstance(last.value, ast.Call):
            return not isinstance(last.value, ast.Constant) or last.value.value is not Ellipsis
        if _called(last.value) not in SILENT:
            return True
    return any(_called(call) in SHOWING for call in _surely_called(tree))


def _surely_called(node: ast.AST) -> Iterator[ast.Call]:
    """The calls under a node, without those in definitions and behind conditions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.If, ast.IfExp)):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from _surely_called(child)


def _called(call: ast.Call) -> str:
    """The last name of what is called: ``print``, or ``backward`` of ``loss.backward``.

    Whatever is called of the module ``quizzes`` is plain ``quizzes``.
    """
    function = call.func
    if isinstance(function, ast.Attribute):
        module = function.value
        return "quizzes" if getattr(module, "id", "") == "quizzes" else function.attr
    return getattr(function, "id", "")
