"""Plausible wrong answers to notebook 03, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

KEY = "(-pairs[pair], ids[pair[0]], ids[pair[1]])"

MUTANTS = [
    # best_pair
    Mutant("best_pair", "no ties", KEY, "-pairs[pair]", "first in the dictionary"),
    Mutant("best_pair", "by the alphabet", KEY, "(-pairs[pair], pair)", "compares bytes by their"),
    Mutant(
        "best_pair",
        "larger ids",
        KEY,
        "(-pairs[pair], -ids[pair[0]], -ids[pair[1]])",
        "not the larger",
    ),
    Mutant("best_pair", "first id only", KEY, "(-pairs[pair], ids[pair[0]])", "second ones decide"),
    Mutant(
        "best_pair",
        "second id first",
        KEY,
        "(-pairs[pair], ids[pair[1]], ids[pair[0]])",
        "first tokens first",
    ),
    Mutant(
        "best_pair", "sum", KEY, "(-pairs[pair], ids[pair[0]] + ids[pair[1]])", "A sum of ids mixes"
    ),
    Mutant("best_pair", "rarest", "(-pairs[pair],", "(pairs[pair],", "a minus sign before"),
    Mutant("best_pair", "ids only", "(-pairs[pair],", "(", "the count comes first"),
    Mutant(
        "best_pair",
        "the count",
        "return min(pairs, key=",
        "return max(pairs.values()) or (",
        "count",
    ),
    # learn
    Mutant(
        "learn",
        "nothing joined",
        "words = {join(word, pair): count for word, count in words.items()}",
        "pass",
        "finds the same pair",
    ),
    Mutant(
        "learn",
        "tokens",
        "merges.append(pair)",
        "merges.append(pair[0] + pair[1])",
        "hand back the pairs",
    ),
    Mutant("learn", "the last one", "return merges", "return pair", "hand back all"),
    Mutant("learn", "backwards", "return merges", "return merges[::-1]", "comes first in the list"),
    Mutant("learn", "one too few", "range(n_merges)", "range(1, n_merges)", "merge is missing"),
    Mutant("learn", "one too many", "range(n_merges)", "range(n_merges + 1)", "one merge more"),
    Mutant("learn", "all the same id", "= len(ids)", "= 256", "id of its own"),
    Mutant("learn", "the pair as key", "ids[pair[0] + pair[1]]", "ids[pair]", "its key in ids"),
    Mutant(
        "learn",
        "counted once",
        "dict(BYTE_IDS), []\n    for _ in range(n_merges):\n"
        "        pair = best_pair(count_pairs(words)",
        "dict(BYTE_IDS), []\n    pairs = count_pairs(words)\n    for _ in range(n_merges):\n"
        "        pair = best_pair(pairs",
        "count anew in each",
    ),
    Mutant("learn", "no id", "ids[pair[0] + pair[1]] = len(ids)", "pass", "give the new token"),
    Mutant(
        "learn",
        "smaller ids",
        "= len(ids)",
        "= -len(merges)",
        "the next that is free",
    ),
    Mutant(
        "learn",
        "words once",
        "join(word, pair): count",
        "join(word, pair): 1",
        "its pairs five times",
    ),
    # replay
    Mutant("replay", "backwards", "in merges", "in reversed(merges)", "learned first comes first"),
    Mutant("replay", "first only", "in merges", "in merges[:1]", "Only the first merge"),
    Mutant(
        "replay", "always anew", "word = join(word, pair)", "cut = join(word, pair)", "the merges"
    ),
    Mutant("replay", "one token", "return word", 'return b"".join(word)', "one token again"),
    Mutant(
        "replay",
        "by the alphabet",
        "in merges",
        "in sorted(merges)",
        "in their order",
    ),
    # merge_line
    Mutant("merge_line", "no space", '" ".join(', '"".join(', "stands one space"),
    Mutant("merge_line", "chr", "SIGN_OF[byte]", "chr(byte)", "take SIGN_OF"),
    Mutant(
        "merge_line",
        "spaces everywhere",
        '"".join(SIGN',
        '" ".join(SIGN',
        "not all their bytes",
    ),
    Mutant(
        "merge_line",
        "decoded",
        '"".join(SIGN_OF[byte] for byte in token)',
        'token.decode("utf-8", "replace")',
        "Each byte of a token",
    ),
    Mutant(
        "merge_line",
        "a list",
        '" ".join("".join(SIGN_OF[byte] for byte in token) for token in pair)',
        '["".join(SIGN_OF[byte] for byte in token) for token in pair]',
        "string",
    ),
    # encode_marked
    Mutant(
        "encode_marked",
        "no mark",
        "ids += [mark_id, *encode(part)]",
        "ids += encode(part)",
        "vanished",
    ),
    Mutant(
        "encode_marked",
        "mark behind",
        "ids += [mark_id, *encode(part)]",
        "ids += [*encode(part), mark_id]",
        "put the id of the mark between",
    ),
    Mutant(
        "encode_marked", "once", "text.split(mark)", "text.split(mark)[:2]", "second mark is lost"
    ),
    Mutant(
        "encode_marked",
        "stripped",
        "*encode(part)]",
        "*encode(part.strip())]",
        "Cut the text at the mark",
    ),
    Mutant(
        "encode_marked",
        "nested",
        "ids += [mark_id, *encode(part)]",
        "ids += [mark_id, encode(part)]",
        "add the ids of the parts",
    ),
    Mutant(
        "encode_marked",
        "in front",
        "ids = list(encode(first))",
        "ids = [mark_id, *encode(first)]",
        "too many in front",
    ),
    # best_cut
    Mutant("best_cut", "smallest sum", "total > best", "total < best", "least probable cut"),
    Mutant(
        "best_cut",
        "product",
        "best[start][0] + log_p[piece]",
        "best[start][0] * log_p[piece]",
        "first way that is found",
    ),
    Mutant("best_cut", "fewest pieces", "+ log_p[piece]", "- 1", "count pieces"),
    Mutant(
        "best_cut",
        "the sum",
        "return best[len(word)][1]",
        "return best[len(word)][0]",
        "hand back the pieces",
    ),
    Mutant(
        "best_cut",
        "one string",
        "return best[len(word)][1]",
        'return "".join(best[len(word)][1])',
        "list of pieces",
    ),
    Mutant("best_cut", "last piece", "best[start][1] + [piece]", "[piece]", "last piece alone"),
    Mutant(
        "best_cut",
        "in the wrong order",
        "best[start][1] + [piece]",
        "[piece] + best[start][1]",
        "wrong order",
    ),
    Mutant(
        "best_cut",
        "first come",
        "if end not in best or total > best[end][0]:",
        "if end not in best:",
        "first way that is found",
    ),
    Mutant("best_cut", "from anywhere", " and start in best", "", "can be reached"),
    Mutant(
        "best_cut",
        "begins with zero",
        "    for end in range(1, len(word) + 1):\n",
        "    for end in range(1, len(word) + 1):\n        best[end] = (0.0, [])\n",
        "none beats a 0",
    ),
    Mutant(
        "best_cut",
        "one list for all",
        "best[end] = total, best[start][1] + [piece]",
        "best[end] = total, best[start][1]\n                    best[end][1].append(piece)",
        "make a new one",
    ),
    # digits_behind
    Mutant("digits_behind", "own digits", "[k + 1 :]", "[k:]", "own digits"),
    Mutant("digits_behind", "to the left", "[k + 1 :]", "[:k]", "to the left"),
    Mutant(
        "digits_behind",
        "tokens",
        'len("".join(tokens[k + 1 :]))',
        "len(tokens[k + 1 :])",
        "number of tokens behind",
    ),
    Mutant(
        "digits_behind",
        "backwards",
        "range(len(tokens))",
        "reversed(range(len(tokens)))",
        "belongs to the first",
    ),
    Mutant("digits_behind", "next one only", "[k + 1 :]", "[k + 1 : k + 2]", "next token alone"),
    # bits_per_byte
    Mutant("bits_per_byte", "nats", " / math.log(2)", "", "nats per byte"),
    Mutant("bits_per_byte", "characters", "text.encode()", "text", "bits per character"),
    Mutant("bits_per_byte", "UTF-16", "encode()", 'encode("utf-16")', "default of encode"),
    Mutant("bits_per_byte", "multiplied", "nats / math", "nats * math", "divide by ln 2"),
    Mutant("bits_per_byte", "not divided", " / len(text.encode())", "", "of the whole text"),
    Mutant("bits_per_byte", "sign", "return nats", "return -nats", "already minus"),
]

REWRITES = [
    Rewrite(
        "digits_behind",
        "from the right",
        '''
def digits_behind(tokens):
    """For each token of a number, how many digits stand to the right of it; a list."""
    behind, out = 0, []
    for token in reversed(tokens):
        out.insert(0, behind)
        behind += len(token)
    return out
''',
    ),
    Rewrite(
        "bits_per_byte",
        "bytes",
        '''
def bits_per_byte(nats, text):
    """Bits per byte of a text (a string) whose probability is exp(-nats)."""
    return nats * math.log2(math.e) / len(bytes(text, "utf-8"))
''',
    ),
    Rewrite(
        "best_pair",
        "in two steps",
        '''
def best_pair(pairs, ids):
    """The most frequent pair; of equally frequent ones, that with the smaller ids."""
    most = max(pairs.values())
    return min((p for p in pairs if pairs[p] == most), key=lambda p: [ids[token] for token in p])
''',
    ),
    Rewrite(
        "learn",
        "with a while loop",
        '''
def learn(words, n_merges):
    """The pairs that are joined, in order; words maps tuples of tokens to counts."""
    order = dict(BYTE_IDS)
    found = []
    while len(found) < n_merges:
        a, b = best_pair(count_pairs(words), order)
        found += [(a, b)]
        order[a + b] = 255 + len(found)
        new = Counter()
        for word, count in words.items():
            new[join(word, (a, b))] += count
        words = new
    return found
''',
    ),
    Rewrite(
        "replay",
        "the earliest first",
        '''
def replay(word, merges):
    """The word after all merges, each joined in its turn."""
    order = {pair: k for k, pair in enumerate(merges)}
    while True:
        there = [order[pair] for pair in zip(word, word[1:]) if pair in order]
        if not there:
            return word
        word = join(word, merges[min(there)])
''',
    ),
    Rewrite(
        "merge_line",
        "in two lines",
        '''
def merge_line(pair):
    """The merge as a line of GPT-2's file, such as 'Ġt he'."""
    a, b = ("".join(map(SIGN_OF.get, token)) for token in pair)
    return a + " " + b
''',
    ),
    Rewrite(
        "encode_marked",
        "recursion",
        '''
def encode_marked(text, encode, mark, mark_id):
    """The ids of a text in which mark stands for the special token mark_id."""
    if mark not in text:
        return encode(text)
    before, after = text.split(mark, 1)
    return encode(before) + [mark_id] + encode_marked(after, encode, mark, mark_id)
''',
    ),
    Rewrite(
        "best_cut",
        "two lists",
        '''
def best_cut(word, log_p):
    """The pieces that make up the word and have the largest sum of log_p."""
    score, back = [0.0], [0]
    for end in range(1, len(word) + 1):
        ways = [(score[s] + log_p[word[s:end]], s) for s in range(end) if word[s:end] in log_p]
        total, start = max(ways, default=(-math.inf, 0))
        score.append(total)
        back.append(start)
    pieces, end = [], len(word)
    while end > 0:
        pieces.insert(0, word[back[end] : end])
        end = back[end]
    return pieces
''',
    ),
]
