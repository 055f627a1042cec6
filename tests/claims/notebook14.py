"""What notebook 14 claims: see staff/notebooks/claims.py."""

# %% c011
assert told["C"].count("very good baker") >= 3 and told["F"].count("very good baker") == 1
assert told["E"] == told["C"]

# %% c033
means = {name: np.mean(values) for name, values in spread.items()}
assert means["beam, width 4"] < 0.7 * np.mean(real_bits)
assert means["greedy"] < 0.7 * np.mean(real_bits)
assert means["temperature 0.7"] < means["temperature 1"]
assert abs(means["temperature 1"] - np.mean(real_bits)) < 0.4 * np.mean(real_bits)

# %% c036
assert np.sum(tails == 0) < 20 and np.mean((tails >= 5) & (tails <= 15)) > 0.9

# %% c054
assert ruled["temperature 0.5"].max() > p.max() > ruled["temperature 1.5"].max()
assert int((ruled["top-k, k = 5"] > 0).sum()) == 5
nucleus = ruled["top-p, p = 0.5"] > 0
assert p[nucleus].sum() >= 0.5 > p[nucleus].sum() - p[nucleus].min()
assert 0.005 < p[order[500:]].sum() < 0.02 and ruled["temperature 1.5"][order[7:]].sum() > 0.7

# %% c057
assert min(kept) <= 2 and max(kept) > 100
assert min(k for k, bits in zip(kept, unsure) if bits > 6) > 80
assert 0.002 < tail < 0.008
assert np.corrcoef(unsure, np.log(kept))[0, 1] > 0.7

# %% p002
assert repeated(greedy) > 0.2 and repeated(real) < 0.02

# %% p011
assert repeated(written[1.0]) < 0.02 < 0.2 < repeated(written[0.0])
of_bits = {f: np.mean([mean_bits(text) for text in texts]) for f, texts in written.items()}
assert of_bits[0.0] + 0.2 < of_bits[1.0] < of_bits[2.0] < np.mean(real_bits)
assert right_names[0] > 85 and right_names[-1] < 65
assert all(b < a for a, b in itertools.pairwise(right_names.tolist()))
assert repeated(written[0.2]) < 0.5 * repeated(written[0.0])
assert tokenizer.encode("Dot").tolist() != tokenizer.encode(" Dot").tolist()

# %% g012
assert correct["our GPT"][1] == 36 and correct["our GPT"][4] <= 6
assert len(set(filled["our GPT"].values())) < 6
assert correct["Gemma"][1:] == (3, 3, 0, 0) and correct["Gemma, one example"] == (3,) * 5
assert correct["the same without a mask"][4] < 3
assert any("Hob" in text for text in filled["the same without a mask"].values())

# %% c085
assert (one_by_one - at_once).abs().max() < 1e-3 * max(1.0, float(at_once.abs().max()))
assert caches[0][0].shape == (1, config.n_heads, 150, config.d_model // config.n_heads)

# %% c091
assert all(
    sum(t * (t + 1) // 2 for t in range(1, n + 1)) == n * (n + 1) * (n + 2) // 6 for n in lengths
)

# %% b005
assert curves["1,000 tokens each, G = 8"][0][-1] >= 4 * curves["1,000 tokens each, G = 32"][0][-1]
assert cache_bytes(1, 8) == 131_072 and cache_bytes(1, 32) == 4 * cache_bytes(1, 8)
assert all(180 < rate[0] < 220 for name, (_, rate) in curves.items() if name.startswith("1,000"))
one_text = cache_bytes(1_000, 8) / SPEED, 2 * WEIGHTS / 2 / 990e12  # seconds to read, to compute
assert [round(1e6 * seconds) for seconds in one_text] == [39, 16]
assert 400 < one_text[1] / one_text[0] * 1_000 < 420
assert cache_bytes(16_000, 32) > 0.5 * WEIGHTS
