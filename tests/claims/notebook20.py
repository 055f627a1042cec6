"""What notebook20 claims: see staff/notebooks/claims.py."""

# %% drawing
assert names[0] == "e"
assert abs(sum(p.values()) - 1) < 1e-9
