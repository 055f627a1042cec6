"""What the further notebook 19, leaderboards, claims: see staff/notebooks/claims.py."""

# %% c078
assert marks == {"exact match": 9, "sum": 17, "mean": 22, "PMI": 24}
_longest = [int(np.argmax([len(p) for p in r["behind"]])) for r in replies]
_taken = {n: sum(chosen(r, f) == i for r, i in zip(replies, _longest)) for n, f in RANKINGS.items()}
assert sum(i == 0 for i in _longest) == 10 and _taken["sum"] < 6
assert min(_taken["mean"], _taken["PMI"]) > 7
assert "Claudius" in replies[11]["written"]

# %% c115
assert (firsts > 0).sum() >= 4 and 30 < by_elo.std(0).mean() < 80
assert 400 / np.log(10) * np.diff(strengths).mean() < 28
assert elo([1000.0, 1000.0], 0, 1, 1) == [1016, 984]
assert abs(elo([1400.0, 1000.0], 0, 1, 0)[0] - (1400 - 320 / 11)) < 1e-9

# %% c118
_points = 400 / np.log(10) * resampled
_low, _high = np.percentile(_points, (2.5, 97.5), axis=0)
_truth = 400 / np.log(10) * (strengths - strengths.mean())
assert ((_low < _truth) & (_truth < _high)).sum() >= 7
assert _points.std(0).mean() < by_elo.std(0).mean()
assert (resampled.argsort(1) == np.arange(8)).all(1).sum() < 60

# %% c128 trained
assert 15 < fall < 40 and abs(bits["after"][1] - bits["before"][1]) < 0.03
