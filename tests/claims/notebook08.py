"""What notebook 08 claims: see staff/notebooks/claims.py."""

# %% c021a trained
assert not set(training) & set(held_out)
english_of = {}
for pair in drawn:
    assert english_of.setdefault(pair.french, pair.english) == pair.english
assert 0.05 < by_dictionary < 0.13 and 0.75 < crossing < 0.85
assert english.vocab_size == 88
assert shares[6] > 85 and shares[14] < 35 and shares[6] > shares[10] > shares[14]
assert right_words[6] > 97 and right_words[14] < 80
assert 0.3 < hits["one vector"].mean() < 0.85

# %% c037
from helpers.models.recurrent_cells import GRUCell
from helpers.models.seq2seq import BottleneckSeq2Seq
from helpers.models.torch_weights import load_torch_weights

some = held_out[:60]
assert [yours(p)[0] for p in some] == translate_all(bottleneck, some)
for p in some[:10]:
    vector, _ = bottleneck.read(french.encode(p.french)[None])
    assert torch.allclose(yours(p)[1], vector, atol=1e-5)


def as_layer(cell):
    """A GRU layer of torch's with the weights of a GRUCell."""
    layer = nn.GRU(cell.input_size, cell.hidden_size, batch_first=True).to(cell.weight_ih.dtype)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(layer, f"{name}_l0").data = getattr(cell, name).data
    return layer


ours = OneVector(6, 8).double()
theirs = BottleneckSeq2Seq(GRUCell, french.vocab_size, english.vocab_size, 6, 8).double()
load_torch_weights(theirs.encoder, ours.encoder.gru)
load_torch_weights(theirs.decoder, as_layer(ours.cell))
theirs.source_embedding.load_state_dict(ours.encoder.embed.state_dict())
theirs.target_embedding.load_state_dict(ours.embed.state_dict())
theirs.output.load_state_dict(ours.output.state_dict())
batch, _ = next(batches(some, english, french, 9, torch.Generator(), to_french=False))
assert (ours(*batch) - theirs(*batch)).abs().max() < 1e-12

# %% c043
assert all(len(rows) == 3 for rows in sizes.values())
assert 12 < means["64 numbers, 800 steps"] < 21 and means["32 numbers, 800 steps"] < 12
assert 42 < means["128 numbers, 800 steps"] < 60 and twice > thrice + 15
assert thrice > means["64 numbers, 800 steps"] + 5
assert max(lengths_of(rows)[14] for rows in sizes.values()) < 10
looking = [row["exact"] for row in runs("attention", rate=0.02) if row["query"] != "before, word"]
assert len(looking) == 24 and 0.87 < np.mean(looking) < 0.93

# %% c064
from helpers.models.alignment_attention import AdditiveAttention, DotProductAttention

assert torch.allclose(e[0, 0], torch.tensor(E_SMALL), atol=6e-4)
assert torch.allclose(alpha[0, 0], torch.tensor(A_SMALL), atol=6e-4)
assert torch.allclose(c[0, 0], torch.tensor([0.481, 0.348]), atol=6e-4)
assert 6 < float(alpha[0, 0, 0] / alpha[0, 0, 2]) < 7
assert alpha.argmax() == 0 and alpha_dot.argmax() == 1
theirs = AdditiveAttention(5, 5, 3).double()
theirs.query.bias.data.zero_()
ss, hs = torch.randn(4, 6, 5).double(), torch.randn(4, 7, 5).double()
some_mask = (torch.arange(7) < torch.tensor([[7], [3], [5], [1]]))[:, None]
mine = additive_scores(ss, hs @ theirs.key.weight.T, theirs.query.weight, theirs.score.weight[0])
for scores, reference in ((mine, theirs), (dot_scores(ss, hs), DotProductAttention())):
    for ours, wanted in zip(look_back(scores, hs, some_mask), reference(ss, hs, some_mask)):
        assert torch.allclose(ours, wanted, atol=1e-12)

# %% c076 trained
assert beyond["one vector"].mean() < 0.05
from helpers.models.recurrent import Recurrent
from helpers.models.recurrent_cells import GRUCell
from helpers.models.seq2seq import AdditiveSeq2Seq, DotProductSeq2Seq

