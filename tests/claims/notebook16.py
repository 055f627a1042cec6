"""What notebook 16 claims: see staff/notebooks/claims.py."""

# %% c015
spread = [float((scores / math.sqrt(n)).std()) for n in (width // heads, width)]
assert abs(spread[0] - 1) < 0.15 and abs(spread[0] / spread[1] - 2) < 1e-4
seen = three_masks(torch.tensor([5, 6, 7, 0]), 3, 0)
assert [tuple(mask.shape) for mask in seen] == [(4, 4), (3, 3), (3, 4)]
assert [int(mask.sum()) for mask in seen] == [12, 6, 9]
example = grammar.translate("le chat blanc dort .")
assert example.english == ("the", "white", "cat", "sleeps", ".")

# %% c034
assert float(difference) < 1e-12
memory_seen, own, cross = reach.values()
assert bool(memory_seen.all()) and bool(cross.all()) and not bool(cut.any())
assert torch.equal(own, torch.ones(6, 6).tril().bool())
reference = parts(x, memory, real[:, None, None])
assert (decoder_block(parts, x, memory, real[:, None, None]) - reference).abs().max() < 1e-12
torch.manual_seed(1)
made = EncoderDecoder.build(french.vocab_size, english.vocab_size, 64, 4, 2, max_length=40)
assert (made.double()(probe_in, probe_out) - untrained(probe_in, probe_out)).abs().max() < 1e-12

# %% c054a trained
(source_b, read_b), predict_b = next(
    batches(training, english, french, 8, torch.Generator().manual_seed(0), to_french=False)
)
sentences = [row[row >= 0][:-1].tolist() for row in predict_b]
mine = teacher_forcing(sentences, english.bos, english.eos, english.pad)
assert 3.5 < ours["parameters"] / gru_weights < 4
assert torch.equal(mine[0], read_b) and torch.equal(mine[1], predict_b)
assert all(len(rows) == 3 for rows in compared.values())
gru, dot, learned, turning = (np.mean([r["exact"] for r in rows]) for rows in compared.values())
assert gru > learned + 0.02 and abs(learned - dot) < 0.02 and learned > turning + 0.03
third, second, _ = sorted(row["exact"] for row in compared["transformer, rotary positions"])
assert second - third > 0.05
assert abs(np.mean(faster) / 100 - turning) < 0.02
assert at_16["GRU"] > at_16["GRU, dot product"] > 45 > 30 > at_16["rotary"] > 15
assert at_16["learned"] < 5 and by_length(compared["transformer, learned positions"])[18] < 1
assert max(by_length(rows)[20] for rows in compared.values()) < 15
assert (
    float((by_inside[6:13] - by_position[6:13]).abs().max()) < 10 < float(usual[12] - by_inside[12])
)
assert alone.mean() > 0.95 and mixed_batch.mean() < 0.45
assert 0.85 < hits.mean() < 0.97 and far_hits.mean() < 0.1
assert abs(runs("translation", rate=0.002)[0]["exact"] - hits.mean()) < 0.05

# %% c070 trained
assert max(chosen) - error_rate(truth.float(), truth) < 8 and 30 < min(lower_heads) < 50
best_08 = min(ablation)
slow, fast, _ = (
    [100 * r["alignment"]["heads"][r["alignment"]["chosen"]]["error rate"] for r in rows]
    for rows in groups.values()
)
assert max(slow) < best_08 and min(fast) > max(slow) + 1
losses = {name: [row["validation"] for row in rows] for name, rows in groups.items()}
assert min(map(min, losses.values())) == min(losses["learned, rate 0.004"])
assert 4 < error_rate(truth.float(), truth) < 6 and np.mean(chosen) < 14
for rows in groups.values():
    assert len(rows) == 3
    for row in rows:
        heads = row["alignment"]["heads"]
        assert heads["1.mean"]["error rate"] < heads["0.mean"]["error rate"] - 0.1
lower, upper = (min(error_rate(w[:, h], truth) for h in range(H)) for w in layers)
assert upper < 16 and lower > upper + 15 and 80 > by_position[12] > 60
single = [left[f"block 2, head {h + 1}"] for h in range(H)]
errors = [error_rate(layers[1][:, h], truth) for h in range(H)]
assert min(single) > 70 and np.argmin(single) == np.argmax(errors)
single = [left[f"block 2, all but {h + 1}"] for h in range(H)]
assert max(single) < 25 and np.argmin(single) == np.argmax(errors)
assert 30 < left["block 1, all heads"] < 70
assert left["block 2, all heads"] < 20 < 80 < left["nothing"]
example = grammar.translate("le vieux chat ne regarde pas les oiseaux blancs .")
shown, _ = cross_weights(translator, [example])
white, birds = (example.english.index(word) for word in ("white", "birds"))
looked = shown[1][0].mean(0).argmax(dim=-1)
assert example.french[looked[white]] == "blancs" and example.french[looked[birds]] == "oiseaux"

# %% c084a
assert careless == 144 + 78 and kept_rows == 24 and texts[ways[0]] == texts[ways[2]]
found = translate_all(translator, asked, longest=30)
for pair, words in zip(asked, found, strict=True):
    source = french.encode(pair.french)[None]
    ids = write(translator.encode, translator.decode, source, 1, 2, 30)
    assert tuple(english.words[i] for i in ids) == words
with torch.no_grad():
    cache, memory = CachedDecoder(translator, source), translator.encode(source)
    one_by_one = torch.stack([cache.word(y) for y in [english.bos, *ids]])
    at_once = translator.decode(torch.tensor([[english.bos, *ids]]), *memory)[0]
assert torch.allclose(one_by_one, at_once, atol=1e-4)

# %% c102
from helpers.data.span_corruption import cut_spans, restore_spans

assert " ".join(source) == "Thank you <0> me to your party <1> week ."
assert " ".join(target) == "<0> for inviting <1> last <2>"
assert all(same) and abs(mean_read - lengths(mean_N)[0]) < 0.6
assert abs(mean_written - lengths(mean_N)[1]) < 0.6 and abs(lengths(512)[1] - 103.4) < 0.01
for N in (20, 57, 160):
    ids, marks = list(range(N)), list(range(1000, 1030))
    spans = draw_spans(N, coins)
    theirs = cut_spans(torch.tensor(ids), spans, marks)
    mine = corrupt(ids, spans, marks)
    assert [part.tolist() for part in theirs] == list(mine)
    assert restore_spans(*theirs, marks).tolist() == restore(*mine, marks) == ids

# %% c105k trained
good = [
    *percent(separate, "to-English: French", ENGLISH),
    *percent(separate, "to-French: English", FRENCH),
]
assert len(separate) == len(either) == 3 and min(good) > 65
assert max(copies) < 2 and max(translations) < 25 and np.mean(translations) < 10
ignored = percent(separate, "to-English: English", FRENCH)
assert max(percent(separate, "to-English: English", ENGLISH)) < 2 and max(ignored) < 50
assert np.mean(ignored) > np.mean(translations) and max(ignored) - min(ignored) > 20
for kind in ("French", "English"):
    assert min(percent(separate, f"restore: {kind}", "between marks")) > 80
sentences_of = ("an English sentence", "a French sentence")
whole = sum(np.mean(percent(separate, "to-French: French", what)) for what in sentences_of)
assert whole < 30
table = {
    name: [percent(t, name, what) for t in (either, task_models[name.split()[0]])]
    for name, what in combinations
}
assert all(min(one_model) > 45 for one_model, _ in table.values())
to_french = np.array(table["to-French: English"])
assert all(to_french[0] < to_french[1] - 4) and 12 < np.mean(to_french[1] - to_french[0]) < 24
assert 0 < np.mean(table["to-English: French"][1]) - np.mean(table["to-English: French"][0]) < 8
filled = [percent(tests, "restore: cut", "fits") for tests in (either, task_models["restore:"])]
between = 100 * counted["the commonest between the neighbours"]["fits"]
assert between > max(filled[0]) + 20 and min(filled[0]) > max(filled[1]) + 2
assert min(table["to-English: English"][0]) > max(table["to-English: English"][1])
for kind, what in (("to-English: French", ENGLISH), ("to-French: English", FRENCH)):
    assert np.mean(percent(separate, kind, what)) > np.mean(percent(either, kind, what)) + 5
assert 30 < np.mean(percent(either, "to-French: cut", "a French sentence")) < 50
assert max(percent(either, "to-French: cut", "between marks")) < 2
row = by_prefix[2][0]
filled_in = restore(list(row.french[1:]), list(row.english), MARKS)
assert tuple(filled_in) in (training[0].french, training[0].english)
assert all(len(tests) == 3 for tests in mixes.values())
copied, right = [], []  # means of each mixture: what is to be copied, what is to be translated
for tests in mixes.values():
    same = [("to-English: English", ENGLISH), ("to-French: French", FRENCH)]
    other = [("to-English: French", ENGLISH), ("to-French: English", FRENCH)]
    copied.append([np.mean(percent(tests, *which)) for which in same])
    right.append([np.mean(percent(tests, *which)) for which in other])
none, few_of, some_of, half = copied
marked = [
    percent(t, f"restore: {k}", "between marks")
    for t in mixes.values()
    for k in ("French", "English")
]
assert min(np.mean(values) for values in marked) > 80
assert max(none + few_of) < 3 and 40 < min(some_of) < max(some_of) < 70 and min(half) > 85
lost = [np.array(right[0]) - np.array(row) for row in right]
assert min(lost[3]) > 5 and max(lost[2] / lost[3]) < 0.6
assert max(percent(mixes["1 % of copies"], "to-French: French", ENGLISH)) < 2
examples = [
    [set(text.split()) for test in mixes[mix] for _, text in test["to-French: French"]["examples"]]
    for mix in ("no copies", "1 % of copies")
]
none, few_of = (sum(words <= set(grammar.french_words) for words in texts) for texts in examples)
assert none < 9 and few_of > 14
assert 50 < np.mean(percent(of_french, "to-French: cut", "a French sentence")) < 60
assert abs(obeyed[1, 0] - percent(either, "to-French: French", FRENCH)[0]) < 10
assert obeyed.min() > 50 and obeyed[1, 0] > 75

# %% c120
values = [rouge_1(words_of(t), words_of(s.summary)) for t, s in zip(first_sentences, test)]
assert abs(np.mean(values) - base["first sentence"]["ROUGE-1"]) < 0.03
assert abs(rouge_1(*pencil) - 2 / 3) < 1e-9
assert len(tasks) == 6 and reader["tasks in training"] == 6 * len(read_stories("train"))
written_texts = reader["texts written"]
assert written_texts["label"]["most often"][0] == ["YES", 3 * len(test)]
assert [texts["different"] for texts in written_texts.values()] == [9, 1, 1]
assert len(written_texts["answer"]["most often"][0][0].split()) == 2
assert abs(right["label"] - wrong["label"]) < 1e-9 and right["label"] < without_story["label"]
assert abs(right["ROUGE-1"] - wrong["ROUGE-1"]) < 0.01 and right["F1"] < without_story["F1"]
first, _, same, words = baselines.values()
assert right["ROUGE-1"] < min(first, same) and abs(first - same) < 0.01
assert max(first, same) + 0.03 < words < 0.3
assert 0.6 < seen / reader["tasks in training"] < 0.7

# %% c127
assert torch.equal(together, masks["prefix"])
assert all(torch.equal(sees(mask), mask) for mask in masks.values())
ahead = [int(mask.triu(1).sum()) for mask in masks.values()]
assert ahead == [0, S * (S - 1) // 2, n * (n - 1) // 2]

# %% c135
assert len(plain) == 3 and all(len(gain) == 3 for gain in gains.values())
assert abs(gains[0.25]).max() < 1.0 and sorted(gains[0.5])[1] < -1.5
assert torch.equal(mixture(translator, source, read, 0.0, torch.Generator()), read)
changed = (mixed != read) & (read <= english.eos)
assert not bool(changed.any()) and bool((mixed != read).any())
