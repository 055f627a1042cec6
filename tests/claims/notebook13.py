"""What notebook 13 claims: see staff/notebooks/claims.py."""

# %% c013
assert abs(never - 100 / math.e) < 2
assert len(corpus.train_documents) == 4536 and V == 2048 and 9e5 < len(ids["train"]) < 1.3e6
assert torch.equal(inputs[:, 1:], targets[:, :-1])
known = {f" {word}".encode() for word in re.findall(r"[A-Za-z]+", corpus.train)}
assert 0.4 < sum(tokenizer.token_bytes(t) in known for t in range(V)) / V < 0.6
assert 3.4 < bytes_per_token < 3.6

# %% c028 trained
assert abs(losses[0] - math.log(V)) < 0.1
assert 5.8 < unigram < 6.0 and sum(losses[8:12]) / 4 > unigram > sum(losses[16:20]) / 4
right, old, neither, slow, plain, lost = (
    (ends[name], statistics.median(lengths[name]), max(lengths[name])) for name in runs
)
assert right[2] < 1 and 0.1 < old[0] - right[0] < 0.6 and 1.6 < old[1] / right[1] < 2.8
assert sum(losses[-20:]) / 20 < 5.2
right, old, neither, slow, plain, lost = (
    (ends[name], statistics.median(lengths[name]), max(lengths[name])) for name in runs
)
assert neither[0] > math.log(V) + 1 and neither[1] > 24
assert plain[2] > 1 and not lost[0] < plain[0] + 1 and lost[1] == 0 and lost[2] > 1e6
assert right[0] + 0.15 < min(slow[0], plain[0]) and max(slow[0], plain[0]) < 5.4

# %% c040 trained
assert branches["falling"][0][0] == branches["constant"][0][0]
assert all(run[-1] < run[0] for runs in branches.values() for run in runs)
assert all(s > c[-1] for s, c in zip(short_steps, branches["constant"]))
for seed in (0, 1):
    assert last[0.01, 0][seed] < last[0.01, 15][seed] < last[0.1, 15][seed] < last[0.1, 0][seed]
    assert max(warmups[0.1, 0][seed]) > math.log(V) + 1 > max(warmups[0.1, 15][seed])
torch.manual_seed(0)
one = modern_form(V, L=1, D=64, H=2)  # `train` is what `Training` does, too
two = copy.deepcopy(one)
first, second = (torch.optim.AdamW(m.parameters(), lr=0.01) for m in (one, two))
mine = train(one, first, windows, 10, 3, 0.01)
theirs = Training(two, windows, 10, warmup=3, optimizers=[second])
assert all(abs(a - b.loss) < 1e-3 for a, b in zip(mine, theirs, strict=True))
assert min(gain) > 0 and 0.4 < gap[3] / gap[6] < 0.85 and gap[4] > 0.8 * gap[6]

# %% c051 trained
assert abs(moves[0] - 0.01) < 1e-6 and abs(moves[1] - 0.01) < 1e-4
assert len(flatness) == 6
for row in flatness.values():
    assert row["the gradient"] < row["AdamW's first step"] < row["Muon's first step"]
    assert row["the gradient"] < 0.2 and row["Muon's first step"] > 0.6
values = torch.linalg.svdvals(gradients[shown])
assert values[0] > 1000 * values[-1]
assert values.median() < values[0] / 30
sigma = torch.logspace(math.log10(0.002), 0, 999)
for _ in range(5):
    sigma = a * sigma + b * sigma**3 + c * sigma**5
assert sigma.min() > 0.68 and sigma.max() < 1.21
w, at = torch.zeros(1, requires_grad=True), [0.0]
optimizer = torch.optim.AdamW([w], lr=1.0, weight_decay=0.0)
for gradient in (1.0, -1.0, 1.0):
    w.grad = torch.tensor([gradient])
    optimizer.step()
    at.append(-w.item())
assert [round(y - x, 2) for x, y in itertools.pairwise(at)] == [1.0, -0.05, 0.34]
level = torch.linalg.svdvals(orthogonalise(gradients[shown]))
assert level[-5] > 0.3 * level[0] and level[-1] < 0.1 * level[0]
assert sum(row["the gradient"] > 0.09 for row in flatness.values()) >= 3

# %% c071 trained
assert run.step == preset["steps"] == len(records) and len(moments) == 4
first, *_, final = spelled.values()
assert first < 0.9 < final
if preset["steps"] == presets.PRESETS["laptop"]["steps"]:
    assert best < 1.256  # 0.08 bits below Kneser-Ney with these tokens
    early, there, late = drops.values()
    assert there > max(early, late) + 0.01
