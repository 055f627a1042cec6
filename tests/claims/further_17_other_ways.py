"""What the further notebook 17, other ways, claims: see staff/notebooks/claims.py."""

# %% c062
from helpers.models.adapters import Adapter

with torch.random.fork_rng():
    theirs, x = Adapter(D, m), torch.randn(2, 3, D)
    nn.init.normal_(theirs.up.weight)
own = adapter(x, theirs.down.weight, theirs.down.bias, theirs.up.weight, theirs.up.bias)
assert torch.allclose(own, theirs(x), atol=1e-6)
rows = [[2.0, 3.0]], [[1.0, -1.0]], [0.0], [[2.0], [0.0]], [0.0, 0.0]
assert abs(float(adapter(*map(torch.tensor, rows))[0, 0]) - 1.683) < 1e-3

# %% c011
untouched = bits_per_byte(text_log_probs(base, old_ids), texts)
assert all(abs(rows[0][0] - untouched) < 1e-4 and rows[0][1] == 0 for rows in harm.values())
assert all([b for b, _ in rows] == sorted(b for b, _ in rows) for rows in harm.values())
_bits, _sizes = zip(*harm["adapters"])
for b, size in harm["LoRA, 8"]:
    assert abs(b - np.interp(size, _sizes, _bits)) < 0.25
_bits, _sizes = zip(*harm["LoRA, 24"])
assert np.interp(0.5, _sizes, _bits) > 1.5
assert all(b < 1.3 for rows in harm.values() for b, size in rows if size < 0.2)

# %% c100 trained
assert len(words) == 20 and soft.prompt.numel() == 20 * D < 0.003 * N
assert all(torch.equal(a, b) for a, b in zip(soft.model.parameters(), base.parameters()))
trained_bits, hard_bits = bits_an_answer(soft), bits_an_answer(hard)
assert 1.5 < trained_bits < 2.5 and hard_bits > 25 and at_first > 30
assert likeness.amax(dim=1).mean() < 0.5
