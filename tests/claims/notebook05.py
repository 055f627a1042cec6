"""What notebook 05 claims: see staff/notebooks/claims.py."""

# %% c025e trained
mean = {name: float(np.mean(values)) for name, values in above.items()}
assert abs(by_hand - pairs.entropy_rate_bounds(8)[0]) < 1e-6 and abs(floor - by_hand) < 0.01
assert mean["auto-regressive, 16"] > mean["table, n = 3"] + 0.02
assert mean["table, n = 1"] > mean["table, n = 2"] > mean["table, n = 3"] > mean["table, n = 5"]
assert abs(mean["table, n = 5"] - mean["table, n = 8"]) < 0.01
best = {name: window_excess(pairs, k) for name, k in WINDOWS.items()}
assert all(x - best["convolution over 16"] > 0.01 for x in above["convolution over 16"])
assert all(abs(mean[f"table, n = {k}"] - best[f"table, n = {k}"]) < 0.01 for k in (1, 2, 3, 5))
assert mean["table, n = 8"] > best["table, n = 8"] + 0.02
assert 0.0015 < best["convolution over 16"] < 0.002
lost = [window_excess(rare, k) / window_excess(rare, 0) for k in (16, 30)]
assert 0.63 < lost[0] < 0.7 and 0.43 < lost[1] < 0.5
assert 8 < window_excess(pairs, 0) / window_excess(rare, 0) < 10
upper = pairs.entropy_rate_bounds(5)[1] / math.log(2) - by_hand / math.log(2)
assert abs(window_excess(pairs, 4) - upper) < 1e-6
pieces = by_hand / math.log(2) + np.mean([window_excess(pairs, k) for k in range(50)])
assert abs(pieces - 1.087) < 0.002
assert window_excess(rare, 2) < 0.0245 and 0.020 < min(rare_above) < max(rare_above) < 0.029
assert (
    all(x < 0.015 for x in above["recurrent, 16 units"]) and mean["hidden Markov, 4 states"] < 0.01
)
assert sum(x < max(likelihoods) - 0.02 for x in likelihoods) >= 6

# %% c037
assert torch.allclose(h, rnn(x)[0][:, -1], atol=1e-6)
cell = ElmanCell(3, 5)
ours = elman_step(h, x[:, 0], cell.h2h.weight, cell.x2h.weight, cell.x2h.bias)
assert torch.allclose(ours, cell(x[:, 0], h)[0], atol=1e-6)

# %% c047
assert all(torch.allclose(a, b, rtol=0, atol=1e-14) for a, b in zip(by_us, by_autograd))
g, states = torch.randn(9, 4).double(), [torch.zeros(4).double()]
big_hh, big_xh = (torch.randn(4, k).double().requires_grad_() for k in (4, 3))
read = torch.randn(9, 3).double()
for t in range(9):
    states.append(torch.tanh(big_hh @ states[t] + big_xh @ read[t]))
theirs = torch.autograd.grad((g * torch.stack(states[1:])).sum(), (big_hh, big_xh))
ours = bptt(g, torch.stack(states).detach(), read, big_hh.detach())
assert all(torch.allclose(a, b) for a, b in zip(ours, theirs))

# %% c068c
rates = {name: (r[:, 50] / r[:, 10]) ** (1 / 40) for name, r in relative.items()}
assert left["tanh"] < 1e-3 and left["ReLU"] < 1e-3 and left["LSTM"] < 1e-3
assert rates["tanh"].max() < 0.7 and rates["tanh"].mean() < rates["LSTM"].mean() < 0.75
assert rates["LSTM"].min() > 0.5 and left["LSTM, forget bias 3"] > 0.1
assert rates["LSTM, forget bias 3"].min() > 0.95 and rates["LSTM, forget bias 3"].max() < 1.06
assert 1.0 < rates["tanh, $W_{hh}$ times 3"].mean() < 1.2
direct = relative["LSTM, forget bias 3, direct path"]
assert 0.94 < rates["LSTM, forget bias 3, direct path"].mean() < 0.97
assert rates["LSTM, direct path"].mean() < rates["LSTM"].mean()
assert np.median(relative["LSTM, forget bias 3"][:, 60]) > 10 * np.median(direct[:, 60])
assert 0.035 < np.median(direct[:, 60]) < 0.055 and 0.54 < radius.mean() < 0.68
assert abs(rates["tanh"].mean() - radius.mean()) < 0.08 and singular.mean() > 1
assert abs(rates["ReLU"].mean() - radius.mean() * 0.5**0.5) < 0.06
assert left_of["ReLU", 2.2][0] < 0.3 and left_of["ReLU", 2.4][0] > 10
assert all(0.3 < left_of[kind, 2.3][0] < 10 for kind in ("tanh", "ReLU"))
assert max(left_of["ReLU", 2.4]) > 5 and min(left_of["ReLU", 2.4]) < 0.2
assert 0.97 < rates["ReLU, $W_{hh}$ = identity"].mean() < 1.03
assert abs(rates["tanh"].mean() - 3**-0.5) < 0.05 and abs(rates["ReLU"].mean() - 6**-0.5) < 0.03
assert abs(products(2.0, [0.0, 0.5, 0.1])[2] - 2.97) < 1e-9
series = one_unit(0.9)
start = torch.tensor(0.0, dtype=torch.double, requires_grad=True)
value, inputs = start, 0.3 * torch.randn(60, generator=torch.Generator().manual_seed(0))
for x_t in inputs.tolist():
    value = torch.tanh(0.9 * value + x_t)
