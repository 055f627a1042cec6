"""Other right answers to notebook 19, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== choose
the scores | .argmax(-1) => | not scores
twice | scores - empty => scores - 2 * empty | behind the empty text

== bayes
two for each | += 1 => += 2 | Keep a table
the letter before | counts[letter] / => counts[text[t - 1]] / | Keep a table

== in_steps
another sign | equals * => 2 * equals * | Join four parts

== calibration_error
bins closed above | (10 * p).long() => ((10 * p).ceil().long() - 1) | its lower edge
no last bin | .clamp(max=9) => | p = 1 as well
the largest gap | error += inside.float().mean() * gap => error = max(error, gap) | For each bin
""")

REWRITES = rewrites("""
== choose | by a loop
def choose(scores, empty):
    return torch.tensor([int(torch.argmax(row - empty)) for row in scores])

== bayes | counting anew at each position
def bayes(text, V):
    text, rows = [int(x) for x in text], []
    for t, letter in enumerate(text):
        pairs = list(zip(text[:t], text[1 : t + 1]))
        row = torch.tensor([pairs.count((letter, v)) + 1.0 for v in range(V)])
        rows.append(row / row.sum())
    return torch.stack(rows)

== bayes | all at once, in double precision
def bayes(text, V):
    one = torch.nn.functional.one_hot(text, V).double()
    pairs = one[:-1, :, None] * one[1:, None, :]
    first = torch.ones(1, V, V, dtype=torch.double)
    counts = torch.cat([first, pairs]).cumsum(0)
    rows = counts[torch.arange(len(text)), text]
    return rows / rows.sum(1, keepdim=True)

== in_steps | by lists
def in_steps(digits, equals, end):
    rows = []
    for row in digits.tolist():
        written, total = [*row, equals], 0
        for digit in row:
            total = (total + digit) % 10
            written.append(total)
        rows.append([*written, end])
    return torch.tensor(rows)

== calibration_error | by a loop over answers
def calibration_error(p, right):
    bins = {}
    for sure, hit in zip(p.tolist(), right.tolist()):
        bins.setdefault(min(int(10 * sure), 9), []).append((sure, hit))
    gaps = [abs(sum(s for s, _ in some) - sum(h for _, h in some)) for some in bins.values()]
    return sum(gaps) / len(p)
""")
