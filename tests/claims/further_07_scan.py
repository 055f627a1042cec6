"""What the further notebook 07, a scan, claims: see staff/notebooks/claims.py."""

# %% c135
assert (scan(a, b) - by_loop(a, b)).abs().max() < 1e-12
assert scan(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 5.0])).tolist() == [1.0, 8.0]
assert combined[1] == 24 * combined[0]
