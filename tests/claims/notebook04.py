"""What notebook 04 claims: see staff/notebooks/claims.py."""

# %% c020 trained
errors = {name: excess(Z) for name, Z in trained.items()}
assert missing[furthest[:3]].sum() < 0.15
assert 100 < c[26].sum() < 200 and 4096 * share[26] < 1 and counted[17, 21] > 0.9
rarest = set(share.argsort()[:8].tolist())
assert set(furthest[:3]) <= rarest and ALPHABET.index("Q") in rarest
assert never["Adam, 3,000 steps"] < never["Adam, 400 steps"]
Z = torch.randn(27, 27, dtype=torch.double).requires_grad_()
F.cross_entropy(Z[ids[:500]], ids[1:501]).backward()
assert torch.allclose(gradient(Z.detach(), ids[:500], ids[1:501]), Z.grad)
assert 0 < errors["Adam, 3,000 steps"] < 0.001 < errors["SGD, 1,500 steps"] < 0.02
assert 0.001 < errors["SGD 150, decaying"] < errors["Adam, 400 steps"] < 0.02
assert row_z["Adam, 1,500 steps"] < row_z["SGD 150, decaying"] / 2
assert row_z["Adam, 1,500 steps"] < row_z["Adam, 3,000 steps"] < row_z["SGD 150, decaying"]
assert often["Adam, 3,000 steps"] < min(often["Adam, 400 steps"], often["SGD, 1,500 steps"])
assert all(0 < p < 0.005 for p in never.values())

# %% c047 trained
assert all(tuned[D] < tuned[0] - 0.02 for D in SIZES if D >= 10)
assert all(tuned[D] < kneser_ney_bits for D in SIZES if D >= 20)
assert tuned[0] - tuned[400] > 0.1 and max(tuned[D] for D in (100, 200, 400)) < 5.36
assert tuned[2] > tuned[5] > tuned[10] > tuned[20] > tuned[50] > tuned[best_size]
assert min(untuned, key=untuned.get) == 20 and abs(untuned[20] - kneser_ney_bits) < 0.02
assert runs[2][0].min() > kneser_ney_bits + 0.3
full = F.cross_entropy((E @ U)[ids[:9]], ids[1:10])
assert torch.allclose(factored_loss(E, U, ids[:9], ids[1:10]), full)
assert max(share[ALPHABET.index(x)] for x in "QX") < 0.002
ends = {x: float(counted[ALPHABET.index(x), 0]) for x in ALPHABET}
assert min(ends["E"], ends["N"]) > 3 * max(ends[x] for x in "AIU")
for D in (0, 100):
    assert runs[D][0][-1] > runs[D][0].min() + 0.01
assert excess(E @ U) < 0.7 * (no_memory - least)
for letter in "AIU":
    assert all(set(three) & (set("AIU") - {letter}) for three in near_to[letter])
assert sum(bool(set(three) & set("AIU")) for three in near_to["O"]) == 3
assert all("N" in three for three in near_to["E"])
assert {w for w, _ in rows.neighbours("he", 6)} & {"she", "they", "i"}

# %% c075 trained
from helpers.models import word_vectors

theirs = word_vectors.SkipGram(len(words), 50)
theirs.load_state_dict(model.state_dict())
generator = torch.Generator().manual_seed(1)
examples, labels = next(skip_gram_batches(tokens, len(words), 64, generator, window=2))
assert torch.equal(theirs(examples), model(examples))
ours = negative_sampling_loss(model(examples), labels)
assert torch.allclose(ours, word_vectors.negative_sampling_loss(theirs(examples), labels))
radii = torch.randint(1, 3, (300,), generator=torch.Generator().manual_seed(5))
ours = context_pairs(tokens[:300].tolist(), radii.tolist())
made = word_vectors.skip_gram_pairs(tokens[:300], 2, torch.Generator().manual_seed(5)).tolist()
assert Counter(ours) == Counter(map(tuple, made))
assert torch.allclose(noise, word_vectors.noise_distribution(counts))
assert of_t[1.0] == max(of_t.values()) and of_t[0.001] == min(of_t.values())
assert len(beyond) >= 2
chosen_auc = grid[50, 2]
assert all(r[t] < chosen_auc[t] for r in beyond.values() for t in r)
assert 0.35 < in_pairs < 0.5
assert last.loss < 4

