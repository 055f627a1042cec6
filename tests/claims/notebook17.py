"""What notebook 17 claims: see staff/notebooks/claims.py."""

# %% c018
assert counted["question"] < 10 < counted["statement"] < 50 < counted["word"]
inputs, targets = pair(question)
from helpers.data.reader_instructions import encoded

theirs = encoded(tokenizer, question)
assert theirs[0].tolist() == inputs and theirs[1].tolist() == targets
assert all(task.answer.strip() not in go_on(base, task.prompt, 8) for task in (question, word))

# %% c031
from helpers.models.adapters import trained

_lora, _narrow = copy.deepcopy(base), copy.deepcopy(base)
add_lora(_lora, r, alpha, MAPS)
add_adapters(_narrow, m)
assert ways["LoRA"] == sum(w.numel() for _, w in trained(_lora))
assert ways["adapters"] == sum(w.numel() for _, w in trained(_narrow))
assert 0.97 < ways["adapters"] / ways["LoRA"] < 1.03 and 0.05 < ways["LoRA"] / N < 0.06
assert 3 < ways["output"] / ways["LoRA"] < 4 and one == 12_288
_optimizer = torch.optim.AdamW([w for _, w in trained(_lora)])
F.cross_entropy(_lora(torch.tensor([[1, 2]]))[0], torch.tensor([2, 3])).backward()
_optimizer.step()
_means = [s[k] for s in _optimizer.state.values() for k in ("exp_avg", "exp_avg_sq")]
assert sum(w.numel() * w.element_size() for w in _means) == 8 * ways["LoRA"]

# %% c052
from helpers.models.adapters import LoRALinear, trained

torch.manual_seed(0)
twice = exchanged(copy.deepcopy(base).double(), lambda layer: WithLoRA(layer, r, alpha))
for name, weight in twice.named_parameters():
    if name.endswith(".B"):
        weight.data.normal_(0, 0.05)
whole = exchanged(twice, merged)
with torch.no_grad():
    assert (twice(ids) - whole(ids)).abs().max() < 1e-9 < 0.5 < moved
    layer, x = twice.blocks[0].attention.query, torch.randn(2, 3, D).double()
    theirs = LoRALinear(nn.Linear(D, D, bias=False).double(), r, alpha)
    theirs.base.weight.copy_(layer.old.weight)
    theirs.A.copy_(layer.A)
    theirs.B.copy_(layer.B)
    assert torch.allclose(theirs(x), layer(x), atol=1e-12)
assert sum(w.numel() for _, w in trained(twice)) == ways["LoRA"]

# %% c068
for needed in at_start.values():
    assert abs(needed[0] - untouched) < 1e-4 and needed == sorted(needed)
assert at_start["LoRA"][3] > guessing and at_start["LoRA"][1] > untouched + 0.04
assert 0.05 < at_start["adapters"][3] - untouched < 0.5 < at_start["adapters"][4] - untouched
assert gradients(first, last)[0] == 0 < gradients(first, last)[1]
assert gradients(0 * first, last) == (0, 0)
from helpers.models.adapters import Adapter

theirs, x = Adapter(D, m, zero=False), torch.randn(2, 3, D)
own = adapter(x, theirs.down.weight, theirs.down.bias, theirs.up.weight, theirs.up.bias)
assert torch.allclose(own, theirs(x), atol=1e-6)

# %% c080 trained
assert abs(float(delta.square().sum()) - 30) < 1e-3
for r_ in RANKS:
    floor = float(best_possible(delta, r_))
    assert (plenty[r_] > floor - 1e-3).all() and (plenty[r_] < floor + 0.25).all()
assert all(plenty[r_].max() < 0.05 for r_ in RANKS if r_ >= TRUE_RANK)
assert nearest == 3 and few[3].mean() < few[2].mean() and (few[3] < few[4]).all()
order = [few[r_].mean() for r_ in (4, 6, 8, 12)]
assert order == sorted(order) and few[24].mean() > 2 * few[4].mean()
assert (30 - few[24].mean()) < 0.5 * (30 - few[4].mean())

