"""What notebook 05 claims: see staff/notebooks/claims.py."""

# %% c203
assert [round(math.tanh(1), 2), round(math.tanh(0.5 * math.tanh(1)), 2)] == [0.76, 0.36]

# %% c201b
from helpers.data.sources import HiddenMarkovSource

closed, opened = [0.7, 0, 0.3, 0], [0, 0.2, 0, 0.8]
source = HiddenMarkovSource(
    transitions=[closed, closed, opened, opened],
    emissions=[[2 / 7, 0, 5 / 7], [0, 1, 0], [0, 1, 0], [0, 0, 1]],
)
floor = SHARE_OPEN * entropy(AFTER_B) + (1 - SHARE_OPEN) * entropy(IN_PAUSE)
for k in (0, 1, 4, 7):
    upper = source.entropy_rate_bounds(k + 1)[1] / math.log(2)
    assert abs(floor + missed_with_window(k) - upper) < 1e-9
assert abs(fresh_bits - floor) < 0.02
assert write(90, seed=9)[0].count("a") > 8  # enough to find the rule

# %% c210
rnn = nn.RNN(3, 5, batch_first=True)
x, bias = torch.randn(2, 7, 3), rnn.bias_ih_l0 + rnn.bias_hh_l0
states = elman(x, torch.zeros(2, 5), rnn.weight_ih_l0, rnn.weight_hh_l0, bias)
assert torch.allclose(states, rnn(x)[0], atol=1e-6)
small = RNN(4, 3, 5)
tokens = torch.randint(4, (2, 9))
whole, last = small.read(tokens)
first, state = small.read(tokens[:, :4])
second, end = small.read(tokens[:, 4:], state)
assert torch.allclose(torch.cat([first, second], 1), whole, atol=1e-6)
assert torch.allclose(end, last, atol=1e-6) and (small.W_hh.abs() <= 5**-0.5).all()

# %% c216 trained
assert round(missed_with_window(0), 2) == 0.14
assert max(by_network) < missed_with_window(16) / 1.2

# %% c047
assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(by_us, by_autograd))

# %% c221
ends = {radius: [run[60] for run in found] for radius, found in left.items()}
assert max(ends[0.58]) < 1e-13 and min(ends[1.0]) > 1e-7 and max(ends[1.0]) < 1e-2
assert min(ends[2.0]) > 100
per_step = {radius: np.median(found) ** (1 / 60) for radius, found in ends.items()}
assert 0.5 < per_step[0.58] < 0.55 and abs(per_step[1.4] - 1) < 0.02
assert 1.1 < per_step[2.0] < 1.2 and 0.8 < per_step[1.0] < 0.87
steps = [(run[50] / run[10]) ** (1 / 40) for run in left[0.58]]
assert min(steps) > 0.48 and max(steps) < 0.62  # loses nearly half
radius = [torch.linalg.eigvals((2 * torch.rand(400, 400) - 1) / 20).abs().max() for _ in range(3)]
assert all(abs(r - 3**-0.5) < 0.05 for r in radius)
one = torch.tensor(0.3, dtype=torch.double, requires_grad=True)
h_2 = torch.tanh(2 * one - 0.5)
(slope,) = torch.autograd.grad(h_2, one)
assert abs(slope - 2 * (1 - h_2**2)) < 1e-12
assert round(0.9**100, 6) == 0.000027 and 35e3 < 0.9**-100 < 45e3 and 1e4 < 1.1**100 < 1.5e4
assert abs(0.99**100 - 1 / 3) < 0.05
assert abs(0.955**100 - 0.01) < 1e-4 and abs(0.933**100 - 0.001) < 1e-4

# %% c073
drawn = [torch.randn(3, 4), torch.randn(5)]
holders = [nn.Parameter(torch.zeros_like(g)) for g in drawn]
for p, g in zip(holders, drawn):
    p.grad = g.clone()
nn.utils.clip_grad_norm_(holders, 0.7)
assert all(torch.allclose(p.grad, g, atol=1e-5) for p, g in zip(holders, clip(drawn, 0.7)))

# %% c228 trained
without, clipped, at_third, longer = ends.values()
assert max(clipped) < 0.9
assert np.mean(without) > np.mean(clipped) + 0.1
assert all(a > b + 0.1 for a, b in zip(at_third, clipped)) and min(at_third) > 0.6
assert max(longer) < 0.7  # a smaller rate does as well, with more steps
thrown = [max(losses[150:]) for _, losses in runs[NONE]]
assert sum(loss > 1.5 for loss in thrown) >= 3
assert all(np.mean(np.array(norms[:75]) > 5) < 0.35 for norms, _ in runs[CLIPPED])
assert all(np.quantile(norms[:75], 0.95) < 15 for norms, _ in runs[CLIPPED])
back = []  # whether the loss is below where it was within 15 steps after it was above 1.6
for _, losses in runs[NONE]:
    rises = [t for t in range(20, 235) if losses[t] > 1.6 >= losses[t - 1]]
    back += [min(losses[t : t + 15]) < np.mean(losses[t - 5 : t]) for t in rises]
assert 0.4 < np.mean(back) < 0.99
largest = max(norm for norms, _ in runs[NONE] + slower for norm in norms)
assert largest < NONE < math.inf  # finite, since bound / max(norm, bound) is a right clip, too
assert min(above) > 0.85

# %% c081e trained
assert max(by_hand_runs[5, 0.58] + by_hand_runs[5, 1.0] + by_hand_runs[20, 1.0]) < 0.3
assert min(by_hand_runs[20, 0.58]) > 1.2
assert abs(0.58**5 - 0.07) < 0.005 and abs(0.58**20 - 0.00002) < 0.000005
others = [np.mean(learn_by_hand(20, 1.0, seed)[-100:]) for seed in (6, 10)]
assert max(others) > 0.3  # a few other seeds do not learn

# %% c108 trained
assert abs(rnn_bits - test_bits[4]) < 0.08 < 0.5 * (test_bits[4] - test_bits[5])
assert abs(study["long text"]["test"] - test_bits[5]) < 0.02
passes = [steps * 32 * 64 / len(ids["train"]) for steps in (700, 7000)]
assert 1.7 < passes[0] < 1.9 and round(passes[1]) == 18 and all(ord(c) < 128 for c in corpus.text)
assert bits[50] > bits[700]
assert test_bits[9] < min(rnn_bits, study["long text"]["test"]) - 0.05

# %% c116 trained
assert gain[1].mean() > gain[3].mean() > gain[5].mean() > 0
assert gain[8].mean() < 0.03 and abs(gain[20].mean()) < 0.01 and 0.05 < gain[5].mean() < 0.25
