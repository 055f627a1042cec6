"""What notebook 18 claims: see staff/notebooks/claims.py."""

# %% c018a
assert crossing == 2 * WIDTH + 1  # from T = 2 d on
assert layer_flops("elman", 3, 2) == 48 and layer_flops("attention", 3, 2) == 168
assert all(layer_flops("attention", T, 9) > layer_flops("elman", T, 9) for T in (1, 9, 99))

# %% c032
assert training_flops(1, 2, 3, 1) == 324
assert 1.02 < counter.get_total_flops() / by_hand < 1.15
assert 300 < share[63e12] < 360 and 30 < share[6.3e12] < 40
assert abs(1.5e6 * 8192 * 512 / 6.3e12 - 1) < 0.01
assert 0.95 < small < 1 and 279e6 - 250_002 * 768 < 87.1e6
assert 256e6 < 250_002 * 1024 < 257e6 and 561 - 304 == 257
assert 0.48 < 4.33e19 / (8 * 10_949 * 989e12) < 0.52

# %% c036
compute = {name: 6 * n * tokens_read for name, _, n, tokens_read in MODELS + SPARSE}
assert 0.8 < compute["Gopher"] / compute["Chinchilla"] < 1.25
assert compute["Llama 3 405B"] > 1e5 * compute["BERT-large"]
assert max(6 * n * tokens_read for _, _, n, tokens_read in SPARSE) < compute["Llama 3 405B"] / 4
assert 1.2e14 < course < 1.4e14
assert 1.8 < compute["BERT-large"] / 4.3e19 < 2.2

# %% c043d trained
assert 1.2 < mine < 1.55

# %% c045
assert len(runs) == 54 and len(budgets) == 3
assert np.allclose(np.diff(np.log(budgets)), np.log(4))
for budget in budgets:
    sizes, means = valley[budget]
    assert len(sizes) == 6 and sizes[0] < best[budget] < sizes[-1]
    assert 0 < means.argmin() < 5 and min(means[0], means[-1]) > means.min() + 0.05
assert best[budgets[1]] / best[budgets[0]] > 1.5 and best[budgets[2]] / best[budgets[1]] > 1.5
text = [budget / best[budget] for budget in budgets]
assert text[0] < text[1] < text[2] and growth > 1.5 * text[2] / text[0]
assert all(0.55 < exponent(seed) < 0.7 for seed in range(3)) and exponent(0, 1, 2) > 0.6

# %% c054
assert law.floor < floor - 0.8 and smaller.floor > law.floor + 0.4 and smaller.floor < floor - 0.4
assert errors.mean() < 0.08 and 0.2 < errors.max() < 0.3 and np.mean(errors > 0.15) < 0.1

# %% c164
one, eight = (memory_of(trained, torch.randint(0, 2048, (n, 257))) for n in (1, 8))
assert one["weights"] == one["gradients"] == one["moments"] / 2
assert 7.5 < eight["activations"] / one["activations"] < 8.5
assert eight["activations"] > 2 * sum(list(eight.values())[:3])

# %% c166
assert round(8 * 10_949 / 3600) == 24 and 26 < hours < 27 and 78 < dollars < 81 and 18 < kwh < 19
assert 0.3 < share_of_llama < 0.4

# %% c168
from contextlib import redirect_stdout
from io import StringIO

with redirect_stdout(StringIO()) as said:
    plan(49, 1792, "40 billion", 8)
    plan(23, 2560, "40 billion", 8)
for words in ("1.98 billion", "\n1,000 dollars", "1.7 days on 8 H100s", "1.94 billion"):
    assert words in said.getvalue()

# %% c083
assert torch.equal(codes, QuantizedLinear(linear).codes)
assert (float32_first(x) - linear(x)).abs().max() < 0.05
assert abs(rise["8 bits, rows"]) < 0.002 and abs(rise["bfloat16"]) < 0.002
fewer = [rise[f"{bits} bits, groups of 32"] for bits in (4, 3, 2)]
assert 0.01 < rise["4 bits, rows"] < 0.06 and fewer[0] < 0.75 * rise["4 bits, rows"]
assert fewer[1] > 3 * fewer[0] and fewer[2] > 0.6 and fewer[2] + plain > 2 * plain
assert 0.5 < table["8 bits, rows"][0] / table["bfloat16"][0] < 0.65
timed = json.loads((find_root() / "benchmarks/results/cost.json").read_text(encoding="utf-8"))
for shape in timed["parameters"]:
    names = [f"{shape}, packed, {weights}" for weights in ("bfloat16", "int8")]
    slow, fast = (timed["writing"][name]["tokens a second"] for name in names)
    assert fast > 2 * slow
