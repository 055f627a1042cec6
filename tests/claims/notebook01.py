"""What notebook 01 claims: see staff/notebooks/claims.py."""

# %% c019
assert [corpus.parts.count(part) for part in ("train", "validation", "test")] == [384, 48, 48]
assert all(
    sum(y == row for _, y in points[part]) == 4
    for part in ("validation", "test")
    for row in range(12)
)
assert sorted(set(column.values())) == [40]
assert p_say > 0.99 and corpus.train.count("In Lantern Bay they say") > 300
fish, cold = (dict(zip(w, model_shares(b, w)))[x] for b, w in [played[3]] for x in ("fish", "cold"))
assert fish > 0.5 > 0.05 > cold
assert played[3][1][word_that_came(*played[3])] == "cold"
assert 5 * math.log2(5) < sum(model_losses[1:]) < math.inf
assert sum(x > math.log2(5) for x in model_losses) > 3
assert ordinary < 0.6 * math.log2(vocabulary.vocab_size)

# %% c037
assert math.isclose(sum(chain(branches, text) for text in leaves()), 1)
assert math.isclose(chain(branches, ("mice", "eat")), 0.42)
assert math.isclose(chain(branches, ("mice", "eat", "■")), 0.168)
lengths = {
    L: sum(chain(branches, t) for t in {x[:L] for x in leaves() if "■" not in x[:L]})
    for L in (1, 2, 3)
}
assert math.isclose(lengths[1], 1) and math.isclose(lengths[2], 1) and lengths[3] < 0.5
assert " ".join(words) not in corpus.train and len(orders) == 60
assert ranked[0] == "the woman opened the door" and strange == 3
assert ranked[1] == "woman the opened the door"
assert 300 < whole[ranked[0]] / whole[ranked[1]] < 400
assert {corpus.train.count(x) for x in ("woman the", "the opened", "opened the woman")} == {0}
assert corpus.train.count("opened the door") == 6
assert corpus.train.count("opened the door.") == 2
assert prefix_rank["woman opened the door the"] == 2
assert ranked.index("woman opened the door the") == 6
assert all(len(f) == 7 for f in factors.values())
assert not any(line[:1].islower() for line in corpus.train.splitlines())

# %% c046
assert f"{170_000**5:.1e}" == "1.4e+26" and len(str(170_000**5)) == 27
assert seen[1] == 100 and 9 < seen[4] < 12 and seen[6] < 1
assert len(in_train[6]) < len(in_train[3]) < len(train)

# %% c063
for y in range(3):
    assert math.isclose(
        float(next_token_loss(z, y)), float(F.cross_entropy(z, torch.tensor(y))), rel_tol=1e-5
    )
assert math.isclose(float(next_token_loss(z, 1) - next_token_loss(z, 0)), 1, rel_tol=1e-5)
assert next_words("She looked at the")[1][0] < 0.1 < 0.9 < next_words("In Lantern Bay they")[1][0]
assert after_the.min() > 0
cost = dict(zip(boxes, (nats / math.log(2)).tolist()))
assert max(cost[w] for w in ("Lantern", "Bay", "they", "say", ":")) < 0.5
assert sorted(cost, key=cost.get)[-3:] == ["voice", "dry", "loud"]
saying = boxes[boxes.index(":") + 1 : -2]
assert sum(cost[w] > cost["."] + cost["■"] for w in saying) > len(saying) / 2

# %% c081
assert cross_entropy(truth, truth) == 1.75 and cross_entropy(truth, BELIEFS["q uniform"]) == 2
assert cross_entropy(truth, BELIEFS["q reversed"]) == 2.625 and extra == 0.25
assert math.isclose(by_the_product, 10) and math.isclose(by_the_entropy, 10)
assert f"{ordinary:.2f}" == "6.07" and vocabulary.vocab_size == 4360
assert 0.1**323 > 0 == 0.1**324
grid = [i / 1000 for i in range(1, 1000)]
assert min(grid, key=lambda q: cross_entropy([0.8, 0.2], [q, 1 - q])) == 0.8
assert math.isclose(cross_entropy([0, 1, 0], [0.2, 0.5, 0.3]), surprise(0.5))

# %% c089
assert corpus.text.isascii() and five.bits_per_byte < 2 and 4 < one.bits_per_byte < 5
assert 5.9 < known < 6
assert (
    round(2 ** (total / len(tale_text)), 1) == 3.5
    and round(2 ** (2 * total / len(tale_text))) == 12
)

# %% c139
assert np.allclose(pi @ T, pi) and math.isclose(
    H, source.entropy_rate() / math.log(2), rel_tol=1e-9
)
assert round(H, 3) == 1.285
few = source.sample(50, torch.Generator().manual_seed(0))
direct = np.append(T[few[:-1].numpy(), few[1:].numpy()], pi[int(few[0])])
assert math.isclose(-np.log2(direct).mean(), score(source, few).bits_per_token)
assert all(v.mean() > 0 for v in excess.values())
assert all(excess["bigram"] < excess["trigram"]) and all(excess["trigram"] < excess["unigram"])
assert excess["bigram"].mean() < 0.004 and abs(excess["uniform"].mean() - (math.log2(3) - H)) < 0.01
assert abs(excess["unigram"].mean() - (best_unigram - H)) < 0.01
assert min(loss["true source"]) < H < max(loss["true source"]) and min(loss["bigram"]) < H
assert np.allclose(T[2], pi)
assert excess["bigram"].std() < loss["bigram"].std() / 4
assert excess["trigram"].std() < loss["trigram"].std() / 2
assert loss["uniform"].std() == 0 and excess["unigram"].std() > loss["unigram"].std()
assert abs(math.log(3) - 1.10) < 0.005

# %% c119
assert back == story and decode(code, bits, model) == story
exact = Counter()
for i, symbol in enumerate([*story, END]):
    exact["bits"] += math.log2(TOTAL / whole_shares(model(story[:i]))[symbol])
assert exact["bits"] - 1e-6 <= bits < exact["bits"] + 2 and ideal - 0.1 < bits < ideal + 2.1
assert encode(b"", model)[1] > 0 and decode(*encode(b"", model), model) == b""
assert decode(*encode("θάλασσα \x00".encode(), model), model) == "θάλασσα \x00".encode()
assert abs(sum(model(b"the harb")) - 1) < 1e-9 and grid[0] < best_m < grid[-1]
assert lone_grid[0] < lone_m < lone_grid[-1]
assert 0.85 < nothing["our model"] / nothing["deflate"] < 0.95
assert (
    len(file) < before["LZMA, all tales"] < before["deflate, last 32 kB"] < sizes["deflate (gzip)"]
)
assert len(file) < len(story) / 4 and 0.45 < sizes["deflate (gzip)"] / len(story) < 0.55
assert np.sum(ours < small) == 48
assert 0.45 < np.mean(shares < 1) < 0.55
assert 0.6 < (dark & new_word).sum() / dark.sum() < 0.75 and 0.15 < new_word.mean() < 0.25
assert 0.35 < shares[new_word].sum() / shares.sum() < 0.45
assert 0.3 < shares[~new_word].mean() / shares[new_word].mean() < 0.4
assert all(ours[::8] < large)
assert len(corpus.train) > 24 * 32768
assert (low, width, steps) == (6000, 1000, 10000)
assert block_inside(0.6, 0.1) == (10, 4)
assert 0 < len(tale) <= 400 and tale != decode(random_bits ^ 1 << 3999, 4000, stops)
assert set(corpus.test_documents).isdisjoint(corpus.train_documents)
