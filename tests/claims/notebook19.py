"""What notebook 19 claims: see staff/notebooks/claims.py."""

# %% c012
_said = recorded("19_continuations", continuations, "gemma", live=False)
assert _said[PROMPTS[1]][0][0] == " Rome"
assert " Rome" not in [token for token, _ in _said[PROMPTS[0]]]
assert _said["Seattle is a city in the state of"][0][0] == " Washington"
assert _said["Seattle is a city in the state of"][0][1] > 0.95
assert _said["It was raining, so she opened her"][0][0] == " eyes"

# %% c018
_zero = [share_right(judged["zero"][cast]) for cast in CASTS]
assert len(truth) == 120 and _zero[0][3] == 100 and _zero[0][0] == 50
assert _zero[0][1] > 55 and _zero[1][1] > _zero[1][0] + 15

# %% c021
_raw, _calibrated, _half = (np.mean([row[i] for row in eight]) for i in range(3))
_none = share_right(judged["zero"][REVIEW])
assert _raw > _none[1] and _half > _none[2] + 8 and all(row[1] < row[0] for row in eight)
assert all(60 < row[3] < 70 for row in eight[:2])
_others = judged["naive Bayes"]
assert _others["100"] < 0.65 and 100 * max(_others.values()) < _raw + 2
assert 100 * judged["people"]["1"] > _raw and judged["people"]["10"] > 0.98

# %% c034
assert 1.5 < curves["knows the table"].mean() < curves["Bayes predictor"].mean() - 0.1
assert curves["Bayes predictor"].mean() < curves["counts single letters"].mean() - 0.15

# %% c039 trained
_above = {name: float((curves[name] - curves["Bayes predictor"]).mean()) for name in networks}
assert 0 < _above["2 layers"] < 0.06 and 0.12 < _above["1 layer"] < 0.25
_more = (curves["2 layers"] - curves["Bayes predictor"])[12:]
assert curves["2 layers"][:4].mean() > 1.98 and _more.mean() < 0.06

# %% c041 trained
assert weights[behind_same].sum() / len(seen) > 1.5 * behind_same.double().mean()

# %% c043 trained
_own, _other = (
    -predictions(networks["2 layers"], some)[:, 48:].gather(2, texts[:, 49:, None]).log2().mean()
    for some in (seen, exchanged)
)
assert _own < 1.75 and _other > 1.95

# %% c046
assert verdict == "between" and 60 < wrong < right - 5
assert sum(b[0] < a[0] - 5 for a, b in zip(eight, turned)) == 2 and turned[1][3] < 15
_halves = [np.mean([row[2] for row in runs]) for runs in (eight, turned)]
assert (
    abs(_halves[0] - _halves[1]) < 3 and min(_halves) > share_right(judged["zero"][REVIEW])[2] + 8
)

# %% c056 trained
assert shares[0] < 30 and shares[1] > 95
_read, _not_read = by_sum["written and read"], by_sum["asked for, not read"]
assert min(_read) > 95 and _not_read[1] > 80 and _not_read[2] > 25

# %% c059 trained
assert follows > 0.9 and repairs < 0.05

# %% c091
_p, _hit = torch.tensor([0.95] * 4 + [0.65] * 2), torch.tensor([1, 1, 1, 0, 1, 0]) > 0
assert abs(float(calibration_error(_p, _hit)) - 0.18333) < 1e-4

# %% c095 trained
assert errors["Bayes predictor"] < 0.02 and errors["2 layers, doubled"] > 0.05
assert max(errors["1 layer"], errors["2 layers"]) < 0.03 < errors["single letters"] < 0.045
assert larger == "about equal"
_right = [sure_and_right(predictors[name])[1] for name in ("2 layers", "2 layers, doubled")]
assert torch.equal(*_right)

# %% c097
_beyond = list(beyond.values())
assert _beyond[0] > 0.1 and _beyond[2] > 0.03 and _beyond[4] > 0.03 and _beyond[3] < 0.02