by_name = shares_of
assert min(hits["additive"].mean(), hits["dot product"].mean()) > 0.9
assert min(by_name["additive"][14], by_name["dot product"][14]) > 60 > 35 > shares[14]
assert all(beyond[name].mean() < hits[name].mean() - 0.15 for name in beyond)
for kind, reference in ((Additive, AdditiveSeq2Seq), (DotProduct, DotProductSeq2Seq)):
    ours = kind(6, 8).double()
    theirs = reference(GRUCell, french.vocab_size, english.vocab_size, 6, 8).double()
    load_torch_weights(theirs.encoder, ours.encoder.gru)
    step = Recurrent(GRUCell, ours.cell.input_size, 8).double()
    load_torch_weights(step, as_layer(ours.cell))
    cell = theirs.decoder.cells[0] if kind is DotProduct else theirs.decoder
    cell.load_state_dict(step.cells[0].state_dict())
    for to, at in (("source_embedding", ours.encoder.embed), ("target_embedding", ours.embed)):
        getattr(theirs, to).load_state_dict(at.state_dict())
    theirs.output.load_state_dict(ours.output.state_dict())
    if kind is Additive:
        theirs.attention.query.bias.data.zero_()
        for name, mine in (("query", ours.W), ("key", ours.U), ("score", ours.v)):
            getattr(theirs.attention, name).weight.data.copy_(mine.weight)
    assert (ours(*batch) - theirs(*batch)).abs().max() < 1e-12

# %% c084 trained
assert spread < 0.75 * bound
for name in models:
    steps = trace(models[name], EXAMPLE)
    for step in steps:
        assert abs(float(step[3].sum()) - 1) < 1e-5 and torch.allclose(step[2].softmax(0), step[3])
    written = english.decode([int(step[5].argmax()) for step in steps])
    assert written == translate_all(models[name], [EXAMPLE])[0]
sharp = {
    name: np.mean([float(step[3].max()) for step in trace(m, EXAMPLE)])
    for name, m in models.items()
}
assert sharp["dot product"] > sharp["additive"] + 0.1

# %% c102a trained
from helpers.inference.alignment import alignment_error_rate, hard_alignment

assert rates["dot product"] < rates["additive"] - 5
assert rates["truth, one link"] < 8 and rates["chance"] > 80
assert adjectives["additive"]["the adjective"] > adjectives["additive"]["its noun"]
pairs_of_links = [one_link(w) for w in tables["additive"]]
for a, t in zip(pairs_of_links, truths, strict=True):
    assert abs(error_rate(a, t) - alignment_error_rate(a, t)) < 1e-6
for a, w in zip(pairs_of_links, tables["additive"], strict=True):
    assert torch.equal(a, hard_alignment(w))
hand = torch.tensor([[1, 0, 0], [0, 1, 1]]).bool(), torch.tensor([[1, 0, 0], [1, 0, 0]]).bool()
assert abs(error_rate(hand[1], hand[0]) - 0.6) < 1e-6
assert rates["dot product"] < rates["same_position"] - 15
assert patched["both"][1] > 0.5 > patched["none"][1] and patched["none"][0] > 0.5
assert patched["s_0"][0] > 0.5
assert min(adjectives["dot product"][what] for what in ("its noun", "the adjective")) > 20
assert hits_beside(tables["additive"], truths)[3] < 50 < second / 4
assert where["dot product"].max() > 0.5 and where["dot product"].argmax() in (0, 2)

# %% c115
assert len(errors_of) == 8 and largest == "the time"
assert all(len(found) == 3 for found in networks("exact").values())
assert effects["the time"] > 12 > effects["the score"] > 5 > abs(effects["the feeding"])
assert inner["the time"] > inner["the score"] > 5 > abs(inner["the feeding"])
assert 5 < min(pairs["the time"]) < max(pairs["the score"])
exact_of = networks("exact")
for score, sign in (("additive", 1), ("dot", -1)):
    for time in ("before", "after"):
        fed, unfed = (exact_of[score, time, side] for side in ("into the GRU", "output only"))
        assert min(sign * x for x in fed) > max(sign * x for x in unfed)