assert needed["longer tales"] > needed["stories"] + 0.15

# %% c087
assert at > 40 and all(pair.right == pair.wrong for pair in pairs["ending"])
assert agree == len(mine) == 25 or device.type != "cpu"
by_study = [run["test"] for run in study["laptop"]]
assert min(row["pronoun"] for row in by_study) > 0.95
assert all(
    abs(row["pronoun"] - decided_by["counted pronouns"]["pronoun"]) < 0.07 for row in by_study
)
assert all(abs(row["name"] - decided_by["2-gram"]["name"]) < 0.08 for row in by_study)
assert all(abs(row["ending"] - decided_by["shared words"]["ending"]) < 0.1 for row in by_study)
assert decided_by["always he or his"]["pronoun"] == 0.75 > decided_by["2-gram"]["pronoun"] + 0.02
assert decided_by["4-gram"]["pronoun"] < 0.73 and decided_by["2-gram"]["of women"] < 0.2
assert decided_by["2-gram"]["name"] > 0.55 and decided_by["shared words"]["ending"] > 0.7
alone = of_men(asked).double().mean().item()  # on the validation stories
assert len(asked) == 65 and alone > max(row["pronoun"] for row in (*counted, *recurrent)) + 0.02
for r in itertools.chain.from_iterable(RUNS.values()):
    assert min(p["pronoun"] for p in r["curve"] if p["tokens"] > 8e5) > 0.92 > alone + 0.05
    assert all(isinstance(p["ending"], float) for p in r["curve"] if "ending" in p)
    bits_fall = [p["bits_per_byte"] for p in r["curve"]]
    assert all(a > b for a, b in itertools.pairwise(bits_fall))
if "long" in study:
    curve = study["long"][0]["curve"]
    assert max(p["name"] for p in curve if p["tokens"] < 5.2e6) < 0.7 < 0.88 < curve[-1]["name"]
    assert min(falls) > 0.005 and max(falls) < 0.015

# %% c096 trained
assert all(r["curve"][-1]["bits_per_byte"] < ngram_best - 0.08 for r in study["laptop"])
by_n = {row["n"]: row["bits_per_byte"] for row in study["baselines"]["Kneser-Ney"]}
assert by_n[2] > by_n[3] > by_n[4] and abs(by_n[4] - by_n[6]) < 0.02
gpts = [r["curve"][-1]["bits_per_byte"] for r in study["laptop"]]
their_lstms = [r["bits_per_byte"] for r in study["baselines"]["LSTM"]]
assert max(gpts) < min(their_lstms) <= max(their_lstms) < ngram_best
rates_tried = sorted(lstm_rates)
assert min(lstm_rates, key=lstm_rates.get) not in (rates_tried[0], rates_tried[-1])
for seed in (0, 1):
    at_size = {size: {name: excess[name, size][seed] for name in middle} for size in sizes}
    assert at_size[3_000]["GPT"] < 0.2 < 1.5 < at_size[3_000]["5-gram"]
    assert at_size[100_000]["GPT"] < 0.02 < at_size[100_000]["5-gram"] < 0.1
    assert at_size[100_000]["5-gram"] < at_size[100_000]["6-gram"]
    assert all(at_size[size]["6-gram"] < at_size[size]["5-gram"] for size in sizes[:2])
    assert min(at_size[size]["4-gram"] for size in sizes) > 2

# %% c107 trained
end_of = {name: sum(losses[-15:]) / 15 for name, (losses, _, _) in six.items()}
last_check = {name: checks[-1][1] for name, (_, _, checks) in six.items()}
middle_of = {name: statistics.median(run[1]) for name, run in six.items()}
assert 1.6 < middle_of["old"] / middle_of["healthy"] < 2.8
assert answer == {
    "low": "E",
    "leak": "C",
    "healthy": "F",
    "high": "D",
    "by heart": "A",
    "old": "B",
}
assert min(loss for _, loss in six["by heart"][2]) < math.log(V) - 0.3
assert abs(end_of["low"] - math.log(V)) < 0.1 and end_of["high"] > end_of["healthy"] + 0.5
assert max(six["high"][0]) > math.log(V) + 1
assert abs(last_check["healthy"] - end_of["healthy"]) < 0.6
below, above = max(six["healthy"][1][20:]), min(six["old"][1][20:])
assert below < 1 < above
assert end_of["leak"] < 1 and last_check["leak"] < 1 and dict(six["leak"][2])[90] < 1
assert end_of["by heart"] < 1 and last_check["by heart"] > math.log(V) + 0.5
assert 0.05 < end_of["old"] - end_of["healthy"] < 0.5

