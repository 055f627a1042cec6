"""The one trainer of the course: warm-up, decay, clipping and an optimizer step, record by record.

Who calls it evaluates, samples, draws and stops; the trainer knows no picture and no notebook:

    for record in Training(model, windows(tokens, 32, 64, generator), steps=1000): ...

A run can be interrupted (Ctrl-C, a stopped cell) and iterated again, saved and resumed, and it
knows gradient accumulation, mixed precision, compilation and several processes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from helpers.data.masking import masked_loss
from helpers.device import describe
from helpers.learning.gradients import Batch, GradientPass
from helpers.learning.interruption import random_states, set_random_states, uninterrupted


@dataclass(frozen=True)
class Record:
    """One step of training.

    Attributes:
        step: 1, 2, ..., steps.
        loss: the batch's loss before the update; nats per token for a language model. The mean
            over accumulated batches, and over all processes.
        tokens: targets seen so far, by all processes.
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


class NumberedBatches(Protocol):
    """Batches that can be had in any order, so that a resumed run goes on with the right one."""

    def batch(self, step: int) -> Batch:
        """The batch with the number 0, 1, 2, ...: always the same one for the same number."""
        ...


def language_model_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in nats per token: logits (B, T, V), targets (B, T).

    Targets that are ``helpers.data.masking.IGNORED`` do not count; without any other it is zero.
    """
    return masked_loss(logits, targets)


def rate(step: int, steps: int, warmup: int = 0, final: float = 0.0, decay: float = 1.0) -> float:
    """Factor on the rate at step 1..steps: linear warm-up, constant, linear decay to ``final``.

    Args:
        decay: share of the steps in which the rate falls, at their end. With 1 it falls from the
            end of the warm-up on, with 0 never.
    """
    if step <= warmup:
        return step / warmup
    falling = min(steps - warmup, round(decay * steps))
    left = steps - step + 1
    if left >= falling + 1 or falling == 0:
        return 1.0
    return final + (1 - final) * left / falling


class Training:
    """A run of training: an iterable of records that may be interrupted and iterated again.

    The model is trained in place, and every step yields its ``Record``. Nothing is computed before
    the first is asked for.

    Iterating goes on with the step after the last finished one. A step is either finished or not
    counted: Ctrl-C is held back while a batch is drawn and while weights and counters change (a
    second Ctrl-C is not), and a step that it broke off in between is made again with the same batch
    and the same random numbers. What may be lost: the time of that step, and the record of a step
    that was finished a moment before. Buffers that a forward pass changes (batch norm's) see the
    batch twice.

    With a model in DistributedDataParallel every process makes its own ``Training`` with its own
    share of the batches, all of one size.

    Args:
        model: anything that maps a batch of inputs to what ``loss`` takes; stays on its device.
        batches: (inputs, targets) pairs, as many as are drawn or more. A model of several inputs,
            such as an encoder-decoder, gets them as a tuple. Besides an iterable, it may be an
            object with ``batch(step)``; only that one can be resumed in another process. Its
            numbers begin with 0, and every accumulated batch has one of its own.
        steps: optimizer steps.
        learning_rate: the highest rate; see ``rate`` for its course.
        weight_decay: AdamW's, on matrices only (not on biases and norms).
        warmup: steps of linear warm-up.
        final_rate: share of ``learning_rate`` that the decay ends at.
        clip: largest norm of the whole gradient; infinite for none.
        loss: (model's output, targets) -> scalar; by default nats per token.
        validate: model -> a number to report (for a language model: bits per byte of held-out
            text), called every ``validate_every`` steps and after the last.
        validate_every: steps between two of its calls; with 0 it is called after the last only.
        optimizers: used instead of AdamW; the rates that they were made with are the highest, and
            ``learning_rate`` and ``weight_decay`` say nothing.
        decay: share of the steps in which the rate falls; see ``rate``.
        accumulate: batches per step. Their mean gradient is used, as if they were one batch; exact
            where all have equally many targets.
        precision: what matrix products are computed in: "float32" (also None), "bfloat16",
            "float16" (with a GradScaler: a step whose gradient overflows is counted but changes no
            weight) or "auto" for what the device gains by. Weights and loss stay in float32.
        compiled: run the model through ``torch.compile`` if ``helpers.device.can_compile`` says so;
            where the compiler fails, a warning is given and the model runs without.

    Attributes:
        model: the model itself, outside of any DistributedDataParallel.
        step, tokens, seconds: as in ``Record``; of the last finished step, 0 before the first.

    Raises:
        ValueError: settings out of range, at once; too few batches, or a loss that is no longer
            finite, while iterating.
        RuntimeError: while iterating, the GPU's memory does not suffice.
    """

    def __init__(
        self,
        model: nn.Module,
        batches: Iterable[Batch] | NumberedBatches,
        steps: int,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        warmup: int = 0,
        final_rate: float = 0.0,
        clip: float = 1.0,
        loss: Callable[[Any, Tensor], Tensor] = language_model_loss,
        validate: Callable[[nn.Module], float] | None = None,
        validate_every: int = 0,
        optimizers: Sequence[torch.optim.Optimizer] | None = None,
        *,
        decay: float = 1.0,
        accumulate: int = 1,
        precision: str | None = None,
        compiled: bool = False,
    ) -> None:
        if steps < 1 or not 0 <= warmup < steps or learning_rate <= 0:
            raise ValueError(
                f"Training needs steps >= 1, 0 <= warmup < steps and a positive learning rate: got "
                f"steps {steps}, warmup {warmup}, learning rate {learning_rate}."
            )
        if not 0 <= decay <= 1 or accumulate < 1:
            raise ValueError(
                f"Training needs 0 <= decay <= 1 and accumulate >= 1: got decay {decay}, "
                f"accumulate {accumulate}."
            )
        self.model = model.module if isinstance(model, DistributedDataParallel) else model
        self.steps, self.accumulate, self.clip = steps, accumulate, clip
        self.validate, self.validate_every = validate, validate_every
        if optimizers is None:
            optimizers = [_adamw(self.model, learning_rate, weight_decay)]
        self.optimizers = list(optimizers)
        self._groups = [group for o in self.optimizers for group in o.param_groups]
        self._highest = [group["lr"] for group in self._groups]
        self._schedule: dict[str, Any] = {
            "steps": steps,
            "warmup": warmup,
            "final": final_rate,
            "decay": decay,
        }
        self._pass = GradientPass(model, loss, precision, compiled)
        self._draw = _drawing(batches)
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self._pending: list[Batch] = []
        self._random: dict[str, Tensor] | None = None
        self._record: Record | None = None

    def __iter__(self) -> Iterator[Record]:
        while self._record is not None or self.step < self.steps:
            if self._record is None:
                self._advance()
            record = self._record
            every = self.validate_every
            due = record.step == self.steps or (every > 0 and record.step % every == 0)
            if self.validate is not None and due:
                record = replace(record, validation=self.validate(self.model))
            self._record = None
            yield record

    def state_dict(self) -> dict[str, Any]:
        """What resuming needs besides the model's own weights.

        Keys: step, tokens, seconds; optimizers (a list of their state dicts); scaler (None without
        "float16"); random (states of the default generators: "cpu" and that of the model's device).
        """
        scaler = self._pass.scaler
        return {
            "step": self.step,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "scaler": None if scaler is None else scaler.state_dict(),
            "random": self._random or random_states(self._pass.device),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a run with the same arguments stood; the model's weights are the caller's.

        On the same machine the CPU then computes bit for bit what the other run would have. With an
        iterable of batches, those that the other run has seen must be gone from it.

        Raises:
            ValueError: a state of a run with other optimizers or another precision.
        """
        scaler, saved_scaler = self._pass.scaler, state["scaler"]
        fits = len(state["optimizers"]) == len(self.optimizers)
        if not fits or (scaler is None) != (saved_scaler is None):
            raise ValueError(
                f"The saved run had {len(state['optimizers'])} optimizers and "
                f"{'no' if saved_scaler is None else 'a'} GradScaler, this one has "
                f"{len(self.optimizers)} and {'no' if scaler is None else 'one'}: give the "
                "optimizers and the precision that it had."
            )
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self._groups = [group for o in self.optimizers for group in o.param_groups]
        if scaler is not None:
            scaler.load_state_dict(saved_scaler)
        self.step, self.tokens = state["step"], state["tokens"]
        self.seconds = state["seconds"]
        self._pending, self._record = [], None
        self._random = dict(state["random"])

    def _advance(self) -> None:
        """Make the next step; its record is then in ``_record``."""
        full = None
        try:
            self._make_step()
        except torch.OutOfMemoryError as error:
            full = str(error).partition(". ")[2].partition(". ")[0] or str(error)  # its numbers
        # Raised out here, where the failed pass's tensors are free again.
        if full is not None:
            self._pass.model.zero_grad(set_to_none=True)
            raise RuntimeError(
                f"A step does not fit into the memory of {describe(self._pass.device)} ({full}): "
                "lower batch_size and raise accumulate by the same factor, or lower the length of "
                "the texts or the size of the model."
            )

    def _make_step(self) -> None:
        began, step = time.perf_counter(), self.step + 1
        factor = rate(step, **self._schedule)
        for group, most in zip(self._groups, self._highest, strict=True):
            group["lr"] = most * factor
        while len(self._pending) < self.accumulate:
            with uninterrupted():  # a generator does not survive an exception
                batch = self._draw(self.step * self.accumulate + len(self._pending))
                self._pending += [] if batch is None else [batch]
            if batch is None:
                raise ValueError(
                    f"The batches ran out after {self.step} of {self.steps} steps: give more."
                )
        if self._random is None:
            self._random = random_states(self._pass.device)
        else:  # of an attempt that did not come to its end, or of a saved run
            set_random_states(self._random, self._pass.device)
        amount = self._pass.gradients(self._pending)
        if not math.isfinite(amount):
            if step == 1:  # no rate is to blame before the first update
                raise ValueError(
                    f"The loss of the first batch is {amount}, before any training: look for what "
                    "is no number in the model's weights, the batch and the loss."
                )
            raise ValueError(
                f"The loss at step {step} is {amount}: training diverged. Lower the learning "
                f"rate (it is {self._highest[0]}) or give it a warm-up."
            )
        with uninterrupted():
            self._pass.update(self.optimizers, self.clip)
            self.tokens += self._pass.processes * sum(t.numel() for _, t in self._pending)
            self.seconds += time.perf_counter() - began
            self.step, self._pending, self._random = step, [], None
            highest = self._highest[0] * factor
            self._record = Record(step, amount, self.tokens, self.seconds, highest)


def _drawing(batches: Iterable[Batch] | NumberedBatches) -> Callable[[int], Batch | None]:
    """A function number -> batch; None where there are no more."""
    if hasattr(batches, "batch"):
        return batches.batch
    source = iter(batches)
    return lambda number: next(source, None)


def _adamw(model: nn.Module, learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.requires_grad and p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=learning_rate)
