"""What the further notebook 12, sizes, claims: see staff/notebooks/claims.py."""

# %% c021
assert [round(x, 2) for x in squares.values()] == [12.0, 12.06, 15.0]
rows = {m.name: m for m in models}
for name, key in (("GPT-2, the largest", "GPT-2"), ("LLaMA 65B", "LLaMA"), ("Qwen3 0.6B", "Qwen3")):
    D, H, K, G, F, gated = shapes[name]
    m = rows[key]
    assert (m.d_model, m.n_heads, m.d_ff, m.gated) == (D, H, F, gated)
    assert (m.d_head or D // H) == K and (m.n_kv_heads or H) == G
plain = llm_sizes.parameter_parts(rows["Qwen3"])
matrices = plain["attention"] + plain["feed-forward"]
assert matrices == 28 * block_parameters(*shapes["Qwen3 0.6B"])
assert 2.6 < shapes["LLaMA 65B"][4] / 8192 < 2.7 and 13 / (12 * 1600) < 0.001

# %% ed41e1f2
assert len(slide) == 14 and len(near) == 9
assert worst < 3 and close == 11 and max(map(abs, thumb)) > 95
assert {m.name for m in slide if m not in near} == {
    "PaLM",
    "Gopher",
    "Chinchilla",
    "LaMDA",
    "T5",
}

# %% c025
assert expert_layer(2, 3, 4, 1, 1) == (98, 44)
qwen = since["Qwen3"]
experts = 58 * whole + 3 * 3 * 7168 * 18_432
assert experts == llm_sizes.parameter_parts(deepseek)["feed-forward"]
assert 0.97 < 58 * whole / llm_sizes.parameters(deepseek) < 0.99
assert round(llm_sizes.parameters(deepseek) / 1e9) == 671
assert 37e9 < llm_sizes.active_parameters(deepseek) < 38e9
assert llm_sizes.cached_numbers(deepseek) < llm_sizes.cached_numbers(qwen)
assert round(in_experts) == 62
of_attention = llm_sizes.parameter_parts(deepseek)["attention"]
assert round(100 * of_attention / llm_sizes.active_parameters(deepseek)) == 30
assert round(2 * 128 * 128 / (512 + 64)) == 57
assert 1000 < llm_sizes.parameters(deepseek) / llm_sizes.parameters(qwen) < 1250

# %% c030
shares = {m.name: llm_sizes.active_parameters(m) / llm_sizes.parameters(m) for m in recent}
assert len(recent) == 10 and sum(share == 1 for share in shares.values()) == 6
assert sorted(round(100 * s) for s in shares.values())[:4] == [3, 6, 9, 28]
named = {m.name: m for m in recent}
largest = named["Llama 3.1 405B"]
of_token = {name: 1e6 * kept[name] / m.max_length for name, m in named.items()}
assert round(of_token["DeepSeek-V3"]) == 70
assert 0.33 < of_token["DeepSeek-V3"] / of_token["Phi-4"] < 0.35
larger = llm_sizes.parameters(named["DeepSeek-V3"]) / llm_sizes.parameters(named["Phi-4"])
assert round(larger) == 46
assert (largest.n_kv_heads, largest.n_heads) == (8, 128)
assert 1000 < 16 * kept["Llama 3.1 405B"] < 1100
