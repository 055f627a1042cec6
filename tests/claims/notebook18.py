"""What notebook 18 claims: see staff/notebooks/claims.py."""

# %% c019
assert crossing == 2 * WIDTH + 1  # from T = 2 D on
assert layer_flops("elman", 4, 2) == 64 and layer_flops("attention", 4, 2) == 256
for T in (4, 50):
    x = torch.randn(T, WIDTH)
    assert counted(read_one_by_one, x) == layer_flops("elman", T, WIDTH)
    assert counted(attention, x[None]) == layer_flops("attention", T, WIDTH)

# %% c038
assert 1.05 < (forward + backward) / by_hand < 1.15 and training_flops(1, 2, 3, 1) == 324
assert 0.3 < needed_rate(405e9, 15.6e12, 30.84e6) / 989e12 < 0.4
assert 0.3 < with_output / 125 < 0.45
assert 1.9 < backward / forward < 2.1
assert 3 < rates[63e12] / 125 < 3.6 and 0.3 < rates[6.3e12] / 125 < 0.4
assert abs(updates * batch * length / 6.3e12 - 1) < 0.01
assert 1.2e14 < flops < 1.4e14 and 1.25 < tables < 1.35
assert 10 < needed_rate(303e6, 2.1e12, 25_000) / 1e12 < 62
assert 256e6 < 250_002 * 1024 < 257e6 and 561 - 304 == 257

# %% c065
assert len(runs) == 60 and 0.2 < alpha < 0.4 and 0.4 < beta < 0.75
for size in sizes:
    assert mean_excess(size, lengths[-1]) < mean_excess(size, lengths[0])
assert by_text[0, 0] < 0.12 and by_text[0, 0] + 0.05 < by_text[0, 2]  # steeper with more text
assert by_size[:, 0].max() < 0.2 and by_size[:, -1].min() > 0.2 and by_size[:, -1].max() < 0.4
assert 2 < bounds["no token"] - floor < 2.2 and 1.6 < bounds["one token"] - floor < 1.75
assert (excess_table[0, :3] > shelf).all() and excess_table[0, 3] < shelf
assert excess_table[0, 0] < bounds["no token"] - floor and (excess_table[1:, 1:] < shelf).all()
assert free.floor < floor - 0.8 and high < floor and high - low > 2
assert bare.alpha < free.alpha - 0.02 and (by_text > 0).all() and (by_size > 0).all()
assert min(again) < 0.01 and told.alpha > free.alpha + 0.08 and told.beta > free.beta + 0.2
assert 0.005 < min(off) < 0.015 and 0.13 < max(off) < 0.145
gains = []
for forecast in forecasts.values():
    given, made_up = (abs(forecast[kind] - truth.mean()) for kind in kinds)
    gains.append(given - made_up)
    assert made_up < given and forecast["floor given"] > truth.max()
assert gains[0] > gains[1] + 0.03 and forecasts["all 60 runs"]["E"] < floor - 1.9
small_two = [[at_budget(size, budget) for size in sizes[:2]] for budget in (2e9, 3.5e9)]
assert small_two[0][0] < small_two[0][1] and small_two[1][0] > small_two[1][1]
for budget in budgets[2:]:
    there = [at_budget(size, budget) for size in sizes]
    there = [value for value in there if value == value]
    assert there == sorted(there)  # the smaller wins wherever two were run
at_ends = np.mean(once[60]) - np.mean(once[480])
assert np.mean(repeats[8]) - np.mean(once[480]) < 0.1 and 0.85 < at_ends < 0.95
assert 0.7 < reader_floor < 0.9 and 0.4 < max(left_out) - min(left_out) < 0.5
straightness = lambda x, y: np.corrcoef(np.log(x), np.log(y))[0, 1] ** 2  # noqa: E731
on_right = [straightness(lengths, row) for row in excess_table]
on_left = [straightness(sizes, column) for column in excess_table.T]
assert min(on_right[i] for i in (1, 2, 4)) > 0.998 > 0.98 > max(on_right[0], on_left[0])
assert on_left[-1] == max(on_left) > 0.997 > on_right[3]
steep = [power_law(np.array(lengths), row)[1] for row in excess_table]
assert (np.diff(steep) > 0.08).all()  # another slope for each
whole, one_less, two_less, longer, upper, lower, fallen = fitted_floors.values()
assert whole + 0.3 < one_less < two_less and 0.2 < longer - whole < 0.4
assert max(fitted_floors.values()) < floor - 0.3 and high - low > 2
assert 0.4 < upper - whole < 0.65 and 0.7 < whole - lower < 0.9 and fallen < upper + 0.05
assert 0.4 < floor - upper < 0.6
assert (np.diff(more) > 0.01).all() and more[0] < 0.7 * more[-1]
rms = misfit["all 60 runs"]
assert misfit["without the corner 1,832 / 61k"] < 0.75 * rms
corner = free(float(sizes[0]), float(lengths[0])) - floor - excess_table[0, 0]
assert 0.2 < corner < 0.3 and corner > 10 * np.ptp(shortest)
corner = free(float(sizes[-1]), float(lengths[0])) - floor - excess_table[-1, 0]
assert -0.16 < corner < -0.12

