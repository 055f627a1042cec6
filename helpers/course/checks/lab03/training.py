"""Checks of lab 03, fifth part: the training loop, and the error by length.

Tokens (B, T) are rows of symbols 0 to 9, filled up at their ends with 10; labels are 1 where a row
is balanced. A classifier maps tokens to one logit per row, (B,), positive where it says "balanced".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab03.common import answered, lab, run_with_hints
from helpers.course.checks.lab03.network import CourseElmanCell, course_last_states
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

Batches = Sequence[tuple[Tensor, Tensor]]


def _fit(
    model: nn.Module, optimizer: torch.optim.Optimizer, batches: Batches, clip: float
) -> list[float]:
    losses = []
    for tokens, labels in batches:
        loss = F.binary_cross_entropy_with_logits(model(tokens), labels.float())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


class _Bag(nn.Module):
    """A classifier that adds up a number for each symbol."""

    def __init__(self, weights: Tensor, bias: float) -> None:
        super().__init__()
        self.weights, self.bias = nn.Parameter(weights.float()), nn.Parameter(torch.tensor(bias))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.weights[tokens].sum(1) + self.bias


class _Watched(torch.optim.SGD):
    """Remembers the gradient that each step uses; None for one that is not there."""

    def __init__(self, parameters) -> None:
        super().__init__(parameters, lr=0.1)
        self.used: list[Tensor | None] = []

    def step(self, closure=None):
        gradients = [p.grad for group in self.param_groups for p in group["params"]]
        missing = any(gradient is None for gradient in gradients)
        self.used.append(None if missing else torch.cat([g.flatten() for g in gradients]).clone())
        return super().step(closure)


@lab.task(_fit, uses=["ElmanCell", "last_states"])
def fit(trial: Trial) -> None:
    batches = [(trial.integers(0, 11, 6, 5), trial.integers(0, 2, 6)) for _ in range(4)]
    weights = trial.normal(11)

    logits = (
        "model(tokens) gives logits, floating-point numbers of any size; labels are whole numbers, "
        "and the loss wants both of one type."
    )
    errors = {
        "require grad": "Nothing leads back from the loss to the weights: a comparison such as "
        "logits > 0, detach and no_grad cut the graph.",
        "RuntimeError": logits,
    }

    def run(batches: Batches, clip: float, given: str, bias: float = 0.5, stale: float = 0.0):
        """The student's losses, their gradients at each step, and the model; then ours."""
        found = []
        for function in (trial.answer, _fit):
            model = _Bag(weights, bias)
            optimizer = _Watched(model.parameters())
            for p in model.parameters():
                p.grad = torch.full_like(p, stale) if stale else None
            losses = run_with_hints(
                trial, function, model, optimizer, batches, clip, hints=errors, given=given
            )
            found.append((losses, optimizer.used, model))
        return found

    _first_step(trial, run, batches[:1])
    (losses, used, _), (our_losses, *_) = run(batches, 1e9, "four batches")
    each = "Every batch gets its own turn: loss, gradient, step, all inside of the loop."
    trial.equals(len(used), 4, "one step for each batch", each, given="four batches")
    trial.holds(
        isinstance(losses, list) and all(isinstance(loss, float) for loss in losses),
        "the losses come back as a list of numbers",
        "Hand back the losses of all batches, in order."
        if not isinstance(losses, list)
        else "loss.item() is a plain number; a tensor is none, and unless it is detached it keeps "
        "the whole graph of its batch in memory.",
        got=losses,
    )
    _left_over(trial, run, batches)
    before = "What goes into the list is the loss that backward starts from, one for each batch."
    trial.equals(losses, our_losses, "the loss of each batch, before its step", before,
                 given="four batches", tolerance=1e-4)  # fmt: skip
    _clipping(trial, run, batches)
    (losses, *_), _ = run([(batches[0][0], 0 * batches[0][1])], 1.0, "logits near 200", 200.0)
    hint = (
        "The logistic function of 200 is 1 in floating point, and log(1 - 1) is no number. "
        "PyTorch has a binary cross-entropy that takes logits."
    )
    expected = F.softplus(_Bag(weights, 200.0)(batches[0][0])).mean().item()
    trial.equals(losses, [expected], "large logits give a finite loss", hint,
                 given="logits near 200, all labels 0", tolerance=1e-4)  # fmt: skip
    _tiny_budget(trial)


