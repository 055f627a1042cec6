"""What notebook 10 claims: see staff/notebooks/claims.py."""

# %% c005
assert torch.allclose(first[other], second, atol=1e-5)

# %% c024
assert binary[6].tolist() == [0, 1, 1, 0, 0] and binary[15].tolist() == [1, 1, 1, 1, 0]
assert from_15.argmax() == 16 and from_15[7] == from_15[31] == from_15[14] == 1
change = (binary[1:5] - binary[:4])[:, :3].tolist()
assert change == [[1, 0, 0], [-1, 1, 0], [1, 0, 0], [-1, -1, 1]]
wave = [math.sin(2 * math.pi * t / 8) for t in range(5)]
assert abs(wave[1] - wave[3]) < 1e-9 and abs(wave[1] - 0.71) < 5e-3
assert abs(wave[2] - 1) < 1e-9 and abs(wave[4]) < 1e-9

# %% c065
from helpers.models.positions import shift_matrix, sinusoidal_table

table = sinusoidal_table(500, 64)
assert torch.allclose(sinusoid(500, 64), table, atol=1e-4)
by_hand = torch.tensor([0.909, -0.416, 0.020, 1.000])
assert torch.allclose(sinusoid(3, 4)[2], by_hand, atol=6e-4)
seen = 2 * math.pi * 10000 ** (2 * np.arange(32) / 64) < 500
assert seen.sum() == 16 and seen[:16].all()  # the lower half has not come round
assert abs(1 - table[:, -1].min()) < 0.01 and table[:, -2].abs().max() < 0.1
assert torch.allclose(shift(5, 8), shift_matrix(5, 8).T, atol=1e-6)
assert torch.allclose(shift(5, 8) @ shift(5, 8).T, torch.eye(8), atol=1e-6)
products = sinusoid(99, 64) @ sinusoid(99, 64).T
assert max(products.diagonal(-d).std().item() for d in (1, 7, 23)) < 1e-4
assert (products.argmax(1) == torch.arange(99)).all()
assert two_back.min() > 0.5 and two_back.max() < 0.8
assert (weights[2:].argmax(1) == torch.arange(22)).all()
sharper = (20 / 8 * scores).masked_fill(~causal_mask(24), -math.inf).softmax(dim=1)
assert sharper.diagonal(-2).min() > two_back.max() + 0.1

# %% c323
from helpers.models.positions import RotaryPositions

some = torch.randn(2, 10, 8, generator=torch.Generator().manual_seed(1))
assert torch.allclose(Rotary().rotate(some), RotaryPositions(8).rotate(some), atol=1e-5)
q, k = torch.tensor([1.0, 0.3]), torch.tensor([0.8, -0.6])
queries, keys = rotate_pair(q.expand(120, 2), 0.5), rotate_pair(k.expand(120, 2), 0.5)
assert abs(queries[3] @ keys[1] - queries[110] @ keys[108]) < 1e-5
assert abs(queries[3] @ keys[1] - queries[1] @ keys[3]) > 1
by_hand = rotate_pair(torch.tensor([[1.0, 0.0]]).expand(104, 2), math.pi / 6)
assert torch.allclose(by_hand[3], torch.tensor([0.0, 1.0]), atol=1e-5)
assert abs(by_hand[3] @ by_hand[1] - 0.5) < 1e-5 and abs(by_hand[103] @ by_hand[101] - 0.5) < 1e-4
for d in (0, 2, 30):  # the wave
    a, b = 1.0 * 0.8 + 0.3 * -0.6, 1.0 * -0.6 - 0.3 * 0.8
    assert abs(queries[d] @ keys[0] - a * math.cos(0.5 * d) - b * math.sin(0.5 * d)) < 1e-5

# %% c076
of_pair = []  # its scores, the query at 7, the key from 0 to 40
for i in range(4):
    q, k = (rotate_pair(start[name][0].expand(41, 2), 10.0**-i) for name in "qk")
    of_pair.append(k @ q[7])
assert of_pair[0].max() > 1 and of_pair[0].min() < -0.99 and of_pair[1][:4].min() > 0.9
assert (of_pair[1][3:33].diff() < 0).all() and of_pair[1].min() < -1
assert 0.28 < 1 - of_pair[2].min() / of_pair[2][0] < 1 / 3
assert of_pair[3].max() - of_pair[3].min() < 0.03

# %% c092
from helpers.models.positions import ALiBi, alibi_slopes

