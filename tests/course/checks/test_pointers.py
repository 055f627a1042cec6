"""Hints point to headings that the notebooks have."""

import ast
import re

import nbformat

from helpers.course.checks.pointers import see
from helpers.course.environment import find_root

ROOT = find_root()
ITSELF = ROOT / "helpers/course/checks/pointers.py"
BY_HAND = re.compile(r"\bnotebooks?\s+(\d|$)", re.IGNORECASE)


def headings(number):
    """A notebook's headings without their numbers, and with √ for a root."""
    (path,) = (ROOT / "notebooks").glob(f"{number:02}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    texts = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    found = re.findall(r"^#{2,} (?:\d+ )?(.+)$", texts, re.MULTILINE)
    return {re.sub(r"\$\\sqrt\{(\w+)\}\$", r"√\1", heading) for heading in found}


def test_a_pointer_is_a_sentence():
    assert see(9, "A bag of words") == "Notebook 09, 'A bag of words'."


def test_every_pointer_names_a_heading():
    pointers, by_hand = set(), []
    for path in sorted((ROOT / "helpers").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "see"]
        pointers |= {tuple(map(ast.literal_eval, call.args)) for call in calls}
        # So that none is missed, the function is called at once, and has no other name.
        assert sum(isinstance(n, ast.Name) and n.id == "see" for n in nodes) == len(calls), path
        assert not any(isinstance(n, ast.alias) and n.name == "see" and n.asname for n in nodes)
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        by_hand += [text for text in texts if BY_HAND.search(text) and path != ITSELF]
    assert by_hand == []
    assert len(pointers) > 30
    known = {number: headings(number) for number, _ in pointers}
    assert [pointer for pointer in sorted(pointers) if pointer[1] not in known[pointer[0]]] == []
