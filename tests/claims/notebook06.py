"""What notebook 06 claims: see staff/notebooks/claims.py."""

# %% c018
assert all(walk_is_balanced(list(x)) == bool(y) for x, y in LECTURE.items())
assert [rule(new[0]) for rule in RULES.values()] == [True, False, True]
assert all(rule(x) == bool(y) for rule in RULES.values() for x, y in LECTURE.items())
assert all(sum(steps) == 0 for steps in LECTURE)
assert 28 < 2**12 / found < 32
assert {truth(x) == walk_is_balanced(x) for x in MORE} == {True}

# %% c028
for symbols, label in COLOURED.items():
    steps = [1 if symbol <= 4 else -1 for symbol in symbols]
    assert walk_is_balanced(steps) == bool(label) == parentheses.is_balanced(symbols)
assert parentheses.is_balanced(parentheses.tokens(EXAMPLE))

# %% c038
assert wrong == 0
assert (read_by_hand(deep) > 0, read_by_hand(deep[:-1]) > 0) == (True, False)

# %% c050b trained
torch.manual_seed(0)
ours, helper = RecNet(10, 50, 2).double(), RecurrentClassifier(ReLUElmanCell, 10, 50).double()
helper.recurrent.cells[0].x2h.load_state_dict(ours.x2h.state_dict())
helper.recurrent.cells[0].h2h.load_state_dict(ours.h2h.state_dict())
helper.h2y.load_state_dict(ours.h2y.state_dict())
few = usual.take(slice(64))
rows = zip(few.tokens, few.lengths, strict=True)
alone = torch.cat([ours(F.one_hot(row[:k], 10).double()) for row, k in rows])
assert (helper(few.tokens) - alone).abs().max() < 1e-12
assert np.median(lost["not clipped"]) > np.median(lost["clipped"])
assert sum(spikes["not clipped"]) < sum(spikes["clipped"])
assert min(of_usual) > 99.5
for model, (length, losses, norms) in trained["usual"]:
    worst = np.argsort(losses[100:])[-10:] + 100
    assert np.median(norms[worst]) > 10 * np.median(norms)
    assert norms[length >= 14].max() > 8 * norms[length == 6].max()
    assert losses[100:].max() > math.log(2) and losses[-100:].mean() < 0.05
    assert torch.linalg.eigvals(model.recurrent.cells[0].h2h.weight).abs().max() > 1.3

# %% c071 trained
assert int(truly.sum()) == 625 and len(every) == 10**6
assert precision(said, truly) < 0.25
assert all(median < 0.25 and swapped.min() > 45 for median, swapped in accepted.values())
runs = by_kind["usual"]
assert min(run["one_colour_swapped"] for run in runs) > 0.5
assert min(run["colours_exchanged"] for run in runs) > 0.7
assert (
    max(max(run[k] for k in ("balanced", "random_strings", "wrong_order")) for run in runs) < 0.03
)
assert (said == truly).double().mean() > 0.97 and (said & truly).sum() / truly.sum() > 0.97
broken = ("([{()<>})]", "<[{()<>}])", "([{()<>}]", "([{)(<>}])")
assert sum(p_balanced(first, parentheses.tokens(s)) > 0.5 for s in broken) >= 2
signs = {"([{()<>}])": True, "([{()<>})]": False, "([{)(<>}])": False}
assert all(parentheses.is_balanced(parentheses.tokens(s)) == b for s, b in signs.items())

# %% c089 trained
assert max(on_honest) < 70 and min(on_honest) > 45
usual_shares, honest_shares = shares["usual recipe"], shares["honest set"]
for name in ("colour counts match", "colours ignored", "adjacent pairs", "regression"):
    assert usual_shares[name] > 96
for name in [*SHORTCUTS, "length", "regression"]:
    assert abs(honest_shares[name] - 50) < 3
