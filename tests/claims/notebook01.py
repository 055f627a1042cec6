"""What notebook 01 claims: see staff/notebooks/claims.py."""

# %% c014
assert [corpus.parts.count(part) for part in ("train", "validation", "test")] == [384, 48, 48]
for part in ("validation", "test"):
    books = [d.book for d, p in zip(corpus.documents, corpus.parts) if p == part]
    assert {books.count(book) for book in books} == {4} and len(set(books)) == 12
prose = corpus.validation.replace("\n", " ")
for (beginning, came), points in zip(ROUNDS, my_points):
    assert sum(f"{beginning} {word}" in prose for word in points) == 1
    assert f"{beginning} {came}" in prose
assert all(surprise(its[came]) > math.log2(5) for _, its, came in played)
assert played[0][1]["place"] < 1e-3 and surprise(played[0][1]["place"]) > 3 * math.log2(5)
assert played[1][1]["fish"] > 0.5 > 0.05 > played[1][1]["cold"]
assert next_words("She caught a") == next_words("All that happened was that Miss Alder caught a")

# %% c016
assert corpus.train.count("In Lantern Bay they say") == 384
assert ordinary < 0.6 * math.log2(V_words)

# %% c027
assert math.isclose(sum(chain(branches, text) for text in leaves()), 1)
assert math.isclose(chain(branches, ("mice", "eat")), 0.42)
assert math.isclose(chain(branches, ("mice", "eat", "■")), 0.168)
of_length = {
    L: sum(chain(branches, t) for t in {x[:L] for x in leaves() if "■" not in x[:L]})
    for L in (1, 2, 3)
}
assert math.isclose(of_length[1], 1) and math.isclose(of_length[2], 1) and of_length[3] < 0.5

# %% c046
assert f"{170_000**5:.1e}" == "1.4e+26" and len(str(170_000**5)) == 27
assert seen[1] == 100 and 9 < seen[4] < 12 and seen[6] < 1
assert len(in_train[6]) < len(in_train[3]) < len(train)

# %% c063
cost = dict(zip(boxes, (nats / math.log(2)).tolist()))
assert max(cost[w] for w in ("Lantern", "Bay", "they", "say", ":")) < 0.5
assert sorted(cost, key=cost.get)[-3:] == ["voice", "dry", "loud"]
saying = boxes[boxes.index(":") + 1 : -2]
assert sum(cost[w] > cost["."] + cost["↵"] for w in saying) > len(saying) / 2

# %% d503
assert cross_entropy(truth, truth) == 1.75 and cross_entropy(truth, BELIEFS["q uniform"]) == 2
assert cross_entropy(truth, BELIEFS["q reversed"]) == 2.625
assert math.isclose(cross_entropy([0, 1, 0], [0.2, 0.5, 0.3]), surprise(0.5))
assert math.isclose(2 ** cross_entropy([0.1] * 10, [0.1] * 10), 10)
assert web["words"] == 333_213 and round(web["bits"], 2) == 11.85
assert 0.17 < 2 ** (ordinary - alone) < 0.25
assert 2 ** web["bits"] < web["words"] / 80 and 0.3 < web["first hundred"] < 0.4

# %% c149
assert len("θάλασσα") == 7 and len("θάλασσα".encode()) == 14
assert corpus.text.isascii() and five.bits_per_byte < 2
assert round(2 ** (total / len(tale_text)), 1) == 3.5
assert round(2 ** (2 * total / len(tale_text))) == 12
for count in (len(tale_text), len(tale_text) // 2):
    converted = bits_per_byte(2 ** (total / count), count, tale_text)
    assert abs(converted - five.bits_per_byte) < 1e-4

# %% c094
assert (low, width, steps) == (6000, 1000, 10000)
assert block_inside(0.6, 0.1) == (20, 5) and 20 * 10 // 32 == 6

# %% c144
assert (code, bits) == (20, 5) and 0.6 < 10 / 16 < 11 / 16 < 0.7

# %% c113
assert back == story and decode(code, bits, model) == story
assert per_byte < bits_needed(story) / len(story) < 1.1 * per_byte
exact = sum(
    math.log2(TOTAL / whole_shares(model(story[:i]))[symbol])
    for i, symbol in enumerate([*story, END])
)
assert exact + 1 - 1e-6 <= bits < exact + 2 and abs(exact - bits_needed(story)) < 0.5
for file_of in (b"", "θάλασσα \x00".encode(), corpus.test_documents[1].text.encode()[:300]):
    assert decode(*encode(file_of, model), model) == file_of
assert abs(sum(model(b"the harb")) - 1) < 1e-9
assert len(file) < 0.8 * by_lzma and by_lzma < sizes["deflate"] == min(sizes.values())
assert 0.45 < sizes["deflate"] / len(story) < 0.55 and len(file) < len(story) / 4
assert set(corpus.test_documents).isdisjoint(corpus.train_documents)

# %% c129
assert np.allclose(pi @ T, pi)
assert math.isclose(H, source.entropy_rate() / math.log(2), rel_tol=1e-9)
assert not any(np.allclose(pi, row, atol=0.02) for row in T)
few = source.sample(50, torch.Generator().manual_seed(0))
direct = np.append(T[few[:-1].numpy(), few[1:].numpy()], pi[int(few[0])])
assert math.isclose(-np.log2(direct).mean(), score(source, few).bits_per_token)
assert all(excess["bigram"] < excess["trigram"]) and all(excess["trigram"] < excess["unigram"])
assert excess["bigram"].mean() < 0.004 and found == "larger"
assert abs(excess["uniform"].mean() - (math.log2(3) - H)) < 0.01
assert abs(excess["unigram"].mean() - (best_unigram - H)) < 0.01
assert min(loss["true source"]) < H < max(loss["true source"])
assert abs(loss["true source"] - H).max() < 0.02
