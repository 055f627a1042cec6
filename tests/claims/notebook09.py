"""What notebook 09 claims: see staff/notebooks/claims.py."""

# %% c012
by_hand = torch.tensor([2.0, 0.0, 0.0]).softmax(0)
assert [round(a, 2) for a in by_hand.tolist()] == [0.79, 0.11, 0.11]
assert abs(by_hand @ torch.tensor([10.0, 4.0, 1.0]) - 8.4) < 0.05
assert orders.get("order_1O4") is None
assert 0.15 < own[4] < 0.2 and math.isclose(own.sum().item(), 1, rel_tol=1e-5)
first = soft_lookup(keys[4])[1]
assert abs(first - days.mean()) < abs(first - days[4])
assert soft_lookup(100 * keys[4])[0][4] > 0.99
assert (keys @ keys[4] < 0).sum() == 6  # so a longer query does not make all scores larger
assert soft_lookup(3 * keys[4])[1] > first > days[4]
assert days[[3, 5]].tolist() == [9, 6]
neighbours = [soft_lookup(length * keys[4])[0][[3, 5]].sum() for length in (1, 3)]
assert neighbours[1] > neighbours[0]

# %% c028
A = attention_weights(Q, K)
assert Q.tolist() == [[1, 0], [0, 2], [1, 2]] and (Q @ K.T)[1].tolist() == [2, 2, 4]
assert [round(v, 1) for v in (A @ V)[1].tolist()] == [8.9, 4.5]
assert (Q @ K.T)[0, 1] == 0 and (Q @ K.T)[1, 0] == 2
assert torch.allclose(X @ (W_Q @ W_K.T) @ X.T, Q @ K.T)
columns = (W_V.T @ X.T) @ A.T  # with words as columns, as in [G]
assert torch.allclose(columns.T, A @ V)

# %% c048
assert 7.5 < raw.std() < 8.5 and 0.35 < sure < 0.5
assert (raw / 8).softmax(1).max(1).values.max() < 0.9
assert math.exp(10) > 22_000
QKV = torch.randn(3, 10, 64, dtype=torch.double)
assert torch.allclose(scaled_attention(*QKV), F.scaled_dot_product_attention(*QKV))
assert norms["without"].mean() > norms["with"].mean()
low = {name: norm.quantile(0.1) / norm.mean() for name, norm in norms.items()}
assert low["without"] < 0.05 and low["with"] > 0.8
assert norms["with"].min() > 0.7 * norms["with"].mean() and norms["without"].min() < 1e-3
assert norms["with"].std() < 0.3 * norms["without"].std()
assert norms["without"][raw.softmax(1).max(1).values > 0.98].max() < 0.05
s = torch.randn(5, dtype=torch.double).requires_grad_()  # the gradient's formula
v5, g5 = torch.randn(5, 3, dtype=torch.double), torch.randn(3, dtype=torch.double)
a5 = s.softmax(0)
(gradient,) = torch.autograd.grad(g5 @ (a5 @ v5), s)
assert torch.allclose(gradient, a5 * ((v5 - a5 @ v5) @ g5))
shuffle = torch.tensor([2, 1, 0])
O_here, O_there = (scaled_attention(x @ W_Q, x @ W_K, x @ W_V) for x in (X, X[shuffle]))
assert torch.allclose(O_there, O_here[shuffle]) and torch.allclose(O_there[1], O_here[1])

# %% c065
A = causal_weights(example)
assert A.triu(1).eq(0).all() and torch.allclose(A.sum(1), torch.ones(6)) and A[0, 0] == 1
hand = causal_weights(torch.tensor([[0.0, 0, 0], [1, 1, 5], [0, 0, 0]]))
assert torch.allclose(hand[1], torch.tensor([0.5, 0.5, 0]))
assert zeroed.tolist() == [0, 0, 0] and (zeroed / zeroed.sum()).isnan().all()  # the last row
assert masked.tolist() == [0.5, 0.5, 0]
scores = example.double()  # zeroing and dividing again is exact
divided = scores.softmax(1).tril()
exact = scores.masked_fill(~causal_mask(6), -math.inf).softmax(1)
assert torch.allclose(divided / divided.sum(1, keepdim=True), exact)

