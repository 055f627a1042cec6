"""What the further notebook on compression claims: see staff/notebooks/claims.py."""

# %% f109
assert back == story and min(sizes.values()) == sizes["deflate"]
assert 0.85 < bits / 8 / sizes["deflate"] < 0.95
assert bits < surprises(Learner(best_m), story).sum() + 2.1
assert grid[0] < best_m < grid[-1]
assert abs(sum(Learner(best_m)(b"the harb")) - 1) < 1e-9
slow, quick = Learner(best_m), surprises(Learner(best_m), story[:200])
exact = [-math.log2(slow(story[:i])[symbol]) for i, symbol in enumerate([*story[:200], END])]
assert np.allclose(exact, quick)

# %% f111
assert all(a > b for a, b in zip(per_byte, per_byte[1:]))
assert math.isclose(per_byte[0], surprises(Learner(best_m), story).sum() / len(story))
assert per_byte[-1] < 2 < 3 < per_byte[0]

# %% f114
assert 0.6 < (dark & new_word).sum() / dark.sum() < 0.75
assert shares[new_word].mean() > 2 * shares[~new_word].mean()

# %% f117
assert max(found["our model"]) < min(found["LZMA"]) < min(found["deflate, 32 kB"])
assert len(found["our model"]) == 48 and len(found["LZMA"]) == 6
assert len(training) > 24 * 32768

# %% f120
assert 0 < len(tale) <= 400 and tale != decode(random_bits ^ 1 << 3999, 4000, stops)
assert bisect(list(itertools.accumulate([6, 4])), (20 * 10 >> 5) - 0) == 1
