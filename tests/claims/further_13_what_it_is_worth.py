"""What the further notebook 13, what it is worth, claims: see staff/notebooks/claims.py."""

# %% c096 trained
for seed in (0, 1):
    at_size = {size: {name: excess[name, size][seed] for name in middle} for size in sizes}
    assert at_size[3_000]["GPT"] < 0.2 < 1.5 < at_size[3_000]["5-gram"]
    assert at_size[100_000]["GPT"] < 0.02 < at_size[100_000]["5-gram"] < 0.1
    assert at_size[100_000]["5-gram"] < at_size[100_000]["6-gram"]
    assert all(at_size[size]["6-gram"] < at_size[size]["5-gram"] for size in (3_000, 10_000))
    assert min(at_size[size]["4-gram"] for size in sizes) > 2
assert 25_000 < sum(p.numel() for p in small.parameters()) < 26_000

# %% c302
by_bits = [statistics.median(final[w]) for w in sorted(final)]
assert by_bits[0] - by_bits[-1] > 0.05 and all(a > b for a, b in itertools.pairwise(by_bits))
assert all(len(some) == 3 and max(some) - min(some) < 0.008 for some in final.values())
assert 0.84 < always_he < 0.86
assert all(76 < p < 84 if w < 96 else p > 96 for w, some in told.items() for p in some)
by_vocabulary = [r["test"]["bits_per_byte"] for r in runs_of_v]
assert len(runs_of_v) == 4 and all(a > b for a, b in itertools.pairwise(by_vocabulary))

# %% c317
assert max(p["name"] for p in curve if p["tokens"] < 5.2e6) < 0.7 < 0.88 < curve[-1]["name"]
assert min(falls) > 0.005 and max(falls) < 0.015 and curve[-1]["step"] == 8000

# %% c128
assert len(changes) == 5 and all(len(some) == 3 for some in changes.values())
best_names = {name: max(p["name"] for p in some) for name, some in changes.items()}
assert max(best_names, key=best_names.get) == "none" and best_names["none"] < 0.65
others = sorted(p["name"] for p in changes["people renamed in half of the stories"])
assert 0.08 < others[2] - others[0] < 0.1
costs = {n: sum(p["bits_per_byte"] for p in some) / len(some) for n, some in changes.items()}
rise = {name: costs[name] - costs["none"] for name in costs}
assert 0.06 < rise["a tenth of the steps on repeated tokens"] < 0.08
assert 0.008 < rise["tied output"] < 0.015
assert all(0.008 < gap < 0.017 for gap in paired["tied output"]) and len(paired) == 5
assert all(gap == 0 for gap in paired["none"]) and len(paired["tied output"]) == 3

# %% c307
far = ("AdamW for all, not Muon", "constant rate", "learned positions, not rotary", "float32")
assert min(min(found[name]) for name in far) > 0.09
assert 0 < min(found["blocks do not begin at zero"]) < 0.005 and n == 5 and len(found) == 13
nothing = {"no warm-up", "no QK-norm", "windows drawn at random", "with biases", "tied output"}
assert nothing == set(found) - always
losing = ("LayerNorm, not RMSNorm", "GELU, not squared ReLU", "SwiGLU, not squared ReLU")
assert max(max(found[name]) for name in losing) < 0
assert 1.1 * steps["all"] < min(steps["LayerNorm, not RMSNorm"], steps["no QK-norm"])
assert all(0.95 < steps[name] / steps["all"] < 1.05 for name in losing[1:])
