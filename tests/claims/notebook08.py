"""What notebook 08 claims: see staff/notebooks/claims.py."""

# %% c021a trained
assert not set(training) & set(held_out)
english_of = {}
for pair in drawn:
    assert english_of.setdefault(pair.french, pair.english) == pair.english
assert V == 88
of_one = shares["one vector"]
assert of_one[6] > 85 and of_one[14] < 25 and of_one[6] > of_one[10] > of_one[14]

# %% c043
assert all(len(found) == 3 for found in sizes.values())
assert max(sizes[64, 800]) < 1 and max(sizes[128, 800]) < 5 < min(sizes[128, 2400])
assert max(sizes[128, 2400]) < 10

# %% c404 trained
assert shares["one vector"][14] + 4 < shares["every step"][14] < 50

# %% c062
from helpers.models.alignment_attention import AdditiveAttention, DotProductAttention

assert torch.allclose(e[0, 0], torch.tensor(E_SMALL), atol=6e-4)
assert torch.allclose(alpha[0, 0], torch.tensor(A_SMALL), atol=6e-4)
assert torch.allclose(c[0, 0], torch.tensor([0.481, 0.348]), atol=6e-4)
assert alpha.argmax() == 0 and alpha_dot.argmax() == 1
by_hand = bilinear_scores(s, h, torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
assert torch.allclose(by_hand, torch.tensor([[[0.0, 0.5, 0.0]]]))
theirs = AdditiveAttention(5, 5, 3).double()
theirs.query.bias.data.zero_()
ss, hs = torch.randn(4, 6, 5).double(), torch.randn(4, 7, 5).double()
some_mask = (torch.arange(7) < torch.tensor([[7], [3], [5], [1]]))[:, None]
mine = additive_scores(ss, hs @ theirs.key.weight.T, theirs.query.weight, theirs.score.weight[0])
dots = bilinear_scores(ss, hs, torch.eye(5).double())
for scores, reference in ((mine, theirs), (dots, DotProductAttention())):
    for ours, wanted in zip(look_back(scores, hs, some_mask), reference(ss, hs, some_mask)):
        assert torch.allclose(ours, wanted, atol=1e-12)
W_Q, W_K = torch.randn(5, 2).double(), torch.randn(5, 2).double()
queries_and_keys = (ss @ W_Q) @ (hs @ W_K).transpose(1, 2)
assert torch.allclose(bilinear_scores(ss, hs, W_Q @ W_K.T), queries_and_keys)

# %% c076
from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import GRUCell
from helpers.models.seq2seq import AdditiveSeq2Seq, BottleneckSeq2Seq, DotProductSeq2Seq
from helpers.models.torch_weights import load_torch_weights

batch, _ = next(batches(held_out[:60], english, french, 9, torch.Generator(), to_french=False))


def as_layer(cell):
    """A GRU layer of torch's with the weights of a GRUCell."""
    layer = nn.GRU(cell.input_size, cell.hidden_size, batch_first=True).to(cell.weight_ih.dtype)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(layer, f"{name}_l0").data = getattr(cell, name).data
    return layer


for kind, reference in (
    (OneVector, BottleneckSeq2Seq),
    (LookThenStep, AdditiveSeq2Seq),
    (StepThenLook, DotProductSeq2Seq),
):
    ours, both = kind(6, 8).double(), kind is not OneVector
    sizes_of = (french.vocab_size, english.vocab_size, 6, 8)
    theirs = reference(GRUCell, *sizes_of, bidirectional=both).double()
    load_torch_weights(theirs.encoder, ours.encoder.gru)
    step = Recurrent(GRUCell, ours.cell.input_size, 8).double()
    load_torch_weights(step, as_layer(ours.cell))
    cell = theirs.decoder if kind is LookThenStep else theirs.decoder.cells[0]
    cell.load_state_dict(step.cells[0].state_dict())
    for to, at in (("source_embedding", ours.encoder.embed), ("target_embedding", ours.embed)):
        getattr(theirs, to).load_state_dict(at.state_dict())
    theirs.output.load_state_dict(ours.output.state_dict())
    if kind is LookThenStep:
        theirs.attention.query.bias.data.zero_()
        for name, mine in (("query", ours.W), ("key", ours.U), ("score", ours.v)):
            getattr(theirs.attention, name).weight.data.copy_(mine.weight)
    if kind is StepThenLook:
        ours.W = ours.W.double()
    assert (ours(*batch) - theirs(*batch)).abs().max() < 1e-12
weights_of_models = {k: sum(p.numel() for p in m.parameters()) for k, m in models.items()}
assert weights_of_models["step, then look"] < weights_of_models["every step"]
assert len(control) == 3 and max(control) < 50

# %% c076 trained
for name in ("look, then step", "step, then look"):
    assert shares[name][14] > max(60, shares["every step"][14] + 25) and hits[name].mean() > 0.9
    assert shares[name][14] > shares[name][18] + 25 and shares[name][16] > shares[name][20]
assert max(shares["one vector"][k] for k in shares["one vector"] if k > 14) < 10

# %% c089 trained
for name in ("look, then step", "step, then look"):
    model, steps = models[name], trace(models[name], EXAMPLE.french)
    for step in steps:
        assert abs(float(step[3].sum()) - 1) < 1e-5 and torch.allclose(step[2].softmax(0), step[3])
    written = english.decode([int(step[5].argmax()) for step in steps])
    assert written == translate_all(model, [EXAMPLE])[0]
sharp = {
    name: np.mean([float(step[3].max()) for step in trace(models[name], EXAMPLE.french)])
    for name in ("look, then step", "step, then look")
}
assert sharp["step, then look"] > sharp["look, then step"] + 0.1

# %% c093e trained
assert patched["nothing"] > 0.5
assert min(patched["oiseaux"], patched["blancs"]) < patched["nothing"] - 0.2
assert all(len(still) > 10 for still in kept.values())
noun_seen, adjective_seen = (np.mean(still, axis=0) for still in kept.values())
assert noun_seen[0] < 0.5 < 0.7 < noun_seen[1] and adjective_seen[1] < 0.5 < 0.7 < adjective_seen[0]
assert noun_seen[2] > 0.5  # the other adjective, in most cases

# %% c503
truth = ["the", "cat", "sat", "on", "the", "mat"]

same = bleu([truth], [truth])
assert abs(same - 100) < 1e-9
said = ["the", "cat", "sat", "on", "the", "the", "mat"]  # the third "the" is clipped
by_hand = (6 / 7 * 5 / 6 * 3 / 5 * 2 / 4) ** (1 / 4)
assert abs(bleu([said], [truth]) - 100 * by_hand) < 1e-9
short = ["the", "cat", "sat", "on"]
assert abs(bleu([short], [truth]) - 100 * math.exp(1 - 6 / 4)) < 1e-9
together = (10 / 11 * 8 / 9 * 5 / 7 * 3 / 5) ** (1 / 4)  # counts are summed, then divided
found = bleu([said, short], [truth, truth])
assert abs(found - 100 * together * math.exp(1 - 12 / 11)) < 1e-9
assert bleu([["the", "cat"]], [truth]) == 0  # too short for n-grams of three words

# %% c506
half = Counter(others["half"].split())
assert half & Counter(reference.split()) == half
assert bleus["wrong"] > bleus["right"] + 20 and bleus["right"] > bleus["half"]

# %% c506 trained
gentle = [bleus[name] for name in models]
assert gentle[0] + 5 < gentle[1] < min(gentle[2:]) - 5
plain = [100 * hits[name].mean() for name in models]
assert max(plain[2:]) - plain[0] > max(gentle[2:]) - gentle[0] + 5
