"""What the further notebook 11, depth, claims: see staff/notebooks/claims.py."""

# %% c035 trained
assert live["none"] > 0.2 and live["scaled"] < 0.05

# %% c037
ends = {kind: np.median(losses, axis=1) for kind, losses in learnt.items()}
assert gains == [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4]
assert max(ends["scaled"]) < 0.001 and max(ends["plain"][:-1]) < 0.001 < ends["plain"][-1]
assert min(ends["none"][0], ends["none"][-1]) > 0.6 and gains[int(ends["none"].argmin())] == 1.5
assert sum(best_rate("none", gain) == 0.001 for gain in gains) == 6

# %% c201
assert upwards["none", 0.25][0] < 1e-11 and upwards["none", 0.25][1] < 0.1
assert upwards["none", 4.0][1] > 0.6 and upwards["none", 1.5][1] < 0.2
linked = {key: found for key, found in upwards.items() if key[0] != "none"}
assert all(0.3 < size < 5 for size, _ in linked.values())
assert all(apart < 0.06 for (kind, _), (_, apart) in linked.items() if kind == "scaled")
assert all(apart < 0.1 for (_, gain), (_, apart) in linked.items() if gain <= 1.5)
assert 0.15 < linked["plain", 4.0][1] < 0.35

# %% c042
from helpers.learning.loss_surface import filter_normalised_direction

theirs = filter_normalised_direction(trained["plain"], torch.Generator().manual_seed(3))
ours = direction_at(trained["plain"], torch.Generator().manual_seed(3))
assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(theirs, ours, strict=True))
hand = torch.tensor([[1.0, 0], [0, 2]]), torch.tensor([[3.0, 4], [0, 1]])
assert torch.allclose(filter_normalized(*hand), torch.tensor([[5.0, 0], [0, 1]]))
assert 12_000 < sum(p.numel() for p in trained["none"].parameters()) < 12_200

# %% c043 trained
assert all(surface[8, 8] < 0.05 for surface in planes.values())
assert (planes["scaled"] < 0.1).sum() > 2 * (planes["none"] < 0.1).sum()

# %% c048
assert min(minima["none"]) >= 5 and min(minima["plain"]) == 3
assert sorted(minima["scaled"]) == sorted(minima["half"]) == [1, 1, 1, 1, 1, 2]
low = {k: [r["below 0.1"] for r in study["surfaces"]["runs"] if r["kind"] == k] for k in minima}
assert np.mean(low["scaled"]) > 10 * np.mean(low["none"])
assert np.mean(low["plain"]) < 2 * np.mean(low["none"])
assert max(low["plain"]) < min(low["half"]) and np.mean(low["half"]) < np.mean(low["scaled"])

# %% c048 trained
assert adds["plain"][0] > 0.7 and all(0.1 < share < 0.3 for share in adds["scaled"])

# %% c103
assert (rates, warmups) == ([0.001, 0.003, 0.01, 0.03], [0, 25, 100]) and seeds == 3
assert (study["undivided"]["rates"], study["undivided"]["warmups"]) == (rates, warmups)
counts = {
    (norm, start): {(r, w): learned_at(norm, r, w, start) for r in rates for w in warmups}
    for norm in ("pre-norm", "post-norm")
    for start in STARTS
}
assert set(counts["pre-norm", "divided"].values()) == {3}
assert {at for at, n in counts["pre-norm", "undivided"].items() if n < 3} == {(0.03, 0)}
assert counts["pre-norm", "undivided"][0.03, 0] == 2
post = {start: counts["post-norm", start] for start in STARTS}
assert [at for at, n in post["divided"].items() if n == 3] == [(0.001, 100), (0.003, 100)]
assert post["divided"][0.003, 0] == 1
assert [at for at, n in post["undivided"].items() if n == 3] == [
    *[(rate, warmup) for rate in (0.001, 0.003) for warmup in warmups], (0.01, 25), (0.01, 100)
]  # fmt: skip
assert all(post["undivided"][0.03, w] == 0 for w in warmups) and post["undivided"][0.01, 0] == 0

# %% c300b
at = {step: k for k, step in enumerate(watched["at"])}
assert all(len(looked(*setting)) == 3 for setting in LOOKS) and alike > 0.99
blue, green, purple, orange = (looked(*setting) for setting in LOOKS)
assert all(0.99 < run["gradient"][0] < 1.03 and run["cosine"][at[2]] > 0.97 for run in blue)
assert blue[1]["gradient"][at[20]] < 1e-3 and [run["loss"] < 1 for run in blue] == [True, 0, 0]
assert all(min(run["gradient"]) > 0.05 and run["loss"] < 0.78 for run in purple)
assert all(run["cosine"][at[50]] > 0.9995 and run["loss"] < 0.8 for run in green)
assert all(min(run["gradient"]) > 0.9 for run in orange) and max(orange[1]["cosine"]) > 0.98