assert 65 < by_ends < 80
assert 93 < honest_shares["any 8 neighbours"] < 97
assert 75 < honest_shares["any 4 neighbours"] < 86
assert usual_shares["any 8 neighbours"] > 93
assert 100 * precision(~truly, SHORTCUTS["adjacent pairs"](every, 5)) < 3
by_counts = SHORTCUTS["colour counts match"](every, 5)
assert 100 * precision(by_counts, truly) < 7
assert max(shared["colour counts match"]) < 5 < 60 < min(shared["adjacent pairs"])
assert min(shared["first and last"]) > 90 and of_width[16] > 99 > of_width[12]

# %% c106 trained
for name in ("last closing becomes its opening", "the end cut off (truncated)"):
    assert max(slipped[name, "six kinds"]) < 20
ends = parentheses.depths(six_kinds.tokens).gather(1, six_kinds.lengths[:, None] - 1)[:, 0]
assert set(six_kinds.kinds[ends < 0].tolist()) == {KINDS.index("random_strings")}
assert (ends[six_kinds.kinds == KINDS.index("truncated")] > 0).all()
median = {
    r: {k: np.median([run[k] for run in runs]) for k in columns} for r, runs in by_kind.items()
}
assert min(open_ends) > 25 and median["honest only"]["truncated"] > 0.35
assert max(exchanges) < 40 < 70 < 100 * median["usual"]["colours_exchanged"]
for recipe in ("near misses", "six kinds"):
    assert max(median[recipe][kind] for kind in KINDS[:7]) < 0.3
    assert median[recipe]["truncated"] < 0.08
    assert np.median(by_length[recipe], 0)[3] < np.median(by_length["honest only"], 0)[3]
medians = {recipe: np.median(values, 0) for recipe, values in by_length.items()}
assert medians["usual"].min() > 30
assert all(medians[recipe][3] > 2 * medians[recipe][0] for recipe in data)
assert by_rule[3] < min(medians[recipe][3] for recipe in data)
assert by_rule[0] == 0 < min(medians[recipe][0] for recipe in data)
assert by_rule[1] > 1.3 * max(medians[recipe][1] for recipe in ("near misses", "six kinds"))
precise = {recipe: np.median(values, 0)[2] for recipe, values in six.items()}
assert max(precise.values()) < 40
assert precise["honest only"] < precise["near misses"] < precise["usual"] / 1.5
assert precise["six kinds"] < 1.1 * precise["seven kinds"]
assert precise["near misses"] < 1.2 * precise["six kinds"] < 2 * precise["usual"]
assert six["honest only"][:, 0].min() > 8
assert all(values[:, 1].min() > 95 for values in six.values())
of_counts = of_six_symbols(lambda x: SHORTCUTS["colour counts match"](x, 5))[2]
assert 0.5 < precise["usual"] / of_counts < 2.2
turned, beginning = "first opening becomes its closing", "the beginning cut off"
assert max(slipped[turned, "usual"]) < 20 < 60 < np.median(slipped[turned, "six kinds"])
assert np.median(slipped[beginning, "six kinds"]) > 20
for name in (turned, beginning):
    few, many = (np.median(slipped[name, r]) for r in ("seven kinds", "six kinds"))
    assert few < 0.65 * many

