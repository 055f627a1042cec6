"""GPT in both forms: against the transformers library, with and without a cache; its beginning."""

from __future__ import annotations

import copy
import dataclasses
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from helpers.models.gpt import GPT, GPTConfig

V, D, H, L, LONGEST = 11, 16, 4, 2, 32
SIZES = {"d_model": D, "n_heads": H, "n_layers": L, "max_length": LONGEST}
FORMS = {
    "gpt2": GPTConfig.gpt2(V, **SIZES),
    "modern": GPTConfig.modern(V, **SIZES),
    "modern, grouped": GPTConfig.modern(V, **SIZES, n_kv_heads=2),
    "swiglu, untied, one key": GPTConfig.modern(
        V, **SIZES, activation="swiglu", tied=False, n_kv_heads=1
    ),
    "modern, tied": GPTConfig.modern(V, **SIZES, tied=True),
    "gpt2, qk-norm, no bias": GPTConfig.gpt2(V, **SIZES, qk_norm=True, bias=False, d_hidden=20),
}
EVERY = pytest.mark.parametrize("form", list(FORMS))


def make(form, seed=0, **changes):
    """In float64, in evaluation mode, with weights large enough for every part to matter."""
    config = form if isinstance(form, GPTConfig) else FORMS[form]
    torch.manual_seed(seed)
    model = GPT(dataclasses.replace(config, **changes)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def text(*shape, seed=0, V=V):
    return torch.randint(V, shape, generator=torch.Generator().manual_seed(seed))


def close(found, wanted):
    assert_close(found, wanted, atol=1e-11, rtol=1e-11)


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


# --- What it computes


def rotary_rows(weight, d_head):
    """Rows for features whose pairs are i and i + K/2, put so that pairs are neighbours."""
    heads = weight.unflatten(0, (-1, 2, d_head // 2))  # (H, 2, K/2, ...)
    return heads.transpose(1, 2).flatten(0, 2)


def copied(reference, model):
    """The weights of a Llama or Qwen3, for a GPT of the modern form."""
    state, theirs = {}, reference.state_dict()
    for name in model.state_dict():
        if name in ("embedding.weight", "output.weight", "norm.weight"):
            place = {"embedding": "model.embed_tokens", "norm": "model.norm", "output": "lm_head"}
            state[name] = theirs[place[name.split(".")[0]] + ".weight"]
            continue
        _, layer, *part = name.split(".")
        part, d_head = ".".join(part), model.blocks[0].attention.d_head
        place = {
            "attention_norm": "input_layernorm",
            "feed_forward_norm": "post_attention_layernorm",
            "attention.query": "self_attn.q_proj",
            "attention.key": "self_attn.k_proj",
            "attention.value": "self_attn.v_proj",
            "attention.output": "self_attn.o_proj",
            "attention.query_norm": "self_attn.q_norm",
            "attention.key_norm": "self_attn.k_norm",
            "feed_forward.gate": "mlp.gate_proj",
            "feed_forward.up": "mlp.up_proj",
            "feed_forward.down": "mlp.down_proj",
        }[part.removesuffix(".weight")]
        tensor = theirs[f"model.layers.{layer}.{place}.weight"]
        turned = part.startswith(("attention.query", "attention.key"))
        state[name] = rotary_rows(tensor, d_head) if turned else tensor
    model.load_state_dict(state)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize(
    ("kind", "settings", "changes"),
    [
        (Qwen3ForCausalLM, Qwen3Config, {"qk_norm": True, "tied": True}),
        (LlamaForCausalLM, LlamaConfig, {"qk_norm": False, "tied": False}),
    ],
)
def test_the_modern_form_equals_models_of_transformers(kind, settings, changes, n_kv_heads):
    torch.manual_seed(0)
    reference = kind(
        settings(
            vocab_size=V,
            hidden_size=D,
            intermediate_size=24,
            num_hidden_layers=3,
            num_attention_heads=H,
            num_key_value_heads=n_kv_heads,
            head_dim=D // H,
            rms_norm_eps=1e-6,
            max_position_embeddings=LONGEST,
            tie_word_embeddings=changes["tied"],
            attn_implementation="eager",
        )
    ).eval()
    with torch.no_grad():
        for parameter in reference.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    sizes = {**SIZES, "n_layers": 3, "d_hidden": 24, "n_kv_heads": n_kv_heads}
    model = GPT(GPTConfig.modern(V, **sizes, activation="swiglu", **changes)).eval()
    copied(reference, model)
    tokens = text(3, 20)
    with torch.no_grad():
        wanted = reference(tokens, output_attentions=True)
        assert_close(model(tokens), wanted.logits, atol=1e-5, rtol=1e-5)
        for mine, its in zip(model.weights(tokens), wanted.attentions):
            assert_close(mine, its, atol=1e-6, rtol=1e-4)


def test_squared_relu_stands_between_the_matrices():
    block, x = make("modern").blocks[0], torch.randn(2, 3, D).double()
    hidden = F.linear(x, block.feed_forward.up.weight).clamp(min=0) ** 2
    close(block.feed_forward(x), F.linear(hidden, block.feed_forward.down.weight))
    assert block.feed_forward.up.weight.shape == (4 * D, D)


@EVERY
def test_the_future_leaves_the_past_alone(form):
    model, tokens = make(form), text(2, 9)
    logits = model(tokens)
    for t in range(9):
        other = tokens.clone()
        other[:, t] = (other[:, t] + 1) % V
        changed = (model(other) - logits).abs().amax((0, 2)) > 1e-9
        assert changed.tolist() == [s >= t for s in range(9)]


# --- Weights


# --- Reading with the cache


@pytest.mark.parametrize("parts", [[12], [1] * 12, [11, 1], [1, 11], [3, 1, 1, 5, 2]], ids=str)
@EVERY
def test_cached_logits_equal_uncached_ones(form, parts):
    model, tokens = make(form), text(3, 12)
    state, found = model.start(3), []
    for part in tokens.split(parts, 1):
        logits, state = model.read(part, state)
        assert logits.shape == (3, part.shape[1], V)
        found.append(logits)
    close(torch.cat(found, 1), model(tokens))
    assert state.length == 12
    assert torch.equal(state.tokens, tokens)
    close(model.read(tokens)[0], model(tokens))


@EVERY
def test_any_state_can_be_continued_more_than_once(form):
    """Branches from every older state, in a mixed order, all alive together."""
    model, tokens = make(form), text(2, 8)
    states = [model.start(2)]
    for t in range(8):
        states.append(model.read(tokens[:, t : t + 1], states[-1])[1])
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0)).tolist()
    alive = []
    for number in order:
        t, other = number * 3 % 8, text(2, 1 + number % 3, seed=number)
        logits, state = model.read(other, states[t])
        alive.append((torch.cat([tokens[:, :t], other], 1), state))
        close(logits, model(alive[-1][0])[:, t:])
    last = text(2, 1, seed=99)
    for read, state in alive:
        close(model.read(last, state)[0][:, 0], model(torch.cat([read, last], 1))[:, -1])


@EVERY
def test_states_of_some_texts_and_shorter_states(form):
    model, tokens = make(form), text(3, 8)
    _, state = model.read(tokens)
    index, more = torch.tensor([2, 0, 0, 1]), text(4, 3, seed=1)
    whole = torch.cat([tokens[index], more], 1)
    logits, chosen = model.read(more, state.rows(index))
    close(logits, model(whole)[:, 8:])
    assert torch.equal(chosen.tokens, whole)
    for length in (0, 1, 2, 7, 8):
        cut, more = state.cut(length), text(3, 2, seed=length)
        assert cut.length == length
        wanted = model(torch.cat([tokens[:, :length], more], 1))[:, length:]
        close(model.read(more, cut)[0], wanted)
    more = text(3, 1, seed=5)
    close(model.read(more, state)[0], model(torch.cat([tokens, more], 1))[:, 8:])


def test_reading_follows_no_gradients_and_works_in_inference_mode():
    model, tokens = make("modern"), text(2, 6)
    with torch.inference_mode():
        _, state = model.read(tokens[:, :4])
    logits, _ = model.read(tokens[:, 4:], state)
    assert not logits.requires_grad
    close(logits, model(tokens)[:, 4:])
    model(tokens).sum().backward()  # the tables of positions still serve for training
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_reading_in_half_precision_stays_near():
    model = make("modern").float()
    half, tokens = copy.deepcopy(model).to(torch.bfloat16), text(2, 12)
    _, state = half.read(tokens[:, :9])
    logits, _ = half.read(tokens[:, 9:], state)
    assert logits.dtype == torch.bfloat16
    assert (logits - model(tokens)[:, 9:]).abs().max() < 0.1 * model(tokens).std() + 0.2


# --- Sizes


def test_the_smallest_gpt2_has_the_known_number_of_parameters():
    config = GPTConfig.gpt2(50257, max_length=1024, n_layers=12, n_heads=12, d_model=768)
    with torch.device("meta"):
        assert parameters(GPT(config)) == 124_439_808


# --- Settings, saving


def test_every_setting_reaches_its_part():
    model = GPT(GPTConfig.modern(V, d_model=24, n_heads=4, n_kv_heads=2, n_layers=3, d_hidden=7))
    assert len(model.blocks) == 3
    assert model.blocks[2].feed_forward.up.out_features == 7
    assert model.blocks[1].attention.key.out_features == 12
    assert model.embedding.positions is None
    assert model.embedding.weight.shape == (V, 24)
    assert not any(name.endswith("bias") for name, _ in model.named_parameters())
    old = GPT(GPTConfig.gpt2(V, max_length=9, d_model=24))
    assert old.embedding.positions.max_length == 9
    assert all(block.attention.positions is None for block in old.blocks)
    assert old.blocks[0].attention.query.bias is not None
    assert old.norm.eps == 1e-5
    assert old.output is None
    assert GPTConfig.gpt2(V) == GPTConfig(V)


# --- How it begins


def start_loss(model):
    tokens = torch.randint(model.vocab_size, (4, 65), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).item()


@pytest.mark.parametrize("d_model", [64, 384])
@pytest.mark.parametrize("vocab_size", [65, 2000])
@pytest.mark.parametrize(
    ("form", "changes", "tolerance"),
    [
        (GPTConfig.gpt2, {}, 0.25),  # logits with variance 0.02^2 768, of which half is lost
        (GPTConfig.gpt2, {"tied": False}, 1e-5),
        (GPTConfig.gpt2, {"zero_start": True}, 0.1),
        (GPTConfig.modern, {}, 1e-5),
        (GPTConfig.modern, {"activation": "swiglu"}, 0.1),
        (GPTConfig.modern, {"tied": True}, 0.1),
    ],
)
def test_the_first_loss_is_near_that_of_guessing(form, changes, tolerance, vocab_size, d_model):
    torch.manual_seed(0)
    model = GPT(form(vocab_size, d_model=d_model, **changes))
    assert start_loss(model) == pytest.approx(math.log(vocab_size), abs=tolerance)


def test_the_weights_of_the_gpt2_form_begin_as_gpt2s():
    """Deviation 0.02 sqrt(768 / D), divided by sqrt(2 L) where a layer writes into the stream."""
    torch.manual_seed(0)
    model = GPT(GPTConfig.gpt2(500, n_layers=8))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        else:
            written = name.endswith(("output.weight", "down.weight"))
            wanted = 0.02 * 6**0.5 / (4 if written else 1)
            spread = 5 / (2 * parameter.numel()) ** 0.5  # five standard errors
            assert parameter.std().item() == pytest.approx(wanted, rel=spread), name
            assert abs(parameter.mean().item()) < 5 * wanted / parameter.numel() ** 0.5, name


@pytest.mark.parametrize("activation", ["relu2", "swiglu"])
def test_the_blocks_of_the_modern_form_begin_as_the_identity_and_learn(activation):
    torch.manual_seed(0)
    model, tokens = GPT(GPTConfig.modern(V, **SIZES, activation=activation)), text(4, 17)
    x = model.embedding(tokens)
    for block in model.blocks:
        assert torch.equal(block(x, causal=True), x)
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    for _ in range(3):  # the output wakes first, then what writes into the stream, then the rest
        optimizer.zero_grad()
        F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
    for name, parameter in model.named_parameters():
        assert parameter.grad.any(), name


# --- Dropout, compiling


@EVERY
def test_dropout_acts_in_training_only(form):
    plain, model, tokens = make(form), make(form, dropout=0.3).train(), text(3, 8)
    assert not torch.allclose(model(tokens), model(tokens))
    # As in GPT-2: embeddings, attention weights, both sub-layers' outputs, no hidden units.
    places = {name for name, m in model.named_modules() if isinstance(m, nn.Dropout) and m.p == 0.3}
    assert places == {"embedding.dropout"} | {
        f"blocks.{layer}.{part}" for layer in range(L) for part in ("dropout", "attention.dropout")
    }
    close(model.eval()(tokens), plain(tokens))


def test_it_compiles_as_one_graph():
    model, tokens = make("modern, grouped"), text(2, 9)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    close(compiled(tokens), model(tokens))


# --- What is refused


def test_it_refuses_what_it_cannot_read():
    model = make("gpt2")
    for tokens, complaint in (
        ([[0, V]], f"from 0 to {V}; expected 0 to {V - 1}: encode"),
        ([[-1, 0]], "from -1 to 0"),
        ([0, 1], "expected whole numbers"),
        ([[0.0, 1.0]], "expected whole numbers"),
        ([[]], "expected whole numbers"),
        ([[0] * (LONGEST + 1)], "max_length"),
    ):
        for call in (model, model.weights, model.read):
            with pytest.raises(ValueError, match=complaint):
                call(torch.tensor(tokens))


def test_a_read_that_fails_leaves_the_state_as_it_was():
    model, tokens = make("gpt2"), text(2, LONGEST)
    _, state = model.read(tokens[:, : LONGEST - 1])
    for wrong in (tokens[:, :2], tokens[:, :1] + V):
        with pytest.raises(ValueError, match=r"max_length|encode the text"):
            model.read(wrong, state)
    close(model.read(tokens[:, -1:], state)[0], model(tokens)[:, -1:])


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"n_heads": 3}, "d_model = 128 .* n_heads = 3"),
        ({"n_kv_heads": 3}, "n_heads = 4, .* n_kv_heads = 3"),
        ({"positions": "rotary", "d_model": 12}, "d_head is 3"),
        ({"norm": "batch"}, "norm is 'batch'; expected one of layer, rms"),
        ({"positions": None}, "positions is None; expected one of learned, rotary"),
        ({"activation": "relu"}, "activation is 'relu'"),
    ],
)
def test_settings_out_of_range_are_refused(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        GPT(GPTConfig(**{"vocab_size": V, **settings}))
