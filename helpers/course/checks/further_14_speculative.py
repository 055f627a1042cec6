"""Your turn with drafts: the rule of acceptance, and a round of speculative decoding."""

from functools import partial

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_14_speculative")


def pairs_of_distributions(draw):
    by_hand = torch.tensor([[0.5, 0.3, 0.2], [0.8, 0.1, 0.1]]).double()
    yield Case("by hand", *by_hand, given="p = (0.5, 0.3, 0.2), q = (0.8, 0.1, 0.1)")
    yield Case("any distributions", *draw.normal(2, 5).softmax(-1), given="random p and q (5,)")
    several = draw.normal(2, 3, 4).softmax(-1)
    yield Case("several at once", *several, given="random p and q (3, 4)")


@turn(
    turns,
    "Accepted is min(1, p/q), token by token. The residual is max(p - q, 0), divided by its sum "
    "over tokens.",
    cases=pairs_of_distributions,
    slips="""
    (p / q) => (q / p)
        The drafts come from q and are to be corrected towards p: which divides which?
    .clamp(max=1) =>
        A probability is at most 1: min(1, p/q).
    (p - q).clamp(min=0) => (q - p).clamp(min=0)
        The residual holds what q gives too little of: p - q, not q - p.
    (p - q).clamp(min=0) => (p - q).abs()
        Where q is larger than p nothing is missing: max(p - q, 0), not the absolute value.
    accept, missing / missing.sum(-1, keepdim=True) => accept, missing
        The residual is a distribution: divide it by its sum.
    accept, missing / missing.sum(-1, keepdim=True) => accept, p
        What is rejected is replaced from the residual, not from p again.
    missing / missing.sum(-1, keepdim=True) => missing / missing.sum()
        For several distributions at once, each has a sum of its own: sum(-1, keepdim=True).
    """,
)
def verify(p, q):
    """For p and q (..., V): the probability of accepting each drafted token; the residual."""
    accept = (p / q).clamp(max=1)
    missing = (p - q).clamp(min=0)
    return accept, missing / missing.sum(-1, keepdim=True)


def certain(answer, drafted, p, q):
    """The new tokens where chance decides nothing, with several generators."""
    found = []
    for seed in range(10):
        new = answer(list(drafted), p, q, torch.Generator().manual_seed(seed))
        found.append([int(token) for token in new])
    return found


def frequencies(answer, p, q, drafts, seed):
    """Which properties hold of the rounds with these pairs of drafts; all bounds are wide.

    They are more than four standard errors from what is expected, for 2,000 rounds.
    """

    def write(count):
        generator = torch.Generator().manual_seed(seed)
        return [[int(token) for token in answer(pair, p, q, generator)] for pair in drafts[:count]]

    def share(rounds, position, token):
        return sum(new[position] == token for new in rounds) / max(1, len(rounds))

    rounds = write(len(drafts))
    longest, rejected = ([new for new in rounds if len(new) == n] for n in (3, 1))
    first = [share(rounds, 0, token) - float(p[0, token]) for token in range(3)]
    return {
        "the same seed gives the same rounds": write(40) == rounds[:40],
        "half of the rejected first drafts become token 1": abs(share(rejected, 0, 1) - 0.5) < 0.08,
        "half of the tokens after two drafts are token 2": abs(share(longest, 2, 2) - 0.5) < 0.09,
        "the first token is distributed as p[0]": max(map(abs, first)) < 0.05,
        "both drafts stay in 0.6 · 0.6 of the rounds": abs(len(longest) / len(rounds) - 0.36)
        < 0.045,
    }


def judged(answer, kind, *arguments):
    return kind(answer, *arguments)


def rounds_of_drafts(draw):
    # Token 0 is rejected for certain where q and p are these, and the residual is all token 3's.
    one_q = torch.tensor([0.4, 0.2, 0.3, 0.1]).double()
    rejecting = torch.tensor([0.0, 0.2, 0.3, 0.5]).double()
    sure = torch.eye(4).double()  # as a draft such a token is accepted for certain
    for rule, drafted, p in (
        ("three sure drafts are accepted, one more is drawn", [1, 0, 2],
         [sure[1], sure[0], sure[2], sure[3]]),
        ("a draft that p forbids is replaced, the round ends", [0, 1, 2],
         [rejecting, sure[1], sure[2], sure[2]]),
        ("what was accepted before it stays", [1, 0, 2], [sure[1], rejecting, sure[2], sure[2]]),
        ("nothing follows a replaced last draft", [1, 2, 0],
         [sure[1], sure[2], rejecting, sure[1]]),
    ):  # fmt: skip
        given = f"drafted = {drafted}, ten seeds"
        yield Case(
            rule, certain, drafted, torch.stack(p), one_q.repeat(len(drafted), 1), given=given
        )
    q = torch.tensor([[0.6, 0.3, 0.1]] * 2).double()
    p = torch.tensor([[0.2, 0.5, 0.3], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]).double()
    drawn = torch.multinomial(q[0], 4_000, replacement=True, generator=draw.generator)
    pairs, seed = drawn.view(-1, 2).tolist(), draw.integer(0, 1000)
    given = "2,000 rounds of two drafts, V = 3"
    yield Case("chances are what they should be", frequencies, p, q, pairs, seed, given=given)


@turn(
    turns,
    "Go through the drafts, each with its rows of p and q. Draw a number between 0 and 1; below "
    "accept[x] the draft stays, otherwise one token from the residual ends the round. Who comes to "
    "the end draws one more, from p[-1].",
    cases=rounds_of_drafts,
    call=judged,
    uses={"verify", "partial"},
    slips="""
    torch.rand((), generator=generator) => torch.rand(())
        Draw all random numbers from the generator that is handed in: generator=generator.
    new = [] => new, u = [], torch.rand((), generator=generator) ;; \
    if torch.rand((), generator=generator) >= => if u >=
        Each draft is judged by a random number of its own. With one number for the whole round the
        drafts do not stay independently of each other.
    draw(residual) => residual.argmax()
        Which token replaces a rejected one is a matter of chance: draw it from the residual.
    draw(residual) => draw(p_x)
        What is rejected is replaced from the residual of its own position, not from p again.
    return [*new, int(draw(residual))] => return new
        What is rejected is replaced: one token from the residual.
    return [*new, int(draw(residual))] => return [int(draw(residual))]
        The drafts that were accepted before it belong to the new tokens.
    return [*new, int(draw(residual))] => x = int(draw(residual))
        With the first rejection the round ends: all later drafts are dropped.
    return [*new, int(draw(p[-1]))] => return new
        All drafts were accepted: the same pass gives one more token, drawn from p[-1].
    >= accept[x] => < accept[x]
        The draft is accepted if the random number is *below* accept[x].
    """,
)
def one_round(drafted, p, q, generator):
    """The new tokens: the drafts that are accepted, and one more. p (γ + 1, V), q (γ, V)."""
    draw = partial(torch.multinomial, num_samples=1, generator=generator)
    new = []
    for x, p_x, q_x in zip(drafted, p, q):
        accept, residual = verify(p_x, q_x)
        if torch.rand((), generator=generator) >= accept[x]:
            return [*new, int(draw(residual))]
        new.append(x)
    return [*new, int(draw(p[-1]))]
