"""Muon against the singular value decomposition and PyTorch's own; who optimizes what in a GPT."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from helpers.learning.optimizers import Muon, Together, gpt_optimizers, newton_schulz
from helpers.models.encoder import Encoder, MaskedLM
from helpers.models.encoder_decoder import EncoderDecoder
from helpers.models.gpt import GPTConfig
from helpers.models.positions import LearnedPositions
from helpers.models.transformer import Transformer

SHAPES = [(12, 12), (12, 30), (30, 12), (12, 12), (30, 12), (5, 7)]
builtin = pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="PyTorch before 2.9")


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def parameters(dtype=torch.float32) -> list[nn.Parameter]:
    generator = seeded(0)
    return [nn.Parameter(torch.randn(s, generator=generator, dtype=dtype)) for s in SHAPES]


def set_gradients(matrices: list[nn.Parameter], seed: int) -> None:
    generator = seeded(seed)
    for p in matrices:
        p.grad = torch.randn(p.shape, generator=generator, dtype=p.dtype)


def by_decomposition(matrix: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """U p(S) V^T: the iteration on the singular values alone."""
    u, s, vh = torch.linalg.svd(matrix.double(), full_matrices=False)
    s = s / s.norm(dim=-1, keepdim=True)
    for _ in range(steps):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return u @ torch.diag_embed(s) @ vh


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (9, 4), (1, 5), (3, 5, 8), (2, 3, 8, 5)])
def test_newton_schulz_is_a_polynomial_of_the_singular_values(shape):
    x = torch.randn(shape, generator=seeded(1), dtype=torch.double)
    found = newton_schulz(x)
    assert found.shape == x.shape
    torch.testing.assert_close(found, by_decomposition(x))
    torch.testing.assert_close(newton_schulz(1e-3 * x), found)
    torch.testing.assert_close(newton_schulz(x.float()).double(), found, atol=1e-4, rtol=0)


def test_newton_schulz_makes_nearly_orthogonal_matrices():
    x = torch.randn(20, 32, 128, generator=seeded(2))
    s = torch.linalg.svdvals(newton_schulz(x))
    assert 0.65 < s.min() < s.max() < 1.25
    before = torch.linalg.svdvals(x)
    assert (before.amax(-1) / before.amin(-1)).min() > 2  # they were not so before
    assert not newton_schulz(torch.zeros(2, 3, 3)).any()


def test_three_steps_by_the_formula():
    """The decomposition in float64 instead of the iteration, each matrix by itself."""
    matrices = parameters()
    expected = [p.detach().double() for p in matrices]
    momenta = [torch.zeros_like(w) for w in expected]
    lr, decay, mu = 0.03, 0.2, 0.9
    optimizer = Muon(matrices, lr, decay, mu, precision="float32")
    for step in range(3):
        set_gradients(matrices, step)
        optimizer.step()
        for i, p in enumerate(matrices):
            rows, columns = p.shape
            scale = math.sqrt(max(1, rows / columns))
            momenta[i] = mu * momenta[i] + (1 - mu) * p.grad.double()
            u = mu * momenta[i] + (1 - mu) * p.grad.double()
            expected[i] = (1 - lr * decay) * expected[i] - lr * scale * by_decomposition(u)
    for p, w in zip(matrices, expected):
        torch.testing.assert_close(p.detach().double(), w, atol=1e-4, rtol=0)


@builtin
def test_equal_to_pytorchs():
    ours, theirs = parameters(), parameters()
    settings = {"lr": 0.05, "weight_decay": 0.1, "momentum": 0.9}
    pair = [Muon(ours, **settings, precision="bfloat16"), torch.optim.Muon(theirs, **settings)]
    for step in range(5):
        for matrices, optimizer in zip((ours, theirs), pair):
            set_gradients(matrices, step)
            optimizer.step()
    for a, b, start in zip(ours, theirs, parameters()):
        # bfloat16 has 8 bits; other kernels may round otherwise in each of the 15 products
        assert (a - b).norm() < 0.01 * (b - start).norm()


def gpt() -> Transformer:
    torch.manual_seed(0)
    return Transformer(11, 16, 2, 2, positions=LearnedPositions(12, 16))


def test_every_parameter_has_one_optimizer():
    model = gpt()
    model.norm.bias.requires_grad_(False)
    muon, adamw = gpt_optimizers(model, 1e-3, 2e-2, weight_decay=0.1, betas=(0.8, 0.9))
    names = {id(p): name for name, p in model.named_parameters()}
    hidden = {names[id(p)] for group in muon.param_groups for p in group["params"]}
    assert len(hidden) == 2 * (4 + 2)  # query, key, value, output; up, down
    assert all(name.startswith("blocks.") and name.endswith("weight") for name in hidden)
    decayed = {names[id(p)] for p in adamw.param_groups[0]["params"]}
    assert decayed == {"embedding.weight", "embedding.positions.embedding.weight"}
    spared = {names[id(p)] for p in adamw.param_groups[1]["params"]}
    assert hidden | decayed | spared == set(names.values()) - {"norm.bias"}
    assert len(hidden) + len(decayed) + len(spared) == len(names) - 1
    groups = [*muon.param_groups, *adamw.param_groups]
    assert [group["weight_decay"] for group in groups] == [0.1, 0.1, 0.0]
    assert [group["lr"] for group in groups] == [2e-2, 1e-3, 1e-3]
    assert adamw.param_groups[0]["betas"] == (0.8, 0.9)


def test_adamw_is_pytorchs_where_there_is_no_fused_kernel(monkeypatch):
    plain = torch.optim.AdamW

    def without(*arguments, fused=None, **settings):
        if fused:
            raise RuntimeError("no fused kernel")
        return plain(*arguments, **settings)

    models = [gpt(), gpt()]
    pairs = [gpt_optimizers(models[0], 1e-2, 1e-2)]
    monkeypatch.setattr(torch.optim, "AdamW", without)
    pairs.append(gpt_optimizers(models[1], 1e-2, 1e-2))
    assert not pairs[1][1].defaults["fused"]
    for model, optimizers in zip(models, pairs):
        model(torch.arange(10)[None]).square().sum().backward()
        for optimizer in optimizers:
            optimizer.step()
    for a, b, start in zip(models[0].parameters(), models[1].parameters(), gpt().parameters()):
        assert (a - b).norm() < 1e-5 * (b - start).norm()


def test_heads_on_an_encoder_and_both_stacks_of_an_encoder_decoder():
    config = GPTConfig.modern(11, max_length=8, n_layers=1, n_heads=2, d_model=8)
    translator = EncoderDecoder.build(11, 11, 8, 2, 1)
    for model, stacks in (
        (MaskedLM(Encoder.modern(config)), ("encoder.blocks.",)),
        (translator, ("encoder.blocks.", "blocks.")),
    ):
        muon, adamw = gpt_optimizers(model, 1e-3, 1e-2)
        matrices = {
            id(p) for name, p in model.named_parameters() if name.startswith(stacks) and p.ndim == 2
        }
        assert {id(p) for group in muon.param_groups for p in group["params"]} == matrices
        others = {id(p) for group in adamw.param_groups for p in group["params"]}
        assert others == {id(p) for p in model.parameters()} - matrices
        assert len(others) > 2


def test_several_optimizers_are_used_as_one():
    one, two = (nn.Parameter(torch.ones(2)) for _ in range(2))
    both = Together([torch.optim.SGD([one], lr=0.5), torch.optim.SGD([two], lr=0.1)])
    assert [group["lr"] for group in both.param_groups] == [0.5, 0.1]
    both.param_groups[1]["lr"] = 0.25
    one.grad, two.grad = torch.ones(2), torch.ones(2)
    both.step()
    assert (one.tolist(), two.tolist()) == ([0.5, 0.5], [0.75, 0.75])
    both.zero_grad()
    assert (one.grad, two.grad) == (None, None)
