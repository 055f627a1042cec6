"""Checks of lab 03, fourth part: a recurrent cell, a padded batch, gradients of the inputs."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab03.common import answered, lab, run_with_hints
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial


class CourseElmanCell(nn.Module):
    """h_t = ReLU(W_x x_t + W_h h_{t-1} + b)."""

    def __init__(self, d_in: int, d_hidden: int) -> None:
        super().__init__()
        self.x2h = nn.Linear(d_in, d_hidden)
        self.h2h = nn.Linear(d_hidden, d_hidden, bias=False)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        return torch.relu(self.x2h(x) + self.h2h(h))


@lab.task(CourseElmanCell, without=["RNNCell", "RNN", "RNNBase", "rnn_relu_cell"])
def ElmanCell(trial: Trial) -> None:
    where = see(6, "The lecture's network and its data")
    with torch.random.fork_rng():
        cell = trial.call(3, 4, hint="Call super().__init__() before you make layers.")
        small = trial.call(1, 1)
    layers = "Make both with nn.Linear, and keep them under these names: self.x2h = ..."
    trial.holds(isinstance(cell, nn.Module), "it is an nn.Module", layers, got=cell)
    for name, shape in (("x2h", (4, 3)), ("h2h", (4, 4))):
        layer = getattr(cell, name, None)
        got = tuple(layer.weight.shape) if isinstance(layer, nn.Linear) else layer
        expected = f"an nn.Linear with a weight of shape {shape}"
        hint = "nn.Linear(a, b) maps a numbers to b." if isinstance(layer, nn.Linear) else layers
        trial.holds(got == shape, f"it has the layer {name}", hint, given="ElmanCell(3, 4)",
                    got=got, expected=expected)  # fmt: skip
    names = sorted(name for name, _ in cell.named_parameters())
    wanted = ["h2h.weight", "x2h.bias", "x2h.weight"]
    hint = "Of two biases only the sum matters, so one bias b is enough: that of x2h."
    if "x2h.bias" not in names:
        hint = "Where is b? A linear layer has a bias unless you say otherwise; x2h keeps its own."
    elif set(names) - {*wanted, "h2h.bias"}:
        hint = "The cell has two layers, x2h and h2h. What makes the logit stands outside of it."
    trial.holds(
        names == wanted,
        "its weights are W_x, W_h and one bias b, and nothing else",
        hint,
        given="the parameters of ElmanCell(3, 4)",
        got=", ".join(names),
        expected=", ".join(wanted),
    )
    forward = type(cell).forward is not nn.Module.forward
    trial.holds(forward, "it has a method forward", "PyTorch calls the method named forward.")
    _fill(small, 2.0, 0.5, -1.0)
    for x, h, new, hint in (
        (
            1.0,
            0.0,
            1.0,
            "W_x times the input, plus b; ReLU leaves a positive sum as it is, tanh does not.",
        ),
        (1.0, 2.0, 2.0, "W_h times the old state is added before the ReLU."),
        (-1.0, 0.0, 0.0, "The lecture's network has ReLU where others have tanh."),
        (0.0, 8.0, 3.0, "ReLU comes once, after the sum; what it gives is the new state."),
    ):
        given = f"W_x = 2, W_h = 0.5, b = -1, x = {x}, h = {h}"
        got = trial.run(small, torch.tensor([[x]]), torch.tensor([[h]]), given=given)
        answered(got, given)
        if not isinstance(got, Tensor) or got.shape != (1, 1):
            hint = "What comes back is the new state alone, a tensor (B, H)."
        trial.equals(got, torch.tensor([[new]]), "by hand", f"{hint} {where}", given=given)
    cell = cell.double()
    with torch.random.fork_rng():
        torch_cell = nn.RNNCell(3, 4, nonlinearity="relu", dtype=torch.float64)
    values = {name: trial.normal(*p.shape) for name, p in torch_cell.named_parameters()}
    torch_cell.load_state_dict(values)
    cell.load_state_dict(
        {
            "x2h.weight": values["weight_ih"],
            "x2h.bias": values["bias_ih"] + values["bias_hh"],
            "h2h.weight": values["weight_hh"],
        }
    )
    for B in (5, 1):
        x, h, given = trial.normal(B, 3), trial.normal(B, 4), f"random x ({B}, 3) and h ({B}, 4)"
        got = trial.run(cell, x, h, given=given)
        rule = "equal to nn.RNNCell(nonlinearity='relu') with the same weights"
        trial.equals(got, torch_cell(x, h).detach(), rule, where, given=given)
    rule = "gradients reach every weight"
    whole = "Compute with tensors all the way: no .data, .detach() or .item()."
    trial.holds(got.requires_grad, rule, whole)
    found = _gradient(got.sum(), list(cell.parameters()), rule)
    trial.holds(all(gradient is not None for gradient in found), rule, whole)


def _gradient(value: Tensor, of: list[Tensor], rule: str) -> list[Tensor | None]:
    """The gradients of a student's value, None where it does not depend on a tensor.

    Raises:
        Complaint: something that the gradient needs was overwritten.
    """
    try:
        return list(torch.autograd.grad(value, of, allow_unused=True))
    except RuntimeError as error:
        hint = (
            "autograd still needs a state that was overwritten: h[...] = ... and h += ... change a "
            "tensor in place. Make a new one."
        )
        raise Complaint(rule, hint, got=f"RuntimeError: {error}"[:160]) from error


def _fill(cell: nn.Module, w_x: float, w_h: float, b: float) -> None:
    with torch.no_grad():
        cell.x2h.weight.fill_(w_x)
        cell.x2h.bias.fill_(b)
        cell.h2h.weight.fill_(w_h)


def course_last_states(cell: nn.Module, x: Tensor, lengths: Tensor) -> Tensor:
    h = x.new_zeros(len(x), cell.h2h.in_features)
    for t in range(x.shape[1]):
        h = torch.where((t < lengths)[:, None], cell(x[:, t], h), h)
    return h


class _Counted(CourseElmanCell):
    """Counts how often it is called."""

    calls = 0

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x, h)


@lab.task(course_last_states, uses=["ElmanCell"])
def last_states(trial: Trial) -> None:
    padded = (
        "A row keeps the state that it had after its last symbol: what lies behind it is read by "
        "the others only."
    )
    with torch.random.fork_rng():
        digits, cell = CourseElmanCell(1, 1).double(), _Counted(3, 4).double()
    _fill(digits, 1.0, 10.0, 0.0)
    order = "Row i of the result belongs to row i of x."
    steps = (
        "A sequence of n symbols takes n steps, from the first symbol to the n-th, and the state "
        "before the first is 0."
    )
    fit = (
        "The cell wants tensors x (B, D) and h (B, H), both of one type: x.new_zeros(...) makes "
        "zeros of the type of x. What has one entry a row, as lengths has, is (B,) and no column."
    )
    errors = {
        "RuntimeError": fit,
        "TypeError": fit,
        "IndexError": "x is (B, T, D), so its first axis counts the rows of the batch: step t of "
        "all rows is x[:, t]. And indices count from 0: which one has the last of n symbols?",
    }

    def add(rows: list[list[float]], lengths: list[int], rule: str, hint: str) -> None:
        x = torch.tensor(rows, dtype=torch.float64)[..., None]
        given = f"a cell that computes ReLU(x + 10 h), inputs {rows}, lengths {lengths}"
        expected = [[sum(v * 10.0**k for k, v in enumerate(reversed(row[:n])))]
                    for row, n in zip(rows, lengths, strict=True)]  # fmt: skip
        last = (digits, x, torch.tensor(lengths))
        got = run_with_hints(trial, trial.answer, *last, hints=errors, given=given)
        answered(got, given)
        if isinstance(got, Tensor) and got.shape == (len(rows), 1):
            wrong = [row != wanted for row, wanted in zip(got.tolist(), expected, strict=True)]
            ended = zip(got.tolist(), expected, lengths, strict=True)
            if any(row == [0.0] != want and n < x.shape[1] for row, want, n in ended):
                hint = f"A state times 0 is 0, and not the state that was there. {padded}"
            elif sorted(got.tolist()) == sorted(expected):
                hint = order
            elif wrong[lengths.index(max(lengths))]:
                hint = steps
        else:
            hint = (
                "x is (B, T, D): a row is a sequence. What comes back is one state a row, (B, H)."
            )
        trial.equals(got, torch.tensor(expected, dtype=torch.float64), rule, hint, given=given)

    add([[5]], [1], "one symbol by hand", steps)
    add([[1, 2, 3]], [3], "three symbols by hand", steps)
    add([[1, 2, 3], [4, 5, 6]], [3, 3], "two rows by hand", order)
    add([[1, 2, 3], [4, 5, 0]], [3, 2], "a shorter row by hand", padded)
    add([[1, 2, 3], [4, 5, 9], [6, 7, 8]], [2, 1, 3], "what stands in padding is not read", padded)
    # Random rows, beside each row by itself
    B, T = 6, 7
    x = trial.normal(B, T, 3)
    lengths = torch.cat([torch.tensor([T, 1]), trial.integers(1, T + 1, B - 2)])
    alone = torch.cat([course_last_states(cell, x[i : i + 1, :n], torch.tensor([n]))
                       for i, n in enumerate(lengths.tolist())]).detach()  # fmt: skip
    given = f"a random cell, x of shape {tuple(x.shape)}, lengths {lengths.tolist()}"
    cell.calls = 0
    got = run_with_hints(trial, trial.answer, cell, x, lengths, hints=errors, given=given)
    calls = cell.calls
    trial.equals(got, alone, "each row has the state that it would have by itself", padded,
                 given=given)  # fmt: skip
    trial.holds(
        calls <= T,
        "one call of the cell per time step, for the whole batch",
        "Loop over the time steps, not over the rows: a cell takes a batch (B, D) at once.",
        given=given,
        got=f"{calls} calls for T = {T}",
    )
    garbage = torch.where(torch.arange(T)[:, None] < lengths[:, None, None], x, 1e3 * x)
    trial.equals(trial.call(cell, garbage, lengths, given=given), alone,
                 "padding changes nothing", padded, given=given)  # fmt: skip
    _gradients_stay_inside(trial, cell, x, lengths, given)


def _gradients_stay_inside(
    trial: Trial, cell: nn.Module, x: Tensor, lengths: Tensor, given: str
) -> None:
    """The gradient with respect to x is the reference's, and 0 at padding."""
    weights, found = trial.normal(len(x), 4), []
    for function in (trial.answer, course_last_states):
        leaf = x.clone().requires_grad_()
        got = trial.run(function, cell, leaf, lengths, given=given)
        rule = "gradients flow through all steps, and none into padding"
        hint = "The graph must reach from h_n back to x_1: no .detach(), no torch.no_grad()."
        trial.holds(got.requires_grad, rule, hint, given=given)
        found += _gradient((got * weights).sum(), [leaf], rule)
    trial.holds(found[0] is not None, rule, hint, given=given)
    trial.equals(*found, rule, hint, given=given)


