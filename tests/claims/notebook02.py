"""What notebook 02 claims: see staff/notebooks/claims.py."""

# %% c015
assert real[0] < 15 < 90 < real[6]
assert all(np.diff(real[1:6]) > 0)

# %% c028
assert most == "space"
assert row_entropy.argmin() == ALPHABET.index("Q")
assert P[ALPHABET.index("Q"), ALPHABET.index("U")] > 0.999
assert set(np.argsort(P[0])[-5:]) == {ALPHABET.index(x) for x in "TAHSW"}
assert P[ALPHABET.index("Y")].argmax() == 0
assert P[ALPHABET.index("Y"), 0] > 0.5
assert one_letter < no_memory < math.log2(27) and 0.8 < no_memory - one_letter < 1
assert abs(row_entropy[0] - no_memory) < 0.02
counted = count_followers("THE MOUSE ATE THE CHEESE ", 2)[("E",)]
assert counted == {" ": 5, "E": 1, "S": 1}

# %% c042
assert max(copied[:3]) < by_chance < 5
assert copied[-1] > 20
assert copied[8] > copied[6] > copied[4] > copied[3]

# %% c058
expected = {n: 100 * unseen_mass(seen[n]) for n in seen}
assert all(abs(expected[n] - unseen[n]) < 1 for n in seen)
assert unseen[1] < 2 < 60 < unseen[3]
assert 60 < forced < 75
assert 0.25 < once / len(frequencies) < 0.4
assert 0.88 < np.mean(np.array(list(seen[3].values())) == 1) < 0.9
assert -1.3 < slope < -0.7
assert all(frequencies[100:1000] > frequencies[0] / rank[100:1000])
assert all(frequencies[-1000:] < frequencies[0] / rank[-1000:])
assert " ".join(sentence) in in_capitals(corpus.validation)

# %% c071
assert one < ml / 5
assert 0.001 < best_k < 0.1
assert loss_of_one > min(loss) + 0.5
assert corpus.train.count(" the ") > 100 * corpus.train.count(" harbour ")
assert {"harbour", "the"}.isdisjoint({b for (a, b) in pairwise(corpus.train.split()) if a == "Old"})
assert 0 < np.argmin(loss) < len(ks) - 1

# %% c098
assert letters_mixed.weights[0] < 0.02 < 0.5 < min(letters_mixed.weights[1:])
assert words_mixed.weights[0] > 0.7
gaps = [r - average for r, average in zip(there, averages)]
assert round(gaps[0], 1) == 0.7 and all(0.85 < gap < 1.05 for gap in gaps[1:])
for r in (1, 2, 3):
    predicted = (r + 1) * pairs_with[r + 1] / pairs_with[r]
    assert abs(averages[r - 1] / predicted - 1) < 0.08
assert abs(freed - unseen_mass(seen[2])) < 0.02 and abs(100 * freed - unseen[2]) < 1
scores_after_q = 1 + 0.4 * (1 - book.count("U") / len(book))
assert set(letter_rows["Q",]) == {"U"} and 1.35 < scores_after_q < 1.4
assert 0.6 < D < 0.9
total = {w: rest + sum(level.get(w, 0.0) for level in given) for w in rows[1][()]}
assert math.isclose(sum(total.values()), 1)
assert ("SHY", "GOOSE") not in rows[3] and given[0]["AND"] > 0 and "SNEEZED" not in given[0]
old_pell, _ = contributions(["OLD", "PELL"])
assert sum(old_pell[0].values()) > 0.5
helper = KneserNey(3, discounts=[D] * 3, continuation=False)
places = {w: i for i, (w,) in enumerate(seen[1])}
helper.fit(torch.tensor([places[w] for w in words]), len(places))
inside = next_log_probs(helper, [places["THE"], places["GOOSE"]]).exp()
assert np.allclose(inside.numpy(), [total[w] for w in places], atol=1e-9)

# %% c126
assert {"VANE", "BAY", "QUILL", "PELL", "RUSK", "ALDER"} <= set(ordered[:7])
assert all(ratio[w] < 0.1 for w in ("VANE", "BAY", "QUILL", "PELL", "RUSK", "ALDER"))
assert (
    ratio["WREN"] > 1
    and ratio["FENN"] > 1
    and max(ratio["IVY"], ratio["ANSELM"]) < 0.2
    and 0.3 < ratio["THE"] < 0.37
    and ratio["SAY"] < 0.2
)
assert left_of["SAY"].most_common(1)[0][0] == "THEY" and share["THE"] == max(share.values())
assert min(ratio[w] for w in ("OR", "WHICH", "UNTIL")) > 1.5
assert np.median(np.exp(np.abs(np.log(list(ratio.values()))))) < 1.5
assert kneser_ney("OR", row, D, p_cont) > kneser_ney("PELL", row, D, p_cont)
assert math.isclose(sum(kneser_ney(w, row, D, p_cont) for w in p_cont), 1)
assert abs(average_share("PELL", p_cont) / frequency_of["PELL"] - 1) < 1e-4
assert average_share("PELL", frequency_of) > 1.1 * frequency_of["PELL"]
assert len(left_of["PELL"]) < 5 < 80 < len(left_of["OR"])
assert seen[1]["PELL",] > seen[1]["OR",]
assert letter_cost["frequency"][1] > letter_cost["uniform"][1] + 1 and unseen_letters == 20
assert word_cost["continuation"][1] < word_cost["frequency"][1] < word_cost["uniform"][1]
assert word_cost["frequency"][0] < word_cost["continuation"][0]
assert all(gain - error > 0 for gain, error in gains.values())
found = [gain for gain, _ in gains.values()]
assert found == sorted(found) and round(found[0], 2) == 0.07 and round(found[-1], 2) == 0.18
gaps = [r - average for r, average in zip(there, averages)]
measured, plain, three_of = np.array([gaps, taken([y] * 3), taken(three)])
assert all(abs(three_of - measured) < 0.25) and all(plain[1:] < measured[1:] - 0.25)
assert abs(plain[0] - three_of[0]) < 0.02
assert by_frequency.n == 4 and a.mean() > b.mean()
assert round(2 ** found[0], 2) == 1.05 and round(2 ** found[-1], 2) == 1.13
phrases = "old pell rows|old pell sings|old pell sleeps|a cat or a dog|row or sing|salt or sand"
different = {pair for phrase in phrases.split("|") for pair in pairwise(phrase.split())}
assert len(different) == 12

