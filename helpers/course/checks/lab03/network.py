"""Checks of lab 03, third part: a padded batch, and the error by length.

Tokens (B, T) are rows of symbols 0 to 9, filled up at their ends with 10; labels are 1 where a row
is balanced. A classifier maps tokens to one logit per row, (B,), positive where it says "balanced".
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from helpers.course.checks.lab03.common import lab
from helpers.course.checks.trial import Complaint, Trial
from helpers.course.checks.turn import Case, turn


class CourseElmanCell(nn.Module):
    """h_t = ReLU(W_x x_t + W_h h_{t-1} + b)."""

    def __init__(self, d_in: int, d_hidden: int) -> None:
        super().__init__()
        self.x2h = nn.Linear(d_in, d_hidden)
        self.h2h = nn.Linear(d_hidden, d_hidden, bias=False)

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        return torch.relu(self.x2h(x) + self.h2h(h))


class _Counted(CourseElmanCell):
    """Counts how often it is called."""

    calls = 0

    def forward(self, x: Tensor, h: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x, h)


_PADDED = (
    "A row keeps the state that it had after its last symbol: what lies behind it is read by "
    "the others only."
)
_ORDER = "Row i of the result belongs to row i of x."
_STEPS = (
    "A sequence of n symbols takes n steps, from the first symbol to the n-th, and the state "
    "before the first is 0."
)
_ROWS = (
    "x is (B, T, D): a row is a sequence, and what comes back is one state a row, (B, H). " + _STEPS
)
_FIT = (
    "The cell wants tensors x (B, D) and h (B, H), both of one type: x.new_zeros(...) makes "
    "zeros of the type of x. What has one entry a row, as lengths has, is (B,) and no column."
)
_ERRORS = {
    "RuntimeError": _FIT,
    "TypeError": _FIT,
    "IndexError": "x is (B, T, D), so its first axis counts the rows of the batch: step t of "
    "all rows is x[:, t]. And indices count from 0: which one has the last of n symbols?",
}


def _by_hand(trial: Trial) -> Iterator[Case]:
    with torch.random.fork_rng():
        digits = CourseElmanCell(1, 1).double()
    with torch.no_grad():
        for p, value in zip(digits.parameters(), (1.0, 0.0, 10.0), strict=True):
            p.fill_(value)
    for rows, lengths, rule, hint in (
        ([[5]], [1], "one symbol by hand", _ROWS),
        ([[1, 2, 3]], [3], "three symbols by hand", _ROWS),
        ([[1, 2, 3], [4, 5, 6]], [3, 3], "two rows by hand", _ORDER),
        ([[1, 2, 3], [4, 5, 0]], [3, 2], "a shorter row by hand", _PADDED),
        # Neither order of these lengths, up or down, is its own inverse.
        ([[1, 2, 9, 9], [4, 5, 6, 7], [8, 9, 9, 9], [3, 2, 1, 9]], [2, 4, 1, 3],
         "padding is not read", _PADDED),
    ):  # fmt: skip
        x = torch.tensor(rows, dtype=torch.float64)[..., None]
        given = f"a cell that computes ReLU(x + 10 h), inputs {rows}, lengths {lengths}"
        yield Case(rule, digits, x, torch.tensor(lengths), given=given, hint=hint)


def _each_row_by_itself(trial: Trial) -> None:
    with torch.random.fork_rng():
        cell = _Counted(3, 4).double()
    (B, T), ours = (6, 7), last_states.fallback
    x = trial.normal(B, T, 3)
    lengths = torch.cat([torch.tensor([T, 1]), trial.integers(1, T + 1, B - 2)])
    alone = torch.cat([ours(cell, x[i : i + 1, :n], torch.tensor([n]))
                       for i, n in enumerate(lengths.tolist())]).detach()  # fmt: skip
    given = f"a random cell, x of shape {tuple(x.shape)}, lengths {lengths.tolist()}"
    cell.calls = 0
    got, calls = trial.call(cell, x, lengths, given=given), cell.calls
    rule = "each row has the state that it would have by itself"
    trial.equals(got, alone, rule, f"{_ORDER} {_PADDED}", given=given)
    trial.holds(
        calls <= T,
        "one call of the cell per time step, for the whole batch",
        "Loop over the time steps, not over the rows: a cell takes a batch (B, D) at once.",
        given=given,
        got=f"{calls} calls for T = {T}",
    )
    garbage = torch.where(torch.arange(T)[:, None] < lengths[:, None, None], x, 1e3 * x)
    trial.equals(trial.call(cell, garbage, lengths, given=given), alone,
                 "padding changes nothing", _PADDED, given=given)  # fmt: skip
    # The gradient with respect to x is the reference's, and 0 at padding.
    weights, found = trial.normal(B, 4), []
    rule = "gradients flow through all steps, and none into padding"
    hint = "The graph must reach from h_n back to x_1: no .detach(), no torch.no_grad()."
    for function in (trial.answer, ours):
        leaf = x.clone().requires_grad_()
        got = trial.run(function, cell, leaf, lengths, given=given)
        trial.holds(got.requires_grad, rule, hint, given=given)
        try:
            found += torch.autograd.grad((got * weights).sum(), [leaf], allow_unused=True)
        except RuntimeError as error:
            hint = (
                "autograd still needs a state that was overwritten: h[...] = ... and h += ... "
                "change a tensor in place. Make a new one."
            )
            raise Complaint(rule, hint, got=str(error)[:160]) from error
    trial.holds(found[0] is not None, rule, hint, given=given)
    trial.equals(*found, rule, hint, given=given)


@turn(
    lab,
    _ROWS,
    cases=_by_hand,
    errors=_ERRORS,
    also=_each_row_by_itself,
    slips=f"""
    t < lengths => t < lengths - 1
    range(x.shape[1]) => range(int(lengths.min()))
    x.new_zeros => x.new_ones
    x[:, t] => x[:, -1 - t]
        {_STEPS}
    return h => return h[lengths.argsort()]
    return h => return h[lengths.argsort(descending=True)]
        {_ORDER}
    return h => order = lengths.argsort(descending=True) ; return h[order][order]
    return h => order = lengths.argsort() ; return h[order][order]
        order[i] is the row that went to place i. The way back is order.argsort(), not order once \
        more.
    cell(x[:, t], h), h) => cell(x[:, t], h), 0 * h)
        A state times 0 is 0, and not the state that was there. {_PADDED}
    """,
)
def last_states(cell, x, lengths):
    h = x.new_zeros(len(x), cell.h2h.in_features)
    for t in range(x.shape[1]):
        running = (t < lengths)[:, None]
        h = torch.where(running, cell(x[:, t], h), h)
    return h


class _Votes(nn.Module):
    """Says "balanced" with a logit of this size where the second symbol closes."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.size, self.graph = nn.Parameter(torch.tensor(size)), False

    def forward(self, tokens: Tensor) -> Tensor:
        logits = self.size * (2 * (tokens[:, 1] > 4).float() - 1)
        self.graph |= logits.requires_grad
        return logits


