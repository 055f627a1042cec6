"""What notebook 17 claims: see staff/notebooks/claims.py."""

# %% c016
assert counted["questions"] < 10 < 50 < counted["names"]
