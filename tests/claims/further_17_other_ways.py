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
_runs = [rows for found in harm.values() for rows in found]  # bits and size, for each factor
assert all(abs(rows[0][0] - untouched) < 1e-4 and rows[0][1] == 0 for rows in _runs)
assert all((np.diff(rows[:, 0]) > 0).all() for rows in _runs)
_differences = [
    [b - np.interp(size, rows[:, 1], rows[:, 0]) for b, size in lora]
    for lora, rows in zip(harm["LoRA, 8"], harm["adapters"])
]
assert abs(np.array(_differences)).max() < 0.8 and abs(np.mean(_differences, axis=0)).max() < 0.2
_bits, _sizes = means["LoRA, 24"]
assert np.interp(0.5, _sizes, _bits) > 1.4
assert all(b < 1.3 for rows in _runs for b, size in rows if size < 0.2)

# %% c100 trained
assert len(words) == 20 and soft.prompt.numel() == 20 * D < 0.003 * N
assert all(torch.equal(a, b) for a, b in zip(soft.model.parameters(), base.parameters()))
trained_bits, hard_bits = bits_an_answer(soft), bits_an_answer(hard)
assert 1.5 < trained_bits < 2.5 and hard_bits > 25 and at_first > 30
assert likeness.amax(dim=1).mean() < 0.5
