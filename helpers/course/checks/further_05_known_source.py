"""Your turn with a known source: a belief that is updated, and what a network reads in training."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_05_known_source")


def beliefs(draw):
    A = torch.tensor([[0.5, 0.5], [0.2, 0.8]], dtype=torch.double)
    B = torch.tensor([[0.9, 0.1], [0.3, 0.7]], dtype=torch.double)
    half = torch.tensor([0.5, 0.5], dtype=torch.double)
    for x in (0, 1):
        yield Case("two states, by hand", half, x, A, B)
    for states in (3, 4):
        p, A, B = (draw.normal(*s).softmax(-1) for s in ((states,), (states, states), (states, 3)))
        yield Case("it is right for any model", p, draw.integer(0, 3), A, B)


@turn(
    turns,
    "Multiply the belief by how likely each state emits x, divide by the sum, and let every state "
    "move on by its row of A.",
    cases=beliefs,
    slips="""
    (seen / seen.sum()) => seen
        These numbers do not sum to 1: after multiplying by B[:, x], divide by the sum.
    (seen / seen.sum()) @ A => seen / seen.sum()
        That is the belief about the state which emitted x; it still has to move on, by A.
    belief * B[:, x] => belief
        The symbol x is not used: which states could have emitted it?
    (seen / seen.sum()) @ A => A @ (seen / seen.sum())
        Row i of A says where state i goes: the belief stands on the left of A.
    belief * B[:, x] => (belief @ A) * B[:, x] ;; (seen / seen.sum()) @ A => seen / seen.sum()
        You move first and look at x afterwards: x comes from the state before the move.
    """,
)
def update_belief(belief, x, A, B):
    """The belief (S,) about the next state, after reading x; A (S, S) moves, B (S, V) emits."""
    seen = belief * B[:, x]
    return (seen / seen.sum()) @ A


def rows_and_coins(draw):
    true, own = torch.tensor([0, 1, 2, 3]), torch.tensor([4, 5, 6, 7])
    coins = torch.tensor([0.1, 0.8, 0.3, 0.6])
    yield Case("a coin for each row", true, own, 0.5, coins)
    yield Case("epsilon 1: the true ones", true, own, 1.0, coins)
    yield Case("epsilon 0: the own ones", true, own, 0.0, coins)
    drawn = torch.rand(20, generator=draw.generator)
    yield Case("any coins", draw.integers(0, 9, 20), draw.integers(0, 9, 20), 0.7, drawn)


@turn(
    turns,
    "Where the coin of a row, one of those that are handed in, is below epsilon, the true symbol "
    "is read, elsewhere the own.",
    cases=rows_and_coins,
    slips="""
    true, own) => own, true)
        It is turned round: epsilon is the probability of the true symbol.
    torch.where(coins < epsilon, true, own) => true
        Every row reads the true symbol: that is teacher forcing. Each row has its own coin.
    torch.where(coins < epsilon, true, own) => own
        Every row reads its own symbol; each row has its own coin.
    torch.where(coins < epsilon, true, own) => epsilon * true + (1 - epsilon) * own
        Symbols cannot be mixed: choose one of the two for each row.
    """,
)
def next_inputs(true, own, epsilon, coins):
    """What the rows of a batch read next, (B,): true (B,) with probability epsilon, else own."""
    return torch.where(coins < epsilon, true, own)
