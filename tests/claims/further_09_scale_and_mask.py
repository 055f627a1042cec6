"""What the further notebook 09_scale_and_mask claims: see staff/notebooks/claims.py."""

# %% c024
by_loops = torch.stack([one_output(q, K_hand, V_hand) for q in Q_hand])
assert torch.allclose(by_loops, (Q_hand @ K_hand.T).softmax(1) @ V_hand)
assert [round(v, 1) for v in by_loops[1].tolist()] == [8.9, 4.5]
answers = [soft_lookup(length * keys[4])[1] for length in (0.5, 1, 3, 100)]
assert abs(answers[0] - days.mean()) < 0.1 and abs(answers[3] - days[4]) < 0.01
assert abs(answers[2] - days[4]) > abs(answers[1] - days[4])
turned = torch.tensor([math.cos(math.radians(147)), math.sin(math.radians(147))])
for length in (1, 6, 20):
    weights, answer = soft_lookup(length * turned)
    assert weights.argsort()[-2:].sort().values.tolist() == [4, 5]
    assert abs(weights[4] / weights[5] - 1) < 0.1
assert abs(answer - (days[4] + days[5]) / 2) < 0.3

# %% c030
ends = {name: [run[-1].float().mean().item() for run in found] for name, found in runs.items()}
assert max(ends["with 1/√d_k"]) > 0.7 and max(ends["without the factor"]) < 0.3
for name, found in ends.items():
    assert 0 < int(np.argmax(found)) < len(found) - 1, name  # no winner at the edge
for factor, rate in ((1, 0.3), (1 / root, 30)):
    for seed in (1, 2):
        share = learn(factor, rate, seed=seed)[-1].float().mean()
        assert share < 0.2 if factor == 1 else share > 0.8
q, k, v, goal = problem(0)
short, wanted = (q / 8).requires_grad_(), v[torch.arange(N), goal]
for step in range(3):  # with the factor = without it, eight times shorter, at a 64th of the rate
    weights = (k @ short[:, :, None])[:, :, 0].softmax(1)
    loss = ((weights[:, None] @ v)[:, 0] - wanted).square().sum()
    scaled = learn(1 / root, 30, step + 1)[-1]
    assert ((weights.argmax(1) == goal) == scaled).float().mean() > 0.98
    short = (short - 30 / 64 * torch.autograd.grad(loss, short)[0]).detach().requires_grad_()
right_keys = raw.softmax(1)[torch.arange(N), goal]
assert (right_keys < 1e-4).float().mean() > 0.5
red, blue = shares_by_weight["without the factor"], shares_by_weight["with 1/√d_k"]
assert red[0] < 10 and min(blue) >= 2
assert all(red[group] > blue[group] - 10 for group in red.keys() & blue.keys())
assert (raw / 8).softmax(1)[torch.arange(N), goal].min() > 1e-4
assert 2.3 < scores.std() < 3 and sure_rows < 0.05
W_q, W_k = made["variance 1/D"]
assert ((inputs @ W_q) @ (inputs[:64] @ W_k).T).std() > 7
