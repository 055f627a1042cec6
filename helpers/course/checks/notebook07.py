"""Your turn with gates: Elman, gated, GRU and LSTM cells, a counter, a comparison of seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

turns = Lab("notebook07")
KEEPS = see(7, "A number that decides what stays")
GATED = see(7, "Elman's cell and the gated cell")
GRU = see(7, "The GRU, and its two forms")
LSTM = see(7, "The LSTM, gate by gate")
COUNTERS = see(7, "Who can count?")
PAIRS = see(7, "Is there a benefit with gating?")
Weights = Mapping[str, Tensor]
Slip = tuple[Callable, str]
STEPS = 100  # that a counter must come through


def _half_life(z: float) -> float:
    return math.log(0.5) / math.log(z)


@turns.task(_half_life)
def half_life(trial: Trial) -> None:
    hint = f"Solve z^t = 0.5 for t by taking logarithms on both sides. {KEEPS}"
    slips: list[Slip] = [
        (
            lambda z: math.log(z) / math.log(0.5),
            "The fraction is turned round: t log z = log 0.5, so t = log 0.5 / log z.",
        ),
        (
            lambda z: -math.log(0.5) / math.log(z),
            "The sign is turned round: both logarithms are negative, so their quotient is not.",
        ),
        (
            lambda z: 0.5 / (1 - z),
            "That would be right if the same amount were lost at every step; but what is lost is a "
            "share of what is left.",
        ),
        (
            lambda z: -1 / math.log(z),
            "After so many steps 1/e = 0.37 is left: take the logarithm of 0.5, not of 1/e.",
        ),
        (lambda z: math.log(2) / z, "Divide by -log z, not by z."),
        (lambda z: z**0.5, "That is the root of z; the exponent t is asked for."),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_half_life, 0.5, rule="a gate of 0.5 keeps half for one step", **look)
    for z in (0.9, 0.97, 0.99, 0.25, 0.1 + 0.08 * trial.integer(1, 10)):
        trial.agrees(_half_life, z, rule="z to the power t is one half", **look)


def _affine(p: Weights, gate: str, x: Tensor, h: Tensor) -> Tensor:
    return x @ p[f"W_x{gate}"].mT + h @ p[f"W_h{gate}"].mT + p[f"b_{gate}"]


def _weights(trial: Trial, gates: str, D: int, H: int) -> dict[str, Tensor]:
    """Random weights of these gates, with b_hh, which only a GRU has."""
    p = {}
    for gate in gates:
        p[f"W_x{gate}"], p[f"W_h{gate}"] = trial.normal(H, D), trial.normal(H, H)
        p[f"b_{gate}"] = trial.normal(H)
    return p


def _sizes(D: int, H: int, B: int) -> str:
    return f"random weights, D = {D}, H = {H}, B = {B}"


SIZES = ((3, 2, 4), (2, 3, 1), (4, 4, 3))  # D, H, B


@turns.task(_affine)
def affine(trial: Trial) -> None:
    hint = (
        "A row of x stands for a column vector of the formula, so W x becomes x @ W.T; look the "
        f"three parts up by their names and add them. {GATED}"
    )
    slips: list[Slip] = [
        (
            lambda p, g, x, h: x @ p[f"W_x{g}"] + h @ p[f"W_h{g}"] + p[f"b_{g}"],
            "Rows of x stand for column vectors, so the matrices have to be transposed: x @ W.T.",
        ),
        (
            lambda p, g, x, h: x @ p[f"W_x{g}"].mT + h @ p[f"W_h{g}"] + p[f"b_{g}"],
            "W_h has to be transposed, too. Nothing complains, because it is square.",
        ),
        (
            lambda p, g, x, h: x @ p[f"W_x{g}"].mT + h @ p[f"W_h{g}"].mT,
            "The bias b is missing.",
        ),
        (lambda p, g, x, h: x @ p[f"W_x{g}"].mT + p[f"b_{g}"], "The old state h does not enter."),
        (
            lambda p, g, x, h: _affine(p, "h", x, h),
            "You take the weights of 'h' whatever the gate is: put its name together, "
            'f"W_x{gate}".',
        ),
        (
            lambda p, g, x, h: torch.sigmoid(_affine(p, g, x, h)),
            "This is the sum before any non-linearity: the sigmoid comes later, in the cell.",
        ),
        (
            lambda p, g, x, h: torch.tanh(_affine(p, g, x, h)),
            "This is the sum before any non-linearity: the tanh comes later, in the cell.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for D, H, B in (*SIZES, (3, 3, 3)):
        p = _weights(trial, "hz", D, H)
        x, h = trial.normal(B, D), trial.normal(B, H)
        given = _sizes(D, H, B)
        for gate in "hz":
            about = {"given": f"{given}, gate {gate!r}", **look}
            trial.agrees(_affine, p, gate, x, h, rule="W_x x + W_h h + b", **about)


def _elman(p: Weights, x: Tensor, h: Tensor) -> Tensor:
    return torch.tanh(_affine(p, "h", x, h))


@turns.task(_elman)
def elman_cell(trial: Trial) -> None:
    hint = f"tanh of the sum that affine gives for the letter 'h'. {GATED}"
    slips: list[Slip] = [
        (lambda p, x, h: _affine(p, "h", x, h), "The non-linearity is missing: tanh."),
        (lambda p, x, h: _affine(p, "h", x, h).relu(), "That is ReLU; this cell has a tanh."),
        (
            lambda p, x, h: _affine(p, "h", x, h).sigmoid(),
            "That is a sigmoid; the cell has a tanh.",
        ),
        (
            lambda p, x, h: h + _elman(p, x, h),
            "The new state replaces the old one; nothing of it is added.",
        ),
        (lambda p, x, h: (_elman(p, x, h),) * 2, "One tensor comes back, the new state."),
    ]
    for D, H, B in SIZES:
        p, x, h = _weights(trial, "h", D, H), trial.normal(B, D), trial.normal(B, H)
        trial.agrees(_elman, p, x, h, rule="it is the formula", hint=hint, slips=slips,
                     given=_sizes(D, H, B))  # fmt: skip


def _gated(p: Weights, x: Tensor, h: Tensor) -> Tensor:
    z = torch.sigmoid(_affine(p, "z", x, h))
    return z * h + (1 - z) * torch.relu(_affine(p, "h", x, h))


def _other_gated(
    candidate: Callable = torch.relu, gate: Callable = torch.sigmoid, swapped: bool = False
) -> Callable:
    def cell(p: Weights, x: Tensor, h: Tensor) -> Tensor:
        z, new = gate(_affine(p, "z", x, h)), candidate(_affine(p, "h", x, h))
        return (1 - z) * h + z * new if swapped else z * h + (1 - z) * new

    return cell


@turns.task(_gated)
def gated_cell(trial: Trial) -> None:
    hint = (
        "Three lines: the gate z (sigmoid), the candidate (ReLU), and z * h + (1 - z) * candidate. "
        f"{GATED}"
    )
    slips: list[Slip] = [
        (
            _other_gated(swapped=True),
            "z and 1 - z have changed roles: in the lecture's equation z keeps the old state.",
        ),
        (_other_gated(torch.tanh), "The candidate of this cell has a ReLU, not a tanh."),
        (_other_gated(torch.sigmoid), "The sigmoid belongs to the gate; the candidate has a ReLU."),
        (
            _other_gated(lambda a: a),
            "The candidate lacks its non-linearity, the ReLU.",
        ),
        (
            _other_gated(gate=lambda a: a),
            "A gate lies between 0 and 1: the sigmoid is missing.",
        ),
        (
            lambda p, x, h: (
                torch.sigmoid(_affine(p, "z", x, h)) * h + torch.relu(_affine(p, "h", x, h))
            ),
            "The candidate must be weighted with 1 - z; else old and new do not mix, they add up.",
        ),
        (
            lambda p, x, h: torch.relu(_affine(p, "h", x, h)),
            "This is the candidate alone: the gate does not act yet.",
        ),
        (
            lambda p, x, h: (
                torch.sigmoid(_affine(p, "h", x, h)) * h
                + (1 - torch.sigmoid(_affine(p, "h", x, h))) * torch.relu(_affine(p, "h", x, h))
            ),
            "The gate has weights of its own, named 'z'.",
        ),
    ]
    for D, H, B in SIZES:
        p, x, h = _weights(trial, "zh", D, H), trial.normal(B, D), trial.normal(B, H)
        trial.agrees(_gated, p, x, h, rule="it is the lecture's cell", hint=hint, slips=slips,
                     given=_sizes(D, H, B))  # fmt: skip


def _gru(p: Weights, x: Tensor, h: Tensor) -> Tensor:
    z, r = (torch.sigmoid(_affine(p, gate, x, h)) for gate in "zr")
    new = torch.tanh(x @ p["W_xh"].mT + p["b_h"] + r * (h @ p["W_hh"].mT + p["b_hh"]))
    return z * h + (1 - z) * new


def _other_gru(candidate: Callable, swapped: bool = False) -> Callable:
    """A GRU with another candidate: (p, from x, W_hh, r, h) -> what goes into the tanh."""

    def cell(p: Weights, x: Tensor, h: Tensor) -> Tensor:
        z, r = (torch.sigmoid(_affine(p, gate, x, h)) for gate in "zr")
        new = torch.tanh(candidate(p, x @ p["W_xh"].mT + p["b_h"], p["W_hh"].mT, r, h))
        return (1 - z) * h + z * new if swapped else z * h + (1 - z) * new

    return cell


@turns.task(_gru)
def gru_cell(trial: Trial) -> None:
    hint = (
        "Two gates by affine, then the candidate part by part: what comes from x, plus r times "
        f"(W_hh h + b_hh), in a tanh; then mix as in the gated cell. {GRU}"
    )
    slips: list[Slip] = [
        (
            _other_gru(lambda p, a, W, r, h: a + (r * h) @ W + p["b_hh"]),
            "That is the lecture's form: r acts on h before the product. PyTorch's r acts on "
            "W_hh h + b_hh.",
        ),
        (
            _other_gru(lambda p, a, W, r, h: a + (r * h) @ W),
            "That is the lecture's form: r acts on h before the product, and there is no b_hh. "
            "PyTorch's r acts on W_hh h + b_hh.",
        ),
        (
            _other_gru(lambda p, a, W, r, h: a + r * (h @ W) + p["b_hh"]),
            "b_hh belongs into the bracket that r multiplies.",
        ),
        (_other_gru(lambda p, a, W, r, h: a + r * (h @ W)), "The second bias, b_hh, is missing."),
        (
            _other_gru(lambda p, a, W, r, h: r * (a + h @ W + p["b_hh"])),
            "r acts on what comes from the old state only, not on what comes from x.",
        ),
        (
            _other_gru(lambda p, a, W, r, h: a + h @ W + p["b_hh"]),
            "The reset gate r does not act yet.",
        ),
        (
            _other_gru(lambda p, a, W, r, h: a + r * (h @ W + p["b_hh"]), swapped=True),
            "z and 1 - z have changed roles: z keeps the old state.",
        ),
        (
            _other_gru(lambda p, a, W, r, h: a + r * (h @ W.mT + p["b_hh"])),
            "W_hh has to be transposed, too: h @ W_hh.T. Nothing complains, because it is square.",
        ),
        (
            _other_gru(lambda p, a, W, r, h: r * (a + h @ W)),
            "r acts on what comes from the old state only, not on what comes from x; and b_hh is "
            "missing.",
        ),
        (
            lambda p, x, h: _other_gated(torch.tanh)(p, x, h),
            "This is the gated cell with a tanh: the reset gate is missing.",
        ),
        (
            lambda p, x, h: torch.tanh(_affine(p, "h", x, h)),
            "This is Elman's cell: no gate acts yet.",
        ),
    ]
    for D, H, B in SIZES:
        p = _weights(trial, "zrh", D, H) | {"b_hh": trial.normal(H)}
        x, h = trial.normal(B, D), trial.normal(B, H)
        trial.agrees(_gru, p, x, h, rule="it is PyTorch's form", hint=hint, slips=slips,
                     given=_sizes(D, H, B))  # fmt: skip


def _lstm(p: Weights, x: Tensor, h: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
    f, i, o = (torch.sigmoid(_affine(p, gate, x, h)) for gate in "fio")
    C = f * C + i * torch.tanh(_affine(p, "C", x, h))
    return o * torch.tanh(C), C


def _other_lstm(step: Callable, order: str = "fio") -> Callable:
    """An LSTM that ends otherwise: (f, i, o, what goes into the candidate, C) -> (h, C)."""

    def cell(p: Weights, x: Tensor, h: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
        f, i, o = (torch.sigmoid(_affine(p, gate, x, h)) for gate in order)
        return step(f, i, o, _affine(p, "C", x, h), C)

    return cell


def _ends(f: Tensor, i: Tensor, o: Tensor, a: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
    C = f * C + i * torch.tanh(a)
    return o * torch.tanh(C), C


def _shown(show: Callable) -> Callable:
    """An LSTM whose h is show(o, new C, old C)."""
    return _other_lstm(
        lambda f, i, o, a, C: (show(o, f * C + i * a.tanh(), C), f * C + i * a.tanh())
    )


def _kept(keep: Callable) -> Callable:
    """An LSTM whose C is keep(f, i, what goes into the candidate, C)."""
    return _other_lstm(lambda f, i, o, a, C: (o * torch.tanh(keep(f, i, a, C)), keep(f, i, a, C)))


@turns.task(_lstm)
def lstm_cell(trial: Trial) -> None:
    hint = (
        "Three gates with a sigmoid, a candidate with a tanh; then C = f * C + i * candidate, and "
        f"h = o * tanh(C) with the new C. {LSTM}"
    )
    slips: list[Slip] = [
        (
            lambda *given: _lstm(*given)[::-1],
            "The order is h first, then C, as in the docstring.",
        ),
        (_other_lstm(_ends, "ifo"), "f and i have changed roles: f keeps, i lets in."),
        (_other_lstm(_ends, "oif"), "f and o have changed roles: f keeps, o shows."),
        (_other_lstm(_ends, "foi"), "i and o have changed roles: i lets in, o shows."),
        (_shown(lambda o, C, old: o * C), "h lacks the tanh: h = o * tanh(C)."),
        (
            _shown(lambda o, C, old: o * torch.tanh(old)),
            "h is made of the new C, not of the one before the step.",
        ),
        (_shown(lambda o, C, old: torch.tanh(C)), "The output gate o does not act yet."),
        (
            _kept(lambda f, i, a, C: f * C + i * torch.sigmoid(a)),
            "The candidate has a tanh: it may be negative, else the cell could only grow.",
        ),
        (_kept(lambda f, i, a, C: f * C + i * a), "The candidate lacks its tanh."),
        (_kept(lambda f, i, a, C: f * C + a.tanh()), "The input gate i does not act yet."),
        (_kept(lambda f, i, a, C: C + i * a.tanh()), "The forget gate f does not act yet."),
        (
            _kept(lambda f, i, a, C: f * C + (1 - f) * a.tanh()),
            "That couples the gates, as in a GRU: here i is a gate of its own.",
        ),
        (
            _shown(lambda o, C, old: o * torch.sigmoid(C)),
            "What is shown is the tanh of C, not its sigmoid.",
        ),
        (
            lambda p, x, h, C: _ends(
                *(torch.sigmoid(_affine(p, gate, x, C)) for gate in "fio"),
                _affine(p, "C", x, C),
                C,
            ),
            "The gates read the old hidden state h, not the cell state C.",
        ),
        (
            lambda p, x, h, C: _ends(
                *(torch.sigmoid(_affine(p, gate, x, C)) for gate in "fio"),
                _affine(p, "C", x, h),
                C,
            ),
            "The gates read the old hidden state h, not the cell state C.",
        ),
        (
            lambda *given: _lstm(*given)[0],
            "Two tensors come back, h and C: the next step needs both.",
        ),
    ]
    for D, H, B in SIZES:
        p, x = _weights(trial, "fioC", D, H), trial.normal(B, D)
        h, C = trial.normal(B, H), 2 * trial.normal(B, H)
        trial.agrees(_lstm, p, x, h, C, rule="it is the lecture's LSTM", hint=hint, slips=slips,
                     given=_sizes(D, H, B))  # fmt: skip


def _counter() -> dict[str, tuple[float, float]]:
    return {"f": (20.0, 20.0), "i": (20.0, 20.0), "C": (20.0, -20.0), "o": (20.0, 20.0)}


@turns.task(_counter)
def counter(trial: Trial) -> None:
    got = trial.call()
    trial.named(got, ("f", "i", "C", "o"))
    for name, pair in got.items():
        trial.holds(
            _is_pair(pair),
            "a pair of numbers for each of f, i, C and o",
            "Give two numbers for each, without tensors: what goes into it when an a is read, and "
            "when a b is read.",
            got={name: pair},
        )
    f, i = (torch.sigmoid(torch.tensor(got[gate], dtype=torch.double)) for gate in "fi")
    new = torch.tanh(torch.tensor(got["C"], dtype=torch.double))
    o = torch.sigmoid(torch.tensor(got["o"], dtype=torch.double))
    gates = f"f = {_two(f)}, i = {_two(i)}, candidate = {_two(new)}, o = {_two(o)} (on a, on b)"
    trial.holds(
        bool((f**STEPS > 0.99).all()),
        "the forget gate keeps the count",
        f"The sigmoid of f must be so near 1 that {STEPS} steps lose nothing: give it a large "
        f"number, for both letters. {COUNTERS}",
        got=f"after {STEPS} steps f keeps {_two(f**STEPS)} of it (on a, on b)",
    )
    added = i * new
    trial.holds(
        abs(float(added[0]) - 1) < 1e-4,
        "an a adds one",
        "What is added is i times the candidate. It must be 1 on an a, so both must be nearly 1: "
        "the sigmoid of 0 is one half, and tanh(1) is 0.76 only.",
        got=gates,
    )
    trial.holds(
        abs(float(added[1]) + 1) < 1e-4,
        "a b takes one away",
        "On a b, i times the candidate must be -1: the gate at 1, and the candidate at -1.",
        got=gates,
    )
    trial.holds(
        bool((o > 0.5).all()),
        "the count is shown",
        "With an output gate near 0 the network remembers, but nobody can see it: o must be open.",
        got=gates,
    )
    letters = trial.integers(0, 2, STEPS)
    C = 0.0
    for letter in letters.tolist():
        C = float(f[letter] * C + added[letter])
    count = int((1 - 2 * letters).sum())
    trial.equals(C, float(count), "C is the number of a minus the number of b",
                 f"Read the cell's equation once more. {COUNTERS}", tolerance=0.02,
                 given=f"{STEPS} random letters")  # fmt: skip


def _is_pair(pair: object) -> bool:
    number = (int, float)
    return (
        isinstance(pair, tuple | list)
        and len(pair) == 2
        and all(isinstance(v, number) and math.isfinite(v) for v in pair)
    )


def _two(values: Tensor) -> str:
    return "(" + ", ".join(f"{v:.3f}" for v in values.tolist()) + ")"


def _share_won(first: Sequence[float], second: Sequence[float]) -> float:
    won = sum((a < b) + (a == b) / 2 for a in first for b in second)
    return won / (len(first) * len(second))


@turns.task(_share_won)
def share_won(trial: Trial) -> None:
    hint = (
        "Two loops, one over each list: count 1 where the first error is lower, 1/2 where they are "
        f"equal, and divide by the number of pairs. {PAIRS}"
    )
    slips: list[Slip] = [
        (
            lambda a, b: sum((x < y) + (x == y) / 2 for x, y in zip(a, b, strict=True)) / len(a),
            "zip compares run k with run k only; every run of one meets every run of the other.",
        ),
        (
            lambda a, b: _share_won(b, a),
            "These are errors: the first network wins where its number is *lower*.",
        ),
        (
            lambda a, b: sum(x < y for x in a for y in b) / len(a) / len(b),
            "Equal errors count one half for each side.",
        ),
        (
            lambda a, b: sum(x <= y for x in a for y in b) / len(a) / len(b),
            "Equal errors count one half for each side, not a whole win.",
        ),
        (
            lambda a, b: _share_won(a, b) * len(a) * len(b),
            "That is the number of pairs won; divide by the number of all pairs.",
        ),
        (lambda a, b: 100 * _share_won(a, b), "A share lies between 0 and 1; this is per cent."),
        (
            lambda a, b: _share_won(a, b) * len(b),
            "There are len(first) times len(second) pairs.",
        ),
        (
            lambda a, b: float(sum(a) / len(a) < sum(b) / len(b)),
            "That compares the means, one verdict; the pairs say how sure it is.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_share_won, [1.0, 3.0], [2.0, 4.0], rule="3 of 4 pairs by hand", **look)
    trial.agrees(_share_won, [2.0, 2.0], [2.0, 5.0], rule="equal errors count one half", **look)
    for _ in range(4):
        first = trial.integers(0, 8, trial.integer(3, 7)).tolist()
        second = trial.integers(0, 8, len(first)).tolist()
        trial.agrees(_share_won, first, second, rule="all pairs", **look)
    trial.agrees(_share_won, [1.0, 5.0, 9.0], [4.0, 4.0], rule="lists of other lengths", **look)
