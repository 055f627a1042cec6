"""What further/14_speculative claims: see staff/notebooks/claims.py."""

# %% c109
assert errors["hasty"] > 10 and errors["lenient"] > 10
assert errors["verify"] < 4 and errors["one_round"] < 4
accept, residual = verify(large.double(), small.double())
back = small * accept + (1 - (small * accept).sum(1, keepdim=True)) * residual
assert (back - large).abs().max() < 1e-6

# %% c119
assert 0.4 < alpha < 0.7 and len(rounds) < 0.7 * new_tokens

# %% c123
assert abs(expected_tokens(alpha, DRAFTS) - per_round) < 0.35
