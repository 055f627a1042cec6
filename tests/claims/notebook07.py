"""What notebook 07 claims: see staff/notebooks/claims.py."""

# %% c013 trained
assert math.isclose(0.9 ** half_life(0.9), 0.5) and 6 < half_life(0.9) < 7
assert 0.97**30 < 0.5 < 0.98**30
assert half_life(0.5) == 1
assert elman_wrong[0] < 5 and elman_wrong[30] > 70

# %% c034
torch.manual_seed(1)
assert difference(elman_cell, nn.RNN(4, 6)) < 1e-12
closed = gated_cell(p | {"b_z": torch.full((3,), -30.0)}, x, h)
assert torch.allclose(closed, torch.relu(affine(p, "h", x, h)), atol=1e-6)
assert torch.allclose(gated_cell(p | {"b_z": torch.full((3,), 30.0)}, x, h), h)
from helpers.models.recurrent_cells import GatedCell

theirs = GatedCell(5, 4).double()
blocks = {k: v.chunk(2) for k, v in theirs.state_dict().items()}
ours = {}
for k, gate in enumerate("zh"):
    ours |= {f"W_x{gate}": blocks["x2h.weight"][k], f"W_h{gate}": blocks["h2h.weight"][k]}
    ours[f"b_{gate}"] = blocks["x2h.bias"][k]
xs = torch.randn(2, 5, dtype=torch.double)
hs = torch.randn(2, 4, dtype=torch.double)
assert torch.allclose(gated_cell(ours, xs, hs), theirs(xs, hs)[0])

# %% c047
assert difference(gru_cell, nn.GRU(4, 6)) < 1e-12
assert difference(lecture_gru, nn.GRU(4, 6)) > 0.01
assert gru_differs[gru_cell.__name__] < 1e-12 < 0.01 < gru_differs["lecture_gru"]

# %% c058
assert difference(lstm_cell, nn.LSTM(4, 6), 2) < 1e-12
ours, theirs = copied(nn.LSTM(4, 6)), sum(w.numel() for w in nn.LSTM(4, 6).parameters())
assert sum(w.numel() for w in ours.values()) == 4 * 6 * (4 + 6 + 1) == theirs - 4 * 6
assert abs(math.tanh(0.5 * 2 - 0.6) - 0.38) < 0.005
counted = sum(w.numel() for w in copied(nn.LSTM(32, 128)).values())
assert counted == 82_432

# %% c069
for seed in range(3):
    direct = {b: gradient_back(b, False, seed=seed) for b in (0, 3, 4)}
    whole = {b: gradient_back(b, True, seed=seed) for b in (0, 3, 4)}
    assert max(max(values) for values in direct.values()) <= 1.0001
    assert direct[0][10] < 0.01 and whole[0][10] < 0.02
    assert 0.02 < direct[3][50] < 0.3 and max(whole[3][40:]) > 1
    assert direct[4][50] > 0.2 and min(whole[4][:20]) < 1 < max(whole[4][40:])
assert all(gradients[True][b][20] > gradients[False][b][20] for b in (0, 1, 3))
assert 0.1 < left_after_20[1] < 0.3
assert (
    1.5 < half_life(1 / (1 + math.exp(-1))) < 2.5
    and abs(half_life(1 / (1 + math.exp(-5))) / (0.7 * math.exp(5)) - 1) < 0.05
)

# %% c077 trained
assert min(live_recall["LSTM", 0, 0.001] + live_recall["LSTM", 0, 0.03]) > 70
medians = {name: {d: np.median(e) for d, e in errors.items()} for name, errors in recalled.items()}
assert all(len(e) == 3 for errors in recalled.values() for e in errors.values())
assert all(max(e) == 0 for b in (0, 3) for e in recalled[f"GRU, bias {b}"].values())
assert min(chosen_rates["GRU, bias 0"].values()) >= 0.09
tuned, tuned_200 = {}, {}
for row in rows:
    if row["task"] == "recall" and row["seed"] == 1000 and row["delay"] in (30, 200):
        found = tuned if row["delay"] == 30 else tuned_200
        found[row["network"], row["bias"], row["rate"]] = row["curve"]
