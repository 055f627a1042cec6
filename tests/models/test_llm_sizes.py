"""Counted sizes against released weights, a library's own models, and the sizes in the papers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from helpers.data.llm_table import large_language_models
from helpers.models.costs import (
    attention_parameters,
    feed_forward_parameters,
    norm_parameters,
)
from helpers.models.llm_sizes import (
    active_parameters,
    cached_numbers,
    comparable_parameters,
    parameter_parts,
    parameters,
    simple_parameters,
)

MODELS = {model.name: model for model in large_language_models()}


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model.released])
def test_counts_equal_those_of_the_released_weights(name):
    assert parameters(MODELS[name]) == MODELS[name].released


def library_model(name):
    """The transformers library's model of the same shape, without memory for its weights."""
    transformers = pytest.importorskip("transformers")
    m = MODELS[name]
    if name == "GPT-1":
        config = transformers.OpenAIGPTConfig(
            vocab_size=m.vocab_size, n_positions=512, n_embd=768, n_layer=12, n_head=12
        )
        return lambda: transformers.OpenAIGPTLMHeadModel(config)
    if name == "GPT-2":
        config = transformers.GPT2Config(n_embd=m.d_model, n_layer=m.n_layers, n_head=m.n_heads)
        return lambda: transformers.GPT2LMHeadModel(config)
    if name == "OPT":
        config = transformers.OPTConfig(
            vocab_size=m.vocab_size,
            hidden_size=m.d_model,
            num_hidden_layers=m.n_layers,
            ffn_dim=m.d_ff,
            num_attention_heads=m.n_heads,
            word_embed_proj_dim=m.d_model,
        )
        return lambda: transformers.OPTForCausalLM(config)
    if name == "BLOOM":
        config = transformers.BloomConfig(
            vocab_size=m.vocab_size, hidden_size=m.d_model, n_layer=m.n_layers, n_head=m.n_heads
        )
        return lambda: transformers.BloomForCausalLM(config)
    if name == "LLaMA":
        config = transformers.LlamaConfig(
            vocab_size=m.vocab_size,
            hidden_size=m.d_model,
            num_hidden_layers=m.n_layers,
            intermediate_size=m.d_ff,
            num_attention_heads=m.n_heads,
        )
        return lambda: transformers.LlamaForCausalLM(config)
    if name == "Qwen3":
        config = transformers.Qwen3Config(
            vocab_size=m.vocab_size,
            hidden_size=m.d_model,
            num_hidden_layers=m.n_layers,
            intermediate_size=m.d_ff,
            num_attention_heads=m.n_heads,
            num_key_value_heads=m.n_kv_heads,
            head_dim=m.d_head,
            tie_word_embeddings=True,
        )
        return lambda: transformers.Qwen3ForCausalLM(config)
    if name == "DeepSeek-V3":
        config = transformers.DeepseekV3Config(
            vocab_size=m.vocab_size,
            hidden_size=m.d_model,
            num_hidden_layers=m.n_layers,
            intermediate_size=m.d_ff,
            moe_intermediate_size=m.d_expert,
            num_attention_heads=m.n_heads,
            num_key_value_heads=m.n_heads,
            kv_lora_rank=m.latent,
            q_lora_rank=m.query_latent,
            qk_rope_head_dim=m.d_rotary,
            qk_nope_head_dim=m.d_head,
            v_head_dim=m.d_head,
            n_routed_experts=m.experts,
            n_shared_experts=m.shared_experts,
            num_experts_per_tok=m.experts_used,
            first_k_dense_replace=m.dense_layers,
        )
        return lambda: transformers.DeepseekV3ForCausalLM(config)
    config = transformers.T5Config(
        vocab_size=m.vocab_size,
        d_model=m.d_model,
        num_layers=m.n_layers,
        num_heads=m.n_heads,
        d_kv=m.d_head,
        d_ff=m.d_ff,
    )
    return lambda: transformers.T5ForConditionalGeneration(config)


@pytest.mark.parametrize(
    "name", ["GPT-1", "GPT-2", "OPT", "BLOOM", "LLaMA", "T5", "Qwen3", "DeepSeek-V3"]
)
def test_counts_equal_those_of_the_library_s_models(name):
    build = library_model(name)
    with torch.device("meta"):
        model = build()
    model.tie_weights()
    assert parameters(MODELS[name]) == sum(p.numel() for p in model.parameters())


