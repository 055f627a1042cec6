"""What notebook 11 claims: see staff/notebooks/claims.py."""

# %% c012
from helpers.course.checks import notebook09

assert mean_cosine(first_x) < 0.1
assert alike["x ← attention(x)"][-1] > 0.99995 and alike["x ← attention(x)"][2] > 0.99
drift = alike["x ← x + attention(x)"]
assert drift[0] < drift[6] < drift[-1] < 0.6
# The class that is imported is the one of notebook 09.
theirs = notebook09.MultiHeadAttention.fallback(64, 4)
theirs.load_state_dict(attentions[0].state_dict())
with torch.no_grad():
    for mask in (None, causal_mask(5)):
        ours = attentions[0](first_x[None], mask=mask)
        assert torch.allclose(theirs(first_x[None], mask=mask), ours, atol=1e-5)

# %% c031
assert medians["replaced"][0] < 1e-6 and medians["replaced"][-1] > 1000
assert GAINS[int(np.abs(np.log(medians["replaced"])).argmin())] == 1.25
assert min(medians["added"]) > 2 and 10 < medians["added"][GAINS.index(1.0)] < 32
assert min(medians["added"][-2:]) > 90
assert min(medians["added, scaled"]) > 0.9 and max(medians["added, scaled"]) < 2.5
assert 0.8**30 < 0.0013 and 237 < 1.2**30 < 238

# %% c074
assert without_norms[4][-1] > 200 > 5 * without_norms[2][-1]
assert without_norms[4][-1] / without_norms[4][0] > 100

# %% c701
assert max(with_norms[4]) < 6 * with_norms[4][0]
hand = layernorm(torch.tensor([1.0, 3, 3, 9]), torch.ones(4), torch.zeros(4), 0.0)
assert [round(v, 3) for v in hand.tolist()] == [-1, -0.333, -0.333, 1.667]

# %% c086
assert torch.allclose(ours, torchs)
hand = torch.tensor([1.0, 1.0, -5.0])
assert torch.allclose(rmsnorm(hand, 1.0, 0.0), hand / 3) and float((hand**2).mean()) == 9
assert rmsnorm(torch.zeros(2), 1.0, eps=0.0).isnan().all()

# %% c706
assert alone > 0.9999

# %% c111 trained
assert all(abs(loss - math.log(2)) < 0.02 for loss in read_losses["linear"])
assert all(loss < 0.05 for loss in read_losses["with a hidden layer"])
assert [1 - max(a, 0) - max(-a, 0) for a in (-1, 0, 1)] == [0, 1, 0]

# %% c097
from helpers.models.blocks import PreNormBlock

theirs = PreNormBlock(32, block.attention, block.feed_forward).double()
theirs.attention_norm, theirs.feed_forward_norm = block.norm_1, block.norm_2
assert torch.allclose(theirs(x, causal=True), block(x, causal_mask(6)), atol=1e-12)
assert gap < 1e-12 and 2**-11 < 1e-3

# %% c134
from helpers.models import costs

assert sum(p.numel() for p in Block(2, 1).parameters()) == 66
assert counted == 12 * 768**2 + 9 * 768 and abs(counted / (12 * 768**2) - 1) < 0.01
assert counted == (
    costs.attention_parameters(768, 2)
    + costs.feed_forward_parameters(768)
    + 2 * costs.norm_parameters(768)
)
assert shares == {1024: 0.18, 4608: 0.5, 128_000: 0.97} and 4608 == 6 * 768

# %% c144
assert kept / 2**30 == 10 / 64 and kept == 2 * 80 * 128 * 4096 * 2

# %% c704 trained
assert end(losses) < FLOOR + 0.3

# %% c103
assert min(losses_at("pre-norm", 0.01)) > FLOOR and verdict == "pre-norm"
pre = [loss for rate in study["rates"] for loss in losses_at("pre-norm", rate)]
assert len(pre) == 12 and max(pre) < 1.5 and sum(loss > 1 for loss in pre) == 1
assert all(min(losses_at("post-norm", rate)) > 2 for rate in (0.01, 0.03))
for rate in (0.001, 0.003):
    found = losses_at("post-norm", rate)
    assert found[0] < 1 and found[-1] > 2
    assert max(losses_at("post-norm", rate, 100)) < 1.9
assert (study["layers"], study["steps"], study["width"]) == (12, 200, 32)

# %% c126 trained
assert min(tried["NoAttention"]) > UNIFORM - 0.1 and min(tried["NoResiduals"]) > 1.6
assert 0.02 < middle["NoFeedForward"] - middle["Block"] < 0.25
assert abs(middle["NoNorms"] - middle["Block"]) < 0.1
assert exclusive_or < 0.05
assert higher["NoNorms"] > 1.4 and higher["Block"] < 1
assert 1.35 < UNIFORM - FLOOR < 1.45
