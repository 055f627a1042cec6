"""What notebook 11 claims: see staff/notebooks/claims.py."""

# %% c015
assert mean_cosine(first_x) < 0.1
assert alike["x ← attention(x)"][-1] > 0.999 and alike["x ← attention(x)"][3] > 0.95
assert alike["x ← x + attention(x)"][-1] < 0.6
assert {shape for name, shape in shapes.items()} == {(B, T, D), (B, T, 4 * D)}
assert shapes["feed_forward.up"] == (B, T, 4 * D) and shapes[""] == (B, T, D)
assert norm_alone > 0.99995 and abs(norm_size - 1) < 0.01

# %% c201 trained
medians = {kind: np.median(found, axis=1) for kind, found in arrives.items()}
assert nearest == 1.25 and medians["none"][0] < 1e-6 and medians["none"][-1] > 1000
assert 0.05 < medians["none"][2] < 0.4 and 2 < medians["none"][4] < 12
assert min(medians["scaled"]) > 0.9 and max(medians["scaled"]) < 2.5
assert min(medians["plain"]) > 2 and 8 < medians["plain"][2] < 32 and medians["plain"][-1] > 200
ends = {kind: np.median(losses, axis=1) for kind, losses in learnt.items()}
assert max(ends["scaled"]) < 0.001 and max(ends["plain"][:-1]) < 0.001 < ends["plain"][-1]
assert min(ends["none"][0], ends["none"][-1]) > 0.6 and gains[int(ends["none"].argmin())] == 1.5
assert 7 < ends["none"][4] / ends["plain"][4] < 25 and 7 < ends["none"][4] / ends["scaled"][4] < 25
assert [k for k in ("plain", "scaled") for r in best_rates[k] if r != 0.01] == ["plain"]
assert best_rates["plain"][-1] == 0.003 and median_at("scaled", 0.25, 0.001) > 0.04
assert min(median_at("none", g, 0.01) for g in gains) > 0.6
from_one = {kind: np.abs(np.log(medians[kind]))[2:6] for kind in medians}
assert (from_one["plain"] > np.maximum(from_one["none"], from_one["scaled"])).all()
assert upwards["none", 0.25][0] < 1e-11 and upwards["none", 0.25][1] < 0.1
assert upwards["none", 4.0][1] > 0.6 and upwards["none", 1.5][1] < 0.2
linked = {key: found for key, found in upwards.items() if key[0] != "none"}
assert all(0.3 < size < 5 for size, _ in linked.values())
assert all(apart < 0.06 for (kind, _), (_, apart) in linked.items() if kind == "scaled")
assert all(apart < 0.1 for (_, gain), (_, apart) in linked.items() if gain <= 1.5)
assert 0.2 < linked["plain", 4.0][1] < 0.35
assert live["none", 0.5] > 0.3 and live["none", 3.0] > 0.1 and live["none", 1.5] < 0.1
assert all(live["scaled", gain] < 0.05 for gain in (0.5, 1.5, 3.0))

# %% c048 trained
assert 12_000 < sum(p.numel() for p in trained["none"].parameters()) < 12_200
assert (min(minima["none"]), max(minima["none"])) == (5, 17)
assert sorted(minima["scaled"]) == [1, 1, 1, 1, 1, 2] and sorted(minima["half"]) == [
    1,
    1,
    1,
    1,
    1,
    2,
]
assert (min(minima["plain"]), max(minima["plain"])) == (3, 8)
low = {k: [r["below 0.1"] for r in study["surfaces"]["runs"] if r["kind"] == k] for k in minima}
assert np.mean(low["scaled"]) > 10 * np.mean(low["none"]) and abs(
    np.mean(low["plain"]) - 0.013
) < 1e-3 > abs(np.mean(low["none"]) - 0.008)
assert max(low["plain"]) < min(low["half"])
assert np.mean(low["half"]) < np.mean(low["scaled"])
assert adds["plain"][0] > 0.75 and 0.4 < adds["plain"][4] < 0.65 and 0.15 < adds["plain"][-1] < 0.32
assert all(0.13 < share < 0.27 for share in adds["scaled"])
centre = {k: [r["trained"] for r in study["surfaces"]["runs"] if r["kind"] == k] for k in minima}
assert min(centre["scaled"]) > max(*centre["none"], *centre["plain"], *centre["half"])
assert moved["plain"] == sorted(moved["plain"], reverse=True)
assert moved["plain"][0] > max(8 * moved["scaled"][0], 20 * moved["plain"][3])
assert all(surface[8, 8] < 0.02 for surface in planes.values())
assert (planes["scaled"] < 0.1).sum() > 3 * (planes["none"] < 0.1).sum()

