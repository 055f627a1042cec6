"""What notebook 14 claims: see staff/notebooks/claims.py."""

# %% c013
assert story(Rules(temperature=0), 1) == story(Rules(temperature=0), 2)
assert story(Rules(), 1) != story(Rules(), 2)

# %% c025b
best = math.log(best_of_all)
assert reached[1][0] < best - 0.01 and abs(reached[8][0] - best) < 1e-9
assert reached[2][1] == reached[1][1] and reached[1][0] < reached[4][0] < best - 0.01
assert all(reached[k][1][-1] == STOP for k in reached)
second = {tuple(tokens): total for total, tokens in search(toy, [STOP], 2, 2, STOP)[1][1][2]}
assert its_words == ["row", "."] and (STOP, 0, STOP) not in second
assert all(text == ["."] for _, text in others)
starts = [float(toy_gpt(s)(read[:1, :1]).softmax(-1)[0, 0, STOP]) for s in (*range(11), 34)]
assert sum(p > 0.27 for p in starts[:-1]) == 9 and starts[-1] < 0.1

# %% c033
means = {name: np.mean(values) for name, values in spread.items()}
assert means["beam, width 4"] < 0.7 * np.mean(real_bits)
assert means["greedy"] < 0.7 * np.mean(real_bits)
assert means["sampled, temperature 0.7"] < means["sampled, temperature 1.0"]
assert means["sampled, temperature 0.7"] < 0.9 * np.mean(real_bits)
assert np.ptp(spread["sampled, temperature 0.7"]) > 0.5
assert abs(means["sampled, temperature 1.0"] - np.mean(real_bits)) < 0.4 * np.mean(real_bits)

# %% c038b
assert 2 <= repeats["beam, width 4"][1] <= 6 and 3 <= repeats["greedy"][1] <= 7
assert repeats["greedy, 120 tokens"][1] >= 11 and repeats["greedy, 120 tokens"][0] > 0.2
for name in ("held-out", "held-out, 120 tokens", "sampled, temperature 1.0, 120 tokens"):
    assert repeats[name][1] <= 2 and repeats[name][0] < 0.02
assert most["beam, width 4"] < 6 and most["what really followed"] > 10

# %% c040
strange, usual, circle = repeated_bits
assert strange[0] - 1 > strange[5] > 4.1 and usual[5] > usual[0] > 1
assert circle[0] > 1.3 > 1.1 > max(circle[1:])
assert strange[1] < after_other[0] - 0.3 and circle[1] < after_other[2] - 0.3
assert abs(usual[1] - after_other[1]) < 0.2 and usual[0] < after_other[1] - 0.3
assert strange[0] > after_other[0] + 0.2 and circle[0] > after_other[2] + 0.1

# %% c054
assert ruled["temperature 0.5"].max() > p.max() > ruled["temperature 1.5"].max()
assert int((ruled["top-k, k = 5"] > 0).sum()) == 5
shown = order[100:300:25].tolist()
assert int(tokenizer.encode(" l")[0]) in shown and len(tokenizer.encode(" l")) == 1
assert tokenizer.encode(" ledge").tolist()[0] == int(tokenizer.encode(" l")[0])
nucleus = ruled["top-p, p = 0.5"] > 0
assert p[nucleus].sum() >= 0.5 > p[nucleus].sum() - p[nucleus].min()
assert p[order[100:]].sum() > 0.05 and int(nucleus.sum()) > 5
assert (
    0.003 < tail < 0.005 and 0.007 < p[order[500:]].sum() < 0.02 and 0.6 < p[order[:20]].sum() < 0.7
)
assert ruled["temperature 0.5"][order[100:]].sum() < 0.5 * p[order[100:]].sum()

# %% c058
assert min(kept) <= 2 and max(kept) > 100
assert np.corrcoef(unsure, np.log(kept))[0, 1] > 0.7

# %% c071
averages = [bits.mean() for bits in own_bits.values()]
assert all(np.diff(averages) > 0)
assert averages[0] < 0.8 * np.mean(of_held_out) < averages[-1]
assert 0.15 < surprised - stated < 0.6
assert 1 < low <= balanced <= high < 1.2