def _first_step(trial: Trial, run: Callable, batches: Batches) -> None:
    order = "The order is: clear old gradients, backward, clip, step."
    (_, used, model), (_, ours, our_model) = run(batches, 1e9, "one batch")
    trial.holds(
        used,
        "the optimizer makes a step",
        f"The step of the optimizer handed over is what learns. {order}",
    )
    once = f"Go through the batches once: one step for each of them. {order}"
    trial.equals(len(used), 1, "one step for each batch", once, given="one batch")
    there = used[0] is not None and bool(used[0].any())
    trial.holds(
        there,
        "a gradient is there when the optimizer steps",
        f"Who clears it after backward has nothing to step with. {order}",
        got="no gradient, or zeros",
    )
    ratio = float(used[0].norm() / ours[0].norm())
    rule = "the gradient of the mean binary cross-entropy"
    if math.isclose(ratio, len(batches[0][1]), rel_tol=1e-3):
        hint = (
            "The loss is a mean over the batch: the number of rows must not change the size of a "
            "step."
        )
    elif F.cosine_similarity(used[0], ours[0], 0) > 0.9999:
        hint = "Its direction is right. A gradient that is shorter than clip stays as it is."
    else:
        hint = (
            "What the model gives are logits, and the labels are 0 and 1 as floating-point "
            "numbers. " + see(6, "The lecture's network and its data")
        )
    trial.equals(used[0], ours[0], rule, hint, given="one batch of six rows", tolerance=1e-4)
    pairs = zip(model.parameters(), our_model.parameters(), strict=True)
    same = all(torch.allclose(p, q, atol=1e-5) for p, q in pairs)
    trial.holds(same, "one step, by the optimizer and by nothing else", order)


def _left_over(trial: Trial, run: Callable, batches: Batches) -> None:
    rule = "gradients from before do not count"
    hint = (
        "backward adds to what is there: clear the gradients for each batch, the first one too, "
        "before backward. The model may come with gradients of something else."
    )
    (_, used, _), (_, ours, _) = run(batches, 1e9, "four batches", stale=3.0)
    given = "a model with gradients left over, four batches"
    for got, expected in zip(used, ours, strict=True):
        trial.equals(got, expected, rule, hint, given=given, tolerance=1e-4)


def _clipping(trial: Trial, run: Callable, batches: Batches) -> None:
    (_, used, _), (_, ours, _) = run(batches[:2], 0.05, "clip = 0.05")
    norm, given = float(used[0].norm()), "clip = 0.05"
    rule = "the gradient that is used has at most the norm clip"
    order = "Clip after backward and before the step: earlier there is nothing to clip."
    where = see(5, "Clipping")
    got, least = f"a norm of {norm:.4g}", "a norm of 0.05"
    trial.holds(norm < 0.0501, rule, f"{order} All weights count as one vector. {where}",
                given=given, got=got, expected=least)  # fmt: skip
    kept = F.cosine_similarity(used[0], ours[0], 0) > 0.9999 and norm > 0.0495
    rule = "clipping shortens the gradient and keeps its direction"
    hint = "The norm of all weights together is cut, not each number or each weight by itself."
    trial.holds(kept, rule, f"{hint} {where}", given=given, got=got, expected=least)
    (_, used, _), (_, ours, _) = run(batches[:2], 1e3, "clip = 1000")
    hint = "A gradient that is shorter than clip stays as it is."
    trial.equals(used[0], ours[0], "short gradients stay as they are", f"{hint} {where}",
                 given="clip = 1000", tolerance=1e-4)  # fmt: skip


