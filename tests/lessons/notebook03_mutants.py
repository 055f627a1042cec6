"""Other right answers to notebook 03, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "learn", "nothing handed back", "    return merges", "    _ = merges", "what print gives"
    ),
    Mutant("learn", "backwards", "return merges", "return merges[::-1]", "In each round"),
    Mutant("learn", "all the same id", "= len(ids)", "= 256", "the next id"),
    Mutant("learn", "the pair as key", "ids[pair[0] + pair[1]]", "ids[pair]", "its key in ids"),
    Mutant(
        "learn",
        "counted once",
        "dict(BYTE_IDS), []\n    for _ in range(n_merges):\n"
        "        if not (pairs := count_pairs(words)):\n            break\n",
        "dict(BYTE_IDS), []\n    pairs = count_pairs(words)\n    for _ in range(n_merges):\n",
        "count anew in each",
    ),
    Mutant(
        "learn",
        "no end",
        "        if not (pairs := count_pairs(words)):\n            break\n",
        "        pairs = count_pairs(words)\n",
        "no pair is left",
    ),
    Mutant(
        "replay",
        "the longest token first",
        "    for pair in merges:\n        word = join(word, pair)\n    return word",
        "    made = {a + b for a, b in merges}\n    text, cut = b''.join(word), []\n"
        "    while text:\n"
        "        ends = range(len(text), 0, -1)\n"
        "        end = next((end for end in ends if text[:end] in made), 1)\n"
        "        cut.append(text[:end])\n        text = text[end:]\n    return tuple(cut)",
        "The longest token that fits",
    ),
    Mutant("replay", "by the alphabet", "in merges", "in sorted(merges)", "learned first"),
    Mutant("join", "the word changed", "joined, i = [], 0", "joined, i = [], 1", "with an index i"),
    Mutant(
        "count_pairs", "no neighbours", "pairwise(word)", "zip(word, word)", "pair of neighbours"
    ),
]

REWRITES = [
    Rewrite(
        "count_pairs",
        "a dictionary",
        '''
def count_pairs(words):
    """How often each pair of neighbours stands in the words; words maps a word to its count."""
    found = {}
    for word in words:
        for a, b in zip(word, word[1:]):
            found[a, b] = found.get((a, b), 0) + words[word]
    return found
''',
    ),
    Rewrite(
        "join",
        "the last token looked at again",
        '''
def join(word, pair):
    """The word with every such pair of neighbours joined, from left to right."""
    out, ready = [], False
    for token in word:
        if ready and (out[-1], token) == pair:
            out[-1], ready = out[-1] + token, False
        else:
            out.append(token)
            ready = True
    return tuple(out)
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
    while len(found) < n_merges and count_pairs(words):
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
]