assert tuned_200["LSTM", 5, 3e-4][-1] == 0.59 and tuned_200["LSTM", 5, 0.3][-1] == 0
assert all(tuned["GRU", 0, rate][-1] > 0.8 for rate in (3e-4, 1e-3, 3e-3, 1e-2))
assert all(min(tuned["GRU", 3, rate][-1:]) < 0.2 for rate in (1e-3, 3e-3, 1e-2))
assert all(tuned["LSTM", 0, rate][-1] > 0.8 for rate in (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 9e-2))
assert np.ptp(recalled["LSTM, bias 3"][100]) > 50 and np.ptp(recalled["LSTM, bias 5"][100]) > 20
twelve = sorted(np.concatenate(list(recalled["Elman"].values())))
assert twelve[1] == 0 and twelve[2] > 9 and twelve[7] < 84 and twelve[8] > 86
gated = [name for name in medians if name != "Elman"]
assert all(medians[name][10] == 0 for name in gated)
assert min(recalled["LSTM, bias 0"][30]) > 80 and min(recalled["LSTM, bias 1"][30]) > 70
for name in ("LSTM, bias 3", "LSTM, bias 5"):
    assert max(recalled[name][30]) == 0 and medians[name][100] < 20
assert medians["LSTM, bias 3"][200] < 50 and max(recalled["gated, bias 0"][30]) == 0
assert chosen_rates["LSTM, bias 5"][200] == 0.3
assert sum(e > 80 for e in recalled["LSTM, bias 5"][200]) == 2
assert sum(e == 0 for e in recalled["gated, bias 3"][200]) == 2
for name in ("Elman", "LSTM, bias 0", "LSTM, bias 1"):
    assert medians[name][100] > 80 and medians[name][200] > 70
assert np.median(longer["LSTM, bias 5"]) < 20 < 50 < min(longer["Elman"])
assert min(longer["LSTM, bias 0"]) > 80
assert [round(e) for e in midway["LSTM, bias 5"]] == [70, 38, 36]
assert sum(e < 5 for e in recalled["Elman"][30]) == 1
assert max(live_recall["LSTM", 3, 0.001]) < 10 and np.median(live_recall["GRU", 0, 0.03]) < 10
assert at_first.max() < 0.01 and max(moved) < 0.05
assert all(float(shares.median()) > 80 for shares in kept_after)

# %% c093
assert all(abs(C - count) < 0.01 for C, count in zip(cell_states[::500], (1, 501, 999, 499)))
assert np.median(reach["GRU"]) > np.median(reach["LSTM"]) > 30
assert sorted(reach["LSTM"])[3] >= 60 and max(reach["GRU"]) < 50 and max(reach["Elman, tanh"]) <= 30
trained_right = {k: [r["right"][:30].count("1") for r in v.values()] for k, v in counted.items()}
assert min(trained_right["LSTM"] + trained_right["GRU"]) == 30
assert max(trained_right["Elman, ReLU"]) < 30 and sorted(trained_right["Elman, tanh"])[3] < 20
assert min(slopes["LSTM"]) > 0.9 and max(slopes["LSTM"]) < 1.1
assert min(slopes["Elman, ReLU"]) > 0.8
assert max(slopes["GRU"]) < 0.8 and max(slopes["Elman, tanh"]) < 0.3
assert [e < 1 for e in errors["LSTM"]] == [r >= 60 for r in reach["LSTM"]]
assert sum(e < 1 for e in errors["LSTM"]) == 2 and sorted(errors["LSTM"])[2] > 12
assert min(errors["GRU"] + errors["Elman, tanh"]) > 20 and max(reach["Elman, ReLU"]) < 40
fast = {}
for row in rows:
    if row["task"] == "counting" and row["network"] == "Elman, ReLU" and row["seed"] < 1000:
        fast.setdefault(row["rate"], []).append(row["right"].count("1"))
