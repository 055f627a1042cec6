"""What notebook 03 claims: see staff/notebooks/claims.py."""

# %% c008
share = 100 * len(unknown) / len(new_words)
assert 1 < share < 4
assert any(word.isupper() and word.lower() in known for word in unknown[5::40])
assert "<unk>" == words.words[words.encode(line)[1]] == words.words[words.encode(line)[2]]
assert "unlatch" in unknown and "latch" in known and len(line) == 36
assert line not in corpus.train and "ï" not in corpus.train

# %% c206
assert max(counted, key=counted.get) == "et" and sorted(counted.values())[-2] < counted["et"]
merged = [(a + b).decode() for _, (a, b), _ in states]
assert merged[:7] == ["et", "he", "the", " the", "le", "tle", "ettle"]
assert to_bytes(" the") not in states[4][0] and (b" the",) in states[4][0]
assert counted["he"] == counted["␣t"] == counted["th"] and len(states[0][0]) == 9
assert (b" k", b"ettle") not in states[7][0] and (b" ", b"k", b"ettle") in states[7][0]
assert join(to_bytes("aaaa"), (b"a", b"a")) == (b"aa", b"aa")
assert by_hand(50)[-1][2] >= 1
assert count_pairs(toy) == merging.count_pairs(toy)
assert all(join(w, (b"t", b"h")) == merging.join(w, (b"t", b"h")) for w in toy)
assert best_pair(count_pairs(toy), BYTE_IDS) == (b"e", b"t")

# %% c033
assert split("They'll row 12 miles,   not 7!\n")[5:8] == [",", "  ", " not"]
assert split("the end \n\n") == ["the", " end", " \n\n"] and split("a\nb") == ["a", "\n", "b"]
assert split("   not") == ["  ", " not"] and split("it's We sang 1948! (") == [
    *("it", "'s", " We", " sang", " 1948", "!", " (")
]
assert "".join(split(corpus.validation)) == corpus.validation
assert [len(c.encode()) for c in "nï海🙂"] == [1, 2, 3, 4]
assert len(sample_ids) == 2

# %% c212
by_pencil = {to_bytes(w): n for w, n in ((" the", 3), (" then", 2), (" net", 1))}
assert len(learn({to_bytes(w): 1 for w in ("the", "net")}, 99)) == 4
assert learn(by_pencil, 3) == [(b"h", b"e"), (b"t", b"he"), (b" ", b"the")]
by_class_of_few = BPETokenizer.train(few, 256 + 200)
assert few_merges == [tuple(map(by_class_of_few.token_bytes, m)) for m in by_class_of_few.merges]
assert merges[:5] == first_five and table.merges == shipped.merges
assert len(stories.train) > 4e6 and 256 + 1791 + 1 == 2048 == table.vocab_size

# %% c048
learned = {(a + b).decode(errors="replace") for a, b in merges}
assert {" something", " Mara", " lantern", "antern", " harbour", "pr"} <= learned
assert len(merge_tree(" lantern")) == 1
assert b"antern" in [child[0] for child in merge_tree(" lantern")[0][2]]

# %% c060
rng = np.random.default_rng(0)
codes = np.delete(np.arange(0x110000), range(0xD800, 0xE000))  # these are no characters
random_texts = ["".join(map(chr, rng.choice(codes, 20))) for _ in range(100)]
assert all(small.decode(small.encode(text)) == text for text in random_texts)
assert mine.encode(new_tales) == table.encode(new_tales).tolist()
assert not {to_bytes(" lamplighters"), to_bytes("lamplighters")} & set(story_words)
assert mine.decode(mine.encode("海")[:2]) == "\ufffd"
by_length = sorted(mine.ids, key=len)[::-1]
longest_first = regex.compile(b"|".join(map(regex.escape, by_length)))
assert longest_first.findall(b" stars") == [b" star", b"s"]
assert replay(to_bytes(" stars"), merges) == (b" st", b"ars")
kettles = replay(to_bytes(" kettles"), [pair for _, pair, _ in states])
assert kettles == (b" ", b"k", b"ettle", b"s")
assert mine.encode("A cat") + mine.encode(" slept") == mine.encode("A cat slept")
assert mine.encode("the ") + mine.encode("tide") != mine.encode("the tide")
in_parts = [[mine.tokens[i] for i in mine.encode(part)] for part in ("ca", "cat")]
assert in_parts == [[b"ca"], [b"c", b"at"]]

