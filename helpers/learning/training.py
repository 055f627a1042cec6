"""The trainer of the course: warm-up, decay, clipping and an optimizer step, record by record.

Who calls it evaluates, samples, draws and stops; the trainer knows no picture and no notebook:

    for record in Training(model, windows(tokens, 32, 64, generator), steps=1000): ...

A run can be interrupted (Ctrl-C, a stopped cell) and iterated again, saved and resumed. Forward,
backward, clip and update stand in ``Training.make_step``.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from helpers.data.masking import masked_loss
from helpers.device import can_compile, describe, mixed_precision
from helpers.learning.interruption import random_states, set_random_states, uninterrupted

Batch = tuple[Tensor | tuple[Tensor, ...], Tensor]


@dataclass(frozen=True)
class Record:
    """One step of training.

    Attributes:
        step: 1, 2, ..., steps.
        loss: the batch's loss before the update; nats per token for a language model. The mean
            over accumulated batches.
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
        clip: largest norm of the whole gradient; infinite for none. Sparse gradients are neither
            counted nor clipped: few rows have one, and their Adam does not ask for its size.
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
        self.model, self.loss, self.clip = model, loss, clip
        self.steps, self.accumulate = steps, accumulate
        self.validate, self.validate_every = validate, validate_every
        if optimizers is None:
            optimizers = [_adamw(model, learning_rate, weight_decay)]
        self.optimizers = list(optimizers)
        self._highest = [group["lr"] for group in self._groups()]
        self._factor = partial(rate, steps=steps, warmup=warmup, final=final_rate, decay=decay)
        self._draw = _drawing(batches)
        self._device = next(model.parameters()).device
        dtype = _dtype_of_products(precision, self._device)
        self._autocast = torch.autocast(self._device.type, dtype) if dtype else nullcontext()
        self._scaler = torch.amp.GradScaler(self._device.type, enabled=dtype == torch.float16)
        self._untried = compiled and can_compile(self._device)
        self._forward: Callable[..., Any] = model
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        # Of a step that is not finished; and the record of one that is, until it is handed out.
        self._batches: list[Batch] = []
        self._random: dict[str, Tensor] | None = None
        self._record: Record | None = None

    def __iter__(self) -> Iterator[Record]:
        while self._record is not None or self.step < self.steps:
            if self._record is None:
                self._advance()
            record, every = self._record, self.validate_every
            due = record.step == self.steps or (every > 0 and record.step % every == 0)
            if self.validate is not None and due:
                record = replace(record, validation=self.validate(self.model))
            self._record = None
            yield record

    def make_step(self) -> None:
        """One step: draw, forward, backward, clip, update. Its record is then in ``_record``."""
        began, step = time.perf_counter(), self.step + 1
        factor = self._factor(step)
        for group, highest in zip(self._groups(), self._highest, strict=True):
            group["lr"] = highest * factor
        while len(self._batches) < self.accumulate:
            with uninterrupted():  # a generator does not survive an exception
                self._batches.append(self._next_batch())
        if self._random is None:
            self._random = random_states(self._device)
        else:  # of an attempt that did not come to its end, or of a saved run
            set_random_states(self._random, self._device)

        self.model.train()
        self.model.zero_grad(set_to_none=True)
        losses = []
        for inputs, targets in self._batches:
            with self._autocast:
                output = self._forward(*inputs)
            loss = self.loss(_in_float32(output), targets) / self.accumulate
            self._scaler.scale(loss).backward()
            losses.append(loss.detach())
        amount = float(sum(losses))  # waits for the device; the one time in a step
        self._check_finite(amount, step)
        with uninterrupted():
            for optimizer in self.optimizers:
                self._scaler.unscale_(optimizer)
            if self.clip < math.inf:
                nn.utils.clip_grad_norm_(_dense(self.model), self.clip)
            for optimizer in self.optimizers:
                self._scaler.step(optimizer)
            self._scaler.update()
            self.tokens += sum(targets.numel() for _, targets in self._batches)
            self.seconds += time.perf_counter() - began
            self.step, self._batches, self._random = step, [], None
            rate_now = self._highest[0] * factor
            self._record = Record(step, amount, self.tokens, self.seconds, rate_now)

    def state_dict(self) -> dict[str, Any]:
        """What resuming needs besides the model's own weights.

        Keys: step, tokens, seconds; optimizers (a list of their state dicts); scaler (None without
        "float16"); random (states of the default generators: "cpu" and that of the model's device).
        """
        return {
            "step": self.step,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "scaler": self._scaler.state_dict() or None,
            "random": self._random or random_states(self._device),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a run with the same arguments stood; the model's weights are the caller's.

        On the same machine the CPU then computes bit for bit what the other run would have. With an
        iterable of batches, those that the other run has seen must be gone from it.
        """
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self._scaler.load_state_dict(state["scaler"] or {})
        self.step, self.tokens, self.seconds = state["step"], state["tokens"], state["seconds"]
        self._batches, self._record = [], None
        self._random = dict(state["random"])

    def _groups(self) -> list[dict[str, Any]]:
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def _next_batch(self) -> Batch:
        """The next batch on the model's device, its inputs as a tuple."""
        batch = self._draw(self.step * self.accumulate + len(self._batches))
        if batch is None:
            raise ValueError(
                f"The batches ran out after {self.step} of {self.steps} steps: give more."
            )
        inputs, targets = batch
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        cuda = self._device.type == "cuda"
        *inputs, targets = (part.to(self._device, non_blocking=cuda) for part in (*inputs, targets))
        return tuple(inputs), targets

    def _advance(self) -> None:
        """Make a step, without a compiler that fails; or say in a sentence that memory is full."""
        try:
            if self._untried:
                self._forward = torch.compile(self.model)
            self.make_step()
            self._untried = False
            return
        except torch.OutOfMemoryError as error:
            full = str(error).partition(". ")[2].partition(". ")[0] or str(error)  # its numbers
        except Exception as error:  # a compiler's failures have many types
            if not self._untried:
                raise
            self._forward, self._untried = self.model, False
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:160]
            words = f"The model runs without torch.compile, which failed ({reason})."
            warnings.warn(words, stacklevel=2)
            return self._advance()
        # Raised out here, where the failed pass's tensors are free again.
        self.model.zero_grad(set_to_none=True)
        raise RuntimeError(
            f"A step does not fit into the memory of {describe(self._device)} ({full}): "
            "lower batch_size and raise accumulate by the same factor, or lower the length of "
            "the texts or the size of the model."
        )

    def _check_finite(self, loss: float, step: int) -> None:
        if math.isfinite(loss):
            return
        if step == 1:  # no rate is to blame before the first update
            raise ValueError(
                f"The loss of the first batch is {loss}, before any training: look for what "
                "is no number in the model's weights, the batch and the loss."
            )
        raise ValueError(
            f"The loss at step {step} is {loss}: training diverged. Lower the learning "
            f"rate (it is {self._highest[0]}) or give it a warm-up."
        )


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


def _dtype_of_products(precision: str | None, device: torch.device) -> torch.dtype | None:
    """That of mixed precision; None for float32."""
    precision = mixed_precision(device) if precision == "auto" else precision
    if precision not in (None, "float32", "bfloat16", "float16"):
        raise ValueError(
            f"precision is {precision!r}; expected 'float32', 'bfloat16', 'float16' or 'auto'."
        )
    return None if precision in (None, "float32") else getattr(torch, precision)


def _in_float32(output: Any) -> Any:
    if isinstance(output, tuple):
        return tuple(map(_in_float32, output))
    half = isinstance(output, Tensor) and output.dtype in (torch.bfloat16, torch.float16)
    return output.float() if half else output


def _dense(model: nn.Module) -> list[nn.Parameter]:
    return [p for p in model.parameters() if p.grad is None or not p.grad.is_sparse]
