"""What notebook 03 claims: see staff/notebooks/claims.py."""

# %% c010
share = 100 * len(unknown) / len(new_words)
sentences = len(regex.findall(r"[.!?]+", corpus.validation))
assert 1 < share < 4 and 4 < sentences / len(unknown) < 5.5
assert "<unk>" == words.words[words.encode(line)[1]] == words.words[words.encode(line)[2]]
assert 0.25 < len(with_parts) / len(different) < 0.6
assert "unlatch" in with_parts and len(line) == 36
assert "hurries" in with_parts and "tries" not in without
assert line not in corpus.train and "ï" not in corpus.train

# %% c022
assert max(counted, key=counted.get) == "et" and sorted(counted.values())[-2] < counted["et"]
merged = [(a + b).decode() for _, (a, b), _ in states]
assert merged[:7] == ["et", "he", "the", " the", "le", "tle", "ettle"]
assert to_bytes(" the") not in states[4][0] and (b" the",) in states[4][0]
assert counted["he"] == counted[" t"] == counted["th"] and len(states[0][0]) == 9
assert (b" k", b"ettle") not in states[7][0] and (b" ", b"k", b"ettle") in states[7][0]
assert join(to_bytes("aaaa"), (b"a", b"a")) == (b"aa", b"aa")
assert by_hand(50)[-1][2] >= 1 and [BYTE_IDS[b] for b in (b"h", b"t", b" ")] == [71, 83, 220]
assert BYTE_IDS[b"z"] < BYTE_IDS[b" "] and count_pairs({to_bytes("aaa"): 1})[b"a", b"a"] == 2

# %% c039
assert ids_of(few_merges)[0] == by_class and len(by_class) == 200
assert "".join(pre_tokens) == "They'll row 12 miles,   not 7!\n" and len(pre_tokens) == 11
assert split("   not") == ["  ", " not"] and "'ll" in pre_tokens
assert "".join(split(corpus.validation)) == corpus.validation
assert len(whole.encode(another)) != len(usual.encode(another))
assert token_strings([of_gpt.token_bytes(i) for i in sample_ids]) == ["t", "he", " boats"]
assert len(split("THEY'LL")) == len(split("they\N{RIGHT SINGLE QUOTATION MARK}ll")) == 3
assert len(across) > 100 and {". He ", "on the "} <= set(across)
by_pencil = {to_bytes(w): n for w, n in ((" the", 3), (" then", 2), (" net", 1))}
assert learn(by_pencil, 3) == [(b"h", b"e"), (b"t", b"he"), (b" ", b"the")]
assert [len(c.encode()) for c in "nï海🙂"] == [1, 2, 3, 4]

# %% c052
learned = {(a + b).decode(errors="replace") for a, b in merges}
assert {" something", " Mara", " lantern", "antern", " harbour", "pr"} <= learned
assert learn_quickly(few_words, 200) == few_merges
sizes = [len(pieces_of(BPETokenizer(table.merges[:n]), paragraph)) for n in (0, 200, 1791)]
assert sizes[1] < sizes[0] / 2 and sizes[1] - sizes[2] < 0.5 * (sizes[0] - sizes[1])
assert len(merge_tree(" lantern")) == 1
assert b"antern" in [child[0] for child in merge_tree(" lantern")[0][2]]
assert len(stories.train) > 4e6 and 256 + 1791 + 1 == 2048
library = BPETokenizer.train(stories.train, 2048, special_tokens=[END_OF_TEXT])
assert ids_of(merges)[0] == library.merges

# %% c075
assert all(decode(encode(text)) == text for text in random_texts)
assert encode(new_tales) == table.encode(new_tales).tolist() == mine.encode(new_tales).tolist()
assert path.read_bytes() == shipped.read_bytes() and mine.vocab_size == 2048
assert " lamplighters" not in story_counts and "lamplighters" not in story_counts
assert len(other) > 0.08 * len(greedy) and decode(encode("海")[:2]) == "\N{REPLACEMENT CHARACTER}"
longer = [word for word, cut in by_merges.items() if len(cut) > 1]
assert len(longer) < 0.5 * len(greedy) and len(other) > 0.2 * len(longer)
kettles = replay(to_bytes(" kettles"), [pair for _, pair, _ in states])
assert kettles == (b" ", b"k", b"ettle", b"s")
two = [TOKEN_IDS[b"h"], TOKEN_IDS[b"e"]]
assert encode(decode(two)) != two and merge_line((b" t", b"he")) == "Ġt he"

