"""What the further notebook 18, machines, claims: see staff/notebooks/claims.py."""

# %% c141b
assert off < 1e-12
one = [
    torch.tensor(rows).double() for rows in ([[2.0, -1.0]], [[1.0, 0], [0, 1]], [[1.0, 0], [0, 10]])
]
first, second = (summand(*one, rank, 2)[0].tolist() for rank in (0, 1))
assert round(first[0], 2) == 1.95 and first[1] == 0 == second[0] and round(second[1], 1) == -1.6

# %% c142
assert found["processes"] == 2 and found["own shapes"] == [[32, 16], [16, 32]]
assert found["tensor: own part alone"] > 1e-3 > 1e-12 > found["tensor: after all_reduce"]
assert found["data: gradient"] < 1e-12 and found["tensor: numbers sent"] == 12 * 16
assert found["data: numbers sent"] == 64 * 16

# %% c145
assert idle(4, 4) == 3 / 7 and round(days) == 78
assert gigabytes(8e9, 1, 0) == gigabytes(8e9, 1, 3) == 128 and gigabytes(8e9, 64, 3) == 2
