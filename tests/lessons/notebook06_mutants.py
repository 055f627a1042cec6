"""Other right answers to notebook 06, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

RULE = "walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence])"
BROKEN = "[9 - sequence[0], *sequence[1:]]"

MUTANTS = [
    Mutant("walk_is_balanced", "from 1 on", "height = 0", "height = 1", "A closing needs"),
    Mutant("walk_is_balanced", "the height", "return height == 0", "return height", "True or Fal"),
    Mutant("walk_is_balanced", "nothing", "    return height == 0", "    height == 0", "None"),
    Mutant(
        "walk_is_balanced",
        "handed back too early",
        "            return False\n    return height == 0",
        "            return False\n        return height == 0",
        "behind the last step",
    ),
    Mutant("recolour", "an opening for all", "0 if x[t] <= 4 else 5", "0", "A closing must stay"),
    Mutant("recolour", "backwards", "+ k)", "- k)", "Count from the first"),
    Mutant(
        "recolour",
        "closings stop at 5",
        "first + (x[t] - first + k) % 5",
        "(x[t] + k) % 5 if first == 0 else max(5, (x[t] + k) % 10)",
        "the count goes on",
    ),
    Mutant("recolour", "next one", "*x[:t]", "*x[: t + 1]", "Count from the first"),
    Mutant(
        "recolour",
        "in place",
        "return [*x[:t], first + (x[t] - first + k) % 5, *x[t + 1 :]]",
        "x[t] = first + (x[t] - first + k) % 5\n    return x",
        "changed in place",
    ),
    Mutant("my_rule", "off by one", "symbol <= 4", "symbol < 4", "It refuses balanced ones"),
    Mutant("my_rule", "the first alone", RULE, "sequence[0] <= 4", "It lets random strings"),
    Mutant("my_rule", "nothing handed back", "return walk", "walk", "None"),
    Mutant("my_rule", "the sum", RULE, "sum(sequence)", "True or False"),
    Mutant(
        "my_negative",
        "a balanced one",
        BROKEN,
        "[0, 9] * (len(sequence) // 2)",
        "this one is balanced as before",
    ),
    Mutant(
        "my_negative",
        "the first two exchanged",
        BROKEN,
        "[sequence[1], sequence[0], *sequence[2:]]",
        "this one is balanced as before",
    ),
    Mutant("my_negative", "of numpy", BROKEN, "list(9 - np.array(sequence))", "a plain int"),
    Mutant("my_negative", "one less", BROKEN, "sequence[:-1]", "would tell the two classes"),
    Mutant("my_negative", "a number", BROKEN, "9", "new list of symbols"),
    Mutant("my_negative", "colour 5", "9 - sequence[0]", "sequence[0] + 10", "There are ten"),
]

REWRITES = [
    Rewrite(
        "walk_is_balanced",
        "by a list of heights",
        """def walk_is_balanced(steps):
    heights = [sum(steps[: k + 1]) for k in range(len(steps))]
    return all(height >= 0 for height in heights) and sum(steps) == 0""",
    ),
    Rewrite(
        "walk_is_balanced",
        "by deleting pairs",
        """def walk_is_balanced(steps):
    text = "".join("(" if step == 1 else ")" for step in steps)
    while "()" in text:
        text = text.replace("()", "")
    return text == "" """,
    ),
    Rewrite(
        "walk_is_balanced",
        "numpy",
        """def walk_is_balanced(steps):
    heights = np.cumsum(steps)
    return (heights.min() >= 0) & (heights[-1] == 0)""",
    ),
    Rewrite(
        "recolour",
        "by lists of the sides",
        """def recolour(x, t, k):
    found = list(x)
    side = [0, 1, 2, 3, 4] if x[t] < 5 else [5, 6, 7, 8, 9]
    found[t] = side[(side.index(x[t]) + k) % 5]
    return found""",
    ),
    Rewrite(
        "my_rule",
        "the sum",
        """def my_rule(sequence):
    return sum(sequence) == 9 * len(sequence) // 2""",
    ),
    Rewrite(
        "my_rule",
        "counts of colours",
        """def my_rule(sequence):
    return all(sequence.count(i) == sequence.count(9 - i) for i in range(5))""",
    ),
    Rewrite(
        "my_negative",
        "the last colour",
        """def my_negative(sequence):
    return sequence[:-1] + [5 + (sequence[-1] - 4) % 5]""",
    ),
]
