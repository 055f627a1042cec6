"""What the further notebook 17, which rank, claims: see staff/notebooks/claims.py."""

# %% c078 trained
assert abs(float(delta.square().sum()) - 30) < 1e-3
for r_ in RANKS:
    floor = float(best_possible(delta, r_))
    assert (plenty[r_] > floor - 1e-3).all() and (plenty[r_] < floor + 0.25).all()
assert all(plenty[r_].max() < 0.05 for r_ in RANKS if r_ >= TRUE_RANK)
assert nearest == 3 and few[3].mean() < few[2].mean() and (few[3] < few[4]).all()
order = [few[r_].mean() for r_ in (4, 6, 8, 12)]
assert order == sorted(order) and few[24].mean() > 2 * few[4].mean()
assert (30 - few[24].mean()) < 0.5 * (30 - few[4].mean())

# %% c092
sizes = {p: [np.mean([row["size"] for row in runs(k, p)]) for k in (2, 32)] for p in (1, 0.5)}
assert sizes[1][0] > 1.7 * sizes[1][1] and abs(sizes[0.5][0] / sizes[0.5][1] - 1) < 0.15
both = {(k, p): [row["both"] for row in runs(k, p)] for k in (2, 8, 32) for p in (1, 0.5)}
assert all(len(found) == 3 for found in both.values()) and runs(8, 1) == runs(8, 0.5)
for p in (1, 0.5):
    assert max(both[2, p]) < 3.1 < min(both[8, p]) and max(both[8, p]) < 4.8 < min(both[32, p])
    assert abs(np.mean(both[2, p]) - 2.7) < 0.1 and abs(np.mean(both[32, p]) - 5.4) < 0.2
assert abs(np.mean(both[32, 1]) - np.mean(both[32, 0.5])) < 0.3
longer = [row for row in study["rows"] if row["part"] == "equal cost" and row["method"] == "LoRA"]
assert all(row["steps"] == 611 and abs(row["question, gained"] - 5) < 0.2 for row in longer)
