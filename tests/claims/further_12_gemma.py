"""What the further notebook 12_gemma claims: see staff/notebooks/claims.py."""

# %% c108
assert sum(sizes.values()) == by_formula and by_formula < 2 * V * D
assert 1.15 < 18 * block / (12 * 7_087_872) < 1.25  # GPT-2's twelve blocks
assert sizes["blk.0.attn_k.weight"] * 4 == sizes["blk.0.attn_q.weight"] and H * K > D
norms_of_a_block = [n for n in tensors if n.startswith("blk.0.") and "norm" in n]
assert len(norms_of_a_block) == 6

# %% c112
n_tokens = {name: [len(pieces) for pieces in cuts[name]] for name in cuts}
plain, digits, german, chinese, program = zip(n_tokens["GPT-2"], n_tokens["Gemma"])
assert plain[0] <= plain[1] and digits[1] > 2 * digits[0]
assert german[1] < german[0] and 2 * chinese[1] < chinese[0]
assert "    " in cuts["Gemma"][4] and program[1] < program[0]
assert chinese[1] == len(sentences[3]) and "▁Straßen" in cuts["Gemma"][2]

# %% c120
assert cache_bytes(32_768, 18, 0, 4, K, 512) == 4 * cache_bytes(32_768, 18, 0, 1, K, 512)
assert cache_bytes(32_768, 3, 15, 1, K, 512) < 0.2 * cache_bytes(32_768, 18, 0, 1, K, 512)

# %% c186
stream, attended, adds_attention, fed, adds_fed = zip(*measured)
assert stream[-1] > 1000 * stream[0]
assert all(4.5 < adds[0] / stream[0] < 5.5 for adds in (adds_attention, adds_fed))
assert adds_attention[5] > stream[5]
assert 14 < stream[-1] / adds_attention[-1] < 16 and 4.5 < stream[-1] / adds_fed[-1] < 5.5
assert max(fed[11:]) < 0.2 and min(b / a for a, b in zip(fed[11:], adds_fed[11:])) > 100

# %% c142
with torch.no_grad():
    assert torch.allclose(with_weights_of(small)(tokens), small(tokens), atol=1e-5)

# %% c151
assert not said["The capital of France is"].startswith(" Paris")
assert said["2 + 2 = 4\n3 + 5 = 8\n7 + 6 ="].startswith(" 13")
assert any(text.startswith(" casa") for text in said.values())
assert said[f"(without <bos>) {TALE}"].count("was a man who") > 2
assert said["Question: What is the capital of France? Answer:"].startswith(" Paris")

# %% c162
assert [piece for piece, _ in likely[:3]] == ["▁the", "▁a", "▁Paris"]

# %% c167
one, _, _ = (n_right / n for n_right, n in known["sums"].values())
assert right == len(CAPITALS) and all(known["pairs"])
assert one > 0.55
for name, (n_right, n) in known["sums"].items():
    assert (n_right > constant(ASKED[name][0])) == (name == "one digit") and n == 16
    assert all(a != b and f"{a} + {b} " not in ASKED[name][1] for a, b in ASKED[name][0])

# %% c192
assert 0.02 < gpt_all - gpt_alone < 0.06

# %% c172
alone, behind, behind_one, renamed_too, of_words, fables, licence = read.values()
assert gpt_alone + 0.03 < behind < alone - 0.05
assert renamed_too < alone - 0.05 and of_words > alone + 0.05 and abs(licence - alone) < 0.05
assert len(stories[10]) < len(FABLES) and alone - 0.01 < fables and behind_one < alone - 0.03
assert gpt_alone + 0.1 < gpt_behind[1] < gpt_behind[3] - 0.2

# %% c158
(_, all_near, all_far) = rows["all: local layers see all tokens"]
(bits_all, near, far) = rows["nothing"]
named = {name.split(":")[0]: value for name, (value, *_) in rows.items()}
assert abs(all_near - near) < 0.005 and all_far > far + 1
assert abs(named["all, those further back as if 511 back"] - bits_all) < 0.005
assert named["all, those further back as if 32 back"] - bits_all < 0.15 * (named["all"] - bits_all)
assert named["local layers turn with base 1,000,000"] > named["all"] > named["window"] + 0.1
assert named["all"] > named["window"] + 0.1 and named["window"] > bits_all
assert named["norms"] > 20 and named["base"] - bits_all < 0.1
(_, base_near, base_far) = rows["base: global layers turn with base 10,000"]
assert base_near - near > 0.5 * (base_far - far)
assert all(value >= bits_all - 0.005 for value in named.values())

# %% c197
assert gpt_alone - 0.02 < near_enough < gpt_alone + 0.03
