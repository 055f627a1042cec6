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
assert len(truth) == 120 and says_good == 1 and _zero[0][0] == 50
assert _zero[0][1] > 55 and _zero[1][1] > _zero[1][0] + 15

# %% c021
_raw, _calibrated = (np.mean([pair[i] for pair in eight]) for i in (0, 1))
assert _raw > share_right(judged["zero"][REVIEW])[1] and _calibrated < _raw
_others = judged["naive Bayes"]
assert _others["100"] < 0.65 and 100 * max(_others.values()) < _raw + 2
assert judged["people"] > 0.9

# %% c024
assert 0.2 < (found["raw"] == moods).float().mean() < 0.4
assert 0.2 < (found["calibrated"] == moods).float().mean() < 0.4
assert (found["naive Bayes"] == moods).float().mean() > 0.5
assert found["calibrated"].bincount().max() > 150

# %% c034
assert 1.5 < curves["knows the table"].mean() < curves["Bayes predictor"].mean() - 0.1
assert curves["Bayes predictor"].mean() < curves["counts single letters"].mean() - 0.15

# %% c039 trained
_above = {name: float((curves[name] - curves["Bayes predictor"]).mean()) for name in networks}
assert 0 < _above["2 layers"] < 0.06 and 0.12 < _above["1 layer"] < 0.25

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
assert all(pair[0] > 60 for pair in turned)

# %% c056 trained
assert shares[0] < 30 and shares[1] > 95

# %% c059 trained
assert follows > 0.9 and repairs < 0.05

# %% c091
_p, _hit = torch.tensor([0.95] * 4 + [0.65] * 2), torch.tensor([1, 1, 1, 0, 1, 0]) > 0
assert abs(float(calibration_error(_p, _hit)) - 0.18333) < 1e-4

# %% c095 trained
assert errors["Bayes predictor"] < 0.02 and errors["2 layers, doubled"] > 0.05
assert max(errors["1 layer"], errors["2 layers"]) < 0.03 < errors["single letters"] < 0.045
_right = [sure_and_right(predictors[name])[1] for name in ("2 layers", "2 layers, doubled")]
assert torch.equal(*_right)
