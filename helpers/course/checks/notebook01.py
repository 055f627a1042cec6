"""Your turn with probabilities of texts: surprise, the chain rule, two losses, and a coder."""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook01")
Branches = Mapping[tuple[str, ...], Mapping[str, float]]  # beginning -> what may follow it

BRANCHES: dict[tuple[str, ...], dict[str, float]] = {
    (): {"a": 0.6, "b": 0.4},
    ("a",): {"b": 0.6, "■": 0.4},
    ("b",): {"a": 0.25, "b": 0.75},
    ("a", "b"): {"■": 1.0},
    ("b", "a"): {"b": 0.2, "■": 0.8},
    ("b", "b"): {"■": 1.0},
    ("b", "a", "b"): {"■": 1.0},
}


def _surprise(p: float) -> float:
    return -math.log2(p) if p > 0 else math.inf


@turns.task(_surprise)
def surprise(trial: Trial) -> None:
    hint = "How often must 1 be halved until p is left? The logarithm to base 2 says it."
    slips = [
        (lambda p: -math.log(p), "That is the natural logarithm, in nats: bits need base 2."),
        (lambda p: -math.log10(p), "That is the logarithm to base 10: bits need base 2."),
        (lambda p: math.log2(p), "The logarithm of a probability is negative: turn its sign."),
        (lambda p: 1 - p, "That falls steadily to 1; it does not add up over two events."),
        (lambda p: 1 / p, "That is the number of equal chances; how many halvings give it?"),
        (lambda p: -p * math.log2(p), "That is weighted by p already: here it has happened."),
        (lambda p: int(-math.log2(p)), "It need not be whole: hand back the number itself."),
    ]
    for p in (0.25, 1 / 8, 1.0, 0.3):
        rule = "each halving of p adds one bit"
        trial.agrees(_surprise, p, rule=rule, hint=hint, slips=slips, given=f"p = {p:g}")
    zero = "The logarithm of 0 is an error in Python: what is the limit? math.inf is infinity."
    rule = "the impossible has infinite surprise"
    trial.agrees(_surprise, 0.0, rule=rule, hint=zero, given="p = 0")
    p = trial.integer(1, 999) / 1000
    trial.agrees(_surprise, p, rule="it is right for any p", hint=hint, slips=slips)


def _chain(branches: Branches, tokens: Sequence[str]) -> float:
    p = 1.0
    for i, token in enumerate(tokens):
        p *= branches.get(tuple(tokens[:i]), {}).get(token, 0.0)
    return p


