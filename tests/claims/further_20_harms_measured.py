"""What the further notebook on harms claims: see staff/notebooks/claims.py."""

# %% h005
assert len(set(secrets)) == 512 == 8**3 and rows.shape[0] == 512

# %% h007
_bits = [exposure(torch.arange(4096.0), secret) for secret in range(4096)]
assert abs(sum(_bits) / 4096 - 1 / math.log(2)) < 0.01

# %% h014 trained
assert np.mean(exposed[16]) > max(3.5, np.mean(exposed[0]) + 1)
assert np.mean(exposed[1]) < 3.5 and np.mean(exposed[0]) < 3 and max(exposed[16]) > 6.5

# %% h027
assert max(control) < 4 and 0.8 < np.std(control) < 1.2 and abs(np.mean(control)) < 0.7
assert np.mean(scores[0][0]) < 1.5 and sum(z > 4 for z in scores[2][0]) >= 20
assert scores[0][1] < scores[2][1] + 0.2 < scores[4][1] and scores[2][1] < scores[0][1] + 0.8