# %% c086
assert many < 40 * one_vector  # weak: other programs may run
assert (codes * scales - theirs).abs().max() < 1e-6
assert abs(rise["8 bits, rows"]) < 0.002 and abs(rise["bfloat16"]) < 0.002
assert 0.01 < rise["4 bits, rows"] < 0.06 and fewer[0] < 0.75 * rise["4 bits, rows"]
assert fewer[1] > 3 * fewer[0] and fewer[2] > 0.6 and fewer[2] + plain > 2 * plain
assert table["8 bits, rows"][0] < 0.65 * table["bfloat16"][0]
assert ways["int8, made float32 first"] > 1.5 * ways["float32"]
for shape in timed["parameters"]:
    rates_of = [writing[f"{shape}, packed, {name}"] for name in ("float32", "bfloat16", "int8")]
    speeds = [row["tokens a second"] for row in rates_of]
    assert speeds[0] < speeds[1] < speeds[2] and speeds[2] > 2 * speeds[1]
    assert (speeds[2] > 4 * speeds[0]) == (shape != "modern")
assert min(reached) > 0.15 and 0.25 < max(reached) < 1 / 3
for row in writing.values():
    near = row["bytes a second of a buffer of this size"]
    assert row["tokens a second"] * row["bytes"] < 1.1 * max(delivered, near)

# %% c099d
assert difference < 1e-12
assert all(plain_size == T * T for T, (plain_size, _) in memory.items())
assert all(by_blocks == max(64 * 64, 16 * T) for T, (_, by_blocks) in memory.items())
plain_kept, blocks_kept, again_kept = (in_training[name] for name in ways_to_attend)
assert blocks_kept[0] > 2 * plain_kept[0] and again_kept[0] == 3 * 1024 * 16
assert blocks_kept[1] == plain_kept[1] and 3 * again_kept[1] == 4 * plain_kept[1]
for name in ways_to_attend:
    for a, b in zip(gradients[name], gradients["plain"]):
        assert (a - b).abs().max() < 1e-10
table_of_layers = {T: timed["layers"][T]["attention, table"] for T in timed["layers"]}
blocks_of_layers = {T: timed["layers"][T]["attention, blocks of 256"] for T in timed["layers"]}
assert timed["layers"]["4096"]["attention, fused"] < 0.7 * table_of_layers["4096"]
assert timed["layers"]["4096"]["attention, fused"] < blocks_of_layers["4096"]
assert blocks_of_layers["4096"] < 0.9 * table_of_layers["4096"]
assert blocks_of_layers["64"] > 0.9 * table_of_layers["64"]
m, total, o = running(3)
assert abs(o / total - float(scores_of_one.softmax(0) @ values_of_one[:, 0])) < 1e-4

# %% c107
by_hand = distillation_loss(pupil[None], teacher[None], torch.tensor([0]), mix=1.0)
assert abs(float(by_hand) - 0.144) < 5e-4
rows = {words: np.array(values) for (words, mix), values in taught.items() if mix < 1}
only = {words: np.array(values) for (words, mix), values in taught.items() if mix == 1}
assert len(only) == 5 and all((rows[words] - only[words] > 0.04).all() for words in only)
for kind in ("short", "fresh"):
    assert (
        max(only[f"{kind} text, truth"])
        < 0.5
        < min(only[f"{kind} text, teacher of the fresh text"])
    )
for kind in ("short", "fresh"):
    alone, true = rows[f"{kind} text, tokens"], rows[f"{kind} text, truth"]
    with_it = rows[f"{kind} text, teacher of the fresh text"]
    assert len(alone) == 3 and (alone - with_it > 0.03).all()
    assert -0.01 < with_it.mean() - true.mean() < 0.05
alone, with_it = rows["short text, tokens"], rows["short text, teacher of the fresh text"]
same = rows["short text, teacher of the short text"]
assert (alone - same > 0.03).all()
assert 0.5 < (alone - same).mean() / (alone - with_it).mean() < 0.85
fresh = rows["fresh text, tokens"] - rows["fresh text, teacher of the fresh text"]
assert 0.5 < fresh.mean() / (alone - with_it).mean() < 0.95
assert 0 < alone.mean() - rows["fresh text, tokens"].mean() < 0.06
assert min(with_it) > max(teachers.values())
short_run, taught_run, long_run = (np.array(values) for values in pupils.values())
assert len(short_run) == 3 and (short_run - taught_run > 0.05).all()
assert abs((long_run - taught_run).mean()) < 0.02 and min(taught_run) > 1.13 + 0.2
assert 2.6 < share < 2.8 and 125 < card["tokens_seen"] / read < 140

# %% c122 trained
assert len(difference_of) == 3 and max(difference_of.values()) < 1e-12
p, layer.k = layer.router(x).softmax(dim=-1), 8
assert (layer(x) - (p[:, :, None] * every).sum(1)).abs().max() < 1e-12
mean_error, idle_of, double_of = (
    {b: [look(*result) for result in found] for b, found in routed.items()}
    for look in (
        lambda error, table: error,
        lambda error, table: int((table.sum(0) < 0.02).sum()),
        lambda error, table: int(((table > 0.02).sum(0) > 1).sum()),
    )
)
assert sorted(idle_of[0.0]) == [0, 2, 2] == sorted(double_of[0.0])
assert sorted(idle_of[0.5]) == [0, 1, 1] == sorted(double_of[0.5])
assert max(idle_of[2.0]) == 0 == max(double_of[2.0])
for seed in (0, 2):
    without, some, much = (mean_error[b][seed] for b in routed)
    assert 0.6 < some / without < 0.8 and much < 0.25 * some
assert mean_error[0.0][1] < mean_error[2.0][1] < 0.03

# %% c135
assert (scan(a, b) - by_loop(a, b)).abs().max() < 1e-12
assert scan(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 5.0])).tolist() == [1.0, 8.0]
assert times[4096][0] / times[256][0] < times[4096][1] / times[256][1]  # weak

# %% c142
assert together["processes"] == 2 and together["own shapes"] == [[32, 16], [16, 32]]
assert together["tensor: own part alone"] > 1e-3 > 1e-12 > together["tensor: after all_reduce"]
assert together["data: gradient"] < 1e-12
