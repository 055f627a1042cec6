"""The one trainer of the course: AdamW with warm-up, decay and clipping, as a generator of records.

Who calls it evaluates, samples, draws and stops; the trainer knows no picture and no notebook:

    for record in train(model, windows(tokens, 32, 64, generator), steps=1000): ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Record:
    """One step of training.

    Attributes:
        step: 1, 2, ..., steps.
        loss: the batch's loss before the update; nats per token for a language model.
        tokens: targets seen so far.
        seconds: time spent on training steps so far, validation left out.
        learning_rate: the rate used in this step (of the first optimizer).
        validation: what ``validate`` gave after this step; None where it was not called.
    """

    step: int
    loss: float
    tokens: int
    seconds: float
    learning_rate: float
    validation: float | None = None


def language_model_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in nats per token: logits (B, T, V), targets (B, T)."""
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


def rate(step: int, steps: int, warmup: int = 0, final: float = 0.0) -> float:
    """Factor on the rate at step 1..steps: linear warm-up, then linear decay towards ``final``."""
    if step <= warmup:
        return step / warmup
    return final + (1 - final) * (steps - step + 1) / (steps - warmup)


def train(
    model: nn.Module,
    batches: Iterable[tuple[Tensor | tuple[Tensor, ...], Tensor]],
    steps: int,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.0,
    warmup: int = 0,
    final_rate: float = 0.0,
    clip: float = 1.0,
    loss: Callable[[Tensor, Tensor], Tensor] = language_model_loss,
    validate: Callable[[nn.Module], float] | None = None,
    validate_every: int = 0,
    optimizers: Sequence[torch.optim.Optimizer] | None = None,
) -> Iterator[Record]:
    """Train a model in place and yield a record after every step.

    Args:
        model: anything that maps a batch of inputs to what ``loss`` takes; stays on its device.
        batches: (inputs, targets) pairs, as many as there are steps or more. A model of several
            inputs, such as an encoder-decoder, gets them as a tuple.
        steps: optimizer steps.
        learning_rate: the highest rate; see ``rate`` for its course.
        weight_decay: AdamW's, on matrices only (not on biases and norms).
        warmup: steps of linear warm-up.
        final_rate: share of ``learning_rate`` that the decay ends at.
        clip: largest norm of the whole gradient; infinite for none.
        loss: (model's output, targets) -> scalar; by default nats per token.
        validate: model -> a number to report (for a language model: bits per byte of held-out
            text), called every ``validate_every`` steps and after the last.
        optimizers: used instead of AdamW; the rates that they were made with are the highest, and
            ``learning_rate`` and ``weight_decay`` say nothing.

    Raises:
        ValueError: too few batches, settings out of range, or a loss that is no longer finite.
    """
    if steps < 1 or not 0 <= warmup < steps or learning_rate <= 0:
        raise ValueError(
            f"Training needs steps >= 1, 0 <= warmup < steps and a positive learning rate: got "
            f"steps {steps}, warmup {warmup}, learning rate {learning_rate}."
        )
    device = next(model.parameters()).device
    if optimizers is None:
        optimizers = [_adamw(model, learning_rate, weight_decay)]
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    highest = [group["lr"] for group in groups]
    source, tokens, seconds = iter(batches), 0, 0.0
    for step in range(1, steps + 1):
        began = time.perf_counter()
        batch = next(source, None)
        if batch is None:
            raise ValueError(f"The batches ran out after {step - 1} of {steps} steps: give more.")
        inputs, targets = batch
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        inputs, targets = [part.to(device) for part in inputs], targets.to(device)
        factor = rate(step, steps, warmup, final_rate)
        for group, most in zip(groups, highest, strict=True):
            group["lr"] = most * factor
        model.train()
        value = loss(model(*inputs), targets)
        if not torch.isfinite(value):
            raise ValueError(
                f"The loss at step {step} is {value.item()}: training diverged. Lower the learning "
                f"rate (it is {highest[0]}) or give it a warm-up."
            )
        model.zero_grad(set_to_none=True)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        for optimizer in optimizers:
            optimizer.step()
        tokens += targets.numel()
        amount = float(value.detach())
        seconds += time.perf_counter() - began
        due = step == steps or (validate_every > 0 and step % validate_every == 0)
        measured = validate(model) if validate is not None and due else None
        yield Record(step, amount, tokens, seconds, highest[0] * factor, measured)


def _adamw(model: nn.Module, learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.requires_grad and p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate)