# %% c093 trained
hit = {key: np.mean(hits) for key, hits in found.items()}
slot, others, every = GROUPINGS
assert all(abs(hit[g, 40] - hit[g, 10]) < 0.2 for g in (slot, others))
frequent, rare = (len(found[slot, n]) / len(found[every, n]) for n in (40, 10))
assert frequent > 0.5 > 3 * rare
assert occurrences["goose"] == occurrences["monday"]
assert len(centred_runs) == 5
trained_auc, mean_auc = (auc[name] for name in rivals)
gains = {t: np.array(mean_auc[t]) - np.array(trained_auc[t]) for t in mean_auc}
assert all(g.min() > 0 for g in gains.values())
assert gains["word of another kind"].mean() > 2 * np.std(trained_auc["word of another kind"])
by_counting = auc["counted (PPMI + SVD)"]
assert all(0 < np.mean(mean_auc[t]) - np.mean(by_counting[t]) < 0.08 for t in by_counting)
assert all(np.mean(v) > 0.85 for v in mean_auc.values())
for name in ("likeness of frequency", "random vectors"):
    assert all(abs(np.mean(v) - 0.5) < 0.04 for v in auc[name].values())
assert 0.65 < spread["as trained"].mean() < 0.85 and abs(spread["mean subtracted"].mean()) < 0.03
assert {"saturday", "sunday", "tuesday"} & {w for w, _ in centred.neighbours("monday", 3)}
assert all(kind_of.get(w) != "animals" for w, _ in centred.neighbours("goose", 6))
assert sum(kind_of.get(w) == "tools" for w, _ in centred.neighbours("hammer", 6)) <= 2
assert hit["all kinds", 40] > hit["all kinds", 10] + 0.25
assert min(hit[slot, 10], hit[slot, 40]) > 0.7 and max(hit[others, 10], hit[others, 40]) < 0.35
nearest = torch.cdist(xy, xy.view(4, 6, 2).mean(1)).argmin(1).view(4, 6)
assert int((nearest == torch.arange(4)[:, None]).sum()) >= 22

# %% c104 trained
from helpers.models import word_vectors

assert shifted[seen].max() - shifted[seen].min() > 4
usual, small_d, free_d, held_longer, longer = held.values()
assert free_d["frequent, slope"] > 0.85 > usual["frequent, slope"] + 0.1
assert longer["rare, correlation"] > free_d["rare, correlation"] + 0.15
assert held_longer["rare, correlation"] < usual["rare, correlation"] + 0.07
for other in (small_d, free_d):
    assert abs(other["rare, correlation"] - usual["rare, correlation"]) < 0.05
few = tokens[:20_000] % 150
table = count_neighbours(few, 150)
context = table.sum(0) ** 0.75
raised = (table / (table.sum(1, keepdim=True) * context / context.sum())).clamp(min=1).log()
mine, singular, _ = torch.linalg.svd(raised)
mine, theirs = (
    mine[:, :8] * singular[:8].sqrt(),
    word_vectors.counted_vectors(few, 150, 8, window=2),
)
assert torch.allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-3)
days = set(kinds["days"])
near = {word: {w for w, _ in without_training.neighbours(word, 6)} for word in ("monday", "seven")}
assert near["monday"] & days and len(near["seven"] & set(kinds["numbers"])) >= 3
assert float((S.detach() - shifted)[seen].abs().max()) < 0.02
assert agree[20] > 0.8 > agree[1] + 0.3
often_met = C >= 20
x, y = target[often_met], scores[often_met]
slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
assert 0.4 < slope < 0.9

# %% c117b trained
first = {r: right[r, "sum, first", "centred"].mean() for r in relations}
alone = {r: right[r, "c alone, first", "centred"].mean() for r in relations}
assert alone["gender"] > first["gender"] and alone["past"] < 2 and first["past"] > 10
ten = {
    how: {r: right[r, f"{how}, of ten", "centred"].mean() for r in relations}
    for how in ("sum", "c alone")
}
assert abs(ten["sum"]["gender"] - ten["c alone"]["gender"]) < 10
assert ten["sum"]["past"] > 2 * first["past"] and ten["c alone"]["past"] < 2
assert sum(itself > 30 for *_, itself in without_a.values()) >= 3
assert first["plural"] < 5 and sum(v < 50 for v in first.values()) >= 4
assert right["past", "sum, first", "centred"].min() > 10
for one, two, three in (("walk", "walked", "look"), ("boy", "girl", "man")):
    mine = words[analogy(centred.vectors, number[one], number[two], number[three])]
    assert mine == centred.analogy(one, two, three, 1)[0][0]
assert without_a["past"][0][1] > 2 * without_a["past"][0][0]
assert without_a["past"][1][1] > 1.5 * without_a["past"][1][0]

