"""What the further notebook 11, logit lens, claims: see staff/notebooks/claims.py."""

# %% c061
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

# %% c066
assert abs(sum(shares.values()) - (logits[stairs] - logits[other]).item()) < 1e-3
assert shares["embedding"] < -3.5 and shares["feed-forward 4"] > 3
assert min(shares[f"attention {k}"] for k in (2, 3, 4)) > 2 and abs(shares["attention 1"]) < 0.6
assert all(abs(shares[f"feed-forward {k}"]) < 0.5 for k in (1, 2, 3))

# %% c206
assert changed["climbed the hill and"][stairs] < 0.3 < changed[""][stairs] < 0.42
assert changed[""].argmax() == stairs
ladder = changed["climbed the ladder and"].argmax().item()
assert tokenizer.decode([ladder]).strip() == "ladder"

# %% c069
assert all(0.55 < a - b < 0.75 for a, b in zip(by_depth, by_depth[1:], strict=False))
assert by_depth[0] > baselines["bigram"] + 1 and by_depth[0] < baselines["unigram"]
assert by_depth[3] < baselines["bigram"] < by_depth[2]
