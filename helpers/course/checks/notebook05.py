"""Your turn with recurrent networks: belief, step, way back, products, clipping, writing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.checks.watching import where as where_it_arose

turns = Lab("notebook05")
Slip = tuple[Callable, str]
Read = Callable[[Tensor, object], tuple[Tensor, object]]


def _update_belief(belief: Tensor, x: int, A: Tensor, B: Tensor) -> Tensor:
    seen = belief * B[:, x]
    return (seen / seen.sum()) @ A


@turns.task(_update_belief)
def update_belief(trial: Trial) -> None:
    hint = (
        "Multiply the belief by how likely each state emits x, divide by the sum, and let every "
        f"state move on by its row of A. {see(5, 'What no window can hold')}"
    )
    slips: list[Slip] = [
        (
            lambda p, x, A, B: (p * B[:, x]) @ A,
            "These numbers do not sum to 1: after multiplying by B[:, x], divide by the sum.",
        ),
        (
            lambda p, x, A, B: p * B[:, x] / (p * B[:, x]).sum(),
            "That is the belief about the state which emitted x; it still has to move on, by A.",
        ),
        (lambda p, x, A, B: p @ A, "The symbol x is not used: which states could have emitted it?"),
        (
            lambda p, x, A, B: A @ (p * B[:, x] / (p * B[:, x]).sum()),
            "Row i of A says where state i goes: the belief stands on the left of A.",
        ),
        (
            lambda p, x, A, B: (p @ A) * B[:, x] / ((p @ A) * B[:, x]).sum(),
            "You move first and look at x afterwards: x comes from the state before the move.",
        ),
        (
            lambda p, x, A, B: B[:, x] / B[:, x].sum() @ A,
            "What was believed before is lost: multiply it by B[:, x].",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    A = torch.tensor([[0.5, 0.5], [0.2, 0.8]], dtype=torch.double)
    B = torch.tensor([[0.9, 0.1], [0.3, 0.7]], dtype=torch.double)
    half = torch.tensor([0.5, 0.5], dtype=torch.double)
    for x in (0, 1):
        trial.agrees(_update_belief, half, x, A, B, rule="two states, by hand", **look)
    for states in (3, 4):
        p, A, B = (trial.normal(*s).softmax(-1) for s in ((states,), (states, states), (states, 3)))
        trial.agrees(
            _update_belief, p, trial.integer(0, 3), A, B, rule="it is right for any model", **look
        )


def _elman_step(h: Tensor, x: Tensor, W_hh: Tensor, W_xh: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(h @ W_hh.T + x @ W_xh.T + b)


@turns.task(_elman_step)
def elman_step(trial: Trial) -> None:
    hint = (
        "Each row of h and of x is multiplied with its matrix, the bias is added, and tanh is "
        f"taken of the sum. {see(5, 'A state in place of a window')}"
    )
    slips: list[Slip] = [
        (
            lambda h, x, W_hh, W_xh, b: h @ W_hh.T + x @ W_xh.T + b,
            "tanh is missing: without it the network would be linear.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.tanh(h @ W_hh + x @ W_xh.T + b),
            "In the formula the matrix stands on the left of a column. Here the states are rows: "
            "multiply them with the transposed matrix, h @ W_hh.T.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.tanh(h @ W_hh.T + x @ W_xh.T),
            "The bias b is missing.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.tanh(h @ W_hh.T + x @ W_xh.T) + b,
            "The bias b stands inside tanh, with the other two.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.tanh(x @ W_xh.T + b),
            "The old state h is not used: this network would have no memory.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.tanh(h @ W_hh.T + b),
            "What is read, x, is not used.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.tanh(h @ W_hh.T) + torch.tanh(x @ W_xh.T + b),
            "One tanh of the whole sum, not one of each part.",
        ),
        (
            lambda h, x, W_hh, W_xh, b: torch.relu(h @ W_hh.T + x @ W_xh.T + b),
            "That is the network with ReLU; here tanh is asked for.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for B, D, H in ((1, 2, 2), (4, 3, 5), (3, 3, 3)):
        given = (trial.normal(B, H), trial.normal(B, D), trial.normal(H, H), trial.normal(H, D))
        trial.agrees(
            _elman_step, *given, trial.normal(H), rule="it is the formula, row by row", **look
        )


def _bptt(g: Tensor, h: Tensor, x: Tensor, W_hh: Tensor, slip: str = "") -> tuple[Tensor, Tensor]:
    """The gradients; ``slip`` names one thing that is done wrongly."""
    T = len(x)
    delta = torch.zeros_like(h[0])
    dW_hh, dW_xh = torch.zeros_like(W_hh), x.new_zeros(len(W_hh), x.shape[1])
    for t in range(T, 0, -1):
        arrived = (W_hh if slip == "not transposed" else W_hh.T) @ delta
        direct = g[t - 1] if slip != "last loss" or t == T else torch.zeros_like(delta)
        if slip == "no future":
            arrived = torch.zeros_like(arrived)
        slope = 1 - (h[t - 1] if slip == "slope before" else h[t]) ** 2
        if slip == "no slope":
            slope = torch.ones_like(slope)
        delta = direct + arrived * slope if slip == "slope of one" else (direct + arrived) * slope
        if slip == "last step" and t < T:
            continue
        into_h = torch.outer(delta, h[t] if slip == "state after" else h[t - 1])
        into_x = torch.outer(delta, x[t - 1])
        keep = slip == "first step"
        dW_hh = into_h if keep else dW_hh + into_h
        dW_xh = into_x if keep else dW_xh + into_x
    if slip == "turned":
        return dW_hh.T, dW_xh
    return (dW_xh, dW_hh) if slip == "swapped" else (dW_hh, dW_xh)


@turns.task(_bptt)
def bptt(trial: Trial) -> None:
    where = see(5, "Backpropagation through time")
    hint = (
        "Go from the last step to the first. delta is (what comes from this step's own loss + what "
        f"comes back from the step after) times the slope of tanh. "
        f"{where}"
    )

    def slip(name: str, words: str) -> Slip:
        return lambda g, h, x, W_hh: _bptt(g, h, x, W_hh, name), words

    slips: list[Slip] = [
        slip("not transposed", "On the way back the matrix is transposed: W_hh.T @ delta."),
        slip("last loss", "Every step has a loss of its own: g[t - 1] comes in at each of them."),
        slip("no future", "What comes back from the step after is missing: W_hh.T @ delta."),
        slip("slope before", "The slope of tanh at step t follows from its own output, h[t]."),
        slip("no slope", "The slope of tanh, 1 - h[t] ** 2, is missing."),
        slip("slope of one", "Both parts pass through tanh: put brackets around their sum."),
        slip("last step", "The weights are used at every step: add up all steps' contributions."),
        slip("first step", "Only one step is left: add to dW_hh and dW_xh, do not replace them."),
        slip("state after", "W_hh multiplies the state before the step, h[t - 1]."),
        slip("turned", "Row i of dW_hh belongs to delta[i]: torch.outer(delta, h[t - 1])."),
        slip("swapped", "dW_hh comes first, then dW_xh."),
    ]
    look = {"hint": hint, "slips": slips}
    answer = trial.answer

    def in_doubles(*given: Tensor) -> object:
        try:
            return answer(*given)
        except RuntimeError as error:
            if "dtype" not in str(error):
                raise
            words = "Your sums are float32, and the numbers are doubles: begin with zeros_like."
            raise Complaint(
                "it computes in doubles", f"{words} {where}", got=where_it_arose(error)
            ) from error

    trial.answer = in_doubles
    for T, D, H in ((3, 3, 2), (5, 2, 4), (1, 3, 2)):
        W_hh, W_xh, x = trial.normal(H, H), trial.normal(H, D), trial.normal(T, D)
        h = [torch.zeros(H, dtype=torch.double)]
        for t in range(T):
            h.append(torch.tanh(W_hh @ h[t] + W_xh @ x[t]))
        rule = "one step" if T == 1 else "the gradients over all steps"
        given = f"T = {T}, D = {D}, H = {H}, random numbers"
        arguments = (trial.normal(T, H), torch.stack(h), x, W_hh)
        trial.agrees(_bptt, *arguments, rule=rule, given=given, **look)


def _products(w: float, h: Sequence[float]) -> list[float]:
    found = [1.0]
    for t in range(len(h) - 1, 0, -1):
        found.append(found[-1] * w * (1 - h[t] ** 2))
    return found


@turns.task(_products)
def products(trial: Trial) -> None:
    where = see(5, "Vanishing and exploding gradients")
    hint = (
        "Begin with [1.0]. For t = T, T - 1, ..., 1 the last number times w * (1 - h[t] ** 2) is "
        f"the next. {where}"
    )
    slips: list[Slip] = [
        (lambda w, h: _products(w, h)[::-1], "The nearest comes first: dh_T/dh_T = 1."),
        (lambda w, h: _products(w, h)[1:], "The list begins with dh_T/dh_T, which is 1."),
        (
            lambda w, h: [1.0] + [w * (1 - v**2) for v in h[:0:-1]],
            "These are the factors of the single steps: multiply them up.",
        ),
        (
            lambda w, h: [w**k for k in range(len(h))],
            "The slope of tanh, 1 - h[t] ** 2, belongs into every factor.",
        ),
        (
            lambda w, h: [math.prod(1 - v**2 for v in h[len(h) - k :]) for k in range(len(h))],
            "The weight w belongs into every factor.",
        ),
        (
            lambda w, h: [
                math.prod(w * (1 - v**2) for v in h[len(h) - 1 - k : len(h) - 1])
                for k in range(len(h))
            ],
            "The step from h[t - 1] to h[t] has the slope at h[t], not at h[t - 1].",
        ),
        (
            lambda w, h: [
                math.prod(w * (1 - v**2) for v in h[len(h) - 1 - k :]) for k in range(len(h))
            ],
            "One factor too many: dh_T/dh_T is 1, and the slope at h[T] comes with the first step.",
        ),
        (
            lambda w, h: [math.prod(w * (1 - v**2) for v in h[1 : k + 1]) for k in range(len(h))],
            "You go forward from the first step; the way back begins at the last one.",
        ),
        (
            lambda w, h: [math.prod(w * (1 - v) for v in h[len(h) - k :]) for k in range(len(h))],
            "The slope of tanh is 1 - h[t] ** 2: the square is missing.",
        ),
        (
            lambda w, h: _products(w, h)[-1],
            "That is dh_T/dh_0 alone: a list of all of them is asked for.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    answer = trial.answer

    def as_list(w: float, h: Sequence[float]) -> object:
        found = answer(w, h)
        return found.tolist() if isinstance(found, np.ndarray) else found

    trial.answer = as_list  # an array does as well
    trial.agrees(_products, 2.0, [0.0, 0.5, 0.1], rule="two steps, by hand", **look)
    trial.agrees(_products, 2.0, [0.3], rule="no step at all", hint=hint, slips=slips)
    h = trial.normal(6).tanh().tolist()
    trial.agrees(_products, trial.integer(5, 20) / 10, h, rule="it is right for any h", **look)


def _norm(gradients: Sequence[Tensor]) -> float:
    return sum(float((g**2).sum()) for g in gradients) ** 0.5


def _clip(gradients: Sequence[Tensor], bound: float) -> list[Tensor]:
    norm = _norm(gradients)
    factor = bound / norm if norm > bound else 1.0
    return [g * factor for g in gradients]


@turns.task(_clip)
def clip(trial: Trial) -> None:
    hint = (
        "One norm for all tensors together: the root of the sum of all squares. Where it is larger "
        f"than bound, multiply every tensor by bound / norm. {see(5, 'Clipping')}"
    )

    slips: list[Slip] = [
        (
            lambda gs, c: [g * min(1.0, c / float(g.norm())) for g in gs],
            "Each tensor is cut by itself, which changes the direction of the whole gradient: use "
            "one norm for all of them.",
        ),
        (
            lambda gs, c: [g.clamp(-c, c) for g in gs],
            "Single numbers are cut off, which changes the direction: scale all by one factor.",
        ),
        (
            lambda gs, c: [g * c / _norm(gs) for g in gs],
            "A gradient that is shorter than bound must stay as it is.",
        ),
        (
            lambda gs, c: [g * min(1.0, c / _norm(gs) ** 2) for g in gs],
            "That is the sum of squares; the norm is its root.",
        ),
        (
            lambda gs, c: [g * min(1.0, c / sum(float(g.norm()) for g in gs)) for g in gs],
            "Norms do not add up, squares do: take the root of the sum of all squares.",
        ),
        (
            lambda gs, c: [g * min(1.0, 1 / _norm(gs)) for g in gs],
            "The norm is cut to 1; it shall be cut to bound.",
        ),
        (
            lambda gs, c: [g if _norm(gs) <= c else torch.zeros_like(g) for g in gs],
            "A long gradient is not thrown away: its direction stays, its length becomes bound.",
        ),
        (lambda gs, c: list(gs), "Nothing is scaled, although the norm is larger than bound."),
    ]
    look = {"hint": hint, "slips": slips}
    long = [torch.tensor([3.0, 4.0]).double(), torch.tensor([[12.0]]).double()]
    trial.agrees(_clip, long, 1.0, rule="a norm of 13 is cut to 1", **look)
    trial.agrees(_clip, long, 6.5, rule="a norm of 13 is cut to 6.5", **look)
    trial.agrees(_clip, long, 20.0, rule="a short gradient stays as it is", **look)
    drawn = [trial.normal(3, 4), trial.normal(4), trial.normal(2, 2, 2)]
    trial.agrees(_clip, drawn, 0.5, rule="any tensors are scaled by one factor", **look)


def _generate(read: Read, first: int, length: int, generator: torch.Generator) -> list[int]:
    token, state, written = first, None, []
    for _ in range(length):
        scores, state = read(torch.tensor([[token]]), state)
        token = int(torch.multinomial(scores[0, -1].softmax(-1), 1, generator=generator))
        written.append(token)
    return written


def _reader(rows: list[list[float]]) -> Read:
    """A network whose scores are a row for each token read, in turn; its state counts them."""

    def read(tokens: Tensor, state: object = None) -> tuple[Tensor, object]:
        step = 0 if state is None else int(state)  # type: ignore[call-overload]
        row = torch.tensor(rows[(step + tokens.shape[1] - 1) % len(rows)])
        return row.view(1, 1, -1), torch.tensor(step + tokens.shape[1])

    return read


def _follower() -> Read:
    """A network that surely says the symbol after the one that it read, of five."""

    def read(tokens: Tensor, state: object = None) -> tuple[Tensor, object]:
        scores = torch.full((1, 1, 5), -1e4)
        scores[0, 0, (int(tokens[0, -1]) + 1) % 5] = 0.0
        return scores, torch.zeros(1)

    return read


@turns.task(_generate)
def generate(trial: Trial) -> None:
    where = see(5, "A recurrent network that writes")
    hint = (
        "Read one token with the state so far, draw the next from the softmax of the scores, keep "
        f"it, and read it in the next round. {where}"
    )

    def say(rule: str, read: Read, first: int, length: int, words: str, expected: list) -> None:
        given = f"a network for which this is known, first = {first}, length = {length}"
        got = trial.call(read, first, length, torch.Generator().manual_seed(0), given=given,
                         hint=hint)  # fmt: skip
        got = got.tolist() if isinstance(got, Tensor) else got
        alone = f"{words} Hand back a list of {length} numbers."
        trial.holds(isinstance(got, list), rule, alone, given=given, got=got, expected=expected)
        got = [int(token) for token in got]
        too_long = "The first token was given, not written: leave it out." if got == [
            first, *expected] else words  # fmt: skip
        trial.equals(got, expected, rule, too_long, given=given)

    again = "What was drawn must be read in the next step: token becomes what was drawn."
    say("it reads what it has written", _follower(), 2, 6, again, [3, 4, 0, 1, 2, 3])
    counts: list[int] = []

    def noting(tokens: Tensor, state: object = None) -> tuple[Tensor, object]:
        counts.append(tokens.shape[1])
        return _reader(sure)(tokens, state)

    sure = [[0.0 if i == k else -1e4 for i in range(4)] for k in (3, 1, 0, 2)]
    trial.call(noting, 0, 4, torch.Generator().manual_seed(0), given="a network", hint=hint)
    trial.holds(
        max(counts) <= 1,
        "nothing is read twice",
        "Symbols are read again: keep the state, which has read them, and hand over the last.",
        given="length = 4",
        got=f"{max(counts)} tokens at once",
        expected="one token at a time",
    )
    lost = "The state is lost: hand the one that read gave back to read in the next step."
    say("it keeps the state", _reader(sure), 0, 4, lost, [3, 1, 0, 2])
    odds = _reader([[math.log(p) for p in (0.6, 0.3, 0.1)]])
    given = "scores log 0.6, log 0.3, log 0.1 at every step"
    drawn = trial.call(odds, 0, 2000, torch.Generator().manual_seed(3), given=given, hint=hint)
    shares = torch.bincount(torch.tensor([int(t) for t in drawn]), minlength=3) / 2000
    greedy = bool(shares.max() > 0.99)
    words = (
        "The most probable symbol is taken each time: draw one, with torch.multinomial."
        if greedy
        else "Draw from the softmax of the scores: a score is no probability yet."
    )
    near = bool((shares - torch.tensor([0.6, 0.3, 0.1])).abs().max() < 0.06)
    rule = "it draws from the softmax of the scores"
    trial.holds(near, rule, words, given=given, got=shares, expected=[0.6, 0.3, 0.1])
    one, other = (
        [int(t) for t in trial.call(odds, 0, 50, torch.Generator().manual_seed(s), given=given)]
        for s in (3, 3)
    )
    words = "All chance comes from the generator: torch.multinomial(p, 1, generator=generator)."
    trial.holds(one == other, "the same generator, the same text", words, given=given)


def _next_inputs(true: Tensor, own: Tensor, epsilon: float, coins: Tensor) -> Tensor:
    return torch.where(coins < epsilon, true, own)


@turns.task(_next_inputs)
def next_inputs(trial: Trial) -> None:
    where = see(5, "Optional: exposure bias and scheduled sampling")
    hint = f"Where the coin is below epsilon the true symbol is read, elsewhere the own. {where}"
    slips: list[Slip] = [
        (
            lambda true, own, e, coins: torch.where(coins < e, own, true),
            "It is turned round: epsilon is the probability of the true symbol.",
        ),
        (
            lambda true, own, e, coins: true,
            "Every row reads the true symbol: that is teacher forcing. Each row has its own coin.",
        ),
        (
            lambda true, own, e, coins: own,
            "Every row reads its own symbol; each row has its own coin.",
        ),
        (
            lambda true, own, e, coins: true if bool(coins[0] < e) else own,
            "Every row of the batch has a coin of its own.",
        ),
        (
            lambda true, own, e, coins: e * true + (1 - e) * own,
            "Symbols cannot be mixed: choose one of the two for each row.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    true, own = torch.tensor([0, 1, 2, 3]), torch.tensor([4, 5, 6, 7])
    coins = torch.tensor([0.1, 0.8, 0.3, 0.6])
    many = torch.arange(40), torch.arange(40, 80), 0.5, torch.arange(40) / 40
    first, again = (trial.call(*many, given="40 rows", hint=hint) for _ in range(2))
    trial.holds(
        str(first) == str(again),
        "the same coins, the same inputs",
        "Use the coins that are handed in; no new ones are tossed.",
        given="the same 40 coins twice",
    )
    trial.agrees(_next_inputs, true, own, 0.5, coins, rule="a coin for each row", **look)
    trial.agrees(_next_inputs, true, own, 1.0, coins, rule="epsilon 1: the true ones", **look)
    trial.agrees(_next_inputs, true, own, 0.0, coins, rule="epsilon 0: the own ones", **look)
    drawn = torch.rand(20, generator=trial.generator)
    true, own = trial.integers(0, 9, 20), trial.integers(0, 9, 20)
    trial.agrees(_next_inputs, true, own, 0.7, drawn, rule="it is right for any coins", **look)
