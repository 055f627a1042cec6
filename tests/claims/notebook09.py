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
assert 7.5 < raw.std() < 8.5 and 0.3 < sure < 0.6
assert (raw / 8).softmax(1).max(1).values.max() < 0.9
assert math.exp(10) > 22_000
assert (scaled_attention(Q64, K64, V64) - theirs).abs().max() < 1e-12
assert norms["without"].mean() > norms["with"].mean()
assert (norms["without"] < 0.05).float().mean() > 0.15 and norms["with"].min() > 0.1
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

# %% c091b trained
test_x, test_y = digits(2000, torch.Generator().manual_seed(99))
for (H, D, answer), models in trained.items():
    for model in models:
        share = (model(test_x)[:, 3:].argmax(-1) == test_y).all(-1).double().mean()
        if H == 2:
            assert share > 0.99, share
        elif answer is linear:
            assert share < 0.5, (D, share)
        else:
            assert share > 0.95, share
distance = torch.arange(12)[:, None] - torch.arange(12)
favourites = [max((1, 3), key=lambda back: A[3:][(distance == back)[3:]].mean())
              for A in trained[2, 32, linear][0].weights()[0]]  # fmt: skip
assert set(favourites) == {1, 3}
sizes = [sum(p.numel() for p in trained[H, 32, linear][0].parameters()) for H in (1, 2)]
assert sizes[0] == sizes[1]

# %% c137z
assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-4)
mark = to_opening(looks)
assert mark.argmax() == 10 and 0.86 < quote_share < 0.9 and 0.015 < to_opening(even) < 0.025
wait, stop = words.index("wait"), words.index("said") + 1
for at in (wait, wait + 3, wait + 4):  # wait, with, me
    assert words[weights[2, 2, at].argmax()] == "“" and weights[2, 2, at].max() > 0.8
for at in (stop - 2, stop - 1):  # he said
    assert words[weights[2, 2, at].argmax()] == ",”"
assert change == 0 and (layer, head) == (1, 3)
with_it, with_day = controlled.values()
assert 0.52 < with_it["wide"][:, 1].mean() < 0.54 and with_it["tired"][:, 1].mean() < 0.25
assert with_it["tired"][:, 0].mean() < 0.15
assert 0.5 < with_day["wide"][:, 1].mean() < 0.52 and with_day["tired"][:, 1].mean() < 0.25

# %% c102
for given in uses.values():
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
