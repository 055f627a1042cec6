"""Other right answers to notebook 02, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants('''
== count_followers
nothing handed back | return table => _ = table | returns what print gives
a list of what followed | defaultdict(Counter) => defaultdict(dict) | make a tuple of them

== absolute_discounting
nothing for an empty row | return lower => return 0 | row is
the row forgotten | only lower is left
-    if not row:
-        return lower
the share kept | (row) / total => (row) | Both are divided

== continuation
pairs as keys | w for _, w in pairs => pair for pair in pairs | for its second word
the row filled | changed in place
     """P_cont(w) for every word w that is the second of some pair."""
+    pairs["old", "old"] = 1
''')

REWRITES = rewrites("""
== count_followers | windows side by side
def count_followers(tokens, n):
    table = defaultdict(Counter)
    for window in zip(*(tokens[k:] for k in range(n))):
        table[window[:-1]].update([window[-1]])
    return table

== unseen_mass | a loop
def unseen_mass(counts):
    once, tokens = 0, 0
    for symbol in counts:
        tokens += counts[symbol]
        if counts[symbol] == 1:
            once += 1
    return once / tokens

== absolute_discounting | a loop that takes
def absolute_discounting(w, row, D, lower):
    kept, taken, total = 0, 0, 0
    for word, count in row.items():
        total += count
        taken += D
        if word == w:
            kept = count - D
    return (kept + taken * lower) / total if total else lower

== continuation | sets of words before
def continuation(pairs):
    words = {w for _, w in pairs}
    before = {w: {v for v, u in pairs if u == w} for w in words}
    total = sum(map(len, before.values()))
    return {w: len(before[w]) / total for w in words}
""")
