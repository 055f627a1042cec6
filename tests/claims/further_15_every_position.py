"""What the further notebook 15, every position, claims: see staff/notebooks/claims.py."""

# %% e106
assert read.shape == sounds.shape and (replaced <= chosen).all()
assert replaced.double().mean() < 0.1 and 0.3 < kept < 0.5

# %% e115
following, masked, perfect, worse = learnable.values()
assert 3 * masked < following and perfect < 0.02 < masked < worse
assert 10 * perfect < worse