def _input_gradients(
    w_x: float, w_h: float, b: float, x: list[float], n: int, y: float
) -> list[float]:
    h = [0.0]
    for x_t in x[:n]:
        h.append(math.tanh(w_x * x_t + w_h * h[-1] + b))
    gradient = [0.0] * len(x)
    dh = h[n] - y
    for t in range(n, 0, -1):
        delta = dh * (1 - h[t] ** 2)
        gradient[t - 1] = delta * w_x
        dh = delta * w_h
    return gradient


@lab.task(_input_gradients, without=["backward", "grad", "autograd"])
def input_gradients(trial: Trial) -> None:
    where = see(5, "Backpropagation through time")
    begin = (
        "What is the derivative of half a square? Then comes the slope of tanh at the last step, "
        f"which is known from h_n, and then the weight by which x_n enters. {where}"
    )
    every = "One number for each of the T inputs, in their order: x_1 first."
    chain = (
        "From step t + 1 back to step t the chain rule passes two places: the recurrent weight, "
        f"and the slope of tanh at step t itself. {where}"
    )
    padded = (
        "The loss depends on h_n alone. What stands behind the n-th symbol is never read, so it "
        "can change nothing: its gradient is 0, and it has one all the same."
    )
    near = (
        "Near, but not exact: a difference quotient or a float32 only comes close. Go back step by "
        f"step with the chain rule. {where}"
    )

    def compare(
        x: list[float], n: int, y: float, rule: str, hint: str, w=(0.6, 0.8, 0.1), near=1e-5
    ) -> None:
        given = f"w_x = {w[0]}, w_h = {w[1]}, b = {w[2]}, x = {x}, n = {n}, y = {y}"
        got = trial.call(*w, list(x), n, y, given=given)
        expected = _autograd(*w, x, n, y)
        answered(got, given)
        listed = "Hand back a list: gradient.tolist() makes one of a tensor."
        trial.holds(not isinstance(got, Tensor), "a list comes back", listed, given=given,
                    got=repr(got)[:120])  # fmt: skip
        fits = isinstance(got, list | tuple) and len(got) == len(x)
        trial.holds(fits, "one number for each input", every, given=given, got=got)
        numbers = all(isinstance(v, int | float) for v in got)
        plain = "Compute with Python's numbers, as math.tanh gives them."
        trial.holds(numbers, "plain numbers come back", plain, given=given, got=repr(got)[:120])
        if len(x) > 1 and not differs(list(got)[::-1], expected, 1e-6):
            hint = f"In the order of the inputs. {every}"
        elif any(got[n:]):
            hint = padded
        elif not differs([v * w[0] for v in got], expected, 1e-6):
            hint = f"How does the loss change with x_t itself? x_t is multiplied by w_x. {where}"
        for t, (mine, wanted) in enumerate(zip(got, expected, strict=True), 1):
            close = abs(mine - wanted) <= near * max(1.0, abs(wanted))
            place = f"{given} (the gradient of x_{t})"
            trial.holds(close, rule, hint, given=place, got=repr(mine), expected=repr(wanted))

    compare([2.0], 1, 0.3, "one step", begin)
    compare([1.0], 1, 0.9, "one step", begin)
    compare([0.0, 1.0], 2, 0.3, "two steps", chain)
    compare([0.0, 1.0, 0.5], 3, -0.3, "three steps", chain)
    compare([1.0, -1.0, 0.7, 0.2], 2, -0.5, "padding has the gradient 0", padded)
    for T in (3, 10, 30):
        w = tuple((0.5 * trial.normal(3) + 0.4).tolist())
        x, y = trial.normal(T).tolist(), float(trial.normal(1))
        n = trial.integer(2, T + 1)
        compare(x, n, y, "equal to autograd on random numbers", chain, w)
        compare(x, n, y, "equal to twelve digits", near, w, 1e-12)


def _autograd(w_x: float, w_h: float, b: float, x: list[float], n: int, y: float) -> list[float]:
    """The same gradients by PyTorch."""
    inputs = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    h = torch.zeros((), dtype=torch.float64)
    for x_t in inputs[:n]:
        h = torch.tanh(w_x * x_t + w_h * h + b)
    (gradient,) = torch.autograd.grad(0.5 * (h - y) ** 2, [inputs])
    return gradient.tolist()
