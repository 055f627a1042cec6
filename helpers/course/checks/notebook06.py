"""Your turn with parentheses: the rule, a wrong colour, a shortcut, and a mistake of one's own."""

from itertools import product
from typing import Any

import torch

from helpers.course.checks.describing import describe
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Complaint
from helpers.course.checks.turn import Case, turn
from helpers.data import parentheses
from helpers.data.parentheses import sample_balanced

turns = Lab("notebook06")


def truth(said: Any, given: str) -> bool:
    """True, False, 1, 0 and tensors of one element will do."""
    if getattr(said, "ndim", None) == 0 or (isinstance(said, torch.Tensor) and said.numel() == 1):
        said = said.item()  # of PyTorch or numpy
    if not isinstance(said, bool | int) or said not in (0, 1):
        words = f"True or False is asked for, and this is {describe(said)}."
        hint = NOTHING if said is None else words
        raise Complaint("it says True or False", hint, given=given, got=describe(said))
    return bool(said)


def lengths(_):
    for longest in (2, 4, 6):
        given = f"all sequences of up to {longest} symbols"
        yield Case("it picks the balanced ones", longest, given=given)


def picked(answer, longest):
    """The sequences of at most this length that are called balanced, in brackets."""
    steps = [list(x) for n in range(1, longest + 1) for x in product((1, -1), repeat=n)]
    found = [x for x in steps if truth(answer(list(x)), str(x))]
    return ["".join("(" if step == 1 else ")" for step in x) for x in found]


@turn(
    turns,
    "A closing needs something that is open, at every step on the way, and nothing may be open at "
    f"the end. {see(6, 'A puzzle')}",
    cases=lengths,
    call=picked,
    slips="""
    return sum(steps) == 0
        You look at the end of the path alone; where does it go on the way?
    return steps[0] == 1 and sum(steps) == 0
        The path may begin well and go below 0 later.
    height += step => height -= step
        1 opens and -1 closes: which of them raises the height?
    return height == 0 => return True
        Nothing may be left open at the end, either.
    height < 0 => height <= 0
        The path may touch 0 on its way, and ends there; it must not go below. What comes back is
        known for sure only behind the last step.
    return steps[0] == 1 and steps[-1] == -1
        The first and the last symbol alone do not tell: what about those between them?
    """,
)
def walk_is_balanced(steps):
    """Whether a list of 1 (opening) and -1 (closing) is balanced: True or False."""
    height = 0
    for step in steps:
        height += step
        if height < 0:
            return False
    return height == 0


def colours_to_change(draw):
    x = parentheses.tokens("([{}<>])").tolist()
    yield Case("an opening, one further on", x, 1, 1)
    yield Case("a closing, one further on", x, 6, 1)
    yield Case("behind the last of a half comes its first", [0, 9], 1, 1)
    yield Case("behind the last of a half comes its first", [4, 5], 0, 1)
    yield Case("behind the last of a half comes its first", [0, 8], 1, 4)
    yield Case("behind the last of a half comes its first", [3, 5], 0, 4)
    for length in (6, 20):
        (x,) = sample_balanced(1, length, draw.generator).tolist()
        yield Case(
            "any symbol, any number of steps", x, draw.integer(0, length), draw.integer(2, 5)
        )


@turn(
    turns,
    "Count from the first symbol of this half, which is 0 for openings and 5 for closings; % 5 "
    f"begins anew behind the last. {see(6, 'But did it learn?')}",
    cases=colours_to_change,
    slips="""
    first + (x[t] - first + k) % 5 => x[t] + k
        Behind the last of a half comes its first: 4 becomes 0, and 9 becomes 5.
    first + (x[t] - first + k) % 5 => first + (x[t] - first + (k if x[t] <= 4 else -k)) % 5
        You count colours, which closings have in the opposite order. Here count symbols: 5, 6, 7,
        8, 9, and 5 again.
    first + (x[t] - first + k) % 5 => (x[t] + k) % 10
        An opening must stay an opening, and a closing a closing.
    first + (x[t] - first + k) % 5 => (x[t] + k) % 5
        A closing must stay a closing: 5 to 9.
    % 5 => % 4
        Each half has five symbols.
    return [(0 if s <= 4 else 5) + (s - (0 if s <= 4 else 5) + k) % 5 for s in x]
        Only the symbol at position t changes.
    *x[t + 1 :] => *x[t:]
        One symbol is there twice: the list must stay as long as it was.
    """,
)
def recolour(x, t, k):
    """A list like x; the symbol at position t is moved on by k within its half."""
    first = 0 if x[t] <= 4 else 5
    return [*x[:t], first + (x[t] - first + k) % 5, *x[t + 1 :]]