def test_counts_round_to_the_stated_sizes_with_three_exceptions():
    def rounded(model):
        unit, digits = model.size[-1], len(model.size.partition(".")[2][:-1])
        return f"{comparable_parameters(model) / {'M': 1e6, 'B': 1e9}[unit]:.{digits}f}{unit}"

    others = {m.name: rounded(m) for m in MODELS.values() if rounded(m) != m.size}
    assert others == {"Galactica": "121B", "GLM-130B": "129B", "GPT-2": "1.6B"}


def test_sizes_that_the_papers_state_more_exactly():
    # Brown et al. (2020), table D.1; Chowdhery et al. (2022), table 1
    assert parameters(MODELS["GPT-3"]) == pytest.approx(174.600e9, rel=1e-4)
    assert parameters(MODELS["PaLM"]) == pytest.approx(540.35e9, rel=1e-4)


@pytest.mark.parametrize(
    ("size", "layers", "heads", "d_head", "d_model"),
    [
        ("44M", 8, 16, 32, 512),
        ("117M", 12, 12, 64, 768),
        ("417M", 12, 12, 128, 1536),
        ("1.4B", 24, 16, 128, 2048),
        ("7.1B", 32, 32, 128, 4096),
    ],
)
def test_gopher_s_family_has_thirteen_squares_per_layer(size, layers, heads, d_head, d_model):
    """Rae et al. (2021), table 1: tied outputs, and a projection for relative positions."""
    model = replace(
        MODELS["Gopher"],
        size=size,
        n_layers=layers,
        n_heads=heads,
        d_head=d_head,
        d_model=d_model,
        d_ff=4 * d_model,
    )
    assert parameters(model) == pytest.approx(model.stated, rel=0.02)
    squares = parameters(model) - parameter_parts(model)["norms"]
    assert squares == 13 * layers * d_model**2 + 32000 * d_model


def test_the_rule_of_thumb_holds_for_the_usual_shape_only():
    off = {m.name for m in MODELS.values() if abs(simple_parameters(m) / m.stated - 1) > 0.05}
    assert off == {"PaLM", "Gopher", "Chinchilla", "LaMDA", "T5", "Qwen3", "DeepSeek-V3"}
    gpt3 = MODELS["GPT-3"]
    assert simple_parameters(gpt3) == 12 * 96 * 12288**2 + 50257 * 12288


@pytest.mark.parametrize(
    ("name", "attention", "feed_forward"),
    [
        ("GPT-3", 4, 8),
        ("PaLM", 4 / 3 + 2 * 256 / 18432, 12),
        ("LaMDA", 8, 24),
        ("LLaMA", 4, 3 * 22016 / 8192),
        ("GLM-130B", 4, 8),
    ],
)
def test_parts_of_a_layer_in_squares_of_its_width(name, attention, feed_forward):
    model = replace(MODELS[name], biases=False)
    parts, layers = parameter_parts(model), model.n_layers * model.d_model**2
    assert parts["attention"] / layers == pytest.approx(attention, rel=1e-12)
    assert parts["feed-forward"] / layers == pytest.approx(feed_forward, rel=1e-12)


def test_the_usual_shape_agrees_with_the_course_s_own_formulas():
    model = replace(
        MODELS["GPT-2"],
        n_layers=3,
        n_heads=4,
        d_model=24,
        d_ff=None,
        vocab_size=11,
        position_rows=7,
    )
    attention = attention_parameters(24, 4, bias=True)
    assert parameter_parts(model)["attention"] == 3 * attention
    block = attention + feed_forward_parameters(24) + 2 * norm_parameters(24)
    assert parameters(model) == (11 + 7) * 24 + 3 * block + norm_parameters(24)
    grouped = replace(model, n_kv_heads=2)
    expected = 3 * attention_parameters(24, 4, n_kv_heads=2, bias=True)
    assert parameter_parts(grouped)["attention"] == expected


def test_lamda_s_stated_size_leaves_the_embeddings_out():
    lamda = MODELS["LaMDA"]
    assert parameters(lamda) - comparable_parameters(lamda) == 32000 * 8192
    assert comparable_parameters(MODELS["T5"]) == parameters(MODELS["T5"])


def test_what_takes_part_in_one_token_and_what_is_kept_of_it():
    # DeepSeek-AI (2024), abstract: 671B parameters, 37B for each token; section 4.2
    deepseek = MODELS["DeepSeek-V3"]
    assert active_parameters(deepseek) == pytest.approx(37e9, rel=0.02)
    assert cached_numbers(deepseek) == 61 * (512 + 64)
    assert active_parameters(MODELS["Qwen3"]) == parameters(MODELS["Qwen3"])
    assert cached_numbers(MODELS["Qwen3"]) == 28 * 2 * 8 * 128
