"""What the checks of lab 01 hold answers against, and what its notebook announces and shows."""

import math

import pytest
import torch

from helpers.course.checks import lab01
from helpers.course.checks.lab01.common import course_counts
from helpers.course.checks.trial import Trial
from helpers.course.environment import find_root
from helpers.models.ngram import KneserNey
from staff.authoring.labs import lab_sources
from tests.labs.handed_in import with_predictions
from tests.labs.mutation import run_cells

pytestmark = pytest.mark.marking

TASKS = lab01.lab.tasks
SOURCE = lab_sources(find_root())["lab01"]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The names of the source with all predictions made, so that every result is computed."""
    return run_cells(with_predictions(SOURCE, tmp_path_factory.mktemp("lab01")))


def test_the_tasks_stand_in_the_order_of_the_notebook():
    assert list(TASKS) == [
        "perplexity", "maximum_likelihood", "by_hand", "add_k", "interpolate",
        "bits_per_character", "sample_text", "choose", "continuations", "kneser_ney",
    ]  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", [0, 7])
def test_every_check_accepts_the_courses_own_version(name, seed):
    trial = Trial(TASKS[name].fallback, seed)
    TASKS[name].check(trial)
    assert trial.rules


@pytest.mark.parametrize("n", [2, 3, 4])
def test_kneser_ney_is_that_of_the_package(n):
    draw = torch.Generator().manual_seed(n)
    text = tuple(torch.randint(7, (400,), generator=draw).tolist())
    begun = ("begin", *text)  # the package counts what stands at the beginning of a text
    counted = [course_counts(begun, k) for k in range(1, n + 1)]
    tables = [*map(TASKS["continuations"].fallback, counted[1:]), counted[-1]]
    kneser_ney = TASKS["kneser_ney"].fallback
    theirs = KneserNey(n, discounts=[0.7] * n).fit(torch.tensor(text), 8)
    for _ in range(30):
        new = torch.randint(7, (n - 1,), generator=draw).tolist()
        state = theirs.start(1)
        for token in new:
            log_probs, state = theirs.step(torch.tensor([token]), state)
        mine = [kneser_ney(tables, tuple(new), w, 8, 0.7) for w in range(8)]
        assert sum(mine) == pytest.approx(1)
        assert log_probs[0].exp().tolist() == pytest.approx(mine)


def test_no_choice_lies_at_the_edge_of_its_grid(notebook):
    assert 1 < notebook["best_n"] < 7
    assert 0.3 < notebook["best_weight"] < 0.9
    for values, costs in notebook["curves"].values():
        assert 0 < costs.index(min(costs)) < len(values) - 1
    assert len(notebook["curves"]) == 3
    tried = list(zip(*notebook["per_order"], strict=True))
    for weight, values in zip(notebook["chosen"]["interpolation"][2], tried, strict=True):
        assert min(values) < weight < max(values)


def test_on_the_tales_the_longer_contexts_are_counted_best_by_kneser_ney(notebook):
    costs = notebook["found"]
    gain = costs["interpolation"] - costs["Kneser-Ney"]
    assert 0.17 < gain < 0.22
    assert gain / 2 < costs["discounting"] - costs["Kneser-Ney"] < 0.7 * gain
    assert 0.12 < costs["one weight"] - costs["interpolation"] < 0.17
    assert 4 < notebook["times"] < 8
    assert notebook["theirs"] < notebook["yours"] < notebook["theirs"] + 0.2


def test_pell_is_the_francisco_of_the_tales(notebook):
    once, pairs = notebook["raw"][0][()], notebook["raw"][1]
    assert abs(once["pell"] - once["or"]) < 10
    before = {word: [a for a, row in pairs.items() if word in row] for word in ("pell", "or")}
    assert len(before["pell"]) < 5
    assert len(before["or"]) > 30
    assert pairs["old",]["pell"] > 0.95 * once["pell"]


def test_what_is_said_of_pell_is_what_the_table_shows(notebook):
    given, told = notebook["given"], notebook["told"]
    share, places = told["pell after old"]
    error = 1.96 * math.sqrt(share * (1 - share) / places)
    after = {name: shares[0] for name, shares in given.items()}
    assert after["Kneser-Ney"] < after["discounting"] < told["pell after old"][0] + error
    assert after["Kneser-Ney"] > told["pell after old"][0] - error
    share, places = told["pell elsewhere"]
    assert share * places < 3
    said, stood = notebook["raw"][1]["old",], notebook["kinds"][1]["old",]
    assert stood["pell"] / sum(stood.values()) < 0.7 * said["pell"] / sum(said.values())
    assert said["pell"] / sum(said.values()) < told["pell after old"][0]


def test_what_the_notebook_hands_out_is_task_6(notebook):
    tables = [course_counts("abracadabra", n) for n in (1, 2, 3)]
    likely = TASKS["maximum_likelihood"].fallback
    shares = [{a: likely(counts, a) for a in counts} for counts in tables]
    for context in ("", "a", "br", "cab", "zz"):
        whole = TASKS["interpolate"].fallback(tables, context, "abcdr", 0.4)
        one = {s: notebook["mixture"](shares, context, s, 5, (0.4, 0.4, 0.4)) for s in "abcdr"}
        assert one == pytest.approx(whole)
        assert math.isclose(sum(one.values()), 1)


@pytest.mark.parametrize("variant", range(40))
def test_numbers_that_were_rounded_on_the_way_are_right(variant):
    TASKS["by_hand"].lab.use_variant(variant)
    try:
        exact = TASKS["by_hand"].fallback()
        three = {name: round(value, 3) for name, value in exact.items()}
        product = three["P(a)"] * three["P(b | a), add-1"]
        for value in (product, round(product, 3)):
            answer = {**three, "perplexity of 'ab'": round(round(1 / value, 3) ** 0.5, 3)}
            assert TASKS["by_hand"].judge(lambda answer=answer: answer).right
        slip = {**three, "perplexity of 'ab'": exact["perplexity of 'ab'"] ** 2}
        assert not TASKS["by_hand"].judge(lambda: slip).right
    finally:
        TASKS["by_hand"].lab.use_variant(0)


def test_numbers_on_paper_are_not_told_to_whoever_has_none(capsys):
    def wrong():
        return dict.fromkeys(TASKS["by_hand"].fallback(), 0.5)

    def blank():
        raise NotImplementedError

    assert TASKS["by_hand"](wrong) is wrong
    assert TASKS["by_hand"](blank) is blank
    shown = capsys.readouterr().out
    assert "✗" in shown
    assert "○" in shown
    assert "course's own" not in shown


def test_choosing_with_the_tables_of_the_tales_is_named(notebook):
    source = """
def choose(train, validation, vocabulary, orders, weights):
    pairs = [(n, weight) for n in orders for weight in weights]
    return min(pairs, key=lambda pair: bits_per_character(model(*pair), validation, pair[0]))
"""
    names = dict(notebook)
    exec(source, names)
    assert "hold the tales" in TASKS["choose"].judge(names["choose"]).complaint.hint