value.backward()
assert abs(products(0.9, series)[-1] - start.grad.item()) < 1e-12
ends = {
    w: np.median([abs(products(w, one_unit(w, seed=s))[60]) for s in range(20)])
    for w in (0.5, 0.9, 1.0, 1.1, 1.5, 2.0)
}
assert all(v < 0.05 for v in ends.values()) and ends[0.5] < ends[0.9] and ends[2.0] < ends[1.5]

# %% c081e
assert all(ends["no clipping", s] > 1.25 for s in range(3))
assert all(ends["clipped to 1", s] < 0.95 for s in range(3))
assert all(max(runs["clipped to 1", s][0]) > 10 for s in range(3))
assert all(max(runs["no clipping", s][0]) > 10 for s in range(3))
slow = "no clipping, a tenth of the rate"
assert all(ends[slow, s] > ends["clipped to 1", s] + 0.1 for s in range(3))
assert np.mean([ends[slow, s] for s in range(3)]) < 1.33
assert all(runs["clipped to 1", s][2] > 1.15 for s in range(3))
assert sum(max(runs[slow, s][1][100:]) > 2 for s in range(3)) >= 2
assert max(by_hand_runs[5, 0.58] + by_hand_runs[5, 1.0] + by_hand_runs[20, 1.0]) < 0.3
assert min(by_hand_runs[20, 0.58]) > 1.2
drawn = [torch.randn(3, 4), torch.randn(5)]
holders = [nn.Parameter(torch.zeros_like(g)) for g in drawn]
for p, g in zip(holders, drawn):
    p.grad = g.clone()
nn.utils.clip_grad_norm_(holders, 0.7)
assert all(torch.allclose(p.grad, g, atol=1e-5) for p, g in zip(holders, clip(drawn, 0.7)))

# %% c094
held20 = [transfer["LSTM, forget bias 3", s] for s in range(3)]
assert min(map(min, held20)) > 90
moving = [v for (kind, _), v in transfer.items() if kind == "Elman" and v[0] > 90]
assert moving and all(v[1] < 60 for v in moving) and min(v[1] for v in moving) < 10
assert all(accuracies(kind, 5).min() > 90 for kind in KINDS)
assert accuracies("LSTM, forget bias 3", 50).min() > 90 and max(solved["LSTM"]) == 10
assert accuracies("LSTM, forget bias 3", 100).min() > 90 and max(solved["Elman"]) == 50
assert 50 < accuracies("LSTM", 20).mean() < 60 and accuracies("Elman", 100).max() < 80
assert (by_rate("LSTM", 20)[0.001] == accuracies("LSTM", 20)).all()
late = [study[f"longer LSTM 20 0.001 {s}"] for s in range(2)]
assert all(row["accuracy"] > 0.9 and row["steps"] > 2000 for row in late)
good = {r: (a > 90).sum() for r, a in by_rate("Elman", 50).items()}
gated = {r: (a > 90).sum() for r, a in by_rate("LSTM, forget bias 3", 50).items()}
assert (good[0.01], gated[0.01], good[0.003], gated[0.003]) == (3, 0, 1, 3)
far = {r: (a > 90).sum() for r, a in by_rate("LSTM, forget bias 3", 100).items()}
assert far == {0.001: 3, 0.003: 2, 0.01: 0, 0.03: 0}
ones = {r: [study[f"recall LSTM, forget bias 1 20 {r} {s}"]["accuracy"] for s in range(3)]
        for r in (0.001, 0.003, 0.01, 0.03)}  # fmt: skip