# %% c095 trained
assert 3.5 < follows["not taught", "trained"][2] < follows["not taught", "left out"][2] < 5.3
fresh, after = measured.values()
assert after["word, worth"][0] < 1.2 and abs(after["question, worth"][0] - 1.1) < 0.5
assert fresh["word, worth"][0] < 1 < 3 < follows["not taught", "trained"][2]
assert after["statements"] < np.mean(as_many) - 4 < naive - 10 and 55 < naive < 70
of = {way: runs("methods", method=way) for way in ways}
cheap = {way: runs("equal cost", method=way) for way in ("output", "adapters", "LoRA")}
assert all(len(rows) == 3 for rows in (*of.values(), *cheap.values()))
assert settings["rank"] == r and settings["width"] == m
for way, number in units.items():
    assert abs(number / units["full"] - settings["cost"][way]) < 0.02
keys = (*IN_PER_CENT, "word, gained", "question, gained")
means = {way: {key: np.mean(values(rows, key)) for key in keys} for way, rows in of.items()}
start = values([untaught], "question, gained")[0]
low, high = ({w: f(values(of[w], "question, gained")) for w in ways} for f in (min, max))
assert low["full"] > high["LoRA"] + 1 > low["LoRA"] > high["adapters"] + 1
assert abs(high["output"] - start) < 0.3 and 1.8 < low["adapters"] / start < 2.2
assert 5.5 < means["full"]["question, gained"] < 6 and means["LoRA"]["question, gained"] > 4
assert all(1 < found["word used"] < 4 for found in means.values())
assert min(values(of["full"], "word used")) > max(values(of["full"], "other word")) + 1
assert means["full"]["word, gained"] - untaught["word, gained"] > 0.8
assert 5 < means["full"]["exact"] < 7 and 3 < means["LoRA"]["exact"] < 4.1
assert 50 < means["full"]["statement"] < 52
assert all(41 < means[way]["statement"] < 47.5 for way in cheap)
equal_bayes = min(values(fewer, "statement"))
assert all(max(values(rows, "statement")) < equal_bayes - 4 for rows in of.values())
assert fewer[0]["statements"] == settings["steps"] // 3 * settings["batch"]["statement"]
assert means["adapters"]["exact"] < 100 * constant["exact"] > means["output"]["exact"]
halves = {w: runs("exchanges", method=w) for w in ("none", "full")}
assert 1.9 < min(values(halves["full"], "paragraph")) < min(values(halves["full"], "question"))
assert min(values(halves["full"], "question")) > 3 and halves["none"][0]["paragraph"] < 1
old = {way: values(of[way], "stories") for way in ways}
assert min(old["adapters"]) > max(old["full"]) > min(old["full"]) > max(old["LoRA"]) + 0.03
assert 0 < np.mean(old["output"]) - np.mean(old["LoRA"]) < 0.03
later = {way: values(rows, "question, gained") for way, rows in cheap.items()}
assert high["LoRA"] < min(later["LoRA"]) and max(later["LoRA"]) < low["full"]
assert 4.7 < np.mean(later["LoRA"]) < 5.3
assert abs(np.mean(later["output"]) - start) < 0.2
assert min(values(cheap["output"], "stories")) > max(old["output"])
by_clock = [row["seconds"] for row in cheap["LoRA"]]
full_time = max(row["seconds"] for row in of["full"])
assert min(by_clock) > 1.3 * full_time
assert 0.9 < seconds["LoRA"] / seconds["full"] < 1.3
assert seconds["output"] < 0.6 * seconds["full"]
assert 0.8 < seconds["adapters"] / seconds["full"] < 1
assert abs(900 * seconds["output"] / (450 * seconds["full"]) - 1) < 0.15
assert alone["word used"] > 0.3 and alone["other word"] < 0.01
assert 7 < alone["word, gained"] < 7.5 and 0.4 < values([alone], "stories")[0] < 0.5
assert alone["word, bits"] > max(mixed) and max(mixed) < 66.4
assert alone["steps"] == 8 * settings["steps"] // 3
told = runs("whole stories", kind="words", method="full")
more = [row["words used"] - row["other words"] for row in told]
assert all(row["gained"] < before_words["gained"] for row in told)
for row in runs("whole stories", kind="statement", method="full"):
    assert 0.54 < row["statement"] < 0.59 and abs(row["gained"]) < 0.01
    assert abs(row["statement"] - row["statement, other story"]) < 0.015
with_numbers = copy.deepcopy(base)
for layer in add_adapters(with_numbers, m):
    nn.init.normal_(layer.up.weight, 0, 0.1)
with torch.no_grad():
    assert not torch.equal(with_numbers(ids), base(ids))
    for block in with_numbers.blocks:
        block.attention, block.feed_forward = block.attention.layer, block.feed_forward.layer
    assert torch.equal(with_numbers(ids), base(ids))
