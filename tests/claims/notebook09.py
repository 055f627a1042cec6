"""What notebook 09 claims: see staff/notebooks/claims.py."""

# %% c012
by_hand = torch.tensor([2.0, 0.0, 0.0]).softmax(0)
assert [round(a, 2) for a in by_hand.tolist()] == [0.79, 0.11, 0.11]
assert abs(by_hand @ torch.tensor([10.0, 4.0, 1.0]) - 8.4) < 0.05
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
assert 7.5 < raw.std() < 8.5 and 0.42 < sure < 0.5
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
far = torch.tensor([1.0, 1.0, 200.0]).softmax(0) * shown
assert far.sum() == 0  # rounded
scores = example.double()  # zeroing and dividing again is exact
divided = scores.softmax(1).tril()
exact = scores.masked_fill(~causal_mask(6), -math.inf).softmax(1)
assert torch.allclose(divided / divided.sum(1, keepdim=True), exact)

# %% c090 trained
for one, three in (both for _, both in trained[2]):
    assert one + three < 0.05, (one, three)
for one, three in (both for _, both in trained[1]):
    assert 0.97 < one + three < 1.1, (one, three)
distance = torch.arange(12)[:, None] - torch.arange(12)
(one, _), (two, _) = trained[1][0], trained[2][0]
looked = [[A[3:][(distance == back)[3:]].mean().item() for back in (1, 3)]
          for A in two.weights()]  # fmt: skip
assert {int(weights[1] > weights[0]) for weights in looked} == {0, 1}
assert all(max(weights) > 0.9 for weights in looked)

# %% c090
(one, _), (two, _) = trained[1][0], trained[2][0]
sizes = [sum(p.numel() for p in model.attention.parameters()) for model in (one, two)]
assert sizes[0] == sizes[1]
of_x = one.attention.value.weight.double() @ one.embed.weight.double()  # values: (32, 8) times x
assert of_x.shape == (32, 8) and torch.linalg.matrix_rank(of_x) == 8

# %% c137z
assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-4)
wait = words.index("wait")
assert words[weights[2, 2, wait].argmax()] == "“" and weights[2, 2, wait].max() > 0.9
assert inside.sum() == 778 and not (inside & outside).any()
total = {name: sum(values) for name, values in shares.items()}
assert 0.86 < shares["inside"][0] < 0.9 and total["even, inside"] < 0.2
assert total["outside"] > 0.75 and total["even, outside"] < 0.17
assert max(shares["outside"]) < 0.4
assert sum(shares["inside"][1:]) < sum(shares["even, inside"][1:])
(of_last, of_commas) = (dict(zip(columns, row)) for row in others.values())
assert of_last["outside"] > 0.48 and of_last["even, outside"] < 0.05
assert of_commas["outside"] < 0.7 * of_commas["even, outside"]
assert change == 0 and (layer, head) == (1, 3)
weight_of = {of: found.mean().item() for of, found in controlled.items()}
for adjective in ("tired", "wide"):
    with_it, with_day = (weight_of[name, adjective] for name in ("it", "the day"))
    assert abs(with_it - with_day) < 0.08
    assert with_it < 0.2 if adjective == "tired" else with_it > 0.4
assert 0.5 < weight_of["it", "wide"] < 0.55

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
