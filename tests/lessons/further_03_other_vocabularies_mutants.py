"""Other right answers on other vocabularies, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== best_cut
from anywhere | and start in best => | can be reached
begins with zero | For each position
     for end in range(1, len(word) + 1):
+        best[end] = (0.0, [])
one list for all | For each position
-                    best[end] = total, best[start][1] + [piece]
+                    best[end] = total, best[start][1]
+                    best[end][1].append(piece)
""")

REWRITES = rewrites('''
== best_cut | two lists
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
''')