assert units["LoRA"] < 0.8 * units["full"] and units["output"] < units["adapters"]
low_rate = three_rates("full")[0]
assert max(values(low_rate, "stories")) < min(old["LoRA"]) - 0.02
assert abs(point(low_rate)[1] - means["LoRA"]["question, gained"]) < 0.2
again = {way: runs("replay", method=way) for way in ways}
for way, rows in again.items():
    saved = np.mean(old[way]) - point(rows)[0]
    assert len(rows) == 3 and 0.14 < saved < 0.29 and max(values(rows, "stories")) < 0.05
    assert point(rows)[1] > means[way]["question, gained"] - 0.5
for way in ("full", "adapters", "LoRA"):
    assert max(values(again[way], "tales")) < -0.005
time_again = np.mean([row["seconds"] for row in again["full"]])
assert 1.6 < time_again / full_time < 2.1
sizes = {
    p: [np.mean(values(runs("ranks", rank=k, power=p), "size")) for k in (2, 32)] for p in (1, 0.5)
}
assert sizes[1][0] > 1.7 * sizes[1][1] and abs(sizes[0.5][0] / sizes[0.5][1] - 1) < 0.15
of_rank = {
    (k, p): values(runs("ranks", rank=k, power=p), "both") for k in (2, 32) for p in (1, 0.5)
}
for p in (1, 0.5):
    assert max(of_rank[2, p]) < 3.1 < 4.8 < min(of_rank[32, p])
    assert abs(np.mean(of_rank[2, p]) - 2.7) < 0.1 and abs(np.mean(of_rank[32, p]) - 5.4) < 0.2
assert abs(np.mean(of_rank[32, 1]) - np.mean(of_rank[32, 0.5])) < 0.3
assert 0.2 < 32 * ways["LoRA"] / r / N < 0.25
of_8, of_32 = (values(runs("ranks", rank=k, power=1), "stories") for k in (8, 32))
assert abs(np.mean(of_8) - np.mean(of_32)) < 0.02
assert min(values(runs("ranks", rank=32, power=0.5), "stories")) > max(of_8)
full_curve = np.array([point(rows) for rows in three_rates("full")[:2]]).T
wider, longer = runs("ranks", rank=32, power=1), cheap["LoRA"]
for rows, key in ((wider, "both"), (longer, "question, gained")):
    lost_here, worth_here = point(rows, key)
    assert abs(worth_here - np.interp(lost_here, *full_curve)) < 0.6
words_worth = [np.mean(values(rows, "word, gained")) for rows in three_rates("full")]
assert 1.6 < words_worth[2] / words_worth[1] < 2
assert point(three_rates("adapters")[2])[0] > 0.6
spread_of = [np.mean(values(rows, "stories")) for rows in of.values()]
assert abs(max(spread_of) - min(spread_of) - 0.12) < 0.01
for seed in ("", ", seed 1", ", seed 2"):
    for people in asked:
        right, wrong, gain, _ = follows["LoRA" + seed, people]
        assert 60 < right < 85 and wrong < 8 and gain > follows["not taught", people][2] + 2.5
    assert abs(follows["LoRA" + seed, "left out"][2] - 8.2) < 0.6
assert all(30 < follows["not taught", people][0] < 52 for people in asked)
assert all(follows["from scratch", people][0] < 10 for people in asked)
assert all(abs(follows["from scratch", people][2]) < 0.2 for people in asked)
assert bits_of_old_text(named_after) - untouched > 0.05
assert 33 < fresh["question"] < 43 and after["question"] < 0.6 * fresh["question"]
assert 33 < after["statements"] < 41 and after["said"][2] > 0.6 * len(JUDGED)
plain, mixed_in = kept["LoRA"], kept["LoRA with old text"]
assert mixed_in[0] > 55 and mixed_in[1] > follows["not taught", "left out"][2] + 2
assert mixed_in[2] < 0.25 * plain[2] and abs(mixed_in[0] - plain[0]) < 12
assert sum(gain > 0.01 for gain in more) == 1 and max(more) < 0.05

# %% c100 trained
assert len(words) == 20 and soft.prompt.numel() == 20 * D < 0.003 * N
assert all(torch.equal(a, b) for a, b in zip(soft.model.parameters(), base.parameters()))
trained_bits, hard_bits = (
    bits_of_answers(model, JUDGED[:120]).mean().item() for model in (soft, hard)
)
assert 1.58 < trained_bits < 2.5 and hard_bits > 25 and at_first > 30
