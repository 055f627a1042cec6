"""What the further notebook on the price of memory claims: see staff/notebooks/claims.py."""

# %% f203
assert np.allclose(pi @ T, pi)
assert (runs[:, 0] > runs[:, 1]).all() and runs[:, 1].min() < H < runs[:, 1].max()
assert runs[:, 0].min() < H
assert (runs[:, 0] - runs[:, 1]).std() < runs[:, 1].std() / 3

# %% f211
assert math.isclose(expected_excess(2, 3, 2000), 6 / (4000 * math.log(2)))
assert 2 < factor < 4
for n in (2, 3):
    for N in (2000, 20_000):
        assert abs(excess[n][N].mean() / expected_excess(n, 3, N) - 1) < 0.35
assert 0.23 < without_memory - H < 0.25
