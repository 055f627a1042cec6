"""What a student has written in one notebook, kept for the next ones.

The GPT that one notebook builds is trained in the next. So a right answer can be kept: its source
goes into ``work/own/``, which git ignores, and a later notebook gets it back from there. Who has
kept nothing goes on with the course's version.
"""

from __future__ import annotations

import ast
import linecache
import math
import os
import symtable
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType, ModuleType
from typing import Any

from helpers.course.checks.lab import Task
from helpers.course.environment import find_root
from helpers.data.bpe import BPETokenizer
from helpers.files import own_files, write_whole
from helpers.learning import checkpoints
from helpers.models.gpt import GPT

# Variables that nbgrader sets while it runs a notebook, and that the tests and `make refresh` set.
MARKING, TESTS = "NBGRADER_EXECUTION", "COURSE_TESTS"
OWN_GPT, SHIPPED_GPT = Path("work/my_gpt"), Path("data/checkpoints/lantern_stories_gpt")


def keep(task: Task, answer: Any, folder: Path | None = None) -> None:
    """Keep a right answer for later notebooks, and say so; the course's own is not kept.

    Where the tests look on, or a lab is marked, it is kept until the end of the process alone.

    Args:
        answer: what the task's check handed back: a function, or a class with methods.
        folder: ``work/own`` of the course if None.
    """
    if answer is task.fallback:
        print(f"{task.name}: later notebooks will use the course's version, too.")
        return
    path = _path(task, folder)
    try:
        text = source_with_imports(answer)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except (ValueError, OSError) as error:
        print(f"{task.name} could not be kept for later notebooks: {error}")
    else:
        print(f"{task.name}: yours is kept for later notebooks, in {path.parent.name}/{path.name}.")


def recall(task: Task, folder: Path | None = None) -> Any:
    """The kept answer to a task, if it is there and still right; else the course's own."""
    path, name = _path(task, folder), _name(task.fallback)
    if not path.is_file():
        print(f"{name}: the course's version ({path.parent.name}/{path.name} is not there).")
        return task.fallback
    space: dict[str, Any] = {"__name__": "own_work"}
    try:
        source = path.read_text(encoding="utf-8-sig")
        linecache.cache[str(path)] = (len(source), None, source.splitlines(True), str(path))
        exec(compile(source, str(path), "exec"), space)
        answer = space[_kept_name(source)]
        verdict = task.judge(answer)
        problem = "" if verdict.right else "it does not pass its check any more"
    except Exception as error:  # whatever a student's file can do
        problem = f"{type(error).__name__}: {error}"
    if problem:
        print(f"{name}: the course's version, because {path.name} cannot be used ({problem}).")
        return task.fallback
    print(f"{name}: your own, from {path.parent.name}/{path.name}.")
    return answer


def find_gpt() -> Path:
    """The folder of the GPT to read, and a sentence that says which it is.

    It is the one that training has left in ``work/my_gpt``, where there is one. Else, and where
    the tests look on, it is the one that ships with the course.
    """
    root = find_root()
    own, shipped = root / OWN_GPT, root / SHIPPED_GPT
    if (own / "config.json").is_file() and not _supervised():
        print(f"Your own GPT, from {OWN_GPT}.")
        return own
    print(f"The GPT that ships with the course, from {SHIPPED_GPT}.")
    return shipped


def save_gpt(
    model: GPT, tokenizer: BPETokenizer, card: Mapping[str, Any], folder: Path | None = None
) -> None:
    """Write a GPT and its tokenizer where ``find_gpt`` looks for the student's own, and say so.

    Args:
        card: where it comes from, in what JSON can hold.
        folder: ``work/my_gpt`` of the course if None. Where the tests look on, one that passes.
    """
    with TemporaryDirectory() as passing:
        if folder is None:
            folder = Path(passing) if _supervised() else find_root() / OWN_GPT
        checkpoints.save_model(folder, model, card)
        tokenizer.save(folder / "tokenizer.json")
        size = sum(path.stat().st_size for path in own_files(folder, deep=False))
    print(f"Kept in {OWN_GPT}, {size / 1e6:.1f} MB; the next notebook will read it.")


def _own_folder() -> Path:
    return (Path(_passing_folder().name) if _supervised() else find_root() / "work") / "own"


@cache
def _passing_folder() -> TemporaryDirectory[str]:
    """One for this process, which removes it at its end."""
    return TemporaryDirectory()


def source_with_imports(answer: Any) -> str:
    """The source of a function or class, after what it needs: imports, constants, functions.

    Raises:
        ValueError: the source cannot be found, or uses something that cannot be written down.
    """
    needed: dict[str, str] = {}
    _add(_name(answer), answer, needed)
    return "\n\n\n".join(needed.values()) + "\n"


def _supervised() -> bool:
    """Whether the tests, ``make refresh`` or the marking run the notebook.

    Its outputs are the course's then, and no student's work comes into another's.
    """
    return os.environ.get(TESTS) == "1" or MARKING in os.environ


def _add(name: str, value: Any, needed: dict[str, str]) -> None:
    if name in needed:
        return
    if isinstance(value, ModuleType):
        needed[name] = _without_alias(f"import {value.__name__} as {name}")
        return
    if isinstance(value, float) and not math.isfinite(value):
        needed[name] = f'{name} = float("{value}")'
        return
    if isinstance(value, int | float | str | bool | None):
        needed[name] = f"{name} = {value!r}"
        return
    home = getattr(value, "__module__", None)
    if home and home not in ("__main__", "own_work") and hasattr(value, "__name__"):
        needed[name] = _without_alias(f"from {home} import {_name(value)} as {name}")
        return
    source, space = _source(value)
    needed[name] = ""  # so that a function that calls itself does not come twice
    for used in sorted(_names(source)):
        if used in space and used != name:
            _add(used, space[used], needed)
    del needed[name]  # behind what it needs
    needed[name] = source


def _without_alias(line: str) -> str:
    *_, last, _, alias = line.split()
    return line.removesuffix(f" as {alias}") if last == alias else line


def _source(value: Any) -> tuple[str, Mapping[str, Any]]:
    """The source of what was defined in a cell, and the names that it can see."""
    function = next(_functions(value), None)
    if function is None:
        raise ValueError(f"{_name(value)} is neither a function nor a class with methods.")
    lines = linecache.getlines(function.__code__.co_filename)
    name = _name(value)
    for node in ast.walk(ast.parse("".join(lines))) if lines else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            source = ast.get_source_segment("".join(lines), node)
            if source and not node.col_offset:
                return source, function.__globals__
    raise ValueError(f"the cell that defines {name} was not found: run it once more, then this.")


def _functions(value: Any) -> Iterator[FunctionType]:
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, type):
        yield from (part for part in vars(value).values() if isinstance(part, FunctionType))


def _names(source: str) -> set[str]:
    """The names that a source looks up outside of itself; its local ones are not among them."""
    tables, found = [symtable.symtable(source, "own_work", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            outermost = table.get_type() == "module" and not symbol.is_assigned()
            if symbol.is_referenced() and (symbol.is_global() or outermost):
                found.add(symbol.get_name())
    return found


def _kept_name(source: str) -> str:
    last = ast.parse(source).body[-1]
    if not isinstance(last, ast.ClassDef | ast.FunctionDef):
        raise ValueError("its last definition is no function and no class")
    return last.name


def _name(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__)


def _path(task: Task, folder: Path | None) -> Path:
    return (folder or _own_folder()) / f"{task.lab.name}_{task.name}.py"
