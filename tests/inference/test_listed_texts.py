"""All texts behind a prompt, against the model read one text at a time."""

import itertools
import math

import pytest
import torch

from helpers.inference.listed_texts import ListedTexts
from helpers.models.gpt import GPT, GPTConfig


@pytest.fixture(scope="module")
def model() -> GPT:
    torch.manual_seed(0)
    model = GPT(GPTConfig.gpt2(9, n_layers=1, n_heads=2, d_model=8)).double()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, 0, 0.6)
    return model


LISTED = ListedTexts([0, 4], [7, 2, 5], 3)


def slow(model: GPT, text: list[int]) -> float:
    ids, total = [0, 4], 0.0
    for place in text:
        p = model(torch.tensor([ids]))[0, -1].softmax(-1)[[7, 2, 5]]
        total += math.log(p[place].item() / p.sum().item())
        ids.append([7, 2, 5][place])
    return total


def test_all_texts_and_some(model: GPT) -> None:
    expected = [slow(model, list(text)) for text in itertools.product(range(3), repeat=3)]
    found = LISTED.all_log_probs(model)
    assert found.tolist() == pytest.approx(expected)
    assert float(found.exp().sum()) == pytest.approx(1)
    rows = torch.tensor([26, 0, 5, 5])
    some = LISTED.log_probs(model, rows)
    assert some.requires_grad
    assert some.tolist() == pytest.approx(found[rows].tolist())


def test_draws_as_often_as_it_says(model: GPT) -> None:
    rows = LISTED.draw(model, 20_000, torch.Generator().manual_seed(1))
    shares = torch.bincount(rows, minlength=27) / len(rows)
    p = LISTED.all_log_probs(model).exp()
    assert ((shares - p).abs() < 5 * (p * (1 - p) / len(rows)).sqrt() + 1e-9).all()