# %% c069
assert first_depth == 4 and [lens[k, -1].argmax().item() == stairs for k in range(5)] == [
    False
] * 4 + [True]
tops = [
    [tokenizer.decode([t]).strip() for t in lens[k, -1].topk(5).indices.tolist()] for k in range(5)
]
assert tops[0][:3] == ["other", "first", "last"] and "door" in tops[2] and "door" not in tops[1]
assert tops[3][:2] == ["door", "wall"] and "top" in tops[3]
assert {"steps", "ladder"} < set(tops[4]) and round(lens[4, -1, stairs].item(), 2) == 0.45
stream_sizes = [state[-1].square().mean().sqrt().item() for state in states]
assert stream_sizes == sorted(stream_sizes) and tokens.tolist()[-12] == stairs
assert [round(stream_sizes[k], 2) for k in (0, -1)] == [0.14, 0.28]
assert abs(sum(shares.values()) - (logits[stairs] - logits[other]).item()) < 1e-3
assert all(0.55 < a - b < 0.75 for a, b in zip(by_depth, by_depth[1:], strict=False))
assert by_depth[0] > baselines["bigram"] + 1 and by_depth[0] < baselines["unigram"]
assert by_depth[3] < baselines["bigram"] < by_depth[2]
assert shares["embedding"] < -3.5 and shares["feed-forward 4"] > 3
assert min(shares[f"attention {k}"] for k in (2, 3, 4)) > 2 and abs(shares["attention 1"]) < 0.6
assert all(abs(shares[f"feed-forward {k}"]) < 0.5 for k in (1, 2, 3))
assert decided.count(4) == 14 and len(decided) == 20 and decided[15] == 0
assert abs(fetched.sum().item() - by_attention) < 1e-3
assert {tokens[p].item() for p in fetched.topk(2).indices.tolist()} == {
    tokens[p].item() for p in (17, 18)
}
assert 0.1 < fetched[8] / by_attention < 0.22 and tokens[8] == stairs
assert round(changed["climbed the hill and"][stairs].item(), 2) == 0.24
assert round(changed[""][stairs].item(), 2) == 0.37 and changed[""].argmax() == stairs
ladder = changed["climbed the ladder and"].argmax().item()
assert tokenizer.decode([ladder]).strip() == "ladder"

# %% c088
ends = {key: found[-1] for key, found in grown.items()}
assert ends["no norms", 2.0] > 200 * ends["pre-norm", 2.0] and ends["no norms", 1.5] > 20
assert ends["no norms", 1.0] < 3 and ends["pre-norm", 2.0] < 10
assert all(5.5 < b - a < 8.3 for a, b in zip(squares[1:], squares[2:], strict=False))
assert torch.allclose(ours, torchs) and gap.abs().max() < 1e-6
assert (
    layernorm(others, torch.ones(32), torch.zeros(32), 1e-5)[0]
    == layernorm(batch, torch.ones(32), torch.zeros(32), 1e-5)[0]
).all()
hand = layernorm(torch.tensor([1.0, 3, 3, 9]), torch.ones(4), torch.zeros(4), 0.0)
assert [round(v, 3) for v in hand.tolist()] == [-1, -0.333, -0.333, 1.667]
assert torch.allclose(rmsnorm(torch.tensor([1.0, 7.0]), 1.0, 0.0), torch.tensor([0.2, 1.4]))
assert rmsnorm(torch.zeros(2), 1.0, eps=0.0).isnan().all()