# %% c109
assert all(yours.encode(t) == i and yours.decode(i) == t for t, i in real["ids"].items())
assert [of["V"] for of in seen.values()] == [50257, 100256, 199998]
times = {
    n: {x: c / of["tokens"]["English"] for x, c in of["tokens"].items()} for n, of in seen.items()
}
assert 6 < times["GPT-2"]["Greek"] < 6.5 and 4.5 < times["GPT-4"]["Greek"] < 5.5
assert times["GPT-4"]["Hindi"] > 5 and times["GPT-4o"]["Hindi"] < 2
assert len({of["tokens"]["English"] for of in seen.values()}) == 1
assert " SolidGoldMagikarp" in seen["GPT-2"]["pieces"][SENTENCE]
assert "你好" in seen["GPT-4o"]["pieces"][SENTENCE]
assert all(" lantern" in of["pieces"][SENTENCE] for of in seen.values())
assert not any(" straße" in of["pieces"][SENTENCE] for of in seen.values())
assert len(SAME_TEXT["Chinese"]) == 47 and len(SAME_TEXT["Chinese"].encode()) == 3 * 47
sizes = Counter(len(sign.encode()) for sign in SAME_TEXT["Hindi"])
assert sizes == {3: 129, 1: 34} and SAME_TEXT["Hindi"].count(" ") == 32
assert len(SAME_TEXT["English"]) == len(SAME_TEXT["English"].encode()) == 158
unread = ("Greek", "Russian", "Arabic", "Hindi", "Chinese")
assert all(ours[x] > 0.9 * len(SAME_TEXT[x].encode()) for x in unread)

# %% c228
mark = table.special_ids[END_OF_TEXT]
assert len(END_OF_TEXT) == 13 and mark == 2047 == len(merges) + 256
assert band.index(mark) == 4 and len(band) == 9 and max(band) == mark
system = chat.special_ids["<|system|>"]
assert in_text.count(system) == 2 and in_turns.count(system) == 1
assert chat.decode(in_text) == chat.decode(in_turns)

# %% c119
assert seen["GPT-4"]["pieces"][" strawberry"] == [" strawberry"]
lantern, halves = mine.ids[b" lantern"], [mine.ids[b" l"], mine.ids[b"antern"]]
assert begun[-1] == lantern and undone(lantern) == halves
assert not {*mine.encode(" dog")} & {*mine.encode(" dogs")}
assert cut_of(table, " dogs").endswith("gs") and len(mine.encode(" dog")) == 1
assert merges[623 - 1] == (b"g", b"s") and merges[846 - 1] == (b" do", b"g")
gpt2, gpt4 = ({n: seen[name]["pieces"][n] for n in NUMBERS} for name in ("GPT-2", "GPT-4"))
assert gpt2["12345"] == ["123", "45"] and gpt2["12346"] == ["12", "346"]
assert gpt4["6412"] == ["641", "2"] and gpt4["64130"] == ["641", "30"]
assert not any(character.isdigit() for character in stories.train)
assert 20 <= len(steps) <= 26 and "antern" in steps and 180 < len(never) - len(steps) < 200
assert set(mine.encode("0123456789")) <= set(never)
whole, cut = expects(begun, [lantern]), expects(begun, halves)
assert halves[1] in never and begun[-1] == lantern and mine.decode(begun) == sentence
newline = mine.ids[b"\n"]
assert whole.argmax() != newline and whole[newline] < 0.3
assert cut.argmax() == newline and cut[newline] > 0.8

# %% c242
one, unseen, common = map(np.mean, costs.values())
assert len(met) > 80 and unseen > 11.5 > one + 5 and common < one + 0.3 * (unseen - one)
assert all(sum(times_seen[t] > 100 for t in cut) == 2 for cut in control.values())
assert all(mine.decode(cut) == mine.decode([token]) for token, cut in control.items())

# %% c234
assert best == "within" and len(comparing) == 24
gaps = {n: b - bits["within"] for n, b in bits.items()}
assert 0.02 < gaps["bytes"].mean() < 0.08 and 0.03 < gaps["across"].mean() < 0.06
assert all(g.mean() > 2 * 1.96 * g.std(ddof=1) / len(g) ** 0.5 for n, g in gaps.items() if g.any())
lengths = [len(t.encode(corpus.validation)) for t in (across, within)]
assert 0.92 < lengths[0] / lengths[1] < 0.94 and across.vocab_size == within.vocab_size == 2048
every = [across.token_bytes(i).decode(errors="replace") for i in range(256, 2048)]
assert " on the" in every and sum(" " in w.strip() for w in every) > 200
greedy = BPETokenizer.train(half, 2048, pattern=SPACES)
assert [greedy.token_bytes(i) for i in (256, 257)] == [b"e ", b"d "]


def mean_bits(tokenizer, n, text):
    fitted = ModifiedKneserNey(n).fit(tokenizer.encode(text), tokenizer.vocab_size)
    found = [score(fitted, tokenizer.encode(tale.text), tale.text) for tale in comparing]
    return np.mean([s.bits_per_byte for s in found])


for step, low, high in ((4, -0.015, 0.015), (8, -0.06, -0.02)):  # the page takes every second tale
    text = "\n\n\n".join(tale.text for tale in corpus.train_documents[::step])
    by_words = min(mean_bits(BPETokenizer.train(text, 2048), n, text) for n in (3, 4))
    assert low < min(mean_bits(BPETokenizer([]), n, text) for n in (7, 8)) - by_words < high
assert "".join(regex.findall(SPACES, half)) == half
assert regex.findall(SPACES, "he sang. We") == ["he sang", ".", " We"]
