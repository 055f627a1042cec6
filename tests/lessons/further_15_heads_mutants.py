"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== entities_of
words | (place, place + 1) => [tag] | A B begins a new name
""")

REWRITES = rewrites("""
== entities_of | from beginnings to ends
def entities_of(tags):
    tags = [*tags, "O"]
    before = ["O", *tags]
    begins = [i for i, t in enumerate(tags) if t == "B" or (t == "I" and before[i] == "O")]
    return [(i, next(j for j in range(i + 1, len(tags)) if tags[j] != "I")) for i in begins]

== partners | a circle for each kind
def partners(kinds):
    circles = {}
    for i, kind in enumerate(kinds):
        circles.setdefault(kind, []).append(i)
    following = {}
    for circle in circles.values():
        following.update(zip(circle, circle[1:] + circle[:1]))
    return [following[i] for i in range(len(kinds))]

== best_span | two loops
def best_span(starts, ends):
    pairs = [(i, j) for i in range(len(starts)) for j in range(i, len(ends))]
    return max(pairs, key=lambda pair: starts[pair[0]] + ends[pair[1]])
""")
