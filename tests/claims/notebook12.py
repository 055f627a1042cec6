"""What notebook 12 claims: see staff/notebooks/claims.py."""

# %% c414
from helpers.models.gpt import GPT, GPTConfig

assert shapes[""] == (2, T, V) and shapes["positions"] == (T, D)
assert {shapes[part] for part in ("embedding", "blocks.0", f"blocks.{L - 1}", "norm")} == {
    (2, T, D)
}
assert (trained.config.vocab_size, trained.config.n_layers) == (V, L)
assert (trained.config.d_model, trained.config.n_heads) == (D, H)
theirs = GPT(GPTConfig.gpt2(V, max_length=T, n_layers=L, d_model=D, n_heads=H)).double()
weights = mine.state_dict()
weights["embedding.positions.embedding.weight"] = weights.pop("positions.weight")
theirs.load_state_dict(weights)
with torch.no_grad():
    mine.double()
    assert (theirs(tokens) - mine(tokens)).abs().max() < 1e-9
    mine.float()

# %% 05645bc7
assert moved.sum() == 44 and not moved[:20].any()
assert leak(mine, tokens, 20, V) < 1e-3
one_ahead = torch.ones(T, T, dtype=torch.bool).tril(1)


class OneAhead(MyGPT):
    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions.weight
        for block in self.blocks:
            y = block.attention_norm(x)
            att = block.attention
            q, k, v = (
                m(y).unflatten(2, (att.H, -1)).transpose(1, 2)
                for m in (att.query, att.key, att.value)
            )
            scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~one_ahead, -math.inf)
            x = x + att.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        return self.norm(x) @ self.embedding.weight.T


off_by_one = OneAhead(V, D, mine.blocks, mine.norm, mine.positions)
assert leak(off_by_one, tokens, 20, V) > 1e-3
assert (at_once - one_by_one).abs().max() < 1e-3
assert round((math.log(2) + math.log(4) + math.log(8)) / 3, 2) == 1.39

# %% f11c20d0
assert round(math.log(2048), 2) == 7.62
assert first_loss > 5 * math.log(V) and own > 3 * logits.std()
assert 0.55 < own / D < 0.75  # of the dot product with itself, about two thirds
assert abs(first[0.05] - math.log(V)) < 0.4 and abs(first[1] / first_loss - 1) < 0.15
assert small - math.log(V) < 0.3
assert round(math.sqrt(128)) == 11 and 0.5 < math.sqrt(128) * 0.05 < 0.6
from helpers.models.gpt import GPT, GPTConfig

reference = GPT(GPTConfig.gpt2(V, max_length=T, n_layers=L, d_model=D, n_heads=H))
sizes_of = {n: p.std().item() for n, p in reference.named_parameters() if p.ndim == 2}
for name, weight in started().named_parameters():
    theirs_name = name.replace("positions.weight", "embedding.positions.embedding.weight")
    if weight.ndim == 2:
        assert abs(weight.std().item() / sizes_of[theirs_name] - 1) < 0.1

# %% 211ba96c
assert round(source.entropy_rate(), 2) == 0.99 and round(floor, 2) == 1.06
assert all(abs(chart[name][0] - guessing) < 0.4 for name in ("healthy", "A", "B", "C"))
assert abs(chart["A"][0] - guessing) < 0.6 * abs(chart["healthy"][0] - guessing)
assert chart["D"][0] < guessing - 0.4 and abs(untied - guessing) < 0.4
assert chart["B"][2] > 0.1 and all(chart[name][2] < 1e-3 for name in ("healthy", "A", "C", "D"))
assert [row[3] for row in chart.values()] == [58_560, 58_560, 58_560, 30_288, 58_560]
assert [row[4] for row in chart.values()] == [0, 2, 0, 0, 0]
assert unused["A"] == ["norm.weight", "norm.bias"]
assert len({row[1] for row in chart.values()}) == 1
read = math.exp(-chart["D"][0])  # D's first loss is that of the token just read
assert 1.6 < read / ((1 - read) / (toy["V"] - 1)) < 2.8
two = not_shifted(toy_model(NoMask), test_text)  # a wrong target with a tied output alone
assert two < guessing - 0.4

# %% c403 trained
assert min(ends, key=ends.get) == "D"
assert max(ends["B"], ends["D"], new["B"], new["D"]) < 0.6 * floor
assert all(floor < ends[name] < floor + 0.15 for name in ("healthy", "A", "C"))
assert max(abs(ends[name] - ends["healthy"]) for name in "AC") < 0.1
assert min(honest["B"], honest["D"]) > 1.2 * guessing
assert all(abs(honest[name] - new[name]) < 0.01 for name in ("healthy", "A", "C"))

# %% b811ec5c
assert chart["healthy"][3] == count_parameters(*list(toy.values())[:4])
assert 116e6 < count_parameters(40_478, 512, 12, 768) < 117e6
assert count_parameters(*FAMILY["GPT-2 small"]) == 124_439_808
assert count_parameters(*FAMILY["mine"]) == sum(p.numel() for p in mine.parameters())
assert 30 < shares["GPT-2 small"] < 33.4 and shares["GPT-3"] < 1

# %% b3a90f20
from helpers.models.gpt import GPT, GPTConfig

assert abs(at_first - math.log(V)) < 1e-4 and now < math.log(V) - 3
assert joined < 1e-3 and leak(modern, tokens, 20, V) < 1e-3
fresh = modern_form(V, 1, 32, 4)
assert leak(fresh, tokens, 20, V) == 0


def unmasked(tokens):
    x = fresh.embedding(tokens)
    for block in fresh.blocks:
        x = block(x)
    return fresh.output(fresh.norm(x))


assert leak(unmasked, tokens, 20, V) == 0
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

# %% c408
assert [text.strip() for text in said.values()][:2] == ["maison.", "Paris"]
tale = list(said.values())[2].split()
assert len(set(zip(tale, tale[1:], tale[2:]))) < len(tale) - 4  # it repeats itself
