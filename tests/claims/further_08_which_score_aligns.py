"""What the further notebook 08_which_score_aligns claims: see staff/notebooks/claims.py."""

# %% c401 trained
assert min(exact(model, held_out[:400]) for model in models.values()) > 0.75

# %% c095
hand = torch.tensor([[1, 0, 0], [0, 1, 1]]).bool(), torch.tensor([[1, 0, 0], [1, 0, 0]]).bool()
assert abs(error_rate(hand[1], hand[0]) - 0.6) < 1e-6

# %% c100
from helpers.inference.alignment import alignment_error_rate, hard_alignment

assert rates["truth, one link"] < 8 and rates["chance"] > 80 and near["truth, one link"][1] == 100
assert 65 > near["same position"][1] > 40
for a, t in zip(tables["additive"], truths, strict=True):
    assert torch.equal(one_link(a), hard_alignment(a))
    assert abs(error_rate(one_link(a), t) - alignment_error_rate(one_link(a), t)) < 1e-6

# %% c100 trained
assert rates["dot product"] < rates["additive"] - 5
assert rates["dot product"] < rates["same position"] - 15
assert near["same position"][1] + 5 < near["additive"][1] < near["dot product"][1] - 5

# %% c109
assert len(means_of(networks("error rate"))) == 8 and largest == "the time"
assert all(len(found) == 3 for found in networks("exact").values())
assert effects["the time"] > 12 > effects["the score"] > 5 > abs(effects["the feeding"])
assert 0.75 > effects["the score"] / effects["the time"] > 0.55
assert 5 < min(pairs["the time"]) < max(pairs["the score"])
exact_of = networks("exact")
live = [*exact_of["dot", "after", "output only"], *exact_of["additive", "before", "into the GRU"]]
assert min(live) > 85 and max(live) < 97
for score, sign in (("additive", 1), ("dot", -1)):
    for time in ("before", "after"):
        fed, unfed = (exact_of[score, time, side] for side in ("into the GRU", "output only"))
        assert min(sign * x for x in fed) > max(sign * x for x in unfed)
runs_of = networks("error rate")
for score in ("additive", "dot"):
    for side in ("into the GRU", "output only"):
        assert max(runs_of[score, "after", side]) < min(runs_of[score, "before", side])

# %% c110b
closed = {key: (w - b) / (a - b) for key, (b, w, a) in inside.items()}
assert max(closed.values()) < 0.4
assert all(0 < part < 0.35 for (score, *_), part in closed.items() if score == "dot")
assert sum(part < -0.2 for (score, *_), part in closed.items() if score == "additive") == 2
by_error = {key: (b - w) / (b - a) for key, (b, w, a) in errors.items()}
assert by_error.pop(("additive", True, 0.01)) > 0.6 and max(by_error.values()) < 0.4

# %% c112b
for rate in (0.01, RATE):
    assert np.mean(located["location", rate][0]) > np.mean(located["additive", rate][0]) + 1
by_loss = min(located, key=lambda key: located[key][2])
assert by_loss == ("location", RATE) and 70 > located[by_loss][1] > 60
assert all(np.mean(found[0]) > 85 for kind, found in located.items() if kind[0] == "additive")
