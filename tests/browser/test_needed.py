"""The cells that a cell needs: no more than those, and none is forgotten."""

import pytest

from tests.browser.needed import needed

SETUP, IMPORTS = "import os", "import torch\nfrom helpers.display import live as curve"
CELLS = [
    SETUP,
    IMPORTS,
    "model = torch.nn.Linear(2, 2)",  # 2
    "for step in range(3):\n    print(model)",  # 3: uses it only
    "found = {}",  # 4
    "def width(x):\n    inside = model\n    return x + size",  # 5
    "size: int = 3",  # 6
    "for name in 'ab':\n    found[name] = width(1)",  # 7
    "found.update(c=1)",  # 8
    "model = None",  # 9
    "curve.draw(found)",  # 10
    "print(inside)",  # 11: a name that no cell makes
    "(size, [first, *rest]) = 4, found",  # 12
    "with open('x') as file:\n    print(rest, name)",  # 13
]


@pytest.mark.parametrize(
    ("target", "cells"),
    [
        (1, [0, 1]),
        (3, [0, 1, 2, 3]),
        (5, [0, 1, 2, 5]),
        (10, [0, 1, 2, 4, 5, 6, 7, 8, 10]),  # 5 looks `size` up when it is called
        (11, [0, 1, 11]),
        (13, [0, 1, 2, 4, 5, 6, 7, 8, 12, 13]),
    ],
)
def test_cells_that_a_cell_needs(target, cells):
    assert needed(CELLS, target) == cells
