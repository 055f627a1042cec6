"""Your turn with parentheses: the rule, weights that count, shortcuts, and what finds them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.describing import describe
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial
from helpers.data import parentheses
from helpers.data.parentheses_lecture import lecture_set
from helpers.data.parentheses_negatives import sample_exchangeable

turns = Lab("notebook06")
ENOUGH = 0.9  # of the usual test set, for what calls itself a shortcut


def _walk_is_balanced(steps: list[int]) -> bool:
    height = 0
    for step in steps:
        height += step
        if height < 0:
            return False
    return height == 0


@turns.task(_walk_is_balanced)
def walk_is_balanced(trial: Trial) -> None:
    where = see(6, "A puzzle")
    end = f"Is anything still open when the sequence ends? {where}"
    below = f"A closing needs something that is open, at every step on the way. {where}"
    slips = [
        (
            lambda steps: sum(steps) == 0,
            "You look at the end of the path alone; where does it go on the way?",
        ),
        (lambda steps: min(_path(steps)) >= 0, "Nothing may be left open at the end, either."),
        (lambda steps: not _walk_is_balanced(steps), "True is for class 1, the balanced ones."),
        (
            lambda steps: min(_path(steps)) > 0 and sum(steps) == 0,
            "The path may touch 0 on its way, as often as it likes; it must not go below.",
        ),
        (
            lambda steps: min(_path(steps)) >= 0 and sum(steps) > 0,
            "What comes back must be True where the height is 0 at the end; 0 itself is False.",
        ),
        (
            lambda steps: steps[0] == 1 and steps[-1] == -1,
            "The first and the last symbol alone do not tell: what about those between them?",
        ),
    ]
    tried = [
        ([1, -1], "a pair is balanced", below),
        ([1, -1, 1, -1], "a path may come back to 0 and rise again", below),
        ([1, 1, -1, -1, 1, -1], "the lecture's first row", below),
        ([1, -1, -1, 1], "the path must not fall below 0", below),
        ([1, -1, -1, 1, 1, -1], "the path must not fall below 0", below),
        ([-1, 1], "the path must not fall below 0", below),
        ([1, 1, -1], "the path must end at 0", end),
        ([1], "the path must end at 0", end),
    ]
    tried += [
        (list(steps), "it is right on all sequences of six symbols", below)
        for steps in product((1, -1), repeat=6)
    ]
    answers = []
    for steps, _, hint in tried:
        got = trial.call(list(steps), given=str(steps), hint=hint)
        answers.append(_truth(trial, got, str(steps)))
    inputs = [steps for steps, *_ in tried]
    slip = next((words for wrong, words in slips if answers == [*map(wrong, inputs)]), "")
    for (steps, rule, hint), got in zip(tried, answers, strict=True):
        trial.equals(got, _walk_is_balanced(steps), rule, slip or hint, given=str(steps))


def _counting_network() -> tuple[Tensor, Tensor, Tensor, float]:
    W_xh = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    return W_xh, torch.eye(3), torch.tensor([1.0, -1.0, -2.0]), 0.5


@turns.task(_counting_network)
def counting_network(trial: Trial) -> None:
    where = see(6, "A network that counts, by hand")
    form = f"Hand back four things: W_xh, W_hh, w_hy and b_y, in this order. {where}"
    got = trial.call()
    hint = NOTHING if got is None else form
    right = isinstance(got, tuple | list) and len(got) == 4
    trial.holds(right, "four things come back", hint, got=got)
    W_xh, W_hh, w_hy, b_y = got
    for name, value, shape in (
        ("W_xh", W_xh, (3, 2)),
        ("W_hh", W_hh, (3, 3)),
        ("w_hy", w_hy, (3,)),
    ):
        words = f"{name} is a tensor of shape {shape}; its numbers have a point, such as 1.0."
        fits = isinstance(value, Tensor) and tuple(value.shape) == shape
        trial.holds(fits and value.is_floating_point(), f"{name} has the shape {shape}", words,
                    got=value)  # fmt: skip
    number = isinstance(b_y, int | float) or (isinstance(b_y, Tensor) and b_y.numel() == 1)
    trial.holds(number, "b_y is one number", "b_y is one number, such as 1.0.", got=b_y)
    once, twice = (_state(W_xh, W_hh, steps) for steps in ((1,), (1, 1)))
    again, thrice = (_state(W_xh, W_hh, steps) for steps in ((-1,), (-1, -1)))
    keeps = torch.allclose(twice, 2 * once) and torch.allclose(thrice, 2 * again)
    hints = {
        "memory": (
            "What a unit has counted must be neither stretched nor shrunk from step to step, nor "
            f"mixed with what another has: multiply its own old value by 1. {where}"
        ),
        "bias": (
            "The weighted sum is negative, as it should be; b_y lifts it above 0. How small may it "
            f"be? {where}"
        ),
        "early": (
            "Something closed too early and was made up for later. Openings and closings are "
            "equally many then, so the third unit must tell: it does not go below 0, and so it "
            f"ends above 0. {where}"
        ),
        "open": (
            "Something is left open. The third unit says how much, and the difference of the two "
            f"counters says the opposite: which of them must have the larger weight? {where}"
        ),
        "closed": f"More closings than openings: the two counters must tell. {where}",
        "balanced": (
            "This one is balanced: both counters agree and the third unit is 0. What is left of "
            f"the sum then, and is it above 0? {where}"
        ),
    }
    for length in range(1, 11):
        for steps in product((1, -1), repeat=length):
            said = _read(W_xh, W_hh, w_hy, b_y, steps) > 0
            balanced = _walk_is_balanced(list(steps))
            kind = (
                "balanced"
                if balanced
                else "open"
                if sum(steps) > 0
                else "closed"
                if sum(steps) < 0
                else "early"
            )
            signs = "".join("(" if step > 0 else ")" for step in steps)
            hint = hints[kind]
            if not keeps:
                hint = hints["memory"]
            elif said and not balanced and _read(W_xh, W_hh, w_hy, 0, steps) < 0:
                hint = hints["bias"]
            trial.holds(
                said == balanced,
                "it is right on all sequences of up to 10 symbols",
                hint,
                given=signs,
                got="balanced" if said else "not balanced",
                expected="balanced" if balanced else "not balanced",
            )
    deep = (1,) * 300 + (-1,) * 300
    said = (_read(W_xh, W_hh, w_hy, b_y, deep) > 0, _read(W_xh, W_hh, w_hy, b_y, deep[1:]) > 0)
    trial.equals(
        said,
        (True, False),
        "it is right on long sequences, too",
        hints["memory"],
        given="300 openings and 300 closings; and one opening less",
    )


def _precision(said: Tensor, truth: Tensor) -> float:
    return float((said & truth).sum() / said.sum())


@turns.task(_precision)
def precision(trial: Trial) -> None:
    where = see(6, "All sequences of six symbols")
    hint = f"Of those that it calls balanced (said), which share is (said and truth)? {where}"
    slips: list[tuple[Callable[..., Any], str]] = [
        (
            lambda said, truth: float((said == truth).double().mean()),
            "That is the accuracy: it counts the many strings that are rightly refused.",
        ),
        (
            lambda said, truth: float((said & truth).sum() / truth.sum()),
            "That is the recall, the share of the balanced ones that it finds.",
        ),
        (
            lambda said, truth: float((said & truth).double().mean()),
            "You divide by all strings; divide by those that it calls balanced.",
        ),
        (
            lambda said, truth: float((said & ~truth).sum() / said.sum()),
            "That is the share of the accepted ones that are not balanced.",
        ),
        (
            lambda said, truth: 100 * _precision(said, truth),
            "A share lies between 0 and 1.",
        ),
        (
            lambda said, truth: int((said & truth).sum()),
            "That is a number of strings; which share of the accepted ones is it?",
        ),
        (
            lambda said, truth: round(_precision(said, truth), 2),
            "This is right up to two digits: do not round.",
        ),
    ]
    said = torch.tensor([True, True, True, True, False, False, False, False, False, False])
    truth = torch.tensor([True, False, False, False, True, False, False, False, False, False])
    given = "ten strings, of which four are called balanced, and one of these four is"
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    trial.agrees(_number(trial, _precision), said, truth, rule="by hand", given=given, **look)
    said, truth = trial.integers(0, 2, 60) > 0, trial.integers(0, 3, 60) == 0
    rule, given = "it is right on random answers", "60 random answers"
    trial.agrees(_number(trial, _precision), said, truth, rule=rule, given=given, **look)


def _my_rule(sequence: list[int]) -> bool:
    return _walk_is_balanced([1 if symbol <= 4 else -1 for symbol in sequence])


@turns.task(_my_rule)
def my_rule(trial: Trial) -> None:
    where = see(6, "Write your own shortcut")
    drawn = lecture_set(300, trial.generator, min_length=6)
    lengths, labels = drawn.lengths.tolist(), (drawn.labels == 1).tolist()
    rows = [row[:n] for row, n in zip(drawn.tokens.tolist(), lengths, strict=True)]
    right = {True: 0, False: 0}
    for row, label in zip(rows, labels, strict=True):
        signs = parentheses.text(row)
        said = _truth(trial, trial.call(list(row), given=f"{signs}, that is {row}"), signs)
        right[label] += said == label
    share = {label: right[label] / max(1, labels.count(label)) for label in right}
    accuracy = sum(right.values()) / len(rows)
    got = f"{100 * accuracy:.0f} % right: {100 * share[True]:.0f} % of the balanced ones, "
    got += f"{100 * share[False]:.0f} % of the random ones"
    if accuracy < 1 - ENOUGH:
        hint = "It is wrong nearly everywhere: return True for balanced, so turn it round."
    elif share[True] < share[False]:
        hint = "It refuses balanced ones. What do all balanced sequences have in common?"
    else:
        hint = "It lets random strings through. What do balanced ones have that random ones lack?"
    trial.holds(
        accuracy >= ENOUGH,
        f"it is right on {100 * ENOUGH:.0f} % of the usual recipe",
        f"{hint} {where}",
        given=f"{len(rows)} sequences of the usual recipe",
        got=got,
    )


def _my_negative(sequence: list[int]) -> list[int]:
    return [(sequence[0] + 1) % 5, *sequence[1:]]


@turns.task(_my_negative)
def my_negative(trial: Trial) -> None:
    where = see(6, "A kind of negative of your own")
    same = f"Find a change that breaks every balanced sequence. {where}"
    for length in (6, 8, 14, 20):
        for row in sample_exchangeable(20, length, trial.generator).tolist():
            signs = parentheses.text(row)
            given = f"{signs}, that is {row}"
            got = trial.call(list(row), given=given)
            trial.holds(
                isinstance(got, list) and all(type(symbol) is int for symbol in got),
                "a list of whole numbers comes back",
                NOTHING if got is None else "Hand back a new list of symbols, each from 0 to 9.",
                given=given,
                got=got,
            )
            trial.holds(
                all(0 <= symbol <= 9 for symbol in got),
                "all symbols are from 0 to 9",
                "There are ten symbols: 0 to 4 open, 5 to 9 close. A colour that goes round is "
                "computed with % 5.",
                given=given,
                got=got,
            )
            trial.holds(
                len(got) == len(row),
                "it has as many symbols as before",
                "A length that changes would tell the two classes apart by itself.",
                given=given,
                got=got,
            )
            rule = "what comes back is not balanced"
            unchanged = "This is the sequence that you were given: nothing has changed in it."
            hint = unchanged if got == row else same
            trial.holds(not parentheses.is_balanced(got), rule, hint, given=given, got=got)


def _n_stacks(colours: int, depth: int) -> int:
    return sum(colours**height for height in range(depth + 1))


@turns.task(_n_stacks)
def n_stacks(trial: Trial) -> None:
    where = see(6, "How deep does it go?")
    hint = f"How many stacks of height 0 are there, of height 1, of height 2? Add them up. {where}"
    slips: list[tuple[Callable[..., Any], str]] = [
        (
            lambda colours, depth: colours**depth,
            "Those are the full stacks alone; lower ones occur on the way.",
        ),
        (
            lambda colours, depth: sum(colours**h for h in range(depth)),
            "The full stacks, of height depth itself, are left out.",
        ),
        (
            lambda colours, depth: sum(colours**h for h in range(1, depth + 1)),
            "The empty stack is one, too.",
        ),
        (
            lambda colours, depth: sum(colours * h for h in range(depth + 1)),
            "Every further element multiplies the number of stacks.",
        ),
        (
            lambda colours, depth: sum(h**colours for h in range(depth + 1)),
            "Each of the elements has one of several colours: which number is the base?",
        ),
    ]
    look: dict[str, Any] = {"hint": hint, "slips": slips}
    trial.agrees(_number(trial, _n_stacks), 3, 3, rule="by hand", **look)
    for colours, depth in ((5, 1), (2, 2), (5, 4), (1, 6)):
        rule = "it is right for other numbers"
        if colours == 1:  # where a closed formula divides by 0
            look["hint"] = (
                "How many stacks are there in one colour? A formula that divides by colours - 1 "
                f"needs a case of its own there. {where}"
            )
        trial.agrees(_number(trial, _n_stacks), colours, depth, rule=rule, **look)


def _number(trial: Trial, reference: Callable[..., Any]) -> Callable[..., Any]:
    """The reference, whose number has the type of the answer's: int, float and tensors may mix."""

    def same_type(*arguments: Any) -> Any:
        expected, got = reference(*arguments), trial.value
        if isinstance(got, Tensor) and got.ndim == 0 and got.dtype != torch.bool:
            return torch.tensor(expected, dtype=got.dtype)
        if type(got) in (int, float) and float(expected).is_integer():
            return type(got)(expected)
        return expected

    return same_type


