"""Checks of lab 01: n-grams, smoothing and perplexity.

Texts are strings, and a token is a character. ``counts[context][symbol]`` says how often a symbol
follows a context of n - 1 symbols; a distribution is a dictionary from symbols to probabilities.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping

import torch

from helpers.course.checks.lab import Lab, announce
from helpers.course.checks.trial import Complaint, NotAttempted, Trial

lab = Lab("lab01")
score, use_variant = lab.score, lab.use_variant

Counts = Mapping[str, Mapping[str, int]]
Distribution = dict[str, float]

SUM = "Add up your probabilities for one context: what divides the counts must be their own sum."
EMPTY = "Try it by hand on a text of one or two characters."


def _perplexity(probabilities: list[float]) -> float:
    if 0 in probabilities:
        return math.inf
    return math.exp(-sum(map(math.log, probabilities)) / len(probabilities))


@lab.task(_perplexity)
def perplexity(trial: Trial) -> None:
    hint = "The N-th root of 1 / (p1 p2 ... pN); notebook 01, 'Perplexity'."
    for given, value in (([0.5, 0.25, 0.125], 4.0), ([0.1] * 7, 10.0), ([1.0], 1.0)):
        rule = "ten equally likely digits have perplexity 10" if value == 10 else "by hand"
        trial.equals(trial.call(list(given)), value, rule, hint, given=given)
    drawn = (0.05 + 0.95 * torch.rand(trial.integer(3, 30), generator=trial.generator)).tolist()
    trial.equals(trial.call(list(drawn)), _perplexity(drawn), "any text", hint, given=drawn)
    given = "5,000 tokens of probability 0.01"
    hint = "A product of 5,000 small numbers is 0 in floating point: add logarithms instead."
    got = trial.call([0.01] * 5000, given=given, hint=hint)
    trial.equals(got, 100.0, "a long text", hint, given=given)
    hint = "The logarithm of 0 is an error in Python: what is the limit?"
    got = trial.call([0.5, 0.0], hint=hint)
    rule = "an impossible token makes it infinite"
    trial.equals(got, math.inf, rule, hint, given=[0.5, 0.0])


def _count_ngrams(text: str, n: int) -> dict[str, Counter]:
    counts: dict[str, Counter] = {}
    for i in range(len(text) - n + 1):
        counts.setdefault(text[i : i + n - 1], Counter())[text[i + n - 1]] += 1
    return counts


@lab.task(_count_ngrams)
def count_ngrams(trial: Trial) -> None:
    hint = "An n-gram is a context of n - 1 characters and the one that follows it; notebook 02."

    def try_on(text: str, n: int, rule: str, hint: str) -> None:
        got = trial.call(text, n)
        got = {context: dict(row) for context, row in got.items()} if _is_rows(got) else got
        expected = {context: dict(row) for context, row in _count_ngrams(text, n).items()}
        trial.equals(got, expected, rule, hint, given=f"{text!r}, n = {n}")

    try_on("abab", 2, "pairs by hand", hint)
    try_on("abracadabra", 3, "triples: the context has two characters", hint)
    try_on("banana", 1, "n = 1: the only context is the empty string", hint)
    last = "Is the last n-gram of the text counted, and none that runs over its end?"
    text = trial.text(trial.integer(20, 60), "abc")
    for n in (2, 3, 4):
        try_on(text, n, "every n-gram once", last)
    try_on("ab", 3, "a text shorter than n has none", EMPTY)
    try_on("", 2, "an empty text has none", EMPTY)


def _is_rows(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(row, Mapping) for row in value.values())


def _maximum_likelihood(counts: Counts, context: str) -> Distribution:
    row = counts.get(context, {})
    total = sum(row.values())
    return {symbol: count / total for symbol, count in row.items()}


@lab.task(_maximum_likelihood)
def maximum_likelihood(trial: Trial) -> None:
    counts = {"a": {"b": 3, "c": 1}, "b": {"a": 2}}
    trial.equals(
        trial.call(counts, "a"),
        {"b": 0.75, "c": 0.25},
        "relative frequencies",
        "c(a b) over the count of everything that follows a, not over the whole text; notebook 02.",
        given=f"{counts}, context 'a'",
    )
    hint = "Maximum likelihood would divide 0 by 0 there; and do not make an entry by looking."
    trial.equals(
        trial.call(counts, "x", hint=hint),
        {},
        "a context never seen has no distribution: an empty dictionary",
        hint,
        given=f"{counts}, context 'x'",
    )
    counts = _count_ngrams(trial.text(300, "abcd"), 3)
    for context in ("ab", "cc"):
        trial.equals(
            trial.call(counts, context),
            _maximum_likelihood(counts, context),
            "random counts",
            SUM,
            given=f"random counts, context {context!r}",
        )


def by_hand_text() -> str:
    """The text of the task on paper, from the class's variant: four a, two b, one or two c."""
    generator = lab.generator("by hand")
    letters = list("aaaabbc" + "abc"[int(torch.randint(3, (1,), generator=generator))])
    order = torch.randperm(len(letters), generator=generator).tolist()
    return "".join(letters[i] for i in order)


