"""What notebook 02 claims: see staff/notebooks/claims.py."""

# %% c012
written = write(book, 4, 6000, random.Random(4)).split()[1:-1]
in_book = set(book.split())
assert np.mean([word in in_book for word in written]) > 0.9

# %% c026
assert names[row_entropy.argmax()] == "space"
assert names[row_entropy.argsort()[-2]] == "O"
assert set(np.argsort(P[ALPHABET.index("O")])[-6:]) == {ALPHABET.index(x) for x in "NU RTO"}
assert row_entropy.argmin() == ALPHABET.index("Q")
assert P[ALPHABET.index("Q"), ALPHABET.index("U")] > 0.999
assert set(np.argsort(P[0])[-5:]) == {ALPHABET.index(x) for x in "TAHSW"}
assert P[[ALPHABET.index(x) for x in " O"]].max() < 0.25
counted = count_followers("THE MOUSE ATE THE CHEESE ", 2)[("E",)]
assert counted == {" ": 5, "E": 1, "S": 1}

# %% c042
assert (
    "In Lantern Bay they " in in_training and corpus.validation.count("In Lantern Bay they ") >= 48
)
assert max(copied[:3]) < by_chance < 5
assert copied[-1] > 20
assert copied[4] < by_chance < copied[6] and copied[8] > copied[6] > copied[4] > copied[3]
assert 0.64 < certain / (len(corpus.train) - 9) < 0.7

# %% c052
assert all(abs(expected[n] - unseen[n]) < 1 for n in seen)
assert unseen[1] < 2 < 60 < unseen[3] and round(unseen[5]) == 98
assert " ".join(sentence) in in_capitals(corpus.validation)
chosen = trigrams["PELL", "HAD"], trigrams["NO", "GOOD"]
assert chosen[0] and chosen[1] and "ONE" not in chosen[0] and "EAR" not in chosen[1]
assert ("GOOD", "EAR") not in count_followers(words, 3)
assert 30 < once[1] < 36 and 88 < once[3] < 90

# %% c069
assert 0.3 < share_of_pell < 0.4 and Counter(rows["OLD",]).most_common(1)[0][0] == "PELL"
assert 200 < sum(rows["OLD",].values()) < 500 and 3000 < V < 5000
assert pell[0] < share_of_pell / 5
assert 0 < np.argmin(loss) < len(ks) - 1 and loss[0] > min(loss) + 0.5
assert 1.8 < shares[1] / shares[0] < 2.5 and abs(shares[0] - expected[1]) < 0.01
assert all(abs(share - expected[1]) < 0.3 for share in (unseen[1], shares[1] - unseen[1]))

# %% c191
by_hand = Counter({"PELL": 6, "MAN": 3, "NET": 1})
for w, lower, p in (("PELL", 0, 0.55), ("MAN", 0, 0.25), ("NET", 0.2, 0.08), ("OAR", 1, 0.15)):
    assert math.isclose(absolute_discounting(w, by_hand, 0.5, lower), p)
assert math.isclose(sum(after_thimble.values()), 1)
assert (sum(row.values()), len(row)) == (20, 16) and not {"PELL", "OR"} & set(row)
assert 1 < after_thimble["PELL"] / after_thimble["OR"] < 1.1

# %% c106
assert len(left_of["PELL"]) < 5 < 80 < len(left_of["OR"])
assert seen[1]["PELL",] > seen[1]["OR",]
phrases = "old pell rows|old pell sings|old pell sleeps|a cat or a dog|row or sing|salt or sand"
different = {pair for phrase in phrases.split("|") for pair in pairwise(phrase.split())}
assert len(different) == 12
assert math.isclose(sum(continuation(Counter(pairwise(book_words))).values()), 1)

# %% c126
for v in ("THIMBLE", "OLD", "THE", "XYZ"):
    assert math.isclose(sum(bigram.probability(w, v) for w in common | {"UNKNOWN"}), 1)
assert all(gaps[name].mean() > errors[name] for name in ("add-k", "fallback: frequency"))
assert gaps["add-k"].mean() > 5 * gaps["fallback: frequency"].mean()
assert bigram.probability("PELL", "THIMBLE") < bigram.probability("OR", "THIMBLE") / 10
for D in (0.5, 0.9):
    one, other = BigramModel(book_words, D), BigramModel(book_words, D)
    other.fallback = frequency_of
    for tales in (tuning, comparing):
        assert np.mean([other.bits(t) - one.bits(t) for t in tales[:12]]) > 0.02
assert BigramModel(book_words, 0).bits(comparing[0]) == math.inf
assert 0.27 < gained[new].mean() < 0.33 and -0.04 < gained[~new].mean() < -0.01
assert 0.2 < new.mean() < 0.27
assert bigram.bits(["OLD", "XYZ"]) == math.inf  # a word that the model lacks
too_much = BigramModel(book_words, 1.5)
assert np.mean([too_much.bits(tale) for tale in comparing]) < found["Kneser-Ney"].mean()
assert sum(too_much.probability(w, "OLD") for w in common | {"UNKNOWN"}) > 1.05

# %% c133
tuned_k, mkn = (np.array(row) for row in means.values())
assert lengths[tuned_k.argmin()] == 5 and tuned_k[-1] > tuned_k[0] + 0.1
assert min(mkn) < min(tuned_k) and max(mkn[7:]) - min(mkn) < 0.003
for model_of in models["add-k, tuned"][1:7]:
    assert 1e-5 < model_of.k < 1

# %% c140
assert best_n == 8 and 1.5 < result.bits_per_byte < 1.8

# %% c146
from helpers.models.ngram import KneserNey

helper = KneserNey(2, discounts=[0.0, 0.75]).fit_counts(word_counts)
inside = next_log_probs(helper, [places["THIMBLE"]]).exp()
for w in ("PELL", "OR"):  # the helper counts the beginning of the text as one more context
    assert math.isclose(float(inside[places[w]]), bigram.probability(w, "THIMBLE"), rel_tol=1e-4)
assert torch.equal(after["THE BOAT"], after["THE BOATS"])
assert max(p_day) > 5 * min(p_day)
assert {count > 0 for count in times} == {True, False}
assert max(q for q, c in zip(p_day, times) if c == 0) < min(q for q, c in zip(p_day, times) if c)
