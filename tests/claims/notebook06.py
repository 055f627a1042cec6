"""What notebook 06 claims: see staff/notebooks/claims.py."""

# %% c016
assert all(walk_is_balanced(list(x)) == bool(y) for x, y in LECTURE.items())
assert [rule(new) for rule in RULES.values()] == [True, False, True]
assert all(rule(x) == bool(y) for rule in RULES.values() for x, y in LECTURE.items())
assert all(sum(steps) == 0 for steps in LECTURE)
assert {truth(x) == walk_is_balanced(x) for x in MORE} == {True}
assert list(new) not in MORE

# %% c302
for length in (2, 4):
    rows = torch.cartesian_prod(*[torch.arange(10)] * length)
    assert [balanced(row) for row in rows.tolist()] == parentheses.are_balanced(rows).tolist()
assert [balanced(parentheses.tokens(signs)) for signs in ("([])", "([)]", "(<])")] == [True, 0, 0]
import pytest

with pytest.raises(SyntaxError, match=r"closing parenthesis '\)' does not match .* '\['"):
    compile("([)]", "", "eval")
assert parentheses.is_balanced(parentheses.tokens(EXAMPLE))

# %% c201
assert len(usual) == 800 and {len(tokens) for tokens, _ in usual} == {100}
assert sum(int(labels.sum()) for _, labels in usual) == 40_000
for tokens, labels in held_out:
    assert (parentheses.are_balanced(tokens) == (labels == 1)).all()
net = RecNet(3, 4).double()
tokens = torch.tensor([[0, 2, 1, 1, 0]])
h = torch.zeros(4).double()
for token in tokens[0]:
    h = torch.relu(
        net.rnn.weight_ih_l0[:, token]
        + net.rnn.weight_hh_l0 @ h
        + net.rnn.bias_ih_l0
        + net.rnn.bias_hh_l0
    )
x = F.one_hot(tokens, 3).double()
assert torch.allclose(net.rnn(x)[0][0, -1], h) and net.rnn(x)[0].shape == (1, 5, 4)

# %% c202 trained
assert max(of_usual) < 0.9

# %% c062 trained
assert min(errors["usual"]["wrong colour"]) > 52
assert max(errors["usual"]["balanced"] + errors["usual"]["random string"]) < 3
broken = ("<[{()<>}])", "([{)(<>}])", "([{()<>})]")
assert max(p_balanced(first, s) for s in broken) > 0.6
signs = {"([{()<>}])": True, "([{()<>})]": False, "([{)(<>}])": False}
assert all(parentheses.is_balanced(parentheses.tokens(s)) == b for s, b in signs.items())
for data in of_kind.values():
    for tokens, labels in data:
        assert (parentheses.are_balanced(tokens) == (labels == 1)).all()

# %% c068 trained
assert int(truly.sum()) == 625 and len(every) == 10**6
assert (said & truly).sum() / said.sum() < 0.3
assert 0.97 < (said == truly).double().mean() < 0.999 and (said & truly).sum() / truly.sum() > 0.97

# %% c303
assert [sum(r["network"] == network for r in runs) for network in OTHERS] == [10, 10, 10]
assert min(passed) > 45

# %% c206
state = rng.getstate()
rows = parentheses.sample_balanced(3000, 20, torch.Generator().manual_seed(1)).tolist()
twins = [(x, out) for x in rows if (out := exchanged(x))]
rng.setstate(state)
assert len(twins) > 1500


def heights_of(x):
    return parentheses.depths(torch.tensor(x)).tolist()


def neighbours(x):
    return sorted(pair for pair in zip(x, x[1:]) if pair[0] <= 4 < pair[1])


for x, out in twins:
    assert sorted(x) == sorted(out) and heights_of(x) == heights_of(out)
    assert neighbours(x) == neighbours(out) and not parentheses.is_balanced(out)
    assert sum(a != b for a, b in zip(x, out)) == 2
assert exchanged(parentheses.tokens("()()()").tolist()) is None

# %% c086 trained
assert min(on_honest) > 40 and 100 - np.median(on_honest) > shares["within four symbols"][1] + 2
assert all(abs(shares[k][1] - 50) < 3 for k in SHORTCUTS if k in RIVALS)
assert 18 < shares["within four symbols"][1] < 24
assert 1 < shares["colours ignored"][0] < 3 and shares["adjacent pairs"][0] < 0.6
assert shares["colours ignored"][0] > 5 * np.median(of_usual)
assert shares["colour counts match"][0] < 0.2 and min(of_usual) < 0.5

# %% c087b trained
assert ends > 95 and shared["colours ignored"][0] > 50
assert shared["adjacent pairs"][0] > 14 and 5 < shared["adjacent pairs"][1] < 9
assert shared["colour counts match"][0] < 10 and 20 < shared["colours ignored"][1] < 32

# %% c093
state = rng.getstate()
kinds = []


def counted(negative):
    def breaks(x):
        broken = negative(x)
        kinds.extend([negative] * bool(broken))
        return broken

    return breaks


for tokens, labels in make_set(8000, [counted(negative) for negative in FOUR], seed=1):
    assert (parentheses.are_balanced(tokens) == (labels == 1)).all()
assert all(0.22 < kinds.count(negative) / len(kinds) < 0.28 for negative in FOUR)
rng.setstate(state)

# %% c096 trained
assert min(errors["wrong colour"]["left open"]) > 15
assert np.median(errors["wrong colour"]["left open"]) > 20
assert min(errors["wrong colour"]["exchanged"]) < 40 < 45 < min(errors["usual"]["exchanged"])
assert max(errors["wrong colour"]["wrong colour"]) < 45

# %% c101 trained
for kind in ("wrong colour", "left open", "exchanged"):
    assert np.median(errors["four kinds"][kind]) < np.median(errors["usual"][kind]) - 25

# %% c102d trained
often, colour = asked
assert max(errors["four kinds"]["left open"]) < 10
assert np.median(errors["four kinds"]["left open"]) < 2
assert np.median(slipped[often, "four kinds"]) > 10
assert np.median(slipped[often, "five kinds"]) < np.median(slipped[often, "four kinds"]) / 2
four, five = (np.array(slipped[colour, recipe]) for recipe in ("four kinds", "five kinds"))
assert sum(five > four) >= 2  # of three networks
state = rng.getstate()
row = parentheses.tokens("([{}])").tolist()
ends = [parentheses.depths(torch.tensor(f(row)))[-1] for f in (left_open, closed_too_often)]
assert ends == [2, -2]
rng.setstate(state)

# %% c106 trained
precise = {recipe: np.median(values, 0)[3] for recipe, values in six.items()}
assert max(precise.values()) < 40
assert all(precise["wrong colour"] < 0.9 * precise[k] for k in precise if k != "wrong colour")
assert all(values[:, 2].min() > 90 for values in six.values())
plainly = {recipe: np.median(values[:, 1]) for recipe, values in six.items()}
assert plainly["four kinds"] > plainly["usual"] + 5 and plainly["usual"] < 40
assert precise["five kinds"] < 40
assert plainly["five kinds"] < min(plainly["four kinds"] - 5, 45)
accepted = {recipe: np.median(values[:, 0]) for recipe, values in six.items()}
assert 0.3 < accepted["five kinds"] / accepted["four kinds"] < 3.5
