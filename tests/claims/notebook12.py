"""What notebook 12 claims: see staff/notebooks/claims.py."""

# %% 11257da8
assert shapes[""] == (2, T, V) and shapes["positions"] == (T, D)
assert {shapes[part] for part in ("embedding", "blocks.0", f"blocks.{L - 1}", "norm")} == {
    (2, T, D)
}
theirs = GPT(GPTConfig.gpt2(V, max_length=T, n_layers=L, d_model=D, n_heads=H)).double()
weights = mine.state_dict()
weights["embedding.positions.embedding.weight"] = weights.pop("positions.weight")
theirs.load_state_dict(weights)
with torch.no_grad():
    mine.double()
    assert (theirs(tokens) - mine(tokens)).abs().max() < 1e-9
    mine.float()
numbers = torch.linspace(-3, 3, 601)
apart = (F.gelu(numbers) - F.gelu(numbers, approximate="tanh")).abs().max().item()
assert 4e-4 < apart < 5e-4

# %% b0f1d6a1
assert moved.sum() == 44 and not moved[:20].any()
assert leak(mine, tokens, 20, V) < 1e-3
one_ahead = torch.ones(T, T, dtype=torch.bool).tril(1)


def off_by_one(tokens):
    x = mine.embedding(tokens) + mine.positions.weight
    for block in mine.blocks:
        x = block(x, mask=one_ahead)
    return mine.norm(x) @ mine.embedding.weight.T


assert leak(off_by_one, tokens, 20, V) > 1e-3
assert (at_once - one_by_one).abs().max() < 1e-3
assert round((math.log(2) + math.log(4) + math.log(8)) / 3, 2) == 1.39

# %% f11c20d0
assert round(math.log(2048), 2) == 7.62
rows_read = mine.embedding.weight[stories[:, :-1]].pow(2).sum(-1).mean()
assert rows_read < 126 < mine.embedding.weight.pow(2).sum(-1).mean()
assert first_loss > 5 * math.log(V) and own > 3 * logits.std()
assert abs(first[2] - math.log(V)) < 0.4 and first[0] - math.log(V) < 0.1
assert first == sorted(first) and abs(first[-1] / first_loss - 1) < 0.15
assert all(4.5 < share[n][0] < 6.5 for n in depths)
assert all(0.6 < share[n][1] / (2.8 / n) < 1.4 for n in depths)
assert round(math.sqrt(128)) == 11 and 0.5 < math.sqrt(128) * 0.05 < 0.6
ends_of = [divided[n][-1] for n in depths]
assert max(ends_of) < 1.3 * min(ends_of)
assert all(abs(divided[n][0] / 0.005 - 1) < 0.1 for n in depths)
with torch.no_grad():
    large = stream_variances(started(12, 0.2), tokens)
assert large[0] > 10 * divided[12][0]  # larger embeddings, and the blocks add as much
assert 0.7 < (large[-1] - large[0]) / (divided[12][-1] - divided[12][0]) < 1.2
assert plain[24][-1] > 3 * plain[6][-1] and plain[24][-1] > 20 * divided[24][-1]
reference = GPT(GPTConfig.gpt2(V, max_length=T, n_layers=L, d_model=D, n_heads=H))
sizes_of = {n: p.std().item() for n, p in reference.named_parameters() if p.ndim == 2}
for name, weight in started(L).named_parameters():
    theirs_name = name.replace("positions.weight", "embedding.positions.embedding.weight")
    if weight.ndim == 2:
        assert abs(weight.std().item() / sizes_of[theirs_name] - 1) < 0.1

