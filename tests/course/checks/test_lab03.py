"""What the references of lab 03's checks are worth, against the course, PyTorch and brute force."""

import random
from itertools import product

import pytest
import torch
from torch import nn

from helpers.course.checks import lab03
from helpers.course.checks.lab03.network import CourseElmanCell
from helpers.course.checks.trial import Trial
from helpers.data import parentheses
from helpers.data.parentheses import sample_balanced
from helpers.data.parentheses_sets import honest_set
from helpers.inference.classification import error
from helpers.models.recurrent_cells import ReLUElmanCell
from helpers.models.recurrent_models import RecurrentClassifier
from helpers.models.shortcuts import SHORTCUTS, pairs_within

REFERENCE = {name: task.fallback for name, task in lab03.lab.tasks.items()}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_each_reference_passes_its_check(name, seed):
    lab03.lab.tasks[name].check(Trial(REFERENCE[name], seed))


def language(length):
    """Balanced sequences by the grammar: empty, or a pair around one and another behind it."""
    if length == 0:
        return [[]]
    return [
        [colour, *inside, 9 - colour, *behind]
        for n in range(0, length - 1, 2)
        for colour in range(5)
        for inside in language(n)
        for behind in language(length - 2 - n)
    ]


@pytest.mark.parametrize("length", range(5))
def test_what_has_no_error_is_what_the_grammar_makes(length):
    members = set(map(tuple, language(length)))
    for sequence in product(range(10), repeat=length):
        assert (REFERENCE["first_error"](list(sequence)) is None) == (sequence in members)


@pytest.mark.parametrize("length", range(1, 4))
def test_behind_the_first_error_nothing_can_be_mended(length):
    beginnings = {tuple(s[:n]) for s in language(2 * length) for n in range(2 * length + 1)}
    for sequence in product(range(10), repeat=length):
        error = REFERENCE["first_error"](list(sequence))
        if error is not None:
            assert sequence[:error] in beginnings
            assert error == length or sequence[: error + 1] not in beginnings


def test_an_exchange_hides_from_every_shortcut_and_not_from_the_language():
    chance, found = random.Random(0), 0
    for _ in range(300):
        sequence = REFERENCE["draw_balanced"](16, chance.random)
        changed = REFERENCE["unbalance"](sequence, chance.random)
        if changed is None:
            continue
        both = torch.tensor([sequence, changed])
        assert parentheses.are_balanced(both).tolist() == [True, False]
        for rule in SHORTCUTS.values():
            assert len(set(rule(both, 5).tolist())) == 1
        found += 1
    assert found > 50


def test_a_shortcut_is_the_best_rule_of_its_feature():
    chance = random.Random(0)
    for _ in range(20):
        train_set, test_set = (
            [([chance.randrange(4)], chance.random() < 0.5) for _ in range(31)] for _ in range(2)
        )
        right = {}  # by brute force over all 16 rules
        for rule in product((True, False), repeat=4):
            on_train, on_test = (
                sum(rule[sequence[0]] == label for sequence, label in part)
                for part in (train_set, test_set)
            )
            right.setdefault(on_train, []).append(on_test / 31)
        best = right[max(right)]  # several where a value is a tie: a coin is their mean
        got = REFERENCE["shortcut_accuracy"](lambda s: s[0], train_set, test_set)
        assert got == pytest.approx(sum(best) / len(best))


def test_last_states_are_those_of_a_packed_sequence_and_of_the_helper():
    torch.manual_seed(0)
    cell, rnn = CourseElmanCell(3, 5), nn.RNN(3, 5, nonlinearity="relu", batch_first=True)
    helper = ReLUElmanCell(3, 5)
    with torch.no_grad():
        rnn.bias_hh_l0.zero_()
        for mine in (cell, helper):
            mine.x2h.weight.copy_(rnn.weight_ih_l0)
            mine.x2h.bias.copy_(rnn.bias_ih_l0)
            mine.h2h.weight.copy_(rnn.weight_hh_l0)
    x, lengths = torch.randn(6, 9, 3), torch.tensor([4, 9, 1, 7, 9, 2])
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False)
    got = REFERENCE["last_states"](cell, x, lengths)
    torch.testing.assert_close(got, rnn(packed)[1][0])
    torch.testing.assert_close(cell(x[:, 0], got), helper(x[:, 0], got)[0])


