"""What the further notebook 18, trusting a fit, claims: see staff/notebooks/claims.py."""

# %% c048
table = np.array([[mean_excess(size, length) for length in lengths] for size in sizes])
assert len(runs) == 60 and (np.diff(table) < 0).all() and (np.diff(table, axis=0) < 0).all()
exponents = [power_law(np.array(lengths), row)[1] for row in table]
assert (np.diff(exponents) > 0.08).all()  # another one for each
exponents = [power_law(np.array(sizes), column)[1] for column in table.T]
assert (np.diff(exponents) > 0.05).all()
shelf = bounds["one token"] - floor
assert 2 < bounds["no token"] - floor < 2.2 and 1.6 < shelf < 1.75
assert (table[0, :3] > shelf).all() and table[0, 3] < shelf

# %% c055b
table = np.array([[mean_excess(size, length) for length in lengths] for size in sizes])
whole, one_less, two_less, longer, upper, lower = fitted_floors.values()
assert max(fitted_floors.values()) < floor - 0.3
assert 0.4 < upper - whole < 0.65 and 0.7 < whole - lower < 0.9
law = fit_scaling(N, D, L)
corner = law(float(sizes[0]), float(lengths[0])) - floor - table[0, 0]
assert 0.2 < corner < 0.3 and corner > 10 * np.ptp(shortest)
corner = law(float(sizes[-1]), float(lengths[0])) - floor - table[-1, 0]
assert -0.16 < corner < -0.12
more = table[2] - table[-1]
assert (np.diff(more) > 0.01).all() and more[0] < 0.7 * more[-1]

# %% c055d
assert 0.4 < max(left_out) - min(left_out) < 0.5 and min(left_out) > 0.4

# %% c057
assert better == "floor fitted" and forecasts["floor given"] > truth.max() + 0.1
assert abs(forecasts["floor fitted"] - truth.mean()) < 0.03

# %% c061
assert np.mean(repeats[8]) - np.mean(once[480]) < 0.1
assert np.mean(repeats[4]) - np.mean(once[480]) < 0.03
assert 0.85 < np.mean(once[60]) - np.mean(once[480]) < 0.95