# %% 5ecfcf45 trained
assert round(source.entropy_rate(), 2) == 0.99 and round(floor, 2) == 1.06
assert abs(chart["healthy"][0] - guessing) < 0.4
assert all(chart[name][3] < 1e-3 for name in ("healthy", "A", "C", "D"))
assert [chart[name][4] for name in chart] == [0, 0, 0, 2, 0]
assert set(unused["C"]) == {"norm.weight", "norm.bias"}
assert all(b > h for b, h in zip(means["B"][:4], means["healthy"]))
read = math.exp(-chart["D"][0])  # D's first loss is that of the token just read
assert 1.6 < read / ((1 - read) / (toy["V"] - 1)) < 2.8
assert max(by_heart.values()) < 0.05


class NoPositions(MyGPT):
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, causal=True)
        return self.norm(x) @ self.embedding.weight.T


orderless = toy_model(NoPositions)
assert [n for n, p in orderless.named_parameters() if p.grad is None] == ["positions.weight"]
repaired = toy_model()
assert (
    sum(train(repaired)[-20:]) / 20 > floor
    and leak(repaired, test_text[:, :-1], toy["T"] // 2, toy["V"]) < 1e-3
)
assert floor < chart["healthy"][1] < floor + 0.12
assert chart["A"][0] > 4 * guessing and abs(chart["A"][1] - guessing) < 0.6
assert chart["B"][1] < 0.6 * floor and chart["B"][3] > 1
assert chart["D"][0] < guessing - 0.4 and chart["D"][1] < 0.1 * floor
assert abs(chart["C"][1] - chart["healthy"][1]) < 0.1
assert abs(chart["healthy"][2] - 1.08) < 0.04 and abs(without - 1.79) < 0.08
assert max(chart[name][2] for name in "BD") < 0.6 * floor < floor < chart["healthy"][2] + 0.05
assert min(honest["B"], honest["D"]) > 1.2 * guessing
assert abs(honest["healthy"] - chart["healthy"][1]) < 0.1
falling = train(orderless, steps=600)
for steps_, loss_ in ((100, 1.74), (400, 1.37), (600, 1.30)):
    assert abs(sum(falling[steps_ - 20 : steps_]) / 20 - loss_) < 0.08
assert abs(sum(train(toy_model(small=False), steps=400)[-20:]) / 20 - 1.14) < 0.05
assert apart[0] < 0 and abs(apart[-1]) < 0.06

# %% 58a257ff
assert counted == count_parameters(*list(toy.values())[:4])
assert round(count_parameters(*FAMILY["GPT-1"]) / 1e6, 1) == 116.5
assert count_parameters(*FAMILY["GPT-2 small"]) == 124_439_808
for tokens_, length_, part in ((50_257, 1024, 87), (2048, 1024, 22), (2048, 64, 25)):
    embeddings = 100 * tokens_ * 128 / count_parameters(tokens_, length_, 4, 128)
    assert round(embeddings) == part
assert 28 < shares["GPT-2 small"] < 33 and shares["GPT-3"] < 1
assert abs(count_parameters(*FAMILY["GPT-2 XL"]) / 1.5e9 - 1) < 0.05
for row in list(FAMILY.values())[1:]:
    assert abs((12 * row[2] * row[3] ** 2 + row[0] * row[3]) / count_parameters(*row) - 1) < 0.01

# %% 8cdac967
assert difference < 2e-5 < 0.1 < off and outcome == "wrong"
assert min(with_slip(other_epsilon), with_slip(exact_gelu)) > 100 * difference
with torch.no_grad():
    reference = gpt2_weights.load_gpt2(tiny)(known["tokens"])
    assert (reference - my_logits).abs().max() < 2e-5
place = dict(published)  # a fault in the second block alone is first seen behind it
place["h.1.attn.c_proj.weight"] = published["h.1.attn.c_proj.weight"].T
behind = []
for model in (read_gpt2(published, settings), read_gpt2(place, settings)):
    x = model.embedding(known["tokens"]) + model.positions.weight[: known["tokens"].shape[1]]
    behind.append([x := block(x, causal=True) for block in model.blocks])
away = [(a - b).abs().max().item() for a, b in zip(*behind)]
assert away[0] == 0 and away[1] > 0.1
names = names_of(settings["n_layer"])
masks = {f"h.{layer}.attn.bias" for layer in range(settings["n_layer"])}
assert set(published) - set(names) == masks
numbers = [settings[k] for k in ("vocab_size", "n_positions", "n_layer", "n_embd")]
assert sum(published[name].numel() for name in names) == count_parameters(*numbers)

# %% b3a90f13
assert joined < 1e-3 and now < math.log(V)
assert at_zero == [0, 0] and with_weights[0] < 1e-3 and with_weights[1] > 1
card = json.loads((folder / "config.json").read_text())["card"]
assert round(card["tokens_seen"] / card["training_tokens"]) == 17
assert card["settings"]["dropout"] == 0
assert awake[1] == {"output.weight"}
writers = {f"blocks.0.{n}.weight" for n in ("attention.output", "feed_forward.down")}
assert awake[2] == {"output.weight", "norm.weight", "embedding.weight", *writers}
assert awake[3] == {name for name, _ in fresh.named_parameters()}
torch.manual_seed(3)
config = GPTConfig.modern(50, n_layers=3, d_model=32, n_heads=4)
theirs, ours = GPT(config).double(), modern_form(50, 3, 32, 4).double()
assert list(theirs.state_dict()) == list(ours.state_dict())
with torch.no_grad():
    for weight in theirs.parameters():
        weight.normal_()
    ours.load_state_dict(theirs.state_dict())
    some = torch.randint(50, (2, 20))
    assert (theirs(some) - ours(some)).abs().max() < 1e-9
    begun = next_token_loss(modern_form(V, 2, 32, 4), stories)
    assert abs(begun.item() - math.log(V)) < 1e-4
tied, own_output = (first_losses[form].mean(1) for form in ("tied", "untied"))
assert abs(tied[0] - 7.74) < 0.02 and abs(own_output[0] - 7.79) < 0.02
assert first_losses["tied"][0].max() > first_losses["untied"][0].min()
*others, worst_seed = first_losses["untied"][0].sort().values.tolist()
assert abs(worst_seed - 7.88) < 0.03 and 0.015 < sum(others) / 4 - tied[0] < 0.045
assert abs(tied[1] - 1) < 0.2 and abs(own_output[1]) < 0.1
assert 0.53 < own_output[2] < 0.57 and 0.025 < repeats < 0.034

# %% ddf824b9
assert len(slide) == 14 and len(near) == 9
assert worst < 3 and close == 11 and max(map(abs, thumb)) > 95
assert {m.name for m in slide if m not in near} == {
    "PaLM",
    "Gopher",
    "Chinchilla",
    "LaMDA",
    "T5",
}

# %% 66d629b7
plain_bits, normed = ([row[0] for row in spreads[n]] for n in ("as they come", "QK-norm"))
assert round(plain_bits[1], 1) == 5.3 and plain_bits[-1] < 0.6
assert max(normed) - min(normed) < 0.01 and round(math.sqrt(32), 1) == 5.7
two, four = spreads["as they come"][2][1], spreads["as they come"][3][1]
assert abs(two - 2.3) < 0.06 and abs(four - 0.25) < 0.02
one, eight = spreads["as they come"][1], spreads["as they come"][4]
assert abs(one[1] - 0.93) < 0.02 and eight[1] < 0.005 and eight[2] > 5
assert abs(spreads["as they come"][3][2] - 10) < 0.5
assert 35 < spreads["as they come"][3][2] / four < 45
assert abs(spreads["QK-norm"][3][1] - 0.23) < 0.01
assert all(abs(row[2] / row[1] - 1.6) < 0.05 for row in spreads["QK-norm"])
for k in (1, 2):
    times = [factor * row[k] for factor, row in zip(grown, spreads["QK-norm"])]
    assert max(times) < 1.01 * min(times)