def test_a_board_has_no_place_for_what_was_not_learned(capsys):
    tokens = torch.tensor([[0, 9, 1, 8], [0, 8, 1, 9]]).repeat(50, 1)
    labels = torch.tensor([1, 0]).repeat(50)

    class Rule(OneLogit):
        def forward(self, tokens):
            return pairs_within(tokens, 4).float() * 2 - 1

    for make, says in (
        (Rule, "answers depend on its weights"),
        (lambda: nn.Identity(), "the model has weights"),
        (OneLogit, "share wrong"),
    ):
        lab03.leaderboard(make, tokens, labels)
        assert says in capsys.readouterr().out


@pytest.mark.parametrize("length", [8, 18])
def test_the_smallest_window_is_the_first_that_finds_something(length):
    chance, generator = random.Random(0), torch.Generator().manual_seed(0)
    drawn = sample_balanced(200, length, generator).tolist()
    drawn += [changed for s in drawn if (changed := REFERENCE["unbalance"](s, chance.random))]
    drawn += [[chance.randrange(10) for _ in range(length)] for _ in range(200)]
    found = torch.stack([~pairs_within(torch.tensor(drawn), w) for w in range(length + 1)], 1)
    for sequence, by_width in zip(drawn, found.tolist(), strict=True):
        expected = by_width.index(True) if True in by_width else None
        assert REFERENCE["smallest_window"](sequence) == expected


def test_an_exchange_hides_from_a_window_the_more_rarely_the_wider_it_is():
    chance, generator = random.Random(0), torch.Generator().manual_seed(0)
    drawn = sample_balanced(4000, 18, generator).tolist()
    changed = [REFERENCE["unbalance"](sequence, chance.random) for sequence in drawn]
    changed = torch.tensor([sequence for sequence in changed if sequence])
    missed = [float(pairs_within(changed, w).double().mean()) for w in (4, 8, 12, 18)]
    assert missed[0] > 0.3 > missed[1] > 0.03 > missed[2] > missed[3] == 0


@pytest.mark.parametrize("length", [12, 18, 28])
def test_four_symbols_less_than_all_find_every_exchange(length):
    chance, generator = random.Random(0), torch.Generator().manual_seed(0)
    drawn = sample_balanced(3000, length, generator).tolist()
    changed = [REFERENCE["unbalance"](sequence, chance.random) for sequence in drawn]
    changed = torch.tensor([sequence for sequence in changed if sequence])
    assert not pairs_within(changed, length - 4).any()
    assert pairs_within(changed, length - 5).any()


def test_the_ends_tell_nothing_here_and_much_where_the_last_symbol_takes_part():
    def slipped(sequence, uniform):
        """The exchange of notebook 06: a stack that closes once what was opened last but one."""
        after_closings = [t for t in range(1, len(sequence)) if min(sequence[t - 1 : t + 1]) > 4]
        slip = after_closings[int(uniform() * len(after_closings))] if after_closings else 0
        stack, changed = [], []
        for t, symbol in enumerate(sequence):
            if symbol <= 4:
                stack.append(symbol)
                changed.append(symbol)
            else:
                below = t == slip and len(stack) > 1
                changed.append(9 - stack.pop(-2 if below else -1))
        return changed if changed != sequence else None

    chance, generator = random.Random(0), torch.Generator().manual_seed(0)
    drawn = [s for n in range(12, 19, 2) for s in sample_balanced(1500, n, generator).tolist()]
    right = []
    for negative in (REFERENCE["unbalance"], slipped):
        pairs = [(s, changed) for s in drawn if (changed := negative(s, chance.random))]
        train, test = ([pair for good, bad in part for pair in ((good, True), (bad, False))]
                       for part in (pairs[::2], pairs[1::2]))  # fmt: skip
        right.append(REFERENCE["shortcut_accuracy"](lambda s: (s[0], s[-1]), train, test))
    assert right[0] == pytest.approx(0.5, abs=0.03)
    assert 0.57 < right[1] < 0.65


class OneLogit(nn.Module):
    """The helper's classifier as the lab wants it."""

    def __init__(self):
        super().__init__()
        self.model = RecurrentClassifier(ReLUElmanCell, 10, 16)

    def forward(self, tokens):
        logits = self.model(tokens)
        return logits[:, 1] - logits[:, 0]


def test_errors_by_length_are_those_of_the_course():
    labelled = honest_set(600, [6, 8], torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    model = OneLogit()
    by_length = REFERENCE["error_by_length"](model, labelled.tokens, labelled.labels)
    for n, value in by_length.items():
        part = labelled.take(labelled.lengths == n)
        assert value == pytest.approx(error(model.model, part), abs=1e-6)
