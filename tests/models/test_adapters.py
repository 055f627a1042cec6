"""LoRA equals the peft library's; all that is added begins as nothing; merging; what is frozen."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from helpers.inference.cached_predictor import CachedPredictor
from helpers.models.adapters import (
    Adapter,
    LoRALinear,
    SoftPrompt,
    add_adapters,
    add_lora,
    merge_lora,
    trained,
)
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.quantized import quantize_model

V, D, L = 17, 16, 2
ALL = ("query", "key", "value", "output", "up", "down")


def gpt(**settings):
    torch.manual_seed(0)
    model = GPT(GPTConfig.modern(V, n_layers=L, n_heads=2, d_model=D, max_length=32, **settings))
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    return model.double().eval()


def tokens(B=3, T=7):
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(1))


def steps(model, n=5):
    """Some steps of training, on nothing sensible."""
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(weights, 0.05)
    x = tokens()
    for _ in range(n):
        loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


@pytest.mark.parametrize(("rank", "alpha"), [(1, 1), (3, 6), (4, 2)])
@pytest.mark.parametrize("where", [("query", "value"), ("query", "output", "up", "down")])
def test_lora_equals_pefts_before_and_after_training_and_merged(rank, alpha, where):
    peft = pytest.importorskip("peft")
    settings = {"r": rank, "lora_alpha": alpha, "target_modules": list(where)}
    # "output" is also the name of the whole model's output, which peft would adapt, too.
    ours, base = gpt(tied=True), gpt(tied=True)
    layers = add_lora(ours, rank, alpha, where)
    theirs = peft.get_peft_model(base, peft.LoraConfig(**settings, lora_dropout=0.0))
    found = [m for m in theirs.modules() if isinstance(m, peft.tuners.lora.Linear)]
    names = [n for n, m in theirs.named_modules() if isinstance(m, peft.tuners.lora.Linear)]
    own = {n: m for n, m in ours.named_modules() if isinstance(m, LoRALinear)}
    with torch.no_grad():
        for name, layer in zip(names, found, strict=True):
            mine = own[name.removeprefix("base_model.model.")]
            mine.A.copy_(layer.lora_A["default"].weight)
            assert not layer.lora_B["default"].weight.any()
    assert len(found) == len(layers) == len(where) * L
    assert sum(p.numel() for _, p in trained(ours)) == sum(p.numel() for _, p in trained(theirs))
    assert_close(ours(tokens()), theirs(tokens()), atol=1e-12, rtol=1e-12)
    assert steps(ours) == pytest.approx(steps(theirs), abs=1e-12)
    assert_close(ours(tokens()), theirs(tokens()), atol=1e-12, rtol=1e-12)
    merged = theirs.merge_and_unload()
    for name, weight in merge_lora(ours).state_dict().items():
        assert_close(weight, merged.state_dict()[name], atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("add", [lambda m: add_lora(m, 2), lambda m: add_adapters(m, 3)])
def test_what_is_added_begins_as_nothing_and_alone_is_trained(add):
    model = gpt()
    wanted, frozen = model(tokens()), copy.deepcopy(model.state_dict())
    add(model)
    assert_close(model(tokens()), wanted, atol=1e-13, rtol=1e-12)
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    new = {name for name, _ in trained(model)}
    assert sum(p.numel() for p in model.parameters()) - sum(p.numel() for p in frozen.values()) == (
        sum(before[name].numel() for name in new)
    )
    steps(model)
    for name, weight in model.named_parameters():
        assert torch.equal(weight, before[name]) == (name not in new), name


def test_an_adapter_is_a_narrow_layer_with_a_residual_connection():
    torch.manual_seed(0)
    adapter, x = Adapter(4, 2).double(), torch.randn(5, 4).double()
    assert torch.equal(adapter(x), x)
    nn.init.normal_(adapter.up.weight)
    inside = F.gelu(x @ adapter.down.weight.T + adapter.down.bias)
    assert_close(adapter(x), x + inside @ adapter.up.weight.T + adapter.up.bias)


@pytest.mark.parametrize("add", [lambda m: add_lora(m, 2, 4, ALL), lambda m: add_adapters(m, 3)])
def test_an_adapted_model_writes_with_a_cache_as_without(add):
    model, x = gpt(), tokens(2, 9)
    add(model)
    steps(model)
    wanted = model(x).log_softmax(-1)
    predictor = CachedPredictor(model, bos=0)
    state, found = predictor.start(2), []
    for t in range(9):
        log_p, state = predictor.step(x[:, t], state)
        found.append(log_p)
    assert_close(torch.stack(found, 1), wanted, atol=1e-10, rtol=1e-10)
    assert model.blocks[0].weights(torch.randn(1, 4, D).double()).shape == (1, 2, 4, 4)


def test_a_soft_prompt_of_embeddings_is_a_prompt():
    model, x = gpt(), tokens()
    front = torch.tensor([3, 5, 8])
    wanted = model(torch.cat([front.expand(3, 3), x], 1))[:, 3:]
    soft = SoftPrompt(model, front)
    assert_close(soft(x), wanted, atol=1e-12, rtol=1e-12)
    assert [name for name, _ in trained(soft)] == ["prompt"]
    before = model(x)
    steps(soft)
    assert_close(model(x), before, atol=0, rtol=0)
    assert not torch.allclose(soft(x), wanted)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: add_lora(m, 2, where=("query", "tail")), "no linear map named tail"),
        (lambda m: add_lora(m, 2, where="tail"), "no linear map named tail"),
        (lambda m: add_lora(m, 2, where=()), "no linear map named nothing"),
        (lambda m: SoftPrompt(m, torch.tensor([V])), "index 17 is out of bounds"),
    ],
)
def test_a_change_that_cannot_be_made_whole_is_not_begun(change, sentence):
    model = gpt()
    with pytest.raises((ValueError, IndexError), match=sentence):
        change(model)
    assert all(weight.requires_grad for weight in model.parameters())
    assert len(list(model.modules())) == len(list(gpt().modules()))


@pytest.mark.parametrize("first", [lambda m: add_lora(m, 2), lambda m: add_adapters(m, 3)])
@pytest.mark.parametrize("second", [lambda m: add_lora(m, 2), lambda m: add_adapters(m, 3)])
def test_a_model_is_adapted_once(first, second):
    model = gpt()
    first(model)
    before = [name for name, _ in trained(model)]
    with pytest.raises(ValueError, match=r"already, such as in blocks\.0\..*: begin with a fresh"):
        second(model)
    assert [name for name, _ in trained(model)] == before


def test_what_does_not_fit_is_said():
    with pytest.raises(ValueError, match="no linear map named head or tail"):
        add_lora(gpt(), 2, where=("tail", "head"))
    model = gpt()
    add_lora(model, 2)
    with pytest.raises(ValueError, match="merge first, then quantize"):
        merge_lora(quantize_model(model))
    with pytest.raises(ValueError, match="learned positions"):
        SoftPrompt(gpt(positions="learned"), torch.tensor([1]))
