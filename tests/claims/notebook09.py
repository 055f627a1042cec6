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

# %% c063
A = causal_weights(example)
assert A.triu(1).eq(0).all() and torch.allclose(A.sum(1), torch.ones(6)) and A[0, 0] == 1
hand = causal_weights(torch.tensor([[0.0, 0, 0], [1, 1, 5], [0, 0, 0]]))
assert torch.allclose(hand[1], torch.tensor([0.5, 0.5, 0]))
after = torch.tensor([1.0, 1, 5]).softmax(0).tolist()
assert [round(a, 3) for a in after] == [0.018, 0.018, 0.965]

# %% c090 trained
x = torch.randn(2, 5, 12, dtype=torch.double)
assert torch.equal(merge_heads(split_heads(x, 3)), x)
for allowed, forbidden in ((None, None), (causal_mask(5), ~causal_mask(5))):
    theirs = torchs(x, x, x, attn_mask=forbidden, need_weights=False)[0]
    assert (multi_head(x, *W, 3, allowed) - theirs).abs().max() < 1e-12
heads_by_loop = [
    scaled_attention(*(x[0] @ M[:, 4 * h : 4 * h + 4] for M in W[:3])) for h in range(3)
]
assert torch.allclose(torch.cat(heads_by_loop, 1) @ W[3], multi_head(x, *W, 3)[0])
test_x, test_y = digits(2000, torch.Generator().manual_seed(99))
for (H, D), models in trained.items():
    for model in models:
        share = (model(test_x)[:, 3:].argmax(-1) == test_y).all(-1).double().mean()
        assert share == 1 if H == 2 else share < 0.5, (H, D, share)
distance = torch.arange(12)[:, None] - torch.arange(12)
favourites = [max((1, 3), key=lambda back: A[3:][(distance == back)[3:]].mean())
              for A in trained[2, 32][0].weights()[0]]  # fmt: skip
assert set(favourites) == {1, 3}

# %% c104 trained
big = torch.randn(4, 6, dtype=torch.double), torch.randn(7, 6, dtype=torch.double)
ours_c = [torch.randn(6, 5, dtype=torch.double) for _ in range(3)]
kernel = F.scaled_dot_product_attention(big[0] @ ours_c[0], big[1] @ ours_c[1], big[1] @ ours_c[2])
assert torch.allclose(cross_attention(*big, *ours_c), kernel)
for word in ("lanterns", "harbours", "stressed"):
    assert backwards(word)[0] == word[::-1]
assert A.flip(1).diagonal().min() > 0.8

# %% c137z
assert card["parameters"] == sum(w.numel() for w in model.parameters())
assert of_trigram - bits_per_byte(of_gpt, texts[:40]) > 0.1
assert torch.allclose(weights.sum(-1), torch.ones(()), atol=1e-4)
before, sink, mark, name_share = (found for found, _ in habits.values())
even_of = [float(chance) for _, chance in habits.values()]
others = mark.flatten().sort().values[:-1]
assert mark.argmax() == 10 and 0.86 < quote_share < 0.9 and 0.23 < others.max() < 0.27
assert even_of[2] < 0.04
assert before[1, 1] > 0.3 and before[2, 0] > 0.3 and before.max() < 0.5 and even_of[0] < 0.05
assert 0.05 < sink.max() < 0.15
assert name_share.argmax() == 12 and name_share[3, 0] > 0.35 and 0.03 < even_of[3] < 0.05
assert from_others < 0.6 * name_share[3, 0]
assert len(tokenizer.encode(" guessed")) == 4
assert all(
    found.max() > 9 * chance
    for found, chance in zip((before, mark, name_share), (even_of[0], *even_of[2:4]))
)
wait, stop = words.index("wait"), words.index("said") + 1
for at in (wait, wait + 3, wait + 4):  # wait, with, me
    assert words[weights[2, 2, at].argmax()] == "“" and weights[2, 2, at].max() > 0.8
for at in (stop - 2, stop - 1):  # he said
    assert words[weights[2, 2, at].argmax()] == ",”"
assert words[weights[3, 0, stop].argmax()] == "Odd"
assert change == 0 and (layer, head) == (1, 3)
with_it, with_day = controlled.values()
assert 0.52 < with_it["wide"][:, 1].mean() < 0.54 and with_it["tired"][:, 1].mean() < 0.25
assert with_it["tired"][:, 0].mean() < 0.15
assert 0.5 < with_day["wide"][:, 1].mean() < 0.52 and with_day["tired"][:, 1].mean() < 0.25

# %% c146
assert memory["scores and weights"][1][-1] == 16 * memory["scores and weights"][1][-3]

# %% c024
by_loops = torch.stack([one_output(q, K_hand, V_hand) for q in Q_hand])
assert torch.allclose(by_loops, attention_weights(Q_hand, K_hand) @ V_hand)
assert [round(v, 1) for v in by_loops[1].tolist()] == [8.9, 4.5]
answers = [soft_lookup(length * keys[4])[1] for length in (0.5, 1, 3, 100)]
assert abs(answers[0] - days.mean()) < 0.1 and abs(answers[3] - days[4]) < 0.01
assert abs(answers[2] - days[4]) > abs(answers[1] - days[4])