# %% c404
at = {step: k for k, step in enumerate(watched["at"])}
assert all(len(looked(*setting)) == 3 for setting in (*LOOKS, *TABLE))
for run in looked("post-norm", 0.003, 0, True):
    assert 0.99 < run["gradient"][0] < 1.03 and run["added"][0] < 0.06 > abs(run["aligned"][0])
    assert run["cosine"][at[2]] > 0.97 and 0.38 < run["added"][at[20]] < 0.44
    assert run["aligned"][at[20]] > 0.86 and 1.5e-4 < run["gradient"][at[20]] < 1.05e-3
ends = [run["loss"] for run in looked("post-norm", 0.003, 0, True)]
assert (
    ends[0] < 1
    and min(ends[1:]) > 2
    and looked("post-norm", 0.003, 0, True)[0]["cosine"][at[50]] > 0.999
)
assert 5.5e-4 < 1.4**-22 < 6.5e-4 and 1.3 < (1 + 2 * 0.4 * 0.87 + 0.4**2) ** 0.5 < 1.45
for run in looked("post-norm, no attention", 0.01, 0, True):
    assert run["cosine"][at[1]] > 0.9 and run["between"][at[2]] > 0.99 and run["loss"] > 2
for run in looked("post-norm", 0.003, 0, False):
    assert 0.26 < run["added"][0] < 0.3 and max(run["aligned"]) < 0.45
    assert min(run["gradient"]) > 0.05 and run["loss"] < 0.78 and run["cosine"][-1] < 0.05
    assert max(run["cosine"]) > 0.7
for run in looked("post-norm", 0.003, 100, True):
    assert run["cosine"][at[50]] > 0.9995 and 0.004 < run["gradient"][at[50]] < 0.007
    assert 0.2 < run["added"][at[50]] < 0.3 and run["loss"] < 0.8 and run["cosine"][-1] < 0.05
for start in (True, False):
    for run in looked("post-norm", 0.01, 0, start):
        assert run["loss"] > 2 and min(run["cosine"][at[20] :]) > 0.9995
assert all(run["loss"] < 0.75 for run in looked("post-norm", 0.01, 100, False))
pre = looked("pre-norm", 0.01, 0, True)
assert [max(r["cosine"]) > 0.98 for r in pre] == [False, True, True]
assert max(pre[0]["cosine"]) < 0.895 and 15.5 < max(pre[0]["gradient"]) < 17
assert all(2.2 < r["gradient"][0] < 2.6 for r in pre[1:])
assert min(min(r["gradient"]) for r in pre) > 0.9 and max(r["cosine"][at[50]] for r in pre) < 0.1
assert pre[0]["loss"] > 1.4 > 0.76 > pre[1]["loss"]
cells = {
    (norm, start, rate, warmup): losses_at(norm, rate, warmup, start)
    for norm in ("pre-norm", "post-norm")
    for start in STARTS
    for rate in rates
    for warmup in warmups
}
assert (rates, warmups) == ([0.001, 0.003, 0.01, 0.03], [0, 25, 100]) and verdict == "pre-norm"
assert (study["undivided"]["rates"], study["undivided"]["warmups"]) == (rates, warmups)
assert all(len(found) == 3 for found in cells.values())
late = {cell: found[-1] for cell, found in cells.items() if cell[0] == "pre-norm"}
late = {cell[1:]: round(loss, 2) for cell, loss in late.items() if loss > 1}
assert late == {("divided", 0.01, 0): 1.42, ("undivided", 0.03, 0): 2.02}
assert cells["pre-norm", "divided", 0.01, 0][1] < 0.8
wide = [round(loss, 2) for loss in cells["pre-norm", "undivided", 0.03, 0]]
even = [round(loss, 2) for loss in cells["pre-norm", "divided", 0.03, 0]]
assert wide == [0.90, 1.25, 2.02] and (even[0], even[-1]) == (0.75, 0.77)
post = {cell[1:]: found for cell, found in cells.items() if cell[0] == "post-norm"}
learned = {start: [c[1:] for c in post if c[0] == start and post[c][-1] < 1.9] for start in STARTS}
assert learned["divided"] == [(0.001, 100), (0.003, 100)]
assert learned["undivided"] == [
    *[(rate, warmup) for rate in (0.001, 0.003) for warmup in warmups], (0.01, 25), (0.01, 100)
]  # fmt: skip
assert all(post["divided", rate, w][0] > 2 for rate in (0.01, 0.03) for w in warmups)
assert all(post["undivided", 0.03, w][0] > 2 for w in warmups)
assert post["undivided", 0.01, 0][0] > 2
assert (mine - reference).abs().max() < 1e-12
assert abs(FLOOR - study["floor"]["best possible"]) < 1e-12
assert 2**-24 < 1e-7 and abs(0.02 * math.sqrt(768 / 32) - 0.098) < 1e-4
assert abs(0.098 / math.sqrt(24) - 0.02) < 1e-4
some = [post["divided", rate, 0] for rate in (0.001, 0.003)]
assert all(found[0] < 1 and found[-1] > 2 for found in some)
assert post["divided", 0.001, 25][0] > 2 > post["divided", 0.001, 0][1]
assert round(post["undivided", 0.01, 25][-1], 2) == 1.05 > 1 > post["undivided", 0.01, 25][1]
for warmup in warmups:
    gap = np.subtract(
        post["undivided", 0.003, warmup], cells["pre-norm", "undivided", 0.003, warmup]
    )
    assert abs(gap).max() < 0.03
