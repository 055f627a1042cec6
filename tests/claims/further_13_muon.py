"""What the further notebook 13, Muon, claims: see staff/notebooks/claims.py."""

# %% c101 trained
assert len(steepness) == 6 and max(steepness.values()) < 0.3 and min(steepness.values()) < 0.06

# %% c103 trained
import math

for row in flatness.values():
    assert row["the gradient"] < row["AdamW's first step"] < row["Muon's first step"]
    assert row["Muon's first step"] > 0.6
level = torch.linalg.svdvals(orthogonalise(gradients[shown]))
assert level[-5] > 0.25 * level[0] and level[-1] < 0.2 * level[0]
a, b, c = 3.4445, -4.7750, 2.0315
sigma = torch.logspace(math.log10(0.002), 0, 999)
for _ in range(5):
    sigma = a * sigma + b * sigma**3 + c * sigma**5
assert sigma.min() > 0.68 and sigma.max() < 1.21

# %% c105
from helpers.learning.optimizers import Muon

W, G = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.ones(6, 4)
G[0, 0] = 3.0
one, two = (torch.nn.Parameter(W.clone()) for _ in range(2))
for p, optimizer in ((one, MyMuon([one], lr=0.1)), (two, Muon([two], 0.1, 0.0))):
    for _ in range(3):
        p.grad = G.clone()
        optimizer.step()
assert (one - two).abs().max() < 0.05

# %% c109
assert len(gains) == 5 and min(gains) > 0.15 and 1.8 < statistics.mean(bits["all"].values()) < 2
assert ms["all"] > ms["AdamW for all, not Muon"]

# %% c113 trained
assert verdict == "equal" or device.type != "cpu"
assert resumed_at == 20 and len(rest) == len(bare_rest) == 20 and bare_apart > 0.02

# %% c115
assert (whole - quarters).norm() / whole.norm() < 1e-5

# %% c203 trained
assert gone[524_288, "float16"][1] > 0.3 and gone[524_288, "float16"][0] > 0.9
assert gone[2_560, "float16"][1] < 1 / 6
assert all(mass < 0.001 for (_, name), (_, mass) in gone.items() if name != "float16")
assert torch.tensor(2.9e-8).half() == 0 < torch.tensor(3.1e-8).half()