def _truth(trial: Trial, got: Any, given: str) -> bool:
    """An answer as a bool; True, False, 1, 0 and tensors of one element will do."""
    if getattr(got, "ndim", None) == 0 or (isinstance(got, Tensor) and got.numel() == 1):
        got = got.item()  # of PyTorch or numpy
    hint = NOTHING if got is None else f"True or False is asked for, and this is {describe(got)}."
    trial.holds(
        isinstance(got, bool | int) and got in (0, 1),
        "it says True or False",
        hint,
        given=given,
        got=got,
    )
    return bool(got)


def _path(steps: list[int]) -> list[int]:
    """The height after each step; 0 alone where there is none."""
    return torch.tensor(steps).cumsum(0).tolist() or [0]


def _state(W_xh: Tensor, W_hh: Tensor, steps: Iterable[int]) -> Tensor:
    """The three units after these steps, without biases b_h."""
    h = torch.zeros(3, dtype=torch.float64)
    for step in steps:
        h = torch.relu(W_xh.double()[:, 0 if step > 0 else 1] + W_hh.double() @ h)
    return h


def _read(W_xh: Tensor, W_hh: Tensor, w_hy: Tensor, b_y: Any, steps: Iterable[int]) -> float:
    """The output of the network of three units after these steps."""
    return float(w_hy.double() @ _state(W_xh, W_hh, steps) + b_y)