best = min(np.median(found) for found in cells.values())
assert np.median(post["undivided", 0.01, 100]) < best + 0.005

# %% c117 trained
assert all(abs(loss - math.log(2)) < 0.02 for loss in bit_losses[False])
assert [1 - max(a, 0) - max(-a, 0) for a in (-1, 0, 1)] == [0, 1, 0]
assert torch.allclose(gated(x), mine, atol=1e-5)
assert all(loss < 0.01 for loss in bit_losses[True])

# %% c128 trained
assert abs(middle["parallel"] - middle["the block"]) < 0.1
assert -0.05 < middle["no_feed_forward"] - middle["the block"] < 0.15
assert changed_runs("no_norms", 0.003)[:2] > changed_runs("no_skips", 0.003)[:2]
assert max(middle, key=middle.get) == "no_attention" and min(tried["no_attention"]) > UNIFORM - 0.1
for name in ("no_skips", "no_norms"):
    assert min(tried[name]) > max(tried["the block"]) + 0.05
    assert max(tried[name]) - min(tried[name]) > 0.6
    assert all(min(changed_runs(name, rate)) > middle[name] for rate in (0.001, 0.01))
means = {name: np.mean(changed_runs(name, 0.003)) for name in tried}
assert means["no_skips"] > means["no_norms"] + 0.05
assert 0.01 < means["no_feed_forward"] - means["the block"] < 0.05

# %% c140
assert block_costs(2, 3) == (66, 360)
assert parameters == counted["block"] and flops == counter.get_total_flops()
assert parameters == (
    costs.attention_parameters(D, H)
    + costs.feed_forward_parameters(D)
    + 2 * costs.norm_parameters(D)
)
assert 0.66 < share < 0.67 and crossing == 6 * 512
assert round(100 * small) == 18

# %% c402
assert full_bytes / 2**30 == 10 and full_bytes == costs.kv_cache_bytes(80, 64, 128, T=4096)
assert costs.kv_cache_bytes(80, 8, 128, T=4096) * 8 == full_bytes
assert (yours - torchs).abs().max() < 1e-5
grouped = MultiHeadAttention(32, 8, n_kv_heads=2).double()
full = MultiHeadAttention(32, 8).double()
with torch.no_grad():
    full.query.weight.copy_(grouped.query.weight)
    full.output.weight.copy_(grouped.output.weight)
    for name in ("key", "value"):
        some = getattr(grouped, name).weight.view(1, 2, 4, 32)
        getattr(full, name).weight.copy_(share_heads(some, 8)[0].flatten(0, 1))
x = torch.randn(2, 7, 32).double()
assert torch.allclose(grouped(x, causal=True), full(x, causal=True), atol=1e-12)
assert [round(tokens_held, -2) for tokens_held in held.values()] == [52_400, 6_600]

# %% c156
assert clean < min(noisy) and max(noisy) > min(noisy)
assert sorted(set(kept.tolist())) == [0.0, 1.25] and abs(kept.mean() - 1) < 0.01
