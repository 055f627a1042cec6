"""What the further notebook on the first run claims: see staff/notebooks/claims.py."""

# %% c070
runs = {}
for i, j in same.nonzero().tolist():
    runs[i, j] = runs.pop((i - 1, j - 1), 0) + 1
i, j = max(runs, key=runs.get)
longest = first[i - runs[i, j] + 1 : i + 1]
assert longest.strip() == "sailor", longest

# %% f006
assert torch.allclose(three.grad, torch.tensor([1 / 3, -2 / 3, 1 / 3], dtype=torch.double))
assert np.allclose([float(slope) for slope in slopes], three.grad, atol=1e-4)

# %% f010
assert 3.5 < factor < 4.5
above = {strength: loss - uniform for strength, loss in first_loss.items()}
assert abs(above[0]) < 1e-5
assert abs(above[0.5] - 1 / 8) < 0.02 and abs(above[1] - 1 / 2) < 0.03 and 1.6 < above[2] < 2

# %% c117 trained
gaps = {step: measured[step] - centred[step - 1] for step in measured}
assert all(-0.06 < gaps.pop(step) < 0 for step in (20, 40, 60))  # a little below at first
assert max(map(abs, gaps.values())) < 0.02 and min(gaps.values()) < 0 < max(gaps.values())
for step in (20, 40, 60):
    assert lagging[step - 1] > measured[step] + 0.1 > centred[step - 1]

# %% c127 trained
assert worst == "0.001" and min(ends, key=ends.get) == "0.03" and ends["0.001"] > uniform
assert ends["0.001"] < first_loss[1] - 0.3 and max(runs["10"][0]) > 2 * first_loss[1]
torch.manual_seed(0)
table, batches = nn.Embedding(V, V), windows(train_ids, 32, 64, torch.Generator().manual_seed(0))
optimizer = torch.optim.AdamW(table.parameters(), lr=10)
for inputs, targets in (next(batches) for _ in range(3)):
    optimizer.zero_grad()
    F.cross_entropy(table(inputs).flatten(0, 1), targets.flatten()).backward()
    optimizer.step()
assert table.weight.softmax(-1).max(1).values.median() > 0.9  # one letter nearly certain

# %% c129 trained
tried = {exponent: train(10**exponent) for exponent in (-2, -1.5, -1, -0.5, 0, 0.5, 1)}
down = {x: next(k for k, loss in enumerate(run[0], 1) if loss < 2.3) for x, run in tried.items()}
last = {x: run[1][400] for x, run in tried.items()}
assert min(down, key=down.get) == -0.5
assert max(down[-0.5], down[0]) <= 12 and down[-1] > 2 * down[0] and down[-1.5] > 2.5 * down[-1]
assert min(last[-0.5], last[0]) > last[-1] + 0.005 and abs(last[-1] - last[-1.5]) < 0.005
assert min(last, key=last.get) in (-1, -1.5)
