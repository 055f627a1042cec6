"""GPT-2's weights: logits and attention weights equal those of the transformers library."""

from __future__ import annotations

import json
import os

import pytest
import torch
from safetensors.torch import save_file
from torch.testing import assert_close
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model

from helpers.models.gpt import GPTConfig
from helpers.pretrained.gpt2_weights import gpt2_from, load_gpt2

SIZES = {"vocab_size": 50, "n_positions": 20, "n_embd": 24, "n_layer": 3, "n_head": 4}


def theirs(seed=0, model=GPT2LMHeadModel, **settings):
    """A random GPT-2 of theirs whose every weight matters."""
    torch.manual_seed(seed)
    config = GPT2Config(**{**SIZES, "attn_implementation": "eager", **settings})
    made = model(config).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def tokens(B=3, T=20):
    return torch.randint(50, (B, T), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_inner": 30},
        {"activation_function": "gelu"},
        {"tie_word_embeddings": False},
    ],
)
def test_logits_equal_those_of_transformers(settings):
    reference = theirs(**settings)
    ours = gpt2_from(reference.state_dict(), reference.config.to_dict())
    with torch.no_grad():
        assert_close(ours(tokens()), reference(tokens()).logits, atol=1e-5, rtol=1e-5)
        ours, reference = ours.double(), reference.double()
        assert_close(ours(tokens()), reference(tokens()).logits, atol=1e-11, rtol=1e-11)
        assert_close(ours.read(tokens())[0], reference(tokens()).logits, atol=1e-11, rtol=1e-11)
    assert ours.config.tied == settings.get("tie_word_embeddings", True)


def test_attention_weights_equal_those_of_transformers():
    reference = theirs()
    ours = gpt2_from(reference.state_dict(), reference.config.to_dict())
    with torch.no_grad():
        found, wanted = ours.weights(tokens()), reference(tokens(), output_attentions=True)
    assert len(found) == len(wanted.attentions) == 3
    for mine, its in zip(found, wanted.attentions):
        assert_close(mine, its, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", ["folder", "file", "text"])
def test_saved_files_load_by_path(tmp_path, kind):
    reference = theirs(resid_pdrop=0.3)
    reference.save_pretrained(tmp_path)
    path = {"folder": tmp_path, "file": tmp_path / "model.safetensors", "text": str(tmp_path)}[kind]
    ours = load_gpt2(path)
    assert ours.config == GPTConfig.gpt2(
        50, max_length=20, n_layers=3, n_heads=4, d_model=24, dropout=0.3
    )
    assert not ours.training
    with torch.no_grad():
        assert_close(ours(tokens()), reference(tokens()).logits, atol=1e-5, rtol=1e-5)


def test_files_as_openai_published_them_load_too(tmp_path):
    """No prefix, no output matrix, and the causal mask among the tensors."""
    reference = theirs(model=GPT2Model)
    state = {name: tensor.contiguous() for name, tensor in reference.state_dict().items()}
    for layer in range(3):
        state[f"h.{layer}.attn.bias"] = torch.ones(1, 1, 20, 20).tril()
        state[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(state, tmp_path / "model.safetensors")
    settings = {**SIZES, "model_type": "gpt2", "layer_norm_epsilon": 1e-5}
    (tmp_path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    ours = load_gpt2(tmp_path)
    with torch.no_grad():
        hidden = reference(tokens()).last_hidden_state
    assert_close(ours(tokens()), hidden @ reference.wte.weight.T, atol=1e-5, rtol=1e-5)


def test_half_precision_becomes_float32():
    reference = theirs().to(torch.bfloat16)
    ours = gpt2_from(reference.state_dict(), reference.config.to_dict())
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float32}
    assert torch.equal(ours.embedding.weight, reference.transformer.wte.weight.float())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "llama"}, "model_type = 'llama'.*'gpt2'"),
        ({"scale_attn_by_inverse_layer_idx": True}, "inverse_layer_idx = True"),
    ],
)
def test_another_architecture_is_refused(changes, message):
    reference = theirs()
    with pytest.raises(ValueError, match=message):
        gpt2_from(reference.state_dict(), {**reference.config.to_dict(), **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_layer": 4}, "Missing .*blocks.3"),
        ({"n_layer": 2}, "Unexpected"),
        ({"n_embd": 32}, "size"),
    ],
)
def test_settings_of_another_gpt2_do_not_fit(changes, message):
    reference = theirs()
    with pytest.raises(RuntimeError, match=message):
        gpt2_from(reference.state_dict(), {**reference.config.to_dict(), **changes})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "model.safetensors").unlink(), "no file .*model.safetensors"),
        (lambda f: (f / "config.json").unlink(), "no file .*config.json"),
        (lambda f: os.truncate(f / "model.safetensors", 1000), "damaged .*fetch"),
        (lambda f: os.truncate(f / "config.json", 20), "damaged .*fetch"),
    ],
)
def test_a_missing_or_damaged_file_is_told_in_one_sentence(tmp_path, spoil, message):
    theirs().save_pretrained(tmp_path)
    spoil(tmp_path)
    with pytest.raises(ValueError, match=message):
        load_gpt2(tmp_path)
