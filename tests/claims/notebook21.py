"""What notebook 21 claims: see staff/notebooks/claims.py."""

# %% c012
assert x.shape == (4, 16, 48) and torch.equal(unpatch(x, 4), scenes)

# %% c014
assert one.shape == (1, 196, 768) and other.shape == (1, 768, 14, 14)
assert torch.allclose(one, other.flatten(2).transpose(1, 2), atol=1e-5)

# %% c018
from helpers.models.vision import VisionTransformer

torch.manual_seed(0)
_ours = ViT(16, 4, 10, D=48)
torch.manual_seed(0)
_theirs = VisionTransformer(16, 4, 10, 48, 4, 2)
assert torch.equal(_ours(torch.ones(2, 1, 16, 16)), _theirs(torch.ones(2, 1, 16, 16)))

# %% c021
assert count.total() == 86_567_656 and count["embedding"] == 590_592
assert count["blocks"] == 12 * (4 * (768**2 + 768) + 8 * 768**2 + 5 * 768 + 4 * 768)  # BERT-base
assert 0.8 < 100 * new / count.total() < 0.9

# %% c034f
assert best == int(label) and 20 < times < 60
assert scores[best] - matches[best].max() < 0.01  # one place towers over the others

# %% c035
_log = [math.log(math.e**3 + 2), math.log(3 * math.e**2)]
assert [round(x, 2) for x in _log] == [3.09, 3.10]
assert torch.allclose(glyphs.flatten(1).norm(dim=1), torch.tensor(5.0))

# %% c038
assert 1 < ceiling(None) - ceiling(1) < 4 and ceiling(1) > 88
assert abs(ceiling(1) - best_place_alone()) < 0.5

# %% c042 trained
assert 80 < reached < ceiling(None) - 1

# %% c046
assert study["steps"] == 400 and study["steps"] * study["batch"] < 20_000 == study["numbers"][1]
for _row in study["rows"]:
    _where = [_row[name] for name in ("place", "seed", "noise")]
    _same = (
        c["ceiling"]
        for c in study["ceilings"]
        if [c[n] for n in ("place", "seed", "noise")] == _where
    )
    _top = next(_same)
    assert _row["test"] < _top or _row["noise"] == 0
    if _row["place"] == "fixed":
        assert _row["test"] > 0.78 and (_row["number"] == 1000 or _row["test"] > _top - 0.08)
        assert _row["number"] == 20_000 or _row["test"] < _top - 0.08
assert min(results("linear", "fixed", 20_000)) > max(results("CNN", "fixed", 20_000))
for _name in ("linear", "ViT"):
    assert min(results("CNN", "fixed", 1000)) > max(results(_name, "fixed", 1000))
for _n in study["numbers"]:
    assert min(results("CNN", "anywhere", _n)) > 4 * max(results("linear", "anywhere", _n))
    assert max(results("ViT", "anywhere", _n)) < 17

# %% c047a
assert len(study["rows"]) == 72  # three seeds of each
_new = {name: results(name, "new", 20_000, noise=0.0) for name in NETWORKS}
assert study["held"] == 20 and max(_new["linear"]) < 11
assert min(_new["ViT"]) > 97 and min(_new["CNN"]) > 99
assert min(results("ViT", "anywhere", 1000, part="train")) > 70  # by heart
_long = {name: results(name, "anywhere", 20_000, steps=1600) for name in NETWORKS}
assert 1.7 < min(_long["ViT"]) / mean(results("ViT", "anywhere", 20_000)) < 2.3
assert max(_long["linear"]) < 0.7 * min(_long["ViT"]) and min(_long["CNN"]) > 80

# %% c054
assert torch.allclose(before, after, atol=1e-3)

# %% c054 trained
assert share_right(unmoved, test_labels) < share_right(before, test_labels) - 20
assert share_right(unmoved, test_labels) > 13

# %% c057
for _name in NETWORKS:
    _as_is, _anew = (mean(results(_name, "fixed", 20_000, how)) for how in (False, True))
    assert abs(_anew - _as_is) < 4
_others = results("linear", "anywhere", 20_000, True) + results("ViT", "anywhere", 20_000, True)
assert max(_others) < min(results("CNN", "anywhere", 20_000, True)) and anew < 40
assert abs(mean(_others[3:]) - mean(results("ViT", "anywhere", 20_000))) < 3

# %% c059 trained
_table = F.normalize(vit.positions[1:], dim=1).detach()
_alike, _inner = _table @ _table.T, torch.zeros(4, 4, dtype=torch.bool)
_inner[1:3, 1:3] = True
_inner = _inner.flatten()
_off = ~torch.eye(16, dtype=torch.bool)
_border = _alike[(~_inner[:, None] & ~_inner) & _off].mean()
assert _border > 0.2 and _alike[_inner][:, ~_inner].mean() < 0
assert _alike[(_inner[:, None] & _inner) & _off].mean() < _border - 0.15

# %% c077a
assert len(set(seen_captions)) == 162 and same < 3
assert len(new_pictures) == 300 and not known & {one.numpy().tobytes() for one in new_pictures}

# %% c079 trained
assert exact(said, new_captions) > 80

# %% c081 trained
_bits = [bits_of(captioner, shown, new_captions) for shown in (new_pictures, others)]
assert exact(describe(captioner, others), new_captions) < 5
assert _bits[0] < 3 and _bits[1] > 1.5 * math.log2(162)
