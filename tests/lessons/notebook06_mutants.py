"""Other right answers to notebook 06, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== walk_is_balanced
from 1 on | height = 0 => height = 1 | A closing needs
the height | return height == 0 => return height | True or Fal
nothing | return height == 0 => height == 0 | None
handed back too early | behind the last step
-    return height == 0
+        return height == 0

== recolour
an opening for all | 0 if x[t] <= 4 else 5 => 0 | A closing must stay
backwards | + k) => - k) | Count from the first
closings stop at 5 | first + (x[t] - first + k) % 5 \
    => (x[t] + k) % 5 if first == 0 else max(5, (x[t] + k) % 10) | begins anew behind the last
next one | *x[:t] => *x[: t + 1] | Count from the first
in place | changed in place
-    return [*x[:t], first + (x[t] - first + k) % 5, *x[t + 1 :]]
+    x[t] = first + (x[t] - first + k) % 5
+    return x

== my_rule
nothing handed back | return walk => walk | None
the sum | walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence]) => sum(sequence) \
    | True or False

== my_negative
a balanced one | [9 - sequence[0], *sequence[1:]] => [0, 9] * (len(sequence) // 2) \
    | this one is balanced as before
the first two exchanged | [9 - sequence[0], *sequence[1:]] \
    => [sequence[1], sequence[0], *sequence[2:]] | this one is balanced as before
of numpy | [9 - sequence[0], *sequence[1:]] => list(9 - np.array(sequence)) | a plain int
a number | [9 - sequence[0], *sequence[1:]] => 9 | new list of symbols
""")

REWRITES = rewrites("""
== walk_is_balanced | by a list of heights
def walk_is_balanced(steps):
    heights = [sum(steps[: k + 1]) for k in range(len(steps))]
    return all(height >= 0 for height in heights) and sum(steps) == 0

== walk_is_balanced | by deleting pairs
def walk_is_balanced(steps):
    text = "".join("(" if step == 1 else ")" for step in steps)
    while "()" in text:
        text = text.replace("()", "")
    return text == ""

== walk_is_balanced | numpy
def walk_is_balanced(steps):
    heights = np.cumsum(steps)
    return (heights.min() >= 0) & (heights[-1] == 0)

== recolour | by lists of the sides
def recolour(x, t, k):
    found = list(x)
    side = [0, 1, 2, 3, 4] if x[t] < 5 else [5, 6, 7, 8, 9]
    found[t] = side[(side.index(x[t]) + k) % 5]
    return found

== my_rule | the sum
def my_rule(sequence):
    return sum(sequence) == 9 * len(sequence) // 2

== my_rule | counts of colours
def my_rule(sequence):
    return all(sequence.count(i) == sequence.count(9 - i) for i in range(5))

== my_negative | the last colour
def my_negative(sequence):
    return sequence[:-1] + [5 + (sequence[-1] - 4) % 5]
""")
