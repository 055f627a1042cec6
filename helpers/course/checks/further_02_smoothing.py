"""Your turn with smoothing: how much of a count is believed, and what becomes of the rest."""

from collections import Counter, defaultdict
from copy import deepcopy
from itertools import pairwise

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_02_smoothing")

PENCIL = "it gives what the pencil gives"


def tables_of(tokens):
    """The tables of 1-, 2- and 3-grams, as the notebook makes them."""
    tables = {n: defaultdict(Counter) for n in (1, 2, 3)}
    for n, table in tables.items():
        for i in range(n - 1, len(tokens)):
            table[tuple(tokens[i - n + 1 : i])][tokens[i]] += 1
    return tables


def on_a_copy(answer, w, context, tables):
    """To ask a defaultdict for a context that is not there makes an empty row, and does no harm."""
    return answer(w, context, deepcopy(tables))


def contexts(draw):
    tables = tables_of(["the", "shy", "goose", "and", "the", "goose", "sneezed"])
    for w, context in (
        ("and", ("shy", "goose")),
        ("sneezed", ("shy", "goose")),
        ("the", ("shy", "goose")),
        ("and", ("old", "goose")),
        ("the", ()),
        ("sea", ("the", "goose")),
    ):
        shown = f"{w!r}, {context!r}, tables of 'the shy goose and the goose sneezed'"
        rule = PENCIL if context == ("shy", "goose") else "it is right for other contexts"
        yield Case(rule, w, context, tables, given=shown)
    text = draw.text(60, "abcd")
    for w, context in (("a", ("b", "c")), ("b", ("d", "d")), ("c", ("a",))):
        rule = "it is right for any text"
        yield Case(rule, w, context, tables_of(text), given=f"{w!r}, {context!r}, random text")


@turn(
    turns,
    "Try the whole context first. While the word was not seen after it, drop the oldest word of "
    "the context and multiply by 0.4.",
    cases=contexts,
    call=on_a_copy,
    slips="""
    weight *= 0.4 => pass
        Each step down multiplies the score by 0.4.
    weight *= 0.4 => weight = 0.4
        Two steps down are two factors of 0.4.
    context[start:] => context[: len(context) - start]
        The word that is dropped is the oldest one, at the front of the context.
    weight * row[w] / sum(row.values()) => weight * row[w]
        A score is a relative frequency: divide by how often the context was followed at all.
    """,
)
def stupid_backoff(w, context, rows):
    """S(w | context), for a context that is a tuple of words."""
    weight = 1.0
    for start in range(len(context) + 1):
        row = rows[len(context) - start + 1].get(context[start:], {})
        if w in row:
            return weight * row[w] / sum(row.values())
        weight *= 0.4
    return 0.0


def counted(draw):
    counts = dict(enumerate([1] * 6 + [2] * 3 + [5]))
    yield Case(PENCIL, counts, 1)
    for r in (1, 2, 3):
        drawn = Counter(pairwise(draw.text(400, "abcdefghijklmnop")))
        yield Case("it is right for any counts", drawn, r, given=f"random counts, r = {r}")


@turn(
    turns,
    "Count how many n-grams occur r times, and how many r + 1 times.",
    cases=counted,
    slips="""
    (r + 1) * more => r * more
        Each of the pairs with r + 1 occurrences has r + 1 tokens that can be taken out.
    (r + 1) * more / same => (r + 1) * same / more
        The tokens come from the pairs with r + 1 occurrences, and fall to those with r.
    / same =>
        That is for all pairs that occur r times together: divide by how many there are.
    """,
)
def good_turing(counts, r):
    """The expected count r* of an n-gram that occurs r times."""
    same = sum(count == r for count in counts.values())
    more = sum(count == r + 1 for count in counts.values())
    return (r + 1) * more / same


def many_counts(draw):
    counts = dict(enumerate([1] * 8 + [2] * 4 + [3] * 2 + [4] + [9] * 3))
    yield Case(PENCIL, counts, given="counts with N1 = 8, N2 = 4, N3 = 2, N4 = 1")
    for _ in range(2):
        sizes = [draw.integer(20, 60), draw.integer(10, 19), draw.integer(5, 9), draw.integer(2, 4)]
        drawn = dict(enumerate(r for r, size in enumerate(sizes, 1) for _ in range(size)))
        yield Case("it is right for any counts", drawn, given=f"counts with N1 to N4 = {sizes}")


@turn(
    turns,
    "Y from N1 and N2 is the same in all three; D_r is r minus Y times r*.",
    cases=many_counts,
    slips="""
    r - y * good_turing(counts, r) => r - good_turing(counts, r)
        r - r* is how far Good and Turing go down; Y is missing.
    r - y * good_turing(counts, r) => y
        That is the one D of absolute discounting, three times.
    once + 2 * twice => once + twice
        In Y, the n-grams that occur twice count double.
    return [r - y * good_turing(counts, r) for r in (1, 2, 3)] => \
    return [y * good_turing(counts, r) for r in (1, 2, 3)]
        That is what is left of a count; the discount is what is taken off it.
    """,
)
def three_discounts(counts):
    """[D1, D2, D3+] of modified Kneser-Ney."""
    once, twice = (sum(count == r for count in counts.values()) for r in (1, 2))
    y = once / (once + 2 * twice)
    return [r - y * good_turing(counts, r) for r in (1, 2, 3)]


def steps(draw):
    row = Counter({"PELL": 6, "MAN": 2, "NET": 1, "SEA": 1})
    for w in ("PELL", "OR", "MAN", "NET"):
        yield Case("it is right for a small row", w, row, [0.5, 1.0, 1.5], 0.125)
    empty = "Where the row is empty, its sum is 0: there lower is all there is."
    yield Case("after a context never seen, lower is left", "OR", Counter(), [0.5, 1, 1.5], 0.125,
               hint=empty)  # fmt: skip
    for w in "abz":
        drawn, lower = Counter(draw.text(12, "abcdef")), draw.integer(1, 9) / 100
        yield Case("it is right for any row", w, drawn, [0.7, 1.1, 1.4], lower)


@turn(
    turns,
    "What w keeps, if it was seen here, plus all that is taken off the row, as a share, times "
    "lower.",
    cases=steps,
    slips="""
    discounts[min(count, 3) - 1] for => discounts[0] for
        A count of 2 has a discount of its own, and so has one of 3 or more.
    sum(takes.values()) / total * lower => discounts[0] * len(row) / total * lower
        What is handed down is what was taken: from each count its own discount.
    sum(takes.values()) / total * lower => sum(takes.values()) / total
        What was taken is shared out among all words: multiply it by lower.
    return kept + => return kept or
        A word that was seen here gets its part of what is handed down as well.
    (row.get(w, 0) - takes.get(w, 0)) / total => row.get(w, 0) / total
        Nothing was taken off the count of w.
    """,
)
def modified_kneser_ney(w, row, discounts, lower):
    """P(w | h) by one step of modified Kneser-Ney."""
    if not row:
        return lower
    total = sum(row.values())
    takes = {word: discounts[min(count, 3) - 1] for word, count in row.items()}
    kept = (row.get(w, 0) - takes.get(w, 0)) / total
    return kept + sum(takes.values()) / total * lower
