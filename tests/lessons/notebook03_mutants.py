"""Other right answers to notebook 03, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== count_pairs
no neighbours | pairwise(word) => zip(word, word) | pair of neighbours

== join
the word changed | joined, i = [], 0 => joined, i = [], 1 | with an index i

== learn
nothing handed back | return merges => _ = merges | what print gives
backwards | return merges => return merges[::-1] | In each round
all the same id | = len(ids) => = 256 | the next id
the pair as key | ids[pair[0] + pair[1]] => ids[pair] | its key in ids
no end | no pair is left
-        if not (pairs := count_pairs(words)):
-            break
+        pairs = count_pairs(words)

== replay
the longest token first | The longest token that fits
-    for pair in merges:
-        word = join(word, pair)
-    return word
+    made = {a + b for a, b in merges}
+    text, cut = b''.join(word), []
+    while text:
+        ends = range(len(text), 0, -1)
+        end = next((end for end in ends if text[:end] in made), 1)
+        cut.append(text[:end])
+        text = text[end:]
+    return tuple(cut)
""")

REWRITES = rewrites('''
== count_pairs | a dictionary
def count_pairs(words):
    """How often each pair of neighbours stands in the words; words maps a word to its count."""
    found = {}
    for word in words:
        for a, b in zip(word, word[1:]):
            found[a, b] = found.get((a, b), 0) + words[word]
    return found

== join | the last token looked at again
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

== learn | with a while loop
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

== replay | the earliest first
def replay(word, merges):
    """The word after all merges, each joined in its turn."""
    order = {pair: k for k, pair in enumerate(merges)}
    while True:
        there = [order[pair] for pair in zip(word, word[1:]) if pair in order]
        if not there:
            return word
        word = join(word, merges[min(there)])
''')
