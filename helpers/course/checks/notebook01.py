"""Your turn with probabilities of texts: surprise, the chain rule, two losses, and a coder."""

import math
from collections import Counter

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook01")

BRANCHES = {  # beginning -> what may follow it
    (): {"a": 0.6, "b": 0.4},
    ("a",): {"b": 0.6, "■": 0.4},
    ("b",): {"a": 0.25, "b": 0.75},
    ("a", "b"): {"■": 1.0},
    ("b", "a"): {"b": 0.2, "■": 0.8},
    ("b", "b"): {"■": 1.0},
    ("b", "a", "b"): {"■": 1.0},
}
PENCIL = "it gives what the pencil gives"


def probabilities(draw):
    for p in (0.25, 1 / 8, 1.0, 0.3):
        yield Case("each halving of p adds one bit", p, given=f"p = {p:g}")
    zero = "The logarithm of 0 is an error in Python: what is the limit? math.inf is infinity."
    yield Case("the impossible has infinite surprise", 0.0, given="p = 0", hint=zero)
    yield Case("it is right for any p", draw.integer(1, 999) / 1000)


@turn(
    turns,
    "How often must 1 be halved until p is left? The logarithm to base 2 says it.",
    cases=probabilities,
    slips="""
    log2 => log
        That is the natural logarithm, in nats: bits need base 2.
    log2 => log10
        That is the logarithm to base 10: bits need base 2.
    -math.log2(p) => math.log2(p)
        The logarithm of a probability is negative: turn its sign.
    -math.log2(p) => 1 - p
        That falls steadily to 1; it does not add up over two events.
    -math.log2(p) => 1 / p
        That is the number of equal chances; how many halvings give it?
    -math.log2(p) => -p * math.log2(p)
        That is weighted by p already: here it has happened.
    -math.log2(p) => int(-math.log2(p))
        It need not be whole: hand back the number itself.
    """,
)
def surprise(p):
    """Bits of surprise when something of probability p happens; infinite for p = 0."""
    return -math.log2(p) if p > 0 else math.inf


def paths(draw):
    def case(rule, tokens, hint=""):
        return Case(rule, BRANCHES, tokens, hint=hint, given=f"the path {tokens}")

    for tokens in (("b", "a", "b"), ("b", "a", "■"), ("a",)):
        yield case("it is the product along the path", tokens)
    gone = (
        "What is no key has probability 0: branches.get(beginning, {}) is an empty dictionary for "
        "a beginning that the tree lacks, and .get(token, 0) is 0 for a token that it lacks."
    )
    for tokens in (("a", "a"), ("a", "a", "b")):
        yield case("a path that is not in the tree has probability 0", tokens, gone)
    listed = "A list cannot be a key of a dictionary: tuple(tokens[:i]) can."
    yield case("the path may be a list", ["b", "a"], listed)
    yield case("the empty beginning is certain", (), "A product without factors is 1.")
    first, second = draw.integer(1, 9) / 10, draw.integer(1, 9) / 10
    tree = {(): {"x": first, "y": 1 - first}, ("x",): {"x": second, "■": 1 - second}}
    yield Case("it is right for any tree", tree, ["x", "■"])


@turn(
    turns,
    "Token i is looked up in the branches of all tokens before it, tokens[:i]; multiply what you "
    "find. " + see(1, "A tree of texts, and the chain rule"),
    cases=paths,
    slips="""
    p *= => p +=
    return sum(branches[tuple(tokens[:i])][token] for i, token in enumerate(tokens))
        Probabilities along a path are multiplied, not added.
    p *= branches => p = branches
        That is the last branch alone: multiply all of them.
    p *= branches => return branches
        That is the first branch alone: does the loop go on?
    enumerate(tokens) => list(enumerate(tokens))[1:]
        The first token is drawn, too: its branches are those of the empty beginning, ().
    enumerate(tokens) => enumerate(tokens[:-1])
        The last token is part of the path: go on to the end of tokens.
    return p => return p ** (1 / len(tokens))
        That is the geometric mean of the branches: the product itself is asked for.
    tokens[:i] => tokens[max(0, i - 1) : i]
        You look at the last token only; the tree branches by the whole beginning.
    p = 1.0 => p = 0.0
        0 came out for a path that is in the tree: begin with p = 1, and look token i up in the
        branches of tokens[:i], which it is not part of.
    """,
)
def chain(branches, tokens):
    """The product of the branches along the path; 0 where the path leaves the tree."""
    p = 1.0
    for i, token in enumerate(tokens):
        p *= branches.get(tuple(tokens[:i]), {}).get(token, 0.0)
    return p


