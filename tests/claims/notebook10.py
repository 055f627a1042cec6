"""What notebook 10 claims: see staff/notebooks/claims.py."""

# %% c007
assert torch.allclose(first[other], second, atol=1e-5)
assert (masked[other] - masked_2).abs().max() > 0.3

# %% c024
found = {name: (judge(c(50)), judge(c(500))) for name, c in candidates.items()}
assert found["P + 1"] == ((49.0, 1.0), (499.0, 1.0))
for name in ("exp(0.3 P)", "P exp(-0.1 t)"):
    assert found[name][1][1] < 1e-9  # come to rest
for name in ("exp(0.5 P)", "P exp(0.01 t)"):
    assert found[name][1][0] == 1e12  # explode
assert abs(found["share t / (T-1)"][1][1] - 1 / 499) < 1e-9
assert [round(10 / (T - 1), 2) for T in (20, 40)] == [0.53, 0.26]
assert found["sin(2πt / 8)"][0][1] < 1e-9 and found["sin(2πt / 8)"][0][0] <= 1 + 1e-9
assert torch.equal(candidates["P exp(0.01 t)"](5)[0], candidates["P exp(0.01 t)"](5)[1])
assert judge(binary(500, 9)) == (1.0, 1.0)
assert from_15.argmax() == 16 and from_15[7] == from_15[31] == from_15[14] == 1
assert math.exp(0.3 * math.e) < math.e < math.exp(0.5 * math.e)  # 0.3 < 1/e < 0.5

# %% c038
assert bounded == ["C", "E"]
assert step_error(binary(500, 9)) > 0.5 and step_error(circle) < 1e-3
assert torch.allclose(torch.linalg.eigvals(maps["D"]).abs(), torch.ones(2).double())
assert torch.allclose(torch.linalg.eigvals(maps["E"]).abs(), torch.ones(2).double())
assert (maps["E"].T @ maps["E"] - torch.eye(2)).abs().max() > 0.5  # E is not orthogonal
assert torch.allclose(R.T @ R, torch.eye(2).double(), atol=1e-9)
assert orbit(maps["E"], 15).norm(dim=1).max() > 1.5 * orbit(maps["E"], 15).norm(dim=1).min()

# %% c069
printed = [
    [0.000, 0.841, 0.909, 0.141, -0.757],
    [1.000, 0.540, -0.416, -0.990, -0.654],
    [0.000, 0.025, 0.050, 0.075, 0.100],
    [1.000, 1.000, 0.999, 0.997, 0.995],
    [0.000, 0.001, 0.001, 0.002, 0.003],
]  # the lecture's table: rows are dimensions 1 to 5, columns positions 0 to 4
mine = [[round(sinusoid(pos, j, 5), 3) for pos in range(5)] for j in range(5)]
assert mine == printed
assert torch.allclose(sinusoidal_table(5, 5).T, torch.tensor(printed), atol=6e-4)
assert hands_round == 16 and abs(1 - sinusoidal_table(500, 64)[:, -1].min()) < 0.01
assert sinusoidal_table(500, 64)[:, -2].abs().max() < 0.1  # the last sine stays white
assert nearest[0] * math.sqrt(2) < 1e-4 and min(nearest[2:]) > 0.1
assert apart == [710, 1885, 132, 63, 1, 1, 1]
assert hands[int(np.argmax(nearest))] == 6 and of_16[19] > of_16[3]
assert torch.allclose(M, shift_matrix(5, 8, dtype=torch.double), atol=1e-12)
assert torch.allclose(found, M, atol=1e-6) and spread_of < 1e-9
assert weights.diagonal(-2).min() > 0.5 and (weights[2:].argmax(1) == torch.arange(22)).all()
sine_first = sinusoidal_table(99, 64)
cosine_first = sine_first.unflatten(1, (-1, 2)).flip(-1).flatten(1)
assert torch.allclose(cosine_first @ cosine_first.T, sine_first @ sine_first.T, atol=1e-4)
assert products.min() > 0

