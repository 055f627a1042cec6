"""Checks of lab 05: the norm and the block.

Shape letters: B batch, T tokens of a window, D width.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab05.common import (
    BEFORE_OR_AFTER,
    DROPOUT,
    ONE_PASS,
    fill,
    is_module,
    lab,
    seeded,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.models import blocks
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward

NORMS = see(11, "Norms")
STREAM = see(11, "The residual stream")


class CourseNorm(nn.Module):
    """PyTorch's LayerNorm, made as an answer is made: an answer must not derive from that."""

    def __init__(self, D: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


@lab.task(
    CourseNorm,
    without=("layer_norm", "native_layer_norm", "LayerNorm", "rms_norm", "RMSNorm", "GroupNorm"),
)
def Norm(trial: Trial) -> None:
    made = isinstance(trial.answer, type) and issubclass(trial.answer, nn.LayerNorm | nn.RMSNorm)
    trial.holds(not made, "it is your own work", "Derive it from nn.Module and write the formula.")
    norm = trial.call(4, given="Norm(4)")
    is_module(trial, norm, "Norm(4)")
    found = {name: p.detach() for name, p in norm.named_parameters()}
    if any(isinstance(value, Tensor) for value in vars(norm).values()):
        hint = "An attribute that is a plain tensor is no parameter: no optimizer would move it."
    elif set(found) != {"weight", "bias"}:
        hint = "The parameters, and no others, are called weight and bias: later tasks use them."
    else:
        hint = "One number for each of the D components: the gain begins at 1, the shift at 0."
    trial.equals(
        found,
        {"weight": torch.ones(4), "bias": torch.zeros(4)},
        "it has the parameters weight, all 1, and bias, all 0",
        f"{hint} {NORMS}",
        given="Norm(4).named_parameters()",
    )
    x = torch.tensor([2.0, 4.0, 4.0, 6.0], dtype=torch.float64)
    _norm_by_hand(trial, norm.double(), x)
    _norm_on_random(trial)


def _norm_by_hand(trial: Trial, norm: nn.Module, x: Tensor) -> None:
    got, c = trial.run(norm, x), x - x.mean()
    slips = [
        (c / x.std(), "The variance is divided by D, not by D - 1 as torch.var and torch.std do."),
        (
            x / x.square().mean().sqrt(),
            "That is RMSNorm: LayerNorm takes the mean away before it divides.",
        ),
        (c / c.square().mean(), "Divide by the root of the variance."),
        (c, "Divide by the root of the variance."),
        (c / c.square().sum().sqrt(), "The variance is the mean of the squares, not their sum."),
    ]
    usual = f"Take the row's mean away, then divide by the root of its variance + eps. {NORMS}"
    trial.equals(
        got,
        F.layer_norm(x, (4,)),
        "by hand: mean 4, variance 2",
        usual,
        slips=slips,
        given=x,
        tolerance=1e-5,
    )


def _norm_on_random(trial: Trial) -> None:
    D, x = 5, 3 * trial.normal(2, 3, 5) + 1
    plain = trial.call(D, given="Norm(5)").double()
    trial.equals(
        trial.run(plain, x, hint="Does the mean keep its dimension (keepdim=True)?"),
        F.layer_norm(x, (D,)),
        "every position's vector is normalized by itself",
        "Mean and variance are those of the last dimension alone, with keepdim=True. A position "
        f"does not depend on its neighbours. {NORMS}",
        given="x of shape (2, 3, 5)",
        tolerance=1e-4,
    )
    norm = fill(trial.call(D, given="Norm(5)"), trial)
    weight, bias = norm.weight, norm.bias
    trial.equals(
        trial.run(norm, x),
        F.layer_norm(x, (D,), weight, bias),
        "gain and shift: y * weight + bias",
        f"After dividing, each component is multiplied by its weight, then its bias is added. "
        f"{NORMS}",
        given="x of shape (2, 3, 5), weight and bias random",
        tolerance=1e-4,
    )
    given = "x of shape (2, 3, 5), divided by 10, eps = 0.01"
    small, norm = x / 10, trial.call(D, eps=0.01, given="Norm(5, eps=0.01)").double()
    c = small - small.mean(-1, keepdim=True)
    variance = c.square().mean(-1, keepdim=True)
    outside = "eps is added to the variance, under the root."
    slips = [
        (c / (variance.sqrt() + 0.01), outside),
        (c / variance.sqrt() + 0.01, outside),
        (F.layer_norm(small, (D,)), "The constructor's eps is to be kept and used."),
        (c / variance.sqrt(), "Where is eps? Without it a constant vector gives 0 / 0."),
    ]
    got = trial.run(norm, small, given=given)
    expected = F.layer_norm(small, (D,), eps=0.01)
    rule, usual = "eps stands under the root", f"{outside} {NORMS}"
    trial.equals(got, expected, rule, usual, slips=slips, given=given)
    norm, x = fill(trial.call(D, given="Norm(5)"), trial), x.clone().requires_grad_()
    into = trial.normal(2, 3, D)
    inputs = (x, norm.weight, norm.bias)
    wanted = torch.autograd.grad((F.layer_norm(x, (D,), *inputs[1:]) * into).sum(), inputs)
    y = (trial.run(norm, x) * into).sum()
    found = torch.autograd.grad(y, inputs, allow_unused=True) if y.requires_grad else [None] * 3
    trial.equals(
        list(found),
        list(wanted),
        "gradients reach x, weight and bias",
        "Mean and variance depend on x, and the gradient passes through them: no detach, .data, "
        ".item or no_grad in forward.",
        given="the gradients of x, weight and bias",
    )


class CourseBlock(blocks.PreNormBlock):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x, causal=True)


