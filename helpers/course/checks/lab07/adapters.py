"""Checks of lab 07, tasks 3 and 4: LoRA beside any map, and a plain state dict."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from helpers.course.checks.describing import describe
from helpers.course.checks.lab07 import solutions
from helpers.course.checks.lab07.common import LORA, MERGE, START, has, lab, linear
from helpers.course.checks.trial import NOTHING, Trial, with_hints
from helpers.course.checks.turn import Slips

SLIPS = Slips(
    solutions.LoRA,
    """
    self.scale * (x @ A.T @ B.T) => x @ A.T @ B.T
        The update is multiplied by alpha / r, which is self.scale.
    zip(self.chosen, self.A, self.B, strict=True) \
    => ((i, self.A[0], self.B[0]) for i in self.chosen)
        Each chosen part has an A and a B of its own.
    zip(self.chosen, self.A, self.B, strict=True) => zip(range(self.n), self.A, self.B)
        An update belongs to the part that is True, wherever that stands: with (True, False, True)
        the second update moves the third part.
    pieces[i] = pieces[i] + self.scale => pieces[i] = self.scale
        The update is added to what the old map gives: W0 x stays.
    """,
)


_OLD = "Call old, and ask it for in_features and out_features alone: not every map has a weight."
_ASKED = {
    "'Opaque' object": _OLD,
    "'Packed' object": _OLD,
    "modified inplace": "The parts are views: parts[i] = parts[i] + ..., and no +=.",
}


class Opaque(nn.Module):
    """A map of which one can ask no more than task 3 says."""

    def __init__(self, inner: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = inner.in_features, inner.out_features
        self.inner = nn.Sequential(inner)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


def _drawn(trial: Trial, made: nn.Module) -> None:
    """A and B as after a training."""
    made.double()
    with torch.no_grad():
        for p in (made.A, made.B):
            p.copy_(trial.normal(*p.shape))


@lab.task(solutions.LoRA)
def LoRA(trial: Trial) -> None:
    trial.is_class_from("nn.Module", "forward", "state_dict")
    usual = f"What old gives, and behind each chosen part alpha / r B A x. {LORA}"
    packed = solutions.Packed(linear(trial, 12, 8), 4, 8)
    opaque = Opaque(linear(trial, 6, 4))
    for old, parts, shape, name in (
        (linear(trial, 12, 8, bias=True), (True, False, True), (2, 3), "a fused map with a bias"),
        (linear(trial, 12, 8), (False, True, False), (4,), "a fused map"),
        (packed, (True, True, False), (2, 1, 3), "a packed fused map"),
        (linear(trial, 10, 6), (True,), (), "a map"),
        (opaque, (True, False), (2,), "a map of another kind"),
    ):
        r, alpha = trial.integer(2, 4), 5.0
        given = f"LoRA({name} {old.out_features} x {old.in_features}, {parts}, r={r}, alpha=5)"
        given += f", x {(*shape, old.in_features)}"
        ours = solutions.LoRA(old, parts, r, alpha)
        old.requires_grad_()
        with with_hints(_ASKED):
            mine = trial.call(old, parts, r, alpha, given=given, hint=usual)
        has(trial, mine, ("old", "A", "B", "update", "in_features", "out_features"), given)
        shapes = {n: tuple(p.shape) for n, p in mine.named_parameters() if p.requires_grad}
        hint = "A and B are parameters, A (P, r, I) and B (P, O / n, r), P the number of parts "
        hint += f"that are True. {LORA}"
        wanted = {"A": tuple(ours.A.shape), "B": tuple(ours.B.shape)}
        trial.equals(shapes, wanted, "what is trained", hint, given=given)
        x = trial.normal(*shape, old.in_features)
        _begins(trial, mine, given)
        mine.double()
        with with_hints(_ASKED):
            got = trial.run(mine, x, given=given, hint=usual)
        hint = f"B begins at zero, so that nothing is changed at first. {START}"
        made = [(version(old, parts, r, alpha).double(), hint) for version, hint in SLIPS]
        slips = _values(made, x)
        if isinstance(old, nn.Linear):
            call = "Call old, and do not read its weight: it may have a bias, and no weight."
            slips += [(x @ old.weight.T, call)]
        trial.equals(got, old(x), "nothing is changed at first", hint, slips=slips, given=given)
        _drawn(trial, mine)
        ours.double().load_state_dict({"A": mine.A, "B": mine.B}, strict=False)
        for slip, _ in made:
            slip.load_state_dict({"A": mine.A, "B": mine.B}, strict=False)
        with with_hints(_ASKED):
            got = trial.run(mine, x, given=given, hint=usual)
        trial.equals(got, ours(x), "forward", usual, slips=_values(made, x), given=given)
        _lets_through(trial, mine, ours, x, given)
        hint = f"The matrix that is added in a merge: alpha / r B A, and zeros in the other rows. \
{MERGE}"
        with with_hints(_ASKED):
            got = trial.run(mine.update, given=given, hint=hint)
        slips = [(ours.update() * r / alpha, "Multiply by alpha / r here, too.")]
        trial.equals(got, ours.update(), "update", hint, slips=slips, given=given)
    _stays_thin(trial)


def _lets_through(trial: Trial, mine: nn.Module, ours: nn.Module, x: Tensor, given: str) -> None:
    """The gradients of what is trained, here and below."""
    weights = trial.normal(*ours(x).shape)
    for name, hint in (
        ("x", "Old is frozen, not cut off: what is trained in the blocks below needs the gradient "
              "that passes through old and through the update, so neither no_grad nor detach."),
        ("A", f"A and B are trained: the update is no constant. {LORA}"),
        ("B", f"A and B are trained: the update is no constant. {LORA}"),
    ):  # fmt: skip
        found = []
        for model in (mine, ours):
            inner = x.clone().requires_grad_()
            at = inner if name == "x" else getattr(model, name)
            loss = (model(inner) * weights).sum()
            (slope,) = (
                torch.autograd.grad(loss, at, allow_unused=True) if loss.requires_grad else (None,)
            )
            found.append(torch.zeros_like(at) if slope is None else slope)
        trial.equals(found[0], found[1], f"the gradient of {name}", hint, given=given)


def _values(made: list, x: Tensor) -> list[tuple[Tensor, str]]:
    return [(slip(x), hint) for slip, hint in made]


def _begins(trial: Trial, mine: nn.Module, given: str) -> None:
    hint = f"A is drawn, and B is zero: with both at zero nothing ever learns. {START}"
    trial.holds(bool(mine.A.any()), "A is drawn", hint, given=given)
    wide = trial.run(trial.answer, nn.Linear(400, 30, False), (True, False, True), 8, 16)
    size = float(wide.A.detach().std()) * 400**0.5
    hint = "Normally distributed numbers with a standard deviation of 1 / sqrt(I)."
    trial.holds(0.8 < size < 1.25, "A begins with a deviation of 1 / sqrt(I)", hint,
                given="I = 400", got=f"{size:.2f} / sqrt(I)")  # fmt: skip


def _stays_thin(trial: Trial) -> None:
    old = nn.Linear(64, 3 * 64, bias=False)
    mine, counts = trial.run(trial.answer, old, (True, False, True), 2, 4), []
    for part in (mine, old):
        with FlopCounterMode(display=False) as counter:
            part(torch.zeros(1, 1, 64))
        counts.append(counter.get_total_flops())
    hint = f"Read B A x from the right: x @ A.T first. The product B A is for update. {LORA}"
    trial.holds(counts[0] < 1.3 * counts[1], "forward never forms the product of B and A", hint,
                given="a fused map of 3 x 64 outputs, r = 2, one token",
                got=f"{counts[0]:,} operations, {counts[1]:,} without LoRA")  # fmt: skip


LoRA.slips = SLIPS


class Small(nn.Module):
    """A model with a table, maps, a norm and an output, which may be the table."""

    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.table, self.inner = nn.Embedding(6, 8), nn.ModuleList([nn.Module(), nn.Module()])
        for part in self.inner:
            part.qkv = nn.Linear(8, 24, bias=False)
            part.down = nn.Linear(24, 8)
        self.last = nn.Linear(8, 8, bias=False)
        self.norm, self.output = nn.LayerNorm(8), nn.Linear(8, 6, bias=False)
        if tied:
            self.output.weight = self.table.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens)
        for part in self.inner:
            x = x + part.down(part.qkv(x).tanh())
        return self.output(self.norm(self.last(x)))


def small(trial: Trial, tied: bool = False) -> Small:
    """One in float64 with weights of the trial."""
    made = Small(tied).double()
    with torch.no_grad():
        for p in made.parameters():
            p.copy_(trial.normal(*p.shape))
    return made


def adapted(trial: Trial, model: Small, packed: bool, output: bool = False) -> Small:
    """With LoRA around some maps, as if it had been trained; one packed map has none."""
    if packed:
        model.last = solutions.Packed(model.last, 4, 4)
    for i, part in enumerate(model.inner):
        if packed:
            part.qkv = solutions.Packed(part.qkv, 4, 4)
        part.qkv = solutions.LoRA(part.qkv, (True, False, True), 2, 3.0)
        if i:
            part.down = solutions.LoRA(part.down, (True,), 2, 3.0)
    if output:
        model.output = solutions.LoRA(model.output, (True,), 2, 3.0)
    for layer in model.modules():
        if isinstance(layer, solutions.LoRA):
            _drawn(trial, layer)
    return model


_NAMES = (
    "The old map stands in the place of the one with LoRA, and its name has no .old; a packed one "
    "becomes a matrix again, with the name weight."
)
_COPIED = (
    "The numbers are copied: what shares its tensors with the model changes when the model is "
    "trained on, and what is added to it is added to the model. A tied output is the table itself."
)


@lab.task(solutions.plain_state)
def plain_state(trial: Trial) -> None:
    for packed, tied, output, name in (
        (False, False, False, "LoRA around some maps"),
        (True, False, False, "packed maps, and LoRA around some of them"),
        (False, True, True, "an output that is tied to the embeddings, with LoRA around it"),
        (False, True, False, "an output that is tied to the embeddings, without LoRA"),
    ):
        model = adapted(trial, small(trial, tied), packed, output)
        before = {key: value.clone() for key, value in model.state_dict().items()}
        tokens, given = trial.integers(0, 6, 2, 5), f"a model with {name}"
        logits = model(tokens).detach()
        hint = "Walk over model.named_modules(): a map with update, a packed one, and all others."
        with with_hints({"KeyError": _NAMES}):
            got = trial.call(model, given=given, hint=hint)
        ours = solutions.plain_state(model)
        _same_names(trial, got, ours, given)
        after = model.state_dict()
        trial.holds(all(torch.equal(after[key], before[key]) for key in before),
                    "the model stays as it is", _COPIED, given=given)  # fmt: skip
        for key, value in ours.items():
            trial.equals(got[key], value, f"the values of {name}", MERGE, given=f"{given}: {key}")
        plain = Small(False).double()
        plain.load_state_dict(got)
        trial.holds(torch.allclose(plain(tokens), logits), "a plain model computes the same", hint)
        for value in got.values():
            value.zero_()
        trial.holds(torch.equal(model(tokens), logits), "it shares no tensor with the model",
                    _COPIED, given=given)  # fmt: skip


def _same_names(trial: Trial, got: Any, ours: dict[str, Tensor], given: str) -> None:
    fine = isinstance(got, dict) and all(isinstance(value, Tensor) for value in got.values())
    hint = "A dictionary from names to tensors comes back: return state."
    hint = NOTHING if got is None else hint
    trial.holds(fine, "a state dict", hint, given=given, got=describe(got))
    grad = any(value.requires_grad for value in got.values())
    trial.holds(not grad, "its tensors carry no gradient", "detach() what is computed.",
                given=given)  # fmt: skip
    left = [key for key in got if key.endswith((".A", ".B", ".codes", ".scales"))]
    old = [key for key in got if ".old" in key]
    lost = [key for key in ours if key not in got]
    extra = [key for key in got if key not in ours]
    hint = (
        "A and B, codes and scales have no place in the plain model. (Ask with hasattr what a "
        "layer can do, not of which class it is.)" if left
        else "The old map stands in the place of the one with LoRA: its name has no .old." if old
        else "Biases, embeddings, norms and a packed map without LoRA belong to the state." if lost
        else "These are no names of the plain model."
    )  # fmt: skip
    trial.holds(not lost and not extra, "the names of the plain model", hint, given=given,
                got=f"missing {lost}, too many {extra}")  # fmt: skip
