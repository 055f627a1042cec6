"""What the further notebook 15, heads, claims: see staff/notebooks/claims.py."""

# %% h019
assert right["mean"] > right["CLS"] + 4 and right["CLS"] < 37
assert right["words"] > max(right["CLS"], right["mean"]) - 4 and max(right.values()) < 55

# %% h033
assert of_rules["the list of names"][1] == 100 and of_rules["the list of names"][0] > 99.9
assert 50 < of_rules["capitalised words"][1] < 60

# %% h042
from helpers.inference.tagging import entities_of as of_the_course

tags = ["O", "B", "I", "B", "O", "I", "I"]
named = [(e.first, e.after) for e in of_the_course([t if t == "O" else t + "-x" for t in tags])]
assert entities_of(tags) == named == [(1, 3), (3, 4), (5, 7)]
assert not any(set(NEVER) & set(story.people) for story in labelled)
assert found_names["the list of the labels"][0][1] == 0
known_, fresh_ = (
    np.array(found_names[f"{start}, study"]) for start in ("pre-trained", "from scratch")
)
assert known_.shape == fresh_.shape == (3, 3)
assert known_[:, 1].min() > 85 and fresh_[:, 1].max() < 10 and fresh_[:, 2].min() > 90

# %% h042 trained
assert found_names["pre-trained, here"][0][1] > 70 and found_names["pre-trained, here"][0][2] > 97

# %% h055
known_figures = json.loads((root / "benchmarks/results/lantern_reader.json").read_text())
published = known_figures["right"]["naive Bayes, words and pairs"]["test part"]
assert abs(hits_alone.mean() - published) < 1e-9 and 0.59 < published < 0.61

# %% h061
by_words_, own_, other_ = (100 * hits.mean() for hits in statement_hits.values())
assert judge["stories"] == 256 and judge["passes"] == 4
assert judge["losses"][0] > 1.05
assert abs(own_ - other_) < 3 and abs(own_ - by_words_) < 6 and swayed < 30

# %% h073
starts, ends = torch.tensor([1.0, 4, 0, 2]), torch.tensor([3.0, 0, 2, 1])
assert best_span(starts, ends) == (1, 2) and partners(list("ababb")) == [2, 3, 0, 4, 1]

# %% h079
assert exchanged.sum() == 741 and len(asked) == 816 and reader["passes"] == 2
assert all(asked[i].passage != asked[j].passage for i, j in enumerate(partner) if i != j)
assert 45 < shares["own"] < 55 and abs(lead.mean()) < 1.5
assert same > 94 and 40 < backwards.sum() < differ.sum() < 90