@turns.task(_chain)
def chain(trial: Trial) -> None:
    hint = (
        "Token i is looked up in the branches of all tokens before it, tokens[:i]; multiply what "
        f"you find. {see(1, 'A tree of texts, and the chain rule')}"
    )

    def factors(branches: Branches, tokens: Sequence[str]) -> list[float]:
        return [branches[tuple(tokens[:i])][token] for i, token in enumerate(tokens)]

    slips = [
        (lambda b, t: 1 + sum(factors(b, t)), "Probabilities along a path are multiplied."),
        (lambda b, t: sum(factors(b, t)), "Probabilities along a path are multiplied, not added."),
        (lambda b, t: factors(b, t)[-1], "That is the last branch alone: multiply all of them."),
        (lambda b, t: factors(b, t)[0], "That is the first branch alone: does the loop go on?"),
        (
            lambda b, t: math.prod(factors(b, t)[1:]),
            "The first token is drawn, too: its branches are those of the empty beginning, ().",
        ),
        (
            lambda b, t: math.prod(factors(b, t)[:-1]),
            "The last token is part of the path: go on to the end of tokens.",
        ),
        (
            lambda b, t: math.prod(factors(b, t)) ** (1 / len(t)),
            "That is the geometric mean of the branches: the product itself is asked for.",
        ),
        (
            lambda b, t: math.prod(b[tuple(t[max(0, i - 1) : i])][x] for i, x in enumerate(t)),
            "You look at the last token only; the tree branches by the whole beginning.",
        ),
        (
            lambda b, t: 0.0,
            "0 came out for a path that is in the tree: begin with p = 1, and look token i up in "
            "the branches of tokens[:i], which it is not part of.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for tokens in (("b", "a", "b"), ("b", "a", "■"), ("a",)):
        rule = "it is the product along the path"
        trial.agrees(_chain, BRANCHES, tokens, rule=rule, given=f"the path {tokens}", **look)
    gone = (
        "What is no key has probability 0: branches.get(beginning, {}) is an empty dictionary for "
        "a beginning that the tree lacks, and .get(token, 0) is 0 for a token that it lacks."
    )
    for tokens in (("a", "a"), ("a", "a", "b")):
        rule = "a path that is not in the tree has probability 0"
        trial.agrees(_chain, BRANCHES, tokens, rule=rule, hint=gone, given=f"the path {tokens}")
    listed = "A list cannot be a key of a dictionary: tuple(tokens[:i]) can."
    trial.agrees(
        _chain, BRANCHES, ["b", "a"], rule="the path may be a list", hint=listed, slips=slips
    )
    rule = "the empty beginning is certain"
    trial.agrees(_chain, BRANCHES, (), rule=rule, hint="A product without factors is 1.")
    first, second = trial.integer(1, 9) / 10, trial.integer(1, 9) / 10
    drawn = {(): {"x": first, "y": 1 - first}, ("x",): {"x": second, "■": 1 - second}}
    trial.agrees(_chain, drawn, ["x", "■"], rule="it is right for any tree", **look)


def _next_token_loss(z: Tensor, y: int) -> float:
    return float(torch.logsumexp(z, 0) - z[y])


@turns.task(_next_token_loss)
def next_token_loss(trial: Trial) -> None:
    hint = f"Minus the score of y, plus the logarithm of the sum of all e^z. {see(1, 'The loss')}"
    slips = [
        (lambda z, y: -z[y], "Scores are no log-probabilities yet: the sum over all is missing."),
        (lambda z, y: z[y] - torch.logsumexp(z, 0), "That is log softmax: turn its sign."),
        (lambda z, y: z.softmax(0)[y], "That is the probability; the loss is minus its logarithm."),
        (lambda z, y: _next_token_loss(z, y) / math.log(2), "That is in bits; nats are asked for."),
        (lambda z, y: -z[y] + z.exp().sum(), "The logarithm of the sum is missing."),
        (lambda z, y: -z[y] + z.sum(), "log and exp do not cancel across the sum: exp first."),
        (
            lambda z, y: torch.logsumexp(z, 0) - z.max(),
            "That is the loss of the likeliest token: y is the one that came.",
        ),
        (lambda z, y: float(torch.logsumexp(z, 0)), "The score of y is missing."),
        (lambda z, y: -(z[y] / z.sum()).log(), "Softmax divides e^z by the sum of e^z."),
    ]
    look = {"hint": hint, "slips": slips, "tolerance": 1e-4}
    z = torch.tensor([2.0, 1.0, -1.0])
    for y in (0, 2):
        given = f"z = {z.tolist()}, y = {y}"
        trial.agrees(_next_token_loss, z, y, rule="by hand", given=given, **look)
    drawn, y = 3 * trial.normal(7), trial.integer(0, 7)
    trial.agrees(_next_token_loss, drawn, y, rule="any scores", given="random scores", **look)
    large = "e to the power of 1000 is too large for a float: torch.logsumexp avoids it."
    given = "z = [1000, 998], y = 1"
    z = torch.tensor([1000.0, 998.0])
    rule = "large scores do no harm"
    trial.agrees(_next_token_loss, z, 1, rule=rule, hint=large, given=given, tolerance=1e-4)
    small = "The probability underflows to 0: keep the logarithm of the sum, and take z[y] from it."
    given = "z = [1000, 0], y = 1"
    z = torch.tensor([1000.0, 0.0])
    trial.agrees(_next_token_loss, z, 1, rule=rule, hint=small, given=given, tolerance=1e-4)


def _cross_entropy(p: Sequence[float], q: Sequence[float]) -> float:
    return sum(a * _surprise(b) for a, b in zip(p, q, strict=True) if a > 0)


@turns.task(_cross_entropy)
def cross_entropy(trial: Trial) -> None:
    hint = "The mean surprise under q, where each outcome weighs as much as p says."

    def raw(p: Sequence[float], q: Sequence[float]) -> float:
        return _cross_entropy(p, q)

    slips = [
        (lambda p, q: raw(q, p), "p says how often something comes, q is what the model believes."),
        (lambda p, q: raw(p, p), "That is the entropy of p: the surprises are those under q."),
        (lambda p, q: raw(q, q), "That is the entropy of q: outcomes come as often as p says."),
        (lambda p, q: raw(p, q) - raw(p, p), "That is the divergence: the entropy belongs to it."),
        (lambda p, q: raw(p, q) * math.log(2), "That is in nats: bits need the logarithm base 2."),
        (lambda p, q: -raw(p, q), "The sign is wrong: a surprise is never negative."),
        (
            lambda p, q: sum(map(_surprise, q)) / len(q),
            "That is the plain mean over the outcomes: weigh each of them with its p.",
        ),
        (lambda p, q: sum(map(_surprise, q)), "Each surprise is to be weighed with its p."),
        (lambda p, q: raw(p, q) / len(p), "The weights p sum to 1 already: do not divide again."),
    ]
    look = {"hint": hint, "slips": slips}
    p, q = [1 / 2, 1 / 4, 1 / 8, 1 / 8], [1 / 8, 1 / 2, 1 / 8, 1 / 4]
    rule = "it gives what the pencil gives"
    trial.agrees(_cross_entropy, p, q, rule=rule, given=f"p = {p}, q = {q}", **look)
    rule = "with q = p it is the entropy"
    trial.agrees(_cross_entropy, p, p, rule=rule, given=f"p = q = {p}", **look)
    never = "What never comes (p = 0) adds nothing, whatever q says of it: leave it out."
    p, q = [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]
    rule = "what never comes adds nothing"
    trial.agrees(_cross_entropy, p, q, rule=rule, hint=never, given=f"p = q = {p}")
    wrong = "What does come, and has q = 0, is infinitely surprising: surprise gives math.inf."
    rule = "what was held for impossible and comes makes it infinite"
    given = "p = [0.5, 0.5], q = [1, 0]"
    trial.agrees(_cross_entropy, [0.5, 0.5], [1.0, 0.0], rule=rule, hint=wrong, given=given)
    drawn = torch.softmax(trial.normal(2, 6), 1).tolist()
    rule, given = "any distributions", "random p and q"
    trial.agrees(_cross_entropy, *drawn, rule=rule, given=given, **look)


def _bits_per_byte(perplexity: float, tokens: int, text: str) -> float:
    return math.log2(perplexity) * tokens / len(text.encode("utf-8"))


@turns.task(_bits_per_byte)
def bits_per_byte(trial: Trial) -> None:
    hint = "How many bits has a token, how many the whole text? Then share them among the bytes."
    slips = [
        (
            lambda pp, n, t: math.log2(pp) * n / len(t),
            "That is per character: é is one character and two bytes. Encode the text first.",
        ),
        (
            lambda pp, n, t: math.log(pp) * n / len(t.encode()),
            "That is in nats: bits need the logarithm to base 2.",
        ),
        (
            lambda pp, n, t: math.log(pp) * n / len(t),
            "That is in nats and per character: bits need base 2, and bytes an encoded text.",
        ),
        (
            lambda pp, n, t: pp * n / len(t.encode()),
            "A perplexity is a number of choices: its logarithm to base 2 is the bits per token.",
        ),
        (lambda pp, n, t: math.log2(pp), "That is per token: how many tokens has a byte?"),
        (
            lambda pp, n, t: math.log2(pp) * len(t.encode()) / n,
            "Tokens over bytes, not the other way round: the whole text is bits times tokens.",
        ),
        (
            lambda pp, n, t: math.log2(pp) / len(t.encode()),
            "That is one token's bits: the whole text has as many times that as it has tokens.",
        ),
        (
            lambda pp, n, t: math.log2(pp) * n,
            "These are the bits of the whole text: share them among its bytes.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for perplexity, tokens, text in ((8.0, 2, "old boat"), (4.0, 3, "café")):
        given = f"perplexity {perplexity:g}, {tokens} tokens, {text!r}"
        rule = "it gives what the pencil gives"
        trial.agrees(_bits_per_byte, perplexity, tokens, text, rule=rule, given=given, **look)
    perplexity, tokens = trial.integer(3, 300) / 2, trial.integer(2, 9)
    given = f"perplexity {perplexity:g}, {tokens} tokens, 'θάλασσα'"
    trial.agrees(
        _bits_per_byte, perplexity, tokens, "θάλασσα", rule="any text", given=given, **look
    )


def _blend(row: Mapping[int, int], fallback: Sequence[float], m: float) -> list[float]:
    total = sum(row.values()) + m
    return [(row.get(symbol, 0) + m * q) / total for symbol, q in enumerate(fallback)]


@turns.task(_blend)
def blend(trial: Trial) -> None:
    hint = "To the count of each symbol add m times its fallback, then divide by the new total."

    def with_parts(part):
        return lambda row, f, m: [part(row.get(x, 0), q, m, row, f) for x, q in enumerate(f)]

    slips = [
        (
            with_parts(lambda c, q, m, row, f: c / sum(row.values())),
            "The fallback does not occur in it: a symbol never seen gets nothing.",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + m * q) / sum(row.values())),
            "m observations were added, but you divide by the old total.",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + q) / (sum(row.values()) + 1)),
            "That is m = 1: use the m that is given.",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + q) / (sum(row.values()) + m)),
            "Each symbol gets m times its fallback, not the fallback once.",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + m) / (sum(row.values()) + m * len(f))),
            "That gives the same to everybody; the fallback says who gets how much of m.",
        ),
        (
            with_parts(
                lambda c, q, m, row, f: (c + m * q) / (sum(row.values()) + m * len(f)),
            ),
            "The fallback sums to 1, so m times the fallback adds m to the total, not m times V.",
        ),
        (
            with_parts(lambda c, q, m, row, f: c + m * q),
            "These are counts with the m imaginary ones added: divide by their total.",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + m * q) / (sum(row.values()) + m) if c else 0.0),
            "A symbol that was never seen here gets its part of the m as well.",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + m * q) / (len(row) + m)),
            "len(row) counts kinds, sum(row) adds the symbols' numbers: sum(row.values()).",
        ),
        (
            with_parts(lambda c, q, m, row, f: (c + m * q) / (sum(row) + m)),
            "len(row) counts kinds, sum(row) adds the symbols' numbers: sum(row.values()).",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    row, fallback = Counter({0: 3, 2: 1}), [0.25, 0.5, 0.25]
    given = f"row {dict(row)}, fallback {fallback}, m = 4"
    rule = "it gives what the pencil gives"
    trial.agrees(_blend, row, fallback, 4.0, rule=rule, given=given, **look)
    given, rule = f"an empty row, fallback {fallback}, m = 2", "without a count the fallback is all"
    trial.agrees(_blend, Counter(), fallback, 2.0, rule=rule, given=given, **look)
    drawn = Counter(trial.integers(0, 5, 30).tolist())
    shares, m = torch.softmax(trial.normal(6), 0).tolist(), trial.integer(1, 20) / 2
    given = f"random counts, m = {m}"
    trial.agrees(_blend, drawn, shares, m, rule="any counts", given=given, **look)
    got = trial.call(drawn, shares, m, given=given, hint=hint)
    trial.equals(sum(got), 1.0, "it sums to 1", hint, given=given)


def _narrow(low: int, width: int, shares: Sequence[int], symbol: int) -> tuple[int, int]:
    return low * sum(shares) + width * sum(shares[:symbol]), width * shares[symbol]


@turns.task(_narrow)
def narrow(trial: Trial) -> None:
    hint = (
        "The new steps are finer by the total of the shares: low times the total, plus the width "
        "times all shares before the symbol; the new width is the width times its own share."
    )
    slips = [
        (
            lambda low, w, s, k: (low + w * sum(s[:k]), w * s[k]),
            "The steps become finer: low has to be counted in the new ones, too.",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + sum(s[:k]), s[k]),
            "The parts are parts of the old interval: multiply by its width.",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + w * sum(s[:k]), s[k]),
            "The new width is a part of the old width: multiply the two.",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + sum(s[:k]), w * s[k]),
            "What stands before the symbol takes its shares of the width: multiply.",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + w * sum(s[: k + 1]), w * s[k]),
            "The interval begins where the shares *before* the symbol end; its own is not skipped.",
        ),
        (
            lambda low, w, s, k: (
                low * sum(s) + w * sum(s[:k]),
                low * sum(s) + w * sum(s[: k + 1]),
            ),
            "That is where the new interval ends; its width is asked for.",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + w * sum(s[:k]), w * sum(s[: k + 1])),
            "The new width is that of the symbol's own part, not of all parts up to it.",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + w * sum(s[k:]), w * s[k]),
            "That adds the symbol and all after it: those before it are shares[:symbol].",
        ),
        (
            lambda low, w, s, k: (low * sum(s) + w * s[k], w * s[k]),
            "low moves by the shares of all symbols before this one, not by its own share.",
        ),
        (
            lambda low, w, s, k: (low + w * sum(s[:k]) // sum(s), w * s[k] // sum(s)),
            "Dividing rounds, and then the text cannot be read back: make the steps finer instead.",
        ),
        (
            lambda low, w, s, k: (low + w * sum(s[:k]) / sum(s), w * s[k] / sum(s)),
            "Dividing rounds after a few symbols: keep whole numbers, and make the steps finer.",
        ),
    ]
    typed = (
        lambda low, w, s, k: (low * 10 + w * sum(s[:k]), w * s[k]),
        "10 was the sum of the shares in the example: use sum(shares).",
    )
    look = {"hint": hint, "slips": slips}
    for low, width, symbol in ((0, 1, 1), (5, 3, 2), (50, 15, 0)):
        given = f"low = {low}, width = {width}, shares [5, 3, 2], symbol {symbol}"
        rule = "it gives what the pencil gives"
        trial.agrees(_narrow, low, width, [5, 3, 2], symbol, rule=rule, given=given, **look)
    given, rule = "low = 5, width = 3, shares [2, 1, 4], symbol 2", "the shares may have any sum"
    cut = [2, 1, 4]
    trial.agrees(_narrow, 5, 3, cut, 2, rule=rule, given=given, hint=hint, slips=[typed, *slips])
    shares, symbol = trial.integers(1, 9, 6).tolist(), trial.integer(0, 6)
    low, width = 7**50 + trial.integer(0, 1000), 5**40
    given = f"numbers of forty digits and more, shares {shares}, symbol {symbol}"
    rule = "large numbers stay exact"
    whole = "Is there a float in between? Those have 16 digits only: use whole numbers throughout."
    got = trial.call(low, width, shares, symbol, given=given, hint=hint)
    expected = _narrow(low, width, shares, symbol)
    trial.holds(list(got) == list(expected), rule, whole, given=given, got=got, expected=expected)