made = torch.stack([alibi_bias(2.0 ** (-8 * h / 4), 9) for h in range(1, 5)])
assert torch.allclose(made.tril(), ALiBi(4).bias(9, 9).tril())
assert alibi_slopes(4).tolist() == [1 / 4, 1 / 16, 1 / 64, 1 / 256]
assert abs(math.log(2) * 4 - 2.8) < 0.05 and round(math.log(2) * 256) == 177
assert abs(parts["weights"][4, 2] - parts["weights"][4, 4]) < 0.05
assert of_words[4].argmax() == 2

# %% c107 trained
assert above["ALiBi"] > np.median(excess["1 layer"]["ALiBi"])  # 500 steps, 800 steps
assert 0.2 < 1 - above["none"] / (math.log(8) - floor) < 0.35
assert worst == "ALiBi" and above["none"] > above["ALiBi"] + 0.5
assert all(above[name] < 0.05 for name in ("learned", "sinusoidal", "RoPE"))

# %% c107
assert abs(floor - 0.4670) < 1e-4 and abs(math.log(8) - 2.0794) < 1e-4
assert min(excess["1 layer"]["ALiBi"]) > 0.1 and min(excess["1 layer"]["none"]) > 1
assert max(excess["1 layer"]["none"]) < math.log(8) - floor - 0.3  # better than guessing
assert max(excess["2 layers"]["ALiBi"]) < 0.04
assert max(excess["2 layers"]["none"]) < min(excess["1 layer"]["none"]) - 0.5
for name in ("learned", "sinusoidal", "RoPE"):
    assert all(max(excess[layers][name]) < 0.01 for layers in excess)
even = math.log(8) - floor
assert 0.2 < 1 - np.median(excess["1 layer"]["none"]) / even < 0.3
assert 0.7 < 1 - np.median(excess["2 layers"]["none"]) / even < 0.8
rates = {r["scheme"]: r["rate"] for r in study["runs"] if r["task"] == "order, 1 layer"}
assert set(rates.values()) == {0.03} and len(rates) == 5
tried = [r for r in study["tuning"] if r["task"] == "order, 1 layer"]
assert {r["rate"] for r in tried} == {0.003, 0.01, 0.03}
assert (
    study["tasks"]["order, 1 layer"]["T"] == T and study["tasks"]["order, 1 layer"]["steps"] == 800
)
window_study = root / "benchmarks/results/positions_window_study.json"
wider = json.loads(window_study.read_text("utf-8"))["wider"]
for at_most in (r for r in wider if r["task"] == "order, 1 layer"):
    (best_rate,) = [r for r in tried if (r["scheme"], r["rate"]) == (at_most["scheme"], 0.03)]
    assert at_most["rate"] == 0.1 and at_most["nats inside"] > best_rate["nats inside"]
assert {r["scheme"] for r in wider} == {"none", "ALiBi"}
assert np.median(excess["1 layer"]["ALiBi"]) < 0.16

# %% c115
tried = [r for r in study["tuning"] if (r["task"], r["scheme"]) == ("tales", "sinusoidal")]
at_scale = {s: min(r["nats inside"] for r in tried if r["scale"] == s) for s in (0.03, 0.2, 1.0)}
assert {r["scale"] for r in runs_of("tales")["sinusoidal"]} == {0.2}
assert at_scale[1.0] > at_scale[0.2] + 0.2 and at_scale[0.03] > at_scale[0.2] + 0.2
assert holds == ["ALiBi"]
assert min(far, key=lambda name: far[name][0]) == "RoPE"
assert max(far, key=lambda name: far[name][2] or 0) == "RoPE"
assert far["RoPE"][2] > far["none"][2] + 1 and kneser_ney < min(f[0] for f in far.values())
assert 0.3 < far["RoPE"][1] - far["RoPE"][0] < 0.7
assert far["sinusoidal"][1] - far["sinusoidal"][0] > 2.5
assert sorted((f[1], name) for name, f in far.items() if f[1])[1][1] == "RoPE"

# %% c117 trained
assert 60 < 2 * math.pi * 10000 ** (2 / (D // H)) < 66  # pair 1 of a head of width 8
early, late = views["RoPE"]
size = early.max() - early.min()
assert early.argmax() == 2 and np.abs(early - late[:24]).max() < 0.02 * size
assert late[:T].argmax() == 2 and late[T:].max() > late[2] - 0.1 * size
early, late = views["sinusoidal"]
assert early.argmax() == 2 and np.abs(early - late[:24]).max() > 0.1 * size

# %% c124 trained
assert torch.equal(window_mask(9, 9), causal_mask(9))
assert fixed == "only RoPE" and windowed["RoPE"][2] < 0.05 and windowed["sinusoidal"][2] > 0.5
assert windowed["RoPE"][1] > 1 and windowed["sinusoidal"][1] > 0.5
assert from_200 > 0.5 and abs(windowed["ALiBi"][1] - windowed["ALiBi"][2]) < 0.15
