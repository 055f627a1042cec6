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
assert count.total() == 86_567_656 and count["embedding"] == 590_592 and len(base.positions) == 197
assert 0.8 < 100 * new / count.total() < 0.9

# %% c035
_log = [math.log(math.e**3 + 2), math.log(3 * math.e**2)]
assert [round(x, 2) for x in _log] == [3.10, 3.10]
assert torch.allclose(glyphs.flatten(1).norm(dim=1), torch.tensor(5.0))

# %% c038
assert 1 < ceiling(None) - ceiling(1) < 4 and ceiling(1) > 88
