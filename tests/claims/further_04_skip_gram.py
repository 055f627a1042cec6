"""What the further notebook 04_skip_gram claims: see staff/notebooks/claims.py."""

# %% c075 trained
from collections import Counter

from helpers.models import word_vectors

theirs = word_vectors.SkipGram(len(words), 50)
theirs.load_state_dict(model.state_dict())
generator = torch.Generator().manual_seed(1)
examples, labels = next(skip_gram_batches(tokens, len(words), 64, generator, window=2))
assert torch.allclose(theirs(examples), model(examples))
ours = negative_sampling_loss(model(examples), labels)
assert torch.allclose(ours, word_vectors.negative_sampling_loss(theirs(examples), labels))
radii = torch.randint(1, 3, (300,), generator=torch.Generator().manual_seed(5))
ours = context_pairs(tokens[:300].tolist(), radii.tolist())
made = word_vectors.skip_gram_pairs(tokens[:300], 2, torch.Generator().manual_seed(5)).tolist()
assert Counter(ours) == Counter(map(tuple, made))
assert last.loss < 4
untrained = SkipGram(100, 8)(torch.randint(100, (4, 7)))
none = negative_sampling_loss(untrained, F.one_hot(torch.zeros(4).long(), 6).float())
assert abs(float(none) - 6 * math.log(2)) < 1e-5

# %% c093 trained
hit = {key: np.mean(hits) for key, hits in found.items()}
slot, others = GROUPINGS
assert min(hit[slot, 10], hit[slot, 40]) > 0.7 and max(hit[others, 10], hit[others, 40]) < 0.35
assert all(abs(hit[g, 40] - hit[g, 10]) < 0.2 for g in (slot, others))
assert occurrences["goose"] == occurrences["monday"]
assert len(centred_runs) == 5
trained_auc, mean_auc = (auc[name] for name in rivals)
gains = {t: np.array(mean_auc[t]) - np.array(trained_auc[t]) for t in mean_auc}
assert all(g.min() > 0 for g in gains.values())
assert gains["word of another kind"].mean() > 2 * np.std(trained_auc["word of another kind"])
by_counting = auc["counted (PPMI + SVD)"]
assert all(0 < np.mean(mean_auc[t]) - np.mean(by_counting[t]) < 0.08 for t in by_counting)
assert all(np.mean(v) > 0.85 for v in mean_auc.values())
assert abs(np.mean(mean_auc["any other word"]) - 0.93) < 0.01
for name in ("likeness of frequency", "random vectors"):
    assert all(abs(np.mean(v) - 0.5) < 0.025 for v in auc[name].values())
assert 0.65 < spread["as trained"].mean() < 0.85 and abs(spread["mean subtracted"].mean()) < 0.03
assert {"saturday", "sunday", "tuesday"} & {w for w, _ in centred.neighbours("monday", 3)}
assert all(kind_of.get(w) != "animals" for w, _ in centred.neighbours("goose", 6))
assert centred.neighbours("goose", 1)[0][1] > 0.7 < centred.neighbours("monday", 1)[0][1]
assert sum(kind_of.get(w) == "tools" for w, _ in centred.neighbours("hammer", 6)) <= 2
of_t = {r["threshold"]: r["any other word"] for r in study["grid"]["skip-gram"]
        if (r["d_model"], r["window"], r["weight_decay"]) == (50, 2, 0.3)}  # fmt: skip
assert of_t[1.0] == max(of_t.values()) and of_t[0.001] == min(of_t.values())

# %% d119 trained
from helpers.models import word_vectors

assert shifted[seen].max() - shifted[seen].min() > 4
usual, small_d, free_d, held_longer, longer = held.values()
assert free_d["frequent, slope"] > 0.85 > usual["frequent, slope"] + 0.1
assert small_d["frequent, slope"] < usual["frequent, slope"] - 0.1
assert longer["rare, correlation"] > free_d["rare, correlation"] + 0.15
few = tokens[:20_000] % 150
table = count_neighbours(few, 150)
context = table.sum(0) ** 0.75
raised = (table / (table.sum(1, keepdim=True) * context / context.sum())).clamp(min=1).log()
mine, values, _ = torch.linalg.svd(raised)
mine, theirs = (
    mine[:, :8] * values[:8].sqrt(),
    word_vectors.counted_vectors(few, 150, 8, window=2),
)
assert torch.allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-3)
kinds_of = {kind: set(group) for kind, group in word_kinds().items()}
near = {word: {w for w, _ in without_training.neighbours(word, 6)} for word in ("monday", "seven")}
times = kinds_of["days"] | kinds_of["months"] | {"morning", "noon", "easter", "evening", "night"}
assert len(near["monday"] & times) >= 3 and len(near["seven"] & kinds_of["numbers"]) >= 3
assert float((S.detach() - shifted)[seen].abs().max()) < 0.02
assert agree[20] > 0.8 > agree[1] + 0.3
often_met = C >= 20
x, y = target[often_met], scores[often_met]
slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
assert 0.4 < slope < 0.9