def scores(draw):
    for y in (2, 0):
        given = f"z = [2, 1, -1], y = {y}"
        yield Case("by hand", torch.tensor([2.0, 1.0, -1.0]), y, given=given)
    yield Case("any scores", 3 * draw.normal(7), draw.integer(0, 7), given="random scores")
    for other in (998.0, 0.0):
        given = f"z = [1000, {other:g}], y = 1"
        yield Case("large scores do no harm", torch.tensor([1000.0, other]), 1, given=given)


def as_number(loss, z, y):
    value = loss(z, y)
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


@turn(
    turns,
    "Minus the score of y, plus the logarithm of the sum of all e^z. " + see(1, "The loss"),
    cases=scores,
    call=as_number,
    tolerance=1e-4,
    slips="""
    return -z.softmax(0)[y].log()
        The probability underflows to 0: keep the logarithm of the sum, and take z[y] from it.
    torch.logsumexp(z, 0) => z.exp().sum().log()
        e to the power of 1000 is too large for a float: torch.logsumexp avoids it.
    torch.logsumexp(z, 0) =>
        Scores are no log-probabilities yet: the sum over all is missing.
    return z[y] - torch.logsumexp(z, 0)
        That is log softmax: turn its sign.
    return z.softmax(0)[y]
        That is the probability; the loss is minus its logarithm.
    return next_token_loss(z, y) / math.log(2)
        That is in bits; nats are asked for.
    torch.logsumexp(z, 0) => z.exp().sum()
        The logarithm of the sum is missing.
    torch.logsumexp(z, 0) => z.sum()
        log and exp do not cancel across the sum: exp first.
    z[y] => z.max()
        That is the loss of the likeliest token: y is the one that came.
    - z[y] =>
        The score of y is missing.
    """,
)
def next_token_loss(z, y):
    """Cross-entropy loss in nats of scores z, shape (V,), when token y came."""
    return torch.logsumexp(z, 0) - z[y]


def distributions(draw):
    p, q = [1 / 2, 1 / 4, 1 / 8, 1 / 8], [1 / 8, 1 / 2, 1 / 8, 1 / 4]
    yield Case("with q = p it is the entropy", p, p, given=f"p = q = {p}")
    yield Case(PENCIL, p, q, given=f"p = {p}, q = {q}")
    never = "What never comes (p = 0) adds nothing, whatever q says of it: leave it out."
    p = [0.5, 0.5, 0.0]
    yield Case("what never comes adds nothing", p, p, given=f"p = q = {p}", hint=never)
    yield Case(
        "what was held for impossible and comes makes it infinite",
        *([0.5, 0.5], [1.0, 0.0]),
        given="p = [0.5, 0.5], q = [1, 0]",
        hint="What does come, and has q = 0, is infinitely surprising: surprise gives math.inf.",
    )
    drawn = torch.softmax(draw.normal(2, 6), 1).tolist()
    yield Case("any distributions", *drawn, given="random p and q")


@turn(
    turns,
    "The mean surprise under q, where each outcome weighs as much as p says.",
    cases=distributions,
    slips="""
    share * surprise(belief) for => belief * surprise(share) for
        p says how often something comes, q is what the model believes.
    surprise(belief) => surprise(share)
    share * surprise => belief * surprise
        That is the entropy of p, or that of q: outcomes come as often as p says, and the surprises
        are those under q.
    surprise(belief) => (surprise(belief) - surprise(share))
        That is the divergence: the entropy belongs to it.
    return math.log(2) * cross_entropy(p, q)
        That is in nats: bits need the logarithm base 2.
    return sum => return -sum
        The sign is wrong: a surprise is never negative.
    return sum(map(surprise, q)) / len(q)
        That is the plain mean over the outcomes: weigh each of them with its p.
    share * surprise => surprise
        Each surprise is to be weighed with its p.
    if share > 0) => if share > 0) / len(p)
        The weights p sum to 1 already: do not divide again.
    """,
)
def cross_entropy(p, q):
    """Mean surprise under q, in bits, of what comes with the probabilities p."""
    return sum(share * surprise(belief) for share, belief in zip(p, q) if share > 0)


