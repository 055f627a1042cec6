"""What notebook 13 claims: see staff/notebooks/claims.py."""

# %% c010
assert len(corpus.train_documents) == 4536 and V == 2048 and 9e5 < len(ids["train"]) < 1.3e6
assert torch.equal(inputs[:, 1:], targets[:, :-1])

# %% c305 trained
right, old, neither, plain, lost = (
    (ends[name], statistics.median(lengths[name]), max(lengths[name])) for name in runs
)
assert right[2] < 1 and 0.1 < old[0] - right[0] < 0.6 and 1.6 < old[1] / right[1] < 2.8
assert neither[0] > math.log(V) + 1 and neither[1] > 24
assert plain[2] > 1 and plain[0] < 5.6 and not lost[0] < plain[0] + 1
without = lengths["SGD, rate 4, no clipping"]
assert any(length > 1e5 for length in without) and (without[-1] == 0 or math.isnan(without[-1]))

_alone = side_by_side(constant_run, [tiny_model()], [recipes["AdamW, all lines"]])
assert _alone == [runs["AdamW, all lines"]]

# %% c322 trained
for c, f in zip(branches["constant"], branches["falling"]):
    assert c[:2] == f[:2] and c[-1][0] == f[-1][0] == STEPS
    assert f[-1][1] < f[1][1]
assert min(gain) > 0.01

# %% c307 trained
assert high > 1000 * low

# %% c045
assert abs(moves[0] - 0.01) < 1e-6 and abs(moves[1] - 0.01) < 1e-4

# %% c310
assert sorted(by_steps) == [150, 800]
assert min(expected[150]) > ngram_best > max(expected[800]) + 0.08

# %% c311 trained
import itertools

assert len(losses) == steps and checked[-1][0] == steps
assert all(a[1] > b[1] for a, b in itertools.pairwise(checked))
if (L, D) == (4, 128):
    assert min(expected[800]) - 0.02 < best < max(expected[150]) + 0.03

# %% c313 trained
first, *_, last = spelled.values()
assert first < 0.9 < last

# %% c323
assert all(pair.right == pair.wrong for pair in pairs["ending"])
assert abs(decided_by["always he or his"]["pronoun"] - 0.75) < 0.01
at = {n: next(row for name, row in decided_by.items() if f"{n} steps" in name) for n in by_steps}
assert at[800]["pronoun"] > 0.95 > 0.8 > at[150]["pronoun"]
assert abs(at[800]["pronoun"] - decided_by["counted pronouns"]["pronoun"]) < 0.07
assert abs(at[800]["ending"] - decided_by["shared words"]["ending"]) < 0.1
assert at[150]["ending"] < at[800]["ending"] - 0.03
assert all(abs(row["name"] - decided_by["2-gram model"]["name"]) < 0.08 for row in at.values())
curve = study["long"][0]["curve"]
assert max(p["name"] for p in curve if p["tokens"] < 5.2e6) < 0.7 < 0.88 < curve[-1]["name"]
assert curve[-1]["step"] == 8000

# %% c083 trained
assert (L, D) != (4, 128) or (decided["pronoun"] > 60 and decided["ending"] > 55)

# %% c105 trained
end_of = {name: sum(some[-15:]) / 15 for name, (some, _, _) in five.items()}
last_check = {name: checks[-1][1] for name, (_, _, checks) in five.items()}
assert answer == {"low": "E", "healthy": "C", "high": "D", "by heart": "B", "old": "A"}
assert abs(end_of["low"] - math.log(V)) < 0.1 and end_of["high"] > end_of["healthy"] + 0.5
assert max(five["high"][0]) > math.log(V) + 0.5
assert statistics.median(five["high"][1]) > 1
assert abs(last_check["healthy"] - end_of["healthy"]) < 0.6
assert sum(length < 1 for length in five["healthy"][1]) > 0.9 * 150 and min(five["old"][1][20:]) > 1
assert min(loss for _, loss in five["by heart"][2]) < math.log(V) - 0.3
assert end_of["by heart"] < 1 and last_check["by heart"] > math.log(V) + 0.5
assert 0.05 < end_of["old"] - end_of["healthy"] < 0.6
