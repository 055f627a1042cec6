"""What the further notebook on smoothing claims: see staff/notebooks/claims.py."""

# %% c077
assert ("SHY", "GOOSE") not in rows[3] and rows[2]["GOOSE",]

# %% f007
scores_after_q = 1 + 0.4 * (1 - book.count("U") / len(book))
assert set(letter_rows[2]["Q",]) == {"U"} and 1.35 < scores_after_q < 1.4
tiny = ["the", "shy", "goose", "and", "the", "goose", "sneezed"]
tiny_rows = {n: count_followers(tiny, n) for n in (1, 2, 3)}
by_hand = {"and": 1.0, "sneezed": 0.2, "the": 0.046}
for w, value in by_hand.items():
    assert abs(stupid_backoff(w, ("shy", "goose"), tiny_rows) - value) < 5e-4

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

# %% f043
gaps = {r: r - average for r, average in averages.items()}
for k, takes in enumerate(three_of):
    for r, near in ((1, 0.05), (2, 0.05), (5, 0.15)):
        lost_r, back_r = taken_and_returned(halves[k], takes, r)
        assert abs(lost_r - back_r - gaps[r]) < near
    lost_3, back_3 = taken_and_returned(halves[k], takes, 3)
    assert lost_3 - back_3 > gaps[3] + 0.05
    for r in range(2, 6):
        lost_r, back_r = taken_and_returned(halves[k], one_of[k], r)
        assert 0.35 * gaps[r] < lost_r - back_r < 0.7 * gaps[r]

# %% f026
assert loss_of["frequency"][0] < loss_of["continuation"][0]
assert loss_of["continuation"][1] < loss_of["frequency"][1]

# %% f028
for w in ("PELL", "OR"):
    assert abs(average_share(w, p_cont, [D] * 3) / frequency[w] - 1) < 1e-4
assert average_share("PELL", frequency, [D] * 3) > 1.1 * frequency["PELL"]
assert 1.1 < average_share("OR", p_cont, three) / frequency["OR"] < 1.2

# %% f034
assert math.isclose(sum(p.values()), 1)
ids = torch.tensor([names.index(w) for w in some])
helper = ModifiedKneserNey(3).fit(ids, len(names))
state = helper.start(1)
for w in ("OLD", "PELL"):
    inside, state = helper.step(torch.tensor([names.index(w)]), state)
for w in ("HAD", "OR"):
    assert math.isclose(float(inside[0].exp()[names.index(w)]), p[w], rel_tol=1e-2)

# %% f039
kn, jm, mkn = (means[x] for x in ("Kneser-Ney", "Jelinek-Mercer", "modified Kneser-Ney"))
assert min(mkn.values()) < min(min(jm.values()), min(kn.values()))
assert best_of["Kneser-Ney"] in (7, 8) and kn[12] > min(kn.values()) + 0.01
assert abs(kn[7] - kn[8]) < 0.001
assert best_of["Jelinek-Mercer"] == 12 and jm[9] > kn[9] - 0.001
assert all(jm[n] < kn[n] for n in (10, 11, 12))
assert kn[3] < mkn[3] and kn[4] < mkn[4] and all(kn[n] > mkn[n] for n in range(6, 13))
assert all(mkn[n] < jm[n] for n in range(6, 13))
for half in (slice(0, None, 2), slice(1, None, 2)):
    both = {n: paired(by_character, "Kneser-Ney", n, half)[0] for n in range(3, 13)}
    assert both[3] < 0 and both[4] < 0 and all(both[n] > both[n - 1] > 0 for n in range(7, 13))
assert max(mkn[n] for n in range(8, 13)) - min(mkn.values()) < 0.003

# %% f040
in_words = {name: [v[1::2].mean() for v in row.values()] for name, row in by_word.items()}
assert all(np.argmin(row) >= 4 for row in in_words.values())
assert all(a > b for a, b in zip(in_words["Kneser-Ney"][2:], in_words["modified Kneser-Ney"][2:]))
assert in_words["modified Kneser-Ney"][2] - min(in_words["modified Kneser-Ney"]) < 0.02
assert all(in_words["Jelinek-Mercer"][i] > in_words["Kneser-Ney"][i] + 0.1 for i in range(1, 6))