# %% c085
rope = RotaryPositions(8).double()
Q, Kk = torch.randn(2, 10, 8, dtype=torch.double, generator=torch.Generator().manual_seed(1))
of_helper = rope.rotate(Q) @ rope.rotate(Kk).T
by_pairs = sum(
    score_by_distance(Q[7, 2 * i : 2 * i + 2], Kk[4, 2 * i : 2 * i + 2], 10 ** -float(i), 3)
    for i in range(4)
)
assert torch.isclose(of_helper[7, 4], by_pairs)
assert torch.allclose(rope.rotate(Q, start=7) @ rope.rotate(Kk, start=7).T, of_helper)
assert abs(score_by_distance(q, k, theta, 2) - turn(q, 3 * theta) @ turn(k, theta)) < 1e-5
assert score_by_distance(q, k, theta, -2) != score_by_distance(q, k, theta, 2)
assert measured == "stays" and abs(near / far - 1) < 0.05 and meeting.argmax() == 40
assert equal[100.0][32] < equal[1e4][32] < equal[5e5][32] < equal[1e4][1]
assert equal[1e4][512] < equal[1e4][32]
assert 220 < low < 240 and 490 < high < 513 and round(200 * math.pi * 100 ** (-1 / 32)) == 544
assert abs(equal[100.0][low] + 0.3) < 0.01 and abs(equal[100.0][high] - 0.27) < 0.01

# %% c095
from helpers.models.positions import alibi_slopes

mine = torch.stack([alibi_bias(slope, 9) for slope in slopes])
assert torch.allclose(mine.tril(), ALiBi(4).bias(9, 9).tril())
assert slopes == alibi_slopes(4).tolist() == [1 / 4, 1 / 16, 1 / 64, 1 / 256]
assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
assert abs(math.log(2) * 4 - 2.8) < 0.05 and round(math.log(2) * 256) == 177
steep = alibi_bias(1 / 4, 64)[-1].flip(0).softmax(0)
assert steep[20] < 0.01 * steep[0] and steep[20:].max() < 0.01
gentle = alibi_bias(1 / 256, 64)[-1].flip(0).softmax(0)
assert gentle.max() < 1.3 * gentle.min()

# %% c109 trained
assert min(excess["1 layer"]["ALiBi"]) > 0.1 and min(excess["1 layer"]["none"]) > 1
assert max(excess["2 layers"]["ALiBi"]) < 0.04
assert max(excess["2 layers"]["none"]) < min(excess["1 layer"]["none"]) - 0.5
of_rate = {}
for run in study["tuning"] + window_study["wider"]:
    if run["scheme"] in ("none", "ALiBi") and run["task"] != "tales":
        of_rate.setdefault((run["task"], run["scheme"]), {})[run["rate"]] = run["nats inside"]
assert max(changed["ALiBi", "steep slopes"]) < min(changed["ALiBi", "nothing changed"]) - 0.05
assert min(changed["ALiBi", "no feed-forward"]) > 0.5
assert max(changed["RoPE", "no feed-forward"]) < 0.05
assert len(of_rate) == 4
for found in of_rate.values():
    assert len(found) == 4 and min(found, key=found.get) == 0.03
assert worst == "ALiBi" and above["none"] > above["ALiBi"] + 0.5
assert all(above[name] < 0.05 for name in ("learned", "sinusoidal", "RoPE"))
for name in ("learned", "sinusoidal", "RoPE"):
    assert all(max(excess[layers][name]) < 0.01 for layers in excess)

# %% c110b
assert resemble["learned"][0] < resemble["learned"][1] + 0.05  # neighbours are no more alike
assert abs(resemble["learned"][1]) < 0.1 and resemble["learned"][2] < 0.3
assert abs(resemble["random"][1]) < 0.1 and resemble["random"][2] > 0.12
assert resemble["sinusoidal"][0] > 0.9

# %% c128 trained
assert holds == ["ALiBi"]
far = {s: np.median(v[:, -1]) for s, (e, v) in tales.items() if e[-1] == 512}
inside_64 = {s: np.median(v[:, list(e).index(64)]) for s, (e, v) in tales.items()}
assert min(inside_64, key=inside_64.get) == "RoPE" == max(far, key=far.get)
assert far["RoPE"] > far["none"] + 1 and kneser_ney < min(inside_64.values())
for name in ("sinusoidal", "RoPE"):
    ends, values = order_2[name]
    assert values[:, list(ends).index(32)].max() < floor + 0.02
    assert values[:, list(ends).index(64)].min() > floor + 0.5
