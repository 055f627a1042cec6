"""Your turn with training: windows, one step, the rate, Muon's heart, copies, and a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.batching import TextWindows
from helpers.learning.training import rate as _course_rate

turns = Lab("notebook13")
Slip = tuple[Callable, str]


def _cut(tokens: Tensor, starts: Tensor, T: int) -> tuple[Tensor, Tensor]:
    rows = torch.stack([tokens[start : start + T + 1] for start in starts.tolist()])
    return rows[:, :-1], rows[:, 1:]


@turns.task(_cut)
def cut(trial: Trial) -> None:
    hint = f"A window holds T + 1 tokens: all but its last are read. {see(13, 'What it reads')}"
    slips: list[Slip] = [
        (
            lambda tokens, starts, T: (_rows(tokens, starts, T), _rows(tokens, starts, T)),
            "Inputs and targets are the same: the model would only have to repeat what it reads.",
        ),
        (
            lambda tokens, starts, T: (_rows(tokens, starts, T), _rows(tokens, starts + 2, T)),
            "The targets stand one token further on than the inputs, not two.",
        ),
        (
            lambda tokens, starts, T: _cut(tokens, starts, T)[::-1],
            "Inputs first, then targets: yours ask for the token before.",
        ),
        (
            lambda tokens, starts, T: _cut(tokens, starts, T - 1),
            "Your windows are one token too short: T inputs and T targets need T + 1 tokens.",
        ),
        (
            lambda tokens, starts, T: (_rows(tokens, starts + 1, T), _rows(tokens, starts + 2, T)),
            "The first input is the token at starts, not the one after it.",
        ),
        (
            lambda tokens, starts, T: (_rows(tokens, starts, T), tokens[starts + T]),
            "Every position has a target, not only the last: (B, T) of them.",
        ),
    ]
    two = "Return two tensors, inputs and targets, of the shape (B, T) each."
    tokens = torch.arange(10, 40)
    for starts, T in (([0, 5], 3), ([26], 3), ([trial.integer(0, 9) for _ in range(4)], 7)):
        given = f"tokens 10, 11, ..., 39, starts {starts}, T = {T}"
        begins = torch.tensor(starts)
        got = trial.call(tokens, begins, T, given=given)
        trial.holds(not isinstance(got, Tensor), "inputs and targets", two, given=given, got=got)
        expected = _cut(tokens, begins, T)
        wrong = []
        for slip, words in slips:
            with suppress(IndexError, RuntimeError):  # some look beyond the text's end
                wrong.append((slip(tokens, begins, T), words))
        rule = "inputs and targets by hand" if T == 3 else "and of any length"
        trial.equals(got, expected, rule, hint, slips=wrong, given=given)


def _rows(tokens: Tensor, starts: Tensor, T: int) -> Tensor:
    return torch.stack([tokens[s : s + T] for s in starts.tolist() if s + T <= len(tokens)])


def _train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    inputs: Tensor,
    targets: Tensor,
    clip: float,
) -> float:
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.item()


class _Table(nn.Module):
    """The smallest language model: a table of logits, times ``loud``, which lengthens gradients."""

    def __init__(self, begin: Tensor, loud: float) -> None:
        super().__init__()
        self.weight, self.loud = nn.Parameter(begin.clone()), loud

    def forward(self, tokens: Tensor) -> Tensor:
        return self.loud * self.weight[tokens]


@turns.task(_train_step)
def train_step(trial: Trial) -> None:
    V = 6
    begin = trial.normal(V, V, dtype=torch.float32)
    batches = [(trial.integers(0, V, 2, 5), trial.integers(0, V, 2, 5)) for _ in range(3)]
    where = see(13, "One step of training")

    def three_steps(step: Callable, clip: float) -> tuple[list[float], Tensor]:
        table = _Table(begin, 5.0)
        optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
        return [step(table, optimizer, *batch, clip) for batch in batches], table.weight.detach()

    def ours(step: Callable) -> Callable:
        return lambda *arguments: trial.run(step, *arguments, given="a small model and a batch")

    usual = (
        "The order is: logits, loss, zero_grad, backward, clip, step; then hand back the loss as a "
        f"number. {where}"
    )
    loud = "The gradient grows from step to step: zero_grad empties it before the backward pass."
    late = "That is the loss after the update; hand back the one that the gradient was made of."
    for clip, rule in ((1e9, "three steps of plain SGD"), (0.1, "the gradient's norm is clipped")):
        given = f"a table of logits, SGD with rate 0.1, three batches, clip {clip:g}"
        losses, weight = three_steps(ours(trial.answer), clip)
        wanted, moved = three_steps(_train_step, clip)
        handed = losses[0] is not None
        trial.holds(handed, "the loss is handed back", "Return the loss: return loss.item()")
        numbers = all(isinstance(loss, float) for loss in losses)
        form = "loss.item() makes a plain number of the loss; a tensor would keep its graph alive."
        trial.holds(numbers, "the loss is a number", form, given=given, got=losses[0])
        if torch.equal(weight, begin):
            still = (
                "The weights have not moved: a step ends with optimizer.step(), and the gradient "
                "that it takes must not have been emptied after backward."
            )
            trial.holds(False, "the weights move", still, given=given)
        slips = []
        for wrong, words in (
            (_grows, loud),
            (_loss_after, late),
            (
                _unclipped,
                "clip_grad_norm_ stands between backward and step: not before, not after.",
            ),
            (_fixed, "Clip at the length that is given, `clip`, and not at 1."),
            (_summed, "The loss is the mean over all B T predictions, not their sum."),
            (_softened, "cross_entropy wants the logits: it takes the softmax by itself."),
        ):
            losses_of_slip, weight_of_slip = three_steps(wrong, clip)
            slips.append(([*losses_of_slip, weight_of_slip], words))
        trial.equals(
            [*losses, weight],
            [*wanted, moved],
            rule,
            usual,
            slips=slips,
            given=given,
            tolerance=1e-5,
        )


def _variant(
    *,
    zero: bool = True,
    clip: bool = True,
    after: bool = False,
    total: bool = False,
    soft: bool = False,
    fixed: bool = False,
):
    def step(model, optimizer, inputs, targets, most):
        def loss_of():
            kind = "sum" if total else "mean"
            logits = model(inputs).flatten(0, 1)
            logits = logits.softmax(-1) if soft else logits
            return F.cross_entropy(logits, targets.flatten(), reduction=kind)

        loss = loss_of()
        if zero:
            optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0 if fixed else most)
        optimizer.step()
        return (loss_of() if after else loss).item()

    return step


_grows, _loss_after = _variant(zero=False), _variant(after=True)
_unclipped, _summed = _variant(clip=False), _variant(total=True)
_softened, _fixed = _variant(soft=True), _variant(fixed=True)


def _rate(step: int, steps: int, warmup: int) -> float:
    return _course_rate(step, steps, warmup)


@turns.task(_rate)
def rate(trial: Trial) -> None:
    steps, warmup = 10, 4
    given = "steps = 10, warmup = 4, step = 1, 2, ..., 10"
    got = [
        trial.call(step, steps, warmup, given=f"step = {step}, steps = 10, warmup = 4")
        for step in range(1, steps + 1)
    ]
    expected = [_rate(step, steps, warmup) for step in range(1, steps + 1)]
    first = [(s - 1) / warmup for s in range(1, 5)]
    zero = "A first step with the rate 0 learns nothing: step 1 already has 1 / warmup."
    early = "The line reaches 0 one step after the last: step 5 still has 1, step 10 has 1/6."
    slips = [
        ([*first, *expected[4:]], zero),
        ([min(s / 4, (10 - s) / 6, 1.0) for s in range(1, 11)], early),
        (
            [*expected[:4], *[(11 - s) / 10 for s in range(5, 11)]],
            "The fall begins at 1 after the warm-up, and is spread over steps - warmup steps.",
        ),
        ([*expected[:4], *[1.0] * 6], "After the warm-up the rate falls."),
        ([(11 - s) / 6 for s in range(1, 11)], "In the warm-up the rate rises, step by step."),
    ]
    hint = (
        "Steps 1 to 4 have 1/4, 2/4, 3/4, 1; step 5 has 1, step 11 would have 0, with a straight "
        f"line between the two. {see(13, 'The learning rate, and why it changes')}"
    )
    trial.equals(got, expected, "ten steps by hand", hint, slips=slips, given=given)
    none = "Without a warm-up, step 1 has the whole rate: mind the division by zero."
    for some, rise in ((7, 0), (1, 0), (trial.integer(50, 90), trial.integer(1, 50))):
        step = trial.integer(1, some + 1)
        value = trial.call(step, some, rise, hint=none)
        given = f"step {step} of {some}, warm-up {rise}"
        rule = "with any warm-up, or none"
        trial.equals(value, _rate(step, some, rise), rule, none if not rise else hint, given=given)


def _train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    windows: Any,
    steps: int,
    warmup: int,
    highest: float,
    first: int = 1,
    batch: int = -1,
    constant: bool = False,
    clip: float = 1.0,
    late: bool = False,
    onto: bool = False,
) -> list[float]:
    losses = []
    group = optimizer.param_groups[0]
    for step in range(1, steps + 1):
        factor = 1.0 if constant else _course_rate(step - 1 + first, steps, warmup)
        rate = (group["lr"] if onto else highest) * factor
        if not late:
            group["lr"] = rate
        some = windows.batch(0 if batch else step) if batch >= 0 else windows.batch(step - 1)
        losses.append(_train_step(model, optimizer, *some, clip))
        group["lr"] = rate
    return losses


@turns.task(_train)
def train(trial: Trial) -> None:
    V, highest = 6, trial.integer(3, 6) / 10
    begin = trial.normal(V, V, dtype=torch.float32)
    windows = TextWindows(trial.integers(0, V, 60), 2, 5, seed=0)

    def run(train: Callable, steps: int, warmup: int) -> list[Any]:
        table = _Table(begin, 5.0)  # its gradients are longer than 1
        optimizer = torch.optim.SGD(table.parameters(), lr=highest / 3)
        losses = train(table, optimizer, windows, steps, warmup, highest)
        return [*losses, table.weight.detach()] if isinstance(losses, list) else losses

    def kept(model: nn.Module, optimizer: torch.optim.Optimizer, windows: Any, *sizes: Any) -> list:
        steps, _, _ = sizes
        rate = optimizer.param_groups[0]["lr"]
        return _train(model, optimizer, windows, steps, 0, rate, constant=True)

    slips = [
        (kept, "The optimizer still has the rate that it was made with: set it at every step."),
        (partial(_train, constant=True), "The rate must follow your schedule, step by step."),
        (partial(_train, first=0), "The first step has the number 1: its rate is rate(1, ...)."),
        (partial(_train, batch=0), "The first batch has the number 0: step s takes batch s - 1."),
        (partial(_train, batch=1), "Every step takes a batch of its own, not always the same."),
        (partial(_train, clip=math.inf), "Clip every gradient at the length 1: clip=1.0."),
        (partial(_train, clip=10.0), "Clip every gradient at the length 1: clip=1.0."),
        (partial(_train, late=True), "Set the rate before the step, so that this step has it."),
        (partial(_train, onto=True), "Set the rate anew, as highest * rate(...), in every step."),
        (
            lambda *a: _train(*a[:-1], 1.0),
            "rate(...) is a factor: the step's rate is highest times that.",
        ),
        (lambda *a: _train(*a)[-1:], "Hand back the losses of all steps, not the last alone."),
    ]
    hint = (
        "For each step: set the rate, draw the batch, call train_step, keep the loss. "
        f"{see(13, 'The learning rate, and why it changes')}"
    )
    for steps, warmup in ((4, 2), (7, 3)):
        given = f"a table of logits, SGD, {steps} steps, warm-up {warmup}, highest {highest:g}"
        got = trial.run(lambda s=steps, w=warmup: run(trial.answer, s, w), given=given)
        form = "Hand back a list with the loss of every step."
        trial.holds(isinstance(got, list), "a list of losses", form, given=given, got=got)
        wrong = []
        for slip, words in slips:
            with suppress(ZeroDivisionError):
                wrong.append((run(slip, steps, warmup), words))
        rule = "the losses, and where the weights end"
        expected = run(_train, steps, warmup)
        trial.equals(got, expected, rule, hint, slips=wrong, given=given, tolerance=1e-5)


A, B, C = 3.4445, -4.7750, 2.0315


def _orthogonalise(G: Tensor, rounds: int = 5) -> Tensor:
    X = G / G.norm()
    for _ in range(rounds):
        S = X @ X.T
        X = A * X + B * S @ X + C * S @ S @ X
    return X


@turns.task(_orthogonalise)
def orthogonalise(trial: Trial) -> None:
    hint = (
        "Divide by the Frobenius norm, G.norm(); then each round makes a X + b S X + c S S X with "
        f"S = X X^T. {see(13, 'Two optimizers')}"
    )
    slips: list[Slip] = [
        (lambda G, rounds: _rounds(G, rounds), "Divide G by its norm first, once."),
        (
            lambda G, rounds: _rounds(G / G.norm(), 1),
            "There are several rounds, each on what the one before has made.",
        ),
        (
            lambda G, rounds: _rounds(G / G.norm(), rounds, renew=False),
            "S = X X^T belongs to the X of its own round: make it anew inside the loop.",
        ),
        (
            lambda G, rounds: _rounds(G / G.norm(), rounds, twice=False),
            "The last term has S twice: c S S X.",
        ),
        (
            lambda G, rounds: _rounds(G / G.abs().max(), rounds),
            "Divide by the norm of the whole matrix, not by its largest number.",
        ),
        (
            lambda G, rounds: _rounds(G / torch.linalg.matrix_norm(G, 2), rounds),
            "Divide by G.norm(), the root of the sum of all squares; the largest singular value "
            "would need the decomposition that Muon does without.",
        ),
        (
            lambda G, rounds: (G / G.norm()).sign(),
            "That is the sign of each number; the rounds act on whole directions.",
        ),
    ]
    for shape, rounds in (((2, 2), 1), ((2, 3), 2), ((3, 5), 5)):
        G = trial.normal(*shape)
        given = f"a matrix {shape[0]} x {shape[1]}, rounds = {rounds}"
        rule = {1: "one round by hand", 2: "two rounds", 5: "five rounds, a wide matrix"}[rounds]
        look = {"rule": rule, "hint": hint, "slips": slips, "given": given, "tolerance": 1e-6}
        trial.agrees(_orthogonalise, G, rounds, **look)


def _rounds(X: Tensor, rounds: int, renew: bool = True, twice: bool = True) -> Tensor:
    S = X @ X.T
    for _ in range(rounds):
        S = X @ X.T if renew else S
        X = A * X + B * S @ X + C * (S @ S @ X if twice else S @ X)
    return X


def _snapshot(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


@turns.task(_snapshot)
def snapshot(trial: Trial) -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    before = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    given = "a small model that is trained on after the snapshot"
    got = trial.call(model, given=given)
    form = "Hand back a dictionary with the names of model.state_dict(), a tensor for each."
    fits = isinstance(got, dict) and set(got) == set(before)
    trial.holds(fits, "a dictionary of all weights", form, given=given, got=got)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    same = all(torch.equal(got[name], before[name]) for name in before)
    shared = (
        "The tensors of state_dict() are the model's own: they go on changing as it trains. "
        "clone() makes a copy."
    )
    trial.holds(same, "training on leaves the snapshot as it was", shared, given=given)
    model.load_state_dict(got)
    back = all(torch.equal(model.state_dict()[name], before[name]) for name in before)
    usual = "load_state_dict must be able to put the weights back."
    trial.holds(back, "it can be put back", usual, given=given)


@torch.no_grad()
def _log_prob(model: nn.Module, context: Tensor, continuation: Tensor) -> float:
    tokens = torch.cat([context, continuation])
    log_p = model(tokens[None, :-1])[0].log_softmax(-1)
    chosen = log_p[torch.arange(len(tokens) - 1), tokens[1:]]
    return chosen[len(context) - 1 :].sum().item()


class _Remembers(nn.Module):
    """The smallest model that looks at all of its past: a table of logits, and their sum so far."""

    def __init__(self, V: int) -> None:
        super().__init__()
        self.table = nn.Embedding(V, V)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.table(tokens).cumsum(1)


@turns.task(_log_prob)
def log_prob(trial: Trial) -> None:
    V = 5
    model = _Remembers(V)
    with torch.no_grad():
        model.table.weight.copy_(trial.normal(V, V, dtype=torch.float32))
    hint = (
        "The logits at position t are about token t + 1: the first token of the continuation is "
        f"predicted at the last of the context. {see(13, 'Does it make sense?')}"
    )

    def part(first: int, last: int | None = None, mean: bool = False) -> Callable:
        def value(model: nn.Module, context: Tensor, continuation: Tensor) -> float:
            tokens = torch.cat([context, continuation])
            with torch.no_grad():
                log_p = model(tokens[None, :-1])[0].log_softmax(-1)
            chosen = log_p[torch.arange(len(tokens) - 1), tokens[1:]]
            chosen = chosen[len(context) - 1 + first : last]
            return (chosen.mean() if mean else chosen.sum()).item()

        return value

    def raw(model: nn.Module, context: Tensor, continuation: Tensor) -> float:
        tokens = torch.cat([context, continuation])
        with torch.no_grad():
            logits = model(tokens[None, :-1])[0]
        return logits[torch.arange(len(tokens) - 1), tokens[1:]][len(context) - 1 :].sum().item()

    def unshifted(model: nn.Module, context: Tensor, continuation: Tensor) -> float:
        tokens = torch.cat([context, continuation])
        with torch.no_grad():
            log_p = model(tokens[None])[0].log_softmax(-1)
        return log_p[torch.arange(len(tokens)), tokens][len(context) :].sum().item()

    def whole(model: nn.Module, context: Tensor, continuation: Tensor) -> float:
        tokens = torch.cat([context, continuation])
        with torch.no_grad():
            log_p = model(tokens[None, :-1])[0].log_softmax(-1)
        return log_p[torch.arange(len(tokens) - 1), tokens[1:]].sum().item()

    def along(model: nn.Module, context: Tensor, continuation: Tensor, last: int | None) -> float:
        tokens = torch.cat([context, continuation])
        with torch.no_grad():
            log_p = model(tokens[None, :last])[0].log_softmax(0)
        return log_p[torch.arange(len(context) - 1, len(tokens) - 1), continuation].sum().item()

    def alone(model: nn.Module, context: Tensor, continuation: Tensor) -> float:
        with torch.no_grad():
            log_p = model(continuation[None])[0].log_softmax(-1)
        return log_p[torch.arange(len(continuation)), continuation].sum().item()

    vocabulary = "log_softmax goes over the vocabulary, the last dimension, not over positions."
    slips: list[Slip] = [
        (
            lambda model, context, continuation: _log_prob(model, context[-1:], continuation),
            "The model needs the whole context, not its last token alone.",
        ),
        (alone, "The context is missing: the model reads it before the continuation."),
        (raw, "Logits are no log-probabilities yet: log_softmax over the vocabulary makes them."),
        *((partial(along, last=last), vocabulary) for last in (-1, None)),
        (unshifted, "You ask each position for its own token; it predicts the one after it."),
        (whole, "The tokens of the context count, too: only those of the continuation should."),
        (part(1), "The first token of the continuation is missing from your sum."),
        (part(0, -1), "The last token of the continuation is missing from your sum."),
        (part(0, None, mean=True), "Add the log-probabilities up; a mean forgets the length."),
        (
            lambda *a: -_log_prob(*a),
            "That is the cost, which is minus the log-probability: mind the sign.",
        ),
        (lambda *a: math.exp(_log_prob(*a)), "That is the probability; its logarithm is wanted."),
    ]
    for n, m in ((2, 1), (3, 4), (1, 2)):
        context, continuation = trial.integers(0, V, n), trial.integers(0, V, m)
        given = f"a model with a memory, {n} tokens of context, {m} that go on"
        got = trial.call(model, context, continuation, given=given)
        got = got.item() if isinstance(got, Tensor) and got.numel() == 1 else got
        expected = _log_prob(model, context, continuation)
        wrong = [(slip(model, context, continuation), words) for slip, words in slips]
        rule = "one token by hand" if m == 1 else "several tokens"
        trial.equals(got, expected, rule, hint, slips=wrong, given=given, tolerance=1e-5)
