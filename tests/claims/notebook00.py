"""What notebook 00 claims: see staff/notebooks/claims.py."""

# %% c016
assert abs(float(p.sum()) - 1) < 1e-3
assert " door" in [tokenizer.decode([token]) for token in p.topk(5).indices]
assert set(passages[:8]).isdisjoint(passages[8:33]) and 33 <= len(passages) < len(every) / 20
assert hits.numel() == 1100 and gpt_hits > 2 * spaces and gpt_hits > 50
assert at_position[1:6] == sorted(at_position[1:6]) and at_position[0] > 90
assert at_position[1] < gpt_hits - 20 and at_position[5] > 80
assert 5e5 < text_tokens < 2e6 and 15e12 / text_tokens > 1e6

# %% c021
drawn = [number for notebooks in PARTS.values() for number in notebooks]
assert drawn == sorted(drawn) and set(drawn) < set(FOLLOWS)
assert all(FOLLOWS[number] and set(FOLLOWS[number]) <= set(LECTURES) for number in drawn)

# %% c072
assert scores.shape == (B, T, V) and ids.shape == (B, T)
assert [LETTERS[i] for i in batch[2, 3:4]] == ["b"]
runs = {}
for i, j in same.nonzero().tolist():
    runs[i, j] = runs.pop((i - 1, j - 1), 0) + 1
i, j = max(runs, key=runs.get)
longest = first[i - runs[i, j] + 1 : i + 1]
assert longest.strip() == "sailor", longest
measured = {"ids[0]": ids[0], "ids[:, :-1]": ids[:, :-1], "table[ids]": table[ids]}
measured |= {"table[ids] @ W": scores, "scores[:, -1]": scores[:, -1]}
measured |= {"scores.argmax(dim=-1)": scores.argmax(dim=-1)}
measured |= {"scores.softmax(dim=-1)": scores.softmax(dim=-1)}
measured |= {"table[ids].mean(dim=1)": table[ids].mean(dim=1)}
measured |= {"scores.flatten(0, 1)": scores.flatten(0, 1)}
assert shapes(B, T, D, V) == {name: tuple(x.shape) for name, x in measured.items()}

# %% c094
assert torch.allclose(to_probabilities(scores), scores.softmax(-1))
ours = loss_of(to_probabilities(flat_scores), flat_targets)
assert abs(float(ours) - float(F.cross_entropy(flat_scores, flat_targets))) < 1e-5
assert -0.3 < float(ours) - uniform < 0 and len(flat_targets) == 24
assert torch.allclose(to_probabilities(letter_scores), expected[READ], atol=1e-4)
assert sign == "negative" and abs(float(three.grad.sum())) < 1e-6
assert torch.allclose(three.grad, torch.tensor([1 / 3, -2 / 3, 1 / 3]))
assert to_probabilities(letter_scores / 0.1).argsort().tolist()[-1] == expected[READ].argmax()

# %% c129
assert place == "above" and bold > modest and size == 729
flat = new_targets.flatten()
with torch.no_grad():
    raw = untrained(new_inputs).flatten(0, 1)
    zero, double = (F.cross_entropy(k * raw, flat).item() for k in (0, 2))
    half = F.cross_entropy(raw / 2, flat).item()
assert abs(zero - uniform) < 1e-5 and double > first_loss > uniform
assert 3.5 < (double - uniform) / gap < 4.5 and 3.5 < gap / (half - uniform) < 4.5
again = train(0.03)[1]
assert [r.loss for r in again] == [r.loss for r in runs["0.03"]]  # each run begins afresh
assert again[0].loss > uniform > again[-1].validation + 1
at_half, at_end = (np.mean([r.loss for r in again[k : k + 40]]) for k in (180, 360))
assert abs(at_half - at_end) < 0.05
gaps = {step: measured[step] - centred[step - 1] for step in measured}
assert all(-0.06 < gaps.pop(step) < 0 for step in (20, 40, 60))  # a little below at first
assert max(map(abs, gaps.values())) < 0.02 and min(gaps.values()) < 0 < max(gaps.values())
for step in (20, 40, 60):
    assert lagging[step - 1] > measured[step] + 0.1 > centred[step - 1]
assert 0 < again[-1].validation - float(counted_loss) < 0.02
assert [LETTERS[learned[LETTERS.index(x)].argmax()] for x in "qh"] == ["u", "e"]
assert [LETTERS[k] for k in learned[LETTERS.index("n")].topk(2).indices] == [" ", "d"]
assert spaces + 5 < table_hits < gpt_hits - 15 and abs(memory_hits[1] - table_hits) < 1
assert memory_hits == sorted(memory_hits) and 0 < gpt_hits - memory_hits[4] < 17
assert worst == "0.001" and min(ends, key=ends.get) == "0.03" and ends["0.001"] > uniform
assert ends["0.001"] < first_loss - 0.3 and max(r.loss for r in runs["10"]) > 2 * first_loss
assert train(10, 3)[0].weight.softmax(-1).max(1).values.median() > 0.9
assert row_of["e"] <= row_of["k"] and shares["e"] > 5 * shares["k"] and 5 < row_of["z"] < 15
usual = [k for k, letter in enumerate(LETTERS) if shares[letter] > 0.01]
ranks = [x.argsort().argsort() for x in (pairs.sum(1)[usual], way[usual])]
assert torch.corrcoef(torch.stack(ranks).double())[0, 1] < 0.5
assert pairs.sum(1)[-1] * 2048 < 0.5 * pairs.sum() and way.argmin() == LETTERS.index("z")
assert sorted(shares, key=shares.get)[:4] == sorted("jqxz", key=shares.get)
weights = pairs.sum(1) / pairs.sum(1).sum()
spread = [float((weights * torch.special.entr(p).sum(1)).sum()) for p in tables]
assert uniform - spread[0] > 0.4 and 0 < spread[1] - spread[0] < 0.12
assert off[often].max() < 0.06 < 0.12 < min(off[LETTERS.index(x)].max() for x in "zx")
rare = counted[often] < 1e-3
assert learned[often][rare].median() > 10 * counted[often][rare].median()
tried = {exponent: train(10**exponent)[1] for exponent in (-2, -1.5, -1, -0.5, 0, 0.5, 1)}
down = {x: next(r.step for r in run if r.loss < 2.3) for x, run in tried.items()}
last = {x: run[-1].validation for x, run in tried.items()}
assert min(down, key=down.get) == -0.5
assert [down[x] for x in (-0.5, 0, -1, -1.5)] == [9, 11, 26, 82]
assert min(last[-0.5], last[0]) > last[-1] + 0.005 and abs(last[-1] - last[-1.5]) < 0.005
assert min(last, key=last.get) in (-1, -1.5)