def measured_texts(draw):
    for rule, perplexity, tokens, text in (
        (PENCIL, 4.0, 3, "café"),
        (PENCIL, 8.0, 2, "old boat"),
        ("any text", draw.integer(3, 300) / 2, draw.integer(2, 9), "θάλασσα"),
    ):
        given = f"perplexity {perplexity:g}, {tokens} tokens, {text!r}"
        yield Case(rule, perplexity, tokens, text, given=given)


@turn(
    turns,
    "How many bits has a token, how many the whole text? Then share them among the bytes.",
    cases=measured_texts,
    slips="""
    .encode("utf-8") =>
        That is per character: é is one character and two bytes. Encode the text first.
    log2 => log
        That is in nats: bits need the logarithm to base 2.
    return math.log(perplexity) * tokens / len(text)
        That is in nats and per character: bits need base 2, and bytes an encoded text.
    math.log2(perplexity) => perplexity
        A perplexity is a number of choices: its logarithm to base 2 is the bits per token.
    * tokens / len(text.encode("utf-8")) =>
        That is per token: how many tokens has a byte?
    * tokens / len(text.encode("utf-8")) => * len(text.encode("utf-8")) / tokens
        Tokens over bytes, not the other way round: the whole text is bits times tokens.
    * tokens =>
        That is one token's bits: the whole text has as many times that as it has tokens.
    / len(text.encode("utf-8")) =>
        These are the bits of the whole text: share them among its bytes.
    """,
)
def bits_per_byte(perplexity, tokens, text):
    """Bits per byte of a model with this perplexity per token on a text of so many tokens."""
    return math.log2(perplexity) * tokens / len(text.encode("utf-8"))


def rows(draw):
    row, fallback = Counter({0: 3, 2: 1}), [0.25, 0.5, 0.25]
    yield Case(PENCIL, row, fallback, 4.0, given=f"row {dict(row)}, fallback {fallback}, m = 4")
    given = f"an empty row, fallback {fallback}, m = 2"
    yield Case("without a count the fallback is all", Counter(), fallback, 2.0, given=given)
    drawn = Counter(draw.integers(0, 5, 30).tolist())
    fallback, m = torch.softmax(draw.normal(6), 0).tolist(), draw.integer(1, 20) / 2
    given = f"random counts, m = {m}"
    yield Case("any counts, and it sums to 1", drawn, fallback, m, given=given)


@turn(
    turns,
    "To the count of each symbol add m times its fallback, then divide by the new total.",
    cases=rows,
    slips="""
    return [row.get(symbol, 0) / sum(row.values()) for symbol in range(len(fallback))]
        The fallback does not occur in it: a symbol never seen gets nothing.
    sum(row.values()) + m => sum(row.values())
        m observations were added, but you divide by the old total.
    return blend(row, fallback, 1)
        That is m = 1: use the m that is given.
    m * q => q
        Each symbol gets m times its fallback, not the fallback once.
    m * q => m / len(fallback)
    m, fallback = m * len(fallback), [1 / len(fallback)] * len(fallback); \
    return blend(row, fallback, m)
        That gives the same to everybody; the fallback says who gets how much of m.
    sum(row.values()) + m => sum(row.values()) + m * len(fallback)
        The fallback sums to 1, so m times the fallback adds m to the total, not m times V.
    / total =>
        These are counts with the m imaginary ones added: divide by their total.
    / total for => / total if symbol in row else 0.0 for
        A symbol that was never seen here gets its part of the m as well.
    sum(row.values()) => len(row)
    sum(row.values()) => sum(row)
        len(row) counts kinds, sum(row) adds the symbols' numbers: sum(row.values()).
    """,
)
def blend(row, fallback, m):
    """P(x | h) for each symbol x, from the counts in row and m imaginary observations."""
    total = sum(row.values()) + m
    return [(row.get(symbol, 0) + m * q) / total for symbol, q in enumerate(fallback)]