# %% c084
assert as_text == mine.encode(message).tolist() and mark_id not in as_text
assert as_mark == mine.encode(message, special=True).tolist() and as_mark.count(mark_id) == 1
assert len(END_OF_TEXT) == 13 and mark_id == 2047 == len(merges) + 256
assert band.index(mark) == 4 and len(band) == 9 and max(band) == mark
start = stories.train[:20_000]
marked = encode_marked(start, encode, END_OF_TEXT, mark_id)
assert marked == mine.encode(start, special=True).tolist()

# %% c093
shares = [100 * right.mean() for right, _, _ in letters.values()]
assert shares == sorted(shares, reverse=True) and shares[0] > 99.5 and shares[-1] < 90
right, single, untold = letters[4096]
no_e = np.array(["e" not in word for word in new])
assert (right[untold] == no_e[untold]).all() and untold.sum() > 100
assert right[untold].mean() < right[single].mean() < right.mean()
assert 0.4 < one.mean() < 0.5 and right[untold].mean() < one[untold].mean()
assert one[single].mean() < right[single].mean() and len(encode(" saltwater")) == 3
assert len(encode(" lantern")) == 1

# %% c100
assert not any(character.isdigit() for character in corpus.train + stories.train)
by_tokens, by_digits = ({n: both[k][0] for n, both in exactly.items()} for k in (0, 1))
assert by_tokens["single digits"] == 100 and by_tokens["threes from the right"] > 97
assert by_tokens["BPE on numbers"] < 2 and by_tokens["threes from the left"] < 2
assert min(by_digits.values()) > 80
assert CUTS["threes from the left"]("64130")[0] == CUTS["threes from the left"]("6412")[0]
assert CUTS["threes from the right"]("14130") == ["14", "130"]
of_four = [CUTS["BPE on numbers"](n) for n in ("14130", "14131", "6412", "64130")]
assert of_four[:2] == [[" 14", "13", "0"], [" 141", "31"]]
assert of_four[2:] == [[" 6", "41", "2"], [" 6", "41", "30"]]

# %% c114
times = {language: needs[language] / needs["English"] for language in needs}
assert all(2 < times[language] < 3 for language in ("French", "German", "Spanish"))
assert all(needs[x] > 0.9 * bytes_of[x] for x in ("Greek", "Russian", "Arabic", "Hindi", "Chinese"))
assert times["Chinese"] < min(times[x] for x in ("Greek", "Russian", "Arabic", "Hindi"))
assert min(times, key=times.get) == "English"
per_byte = {
    n: [len(t.encode(s)) / len(s.encode()) for t in (mine, from_docs)] for n, s in SAMPLES.items()
}
assert per_byte["a new tale"][0] < per_byte["a new tale"][1]
assert all(per_byte[n][0] > per_byte[n][1] for n in ("Python's docs", "Python code"))
assert per_byte["emoji"] == [1, 1] and pieces_of(mine, "    total")[:3] == [" "] * 3
assert pieces_of(from_docs, "    total")[0] == "   "
assert encode("dog") != encode(" dog") and len(encode(" dog")) == 1

# %% c121a
assert 20 <= len(steps) <= 26 and "antern" in steps and 180 < single_bytes < 200
second, both = more.values()
assert second[0] - second[1] > both[0] + both[1] and both[0] - both[1] > 0
assert set(encode("0123456789")) <= set(never) and gpt.output is not None
assert gpt.output.weight is not gpt.embedding.weight
assert sum(times_seen).item() == len(story_ids) and found > 0.95 * len(never)
some = [lengths[(times_seen >= a) & (times_seen < b)].mean() for a, b in ((1, 4), (4, 30))]
assert some[0] < 0.8 * some[1] < 0.8 * lengths[times_seen >= 30].mean()
assert lengths[never].mean() < 0.5 * lengths[times_seen > 0].mean()
assert not of_gpt.vocab_size - mine.vocab_size and of_gpt.merges == mine.merges

