"""What the further notebook on smoothing claims: see staff/notebooks/claims.py."""

# %% f007
scores_after_q = 1 + 0.4 * (1 - book.count("U") / len(book))
assert set(letter_rows[2]["Q",]) == {"U"} and 1.35 < scores_after_q < 1.4
assert "NODDED" not in rows[2]["GOOSE",]
assert round(rows[1][()]["NODDED"] / len(words), 4) == 1e-4

# %% f016
gaps = {r: r - average for r, average in averages.items()}
assert round(gaps[1], 1) == 0.7 and all(0.85 < gaps[r] < 1.05 for r in range(2, 8))
for r in (1, 2, 3):
    assert abs(averages[r] / good_turing(first, r) - 1) < 0.08

# %% f021
freed = D * len(pairs) / len(words)
assert 0.6 < D < 0.9 and math.isclose(D, three[0])
assert unseen < freed < unseen + 0.05
assert min(three[1:]) > 1.05

# %% f023
given, rest = contributions(["THE", "GOOSE"])
total = {w: rest + sum(level.get(w, 0.0) for level in given) for w in rows[1][()]}
assert math.isclose(sum(total.values()), 1)
assert ("SHY", "GOOSE") not in rows[3]
assert sum(contributions(["OLD", "PELL"])[0][0].values()) > 0.5
shares = [sum(level.values()) for level in given]
assert min(shares) > 0.1
names = sorted(rows[1][()])
ids = torch.tensor([names.index(w) for w in words])
helper = KneserNey(3, discounts=[D] * 3, continuation=False).fit(ids, len(names))
state = helper.start(1)
for w in ("THE", "GOOSE"):
    inside, state = helper.step(torch.tensor([names.index(w)]), state)
assert math.isclose(float(inside[0].exp()[names.index("AND")]), total["AND"], rel_tol=1e-4)

# %% f026
assert loss_of["frequency"][0] < loss_of["continuation"][0]
assert loss_of["continuation"][1] < loss_of["frequency"][1]

# %% f028
assert abs(average_share("PELL", p_cont) / frequency["PELL"] - 1) < 1e-4
assert average_share("PELL", frequency) > 1.1 * frequency["PELL"]

# %% f034
given_thimble = [probability(w, ("A", "THIMBLE"), tables, discounts, 1 / V) for w in frequency]
assert math.isclose(sum(given_thimble), 1)
names = sorted(frequency)
ids = torch.tensor([names.index(w) for w in words])
helper = ModifiedKneserNey(3).fit(ids, V)
state = helper.start(1)
for w in ("AT", "OLD"):
    inside, state = helper.step(torch.tensor([names.index(w)]), state)
for w in ("PELL", "OR"):
    p = probability(w, ("AT", "OLD"), tables, discounts, 1 / V)
    assert math.isclose(float(inside[0].exp()[names.index(w)]), p, rel_tol=1e-3)

# %% f039
kn, jm, mkn = (means[x] for x in ("Kneser-Ney", "Jelinek-Mercer", "modified Kneser-Ney"))
tuned_k = means["add-k, tuned"]
assert min(mkn.values()) < min(min(jm.values()), min(kn.values()), min(tuned_k.values()))
assert best_of["Kneser-Ney"] in (7, 8) and kn[12] > min(kn.values()) + 0.01
assert abs(kn[7] - kn[8]) < 0.001
assert best_of["add-k, tuned"] == 5 and tuned_k[12] > tuned_k[5] + 0.2
assert best_of["Jelinek-Mercer"] == 12 and jm[8] > kn[8] and jm[12] < kn[12]
assert kn[3] < mkn[3] and kn[4] < mkn[4] and all(kn[n] > mkn[n] for n in range(6, 13))
assert all(mkn[n] < jm[n] for n in range(6, 13))
assert max(mkn[n] for n in range(8, 13)) - min(mkn.values()) < 0.003

# %% f040
in_words = {name: [v.mean() for v in row.values()] for name, row in by_word.items()}
assert np.argmin(in_words["add-k, tuned"]) == 1
assert all(a > b for a, b in zip(in_words["Kneser-Ney"][2:], in_words["modified Kneser-Ney"][2:]))
assert in_words["modified Kneser-Ney"][2] - min(in_words["modified Kneser-Ney"]) < 0.02
assert all(in_words["Jelinek-Mercer"][i] > in_words["Kneser-Ney"][i] + 0.1 for i in range(1, 6))
