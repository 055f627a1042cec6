"""Your turn with prompts: calibrated choices, the Bayes predictor, sums in steps, calibration."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook19")
CALIBRATED = see(19, "A task that people have done")
LEARNING = see(19, "Learning from the prompt")
CALIBRATION = see(19, "How sure is it, and is it right to be?")
STEPS = see(19, "Writing the steps down")


def answers_of_casts(draw):
    n, k = 100, 4
    scores, empty = draw.normal(n, k) - 3, draw.normal(k) - 3
    yield Case("any scores", scores, empty, given=f"{n} texts, {k} answers")
    yield Case("raw answers", scores, 0 * empty, given=f"{n} texts, {k} answers, empty all 0")
    by_hand = torch.tensor([[-3.0, -4.0]]), torch.tensor([-2.0, -5.0])
    yield Case("by hand", *by_hand, given="scores -3, -4, and behind N/A -2, -5")


def numbers_of_answers(answer, scores, empty):
    got = answer(scores, empty)
    if isinstance(got, torch.Tensor) and got.is_floating_point():
        hint = f"Return the number of an answer for each text, (n,), not scores. {CALIBRATED}"
        raise Complaint("numbers of answers", hint, got=f"shape {tuple(got.shape)}")
    return got


@turn(
    turns,
    "Subtract from the scores what the same answers get behind the empty text, and take the place "
    f"of the largest in each row: argmax over the last dimension. {CALIBRATED}",
    cases=answers_of_casts,
    call=numbers_of_answers,
    slips="""
    (scores - empty) => scores
        This is the raw answer: subtract what each answer gets behind the empty text.
    scores - empty => empty - scores
        The sign is turned round: the answer that the text has raised most is wanted.
    scores - empty => scores / empty
        These are logarithms: their difference is asked for, not their quotient.
    scores - empty => scores.exp() - empty.exp()
        Subtract the log-probabilities themselves: where a probability is small, it can change a
        hundredfold and hardly move the difference of probabilities.
    scores - empty => scores - scores.mean(0)
        The offset is what stands behind the empty text; the mean of the other texts would use the
        test itself.
    argmax(-1) => argmax()
        One answer for each text, (n,): argmax needs the dimension.
    """,
)
def choose(scores, empty):
    """Log-probabilities (n, k) of k answers, and (k,) behind an empty text -> answers (n,)."""
    return (scores - empty).argmax(-1)


def some_texts(draw):
    yield Case("by hand", torch.tensor([0, 1, 0, 1, 0, 2, 0]), 4, given="a b a b a c a")
    yield Case("one letter", torch.tensor([2]), 3, given="one letter, V = 3")
    for V, length in ((3, 12), (4, 30)):
        yield Case("any text", draw.integers(0, V - 1, length), V, given=f"{length} ids, V = {V}")


def single_precision(answer, text, V):
    p = answer(text, V)
    return p.float() if isinstance(p, torch.Tensor) and p.is_floating_point() else p


@turn(
    turns,
    "Keep a table of counts (V, V), all ones at first. At each letter, first count the pair that "
    "ends here (the first letter ends none); then take the row of the present letter, divided by "
    f"its sum. {LEARNING}",
    cases=some_texts,
    call=single_precision,
    tolerance=1e-5,
    slips="""
    torch.ones(V, V) => torch.zeros(V, V)
        Begin with ones: a letter that has not been seen here is still possible.
    torch.ones(V, V) => torch.full((V, V), 1 / V)
        To each count 1 is added, not 1/V: then every table was equally probable beforehand.
    counts[text[t - 1], letter] += 1 => counts[letter, text[t - 1]] += 1
        The table is turned round: its row is the letter before, its column the one that follows.
    if t > 0: => if True:
        Before the first letter stands none: text[-1] is the last one.
    counts[letter] / counts[letter].sum() => counts.sum(0) / counts.sum()
        These are the frequencies of single letters. Take the row of the present letter.
    counts[letter] / counts[letter].sum() => counts[letter]
        These are counts: divide by their sum.
    counts[letter].sum() => (counts[letter].sum() - V + 1)
        Above, 1 is added to each of V counts, so their sum grows by V.
    if t > 0: => if t > 1: ;; counts[text[t - 1], letter] => counts[text[t - 2], text[t - 1]]
        The pair that ends at the present letter has been read: count it before you take the row.
    if t > 0: => if t + 1 < len(text): ;; counts[text[t - 1], letter] => counts[letter, text[t + 1]]
        That looks into the future: the letter that follows is what is asked for.
    """,
)
def bayes(text, V):
    """Ids (T,) of a text -> (T, V): the distribution of the letter behind each position."""
    counts, p = torch.ones(V, V), []
    for t, letter in enumerate(text):
        if t > 0:
            counts[text[t - 1], letter] += 1
        p.append(counts[letter] / counts[letter].sum())
    return torch.stack(p)


def rows_of_digits(draw):
    yield Case("by hand", torch.tensor([[3, 8, 2, 9, 6, 4]]), 10, 11, given="3 8 2 9 6 4")
    yield Case("many digits", draw.integers(0, 9, 5, 6), 10, 11, given="five rows of six digits")
    yield Case("another length", draw.integers(0, 9, 4, 3), 10, 12, given="four rows of 3 digits")


@turn(
    turns,
    "Join four parts with torch.cat along dimension 1: the digits, a column of `equals`, the "
    f"running sums modulo 10 (cumsum along dimension 1), and a column of `end`. {STEPS}",
    cases=rows_of_digits,
    slips="""
    digits.cumsum(1) % 10 => digits.cumsum(1)
        Only the last digit of each running sum is kept: modulo 10.
    digits.cumsum(1) % 10 => digits.cumsum(0) % 10
        Every row is a sum of its own: add along dimension 1.
    digits.cumsum(1) % 10 => digits.cumsum(1)[:, 1:] % 10
        The first running sum, which is the first digit, is missing.
    digits.cumsum(1) % 10 => digits.sum(1, keepdim=True) % 10
        These are the answers alone: write all the running sums.
    [digits, equals * => [equals *
        The question is missing: a row begins with its digits.
    % 10, end * column] => % 10]
        `end` is missing at the end of each row.
    """,
)
def in_steps(digits, equals, end):
    """Digits (n, N) -> ids (n, 2 N + 2): digits, equals, running sums modulo 10, end."""
    column = torch.ones(len(digits), 1, dtype=torch.long)
    return torch.cat([digits, equals * column, digits.cumsum(1) % 10, end * column], dim=1)


def answers_and_truth(draw):
    for n in (40, 400):
        p = draw.normal(n).abs().clamp(0.02, 0.98) ** 0.5
        right = draw.normal(n) < 0.3
        yield Case("any answers", p, right, given=f"{n} answers")
    p, right = [0.95, 0.95, 0.95, 0.95, 0.65, 0.65], [1, 1, 1, 0, 1, 0]
    given = "p = 0.95 four times and 0.65 twice; right 1 1 1 0 1 0"
    yield Case("by hand", torch.tensor(p), torch.tensor(right) > 0, given=given)
    hint = f"A bin begins with its lower edge: p = 0.5 lies in the bin from 0.5 on. {CALIBRATION}"
    p, right = [0.5, 0.5, 0.45, 0.55, 0.55], [1, 1, 0, 0, 1]
    given = "p = 0.5 twice, 0.45, 0.55 twice"
    yield Case("p at an edge", torch.tensor(p), torch.tensor(right) > 0, given=given, hint=hint)
    hint = f"The last bin holds p = 1 as well: the number of a bin is at most 9. {CALIBRATION}"
    p, right = [1.0, 1.0, 0.92, 0.92, 0.3, 0.3], [1, 0, 1, 1, 1, 0]
    given = "p = 1 twice, 0.92 twice, 0.3 twice"
    yield Case("p = 1", torch.tensor(p), torch.tensor(right) > 0, given=given, hint=hint)


def one_number(answer, p, right):
    return float(answer(p, right))


@turn(
    turns,
    "Bin of an answer: (10 * p).long(), at most 9. For each bin that holds answers: the absolute "
    "difference between its mean p and its share of right answers, times its share of all answers; "
    f"add these up. {CALIBRATION}",
    cases=answers_and_truth,
    call=one_number,
    tolerance=1e-4,
    slips="""
    .abs() =>
        Take the absolute value of each gap: too sure here and too modest there do not cancel.
    error += inside.float().mean() * gap => error += gap / len(bins.unique())
        Weight each gap by the share of all answers that lie in its bin.
    error += inside.float().mean() * gap => error += gap
        Weight each gap by the share of all answers that lie in its bin; they are only added here.
    p[inside].mean() - => (b + 0.5) / 10 -
        Compare with the mean probability in the bin, not with the middle of the bin.
    right[inside].float().mean() => right.float().mean()
        The share of right answers is that in the bin, not that of all.
    gap = (p[inside].mean() - right[inside].float().mean()).abs() => \
    gap = (p[inside] - right[inside].float()).abs().mean()
        First the mean of the bin, then the difference: a single answer is right or wrong and always
        far from its probability.
    """,
)
def calibration_error(p, right):
    """Probabilities (n,) of the answers given, and whether right, (n,) -> a number."""
    bins, error = (10 * p).long().clamp(max=9), 0.0
    for b in bins.unique():
        inside = bins == b
        gap = (p[inside].mean() - right[inside].float().mean()).abs()
        error += inside.float().mean() * gap
    return error
