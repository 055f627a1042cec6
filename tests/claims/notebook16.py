"""What notebook 16 claims: see staff/notebooks/claims.py."""

# %% c013
seen = three_masks(torch.tensor([5, 6, 7, 0]), 3, 0)
assert [tuple(mask.shape) for mask in seen] == [(4, 4), (3, 3), (3, 4)]
assert [int(mask.sum()) for mask in seen] == [12, 6, 9]
example = grammar.translate("le chat blanc dort .")
assert example.english == ("the", "white", "cat", "sleeps", ".")

# %% c030
assert float(difference) < 1e-12
memory_seen, own, cross = reach.values()
assert bool(memory_seen.all()) and bool(cross.all()) and reached == 0
assert torch.equal(own, torch.ones(6, 6).tril().bool())
reference = parts(x, memory, real[:, None, None])
assert (decoder_block(parts, x, memory, real[:, None, None]) - reference).abs().max() < 1e-12
torch.manual_seed(1)
made = EncoderDecoder.build(french.vocab_size, english.vocab_size, 64, 4, 2, max_length=40)
assert (made.double()(probe_in, probe_out) - untrained(probe_in, probe_out)).abs().max() < 1e-12

# %% c042
assert max(len(pair.french) for pair in training) == 18

# %% c046 trained
(source_b, read_b), predict_b = next(
    batches(training, english, french, 8, torch.Generator().manual_seed(0), to_french=False)
)
sentences = [row[row >= 0][:-1].tolist() for row in predict_b]
mine = teacher_forcing(sentences, english.bos, english.eos, english.pad)
assert torch.equal(mine[0], read_b) and torch.equal(mine[1], predict_b)
assert 0.8 < hits.mean() < 0.97 and far_hits.mean() < 0.12

# %% c050
found = {
    (model, steps): sorted(runs(model, steps), key=lambda row: row["seed"])
    for model in ("GRU", "transformer")
    for steps in (500, 1500)
}
assert all([row["seed"] for row in rows] == [0, 1, 2] for rows in found.values())
within = {name: [row["exact"] for row in rows] for name, rows in found.items()}
beyond = {name: [row["exact, longer"] for row in rows] for name, rows in found.items()}
assert np.mean(within["GRU", 500]) > np.mean(within["transformer", 500]) + 0.01
assert 0.935 < min(within["GRU", 500]) < max(within["GRU", 500]) < 0.96
assert min(within["GRU", 1500] + within["transformer", 1500]) > 0.985
assert better("exact") == "about equal" and better("exact, longer") == "GRU"
assert min(beyond["GRU", 1500]) > max(beyond["GRU", 500]) + 0.05
assert max(beyond["transformer", 500] + beyond["transformer", 1500]) < 0.1
assert 0.4 < np.mean(beyond["GRU", 1500]) < 0.6
sizes = [found[model, 500][0]["parameters"] for model in ("transformer", "GRU")]
assert sizes == [251_456, 65_592]
tuned = [row for row in study if row["part"] == "budgets" and row["seed"] == 1000]
tuned = [row for row in tuned if (row["model"], row["steps"]) == ("transformer", 500)]
losses_of = {row["rate"]: row["validation"] for row in tuned}  # notebook 08 has 0.01
assert min(losses_of, key=losses_of.get) == 0.002 and losses_of[0.008] > 8 * losses_of[0.002]
rates_of = {name: {row["rate"] for row in rows} for name, rows in found.items()}
assert all(len(rates) == 1 for rates in rates_of.values())

# %% c050a
assert known.sum() == 241

# %% c050a trained
assert min(early.sum(), endless.sum(), (early & known).sum()) > 40
assert usual - 5 > in_longer > right_at(of_known, 16, BEYOND) + 10

# %% c054a
assert {len(pair.french) for pair in few_words} == {4, 5, 6, 7}

# %% c054a trained
assert among.mean() > 0.8 and mixed_batch.mean() <= among.mean() + 0.02

# %% c061
path = find_root() / "benchmarks/results/attention_study.json"
of_08 = [row for row in json.loads(path.read_text())["rows"] if row["part"] == "attention"]
of_08 = [row for row in of_08 if "exact" in row and row["rate"] == 0.02]
errors = [row["alignment"]["error rate"] for row in of_08 if row["query"] != "before, word"]
assert (round(100 * min(errors)), round(100 * max(errors)), len(errors)) == (12, 49, 24)
aligned = [row["alignment"] for row in tested if row["model"] == "transformer"]
assert len(aligned) == 6 and all(run["chosen"].startswith("1.") for run in aligned)
for heads in (run["heads"] for run in aligned):
    rates_of_heads = {name: found["error rate"] for name, found in heads.items()}
    single = [rates_of_heads[f"1.{head}"] for head in range(4)]
    assert rates_of_heads["1.mean"] < min(single) < min(rates_of_heads[f"0.{k}"] for k in range(4))
of_gru = sorted(runs("GRU", 1500), key=lambda row: row["seed"])
ours = sorted(runs("transformer", 1500), key=lambda row: row["seed"])
for row, theirs_1500 in zip(ours, of_gru, strict=True):
    its = row["alignment"]
    assert its["heads"][its["chosen"]]["error rate"] < theirs_1500["alignment"]["error rate"] - 0.02

# %% c062 trained
lower, upper = map(min, rates)
assert upper < 18 and lower > upper + 12
_, truth_of_all = cross_weights(translator, held_out)
assert 4 < error_rate(truth_of_all.float(), truth_of_all) < 5

# %% c064 trained
example = grammar.translate("le vieux chat ne regarde pas les oiseaux blancs .")
shown, _ = cross_weights(translator, [example])
white, birds = (example.english.index(word) for word in ("white", "birds"))
looked = shown[1][0].mean(0).argmax(dim=-1)
assert example.french[looked[white]] == "blancs" and example.french[looked[birds]] == "oiseaux"
sharp = shown[1][0].mean(0).amax(dim=-1)
unclear = [example.english.index(word) for word in ("does", "not", "at")]
assert sharp[unclear].max() < sharp[[white, birds]].min()

# %% c099
assert " ".join(source) == "Thank you <0> me to your party <1> week ."
assert " ".join(target) == "<0> for inviting <1> last <2>"
r, mu = 0.15, 3
assert lengths(list(range(512)), torch.Generator().manual_seed(1)) == (512, 512 - 77 + 26, 104)
assert abs(r * 512 + r * 512 / mu + 1 - 104) < 1 and 0.18 < 104 / 512 < 0.22
for share, mean in ((0.3, 1.0), (0.5, 2.0), (0.7, 1.0), (0.9, 1.0)):
    spans = draw_spans(512, torch.Generator().manual_seed(1), share, mean)
    assert sum(after - first for first, after in spans) == round(share * 512)
    kept, cut = corrupt(list(range(512)), spans, MARKS)
    assert len(kept) + len(cut) == 512 + 2 * len(spans) + 1
whole, read, wrote = averages
assert abs(read - (whole - r * whole + r * whole / mu)) < 0.6
assert abs(wrote - (r * whole + r * whole / mu + 1)) < 0.6

# %% c127
assert torch.equal(together, masks["prefix"])