# %% c120 trained
refused, let_through = middle  # each (depths, lengths)
at_20, at_40, at_60 = (TRIED.index(length) for length in (20, 40, 60))
assert let_through[2:, at_40].max() < 35 and refused[5, at_40] > 2 * let_through[5, at_40]
apart = {r: np.array([[run[k] for k in pairs] for run in runs]) for r, runs in auc.items()}
of_six, of_deep = (np.median(apart[r], 0) for r in ("six kinds", "six kinds, deeper"))
assert (np.diff(of_six[1:6]) < 1).all() and apart["six kinds"][:, 5].min() < 80
assert (np.diff(refused[1:4], axis=1)[:, 1:] > -5).all()  # along a row, too
assert abs(of_deep[:5] - of_six[:5]).max() < 8 and of_deep[5] > of_six[5] - 3
assert np.nanmax(by_window[0]) == 0
assert (by_window.mean(0)[:, at_60] < both[:, at_60]).sum() >= 5
assert by_window[1, 3, at_60] < by_window[1, 3, at_20]
six_missed, seven_missed = (missed[r][::-1] for r in ("six kinds", "seven kinds"))
assert abs(np.nanmean(seven_missed[1:]) - np.nanmean(six_missed[1:])) < 4
of_balanced = six_kinds.tokens[six_kinds.labels == 1]
levels = parentheses.depths(of_balanced)[of_balanced <= 4]
assert 0.2 < float((levels == 1).double().mean()) < 0.3
assert n_stacks(5, 14) < 2**33 and float((deepest > 7).double().mean()) < 0.01
for rows in study_grids.values():
    assert rows.shape == (10, 7) and (rows[:, -1] > rows[:, 0] + 10).all()
assert (study["rates"]["Elman"], study["rates"]["LSTM"]) == (0.016, 0.016)
assert (study["rates"]["Elman, wide"], study["rates"]["LSTM, 4 layers"]) == (0.008, 0.016)
assert steep > flat + 5
assert refused[5, at_40] > 50 and refused[5, at_40] > refused[0, at_40] + 35
assert of_six[1] > 94 and of_six[3] > 80 and of_six[5] < 88 and of_six[1] > of_six[5] + 8
deep = np.median(grids["six kinds, deeper"], 0)
assert deep[0, 4, at_20] < refused[4, at_20] and deep[1, 4, at_20] > 15
assert both[:5, at_20][1:].sum() < 0.75 * by_window.mean(0)[1:5, at_20].sum()
assert six_missed[0, 0] > 1.5 * six_missed[2, 0] and six_missed[0, 3] > 2 * six_missed[2, 3]
assert np.nanmean(six_missed[0]) > 15 > 8 > np.nanmean(six_missed[4:])
assert np.nanmean(six_missed[:, 0]) < np.nanmean(six_missed[:, 3])
assert seven_missed[0].mean() < 0.8 * six_missed[0].mean()
assert at_end[1][-1] == max(at_end[1]) and at_end[1][0] > 1.3 * max(at_end[2])
change = np.mean(grids["six kinds, deeper"], 0) - np.mean(grids["six kinds"], 0)
assert change[0, 4:, at_40].mean() < -10 and change[1, 4:, at_40].mean() > 3

# %% c131b trained
levels = {name: np.median(values, 0) for name, values in found.items()}
assert levels["untrained"][0] > 35 and abs(levels["last symbol"] - 20).max() < 8
assert abs(levels["six kinds"][:2] - levels["usual"][:2]).max() < 20
for recipe in ("six kinds", "six kinds, deeper"):
    assert levels[recipe][0] > levels["untrained"][0] + 10
    assert levels[recipe][0] > levels[recipe][1] + 8 and levels[recipe][1] > levels[recipe][2]
    assert 22 < levels[recipe][3:].min() <= levels[recipe][3:].max() < 45 < levels[recipe][0]
    assert min(levels[recipe][3:] - levels["untrained"][3:]) > 2
assert levels["usual"][0] > levels["untrained"][0] + 3
assert max(follows[unit] for unit in order[:3]) > 0.4
for recipe in ("six kinds", "six kinds, deeper"):
    assert of_height[recipe].argmax() == 0 and of_height[recipe][0] > 60
    assert of_height[recipe][0] > of_height["untrained"][0] + 15
    assert of_height[recipe][0] > of_height["usual"][0] + 10

# %% c139 trained
one, two = players["first round"], players["second round"]
alone, swapped = "one symbol (not allowed in the second)", "one colour swapped, 8 symbols"
assert one[swapped] > 5 and two[swapped] < 0.6 * one[swapped]
assert min(one[alone], two[alone]) > 5
last = "first one turned round, 8 symbols"
assert one[last] < 2 < 12 < two[last] == max(two.values())