def _symbol_at(position: int, shares: Sequence[int]) -> int:
    return bisect(list(accumulate(shares)), position)


@turns.task(_symbol_at)
def symbol_at(trial: Trial) -> None:
    hint = "Go through the shares, and ask for each whether the position lies before its end."

    def first(shares: Sequence[int], found: Callable[[int, int], bool]) -> int | None:
        ends = list(accumulate(shares))
        return next((k for k in range(len(shares)) if found(k, ends[k])), None)

    slips = [
        (
            lambda x, s: first(s, lambda k, end: x <= end),
            "The end of a part belongs to the next symbol already: < and not <=.",
        ),
        (
            lambda x, s: first(s, lambda k, end: x < s[k]),
            "The parts lie one behind the other: what has been passed is taken off the position.",
        ),
        (
            lambda x, s: _symbol_at(x, s) + 1,
            "Symbols are counted from 0, so that is one too many.",
        ),
        (
            lambda x, s: s[_symbol_at(x, s)],
            "That is the share of the symbol: its number is asked for.",
        ),
        (
            lambda x, s: x - sum(s[: _symbol_at(x, s)]),
            "That is the position inside the part: the number of the symbol is asked for.",
        ),
        (
            lambda x, s: s.index(s[_symbol_at(x, s)]),
            "list.index finds the first share of this size: count the symbols with enumerate.",
        ),
        (
            lambda x, s: max(range(len(s)), key=lambda k: s[k]),
            "That is the likeliest symbol, wherever the position lies.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    given, rule = "position 8, shares [4, 5, 2, 9]", "it finds the part"
    trial.agrees(_symbol_at, 8, [4, 5, 2, 9], rule=rule, given=given, **look)
    for position in (6, 0, 4, 5, 7, 8, 9):
        given, rule = f"position {position}, shares [5, 3, 2]", "it finds the part"
        trial.agrees(_symbol_at, position, [5, 3, 2], rule=rule, given=given, **look)
    given, rule = "position 6, shares [2, 3, 2]", "shares may be equal"
    trial.agrees(_symbol_at, 6, [2, 3, 2], rule=rule, given=given, **look)
    shares = trial.integers(1, 9, 8).tolist()
    for position in (trial.integer(0, sum(shares)), sum(shares) - 1):
        given = f"position {position}, shares {shares}"
        trial.agrees(_symbol_at, position, shares, rule="any shares", given=given, **look)