# %% c137
kn, jm, mkn = (means[x] for x in ("Kneser-Ney", "Jelinek-Mercer", "modified Kneser-Ney"))
tuned_k = means["add-k, tuned"]
assert min(mkn.values()) < min(min(jm.values()), min(kn.values()), min(tuned_k.values()))
assert best_of["Kneser-Ney"] in (7, 8) and kn[12] > min(kn.values()) + 0.01
assert best_of["add-k, tuned"] == 5 and tuned_k[12] > tuned_k[5] + 0.2
assert best_of["Jelinek-Mercer"] == 12 and jm[8] > kn[8] and jm[12] < kn[12]
assert kn[3] < mkn[3] and kn[4] < mkn[4] and all(kn[n] > mkn[n] for n in range(6, 13))
assert max(mkn[n] for n in range(8, 13)) - min(mkn.values()) < 0.003 and best_n == 8
assert abs(kn[7] - kn[8]) < 0.001
gap = by_character["Jelinek-Mercer"][12] - by_character["Kneser-Ney"][12]
assert gap.mean() + 1.96 * gap.std(ddof=1) / math.sqrt(len(gap)) < 0
for n in range(2, 8):
    inside = [AddK(n, 10 ** (-e / 2)).fit_counts(counts) for e in range(11)]
    tried = [score(model, chars.encode(held_out)).bits_per_token for model in inside]
    assert 0 < np.argmin(tried) < 10
in_words = {name: [v.mean() for v in row.values()] for name, row in by_word.items()}
assert np.argmin(in_words["add-k, tuned"]) == 1
for n, sign in ((2, -1), (3, 1), (4, 1)):
    gap = sign * (by_word["Kneser-Ney"][n] - by_word["modified Kneser-Ney"][n])
    assert gap.mean() > 1.96 * gap.std(ddof=1) / math.sqrt(len(gap))
assert all(a > b for a, b in zip(in_words["Kneser-Ney"][2:], in_words["modified Kneser-Ney"][2:]))
assert in_words["modified Kneser-Ney"][2] - min(in_words["modified Kneser-Ney"]) < 0.02
assert all(in_words["Jelinek-Mercer"][i] > in_words["Kneser-Ney"][i] + 0.1 for i in range(1, 6))

# %% c140
assert 1.5 < result.bits_per_byte < 1.8

# %% c146
for n, expected, share in ((4, 0.32, 0.42), (6, 6.3, 6.6), (8, 23.8, 24.3)):
    in_book, digits = Counter(ngrams(book, n)), 2 if n == 4 else 1
    new = ngrams(in_capitals(corpus.validation), n)
    assert round(100 * unseen_mass(in_book), digits) == expected
    assert round(100 * np.mean([gram not in in_book for gram in new]), digits) == share
quoted = {}
for kind in (MaximumLikelihood, ModifiedKneserNey):
    model, shares = kind(10).fit_counts(counts), []
    for seed in (10, 0, 1):
        draw = torch.Generator().manual_seed(seed)
        texts = sample(model, 150, draw, prompt=new_tale, batch_size=16)
        found = [piece in in_training for text in texts for piece in pieces(chars.decode(text))]
        shares.append(round(100 * np.mean(found)))
    quoted[kind] = min(shares), max(shares)
assert quoted == {MaximumLikelihood: (31, 35), ModifiedKneserNey: (2, 4)}
assert round(by_chance, 1) == 2.7
assert torch.equal(after["The boat"], after["The boats"])
assert max(p_day) > 5 * min(p_day)
assert {count > 0 for count in times} == {True, False}
assert max(q for q, c in zip(p_day, times) if c == 0) < min(q for q, c in zip(p_day, times) if c)

# %% c152
at_end = {n: v[-1].mean() for n, v in excess["new"].items()}
assert 0 < at_end[3] < 0.01 < 0.05 < at_end[2] < at_end[1]
assert at_end[3] < at_end[5] < 0.05
assert excess["own"][5][0].mean() < -0.1
assert all(v.mean(1).min() > 0 for v in excess["new"].values())
assert round(overfit[2].mean(), 3) == 0.034 and round(overfit[5].mean(), 4) == 0.0012

# %% c159
first_letters = [r for before, r in zip(new_letters, needed[1:]) if before == " "]
inside_words = [r for b, x, r in zip(new_letters, new_letters[1:], needed[1:]) if " " not in (b, x)]
assert np.mean(first_letters) > 2 * np.mean(inside_words)
assert lower < loss_of_model < upper < math.log2(27)
assert 0.5 < np.mean(np.array(needed) == 1) < 0.8
