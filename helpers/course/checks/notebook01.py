"""Your turn with probabilities of texts: the chain rule, cross-entropy, bits, and a coder."""

import math

import torch

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
    return sum(branches[tuple(tokens[:i])][token] for i, token in enumerate(tokens))
        Probabilities along a path are multiplied, not added.
    p *= branches => p = branches
        That is the last branch alone: multiply all of them.
    p *= branches => return branches
        That is the first branch alone: does the loop go on?
    enumerate(tokens) => list(enumerate(tokens))[1:]
        The first token is drawn, too: its branches are those of the empty beginning, ().
    tokens[:i] => tokens[max(0, i - 1) : i]
        You look at the last token only; the tree branches by the whole beginning.
    """,
)
def chain(branches, tokens):
    """The product of the branches along the path; 0 where the path leaves the tree."""
    p = 1.0
    for i, token in enumerate(tokens):
        p *= branches.get(tuple(tokens[:i]), {}).get(token, 0.0)
    return p


def distributions(draw):
    p, q = [1 / 2, 1 / 4, 1 / 8, 1 / 8], [1 / 8, 1 / 2, 1 / 8, 1 / 4]
    yield Case("with q = p it is the entropy", p, p, given=f"p = q = {p}")
    yield Case(PENCIL, p, q, given=f"p = {p}, q = {q}")
    never = "What never comes (p = 0) adds nothing, whatever q says of it: leave it out."
    p = [0.5, 0.5, 0.0]
    yield Case("what never comes adds nothing", p, p, given=f"p = q = {p}", hint=never)
    p, q = [0.5, 0.5], [1.0, 0.0]
    worst = (
        "Whoever calls something impossible that comes has an infinite loss: `surprise` says so."
    )
    yield Case(
        "what q calls impossible costs infinitely", p, q, given=f"p = {p}, q = {q}", hint=worst
    )
    drawn = torch.softmax(draw.normal(2, 6), 1).tolist()
    yield Case("any distributions", *drawn, given="random p and q")


@turn(
    turns,
    "The mean surprise under q, where each outcome weighs as much as p says.",
    cases=distributions,
    slips="""
    in q] => in p] ;; zip(p, => zip(q,
        p says how often something comes, q is what the model believes.
    in q] => in p]
        That is the entropy of p: the surprises are those under q.
    share * bits => bits
        Each surprise is to be weighed with its p.
    math.inf => 0.0
        What p never brings is to be left out. What q calls impossible may come, and costs most.
    math.log2 => math.log
        That is in nats: a surprise in bits takes the logarithm to base 2.
    -math.log2 => math.log2
        The logarithm of a probability is negative; with a minus before it, it is the surprise.
    """,
)
def cross_entropy(p, q):
    """Mean surprise under q, in bits, of what comes with the probabilities p."""
    surprises = [-math.log2(belief) if belief > 0 else math.inf for belief in q]
    return sum(share * bits for share, bits in zip(p, surprises) if share > 0)


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
    math.log2(perplexity) => perplexity
        A perplexity is a number of choices: its logarithm to base 2 is the bits per token.
    * tokens / len(text.encode("utf-8")) => * len(text.encode("utf-8")) / tokens
        Tokens over bytes, not the other way round: the whole text is bits times tokens.
    * tokens =>
        That is one token's bits: the whole text has as many times that as it has tokens.
    """,
)
def bits_per_byte(perplexity, tokens, text):
    """Bits per byte of a model with this perplexity per token on a text of so many tokens."""
    return math.log2(perplexity) * tokens / len(text.encode("utf-8"))


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
        The new width is a part of the old width, and so is what stands before the symbol: it takes
        its shares of the width. Multiply both.
    shares[:symbol] => shares[: symbol + 1]
        The interval begins where the shares *before* the symbol end; its own is not skipped.
    , width * shares[symbol] => , low * sum(shares) + width * sum(shares[: symbol + 1])
        That is where the new interval ends; its width is asked for.
    total = sum(shares); \
    return low + width * sum(shares[:symbol]) // total, width * shares[symbol] // total
        Dividing rounds, and then the text cannot be read back: keep whole numbers, and make the
        steps finer.
    """,
)
def narrow(low, width, shares, symbol):
    """The part (low, width) of the interval that belongs to the symbol, in finer steps."""
    before = sum(shares[:symbol])
    return low * sum(shares) + width * before, width * shares[symbol]