class _Classifier(nn.Module):
    """An Elman network with one logit."""

    def __init__(self, d_hidden: int) -> None:
        super().__init__()
        self.cell, self.h2y = CourseElmanCell(10, d_hidden), nn.Linear(d_hidden, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        x = F.one_hot(tokens, 11)[..., :10].float()
        return self.h2y(course_last_states(self.cell, x, (tokens < 10).sum(1)))[:, 0]


def _tiny_budget(trial: Trial) -> None:
    """Nested pairs of two colours, closed in the right or in the wrong order."""
    pairs = torch.tensor([(a, b) for a in range(5) for b in range(5) if a != b])
    right = torch.cat([pairs, 9 - pairs.flip(1)], 1)
    tokens = torch.cat([right, torch.cat([pairs, 9 - pairs], 1)])
    labels = torch.arange(len(tokens)) < len(pairs)
    batches = [(tokens[rows], labels[rows].long()) for rows in
               (trial.integers(0, len(tokens), 64) for _ in range(150))]  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(trial.integer(0, 1000))
        model = _Classifier(32)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    given = "150 batches of ([]) and ([)], in all colours"
    trial.run(trial.answer, model, optimizer, batches, 1.0, given=given)
    with torch.no_grad():
        accuracy = float(((model(tokens) > 0) == labels).double().mean())
    trial.holds(
        accuracy > 0.8,
        "in 150 batches it beats every count of symbols",
        "Does each step use the gradient of its own batch?",
        given=given,
        got=f"{100 * accuracy:.0f} % right",
        expected="over 80 %; who counts symbols has 50 %",
    )


def _error_by_length(model: nn.Module, tokens: Tensor, labels: Tensor) -> dict[int, float]:
    lengths = (tokens < 10).sum(1)
    with torch.no_grad():
        wrong = ((model(tokens) > 0) != (labels == 1)).double()
    return {int(n): float(wrong[lengths == n].mean()) for n in lengths.unique()}


class _Votes(nn.Module):
    """Says "balanced" with a logit of this size where the second symbol closes."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.size, self.graph = nn.Parameter(torch.tensor(size)), False

    def forward(self, tokens: Tensor) -> Tensor:
        logits = self.size * (2 * (tokens[:, 1] > 4).float() - 1)
        self.graph |= logits.requires_grad
        return logits


@lab.task(_error_by_length)
def error_by_length(trial: Trial) -> None:
    tokens = torch.tensor(
        [
            [0, 9, 10, 10],
            [0, 8, 10, 10],
            [2, 7, 10, 10],
            [0, 1, 8, 9],
            [3, 6, 0, 9],
            [0, 1, 9, 8],
            [0, 1, 7, 9],
        ]
    )
    labels = torch.tensor([1, 0, 1, 1, 1, 0, 0])
    expected = {2: 1 / 3, 4: 1 / 4}
    share = "Of the rows of one length, the share that is wrong; 0 is best."
    rows = (
        "The length of a row is how many symbols it has, a plain number, and 10 is no symbol; "
        "lengths that do not occur have no entry."
    )
    for size, hint in (
        (5.0, share),
        (0.3, "A logit is no probability: at which logit is P = 1/2? See task 1."),
    ):
        model = _Votes(size)
        given = f"rows {tokens.tolist()}, labels {labels.tolist()}, logits "
        given += str([round(z, 1) for z in model(tokens).tolist()])
        model.graph = False
        got = trial.call(model, tokens, labels, given=given)
        answered(got, given)
        keys = isinstance(got, dict) and set(got) == {2, 4}
        trial.holds(keys, "one entry for each length", rows, given=given, got=got,
                    expected="the keys 2 and 4")  # fmt: skip
        plain = not any(isinstance(value, Tensor) for value in got.values())
        trial.holds(plain, "the shares are plain numbers", "A tensor of one number has .item().",
                    got=repr(got))  # fmt: skip
        trial.equals(got, expected, "by hand", hint, given=given)
    trial.holds(
        not model.graph,
        "the model is asked without gradients",
        "Measuring needs no graph, which costs memory and time: torch.no_grad().",
    )
    for T in (12, 1 + 2 * trial.integer(2, 5)):
        tokens = trial.integers(0, 10, 80, T)
        lengths = trial.integers(2, T + 1, 80)
        tokens = tokens.masked_fill(torch.arange(T) >= lengths[:, None], 10)
        labels, given = trial.integers(0, 2, 80), f"80 random rows of 2 to {T} symbols"
        model = _Votes(0.3)
        got = trial.call(model, tokens, labels, given=given)
        trial.equals(got, _error_by_length(model, tokens, labels), "random rows", share,
                     given=given)  # fmt: skip
