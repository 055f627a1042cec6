"""What the references of lab 04 are worth: truths from PyTorch, from the slides and by loops."""

import math

import pytest
import torch
from torch.nn import functional as F

from helpers.course.checks import lab04 as check
from helpers.course.checks.lab import Task
from helpers.course.checks.lab04 import stretch
from helpers.course.checks.watching import Operations
from helpers.models.attention import MultiHeadAttention
from helpers.models.positions import RotaryPositions

generator = torch.Generator().manual_seed(0)


def normal(*shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_a_query_sees_what_stands_at_its_place_or_before():
    for T in range(1, 5):
        for S in range(T, 7):
            mask = check.causal_mask.fallback(T, S)
            for t in range(T):
                assert mask[t].tolist() == [s <= t + S - T for s in range(S)]


def test_masked_weights_are_pytorchs_and_zero_where_nothing_is_seen():
    q, k, v = normal(2, 3, 4, 5), normal(2, 3, 6, 5), normal(2, 3, 6, 2)
    mask = torch.rand(4, 6, generator=generator) < 0.5
    mask[:, 0] = True
    scores = q @ k.mT / math.sqrt(5)
    kernel = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert torch.allclose(check.masked_weights.fallback(scores, mask) @ v, kernel, atol=1e-12)
    mask[2] = False
    assert (check.masked_weights.fallback(scores, mask)[:, :, 2] == 0).all()


def test_the_repaired_attention_is_the_courses_rotary_attention():
    ours, x = check.MultiHead.fallback(12, 3).double(), normal(2, 5, 12)
    theirs = MultiHeadAttention(12, 3, positions=RotaryPositions(4)).double()
    theirs.load_state_dict(ours.state_dict())
    output, weights = ours(x, check.causal_mask.fallback(5, 5))
    assert torch.allclose(output, theirs(x, causal=True), atol=1e-6)
    assert torch.allclose(weights, theirs.weights(x, causal=True), atol=1e-6)


def test_each_single_fault_is_the_only_one_that_is_found(monkeypatch):
    monkeypatch.setattr(Task, "_is_own_work", lambda task, trial: None)
    words = {"mask": "later words", "scale": "more heads", "values": "move by 50"}
    for name, part in words.items():
        wrong = check.MultiHead.judge(check.faulty(name)).complaint
        assert "still in: 1" in wrong.rule
        assert part in wrong.hint
    assert "still in: 3" in check.MultiHead.judge(check.faulty(*words)).complaint.rule


def test_dependence_is_what_a_derivative_says():
    x, factors = normal(4, 2), normal(4, 4)
    table = check.dependence.fallback(lambda y: factors @ y, x)
    assert torch.allclose(table, factors.abs())
    squares = check.dependence.fallback(lambda y: y**2, x)
    assert torch.allclose(squares, torch.diag(2 * x.abs().amax(1)))


@pytest.mark.parametrize("block", [1, 3, 7, 20])
def test_blocks_are_pytorchs_attention(block):
    q, k, v = normal(2, 3, 7, 4), normal(2, 3, 7, 4), normal(2, 3, 7, 5)
    kernel = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(check.attention_in_blocks.fallback(q, k, v, block), kernel, atol=1e-12)


def test_operations_are_noticed_with_their_shapes():
    a, b = normal(5, 3), normal(3, 7)
    with Operations() as operations:
        (a @ b).max(-1)
    assert operations.results == [("matmul", (5, 7)), ("max", (5,)), ("max", (5,))]


def test_rotary_positions_are_products_of_complex_numbers():
    x, start = normal(2, 5, 6), 11
    turned = check.rotate.fallback(x, start)
    for t in range(5):
        for i in range(3):
            point = torch.complex(x[:, t, 2 * i], x[:, t, 2 * i + 1])
            angle = torch.tensor((start + t) / 10000 ** (2 * i / 6)).double()
            expected = point * torch.polar(torch.ones(()).double(), angle)
            got = torch.complex(turned[:, t, 2 * i], turned[:, t, 2 * i + 1])
            assert torch.allclose(got, expected, atol=1e-6)


def leaderboard(make, capsys, seconds=20):
    pieces = torch.randint(8, (10, 6), generator=generator)
    texts = torch.randint(8, (5, 20), generator=generator)
    check.leaderboard(make, pieces, texts, 8, seconds)
    return capsys.readouterr().out


def test_equal_chances_cost_three_bits(capsys):
    said = leaderboard(lambda pieces, V: lambda x: torch.zeros(*x.shape, V), capsys)
    assert said == "Leaderboard: 3.0000 bits per character.\n"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (lambda x: F.one_hot(x.roll(-1, 1), 8).double(), "later characters"),
        (lambda x: torch.zeros(*x.shape, 7), "shape"),
        (lambda x: torch.full((*x.shape, 8), math.nan), "finite"),
        (lambda x: x[0, 0, 0], "without an error"),
    ],
)
def test_models_that_look_ahead_or_do_not_fit_get_no_number(capsys, model, says):
    said = leaderboard(lambda pieces, V: model, capsys)
    assert said.startswith("No number for the leaderboard")
    assert says in said


def test_the_leaderboard_knows_a_blank_and_a_slow_model(capsys, monkeypatch):
    def blank(pieces, V):
        raise NotImplementedError

    threads = torch.get_num_threads()
    assert "not attempted" in leaderboard(blank, capsys)
    times = iter([0.0, 20.1])
    monkeypatch.setattr(stretch.time, "process_time", lambda: next(times))
    slow = leaderboard(lambda pieces, V: lambda x: torch.zeros(*x.shape, V), capsys)
    assert "processor time" in slow
    assert torch.get_num_threads() == threads