# %% c122 trained
assert verdict == "equal" or device.type != "cpu"
assert (whole - quarters).norm() / whole.norm() < 1e-5
assert gone[524_288, "float16"][1] > 0.4
assert all(mass < 0.001 for (_, name), (_, mass) in gone.items() if name != "float16")
assert torch.tensor(2.9e-8).half() == 0 < torch.tensor(3.1e-8).half()
assert resumed_at == 20 and len(rest) == len(bare_rest) == 20 and bare_apart > 0.02
for BT in (2_560, 10_240, 20_480):
    assert gone[BT, "float16"][0] > 0.55 and gone[BT, "float16"][1] < 1 / 6

# %% c128
by_bits = [middle[w] for w in sorted(middle)]
assert len(by_bits) >= 4 and by_bits[0] - by_bits[-1] > 0.05
assert all(len(some) == 3 and max(some) - min(some) < 0.008 for some in final.values())
told = {w: [r["curve"][-1]["pronoun"] for r in some] for w, some in by_width.items()}
assert all(0.76 < p < 0.84 if w < 96 else p > 0.96 for w, some in told.items() for p in some)
assert all(a > b for a, b in itertools.pairwise(by_bits))
assert all(a["bits_per_byte"] > b["bits_per_byte"] for a, b in itertools.pairwise(ends))
mean = {name: sum(p["name"] for p in some) / len(some) for name, some in changes.items()}
assert len(mean) == 5 and all(len(some) == 3 for some in changes.values())
best_names = {name: max(p["name"] for p in some) for name, some in changes.items()}
assert max(best_names, key=best_names.get) == "none" and best_names["none"] < 0.65
others = sorted(p["name"] for p in changes["people renamed in half of the stories"])
unchanged = [p["name"] for p in changes["none"]]
assert others[1] < min(unchanged) - 0.04 and others[2] > statistics.median(unchanged)
costs = {n: sum(p["bits_per_byte"] for p in some) / len(some) for n, some in changes.items()}
rise = {name: costs[name] - costs["none"] for name in costs}
assert 0.06 < rise["a tenth of the steps on repeated tokens"] < 0.08
assert 0.008 < rise["tied output"] < 0.015
assert 0.003 < rise["the previous token embedded too"] < 0.008
assert abs(rise["people renamed in half of the stories"]) < 0.003

# %% c132
far = ("AdamW for all, not Muon", "constant rate", "learned positions, not rotary", "float32")
assert min(min(gaps[name]) for name in far) > 0.09
assert 0 < min(gaps["blocks do not begin at zero"]) < 0.005 and len(parts["seeds"]) == 5
nothing = {"no warm-up", "no QK-norm", "windows drawn at random", "with biases", "tied output"}
assert nothing == set(gaps) - always and len(gaps) == 13
assert parts["ms_per_step"]["float32"] > 2 * parts["ms_per_step"]["all"]
losing = ("LayerNorm, not RMSNorm", "GELU, not squared ReLU", "SwiGLU, not squared ReLU")
assert max(max(gaps[name]) for name in losing) < 0
assert 1.1 * steps["all"] < min(steps["LayerNorm, not RMSNorm"], steps["no QK-norm"])
assert all(0.95 < steps[name] / steps["all"] < 1.05 for name in losing[1:])
assert tables > 99 * rest_of_it
won = -statistics.mean(added["+ hashed n-grams, n to 6"])
muon, decay = (statistics.mean(gaps[name]) for name in (large[0], large[2]))
freely = -statistics.mean(added["+ the same without n-gram dropout"])
three = -statistics.mean(added["+ the last 3 tokens embedded"])
assert 0.6 < won / muon < 0.72 < freely / muon < 0.82 and 0.9 < freely / decay < 1.15
assert 0.6 * freely < three < won - 0.02 and 16_000 < vectors < 17_500
assert parts["ms_per_step"]["+ the last 3 tokens embedded"] < 1.05 * parts["ms_per_step"]["all"]
assert all(
    1.2 < parts["ms_per_step"][n] / parts["ms_per_step"]["all"] < 1.3 for n in list(added)[1:]
)
for text in ("lantern_bay", "tiny_shakespeare"):
    counted_best = min(r["loss"] for name, r in bench[text].items() if "Kneser" in name)
    tabled, plain, lstm = (
        bench[text][name]["loss"] for name in ("GPT with n-grams", "GPT", "LSTM")
    )
    assert tabled < counted_best - 0.03 < counted_best - 0.02 < min(plain, lstm)
