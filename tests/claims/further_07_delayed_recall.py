"""What the further notebook 07, delayed recall, claims: see staff/notebooks/claims.py."""

# %% c057
assert abs(products(1.5, [0.0, 0.2, 0.6])[2] - 1.3824) < 1e-9
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

# %% c067
assert gradient_norms("relu", 2.2)[60] < 0.3 and gradient_norms("relu", 2.4)[60] > 10
assert all(0.3 < gradient_norms(kind, 2.3)[60] < 10 for kind in ("tanh", "relu"))
shares = [gradient_norms("relu", 1.0, seed=seed)[20] ** 0.05 for seed in range(5)]
assert abs(np.mean(shares) - 6**-0.5) < 0.02 and max(shares) - min(shares) < 0.1

# %% c086d trained
held20 = [transfer["LSTM, forget bias 3", s] for s in range(3)]
assert min(min(found.values()) for found in held20) > 90
moving = [v for (kind, _), v in transfer.items() if kind == "Elman" and v[20] > 90]
assert moving and all(v[22] < 60 for v in moving) and min(v[22] for v in moving) < 10
# It comes by again: right at some delay from 23 to 40, beyond one at which it is not.
assert sum(max(v[d] for d in range(23, 41)) > 60 for v in moving) >= len(moving) - 1

# %% c506 trained
assert min(gru_right) > 90 and fresh < 0.01 and max(moved) < 0.05
assert all(float(shares.median()) > 80 for shares in kept_after)

# %% c508
assert all(len(errors) == 3 for found in recalled.values() for errors in found.values())
assert all(max(errors) == 0 for b in (0, 3) for errors in recalled[f"GRU, bias {b}"].values())
assert min(recalled["LSTM, bias 0"][30] + recalled["LSTM, bias 1"][30]) > 70
assert max(recalled["LSTM, bias 3"][30] + recalled["LSTM, bias 5"][30]) == 0
assert [
    errors.count(0) for errors in (recalled["LSTM, bias 3"][100], recalled["LSTM, bias 5"][100])
] == [1, 2]
assert min(min(found[200]) for name, found in recalled.items() if "LSTM" in name) > 20
assert np.median(recalled["LSTM, bias 5"][200]) > np.median(recalled["LSTM, bias 3"][200])
slow = [
    row for row in gates if (row["network"], row.get("bias"), row.get("delay")) == ("GRU", 0, 30)
]
assert all(row["rate"] >= 0.03 for row in slow if row["seed"] < 1000 and row["task"] == "recall")
assert all(row["curve"][-1] > 0.8 for row in slow if row["seed"] == 1000 and row["rate"] < 0.02)

# %% c094
assert all(accuracies(kind, 5).min() > 90 for kind in KINDS)
assert accuracies("LSTM, forget bias 3", 50).min() > 90 and max(solved["LSTM"]) == 10
assert accuracies("LSTM, forget bias 3", 100).min() > 90 and max(solved["Elman"]) == 50
assert 50 < accuracies("LSTM", 20).mean() < 60 and accuracies("Elman", 100).max() < 80
assert (by_rate("LSTM", 20)[0.001] == accuracies("LSTM", 20)).all()
left = [gradient_norms("tanh", 1.0, seed=seed)[20] for seed in range(4)]
assert 1e-6 < min(left) < max(left) < 5e-5 and max(v**0.05 for v in left) < 0.65
found = by_rate("LSTM, forget bias 3", 100)
assert max(found, key=lambda rate: found[rate].mean()) == min(found) == 0.001
late = [study[f"longer LSTM 20 0.001 {s}"] for s in range(2)]
assert all(row["accuracy"] > 0.9 and row["steps"] > 2000 for row in late)
good = {r: (a > 90).sum() for r, a in by_rate("Elman", 50).items()}
gated = {r: (a > 90).sum() for r, a in by_rate("LSTM, forget bias 3", 50).items()}
assert (good[0.01], gated[0.01], good[0.003], gated[0.003]) == (3, 0, 1, 3)
assert (
    by_rate("Elman", 20)[0.01].min() > 90
    and 0.0075 < 0.953**100 < 0.01
    and abs(1 / (1 + math.exp(-3)) - 0.953) < 0.001
)
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
