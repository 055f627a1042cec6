"""What the further notebook 05, a known source, claims: see staff/notebooks/claims.py."""

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

# %% c136 trained
assert written["true"] < 0.6 * written["half"]
