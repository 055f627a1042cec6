"""What the further notebook 09_trained_heads claims: see staff/notebooks/claims.py."""

# %% c113
dots = [(at, row.argmax().item()) for at, row in enumerate(weights[0, 2, :SHOWN])
        if at >= FROM and row.max() > 0.8]  # fmt: skip
assert [(words[at - 1], words[at], words[to]) for at, to in dots] == [
    ("window", ".", "¶"), ("said", ".", "“"), ("me", ".", "“")]  # fmt: skip

# %% c120
before, mark, divides, name_share = (found for found, _ in habits.values())
even_of = [chance for _, chance in habits.values()]
assert mark.argmax() == 10 and 0.86 < mark[2, 2] < 0.9
assert 0.23 < mark.flatten().sort().values[:-1].max() < 0.27
assert divides.argmax() == 10 and divides[2, 2] > 0.75 and even_of[2] < 0.2
assert divides.flatten().sort().values[:-1].max() < 0.45
assert set(before.flatten().topk(2).indices.tolist()) == {5, 8} and before.max() < 0.5
assert name_share.argmax() == 12 and name_share[3, 0] > 0.35 and 0.03 < even_of[3] < 0.05
commas = [weight_on(some, outside, is_comma) for some in (looks, even)]
assert commas[0][2, 2] < 0.7 * commas[1].item()
assert weight_on(looks, is_other, is_name)[3, 0] < 0.6 * name_share[3, 0]
for found, chance in zip((before, mark, name_share), (even_of[0], even_of[1], even_of[3])):
    assert found.max() > 9 * chance
assert before.flatten()[[5, 8]].min() > 9 * even_of[0]

# %% c140
assert who == (3, 0)
for (own, other), most, low, high in zip(persons, (0.25, 0.08), (0.09, 0.02), (0.155, 0.05)):
    own, other = own[:, :, 3, 0], other[:, :, 3, 0]
    she, he = (own > other).float().mean(1)
    assert she > 0.85 and 0.3 < he < 0.7 and own[0].mean() < most
    assert own[1].mean() > other[0].mean()  # men, from He and from She
    assert own[0].mean() > other[1].mean()  # women, from She and from He
    assert (own[0] > other[1]).float().mean() > 0.75 < (own[1] > other[0]).float().mean()
    women, men = (own[0] + other[1]).mean() / 2, (own[1] + other[0]).mean() / 2
    assert low < men < women - 0.01 and women < high

# %% d007 trained
both, alike = shares[1, "linear"]
assert max(both) < 50 and min(alike) > 60
for of in ((2, "linear"), (1, "hidden")):
    assert min(shares[of][0]) > 95
