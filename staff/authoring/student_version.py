"""What students get of a source: with a class's numbers, without solutions and hidden tests."""

from __future__ import annotations

import copy
import re

from nbformat import NotebookNode
from nbgrader.nbgraderformat import (
    MetadataValidator,
    SchemaTooNewError,
    SchemaTooOldError,
    ValidationError,
)
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from traitlets.config import Config

from helpers.course.checks.lab import seed_of
from staff.authoring.cells import HIDDEN, SCORE, kind, scored_task

REFUSALS = (ValidationError, SchemaTooOldError, SchemaTooNewError)

_VARIANT = re.compile(r"(?m)^VARIANT = 0(?=[ \t]*(?:#.*)?$)")


def with_seeds(notebook: NotebookNode, lab: str, secret: str | None = None) -> NotebookNode:
    """A source with a class's variant and hidden inputs; without a secret those of everyone, 0.

    Args:
        notebook: a lab's source.
        lab: such as "lab01".
        secret: of the class; the variant that follows from it is visible in the release.

    Raises:
        ValueError: the source has no single locked line ``VARIANT = 0``, or a test cell without
            hidden block or without ``seed=0``.
    """
    notebook = copy.deepcopy(notebook)
    locked = [c for c in notebook.cells if c.cell_type == "code" and kind(c) == "locked"]
    found = [cell for cell in locked for _ in _VARIANT.findall(cell.source)]
    if len(found) != 1:
        raise ValueError(
            f"{lab}: one locked code cell must hold one line 'VARIANT = 0', and {len(found)} do."
        )
    for number, cell in enumerate(notebook.cells, start=1):
        if kind(cell) != "test" and HIDDEN[0] not in cell.source:
            continue
        try:
            task = scored_task(cell)
        except ValueError as error:
            raise ValueError(f"{lab}, cell {number}: {error}.") from error
        if secret is not None:
            seeded = f'check.score("{task}", seed={seed_of(secret, lab, task)})'
            cell.source = SCORE.sub(seeded, cell.source)
    if secret is not None:
        variant = seed_of(secret, lab, "variant") % 10**6
        found[0].source = _VARIANT.sub(f"VARIANT = {variant}", found[0].source)
    return notebook


def student_version(notebook: NotebookNode) -> NotebookNode:
    """What students get: nbgrader's steps of a release, in their order, without its database.

    Solutions give way to nbgrader's own stubs, so that its autograder knows what is untouched.

    Raises:
        ValueError: nbgrader refuses the notebook; says why.
    """
    released, resources, config = copy.deepcopy(notebook), {}, Config()  # not that of the user
    steps = (LockCells, ClearSolutions, ClearOutput, ClearHiddenTests, ClearMarkScheme)
    try:
        MetadataValidator().validate_nb(released)
        for step in (*steps, ComputeChecksums):
            released, resources = step(config=config).preprocess(released, resources)
    except (RuntimeError, ValueError, KeyError, *REFUSALS) as error:
        problem = " ".join(str(error).split())[:300]
        raise ValueError(f"nbgrader refuses it: {problem}") from error
    return released
