"""What the further notebook 16, writing, claims: see staff/notebooks/claims.py."""

# %% c084
assert careless == 144 + 78 and kept_rows == 24

# %% c132a
found = translator.write(source, english.bos, english.eos, 30)
for pair, row in zip(missed[:20], found, strict=False):
    ids = write(translator.encode, translator.decode, french.encode(pair.french)[None], 1, 2, 30)
    assert english.decode(row) == tuple(english.words[i] for i in ids)
assert torch.equal(mixture(read, guesses, read < 0, english.eos), read)
assert torch.equal(mixed[read <= english.eos], read[read <= english.eos])

# %% c134 trained
assert 2 < len(missed) < 50
assert 0 < float((mixed != read)[true_words].double().mean()) < 0.1

# %% c135
assert len(plain) == 3 and all(len(gain) == 3 for gain in gains.values())
assert abs(gains[0.25]).max() < 1.0 and sorted(gains[0.5])[1] < -1.5
