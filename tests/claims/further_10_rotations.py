"""What the further notebook 10, rotations, claims: see staff/notebooks/claims.py."""

# %% c015
(counting,), (rests, explodes), (shrinks, grows) = (
    [P for P, *_ in runs] for runs in rules.values()
)
assert counting.tolist() == list(range(40))
assert rests[-1] - rests[-2] < 1e-3 and explodes[-1] == math.inf
assert shrinks[-1] < 1e-9 and shrinks[0] == shrinks[1] == grows[1] and grows[-1] > 8
assert math.exp(0.3 * math.e) < math.e < math.exp(0.5 * math.e)  # 0.3 < 1/e < 0.5

# %% c038
assert bounded == ["C", "E"]
assert torch.allclose(torch.linalg.eigvals(maps["D"]).abs(), torch.ones(2).double())
assert torch.allclose(torch.linalg.eigvals(maps["E"]).abs(), torch.ones(2).double())
assert (maps["E"].T @ maps["E"] - torch.eye(2)).abs().max() > 0.5  # E is not orthogonal
assert torch.allclose(R.T @ R, torch.eye(2).double(), atol=1e-9)
assert orbit(maps["E"], 15).norm(dim=1).max() > 1.5 * orbit(maps["E"], 15).norm(dim=1).min()
assert torch.allclose(orbit(maps["D"], 3)[1:, 0], torch.tensor([0.3, 0.6, 0.9]).double())

# %% c047
printed = [
    [0.000, 0.841, 0.909, 0.141, -0.757],
    [1.000, 0.540, -0.416, -0.990, -0.654],
    [0.000, 0.025, 0.050, 0.075, 0.100],
    [1.000, 1.000, 0.999, 0.997, 0.995],
    [0.000, 0.001, 0.001, 0.002, 0.003],
]  # the lecture's table: rows are dimensions 1 to 5, columns positions 0 to 4
assert torch.allclose(sinusoidal_table(5, 5).T, torch.tensor(printed), atol=6e-4)

# %% c053
assert nearest[0] * math.sqrt(2) < 1e-4 and min(nearest[2:]) > 0.1
assert apart == [710, 1885, 132, 63, 1, 1, 1] and abs(710 / 113 - 2 * math.pi) < 1e-5

# %% c063
assert halves[16][19] > halves[16][3] and products.min() > 0
assert max(products.diagonal(-d).std().item() for d in (1, 7, 23)) < 1e-9

# %% c085
from helpers.models.positions import RotaryPositions

rope = RotaryPositions(8).double()
Q, Kk = torch.randn(2, 10, 8, dtype=torch.double, generator=torch.Generator().manual_seed(1))
of_helper = rope.rotate(Q) @ rope.rotate(Kk).T
by_pairs = sum(
    score_by_distance(Q[7, 2 * i : 2 * i + 2], Kk[4, 2 * i : 2 * i + 2], 10 ** -float(i), 3)
    for i in range(4)
)
assert torch.isclose(of_helper[7, 4], by_pairs)
assert measured == "an eighth" and abs(near - 1 / 8) < 0.01
assert abs(near / far - 1) < 0.05 and meeting.argmax() == 40
for base in (1e4, 5e5):  # on the whole it falls, with ripples as large
    quarters = [equal[base][i : i + 128].mean() for i in range(0, 512, 128)]
    assert quarters == sorted(quarters, reverse=True)
    rest = equal[base][200:]
    deepest = int(rest.argmin())
    assert rest[deepest:].max() - rest[deepest] > rest[:32].mean() - rest[-32:].mean()
assert equal[100.0][32] < equal[1e4][32] < equal[5e5][32] < equal[1e4][1]
assert equal[1e4][512] < equal[1e4][32] and equal[100.0].min() < -0.2
assert equal[100.0][256:].max() > 0.2 and 500 < 200 * math.pi * 100 ** (-1 / 32) < 600

# %% c110d trained
assert more == [False, True]
small, true, clock = resemble.values()
assert abs(small[0]) < 0.3 and true[0] > 0.7 > true[1] > max(true[2:])
bert = by_distance(tables["real, the first 32 of 512"])
assert bert[5:8].max() > bert[3:5].min() + 0.05  # it swings up again
assert clock[0] > 0.9