# %% c093 trained
for (task, H, answer), results in trained.items():
    for _, found, wanted in results:
        if task is vectors:
            one, three = (found - wanted).square().mean((0, 1, 3)).tolist()
            assert one + three < 0.05 if H == 2 else one + three > 0.97, (H, one, three)
            continue
        named = found.argmax(-1)
        both = (named == wanted).all(-1).double().mean()
        if (H, answer) == (1, linear):
            assert both < 0.5, both
            assert (named[..., 0] == named[..., 1]).double().mean() > 0.6
        else:
            assert both > 0.95, both
distance = torch.arange(12)[:, None] - torch.arange(12)
(one, *_), (two, *_) = trained[digits, 1, linear], trained[digits, 2, linear]
looked = [[A[3:][(distance == back)[3:]].mean().item() for back in (1, 3)]
          for A in (*one[0].weights(), *two[0].weights())]  # fmt: skip
assert all(0.3 < weight < 0.6 for weight in looked[0])
assert {int(weights[1] > weights[0]) for weights in looked[1:]} == {0, 1}
sizes = [sum(p.numel() for p in model.parameters()) for model in (one[0], two[0])]
assert sizes[0] == sizes[1]

# %% c137z
assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-4)
wait = words.index("wait")
assert words[weights[2, 2, wait].argmax()] == "“" and weights[2, 2, wait].max() > 0.9
assert inside.sum() == 778 and not (inside & outside).any()
total = {name: sum(values) for name, values in shares.items()}
assert 0.86 < shares["inside"][0] < 0.9 and total["evenly"] < 0.2
assert total["outside"] > 0.75 and total["evenly "] < 0.17
assert max(shares["outside"]) < 0.4
assert change == 0 and (layer, head) == (1, 3)
for adjective, low, high in (("tired", 0.1, 0.26), ("wide", 0.15, 0.85)):
    with_it, with_day = (
        controlled[name, adjective][:, 1].view(6, 6).mean(0) for name in ("it", "the day")
    )
    assert low < with_it.min() and with_it.max() < high and (with_it - with_day).abs().max() < 0.1
    if adjective == "wide":
        assert 0.5 < with_it.mean() < 0.55 and 0.48 < with_day.mean() < 0.55
        assert with_it.max() - with_it.min() > 0.5
        for name in ("it", "the day"):
            rise = controlled[name, "wide"] - controlled[name, "tired"]
            assert rise[:, 1].view(6, 6).mean(0).min() > 0.05

# %% c099
from helpers.models import attention

mine, theirs = MultiHeadAttention(32, 4), attention.MultiHeadAttention(32, 4)
mine.load_state_dict(theirs.state_dict())
x5, memory = torch.randn(2, 5, 32), torch.randn(2, 7, 32)
padding = attention.padding_mask(torch.tensor([7, 4]), 7)
for given in ((x5, None, None), (x5, None, causal_mask(5)), (x5, memory, padding)):
    assert torch.allclose(mine(*given), theirs(*given), atol=1e-5)
D, H = 12, 3
torchs = nn.MultiheadAttention(D, H, bias=False, batch_first=True, dtype=torch.double)
whole = MultiHeadAttention(D, H).double()
maps = whole.query, whole.key, whole.value
for ours, W in zip(maps, torchs.in_proj_weight.detach().chunk(3)):
    ours.weight.data.copy_(W)
whole.output.weight.data.copy_(torchs.out_proj.weight.detach())
y, z = torch.randn(2, 5, D, dtype=torch.double), torch.randn(2, 7, D, dtype=torch.double)
for source, mask in ((y, None), (y, causal_mask(5)), (z, None)):
    forbidden = None if mask is None else ~mask  # in PyTorch's class True forbids
    other = torchs(y, source, source, attn_mask=forbidden, need_weights=False)[0]
    assert torch.allclose(whole(y, source, mask), other)
by_loop = [
    scaled_attention(*(f(y)[0, :, 4 * h : 4 * h + 4] for f in maps)) for h in range(H)
]  # the formula, head by head
assert torch.allclose(whole.output(torch.cat(by_loop, 1)), whole(y)[0])