def _by_hand() -> dict[str, float]:
    text = by_hand_text()
    unigram = Counter(text)
    pairs = _count_ngrams(text, 2).get("a", Counter())
    follows = sum(pairs.values())
    return {
        "P(a)": unigram["a"] / len(text),
        "P(b | a)": pairs["b"] / follows,
        "P(b | a), add-1": (pairs["b"] + 1) / (follows + 3),
        "perplexity of 'ab'": (unigram["a"] / len(text) * (pairs["b"] + 1) / (follows + 3)) ** -0.5,
    }


@lab.task(_by_hand, uses=["check"], without=["_by_hand"])
def by_hand(trial: Trial) -> None:
    hints = {
        "P(a)": "How many of the characters are an a?",
        "P(b | a)": "Of the characters that follow an a, how many are b? The last one has no "
        "follower.",
        "P(b | a), add-1": "Add one to each of the three counts: what does their sum become?",
        "perplexity of 'ab'": "P(a) times the smoothed P(b | a); then the square root of 1 / that.",
    }
    got, expected = trial.call(), _by_hand()
    text = f"the text {by_hand_text()!r}, symbols a, b, c"
    trial.holds(
        isinstance(got, Mapping) and set(got) == set(expected),
        "a dictionary with the four names",
        "Keep the names in the dictionary as they are, and fill in the numbers.",
        got=got,
        expected=list(expected),
    )
    for name, value in expected.items():
        trial.holds(_close(got[name], value), name, hints[name], given=text, got=got[name])


def _close(got: object, expected: float) -> bool:
    return isinstance(got, int | float) and abs(got - expected) < 6e-4


def _add_k(counts: Counts, context: str, vocabulary: str, k: float) -> Distribution:
    row = counts.get(context, {})
    total = sum(row.values()) + k * len(vocabulary)
    return {symbol: (row.get(symbol, 0) + k) / total for symbol in vocabulary}


@lab.task(_add_k)
def add_k(trial: Trial) -> None:
    counts = {"a": {"b": 3, "c": 1}}
    k_everywhere = "Every symbol gets k more, so what divides grows by k times how many there are."
    trial.equals(
        trial.call(counts, "a", "abcd", 1.0),
        {"a": 1 / 8, "b": 4 / 8, "c": 2 / 8, "d": 1 / 8},
        "add-1 by hand",
        k_everywhere,
        given=f"{counts}, context 'a', vocabulary 'abcd', k = 1",
    )
    hint = "With no counts at all, only the k are left; and do not make an entry by looking."
    trial.equals(
        trial.call(counts, "z", "abcd", 0.5, hint=hint),
        dict.fromkeys("abcd", 0.25),
        "a context never seen gives every symbol the same chance",
        hint,
        given=f"{counts}, context 'z', vocabulary 'abcd', k = 0.5",
    )
    counts, k = _count_ngrams(trial.text(200, "abcd"), 2), trial.integer(1, 30) / 20
    got = trial.call(counts, "b", "abcdef", k)
    given = f"random counts, context 'b', vocabulary 'abcdef', k = {k}"
    trial.equals(got, _add_k(counts, "b", "abcdef", k), "random counts", k_everywhere, given=given)
    trial.equals(sum(got.values()), 1.0, "it sums to 1", SUM, given=given)