# %% c030
ends = {name: [run[-1].float().mean().item() for run in found] for name, found in runs.items()}
assert max(ends["with 1/√d_k"]) > 0.7 and max(ends["without the factor"]) < 0.3
for name, found in ends.items():
    assert 0 < int(np.argmax(found)) < len(found) - 1, name  # no winner at the edge
right_keys = raw.softmax(1)[torch.arange(N), goal]
assert (right_keys < 1e-4).float().mean() > 0.5
red, blue = shares_by_weight["without the factor"], shares_by_weight["with 1/√d_k"]
assert red[0] < 10 and min(blue) >= 2
assert all(red[group] > blue[group] - 10 for group in red.keys() & blue.keys())
assert (raw / 8).softmax(1)[torch.arange(N), goal].min() > 1e-4
assert 2.3 < scores.std() < 3 and sure_rows < 0.05
W_q, W_k = made["variance 1/D"]
assert ((inputs @ W_q) @ (inputs[:64] @ W_k).T).std() > 7

# %% c071
before, after, divided = changes.values()
assert before == 0 and after > 0.01 and divided < 1e-5
kernel = F.scaled_dot_product_attention(q6[None], k6[None], v6[None], is_causal=True)[0]
assert torch.allclose(versions["mask before the softmax"](q6, k6, v6), kernel, atol=1e-6)
assert masked_after(q1, k2, torch.eye(2), again=True)[0].isnan().all()

# %% c106 trained
assert same > 0.6
assert 0.5 < (one + three) / 2 < 0.68

# %% c137
dots = [(at, row.argmax().item()) for at, row in enumerate(weights[0, 2, :SHOWN])
        if at >= FROM and row.max() > 0.8]  # fmt: skip
assert [(words[at - 1], words[at], words[to]) for at, to in dots] == [
    ("window", ".", "¶"), ("said", ".", "“"), ("me", ".", "“")]  # fmt: skip
assert to_next(of_twice).max() < 2 * to_next(even_twice) < 0.04
assert second > once - 0.3  # no profit from the first round
line = weights[:, :, words.index("said") + 1]  # the rows of all heads for the full stop
assert words[line[1, 2].argmax()] == "[begin]" and words[line[0, 2].argmax()] == "“"
assert words[line[3, 0].argmax()] == "Odd"
assert words[line[2, 2].argmax()] == words[line[2, 3].argmax()] == ",”"
inside, outside = by_distance.values()
assert inside[0] > 0.85 and outside[0] > 0.6 and inside[2] > 0.7 and outside[2] > 0.5
assert 0.62 < inside[3] < 0.66 and 0.26 < outside[3] < 0.3
assert outside[4] < 0.15 and inside[4] < 0.5
ours_3 = (q_3 @ k_3.T / math.sqrt(32)).masked_fill(~causal_mask(64), -math.inf).softmax(1)
shipped = heads.head_weights(model, stories[0][None, :64])[2, 2, 0]
assert torch.allclose(ours_3, shipped, atol=1e-5)
at, v_3 = said.index("wait"), split_heads(third.value(read), 4)[0, 2]  # (64, 32)
handed_on = ours_3[at] * (v_3 @ third.output.weight[:, 64:96].T).norm(dim=1)
assert handed_on.max() / handed_on.sum() > 0.9 and said[int(handed_on.argmax())] == "“"
products, near = k_3[at - 9 : at + 1] * q_3[at], said[at - 9 : at + 1]
assert products.max() < 24 and (products.min(0).values > 5).sum() == 1  # with every key
of_mark = 9 - near[::-1].index("“")
others = torch.cat([products[:of_mark], products[of_mark + 1 :]])
lead = products[of_mark] - others.mean(0)
assert (lead > 5).sum() >= 4 and lead.topk(3).values[1] > 1.2 * lead.topk(3).values[2]
first = MARKS[0] + 1
assert weights[2, 2, first:SHOWN, :FROM].max() < 0.2  # the columns that are left out

# %% c140
assert who == (3, 0)
for (own, other), most, low, high in zip(persons, (0.25, 0.08), (0.09, 0.02), (0.155, 0.05)):
    own, other = own[:, :, 3, 0], other[:, :, 3, 0]
    she, he = (own > other).float().mean(1)
    assert she > 0.85 and 0.3 < he < 0.7 and own[0].mean() < most
    assert own[1].mean() > other[0].mean()  # men, from He and from She
    assert own[0].mean() > other[1].mean()  # women, from She and from He
    assert (own[0] > other[1]).float().mean() > 0.75 < (own[1] > other[0]).float().mean()
    women, men = (own[0] + other[1]).mean() / 2, (own[1] + other[0]).mean() / 2
    assert low < men < women - 0.01 and women < high
