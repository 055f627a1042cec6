"""What the further notebook 15, sentence vectors, claims: see staff/notebooks/claims.py."""

# %% v017
assert table["BM25"]["summary"][0] > 95 and table["overlap"]["summary"][0] < 90
for kind in ("question", "statement"):
    assert 40 < table["BM25"][kind][0] < 55 and table["overlap"][kind][0] < 25

# %% v026
before_ = table["mean of states"]
assert 2 < before_["summary"][0] < 15 and max(before_[kind][0] for kind in queries) < 15
assert among > 0.8
assert 0 < with_own - with_others < 0.15

# %% v033
two = torch.eye(2)
assert abs(contrastive_loss(two, two, 0.5) - np.log(1 + np.exp(-2))) < 1e-6
assert abs(contrastive_loss(two[:1].repeat(2, 1), two[:1].repeat(2, 1), 0.5) - np.log(2)) < 1e-6
h = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]])
unit = text_vectors(h, torch.tensor([[True, True, False]]))
assert torch.allclose(unit, torch.tensor([[0.6, 0.8]]))

# %% v037 trained
assert np.mean(losses[-10:]) < 2 < np.mean(losses[:5])

# %% v038 trained
after_ = table["after contrastive training"]
assert 40 < after_["summary"][0] < 75
assert max(after_[kind][0] for kind in ("question", "statement")) < 25

# %% v042
assert marks_of(np.array(real["eight"]))[0] == 100
assert marks_of(np.stack([by_words.scores(query) for query in SAME]))[0] < 15

# %% v045
probes = real["probes"]
assert closest == "roles exchanged" and probes["the opposite"] > probes["a paraphrase"] + 0.05

# %% v048
mini, both_, words_ = (table[row] for row in ("MiniLM", "BM25 + MiniLM", "BM25"))
assert all(mini[kind][0] < words_[kind][0] for kind in queries)
assert all(mini[kind][0] > table["mean of states"][kind][0] + 10 for kind in queries)
for kind in ("summary", "statement"):
    assert both_[kind][0] > max(mini[kind][0], words_[kind][0]) + 1
assert abs(both_["question"][0] - words_["question"][0]) < 2
for kind in queries:
    won, lost = in_town[kind]["won"]
    gained = 100 * (won - lost) / len(test)
    assert abs(gained - (both_[kind][0] - words_[kind][0])) < 0.01

# %% v062
assert 35 < 100 * milder.mean() < 50
others = ~exact["right"]
assert 0.15 < (milder & others).sum() / others.sum() < 0.25
first_ = STUDY["rows"][0]["answers"]
assert all(said for row in STUDY["rows"] for kind in row["answers"].values() for said in kind)
assert exact["right"][0, 2] and first_["BM25"][2] == "a sledge" and not hit["BM25"][2]
assert all(answer in test[2 * i].text for i, answer in enumerate(true))

# %% v065
assert np.array_equal(by_bm25["question"][::2].argmax(1), STUDY["first"]["BM25"])
right_ = 100 * exact["right"].mean()
assert 20 < right_ < 40 and 100 * exact["another"].mean() < 3
assert 100 * blind.mean() < 5 and 100 * np.mean(alone) < 4 and could < 15
for search, found_ in hit.items():
    came, product_ = 100 * exact[search].mean(), found_.mean() * right_
    error_ = 100 * exact[search].mean(0).std() / len(own) ** 0.5
    assert 0 < product_ - came < 1.3 * error_ < 3
    assert 100 * exact[search][:, ~found_].mean() < 3
assert 40 < 100 * hit["BM25"].mean() < 55 and 10 < 100 * hit["MiniLM"].mean() < 25
assert 2 < exact["right"].mean() / exact["BM25"].mean() < 3
assert milder.mean() < hit["BM25"].mean()  # the reader is the weaker part