# %% c135
assert abs(minus_unigram[0]) < 0.015 and 0 < minus_count[0] - minus_count[1] < 0.025
needed = {n: lengths_of(cache(by_wordpiece(t))).mean() for n, t in by_scores.items()}
assert needed[10] > needed[20] > needed[100] > 1.15 * per_word["BPE"].mean()
assert 900 < by_scores[100].vocab_size < 1100 and is_new.mean() < 0.3
assert better[0] - better[1] > 0.1 and better_new[0] - better_new[1] > 0
assert better_new[0] < better[0] and better_new[1] > better[1]
assert METHODS["Unigram"]("dogs") == [" dog", "s"] and METHODS["BPE"]("dogs") == [" do", "gs"]
ends = [cut("lanterns")[-1].removeprefix("##") for cut in METHODS.values()]
assert (
    ends == ["s"] * 5
    and [cut("lanterns")[0].strip() for cut in METHODS.values()] == ["lantern"] * 5
)
assert all(METHODS["Unigram"](w) == unigram.cut(" " + w) for w in set(tales[0]))
assert longer["score"][0].removeprefix("##").isupper() and "##he" in longer["count"][:10]
assert best_cut("dogs", {piece: math.log(p) for piece, p in P_OF.items()}) == ["dog", "s"]
assert all(t.vocab_size == 2048 for t in (by_score, by_count, unigram))
assert unigram.decode(unigram.encode(corpus.validation)) == corpus.validation
assert len(bpe.merges) + 63 == 2048


def fit(*counts):
    """The log-likelihood of a unigram model with these counts, in nats."""
    return sum(n * math.log(n / sum(counts)) for n in counts if n)


th = fit(15_000, 7000, 5000, 168_000) - fit(20_000, 12_000, 168_000)
qu = fit(0, 2900, 100, 196_900) - fit(100, 3000, 196_900)
assert (round(th, -1), round(qu, -1)) == (3980, 420)
loss = 6 * math.log(0.54 / 0.24) - 3 * math.log(0.6 / 0.4)
assert round(loss, 1) == 3.6 and 0.4 * 0.6 == 0.24
stem = {name: hits.mean() for name, hits in at_stem.items()}
of_distance = (stem["BPE, longest first"] - stem["BPE"]) / better[0]
assert 0.4 < of_distance < 0.55
assert abs(stem["BPE, longest first"] - stem["WordPiece, count"]) < 0.03
cuts_of_new = {name: pieces[is_new].mean() for name, pieces in pieces_in.items()}
assert cuts_of_new["Unigram"] > cuts_of_new["BPE"] + 0.1
assert cuts_of_new["WordPiece, score"] > cuts_of_new["Unigram"] + 0.5

# %% c140
new_fertility = dict(zip(sizes, fertility["new tales"]))
assert all(np.diff(fertility["new tales"]) < 0)
assert new_fertility[724] < 0.5 * new_fertility[256]
assert full.vocab_size < 8192
gaps = np.subtract(fertility["new tales"], fertility["training tales"])
assert gaps[-1] > gaps[sizes.index(4096)] > gaps[sizes.index(2048)]
assert gaps[sizes.index(512)] < 0 and 0.01 < gaps[-1] - gaps[sizes.index(512)] < 0.03
last = {n: v[sizes.index(4096)] - v[-1] for n, v in fertility.items()}
assert all(0.04 < last[name] < 0.06 for name in ("training tales", "new tales"))
assert rare > 0.7 * (V - 256)
middle = torch.bincount(BPETokenizer(full.merges[: 4096 - 256]).encode(corpus.train))
assert 0.4 < (middle[256:] < 10).sum().item() / 3840 < 0.5
assert fertility["Python's docs"][-1] > 1.5 * fertility["new tales"][-1]

# %% c153
assert list(perplexity.values()) == sorted(perplexity.values())
assert perplexity[full.vocab_size] > 15 * perplexity[256] and 1 < gap < 5
assert 1024 <= chosen <= 4096 and 256 not in alike and 512 not in alike
assert all(differences[V][0] > differences[V][1] for V in (256, 512, full.vocab_size))
assert alike and all(abs(differences[V][0]) < 0.008 for V in (1024, 1536, 2048, 3072, 4096))
assert all(n < 12 for n, _, _ in results.values()) and len(bits[256]) == 24
assert results[256][0] > results[2048][0] and told["are worse"] == [256, 512, full.vocab_size]
middle = {1024, 1536, 2048, 3072, 4096} - {chosen, *alike}
assert middle == {2048} and -0.004 < differences[2048][0] < 0
single = GPT2_PATTERN.replace(r" ?\p{N}+", r"\p{N}")
by_digits = BPETokenizer.train(docs.train, 2048, pattern=single)
sums = "1948, 3.14159, 2026-11-20, 65536, 0.0001"
in_tokens = [len(t.encode(sums)) for t in (from_docs, by_digits)]
equal = dict.fromkeys(unigram.log_p, -1.0)
some = sorted({word for tale in tales for word in tale})
own, least = ([len(best_cut(" " + w, p)) for w in some] for p in (unigram.log_p, equal))
longer = sum(a > b for a, b in zip(own, least))
assert (in_tokens, longer, len(some)) == ([33, 40], 0, 2605)
