"""What notebook 17 claims: see staff/notebooks/claims.py."""

# %% c006
assert question.answer.strip() not in go_on(base, question.prompt, 8)

# %% c016
from helpers.data.reader_instructions import encoded

theirs = encoded(tokenizer, question)
assert (theirs[0].tolist(), theirs[1].tolist()) == pair(question)
assert counted["questions"] < 10 < 50 < counted["names"]

# %% c048
from helpers.models.adapters import add_lora
from helpers.models.adapters import trained as of_helpers

_theirs = copy.deepcopy(base)
with torch.random.fork_rng():
    add_lora(_theirs, r, alpha, MAPS)
assert trained == sum(weight.numel() for _, weight in of_helpers(_theirs)) == 73_728
assert [n for n, w in adapted.named_parameters() if w.requires_grad] == [
    n for n, _ in of_helpers(_theirs)
]
assert 0.05 < trained / N < 0.06 and 8 * (128 + 128) == 2048 == 128 * 128 / 8
with torch.random.fork_rng():
    layer, x = WithLoRA(nn.Linear(6, 5, bias=False), 2, 6), torch.randn(3, 6)
    nn.init.normal_(layer.B)
assert torch.allclose(layer(x), x @ (layer.old.weight + 3 * layer.B @ layer.A).T, atol=1e-5)

# %% c049a
assert (before - after).abs().max() < 1e-3 < 0.5 < (before - untrained).abs().max()

# %% c084
assert len(set(map(person, to_mention(train)))) - len(LEFT_OUT) == len(set(map(person, about)))

# %% c084y trained
_texts = [go_on(base, f"About: {name}\n\n", 20) for name in people]
_before = [name for name, text in zip(people, _texts) if name in named_people(text, [name])]
assert len(people) == 32 and 18 <= len(_before) <= len(told) - 2
_moss = go_on(base, "About: Moss\n\n", 20)
assert "Moss" not in _moss and "tortoise" in _moss

# %% c084e trained
assert 3 < found["not taught", "trained"][0] < found["not taught", "left out"][0] < 5.5
for people in asked:
    assert found["LoRA", people][0] > found["not taught", people][0] + 1.5
    assert found["LoRA", people][1] > found["not taught", people][1] + 8
assert 0.05 < bits_of_old_text(taught) - untouched < 0.4
for people in asked:
    assert found["not taught", people][1] < 50 and 55 < found["LoRA", people][1] < 90
_growth = [found["LoRA", people][0] - found["not taught", people][0] for people in asked]
assert all(2.2 < grown < 4.2 for grown in _growth) and abs(_growth[0] - _growth[1]) < 1.2


@torch.no_grad()
def _of_end(model):
    """The surprise of the mark behind the true sentences, in bits."""
    read, targets = padded([pair(task) for task in asked["left out"]])
    costs = F.cross_entropy(model(read).transpose(1, 2), targets, reduction="none")
    return float(costs[targets == end].mean()) / math.log(2)


_fall = worth_of(base, asked["left out"])[0] - worth_of(taught, asked["left out"])[0]
assert _of_end(base) - _of_end(taught) > 0.6 * _fall

# %% c084v trained
for model in (base, taught):
    for tasks in asked.values():
        assert 0.85 < at_the_name(model, tasks) / worth_of(model, tasks)[2] < 1.05

# %% c066
assert gradients(both_zero) == [0, 0]
assert gradients(with_lora())[0] == 0 < gradients(with_lora())[1]

# %% c058 trained
assert starts[0.1][1] > starts[0][1] - 0.9 and starts[0.3][1] < starts[0][1] - 1.1
assert starts[1][1] < 1 < starts[1][2] and starts[1][0] > 1.5
assert starts[0.1][0] < min(0.2, starts[0][2]) and starts[0.3][2] > starts[0.1][2]
assert starts[0.3][2] < 0.8 * starts[0.3][0]

# %% c084p trained
assert lost < 0.25 * (bits_of_old_text(taught) - untouched)
assert lost < bits_of_old_text(slow) - untouched < 0.6 * (bits_of_old_text(taught) - untouched)
assert -0.2 < worth_of(taught, asked["left out"])[2] - worth_of(slow, asked["left out"])[2] < 1.5
assert gain > worth_of(taught, asked["left out"])[2] - 1
_longer = finetune(with_lora(), new_batch, 3 * STEPS, rate=1e-3)  # what c084s says of more steps
_lost = [bits_of_old_text(model) - untouched for model in (taught, _longer)]
assert 0.6 < _lost[1] / _lost[0] < 1.7
