"""Checks of lab 01: the choice of a model, and Kneser-Ney smoothing of any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

from helpers.course.checks.describing import describe
from helpers.course.checks.lab01.common import course_counts, lab
from helpers.course.checks.lab01.measuring import bits_per_character
from helpers.course.checks.lab01.smoothing import interpolate
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.checks.turn import Case, turn

_PAIR = "Give the order first and then the weight, and return the pair."
_EACH = (
    "Count on the training text, measure on the other, and try every pair. "
    + see(2, "Perplexity against n")
)  # fmt: skip
_ALL = "A model of order n mixes all orders 1 to n, also those that are not in `orders`."
_REPEATED = "the cat sat on the mat and the rat sat on the hat " * 8


def _names_of(answer: object) -> set[str]:
    """Names that a function, and those in it, look up outside of themselves."""
    codes, names = [getattr(answer, "__code__", None)], set()
    while codes:
        code = codes.pop()
        if isinstance(code, CodeType):
            names |= set(code.co_names)
            codes += code.co_consts
    return names


def _searches(trial: Trial) -> Iterator[Case]:
    hint, rule = _EACH, "the setting with the fewest bits on the validation text"
    if _names_of(trial.answer) & {"model", "tables"}:
        hint = "`model` and `tables` of the cell above hold the tales: count your own `train`."
    train, validation = _REPEATED[:300], "the rat on the mat sat and the cat "
    given = "two short texts, orders 1, 2, 3, 5, weights 0.2 and 0.9"
    for a, b in (("", ""), (trial.text(400, "ab"), trial.text(60, "ab"))):
        vocabulary, orders = "".join(sorted({*a, *train})), [1, 2, 3, 5]
        yield Case(rule, a + train, b + validation, vocabulary, orders, [0.2, 0.9], given=given,
                   hint=hint)  # fmt: skip
    train, rest = _REPEATED[:-30], _REPEATED[-30:]
    yield Case("an order without those below it in `orders`", train, rest,
               "".join(sorted(set(train))), [4], [0.2, 0.9],
               given="a text that goes on as it was counted, orders 4, weights 0.2 and 0.9",
               hint=_ALL)  # fmt: skip


def _pair_of(answer: Callable, *arguments: Any) -> Any:
    got, (*_, orders, weights) = answer(*arguments), arguments
    pair = isinstance(got, tuple | list) and len(got) == 2
    if got is not None and not (pair and got[0] in orders and got[1] in weights):
        raise Complaint("a pair (n, weight) of those given", _PAIR, got=describe(got))
    return got


@turn(
    lab,
    _EACH,
    cases=_searches,
    call=_pair_of,
    errors={"TypeError": _PAIR},
    slips=f"""
    range(1, max(orders) + 1) => orders
        {_ALL}
    for n in orders => for n in orders[-1:]
        The longest context is not always the best one. {_EACH}
    return min( => return max(
        The pair that costs the fewest bits is the best one; yours costs the most.
    """,
)
def choose(train, validation, vocabulary, orders, weights):
    counted = [course_counts(train, order) for order in range(1, max(orders) + 1)]

    def cost(pair):
        return bits_per_character(
            lambda context: interpolate(counted[: pair[0]], context, vocabulary, pair[1]),
            validation, pair[0],
        )  # fmt: skip

    return min(((n, weight) for n in orders for weight in weights), key=cost)


_PHRASES = "old pell rows . old pell sings . cat or dog . row or sing ."
_SENTENCE = "the old pell rows and the old pell sings and the cat or the dog sings"
_BETTER = see(2, "Kneser-Ney: a better fallback")
_KINDS = ("KeyError", "IndexError", "TypeError", "AttributeError", "ZeroDivisionError")
_KEYS = (
    "The keys are contexts that are one token shorter, context[1:], also where that is empty; a "
    "row maps tokens to numbers, as in count_ngrams."
)


def _tables(trial: Trial) -> Iterator[Case]:
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
        yield Case(rule, counts, given=given)


@turn(
    lab,
    "Take each different n-gram once, drop its first token, and count how many leave the same "
    f"rest. {_BETTER} {_KEYS}",
    cases=_tables,
    errors=dict.fromkeys(
        _KINDS,
        "Read the kind of error. A slice, context[1:], is of the kind of the context: a string of "
        "a string, a tuple of a tuple. And a key met for the first time has no number yet.",
    ),
    slips=f"""
    for symbol in row: => for symbol, n in row.items(): ;; += 1 => += n
        That is how often the shorter n-gram occurs. However often an n-gram was seen, it counts \
        once: what matters is how many different ones there are.
    context[1:] => context[:-1]
        The token that is dropped is the first one, the one that is farthest away.
    += 1 => = len(row)
        That is how many different tokens follow the context; asked for is how many stand before.
    += 1 => = 1
        Two n-grams with different first tokens leave the same rest: that rest counts two.
    context[1:] => context
    context[1:] => "".join(context[1:])
        {_KEYS}
    """,
)
def continuations(counts):
    fewer: dict = {}
    for context, row in counts.items():
        for symbol in row:
            fewer.setdefault(context[1:], Counter())[symbol] += 1
    return fewer


_FREED = (
    "Every different token of the row gives up d, so d times their number over the context's count "
    "is free, and that is the weight of the shorter context."
)
_NO_ROW = (
    "No table had a row for your context. With n = 1 it is empty, and text[-0:] is the whole text. "
    "And keys are slices of the text: strings or tuples, as the text is."
)
_LAST = "The context of order n is the last n - 1 tokens; text[-0:] is the whole text."


def _tables_of(text: Sequence, n: int) -> list[dict]:
    counted = [course_counts(text, k) for k in range(1, n + 1)]
    return [*map(continuations.fallback, counted[1:]), counted[-1]]


def _discounted(trial: Trial) -> Iterator[Case]:
    first, source = _tables_of("abacabad", 2), "'abacabad', n = 2"
    given = f"the table of order 1 of {source}, context 'a', word 'b', V = 4, d = 0.5"
    alone = trial.call(first[:1], "a", "b", 4, 0.5, given=given, hint=_NO_ROW)
    rule = "order 1 knows more than 1 / V, whatever stands before"
    trial.holds(alone != 1 / 4, rule, _NO_ROW, given=given, got=alone)

    def case(rule, tables, context, word, V, discount, hint="", source=source):
        given = f"tables of {source}, context {context!r}, word {word!r}, V = {V}, d = {discount}"
        return Case(rule, list(tables), context, word, V, discount, given=given, hint=hint)

    yield case("by hand", first, "a", "b", 4, 0.5)
    yield case("a pair that was never seen", first, "a", "a", 4, 0.5)
    yield case("a context that nothing follows", first, "d", "a", 4, 0.5)
    short = "Of a text that is shorter than n - 1 tokens take the orders that fit, no others."
    yield case("the first token of a text", first, "", "a", 4, 0.5, short)
    for word in "abcde":
        hint = f"Add up your probabilities of all V tokens. {_FREED}"
        yield case("all tokens", first, "a", word, 5, 0.5, hint)
    counted = [course_counts("abacabad", k) for k in (1, 2)]
    rule = "the tables are taken as they are: here both count occurrences"
    taken = "Counting is done before: the function only discounts the counts of each table."
    yield case(rule, counted, "a", "b", 4, 0.5, taken, "occurrences in 'abacabad'")
    third, source = _tables_of(tuple(_SENTENCE.split()), 3), f"{_SENTENCE!r} in words, n = 3"
    for words in (
        "the old pell", "cat or the old", "the cat pell", "or the", "the moon pell", "the old moon",
    ):  # fmt: skip
        *context, word = words.split()
        yield case("words", third, tuple(context), word, 12, 0.75, _LAST, source)
    text, discount = trial.text(200, "abcdd"), trial.integer(1, 10) / 10
    fourth, source = _tables_of(text, 4), "a random text, n = 4"
    for context in ("", "ab", "dda", text[:7], "aeb"):
        for word in "ae":
            yield case("a random text", fourth, context, word, 6, discount, _LAST, source)


@turn(
    lab,
    "From the shortest context to the longest: what is left of the count, and what was freed times "
    f"the probability so far. {_BETTER}",
    cases=_discounted,
    errors=dict.fromkeys(
        _KINDS,
        "Read the kind of error. What if the context is in no table, or the word not in its row? "
        "And context[i:] is a string of a string and a tuple of a tuple.",
    ),
    slips=f"""
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
def kneser_ney(tables, context, word, V, discount):
    p = 1 / V
    for n, counts in enumerate(tables, 1):
        row = counts.get(context[len(context) - n + 1 :]) if n - 1 <= len(context) else None
        if row:
            total = sum(row.values())
            kept = max(row.get(word, 0) - discount, 0) / total
            p = kept + discount * len(row) / total * p
    return p