best = max(row["right"].count("1") for row in rows if row["task"] == "counting")
assert min(fast[0.03]) == 0 and max(fast[0.03]) == 99 == best
keep = 1 / (1 + math.exp(-10))
up = math.tanh(10) * keep * (1 - keep**1000) / (1 - keep)
assert round(up * keep**1000 - up) == -43

# %% c109 trained
states = run(
    lstm_cell,
    copied(writer.lstm),
    writer.embedding(ids["validation"][None, :50]).detach()[0][:, None],
    *torch.zeros(2, 1, 128),
)
theirs = writer.lstm(writer.embedding(ids["validation"][None, :50]))[0][0]
assert torch.allclose(torch.cat([s[0] for s in states]), theirs, atol=1e-5)
assert writer_bits < 2.3
assert by_chance == 0 and slow > 20
letters = sorted(fallen[c] for c in "etaoinshr")
assert at_space <= letters[-1] + 5 and fallen["a"] > 5
assert min(fallen["\n"], fallen['"']) > np.median(letters)
assert sorted_means[16] < 0.7 and sorted_means[96] > 0.9
for moment in ("space", "quotation mark"):
    for g, t in ((gates, first), (gates_second, second)):
        assert falls(g, t, MOMENTS[moment])[chosen[moment]] > 0.3

# %% c124
worst_gap = min(min(tested[name]) for name in WRITERS if name != "LSTM") - max(tested["LSTM"])
assert worst_gap > 0.1 and max(max(b) - min(b) for b in tested.values()) < 0.1
assert speed["Kneser-Ney, n = 5"]["test"] < medians["LSTM"] < speed["Kneser-Ney, n = 4"]["test"]
for name in WRITERS:
    tried = {r["rate"]: r["validation"] for r in texts[name] if r["seed"] == 1000}
    assert min(tried) < min(tried, key=tried.get) < max(tried) and len(tested[name]) == 3
assert speed["LSTM"]["milliseconds"] < 1.1 * speed["Elman"]["milliseconds"]
assert speed["GRU"]["milliseconds"] > 1.5 * speed["LSTM"]["milliseconds"]
assert min(quarter) > max(tested["Elman"]) + 0.05
tried = {r["rate"]: r["validation"] for r in rows if r["task"] == "quarter" and r["seed"] >= 1000}
assert min(tried) < min(tried, key=tried.get) < max(tried)
assert abs(gaps.mean()) < 0.005 and 0.06 < margin < 0.075
assert (
    abs(np.median(equal["Elman, wide"]) - medians["LSTM"]) < 0.02
    and 1.9053 < min(equal["GRU"]) <= max(equal["GRU"]) < 1.9380
)
assert min(equal["Elman, wide"]) < medians["LSTM"] < max(equal["Elman, wide"])
assert kernels["LSTM", False] > 2 * kernels["LSTM", True]
assert kernels["GRU", False] < 1.3 * kernels["GRU", True]
errors = honest["20"]
shares = [share_won(errors[a], errors["Elman"]) for a in ("gated", "GRU", "LSTM")]
assert all(0.23 < s < 0.77 for s in shares)
assert all(
    share_won(honest["40"][a], honest["40"]["Elman"]) <= 0.23 for a in ("gated", "GRU", "LSTM")
)
wide = {
    n: [share_won(e["Elman, wide"], e[a]) for a in NETWORKS if a != "Elman, wide"]
    for n, e in honest.items()
}
assert min(wide["40"]) > 0.9 and sorted(wide["20"])[1] > 0.9 and 0.5 < min(wide["20"]) < 0.77
rates = {
    n: sorted({row["rate"] for row in parentheses["tuning"] if row["network"] == n})
    for n in NETWORKS
}
assert all(rates[n][0] < parentheses["rates"][n] < rates[n][-1] for n in NETWORKS)

# %% c133 trained
assert notices == {False: [0, 0, 0, 0, 0, 1], True: [1, 1, 1, 1, 1, 1]}
assert often + 5 < restored[False][0] < restored[True][0] - 10