def _interpolate(tables: list[Counts], context: str, vocabulary: str, weight: float):
    p = dict.fromkeys(vocabulary, 1 / len(vocabulary))
    for n, counts in enumerate(tables, 1):
        if n - 1 > len(context):
            break
        row = _maximum_likelihood(counts, context[len(context) - (n - 1) :])
        if row:
            p = {s: weight * row.get(s, 0) + (1 - weight) * p[s] for s in vocabulary}
    return p


@lab.task(_interpolate)
def interpolate(trial: Trial) -> None:
    where = "Notebook 02, 'Interpolation'."
    tables = [_count_ngrams("abab", n) for n in (1, 2)]
    uniform = f"The lowest order mixes with 1 / V, V the size of the vocabulary. {where}"
    trial.equals(
        trial.call(tables[:1], "", "abc", 0.5),
        {"a": 0.5 / 2 + 0.5 / 3, "b": 0.5 / 2 + 0.5 / 3, "c": 0.5 / 3},
        "single characters mixed with the uniform distribution",
        uniform,
        given="counts of 'abab' with n = 1, vocabulary 'abc', weight 0.5",
    )
    lower = {"a": 0.5 / 2 + 0.5 / 3, "b": 0.5 / 2 + 0.5 / 3, "c": 0.5 / 3}
    trial.equals(
        trial.call(tables, "a", "abc", 0.5),
        {"a": 0.5 * lower["a"], "b": 0.5 + 0.5 * lower["b"], "c": 0.5 * lower["c"]},
        "pairs mixed with the mixture below",
        f"The longest context gets the weight, and all orders below it share 1 - weight. {where}",
        given="counts of 'abab' with n = 1 and 2, context 'a', vocabulary 'abc', weight 0.5",
    )
    trial.equals(
        trial.call(tables, "c", "abc", 0.5),
        lower,
        "a context never seen leaves the mixture below as it is",
        "Mixing with a distribution that is all zeros would lose half of the probability.",
        given="counts of 'abab' with n = 1 and 2, context 'c', vocabulary 'abc', weight 0.5",
    )
    tables = [_count_ngrams(trial.text(150, "abcd"), n) for n in (1, 2, 3, 4)]
    weight = trial.integer(1, 10) / 10
    for context in ("abcab", "ab", ""):
        given = f"random counts up to n = 4, context {context!r}, weight {weight}"
        got = trial.call(tables, context, "abcde", weight)
        expected = _interpolate(tables, context, "abcde", weight)
        newest = (
            "An n-gram's context is the last n - 1 characters; a shorter text has fewer orders."
        )
        trial.equals(got, expected, "random counts", newest, given=given)
        trial.equals(sum(got.values()), 1.0, "it sums to 1", where, given=given)


def _bits_per_character(predict: Callable[[str], Distribution], text: str, n: int) -> float:
    total = 0.0
    for i, symbol in enumerate(text):
        p = predict(text[max(0, i - n + 1) : i]).get(symbol, 0.0)
        if p == 0:
            return math.inf
        total -= math.log2(p)
    return total / len(text)


@lab.task(_bits_per_character)
def bits_per_character(trial: Trial) -> None:
    trial.equals(
        trial.call(lambda context: dict.fromkeys("abcdefgh", 1 / 8), "badcafe", 3),
        3.0,
        "eight equally likely characters cost 3 bits each",
        "Bits are logarithms to base 2, and the mean is over the characters; notebook 01.",
        given="a model of eight equally likely characters, 'badcafe', n = 3",
    )
    seen: list[str] = []

    def predict(context: str) -> Distribution:
        seen.append(context)
        return {"a": 0.5, "b": 0.25, "c": 0.25}

    trial.equals(
        trial.call(predict, "abca", 3),
        1.5,
        "the cost of what stands there",
        "Ask for the probability of the character that the text has, not of the likeliest one.",
        given="P(a) = 1/2, P(b) = P(c) = 1/4, the text 'abca', n = 3",
    )
    trial.equals(
        seen,
        ["", "a", "ab", "bc"],
        "each character is predicted from the n - 1 before it",
        "What may the model see when it predicts character i? Count on your fingers, at i = 0 too.",
        given="the contexts that your function asked for, for 'abca' with n = 3",
    )
    hint = "A symbol that is no key has probability 0, and log 0 is an error in Python."
    trial.equals(
        trial.call(lambda context: {"a": 1.0}, "ab", 2, hint=hint),
        math.inf,
        "an impossible character costs infinitely many bits",
        hint,
        given="P(a) = 1, the text 'ab'",
    )
    text = trial.text(40, "abc")
    p = (0.1 + torch.rand(3, generator=trial.generator)).tolist()
    model = {s: value / sum(p) for s, value in zip("abc", p, strict=True)}
    trial.equals(
        trial.call(lambda context: dict(model), text, 2),
        _bits_per_character(lambda context: model, text, 2),
        "a random text",
        "The mean over all characters of -log2 P(character | context).",
        given=text,
    )