assert sum(x > 0.9 for x in ones[0.001] + ones[0.003]) == 5
assert sum(x > 0.9 for x in ones[0.01] + ones[0.03]) == 1
others = [study[f"readout Elman 20 0.01 {s}"]["accuracy"] > 0.9 for s in range(10)]
assert sum(others) == 8 and by_rate("Elman", 20)[0.01].min() > 90 and 0.95**100 < 0.01
assert all(row["accuracy"] < 0.35 for key, row in study.items() if key.startswith("sgd"))
assert all(row["accuracy"] < 0.6 for key, row in study.items() if key.startswith("unit"))
signs = [row["accuracy"] for key, row in study.items() if key.startswith("sign ")]
assert sum(x > 0.9 for x in signs) == 5 and len(signs) == 6
part = {
    c: [study[f"cut Elman 20 {c} 0.01 {s}"]["accuracy"] for s in range(3)] for c in (5, 10, 15, 21)
}
assert min(part[21]) > 0.9 and max(part[5] + part[10] + part[15]) < 0.7
held = [
    study[f"cut LSTM, forget bias 3 20 {c} 0.01 {s}"]["accuracy"]
    for c in (5, 10, 15)
    for s in range(3)
]
assert min(held[:3]) > 0.9 and sum(x < 0.9 for x in held) == 2 and 0.95**20 > 1 / 3

# %% c118 trained
assert all(ord(c) < 128 for c in corpus.text)
own, base = found["letters of the word so far", "trained"], "letters of the word so far"
assert max(found["a quotation is open", k] for k in ("trained", "untrained")) < 0.2
linear = {k: v for k, v in found.items() if k[1].startswith("linear")}
assert linear[base, "linear: trained"] > 0.85 and linear[base, "linear: untrained"] > 0.75
assert linear[base, "linear: last 4 characters"] > 0.85
quotes = [linear["a quotation is open", f"linear: {k}"] for k in ("trained", "untrained")]
assert max(quotes) < linear["a quotation is open", "linear: last 4 characters"] < 0.5
assert gain[8].mean() < 0.2 * gain[1].mean() and abs(gain[20].mean()) < 0.03
assert 1.5 < STEPS * 32 * 64 / len(ids["train"]) < 2.2
faster = [study[f"text 64 {k} 0 0.005"]["bits"] for k in ("zeros", "carried")]
assert max(faster) < min(study[f"text 64 {k} 0"]["bits"] for k in ("zeros", "carried")) - 0.1
text_bits = {
    (w, k): [study[f"text {w} {k} {s}"]["bits"] for s in range(2)]
    for w in (4, 16, 64)
    for k in ("zeros", "carried")
}
assert min(text_bits[4, "zeros"]) > max(text_bits[4, "carried"]) + 0.1
assert abs(np.mean(text_bits[4, "carried"]) - np.mean(text_bits[64, "carried"])) < 0.05
assert abs(np.mean(text_bits[16, "zeros"]) - np.mean(text_bits[64, "zeros"])) < 0.06
assert samples[50][0] > samples[200][0] > samples[700][0]
assert test_bits[3] > rnn_bits > test_bits[5] and samples[700][0] < 2.4
assert own > found[base, "untrained"] + 0.1 and own > found[base, "current letter"] + 0.1
assert gain[1].mean() > gain[3].mean() > gain[5].mean() > 0

# %% c140
teacher = scheduled("true")
assert more and all(
    (scheduled(k)[:, 0] > 1.5 * teacher[:, 0].max()).all() for k in LABELS if k != "true"
)
order = [scheduled(k).mean(0) for k in ("true", "tenth", "half", "linear")]
assert all((b[[0, 1, 4]] > a[[0, 1, 4]]).all() for a, b in zip(order, order[1:]))
assert (np.abs(teacher[:, 1] / teacher[:, 0] - 1) < 0.2).all() and 0.5 < teacher[:, 4].mean() < 4
assert (teacher[:, 3] > 5 * teacher[:, 2]).all() and teacher[:, 2].mean() < 2 * teacher[:, 0].mean()
assert 7 < teacher[:, 3].mean() / teacher[:, 2].mean() < 15
assert all(0.19 < scheduled(k)[:, 0].mean() < 0.22 for k in ("linear", "sigmoid"))
assert math.isfinite(loss.item()) and loss.item() < math.log(3)