_SHARE = (
    "Of the rows of one length, the share that is wrong; 0 is best. The length of a row is how "
    "many symbols it has, a plain number, and 10 is no symbol; lengths that do not occur have no "
    "entry."
)
_ROWS_BY_HAND = [[0, 9, 10, 10], [0, 8, 10, 10], [2, 7, 10, 10],
                 [0, 1, 8, 9], [3, 6, 0, 9], [0, 1, 9, 8], [0, 1, 7, 9]]  # fmt: skip
_BY_HAND = torch.tensor(_ROWS_BY_HAND), torch.tensor([1, 0, 1, 1, 1, 0, 0])


def _tests(trial: Trial) -> Iterator[Case]:
    tokens, labels = _BY_HAND
    for rule, size in (("by hand", 5.0), ("small logits", 0.3), ("logits of 0", 0.0)):
        logits = [round(z, 1) + 0.0 for z in _Votes(size)(tokens).tolist()]
        given = f"rows {tokens.tolist()}, labels {labels.tolist()}, logits {logits}"
        yield Case(rule, _Votes(size), tokens, labels, given=given)
    for T in (12, 1 + 2 * trial.integer(2, 5)):
        tokens, lengths = trial.integers(0, 10, 80, T), trial.integers(2, T + 1, 80)
        tokens = tokens.masked_fill(torch.arange(T) >= lengths[:, None], 10)
        rule = f"random rows of 2 to {T} symbols"
        yield Case(rule, _Votes(0.3), tokens, trial.integers(0, 2, 80), given=f"80 {rule}")


def _plainly_measured(trial: Trial) -> None:
    model = _Votes(5.0)
    got = trial.call(model, *_BY_HAND)
    plain = not any(isinstance(value, Tensor) for value in got.values())
    trial.holds(plain, "the shares are plain numbers", "A tensor of one number has .item().",
                got=repr(got))  # fmt: skip
    trial.holds(
        not model.graph,
        "the model is asked without gradients",
        "Measuring needs no graph, which costs memory and time: torch.no_grad().",
    )


@turn(
    lab,
    _SHARE,
    cases=_tests,
    also=_plainly_measured,
    slips="""
    model(tokens) > 0 => model(tokens) > 0.5
    model(tokens) > 0 => model(tokens) > 1
        A logit is no probability, and may be negative: at which logit is P = 1/2?
    model(tokens) > 0 => model(tokens) >= 0
        A logit of 0 is not positive, so the model does not say "balanced".
    (model(tokens) > 0) != (labels == 1) => (model(tokens) > 0) == (labels == 1)
        That is the share that is right.
    .item() => .item() * 100
        A share goes from 0 to 1.
    tokens < 10 => tokens <= 10
        10 fills up the row: it is no symbol, and does not count in the length.
    """,
)
def error_by_length(model, tokens, labels):
    with torch.no_grad():
        wrong = (model(tokens) > 0) != (labels == 1)
    lengths = (tokens < 10).sum(1)
    return {n: wrong[lengths == n].double().mean().item() for n in lengths.unique().tolist()}
