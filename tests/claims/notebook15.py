"""What notebook 15 claims: see staff/notebooks/claims.py."""

# %% p024
every = torch.ones_like(sounds, dtype=torch.bool)
assert torch.allclose(fill_gap(a, b, B).log(), watchman.fill(sounds, every), atol=1e-9)
assert abs(known["all before it"] - known["all after it"]) < 0.03
assert 1.8 < known["all before it"] < 1.88 and 1.45 < known["all others"] < 1.53
first = known["frequencies only"] - known["all before it"]
assert 0.45 < (known["all before it"] - known["all others"]) / first < 0.55
left, both = gpt_fills("Wren took the ___ and played a tune.")
assert 0 < both[candidates.index("under")] < left[candidates.index("under")] < 1e-3
tops = [{candidates[i] for i in p.topk(6).indices} for p in (left, both)]
assert len(tops[0] & tops[1]) <= 4 and candidates[both.argmax()] == "fiddle"
study = json.loads((root / "benchmarks/results/encoder_source_study.json").read_text())
assert np.allclose(study["transitions"], A, atol=1e-7)
assert np.allclose(study["emissions"], B, atol=1e-7)

# %% p033
assert 1.855 < next_floor < 1.885

# %% p033 trained
assert np.mean(copied[-10:]) < 0.05

# %% p055
from helpers.data.masking import mask_tokens as reference_masking

generator = torch.Generator().manual_seed(0)
tokens = torch.randint(30_000, (2000, 500), generator=generator)
nowhere = torch.zeros_like(tokens, dtype=torch.bool)
inputs, targets = masked(tokens, nowhere, 30_000, 30_000, generator)
chosen, asked = targets != -100, inputs == 30_000
kept = inputs == tokens
found = asked, ~kept & ~asked, kept & chosen, ~chosen
shares = [100 * float(where.double().mean()) for where in found]
for share, wanted in zip(shares, (12, 1.5, 1.5, 85), strict=True):
    assert abs(share - wanted) < 0.2
theirs = reference_masking(
    tokens, mask=30_000, vocab_size=30_001, generator=torch.Generator().manual_seed(1)
)
for ours, other in zip((inputs, targets), theirs, strict=True):
    assert abs(float((ours == tokens).double().mean() - (other == tokens).double().mean())) < 0.003
assert abs(float((theirs[0] == 30_000).double().mean()) - 0.12) < 0.002

# %% p031b
from helpers.models.encoder import Encoder, MaskedLM

assert total - sum(heads.values()) - 30_522 == 109_482_240 and total == 110_106_428
roberta = total + (50_265 - 30_522) * (768 + 1)
assert 124.5e6 < roberta - sum(heads.values()) - 50_265 < 125.5e6
torch.manual_seed(1)
ours = Bert(V=30, D=16, H=2, L=2, T=12).double()
theirs = MaskedLM(Encoder.bert(30, 16, 2, 2, max_length=12)).double().eval()
for part in ours.modules():
    if isinstance(part, nn.LayerNorm):
        part.eps = 1e-12
encoder = theirs.encoder
with torch.no_grad():
    for mine, other in (
        (ours.tokens.weight, encoder.embedding.tokens.weight),
        (ours.positions, encoder.embedding.tokens.positions.embedding.weight),
        (ours.segments.weight, encoder.embedding.segments.weight),
        (ours.bias, theirs.bias),
    ):
        other.copy_(mine)
for mine, other in (
    (ours.norm, encoder.embedding.norm), (ours.blocks, encoder.blocks),
    (ours.last, theirs.transform), (ours.last_norm, theirs.norm),
):  # fmt: skip
    other.load_state_dict(mine.state_dict())
ids = torch.tensor([[5, 7, 9, 11, 13, 2], [6, 8, 4, 0, 0, 0]])
segments = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0]])
assert (ours(ids, segments) - theirs(ids, segments))[ids > 0].abs().max() < 1e-10
assert ours.next_sentence(ids, segments).shape == (2, 2)

# %% p075b trained
left = known["all before it"] - known["all others"]
by_frequency = known["frequencies only"] - known["all others"]
*turned, table = gap_curves.values()
for curve in turned:
    assert 0.03 < curve[500] < left - 0.08
slower = Bert(V=7, D=32, H=2, L=2, T=T, pad=-1)  # from another seed
for curve in (table, pretrain(slower, seed=1, rate=0.002)):
    assert curve[500] > max(left + 0.15, by_frequency - 0.05)

# %% p094
assert max(of_kind("0/100/0", "gap")) < 1.9
assert len(kinds) == 6 and all(len(of_kind(kind, "probe")) == 3 for kind in kinds)
probes = {kind: of_kind(kind, "probe") for kind in kinds}
assert all(abs(x - limits["place, own sound"]) < 0.03 for x in probes["0/0/100"])
assert max(probes["80/10/10"]) < min(probes["100/0/0"]) - 0.03
assert max(probes["100/0/0"]) < min(probes["80/0/20"]) - 0.1
for kind in ("80/20/0", "0/100/0"):
    assert abs(np.mean(probes[kind]) - np.mean(probes["80/10/10"])) < 0.05
    assert max(of_kind(kind, "intact")) < 0.6
assert min(of_kind("80/10/10", "intact") + of_kind("80/0/20", "intact")) > 0.88
assert max(of_kind("100/0/0", "intact")) < 0.5
met = [x for kind in kinds if kind[0] != "0" for x in of_kind(kind, "gap")]
assert max(met) - min(met) < 0.07 and min(of_kind("0/0/100", "gap")) > 5
faster = {kind: np.mean(of_kind(kind, "probe", 0.024)) for kind in kinds}
assert abs(faster["80/10/10"] - np.mean(probes["80/10/10"])) < 0.03
for kind in ("100/0/0", "80/20/0", "0/100/0"):
    assert faster[kind] > np.mean(probes[kind]) + 0.2
for kind in ("100/0/0", "80/0/20", "0/0/100"):
    assert min(of_kind(kind, "probe", 0.024)) > max(of_kind("80/10/10", "probe", 0.024)) + 0.05

# %% p126
assert 45 < by_words < 55 and 40 < by_head < 52 and by_words - 8 < by_head

# %% p135
true_text, once, five_passes, one_by_one, mixed = letters.values()
assert 1.05 < true_text < 1.2 < one_by_one < five_passes < once - 0.2
assert once - five_passes > 2 * (five_passes - one_by_one) and one_by_one > true_text + 0.05
assert one_by_one + 0.01 < mixed < once - 0.2