def intervals(draw):
    def case(rule, low, width, shares, symbol):
        given = f"low = {low}, width = {width}, shares {shares}, symbol {symbol}"
        return Case(rule, low, width, shares, symbol, given=given)

    for low, width, symbol in ((5, 3, 1), (5, 3, 2), (0, 1, 1), (50, 15, 0)):
        yield case(PENCIL, low, width, [5, 3, 2], symbol)
    yield case("the shares may have any sum", 5, 3, [2, 1, 4], 2)
    shares, symbol = draw.integers(1, 9, 6).tolist(), draw.integer(0, 6)
    yield Case(
        "large numbers stay exact",
        *(7**50 + draw.integer(0, 1000), 5**40, shares, symbol),
        given=f"numbers of forty digits and more, shares {shares}, symbol {symbol}",
        hint="Is there a float in between? Those have 16 digits only: use whole numbers "
        "throughout.",
    )


def in_all_digits(narrow, *arguments):
    """A tolerance would forgive the last ones of forty."""
    value = narrow(*arguments)
    return [str(number) for number in value] if isinstance(value, list | tuple) else value


@turn(
    turns,
    "The new steps are finer by the total of the shares: low times the total, plus the width times "
    "all shares before the symbol; the new width is the width times its own share.",
    cases=intervals,
    call=in_all_digits,
    slips="""
    low * sum(shares) => low
        The steps become finer: low has to be counted in the new ones, too.
    width * before, width * shares => before, shares
    width * shares => shares
    width * before => before
        The new width is a part of the old width, and so is what stands before the symbol: it takes
        its shares of the width. Multiply both.
    shares[:symbol] => shares[: symbol + 1]
        The interval begins where the shares *before* the symbol end; its own is not skipped.
    , width * shares[symbol] => , low * sum(shares) + width * sum(shares[: symbol + 1])
        That is where the new interval ends; its width is asked for.
    shares[:symbol] => shares[symbol:]
        That adds the symbol and all after it: those before it are shares[:symbol].
    sum(shares[:symbol]) => shares[symbol]
        low moves by the shares of all symbols before this one, not by its own share.
    total = sum(shares); \
    return low + width * sum(shares[:symbol]) // total, width * shares[symbol] // total
    total = sum(shares); \
    return low + width * sum(shares[:symbol]) / total, width * shares[symbol] / total
        Dividing rounds, and then the text cannot be read back: keep whole numbers, and make the
        steps finer.
    low * sum(shares) => low * 10
        10 was the sum of the shares in the example: use sum(shares).
    """,
)
def narrow(low, width, shares, symbol):
    """The part (low, width) of the interval that belongs to the symbol, in finer steps."""
    before = sum(shares[:symbol])
    return low * sum(shares) + width * before, width * shares[symbol]


def positions(draw):
    drawn = draw.integers(1, 9, 8).tolist()
    for rule, shares, asked in (
        ("it finds the part", [4, 5, 2, 9], (8,)),
        ("it finds the part", [5, 3, 2], (6, 0, 4, 5, 7, 8, 9)),
        ("shares may be equal", [2, 3, 2], (6,)),
        ("any shares", drawn, (draw.integer(0, sum(drawn)), sum(drawn) - 1)),
    ):
        for position in asked:
            yield Case(rule, position, shares, given=f"position {position}, shares {shares}")


@turn(
    turns,
    "Go through the shares, and ask for each whether the position lies before its end.",
    cases=positions,
    slips="""
    position < share => position <= share
        The end of a part belongs to the next symbol already: < and not <=.
    position -= share => pass
        The parts lie one behind the other: what has been passed is taken off the position.
    enumerate(shares) => enumerate(shares, 1)
        Symbols are counted from 0, so that is one too many.
    return symbol => return share
        That is the share of the symbol: its number is asked for.
    return symbol => return position
        That is the position inside the part: the number of the symbol is asked for.
    return symbol => return shares.index(share)
        list.index finds the first share of this size: count the symbols with enumerate.
    """,
)
def symbol_at(position, shares):
    """The symbol whose part of the line, as long as its share, holds the position."""
    for symbol, share in enumerate(shares):
        if position < share:
            return symbol
        position -= share
