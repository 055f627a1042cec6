"""Checks of lab 01: the choice of a model, and Kneser-Ney smoothing of any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from types import CodeType

from helpers.course.checks.lab01.common import Counts, course_counts, is_rows, lab
from helpers.course.checks.lab01.measuring import course_bits
from helpers.course.checks.lab01.smoothing import course_mixture
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial
from helpers.course.checks.turn import Slips


def _choose(train: str, validation: str, vocabulary: str, orders, weights) -> tuple[int, float]:
    def bits(n: int, weight: float) -> float:
        tables = [course_counts(train, order) for order in range(1, n + 1)]
        return course_bits(
            lambda context: course_mixture(tables, context, vocabulary, weight), validation, n
        )

    return min(((n, w) for n in orders for w in weights), key=lambda pair: bits(*pair))


_CHOOSE_SLIPS = Slips(
    _choose,
    """
    return min( => return max(
        The pair that costs the fewest bits is the best one; yours costs the most.
    """,
)


def _names_of(answer: object) -> set[str]:
    """Names that a function, and those in it, look up outside of themselves."""
    codes, names = [getattr(answer, "__code__", None)], set()
    while codes:
        code = codes.pop()
        if isinstance(code, CodeType):
            names |= set(code.co_names)
            codes += code.co_consts
    return names


_REPEATED = "the cat sat on the mat and the rat sat on the hat " * 8


@lab.task(_choose)
def choose(trial: Trial) -> None:
    train = "the cat sat on the mat and the rat sat on the hat " * 6
    validation = "the rat on the mat sat and the cat "
    cases = [(train, validation)]
    cases.append((trial.text(400, "ab") + train, trial.text(60, "ab") + validation))
    for train, validation in cases:
        vocabulary = "".join(sorted(set(train)))
        orders, weights = [1, 2, 3, 5], [0.2, 0.9]
        hint = "Give the order first and then the weight, and return the pair."
        given = "two short texts, orders 1, 2, 3, 5, weights 0.2 and 0.9"
        arguments = (train, validation, vocabulary, orders, weights)
        got = trial.call(*arguments, given=given, hint=hint)
        pair = isinstance(got, tuple | list) and len(got) == 2
        pair = pair and got[0] in orders and got[1] in weights
        form = NOTHING if got is None else hint
        trial.holds(pair, "a pair (n, weight) of those given", form, given=given, got=got)
        best, usual = _choose(*arguments), see(2, "Perplexity against n")
        usual = f"Count on the training text, measure on the other, and try every pair. {usual}"
        if _names_of(trial.answer) & {"model", "tables"}:
            usual = "`model` and `tables` of the cell above hold the tales: count your own `train`."
        longest = _choose(train, validation, vocabulary, orders[-1:], weights)
        longest = longest, f"The longest context is not always the best one. {usual}"
        most = ((slip(*arguments), words) for slip, words in _CHOOSE_SLIPS)
        trial.equals(
            tuple(got),
            best,
            "the setting with the fewest bits on the validation text",
            usual,
            slips=(pair for pairs in ([longest], most) for pair in pairs),
            given=given,
        )
    given = "a text that goes on as it was counted, orders 4, weights 0.2 and 0.9"
    train, rest = _REPEATED[:-30], _REPEATED[-30:]
    arguments = (train, rest, "".join(sorted(set(train))), [4], [0.2, 0.9])
    trial.equals(
        trial.call(*arguments, given=given),
        _choose(*arguments),
        "an order without those below it in `orders`",
        "A model of order n mixes all orders 1 to n, also those that are not in `orders`.",
        given=given,
    )


choose.slips = _CHOOSE_SLIPS


_PHRASES = "old pell rows . old pell sings . cat or dog . row or sing ."
_SENTENCE = "the old pell rows and the old pell sings and the cat or the dog sings"


def course_continuations(counts: Counts) -> dict:
    """Of each n-gram without its first token: in how many different n-grams it stands."""
    fewer: dict = {}
    for context, row in counts.items():
        for symbol in row:
            fewer.setdefault(context[1:], Counter())[symbol] += 1
    return fewer


def _continuation_slips(counts: Counts) -> Iterator[tuple[dict, str]]:
    occurrences: dict = {}
    first: dict = {}
    after: dict = {}
    for context, row in counts.items():
        for symbol, count in row.items():
            occurrences.setdefault(context[1:], Counter())[symbol] += count
            first.setdefault(context[:-1], Counter())[symbol] += 1
            after.setdefault(context[1:], Counter())[symbol] = len(row)
    yield (
        occurrences,
        "That is how often the shorter n-gram occurs. However often an n-gram was seen, it counts "
        "once: what matters is how many different ones there are.",
    )
    yield first, "The token that is dropped is the first one, the one that is farthest away."
    yield (
        after,
        "That is how many different tokens follow the context; asked for is how many stand before.",
    )
    yield (
        {context: dict.fromkeys(row, 1) for context, row in occurrences.items()},
        "Two n-grams with different first tokens leave the same rest: that rest counts two.",
    )


@lab.task(course_continuations)
def continuations(trial: Trial) -> None:
    where = see(2, "Kneser-Ney: a better fallback")
    usual = (
        "Take each different n-gram once, drop its first token, and count how many leave the same "
        f"rest. {where}"
    )
    form = (
        "The keys are contexts that are one token shorter, context[1:], also where that is empty; "
        "a row maps tokens to numbers, as in count_ngrams."
    )
    error = (
        "Read the kind of error. A slice, context[1:], is of the kind of the context: a string of "
        "a string, a tuple of a tuple. And a key met for the first time has no number yet."
    )
    by_hand = {"a": {"c": 5}, "b": {"c": 1, "d": 2}}
    phrases = tuple(_PHRASES.split())
    random = trial.text(trial.integer(60, 120), "abcd")
    for counts, rule, given in (
        (by_hand, "pairs by hand", f"{by_hand}"),
        (course_counts("abcbbcabc", 3), "triples leave pairs", "the triples of 'abcbbcabc'"),
        (course_counts(phrases, 2), "words", f"the pairs of {' '.join(phrases)!r}, a tuple"),
        (course_counts(phrases, 3), "words", f"the triples of {' '.join(phrases)!r}, a tuple"),
        (course_counts(random, 2), "a random text", "the pairs of a random text"),
        (course_counts(random, 4), "a random text", "the 4-grams of a random text"),
        ({}, "no n-grams", "no n-grams"),
    ):
        got = trial.call(counts, given=given, hint=error)
        got = {a: dict(row) for a, row in got.items()} if is_rows(got) else got
        expected = {a: dict(row) for a, row in course_continuations(counts).items()}
        keys = isinstance(got, dict) and set(got) != set(expected)
        slips = _continuation_slips(counts)
        trial.equals(got, expected, rule, form if keys else usual, slips=slips, given=given)


def course_kneser_ney(
    tables: Sequence[Counts], context: Sequence, word: object, V: int, discount: float
) -> float:
    """Absolute discounting in every table, from the uniform distribution upwards."""
    p = 1 / V
    for n, counts in enumerate(tables, 1):
        row = counts.get(context[len(context) - n + 1 :]) if n - 1 <= len(context) else None
        if row:
            total = sum(row.values())
            kept = max(row.get(word, 0) - discount, 0) / total
            p = kept + discount * len(row) / total * p
    return p


_FREED = (
    "Every different token of the row gives up d, so d times their number over the context's count "
    "is free, and that is the weight of the shorter context."
)
_NO_ROW = (
    "No table had a row for your context. With n = 1 it is empty, and text[-0:] is the whole text. "
    "And keys are slices of the text: strings or tuples, as the text is."
)
_KNESER_NEY_SLIPS = Slips(
    course_kneser_ney,
    f"""
    max(row.get(word, 0) - discount, 0) => (row.get(word, 0) - discount)
        A token that was never seen after the context has no d to give: its count stays 0.
    max(row.get(word, 0) - discount, 0) => row.get(word, 0)
        What the shorter context gets has to be taken off the counts first.
    discount * len(row) / total => discount / total
    discount * len(row) / total => discount
    discount * len(row) / total => len(row) / total
        {_FREED}
    len(row) => len(counts)
        N is the number of different tokens in the row of the context, not that of the table's rows.
    kept + discount * len(row) / total * p => kept
        The shorter context is missing: what was taken off the counts has to go somewhere.
    1 / V => 0.0
        The lowest order is the uniform distribution: 1 / V for every token.
    len(context) else None => len(context) else None; p = p if row or n - 1 > len(context) else 0.0
        A context that was never seen knows nothing: what the shorter one says stays as it is.
    len(context) else None => len(context) else None; p = p if row else discount * p
        A context without a row has taken nothing off: what the shorter one says stays as it is,
        without d.
    if row: => if word in (row or ()):
        The context was seen, only not before this word: the count that is kept is 0, and d N / c
        goes to the shorter context, no more. Only a context without a row passes on all.
    enumerate(tables, 1) => [*enumerate(tables, 1)][-1:]
        Between the longest context and 1 / V stand the other orders, each with its own table.
    enumerate(tables, 1) => enumerate([], 1)
        {_NO_ROW}
    if n - 1 <= len(context) => if n <= len(context)
        The longest order is left out. It needs a context of n - 1 tokens, not of n.
    """,
)


@lab.task(course_kneser_ney)
def kneser_ney(trial: Trial) -> None:
    where = see(2, "Kneser-Ney: a better fallback")
    usual = (
        "From the shortest context to the longest: what is left of the count, and what was freed "
        f"times the probability so far. {where}"
    )
    newest = "The context of order n is the last n - 1 tokens; text[-0:] is the whole text."
    error = (
        "Read the kind of error. What if the context is in no table, or the word not in its row? "
        "And context[i:] is a string of a string and a tuple of a tuple."
    )
    short = "Of a text that is shorter than n - 1 tokens take the orders that fit, no others."

    def tables_of(text: Sequence, n: int) -> list[Counts]:
        counted = [course_counts(text, k) for k in range(1, n + 1)]
        return [*map(course_continuations, counted[1:]), counted[-1]]

    def try_on(
        tables: Sequence[Counts], context: Sequence, word: object, V: int, discount: float,
        rule: str, hint: str, source: str,
    ) -> float:  # fmt: skip
        given = f"tables of {source}, context {context!r}, word {word!r}, V = {V}, d = {discount}"
        arguments = (list(tables), context, word, V, discount)
        got = trial.call(*arguments, given=given, hint=error)
        slips = ((slip(*arguments), words) for slip, words in _KNESER_NEY_SLIPS)
        expected = course_kneser_ney(*arguments)
        trial.equals(got, expected, rule, hint, slips=slips, given=given)
        return got

    first, source = tables_of("abacabad", 2), "'abacabad', n = 2"
    given = f"the table of order 1 of {source}, context 'a', word 'b', V = 4, d = 0.5"
    alone = trial.call(first[:1], "a", "b", 4, 0.5, given=given, hint=error)
    rule = "order 1 knows more than 1 / V, whatever stands before"
    trial.holds(alone != 1 / 4, rule, _NO_ROW, given=given, got=alone)
    try_on(first, "a", "b", 4, 0.5, "by hand", usual, source)
    try_on(first, "a", "a", 4, 0.5, "a pair that was never seen", usual, source)
    try_on(first, "d", "a", 4, 0.5, "a context that nothing follows", usual, source)
    try_on(first, "", "a", 4, 0.5, "the first token of a text", short, source)
    total = sum(try_on(first, "a", s, 5, 0.5, "all tokens", usual, source) for s in "abcde")
    freed = "Add up your probabilities of all V tokens. " + _FREED
    trial.equals(total, 1.0, "they sum to 1", freed, given="context 'a'")
    counted = [course_counts("abacabad", k) for k in (1, 2)]
    rule = "the tables are taken as they are: here both count occurrences"
    taken = "Counting is done before: the function only discounts the counts of each table."
    try_on(counted, "a", "b", 4, 0.5, rule, taken, "occurrences in 'abacabad'")
    third, source = tables_of(tuple(_SENTENCE.split()), 3), f"{_SENTENCE!r} in words, n = 3"
    for context, word in (
        (("the", "old"), "pell"),
        (("cat", "or", "the"), "old"),
        (("the", "cat"), "pell"),
        (("or",), "the"),
        (("the", "moon"), "pell"),
        (("the", "old"), "moon"),
    ):
        try_on(third, context, word, 12, 0.75, "words", newest, source)
    text, discount = trial.text(200, "abcdd"), trial.integer(1, 10) / 10
    fourth = tables_of(text, 4)
    for context in ("", "ab", "dda", text[:7], "aeb"):
        for symbol in "ae":
            source = "a random text, n = 4"
            try_on(fourth, context, symbol, 6, discount, "a random text", newest, source)


kneser_ney.slips = _KNESER_NEY_SLIPS
