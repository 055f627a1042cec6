"""Counted sizes against released weights, a library's own models, and the sizes in the papers."""

from __future__ import annotations

import pytest
import torch

from helpers.data.llm_table import large_language_models
from helpers.models.llm_sizes import (
    active_parameters,
    cached_numbers,
    comparable_parameters,
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


@pytest.mark.parametrize("name", ["OPT", "DeepSeek-V3"])  # whose weights the table does not count
def test_counts_equal_those_of_the_library_s_models(name):
    build = library_model(name)
    with torch.device("meta"):
        model = build()
    model.tie_weights()
    assert parameters(MODELS[name]) == sum(p.numel() for p in model.parameters())


def test_counts_round_to_the_stated_sizes_with_seven_exceptions():
    def rounded(model):
        unit, digits = model.size[-1], len(model.size.partition(".")[2][:-1])
        return f"{comparable_parameters(model) / {'M': 1e6, 'B': 1e9}[unit]:.{digits}f}{unit}"

    others = {m.name: rounded(m) for m in MODELS.values() if rounded(m) != m.size}
    # What recent models are called need not be a rounding: Kimi K2 is said to have "1T".
    recent = {"Gemma 3 270M": "268M", "Kimi K2": "1026B", "Llama 3.1 405B": "406B", "Phi-4": "15B"}
    assert others == {"Galactica": "121B", "GLM-130B": "129B", "GPT-2": "1.6B", **recent}


def test_sizes_that_the_papers_state_more_exactly():
    # Brown et al. (2020), table D.1; Chowdhery et al. (2022), table 1
    assert parameters(MODELS["GPT-3"]) == pytest.approx(174.600e9, rel=1e-4)
    assert parameters(MODELS["PaLM"]) == pytest.approx(540.35e9, rel=1e-4)


def test_the_rule_of_thumb_holds_for_the_usual_shape_only():
    off = {m.name for m in MODELS.values() if abs(simple_parameters(m) / m.stated - 1) > 0.05}
    recent = {name for name, model in MODELS.items() if model.year}
    assert off - recent == {"PaLM", "Gopher", "Chinchilla", "LaMDA", "T5"}
    assert recent - off == {"Llama 3.1 405B"}
    gpt3 = MODELS["GPT-3"]
    assert simple_parameters(gpt3) == 12 * 96 * 12288**2 + 50257 * 12288


def test_what_takes_part_in_one_token_and_what_is_kept_of_it():
    # DeepSeek-AI (2024), abstract: 671B parameters, 37B for each token; section 4.2
    deepseek = MODELS["DeepSeek-V3"]
    assert active_parameters(deepseek) == pytest.approx(37e9, rel=0.02)
    assert cached_numbers(deepseek) == 61 * (512 + 64)
    assert active_parameters(MODELS["Qwen3"]) == parameters(MODELS["Qwen3"])
    assert cached_numbers(MODELS["Qwen3"]) == 28 * 2 * 8 * 128
    in_windows = 1024 * 52 + 5000 * 10  # of Gemma's 62 layers every sixth keeps all
    assert cached_numbers(MODELS["Gemma 3 27B"], 5000) == in_windows * 2 * 16 * 128