assert 60 < 2 * math.pi * 10000 ** (2 / (D // H)) < 66  # pair 1 of a head of width 8
late_rows = views["RoPE"][2][80:96].clone()
far_keys = torch.ones(16, 256, dtype=torch.bool).tril(80 - T)  # 32 and more back
assert (late_rows * far_keys).sum(1).min() > 0.5
sin_near, sin_late, _ = views["sinusoidal"]
assert (sin_near - sin_late[:T])[:24].abs().max() > 0.1 * (sin_near.max() - sin_near.min())
for task in ("order, 1 layer", "order, 2 layers"):
    assert len(of_window(task, "RoPE")) == 5 and of_window(task, "RoPE")[:, 2].max() < floor + 0.01
assert of_window("order, 1 layer", "sinusoidal")[:, 2].min() > floor + 1
some = of_window("order, 1 layer", "ALiBi")
assert np.abs(some[:, 1] - some[:, 2]).max() < 0.15
rope_tales, sin_tales = (of_window("tales", s, 1 / math.log(2)) for s in ("RoPE", "sinusoidal"))
assert len(rope_tales) == 3 and (rope_tales[:, 2] < rope_tales[:, 0] + 0.1).all()
assert (rope_tales[:, 1] > rope_tales[:, 0] + 1).all()
assert (sin_tales[:, 2] > sin_tales[:, 0] + 0.3).all()
assert torch.equal(window_mask(9, 9), causal_mask(9))
for name in ("learned", "sinusoidal", "RoPE"):
    assert views[name][0].argmax() == LAG - 1
rope_near, rope_late, _ = views["RoPE"]
assert (rope_near - rope_late[:T])[:24].abs().max() < 0.02 * (rope_near.max() - rope_near.min())
assert rope_late[T:].max() > rope_late[:T].max()
lead = [curve[LAG - 1] - curve[5:T].max() for curve in (sin_near, sin_late)]
assert lead[1] < 0.5 * lead[0]
assert sin_near.max() - sin_late[LAG - 1] > 5 and views["RoPE"][2][64:96].diagonal(62).mean() < 0.1
assert fixed == (False, True) and windowed["RoPE"] < 0.05 and windowed["sinusoidal"] > 0.5
assert on_eight["sinusoidal"][0] > on_eight["RoPE"][0] + 0.1
assert on_eight["RoPE"][1] > max(0.85, on_eight["sinusoidal"][1] + 0.2)
early, late, other, _ = at_two["sinusoidal"]
assert early > late + 6 and 0 < late - other < 6 and at_two["RoPE"][3] < 0.5
assert slowed["no pair"][0] < 0.02 and slowed["no pair"][1] > 2.5
for name, least in (("all four", 2), ("all but the fastest", 0.5)):
    assert min(slowed[name][:2]) > least and abs(slowed[name][0] - slowed[name][1]) < 0.3
assert 14 <= slowed["all four"][2] <= 18 and slowed["no pair"][2] > 31
assert slowed["all but the fastest"][2] == 2 and 0.25 < slowed["all but the fastest"][3] < 0.5
near = {name: np.median(v[:, e <= 64], axis=0) for name, (e, v) in tales.items()}
assert all((near["RoPE"] < values).all() for name, values in near.items() if name != "RoPE")

# %% c132 trained
assert hands_100 == 31
for width, loss in zip((2, 3, 4), start, strict=True):
    assert abs(by_width[width] - floor - loss) < 0.15
inside_64 = {s: np.median(v[:, list(e).index(64)]) for s, (e, v) in tales.items()}
at_128 = {s: np.median(v[:, list(e).index(128)]) for s, (e, v) in tales.items() if e[-1] == 512}
assert 0.3 < at_128["RoPE"] - inside_64["RoPE"] < 0.7
assert at_128["sinusoidal"] - inside_64["sinusoidal"] > 2.5
assert sorted(at_128, key=at_128.get)[:2] == ["ALiBi", "RoPE"]
assert by_width[2] > math.log(SYMBOLS) and by_width[3] < floor + 0.5
assert by_width[32] < floor + 0.05
assert harmless < 0.3 and as_needed > 1.5
assert added[0] < 0.05 and added[1] > 0.05 and added[4] > added[1] + 0.2
assert added[32] > added[4] + 0.5