# %% c133 trained
mixed_second, control = (over_seeds[line].mean(0) for line in LINES[1:])
majority = over_seeds["mixed, first"].mean(0)
assert len(sense_runs) == 3
assert all(control - mixed_second > 0.1) and control[0] - control[3] > 0.2
assert min(majority[0], mixed_second[0]) > 0.4 and majority[3] > majority[0] + 0.1
assert mixed_second[2:].max() < 0.3 and control[2:].min() > 0.3
assert abs(control[2] - 0.6) < 0.1
assert tools < 15 < occurrences["saw"]
assert all(recovered[n][1] > 0.6 for n in SHARES)
assert recovered[40][4] >= recovered[40][3] > 0.5 and recovered[10][4] < 0.5
assert recovered[40][1] > recovered[40][2] + 0.2
assert all(recovered[n][1] < recovered[n][2] + 0.1 for n in (10, 4))
assert all(centred.similarity("can", w) < 0 for w in ("pot", "jug"))
assert centred.similarity("can", "will") > 0.7
assert recovered[40][0][1] > recovered[20][0][1] > recovered[10][0][1]
assert centred.similarity("saw", "hammer") < 0.2

# %% c157 trained
from helpers.models import window_lm

assert all(len(rows) == 3 for rows in networks.values())
balance = {g: plus - minus for g, (plus, minus) in over.items()}
assert all(balance["never"] > 0) and all(balance["20 or more"] > 0)
half = {g: 1.96 * x.std() / math.sqrt(len(x)) for g, x in inside.items()}
assert inside["2 to 4"].mean() < -half["2 to 4"]
assert all(sums[k].min() > 10 * (sums[0] - sums[1]).max() for k in (0, 1))
assert all(balance["never"] > sums[0] - sums[1])
assert all(lead > half and share > 0.6 for lead, half, share in leads.values())
assert all(min(of_rate.values()) > of_n[best_n] + 0.2 for of_rate in rates.values())
some, given = encoded_bpe["test"][:200].view(4, 50), []
for kind in (WindowLM, window_lm.WindowLM):
    twin = kind(bpe.vocab_size, 48, 96, 6).double().eval()
    twin.load_state_dict(net.state_dict())
    given.append(twin(some))
assert float((given[0] - given[1]).abs().max()) < 1e-12
assert all(inside[g].mean() > half[g] for g in ("never", "20 or more"))
assert all(inside[g].mean() > -1.1 * half[g] for g in ("once", "5 to 19"))
assert all((balance[g] < 0).all() for g in ("once", "2 to 4", "5 to 19"))
assert 50 < share_new < 60 and 45 < 100 * (times == 0).mean() < 55
assert best_n == 4 and record.validation < of_n[4] - 0.005
for part in ("validation", "test"):
    table_bits = bits_per_byte(log_p[part]["Kneser-Ney"], part)
    of_window = [row[part]["network"] for row in networks["window"]]
    assert table_bits - max(of_window) > 0.005 and table_bits - min(of_window) < 0.03
    assert np.std(of_window) < 0.005
    for name in ("averaging", "averaging_wide"):
        assert min(row[part]["network"] for row in networks[name]) > max(of_window) + 0.2
    assert mixed_bits[part] < min(of_window) - 0.03
sizes = {name: rows[0]["parameters"] for name, rows in networks.items()}
assert sizes["window"] == sum(p.numel() for p in net.parameters())
assert (
    abs(sizes["averaging"] / sizes["window"] - 1)
    < 0.005
    < sizes["averaging_wide"] / sizes["window"] - 1
)

# %% c166 trained
from helpers.models import window_lm

assert len(eighth_bits) == 3 and min(eighth_bits) > eighth_table + 0.05
reached = {W: [row["validation"]["network"] for row in rows] for W, rows in of_length.items()}
assert max(abs(bits - of_n[best_n]) for bits in reached[2]) < 0.007
assert abs(np.mean(reached[3]) - np.mean(reached[6])) < 0.005
assert min(reached[12]) > max(*reached[3], *reached[6]) + 0.01 and min(reached[12]) > of_n[best_n]
for row in of_length[3]:
    assert all(
        row["groups"][g]["gained"] > row["groups"][g]["lost"] for g in ("never", "20 or more")
    )
counted_sizes = [
    sum(p.numel() for p in WindowLM(bpe.vocab_size, 48, 96, W).parameters()) for W in (2, 3)
]
assert counted_sizes[1] - counted_sizes[0] == 48 * 96
averaging = window_lm.AveragingLM(9, 3, 5, window=4).double().eval()
mean = averaging.embedding.weight[[3, 1, 4, 1]].mean(0)
by_hand = averaging.output(torch.tanh(averaging.hidden(mean)))
for order in ([3, 1, 4, 1], [1, 1, 4, 3]):
    assert torch.allclose(averaging(torch.tensor([order]))[0, -1], by_hand)
neighbours = {
    t: {w.strip().lower() for w, _ in of_window.neighbours(t, 6)} for t in (" he", " could")
}
assert neighbours[" he"] & {"she", "they", "i", "it", "we"}
assert neighbours[" could"] & {"would", "can", "might", "should", "will", "did", "must"}
