"""What the further notebook on other vocabularies claims: see staff/notebooks/claims.py."""

# %% c125
assert longer["score"][0].removeprefix("##").isupper() and "##he" in longer["count"][:10]
assert all(t.vocab_size == 2048 for t in (by_score, by_count))
assert 900 < by_scores[100].vocab_size < 1100


def fit(*counts):
    """The log-likelihood of a unigram model with these counts, in nats."""
    return sum(n * math.log(n / sum(counts)) for n in counts if n)


th = fit(15_000, 7000, 5000, 168_000) - fit(20_000, 12_000, 168_000)
qu = fit(0, 2900, 100, 196_900) - fit(100, 3000, 196_900)
assert (round(th, -1), round(qu, -1)) == (3980, 420)
loss = 6 * math.log(0.54 / 0.24) - 3 * math.log(0.6 / 0.4)
assert round(loss, 1) == 3.6 and 0.4 * 0.6 == 0.24

# %% c135
assert best_cut("dogs", {piece: math.log(p) for piece, p in P_OF.items()}) == ["dog", "s"]
assert METHODS["Unigram"]("dogs") == [" dog", "s"] and METHODS["BPE"]("dogs") == [" do", "gs"]
cuts = [cut("lanterns") for cut in METHODS.values()]
assert [c[-1].removeprefix("##") for c in cuts] == ["s"] * 5
assert [c[0].strip() for c in cuts] == ["lantern"] * 5
assert all(METHODS["Unigram"](w) == unigram.cut(" " + w) for w in set(tales[0]))
assert unigram.vocab_size == 2048 and len(bpe.merges) + n_characters == 2048
assert abs(shorter[0]) < 0.015 and better[0] - better[1] > 0.1
assert per_word["WordPiece, score"].mean() > 1.3 * per_word["BPE"].mean()
stem = {name: hits.mean() for name, hits in at_stem.items()}
assert 0.4 < (stem["BPE, longest first"] - stem["BPE"]) / better[0] < 0.55
assert abs(stem["BPE, longest first"] - stem["WordPiece, count"]) < 0.03
assert 0.15 < len(other) / len(longer) < 0.35

# %% c140
new_fertility = dict(zip(sizes, fertility["new tales"]))
assert all(np.diff(fertility["new tales"]) < 0)
assert new_fertility[724] < 0.5 * new_fertility[256]
assert full.vocab_size < 8192
gaps = np.subtract(fertility["new tales"], fertility["training tales"])
assert gaps[-1] > gaps[sizes.index(4096)] > gaps[sizes.index(2048)]
assert gaps[sizes.index(512)] < 0 and 0.01 < gaps[-1] - gaps[sizes.index(512)] < 0.03
last = {n: v[sizes.index(4096)] - v[-1] for n, v in fertility.items()}
assert all(0.04 < last[name] < 0.06 for name in ("training tales", "new tales"))
assert rare > 0.7 * (V - 256)
middle = torch.bincount(BPETokenizer(full.merges[: 4096 - 256]).encode(corpus.train))
assert 0.4 < (middle[256:] < 10).sum().item() / 3840 < 0.5
assert fertility["Python's docs"][-1] > 1.5 * fertility["new tales"][-1]

# %% c150
assert round(200_000 * 768 / 1e6) == 154
assert 1 < gap < 5 and 1024 <= chosen <= 4096 and len(bits[256]) == 24
assert all(differences[V][0] > differences[V][1] for V in (256, 512, full.vocab_size))
assert all(abs(differences[V][0]) < 0.008 for V in (1024, 2048, 4096))
