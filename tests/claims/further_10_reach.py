"""What the further notebook 10, reach, claims: see staff/notebooks/claims.py."""

# %% c105 trained
assert plain[16:32].mean() < 0.05 and plain[128:].mean() > 1.5 and near[128:].mean() < 0.05

# %% c123b trained
assert as_if[10] < 0.1 and max(loss for d, loss in as_if.items() if d != 2) < 0.3
assert as_if[2] > 1.5

# %% c125 trained
assert added[0] < 0.05 and added[1] > 0.05 and added[4] > added[1] + 0.2
assert added[32] > 0.7 * plain[128:].mean()

# %% c126
for task in ("order, 1 layer", "order, 2 layers"):
    assert len(tables[task, "RoPE"]) == 5 and tables[task, "RoPE"][:, 2].max() < floor + 0.01
assert tables["order, 1 layer", "sinusoidal"][:, 2].min() > floor + 1
some = tables["order, 1 layer", "ALiBi"]
assert np.abs(some[:, 1] - some[:, 2]).max() < 0.15
none = tables["order, 1 layer", "none"]
assert (none[:, 2] < none[:, 1] - 0.1).all()
rope, sinusoid = tables["tales", "RoPE"], tables["tales", "sinusoidal"]
assert len(rope) == 3 and (rope[:, 2] < rope[:, 0] + 0.1).all()
assert (rope[:, 1] > rope[:, 0] + 1).all() and (sinusoid[:, 2] > sinusoid[:, 0] + 0.3).all()

# %% c132 trained
assert found == "worse" and by_width[3] < 0.5 and by_width[32] < 0.05
for n in (2, 3, 4):
    assert abs(by_width[n] - short[n - 1]) < 0.15

# %% c206
assert new_base(1, 4, 8) == 64 and abs(base / 160_000 - 1) < 1e-9
assert 60 < 2 * math.pi * 10 < 66 and 120 < 2 * math.pi * 20 < 132  # rounds of pair 1

# %% c210 trained
assert not good
begin, end, trained = slowed["all pairs"]
assert min(begin, end) > 2 and abs(begin - end) < 0.4
assert slowed["new base"][0] < 0.2 and slowed["new base"][1] > 1.5
begin, end, _ = slowed["all but the fastest"]
assert end < slowed["new base"][1] - 0.5 and abs(begin - end) < 0.4
assert trained > 1 and abs(trained - even) < 0.5
others = [values[2] for name, values in slowed.items() if name != "all pairs"]
assert max(others) < 0.3 < trained - 0.3

# %% c109
changed = {key: (min(values), max(values)) for key, values in runs.items()}
assert all(len(values) == 5 for values in runs.values()) and len(runs) == 5
plain_low = changed["ALiBi", "nothing changed"][0]
assert plain_low > 0.1 and changed["ALiBi", "steep slopes"][1] < plain_low - 0.05
assert changed["ALiBi", "no feed-forward"][0] > 0.5
assert changed["RoPE", "no feed-forward"][1] < 0.05