# %% c085
assert (one_by_one - at_once).abs().max() < 1e-3 * max(1.0, float(at_once.abs().max()))
assert cache[0][0].shape == (config.n_heads, 150, config.d_model // config.n_heads)
assert size == 2 * config.n_layers * 150 * config.d_model * 4

# %% c091
assert all(
    sum(t * (t + 1) // 2 for t in range(1, n + 1)) == n * (n + 1) * (n + 2) // 6 for n in lengths
)
assert (256 + 1) / 2 < fewer < (2 * 256 + 1) / 3
for c in (False, True):
    assert in_attention(256, c) < 0.3 and in_attention(4096, c) > 0.5
slopes = [math.log2(flops(4096, c) / flops(2048, c)) for c in (False, True)]
assert 2 < slopes[0] < 3 and 1 < slopes[1] < 2

# %% c111
assert passes[5] < 4 * passes[1] and errors_of(shares["verify"][0]).abs().max() < 4
assert min(p_values["verify"]) > 0.002 and max(p_values["verify"]) > 0.05
assert max(p_values["lenient"] + p_values["hasty"]) < 1e-9
accept, residual = verify(large.double(), small.double())
back = small * accept + (1 - (small * accept).sum(1, keepdim=True)) * residual
assert (back - large).abs().max() < 1e-6

# %% c119b
assert 0.1 < alpha < 0.95 and of_rounds > 0.01
assert len(rounds) < 0.9 * new_tokens
content, small_ones = by_kind["other words"], by_kind["small words"] + by_kind["punctuation"]
assert len(content) > 250 and 0.4 < np.mean(content) < np.mean(small_ones) - 0.08

# %% c160
six = lengths_in_words.index(6)
unread, plain = curve["held-out stories"], curve["GPT, temperature 1"]
assert curve["unsmoothed, n = 8"][six] > unread[six] + 0.2
assert plain[six] < curve["unsmoothed, n = 8"][six] - 0.2
assert all(difference("GPT, temperature 1", n)[0] < 0 for n in (2, 4, 6))
assert all(difference("GPT, temperature 0.5", n)[0] > 0 for n in (2, 4, 6))
eight = lengths_in_words.index(8)
assert abs(curve["GPT, temperature 0.5"][eight] - unread[eight]) < 0.003

# %% c165
assert 0.9 < named_ivy / grandmothers < 0.99
names_there = set(re.findall(r"Grandmother ([A-Z]\w+)", corpus.train))
assert names_there == {"Ivy", "Is", "Did"}  # in titles: *What Grandmother Did*
assert likeliest_name == "Ivy" and how_sure > 0.9
assert finished >= 3
assert sum(text.count("\n\n") >= 1 for text in ten) >= 8

# %% c168c
plain, mixed, moon = (bits_of(text) for text in three)
assert mixed.mean() > plain.mean() + 3 and 0 < moon.mean() - plain.mean() < 0.5
assert 5 < moon.sum() - plain.sum() < 10
bread_word, moon_word = plain[3], moon[3:5].sum()
home_word = moon[tokenizer.encode(three[2]).tolist().index(int(tokenizer.encode(" home")))]
assert bread_word + 1 < moon_word < bread_word + 5 and home_word > 5

# %% c129
assert costs_after[-1] < costs_after[0] - 0.5
assert costs_after.argmin() == len(costs_after) - 1
last = next_log_probs(gpt, tokenizer.encode(CONTEXT))
first, second = (set(log_p[-1].topk(4).indices.tolist()) for log_p in lens[:2])
assert first == second and costs_after[0] - costs_after[1] > 0.4
assert (lens[-1][-1] - last).abs().max() < 1e-3

# %% c135i trained
assert whole_control < 0.2 and control_scores["induction"][1].min() > 0.5
assert control_scores["induction"][0].max() < 0.3 < control_scores["previous token"][0].max()
assert max(single[0, 0], single[0, 1]) > 2 and min(single[0, 0], single[0, 1]) < 0.5
assert both > 2 and max(single[1, 0], single[1, 1]) < 0.1 * both and both > 2 * alone
assert takers == 1 and readers == 2 and back[1:16].mean() > 1.5 * back[16:].mean()

# %% c138
assert clear == {"attention sink": False, "previous token": True, "induction": False}
assert induction.max() < 0.1
assert on_words.sum(-1).sub(1).abs().max() < 1e-3
perfect = torch.zeros(81, 81)
perfect[torch.arange(41, 81), torch.arange(2, 42)] = 1
assert abs(float(induction_score(perfect, 40)) - 1) < 1e-6

# %% c146 trained
assert costs_of[2].max() > 0.02
assert whole_model[0] > math.log(V) and costs_of[0].min() < -0.05
assert 0.03 < of_saved["stories"].mean() < 0.25 and of_saved["words"].mean().abs() < 0.2
assert whole_model[2] - 0.2 < after_end < whole_model[2] - 0.03
assert whole_model[0] > first_round - 0.2
assert on_told.max() < 0.05
assert torch.isfinite(costs_of).all()
assert torch.allclose(nats(), whole_model, atol=1e-4)  # the model is whole again
assert whole_model[1] > whole_model[2] + 0.1 and whole_control < 0.1

# %% c151h
assert knows[0] > knows[1] and lost and looks_there and names_head[0] == config.n_layers - 1
assert (without_it > 0).float().mean() < (with_all > 0).float().mean() - 0.1
assert place(on_names) == place(on_right) == place(copied_names) == names_head
assert copied_names[names_head] > 0.7 and on_right[names_head] < 0.7 * on_names[names_head]
assert copied_names[names_head[0]].sort().values[:-1].max() < 0.1
assert costs_of[2][names_head] < 0.6 * costs_of[2].max()
