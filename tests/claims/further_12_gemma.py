"""What the further notebook 12_gemma claims: see staff/notebooks/claims.py."""

# %% c108
assert sum(sizes.values()) == by_formula and by_formula < 2 * V * D
block = attention + feed_forward + norms
assert 0.9 < 18 * block / (12 * 7_087_872) < 1.3  # GPT-2's twelve blocks
assert sizes["blk.0.attn_k.weight"] * 4 == sizes["blk.0.attn_q.weight"] and H * K > D
norms_of_a_block = [n for n in tensors if n.startswith("blk.0.") and "norm" in n]
assert len(norms_of_a_block) == 6

# %% c120
assert torch.equal(window_mask(6, 9), torch.ones(6, 6).tril() == 1)
assert cache_bytes(32_768, 18, 0, 4) == 4 * cache_bytes(32_768, 18, 0, 1)
assert cache_bytes(32_768, 3, 15, 1) < 0.2 * cache_bytes(32_768, 18, 0, 1)

# %% c142
with torch.no_grad():
    assert torch.allclose(with_weights_of(small)(tokens), small(tokens), atol=1e-5)

# %% c151
assert not said["The capital of France is"].startswith(" Paris")
assert said["2 + 2 = 4\n3 + 5 = 8\n7 + 6 ="].startswith(" 13")
assert any(text.startswith(" maison") for text in said.values())

# %% c158
rows = {name.split(":")[0]: value for name, value in bits.items()}
assert rows["all"] > rows["window"] + 0.1 and rows["window"] > rows["nothing"]
assert rows["norms"] > 20 and rows["base"] - rows["nothing"] < 0.1
assert all(value >= rows["nothing"] for value in rows.values())

# %% c167
(one_right, one), (two_right, two) = known["sums"]
assert right == len(CAPITALS) and all(known["pairs"])
assert one_right > one / 2 and two_right < two / 2

# %% c172
assert read["behind three others"] < read["each by itself"] - 0.05
assert abs(read["each by itself"] - mean) < 0.06