def _sample_text(predict, length: int, n: int, uniform: Callable[[], float]) -> str:
    text = ""
    for _ in range(length):
        p = predict(text[max(0, len(text) - n + 1) :])
        u, chosen = uniform() * sum(p.values()), None
        for symbol, share in p.items():
            chosen = symbol if share > 0 else chosen
            u -= share
            if u < 0:
                break
        text += chosen
    return text


@lab.task(_sample_text)
def sample_text(trial: Trial) -> None:
    def uniform() -> float:
        return float(torch.rand(1, generator=trial.generator))

    seen: list[str] = []

    def cycle(context: str) -> Distribution:
        seen.append(context)
        return {"": {"a": 1.0}, "a": {"b": 1.0}, "b": {"c": 1.0}, "c": {"a": 1.0}}[context[-1:]]

    got = trial.call(cycle, 7, 3, uniform, given="a model that goes a, b, c, a, ...; 7 characters")
    trial.equals(
        got,
        "abcabca",
        "a certain model is followed",
        "Draw from the model's distribution after the text so far, and add what was drawn to it.",
        given="a model that goes a, b, c, a, ...; 7 characters, n = 3",
    )
    trial.equals(
        seen,
        ["", "a", "ab", "bc", "ca", "ab", "bc"],
        "the model is asked with the last n - 1 characters",
        "Of a text shorter than n - 1 the context is all there is; text[-0:] is the whole text.",
        given="the contexts that your function asked for, n = 3",
    )
    seen.clear()
    trial.call(lambda context: seen.append(context) or {"a": 1.0}, 3, 1, uniform, given="n = 1")
    trial.equals(
        seen,
        ["", "", ""],
        "with n = 1 the context is empty",
        "text[-0:] is the whole text.",
        given="the contexts that your function asked for, n = 1",
    )
    trial.equals(
        trial.call(cycle, 0, 3, uniform, given="length 0"), "", "length 0", EMPTY, given="length 0"
    )
    N, model = 4000, {"a": 0.5, "b": 0.3, "c": 0.2}
    counts = Counter(trial.call(lambda context: dict(model), N, 2, uniform, given="4,000 draws"))
    chi_square = sum((counts[s] - N * p) ** 2 / (N * p) for s, p in model.items())
    trial.holds(
        set(counts) <= set(model) and chi_square < 27.6,  # one in a million for two degrees
        "4,000 draws follow the distribution (chi-square)",
        "A uniform number u picks the first symbol at which the running sum exceeds u. Taking the "
        "likeliest one is no sampling.",
        given="P(a) = 0.5, P(b) = 0.3, P(c) = 0.2",
        got={s: counts[s] / N for s in sorted(counts)},
    )


def _choose(train: str, validation: str, vocabulary: str, orders, weights) -> tuple[int, float]:
    def bits(n: int, weight: float) -> float:
        tables = [_count_ngrams(train, order) for order in range(1, n + 1)]
        return _bits_per_character(
            lambda context: _interpolate(tables, context, vocabulary, weight), validation, n
        )

    return min(((n, w) for n in orders for w in weights), key=lambda pair: bits(*pair))


