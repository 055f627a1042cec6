"""What notebook 20 claims: see staff/notebooks/claims.py."""

# %% c004
assert len(texts) == 6**4 == 1296
assert abs(float(log_ref.exp().sum()) - 1) < 1e-4

# %% c007
assert worth(["warm", "and"] * 2) == 2 and worth(["cold", "and"] * 2) == -2
assert worth(["not", "very", "cold", "and"]) == 1 == worth(["warm"] * 4)
assert -0.35 < float(log_ref.exp() @ reward) < -0.25 and reward.max() == 3
_order = log_ref.argsort(descending=True).tolist()
assert reward[_order[0]] == -2 and reward[_order[2]] == 2

# %% c015 trained
_w = dict(zip(WORDS, weights.tolist(), strict=True))
assert _w["warm"] > 0.4 and _w["cold"] < -0.2 and _w["not"] < -0.3
_not = [[" not warm" in f" {' '.join(t)}", " not cold" in f" {' '.join(t)}"] for t in texts]
_before = log_ref.exp() @ torch.tensor(_not).float()
assert _before[0] > 1.5 * _before[1]
assert 68 < agreement(learned, new) < agreement(reward, new) < 80
assert agreement(reward, new) - agreement(learned, new) < 7

# %% c027
from helpers.learning import preferences

for b in (4, 0.5, 0.05):
    ours, theirs = best_policy(log_ref, reward, b), preferences.best_policy(log_ref, reward, b)
    assert torch.allclose(ours[0], theirs[0]) and torch.allclose(ours[1], theirs[1])
    mean, kl = mean_and_kl(ours[0])
    assert abs(mean - b * kl - float(ours[1])) < 1e-3
_rows = {
    b: mean_and_kl(best_policy(log_ref, reward, b)[0]) for b in (4, 2, 1, 0.5, 0.25, 0.1, 0.05)
}
assert list(_rows.values()) == sorted(_rows.values())
assert 1.8 < _rows[0.5][0] < 1.95 and _rows[0.25][0] < 2.01 and _rows[0.25][1] < 1.9
assert int((reward == 3).sum()) == 1 and log_ref[reward == 3].exp() < 5e-9
assert reward[reward.argmax()] == 3
assert _rows[0.05][1] > 3 and 1.1 < float(best_policy(log_ref, reward, 0.5)[1]) < 1.2

# %% c029
for n in (2, 4, 16):
    mean, kl = mean_and_kl(best_of(n))
    assert abs(float(best_of(n).exp().sum()) - 1) < 1e-4
    assert kl < math.log(n) - (n - 1) / n
    gap = np.interp(kl, frontier[::-1, 1], frontier[::-1, 0]) - mean
    assert -0.01 < gap < 0.25

# %% c045
assert torch.allclose(ways["exact"], ways["mean of the others"], atol=1e-6)
assert torch.allclose(ways["exact"], 2 * ways["mean of the group"], atol=1e-6)
_same = F.cosine_similarity(ways["exact"], ways["GRPO"], dim=0)
assert _same < 0.995

# %% c050 trained
assert 88 < way(reinforced[-1]) < 100
assert value(reinforced[0]) < value(reinforced[-1])
assert mean_and_kl(reinforced[-1])[1] > mean_and_kl(target)[1]
_policy = copy.deepcopy(base)
_optimizer = torch.optim.AdamW(_policy.parameters(), lr=1e-4, weight_decay=0)
for _ in range(12):  # with the exact gradient, a sum over all texts
    _log_p = listed.log_probs(_policy, torch.arange(len(texts)))
    _earned = reward - beta * (_log_p.detach() - log_ref)
    _optimizer.zero_grad()
    (-_log_p.exp() @ _earned).backward()
    nn.utils.clip_grad_norm_(_policy.parameters(), 1.0)
    _optimizer.step()
assert abs(way(listed.all_log_probs(_policy)) - way(reinforced[-1])) < 4

# %% c067
from helpers.learning import preferences

_one = [torch.tensor([x]) for x in (-3.0, -1.0, -2.0, -4.0)]
assert torch.allclose(dpo_loss(*_one, 0.3), preferences.dpo_loss(*_one, 0.3))

# %% c067 trained
assert 80 < way(direct[-1]) < 100 and with_few < 70
assert np.mean([way(path[1]) for path in few.values()]) > with_few + 10
assert min(way(path[1]) for path in few.values()) > 50
_truth, _direct = agreement(reward, new), agreement(direct[-1] - log_ref, new)
for name, path in few.items():
    assert agreement(path[-1] - log_ref, few_pairs[name]) > _truth + 5
    assert agreement(path[-1] - log_ref, new) < _direct - 1

# %% c083 trained
assert true < 1.2 and mean_and_kl(best_policy(log_ref, learned, 0.03)[0], learned)[0] > 2
assert mean_and_kl(best_policy(log_ref, learned, 0.25)[0])[0] > 1.7
assert texts[best_policy(log_ref, learned, 0.03)[0].argmax()] == ["warm"] * 4

# %% c089 trained
assert judged["the GPT itself"][0] < 1 and 3.3 < judged["the GPT itself"][2] < 4.3
assert judged["no KL term"][0] > 4.7 and judged["no KL term"][2] > 11
_count, _kl, _bits = judged["with it, beta = 0.3"]
assert 1.5 < _count < judged["no KL term"][0] and _kl < 40 and _bits < 5.8

# %% c106
assert pronouns["doctor"][0] > 3 * pronouns["doctor"][1] and min(map(sum, pronouns.values())) >= 8
assert pronouns["weaver"] == (6, 6) and in_model["weaver"] < -1.5
assert pronouns["man"] == (100, 28) and pronouns["woman"] == (13, 41)
assert r > 0.7 and r_open > 0.5 and further >= 11 and 85 < share(in_model["doctor"]) < 94
assert share(in_model["woman"]) < 10 and share(in_model["man"]) > 85
