"""What the further notebook 11, experts, claims: see staff/notebooks/claims.py."""

# %% c118
assert len(difference_of) == 3 and max(difference_of.values()) < 1e-12
p, layer.k = layer.router(x).softmax(dim=-1), 8
assert (layer(x) - (p[:, :, None] * every).sum(1)).abs().max() < 1e-12

# %% c122 trained
mean_error, idle_of, double_of = (
    {b: [look(*result) for result in found] for b, found in routed.items()}
    for look in (
        lambda error, table: error,
        lambda error, table: int((table.sum(0) < 0.02).sum()),
        lambda error, table: int(((table > 0.02).sum(0) > 1).sum()),
    )
)
assert max(idle_of[0.0]) > 0 == max(idle_of[2.0])
for idle, double, error in zip(idle_of[0.0], double_of[0.0], mean_error[0.0]):
    assert (idle > 0) == (double > 0) == (error > 0.1)
assert np.mean(mean_error[2.0]) < 0.6 * np.mean(mean_error[0.0])