def usual_sequences(draw):
    rows, labels = [], []
    for length in range(6, 21, 2):
        rows += sample_balanced(20, length, draw.generator).tolist()
        rows += draw.integers(0, 10, 20, length).tolist()
        labels += [True] * 20 + [False] * 20
    labels = [parentheses.is_balanced(row) for row in rows]
    given = f"{len(rows)} sequences of the usual recipe, half of them balanced"
    yield Case("it is right on 90 % of the usual recipe", rows, labels, given=given)


def verdict(answer, rows, labels):
    """What is to be said of a rule: enough, or on which class it is wrong."""
    right = {True: [], False: []}
    for row, label in zip(rows, labels):
        signs = f"{parentheses.text(row)}, that is {row}"
        right[label].append(truth(answer(list(row)), signs) == label)
    shares = {label: sum(hits) / len(hits) for label, hits in right.items()}
    share = sum(map(sum, right.values())) / len(rows)
    if share >= 0.9:
        return "90 % or more"
    worse = "random ones" if shares[True] >= shares[False] else "balanced ones"
    return "hardly anything" if share < 0.1 else f"less, most errors on {worse}"


@turn(
    turns,
    f"What do all balanced sequences have in common? {see(6, 'Write your own shortcut')}",
    cases=usual_sequences,
    call=verdict,
    slips="""
    return True
        It lets random strings through. What do balanced ones have that random ones lack?
    return False
        It refuses balanced ones. What do all balanced sequences have in common?
    return not my_rule(sequence)
        It is wrong nearly everywhere: return True for balanced, so turn it round.
    """,
)
def my_rule(sequence):
    """Whether your rule calls a list of symbols, each from 0 to 9, balanced."""
    return walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence])  # colours ignored


BREAKS = "it breaks every balanced sequence"


def sequences_to_break(draw):
    for length in (6, 8, 14, 20):
        rows = sample_balanced(20, length, draw.generator).tolist()
        given = f"20 balanced sequences of {length} symbols, such as {rows[0]}"
        yield Case(BREAKS, rows, given=given)


def what_becomes(answer, rows):
    """What is to be said of what comes back; a balanced sequence is shown with what it comes from.

    Raises:
        Complaint: some are broken or changed, and one is balanced.
    """
    pairs = [(list(row), answer(row)) for row in rows]
    for row, found in pairs:
        if not isinstance(found, list) or not all(type(symbol) is int for symbol in found):
            return "no list of plain int"
        if not all(0 <= symbol <= 9 for symbol in found):
            return "symbols that do not exist"
        if len(found) != len(row):
            return "another length"
    if all(found == row for row, found in pairs):
        return "nothing has changed"
    for row, found in pairs:
        if parentheses.is_balanced(found):
            hint = "Other sequences are broken, this one is balanced as before: would another "
            hint += "place do, or another change?"
            raise Complaint(BREAKS, hint, given=str(row), got=str(found))
    return "lists of the same length, none balanced"


@turn(
    turns,
    "Find a change that breaks every balanced sequence, whatever its shape and its colours. "
    + see(6, "A kind of negative of your own"),
    cases=sequences_to_break,
    call=what_becomes,
    slips="""
    return sequence
        This is the sequence that you were given: nothing has changed in it.
    return [10, *sequence[1:]]
        There are ten symbols: 0 to 4 open, 5 to 9 close. A colour that goes round is computed
        with % 5.
    return sequence[1:]
        A length that changes would tell the two classes apart by itself.
    return tuple([9 - sequence[0], *sequence[1:]])
        Hand back a new list of symbols, each a plain int from 0 to 9.
    """,
)
def my_negative(sequence):
    """A list as long as the balanced sequence that is given, and not balanced."""
    return [9 - sequence[0], *sequence[1:]]  # the first symbol closes