class _Layer(nn.Module):
    """A sub-layer for trials: remembers what it reads, and gives what ``output`` makes of it."""

    def __init__(self, output: Any) -> None:
        super().__init__()
        self.output, self.read = output, []

    def forward(self, x: Tensor, *_: Any, **__: Any) -> Tensor:
        self.read.append(x.detach())
        return self.output(x)


def _rows(size: int, value: float) -> Any:
    return lambda x: torch.full_like(x, value) * torch.arange(1, size + 1, dtype=x.dtype)


@lab.task(CourseBlock, uses=("MultiHeadAttention", "FeedForward"))
def Block(trial: Trial) -> None:
    D, x = 6, trial.normal(2, 4, 6)
    given = "x of shape (2, 4, 6), D = 6"
    attention, feed_forward = _Layer(torch.zeros_like), _Layer(torch.zeros_like)
    block = trial.call(D, attention, feed_forward, given="Block(6, attention, feed_forward)")
    is_module(trial, block, "Block(6, attention, feed_forward)")
    _block_has_parts(trial, block, attention, feed_forward)
    block.double().eval()
    y = trial.run(block, x, given=given)
    normal = F.layer_norm(x, (D,))
    slips = [
        (
            F.layer_norm(normal, (D,)),
            "Your norm stands on the stream itself, as in post-norm. In a pre-norm block it is "
            f"only added to; what a sub-layer reads is normalized. {BEFORE_OR_AFTER}",
        ),
        (0 * x, f"Each sub-layer's output is added to what was there: x + f(x). {STREAM}"),
    ]
    usual = f"Nothing but the sub-layers' outputs is added to the stream. {STREAM}"
    trial.equals(
        y,
        x,
        "where both sub-layers give zero, x comes out as it went in",
        usual,
        slips=slips,
        given=given,
    )
    _block_reads(trial, x, given)
    _block_as_a_whole(trial, x, given)
    _block_drops(trial)


def _block_has_parts(trial: Trial, block: nn.Module, attention: Any, feed_forward: Any) -> None:
    names = ("attention_norm", "attention", "feed_forward_norm", "feed_forward")
    missing = [name for name in names if not isinstance(getattr(block, name, None), nn.Module)]
    trial.holds(
        not missing,
        f"it has the attributes {', '.join(names)}",
        "Keep what you are handed, and make two norms of width d_model: self.attention = attention "
        "and so on.",
        got=f"missing: {', '.join(missing)}",
    )
    trial.holds(
        block.attention is attention and block.feed_forward is feed_forward,
        "attention and feed_forward are the modules that it was handed",
        "The sub-layers come ready-made: keep them, and do not exchange them.",
    )
    trial.holds(
        block.attention_norm is not block.feed_forward_norm,
        "the two norms are two modules",
        "Each sub-layer has a norm of its own, with parameters of its own: make two.",
    )


