"""Plausible wrong answers to notebook 06, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # walk_is_balanced
    Mutant(
        "walk_is_balanced",
        "the end alone",
        "        if height < 0:\n            return False\n",
        "",
        "where does it go on the way",
    ),
    Mutant(
        "walk_is_balanced", "nothing about the end", "height == 0", "True", "left open at the end"
    ),
    Mutant("walk_is_balanced", "not at 0", "height < 0", "height <= 0", "may touch 0"),
    Mutant("walk_is_balanced", "from 1 on", "height = 0", "height = 1", "balanced"),
    Mutant(
        "walk_is_balanced",
        "turned round",
        "return height == 0",
        "return height != 0",
        "0 itself is False",
    ),
    Mutant(
        "walk_is_balanced",
        "handed back too early",
        "            return False\n    return height == 0",
        "            return False\n        return height == 0",
        "a pair is balanced",
    ),
    Mutant(
        "walk_is_balanced",
        "nothing handed back",
        "    return height == 0",
        "    height == 0",
        "None",
    ),
    Mutant(
        "walk_is_balanced",
        "the height itself",
        "return height == 0",
        "return height",
        "True or False",
    ),
    # counting_network
    Mutant(
        "counting_network",
        "heights outweigh nothing",
        "-2.0]",
        "-1.0]",
        "must have the larger weight",
    ),
    Mutant("counting_network", "no third unit", "-2.0]", "0.0]", "must have the larger weight"),
    Mutant("counting_network", "no bias", ", 0.5", ", 0.0", "above 0"),
    Mutant("counting_network", "too large a bias", ", 0.5", ", 1.5", "How small may it"),
    Mutant("counting_network", "no memory", "torch.eye(3)", "torch.zeros(3, 3)", "by 1"),
    Mutant("counting_network", "all mixed", "torch.eye(3)", "torch.ones(3, 3)", "mixed with what"),
    Mutant(
        "counting_network",
        "it fades",
        "torch.eye(3)",
        "0.97 * torch.eye(3)",
        "stretched nor shrunk",
    ),
    Mutant(
        "counting_network",
        "transposed",
        "[[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]",
        "[[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]]",
        "shape (3, 2)",
    ),
    Mutant(
        "counting_network",
        "only openings count in the third",
        "[1.0, -1.0]]",
        "[1.0, 0.0]]",
        "the third unit is 0",
    ),
    Mutant(
        "counting_network",
        "signs turned round",
        "[1.0, -1.0, -2.0]",
        "[-1.0, 1.0, -2.0]",
        "counters",
    ),
    Mutant("counting_network", "three things", "w_hy, 0.5", "w_hy", "in this order"),
    Mutant("counting_network", "nothing for the bias", ", 0.5", ", None", "b_y is one number"),
    # precision
    Mutant("precision", "recall", "/ said.sum()", "/ truth.sum()", "That is the recall"),
    Mutant(
        "precision",
        "accuracy",
        "(said & truth).sum() / said.sum()",
        "(said == truth).double().mean()",
        "That is the accuracy",
    ),
    Mutant("precision", "of all", "/ said.sum()", "/ len(said)", "divide by all strings"),
    Mutant("precision", "the wrong ones", "said & truth", "said & ~truth", "not balanced"),
    Mutant("precision", "per cent", "float(", "100 * float(", "between 0 and 1"),
    Mutant("precision", "a number", ".sum() / said.sum()", ".sum()", "That is a number of strings"),
    Mutant(
        "precision",
        "rounded",
        "return float((said & truth).sum() / said.sum())",
        "return round(float((said & truth).sum() / said.sum()), 2)",
        "do not round",
    ),
    # my_rule
    Mutant(
        "my_rule",
        "all are balanced",
        "return walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence])",
        "return True",
        "lets random strings through",
    ),
    Mutant(
        "my_rule",
        "none is balanced",
        "return walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence])",
        "return False",
        "refuses balanced ones",
    ),
    Mutant("my_rule", "turned round", "return walk", "return not walk", "turn it round"),
    Mutant("my_rule", "nothing handed back", "    return walk", "    walk", "None"),
    Mutant("my_rule", "off by one", "symbol <= 4", "symbol < 4", "refuses balanced ones"),
    Mutant(
        "my_rule",
        "the ends alone",
        "walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence])",
        "sequence[0] <= 4",
        "lets random strings through",
    ),
    # my_negative
    Mutant(
        "my_negative", "unchanged", "(sequence[0] + 1) % 5", "sequence[0]", "nothing has changed"
    ),
    Mutant("my_negative", "a new symbol", "(sequence[0] + 1) % 5", "10", "There are ten symbols"),
    Mutant(
        "my_negative", "one less", "[(sequence[0] + 1) % 5, *", "[*", "would tell the two classes"
    ),
    Mutant(
        "my_negative",
        "a tuple",
        "[(sequence[0] + 1) % 5, *sequence[1:]]",
        "((sequence[0] + 1) % 5, *sequence[1:])",
        "new list of symbols",
    ),
    Mutant(
        "my_negative",
        "a balanced one",
        "[(sequence[0] + 1) % 5, *sequence[1:]]",
        "[0, 9] * (len(sequence) // 2)",
        "breaks every balanced sequence",
    ),
    Mutant(
        "my_negative",
        "in place",
        "return [(sequence[0] + 1) % 5, *sequence[1:]]",
        "sequence[0] = (sequence[0] + 1) % 5\n    return sequence",
        "changed in place",
    ),
    # n_stacks
    Mutant(
        "n_stacks",
        "full ones alone",
        "sum(colours**height for height in range(depth + 1))",
        "colours**depth",
        "full stacks alone",
    ),
    Mutant("n_stacks", "no full ones", "range(depth + 1)", "range(depth)", "are left out"),
    Mutant(
        "n_stacks", "no empty one", "range(depth + 1)", "range(1, depth + 1)", "empty stack is one"
    ),
    Mutant(
        "n_stacks",
        "a formula that divides by 0",
        "sum(colours**height for height in range(depth + 1))",
        "(colours ** (depth + 1) - 1) // (colours - 1)",
        "a case of its own",
    ),
    Mutant("n_stacks", "added", "colours**height", "colours * height", "multiplies the number"),
    Mutant("n_stacks", "turned round", "colours**height", "height**colours", "number is the base"),
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
        "counting_network",
        "other weights",
        """def counting_network():
    return (
        torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]]),
        torch.eye(3),
        torch.tensor([1.0, -1.0, -3.0]),
        torch.tensor(0.25),
    )""",
    ),
    Rewrite(
        "counting_network",
        "units in another order",
        """def counting_network():
    W = torch.tensor([[1.0, -1.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    return W, torch.eye(3), torch.tensor([-4.0, -2.0, 2.0]), 1""",
    ),
    Rewrite(
        "precision",
        "by selecting",
        """def precision(said, truth):
    return truth[said].float().mean()""",
    ),
    Rewrite(
        "precision",
        "with item",
        """def precision(said, truth):
    right = (said * truth).sum().item()
    return right / said.sum().item()""",
    ),
    Rewrite(
        "my_rule",
        "counts of the colours",
        """def my_rule(sequence):
    return all(sequence.count(i) == sequence.count(9 - i) for i in range(5))""",
    ),
    Rewrite(
        "my_rule",
        "neighbours",
        """def my_rule(sequence):
    pairs = zip(sequence, sequence[1:])
    foreign = any(a <= 4 < b and a + b != 9 for a, b in pairs)
    return int(sequence[0] <= 4 and sequence[-1] > 4 and not foreign)""",
    ),
    Rewrite(
        "my_rule",
        "the language itself",
        """def my_rule(sequence):
    stack = []
    for symbol in sequence:
        if symbol <= 4:
            stack.append(symbol)
        elif not stack or stack.pop() + symbol != 9:
            return False
    return not stack""",
    ),
    Rewrite(
        "my_rule",
        "every pair adds up to 9",
        """def my_rule(sequence):
    return sum(sequence) == 9 * len(sequence) // 2""",
    ),
    Rewrite(
        "my_negative",
        "turned round by one",
        """def my_negative(sequence):
    return sequence[1:] + sequence[:1]""",
    ),
    Rewrite(
        "my_negative",
        "the last one open",
        """def my_negative(sequence):
    changed = list(sequence)
    changed[-1] = 9 - changed[-1]
    return changed""",
    ),
    Rewrite(
        "n_stacks",
        "a formula",
        """def n_stacks(colours, depth):
    if colours == 1:
        return depth + 1
    return (colours ** (depth + 1) - 1) / (colours - 1)""",
    ),
    Rewrite(
        "n_stacks",
        "step by step",
        """def n_stacks(colours, depth):
    total = 1
    for _ in range(depth):
        total = 1 + colours * total
    return total""",
    ),
]