runs_of = networks("error rate")
for score in ("additive", "dot"):
    for side in ("into the GRU", "output only"):
        assert max(runs_of[score, "after", side]) < min(runs_of[score, "before", side])
inside_closed = [part for part, _ in closed.values()]
assert max(inside_closed) < 40 and sum(part < -20 for part in inside_closed) == 2
assert all(part > 0 for (score, *_), (part, _) in closed.items() if score == "dot")
assert closed["additive", True, 0.01][1] > 60
assert max(found[1] for found in closed.values()) == closed["additive", True, 0.01][1]
right = {key: np.mean(found[0]) for key, found in located.items()}
for rate in (0.01, RATE):
    assert right["location", True, rate] > right["additive", True, rate] + 1
assert abs(right["location", False, RATE] - right["location", True, RATE]) < 2
with_vector, without = (located["additive", vector, 0.01][0] for vector in (True, False))
assert 2 < np.mean(with_vector) - np.mean(without) < 4
slow, fast = located["additive", True, 0.01], located["additive", True, RATE]
assert np.mean(slow[0]) > np.mean(fast[0]) and slow[1] > fast[1] + 10 and slow[2] < fast[2]
by_loss = sorted(located, key=lambda key: located[key][2])
assert by_loss[0] == ("location", True, RATE) and by_loss[1][0] == "location"
assert 60 < located["location", True, RATE][1] < 70
words = [runs("attention", score="additive", query=TIMES[1], rate=r) for r in (0.01, RATE)]
losses = [[r["validation"] for r in rows if r["vector"] and r["fed"]] for rows in words]
assert len(losses[0]) == len(losses[1]) == 3 and max(losses[0]) < min(losses[1])

# %% c114b
assert most == 18 and known[2, 0] > 20 and known[0, 0] > 0.95 * known[0, 1]
assert (3 * known[:, 1] == far["additive", TIMES[2], RATE][1:, 1]).all()
for rate in (0.01, RATE):
    kinds = (("location", TIMES[1]), ("additive", TIMES[1]), ("additive", TIMES[2]))
    place, early, late = (far[score, query, rate][:, 0] for score, query in kinds)
    assert place[3] == 0 < min(early[3], late[3])
    assert (late[1:3] > place[1:3]).all() and (late[1:3] > early[1:3]).all()
    of = far["location", TIMES[1], rate][:, 1]
    assert place[1] / of[1] < 0.6 * place[0] / of[0]
near = [far[k, TIMES[1], r][1, 0] for r in (0.01, RATE) for k in ("location", "additive")]
assert near[0] < near[1] and near[2] > near[3]

# %% c129 trained
assert abs(beam_table["one vector"][1] - beam_table["one vector"][0]) < 8
from helpers.inference.search import beam_search as reference_search

assert beam_table["additive"][2] < 5 < beam_table["one vector"][2]
assert errors["the reference is less probable"] > 4 * errors["search missed the reference"]


class OneSentence:
    """A translator and a French sentence, as the helper wants it."""

    vocab_size, bos = english.vocab_size, english.bos

    def __init__(self, pair):
        self.first = bottleneck.read(french.encode(pair.french)[None])[0]

    def start(self, batch_size):
        return self.first

    @torch.no_grad()
    def step(self, tokens, s):
        logits, s, _ = bottleneck.step(tokens, s, None)
        return logits.double().log_softmax(-1), s


for pair in some[:12]:
    wanted, log_p = reference_search(OneSentence(pair), 4, english.eos, 40)[0]
    found, ids = beam_search(reader_of(bottleneck, pair), 4, english.eos)
    assert [*ids] == [*wanted.tolist(), english.eos] and abs(found - log_p) < 1e-6

# %% c135 trained
like = grammar.translate("le chat dort .")
odd = type(like)(like.english, ("le", "chat") * 3 + (".",), like.alignment)
for model in models.values():
    (words,) = translate_all(model, [odd])
    assert words[:2] == ("the", "cat") and not {"sleeps", "sees", "looks", "is"} & set(words)