@lab.task(_choose)
def choose(trial: Trial) -> None:
    train = "the cat sat on the mat and the rat sat on the hat " * 6
    validation = "the rat on the mat sat and the cat "
    cases = [(train, validation)]
    cases.append((trial.text(400, "ab") + train, trial.text(60, "ab") + validation))
    for train, validation in cases:
        vocabulary = "".join(sorted(set(train)))
        orders, weights = [1, 2, 3, 5], [0.2, 0.9]
        hint = "Give the order first and then the weight, and hand back the pair."
        got = trial.call(
            train, validation, vocabulary, orders, weights, given="two short texts", hint=hint
        )
        trial.equals(
            got,
            _choose(train, validation, vocabulary, orders, weights),
            "the setting with the fewest bits on the validation text",
            "Count on the training text, measure on the other, and try every pair; the longest "
            "context is not the best one. Notebook 02, 'Which n?'.",
            given="two short texts, orders 1, 2, 3, 5, weights 0.2 and 0.9",
        )


def _kneser_ney(text: str, vocabulary: str, discount: float) -> dict[str, Distribution]:
    pairs = _count_ngrams(text, 2)
    before = Counter(symbol for row in pairs.values() for symbol in row)
    kinds = sum(before.values())
    p = {}
    for context in vocabulary:
        row = pairs.get(context, {})
        total = sum(row.values())
        free = discount * len(row) / total if total else 1.0
        p[context] = {
            s: (max(row.get(s, 0) - discount, 0) / total if total else 0) + free * before[s] / kinds
            for s in vocabulary
        }
    return p


@lab.task(_kneser_ney)
def kneser_ney(trial: Trial) -> None:
    where = "Notebook 02, 'Kneser-Ney'."
    text = "abacabad"
    got = trial.call(text, "abcd", 0.5)
    given = f"the text {text!r}, vocabulary 'abcd', discount 0.5"
    expected = _kneser_ney(text, "abcd", 0.5)
    trial.holds(
        _is_rows(got) and set(got) == set("abcd"),
        "one distribution for every symbol of the vocabulary as context",
        "The dictionary has a row for every context, also for one that nothing follows.",
        given=given,
        got=list(got) if isinstance(got, Mapping) else got,
        expected=list("abcd"),
    )
    for context in "abcd":
        if isinstance(got[context], Mapping) and got[context]:
            trial.equals(
                float(sum(got[context].values())),
                1.0,
                "every row sums to 1",
                "What the discounts take away, d times the number of different followers over the "
                f"context's count, is what the lower order shares out. {where}",
                given=f"{given}, context {context!r}",
            )
    kinds = (
        "The lower order asks after how many different characters a symbol stands, not how often "
        f"it occurs. {where}"
    )
    for name in ("d", "a"):
        rule = "a context never followed gets the lower order" if name == "d" else "by hand"
        trial.equals(got[name], expected[name], rule, kinds, given=f"{given}, context {name!r}")
    text, discount = trial.text(200, "abcdd"), trial.integer(1, 9) / 10
    got = trial.call(text, "abcde", discount)
    expected = _kneser_ney(text, "abcde", discount)
    given = f"a random text of 200 characters, discount {discount}"
    trial.equals(got, expected, "random text", kinds, given=given)


def leaderboard(
    make: Callable, train: str, text: str, vocabulary: str, seconds: float = 20
) -> None:
    """Bits per character of a model of the student's own: one number for the leaderboard.

    Args:
        make: (train, vocabulary) -> predict, and predict(text so far) -> distribution.
        train: what it may count on.
        text: what it is measured on.
        vocabulary: all characters.
        seconds: of processor time for making the model and predicting the text.
    """
    began, trial, bits = time.process_time(), Trial(make), 0.0
    try:
        predict = trial.call(train, vocabulary, given="the corpus", seconds=2 * seconds)
        for i, symbol in enumerate(text):
            p = trial.run(predict, text[:i], given="the text so far")
            if not math.isclose(sum(p.values()), 1, abs_tol=1e-6) or min(p.values()) < 0:
                raise Complaint("probabilities sum to 1", SUM)
            if p.get(symbol, 0) <= 0:
                raise Complaint("no character is impossible", "Leave every one a little.")
            bits -= math.log2(p[symbol])
            if time.process_time() - began > seconds:
                raise Complaint(
                    f"at most {seconds:g} s of processor time",
                    "Compute what does not change once, before the prediction.",
                )
    except Complaint as wrong:
        print(f"No number for the leaderboard: this does not hold: {wrong.rule}. {wrong.hint}")
        return
    except NotAttempted:
        print("○ The stretch task is not attempted yet.")
        return
    announce(bits / len(text), "bits per character")