def _block_reads(trial: Trial, x: Tensor, given: str) -> None:
    """What each sub-layer is handed, where attention adds known numbers to the stream."""
    D = x.shape[-1]
    attention, feed_forward = _Layer(_rows(D, 0.5)), _Layer(torch.zeros_like)
    block = trial.call(D, attention, feed_forward, given="Block(6, attention, feed_forward)")
    trial.run(block.double().eval(), x, given=given)
    for name, layer in (("attention", attention), ("feed_forward", feed_forward)):
        trial.holds(
            len(layer.read) == 1,
            f"{name} is called once",
            "Two sub-layers, each called once and added once.",
            got=f"{len(layer.read)} calls",
        )
    unlike = f"A sub-layer reads a normalized copy of the stream. {BEFORE_OR_AFTER}"
    normal = F.layer_norm(x, (D,))
    trial.equals(
        attention.read[0], normal, "attention reads attention_norm(x)", unlike, given=given
    )
    then = x + _rows(D, 0.5)(x)
    slips = [
        (
            normal,
            "The feed-forward layer reads the stream as attention has left it: one after the "
            f"other, not side by side. {STREAM}",
        ),
        (F.layer_norm(_rows(D, 0.5)(x), (D,)), f"It reads x + attention(...), the sum. {STREAM}"),
    ]
    trial.equals(
        feed_forward.read[0],
        F.layer_norm(then, (D,)),
        "feed_forward reads feed_forward_norm(x + what attention gave)",
        unlike,
        slips=slips,
        given=given,
    )


def _block_as_a_whole(trial: Trial, x: Tensor, given: str) -> None:
    D = x.shape[-1]
    parts = MultiHeadAttention(D, 2, bias=True), FeedForward(D)
    reference = fill(CourseBlock(D, *parts), trial).eval()
    block = trial.call(D, *parts, given="Block(6, MultiHeadAttention(6, 2), FeedForward(6))")
    block.double().eval()
    for name in ("attention_norm", "feed_forward_norm"):
        getattr(block, name).load_state_dict(getattr(reference, name).state_dict())
    later = x.clone()
    later[:, 2:] += trial.normal(2, 2, D)
    y, changed = (trial.run(block, inputs, given=given) for inputs in (x, later))
    trial.equals(
        changed[:, :2],
        y[:, :2],
        "no position sees a later one",
        "A GPT's attention looks back only: MultiHeadAttention does so with causal=True, or with "
        f"a mask. {ONE_PASS}",
        given="x changed from position 2 on; outputs of positions 0 and 1",
    )
    trial.equals(
        y,
        reference(x).detach(),
        "x + attention(norm(x)), then x + feed_forward(norm(x))",
        "The sub-layers are right one by one. Does each use its own norm, and is each output added "
        f"once? {BEFORE_OR_AFTER}",
        given=f"{given}, random weights",
    )


def _block_drops(trial: Trial) -> None:
    """With dropout = 1/2 a sub-layer that gives 1 adds 0 or 2 in training, and 1 in evaluation."""
    x = torch.full((1, 50, 6), 10.0, dtype=torch.float64)
    given = "dropout = 0.5, a stream of 10s, {} that gives 1s and a silent second sub-layer"
    for name in ("attention", "feed_forward"):
        loud, silent = _Layer(torch.ones_like), _Layer(torch.zeros_like)
        parts = (loud, silent) if name == "attention" else (silent, loud)
        block = trial.call(6, *parts, dropout=0.5, given="Block(6, ..., dropout=0.5)").double()
        shown = given.format(name)
        with seeded(trial):
            block.eval()
            added = trial.run(block, x, given=shown) - x
            trial.equals(
                added,
                torch.ones_like(x),
                "in evaluation nothing is dropped",
                "F.dropout drops always unless it is told: nn.Dropout knows the module's mode, "
                f"F.dropout needs training=self.training. {DROPOUT}",
                given=f"{shown}, eval()",
            )
            block.train()
            added = (trial.run(block, x, given=shown) - x).detach()
        values = sorted({round(value, 6) for value in added.flatten().tolist()})
        hint = f"Dropout acts on the output of {name}, before it is added. {DROPOUT}"
        if values == [1.0]:
            hint = f"Nothing was dropped. {hint}"
        elif values and min(values) < -1:
            hint = f"The stream itself is never dropped: its zeros would be lost for good. {hint}"
        trial.holds(
            values == [0.0, 2.0],
            "in training each number that a sub-layer adds is dropped or doubled",
            hint,
            given=f"{shown}, train()",
            got=f"added to the stream: {values[:6]}",
            expected="0 and 2",
        )
