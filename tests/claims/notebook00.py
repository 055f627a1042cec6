"""What notebook 00 claims: see staff/notebooks/claims.py."""

# %% c016
assert abs(float(p.sum()) - 1) < 1e-3
assert " door" in [tokenizer.decode([token]) for token in p.topk(5).indices]
assert set(passages[:8]).isdisjoint(passages[8:33]) and 33 <= len(passages) < len(every) / 20
assert hits.numel() == 1100 and gpt_hits > 2 * spaces and gpt_hits > 50
assert [text[-HIDDEN:] for text in played] == [piece[-HIDDEN:] for piece in passages[8:33]]
assert at_position[1:6] == sorted(at_position[1:6]) and at_position[0] > 90
assert at_position[1] < gpt_hits - 20 and at_position[5] > 80
assert 5e5 < text_tokens < 2e6 and round(15.6e12 / text_tokens / 1e6) == 13
assert 4000 < len(corpus.train_documents) < 5000

# %% c021
drawn = [number for notebooks in PARTS.values() for number in notebooks]
assert drawn == sorted(drawn) and set(drawn) < set(FOLLOWS)
assert all(FOLLOWS[number] and set(FOLLOWS[number]) <= set(LECTURES) for number in drawn)

# %% c059
assert scores.shape == (B, T, V) and ids.shape == (B, T)
assert [LETTERS[i] for i in batch[2, 3:4]] == ["b"]
measured = {"ids[0]": ids[0], "ids[:, :-1]": ids[:, :-1], "table[ids[0]] @ W": scores[0]}
measured |= {"scores[:, -1]": scores[:, -1]}
measured["scores.sum(dim=-1, keepdim=True)"] = scores.sum(dim=-1, keepdim=True)
measured["table[ids].mean(dim=1)"] = table[ids].mean(dim=1)
measured["scores.flatten(0, 1)"] = scores.flatten(0, 1)
assert shapes(B, T, D, V) == {name: tuple(x.shape) for name, x in measured.items()}

# %% c089
assert torch.allclose(to_probabilities(scores), scores.softmax(-1))
ours = loss_of(to_probabilities(flat_scores), flat_targets)
assert abs(float(ours) - float(F.cross_entropy(flat_scores, flat_targets))) < 1e-5
assert -0.3 < float(ours) - uniform < 0 and len(flat_targets) == 24
assert sign == "negative" and abs(float(three.grad.sum())) < 1e-6
assert torch.allclose(three.grad, torch.tensor([1 / 3, -2 / 3, 1 / 3]))

# %% c103
assert place_of(first_loss) == "above" and untrained.weight.numel() == 729

# %% c115
again = train(0.03)
assert again[1] == losses  # each run begins afresh
assert losses[0] > uniform > measured[400] + 1
assert abs(sum(losses[180:220]) - sum(losses[360:])) / 40 < 0.05
for step in range(20, 400, 20):  # the squares lie on the line
    assert abs(measured[step] - sum(losses[step - 6 : step + 6]) / 12) < 0.08

# %% c119
assert 0 < new_loss(model) - counted_loss < 0.02
assert LETTERS[learned[LETTERS.index("h")].argmax()] == "e"
assert [LETTERS[k] for k in learned[LETTERS.index("n")].topk(2).indices] == [" ", "d"]
often = [k for k, letter in enumerate(LETTERS) if letter not in "jqxz"]
off = (learned - counted).abs().max(dim=-1).values
assert off[often].max() < 0.06 and max(off[LETTERS.index(x)] for x in "hn") < 0.03
assert off[LETTERS.index("z")] > 0.1 and pairs.sum(1)[-1] * 2048 < 0.5 * pairs.sum()

# %% n06
assert spaces + 5 < table_hits < gpt_hits - 15 and abs(memory_hits[1] - table_hits) < 1
gains = [b - a for a, b in zip(memory_hits, memory_hits[1:])]
assert min(gains[:6]) > 0 and max(gains[5:]) < 2 < min(gains[:4])
assert 0 < gpt_hits - memory_hits[9] < 3 and memory_hits[9] > 65
assert memory_loss[:8] == sorted(memory_loss[:8], reverse=True)
assert gpt_loss + 0.03 < memory_loss[9] < min(memory_loss) + 0.01
assert sum(w.numel() for w in gpt_model.parameters()) > 1e6
