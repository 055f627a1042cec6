"""The comparison of lab 01 prints what its mark scheme says, whichever tales are for choosing."""

import re

import pytest

from helpers.course.environment import find_root
from helpers.data import corpora
from staff.authoring.cells import SCHEME, read_notebook, regions
from staff.authoring.labs import lab_sources
from tests.labs.mutation import solutions

pytestmark = pytest.mark.marking
SOURCE = lab_sources(find_root())["lab01"]
# The set-up and `count_ngrams`; after the solutions: the tales, `bits_per_word`, the methods.
BEFORE, AFTER = ("c7d42c59", "825ff745"), ("e605afda", "5d0c7b1e", "8cd6a5b1")
COMPARISON = "1e6fa80e"


@pytest.fixture(scope="module")
def lab():
    """What the cells of the lab have made before the comparison."""
    cells = {cell.id: cell.source for cell in read_notebook(SOURCE).cells}
    own = [solutions(SOURCE)[n] for n in ("maximum_likelihood", "continuations", "kneser_ney")]
    space = {"corpus": corpora.lantern_bay(), "my_gain": 0.2}
    for code in (*(cells[n] for n in BEFORE), *own, *(cells[n] for n in AFTER)):
        exec(code, space)
    return space, cells[COMPARISON]


def test_the_mark_scheme_has_the_numbers_of_the_comparison(lab, capsys):
    space, comparison = lab
    (scheme,) = (text for c in read_notebook(SOURCE).cells for text in regions(c.source, SCHEME))
    exec(comparison, space)
    rows = re.findall(r"(?m)^(\w[\w -]+?)  .*?(\d\.\d{3})(?: +[\d.]+ ±|$)", capsys.readouterr().out)
    cost = {name: round(float(number), 2) for name, number in rows}
    told = r"costs (\S+), discounting (\S+) and Kneser-Ney (\S+) bits.*?, so (\S+) of the (\S+)"
    found = [float(number) for number in re.search(told, scheme).groups()]
    three = [cost[name] for name in ("interpolation", "discounting", "Kneser-Ney")]
    gains = [three[1] - three[2], three[0] - three[2]]
    assert found == pytest.approx([*three, *gains], abs=0.0051)
    assert found[3] > found[4] / 2  # more than half of it, says the scheme
    assert f"*one weight*, {cost['one weight']}" in scheme


@pytest.mark.parametrize("first", [2, 4])
def test_other_tales_choose_the_same_settings(lab, first):
    space, _ = lab
    for function, rows, settings in space["METHODS"].values():

        def cost(setting, tales, function=function, rows=rows):
            return space["bits_per_word"](function, rows, setting, tales)

        own = min(settings, key=lambda s: cost(s, space["to_choose"]))
        assert min(settings, key=lambda s: cost(s, space["tales"][first::6])) == own
