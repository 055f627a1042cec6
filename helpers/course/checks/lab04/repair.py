"""Checks of lab 04, task 6: multi-head attention with three planted faults.

Shape letters: B texts, T queries, H heads, D d_model, K = D / H.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.lab04.common import CUT, ERRORS, KERNELS, MEANING, SCALE, gradients, lab
from helpers.course.checks.lab04.one_head import masked_weights
from helpers.course.checks.lab04.positions import rotate
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial, with_hints
from helpers.course.checks.turn import Case, Slips

MAPS = ("query", "key", "value", "output")
FAR = 50  # positions by which all words are moved
ROUNDING = 1e-4  # angles of far positions may have been computed in single precision


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


class _MultiHead(nn.Module):
    """Multi-head self-attention with rotary positions, as it should be."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, x, mask, start=0):
        q, k, v = (split_heads(f(x), self.n_heads) for f in (self.query, self.key, self.value))
        q, k = rotate.fallback(q, start), rotate.fallback(k, start)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = masked_weights.fallback(scores, mask)
        return self.output(merge_heads(weights @ v)), weights


_FAULTS = {
    "scale": "math.sqrt(q.shape[-1]) => math.sqrt(x.shape[-1])",
    "values": "q, k = rotate.fallback(q, start), rotate.fallback(k, start) => "
    "q, k, v = (rotate.fallback(y, start) for y in (q, k, v))",
    "mask": "masked_weights.fallback(scores, mask) => scores.softmax(-1) * mask",
}


def faulty(*faults: str) -> type[nn.Module]:
    """The class MultiHead(d_model, n_heads) of the task with these faults, and no others.

    Args:
        faults: of "scale" (divided by the root of d_model), "values" (turned, too) and "mask"
            (applied after the softmax), one at least.
    """
    patches = " ;; ".join(_FAULTS[name] for name in faults)
    ((version, _),) = Slips(_MultiHead, f"{patches}\n    {faults}")
    return version


_HEADS = f"{see(9, 'Several heads at once')} Print the shapes."
_BOTH = "Queries and keys both have a position: a turned query is compared with turned keys."
# By what each of the three faults shows; its cure is for the student to find.
_SHOWS = {
    "no row tells of the future": "Under a causal mask the rows of weights do not sum to 1, and an "
    "output changes where only later words do.",
    "scores are divided by the root of a head's width": "With the same numbers in a head, its "
    "weights change when there are more heads beside it.",
    "only distances count": f"When all words move by {FAR} positions, the weights stay and the "
    "outputs change.",
}
_SLIPS = Slips(
    _MultiHead,
    f"""
    / math.sqrt(q.shape[-1]) =>
        {SCALE}
    (scores, mask) => (scores, ~mask)
        {MEANING}
    masked_weights.fallback(scores, mask) => (scores * mask).softmax(-1)
        A masked score is -infinity. A score of 0 still counts: e to the power of 0 is 1.
    q, k = rotate.fallback(q, start), rotate.fallback(k, start) => q = rotate.fallback(q, start)
        {_BOTH}
    q, k = rotate.fallback(q, start), rotate.fallback(k, start) =>
        Nothing is turned here: without positions it reads a bag.
    q, k = rotate.fallback(q, start), rotate.fallback(k, start) => q, k = \
    (split_heads(rotate.fallback(f(x), start), self.n_heads) for f in (self.query, self.key))
        Each head is turned on its own: split into (B, H, T, K) first, as Broken does.
    self.output(merge_heads(weights @ v)) => merge_heads(weights @ v)
        W_O, which mixes the heads, is missing.
    merge_heads(weights @ v) => (weights @ v).reshape(x.shape)
        A reshape alone mixes words. {_HEADS}
    return self.output => return x + self.output
        This is x plus the attention; that sum is made outside.
    q @ k.mT => q @ k.detach().mT
        {CUT}
    """,
)
_CHANGED = "The faults are gone and something else has changed: mend the faults alone."
_OTHER = {
    **ERRORS,
    "TypeError": "MultiHead takes __init__ over from Broken: it needs none of its own.",
    "RuntimeError": _HEADS,
}


def _drawn(trial: Trial, D: int) -> list[Tensor]:
    return [trial.normal(D, D) / math.sqrt(D / 3) for _ in MAPS]


def _built(answer: Callable, D: int, H: int, weights: list[Tensor]) -> nn.Module:
    """A model with these weights, in float64."""
    model = answer(D, H).double()
    with torch.no_grad():
        for name, weight in zip(MAPS, weights, strict=True):
            getattr(model, name).weight.copy_(weight)
    return model


def _used(
    answer: Callable, D: int, H: int, weights: list[Tensor], x: Tensor, mask: Tensor, start: int
) -> dict[str, Any]:
    """What it gives, and the gradients of its four matrices."""
    model = _built(answer, D, H, weights)
    output, looks = model(x, mask, start)
    matrices = [getattr(model, name).weight for name in MAPS]
    found = gradients(output, matrices) if output.shape == x.shape else []
    return {"weights": looks, "output": output, "gradients": found}


def _uses(trial: Trial) -> Iterator[Case]:
    D, H, T = 12, 3, trial.integer(5, 8)
    causal, some = (torch.ones(T, T, dtype=torch.bool).tril() for _ in range(2))
    some[2:, 0] = False
    given = f"d_model = {D}, n_heads = {H}, x (2, {T}, {D})"
    weights, x = _drawn(trial, D), trial.normal(2, T, D)
    yield Case("three heads", D, H, weights, x, causal, 0, given=f"{given}, a causal mask")
    start = trial.integer(2, 9)
    where = f"{given}, a mask that hides the first word from the third on, start = {start}"
    yield Case("any mask and any start", D, H, weights, x, some, start, given=where)
    # A masked score that is larger by 2,000 than the only one that is allowed: turned by one
    # position, which is the angle 1, the second word has the direction of the first.
    words = [[10.0, 0.0], [300 * math.cos(1), -300 * math.sin(1)]]
    large, same = torch.tensor(words).double().repeat(1, 2)[None], [torch.eye(4).double()] * 4
    given = "d_model = 4, n_heads = 2, two words: a small one, and a large one that is masked"
    hint = (
        "As in task 3: the masked score still takes part in the softmax here, beside it the "
        "allowed one gets 0, and 0 / 0 is NaN. Mask before the softmax."
    )
    rule = "a large score that is masked"
    yield Case(rule, 4, 2, same, large, causal[:2, :2], 0, given=given, hint=hint)
    word = trial.normal(1, 1, 4)
    given = "one word, two heads"
    yield Case("a single word", 4, 2, _drawn(trial, 4), word, causal[:1, :1], 0, given=given)


@lab.task(_MultiHead, without=KERNELS)
def MultiHead(trial: Trial) -> None:
    trial.is_class_from("Broken", "forward", "state_dict")
    with with_hints(_OTHER):
        _has_the_parts(trial)
        _has_no_fault(trial)
        for case in _uses(trial):
            trial.agrees(
                _MultiHead, *case.arguments, rule=case.rule, hint=case.hint or _CHANGED,
                slips=_SLIPS, given=case.given, tolerance=1e-5, call=_used,
            )  # fmt: skip


MultiHead.slips = _SLIPS


def _has_the_parts(trial: Trial) -> None:
    D, H = 12, 3
    model = trial.call(D, H, given=f"d_model = {D}, n_heads = {H}")
    implemented = type(model).forward is not nn.Module.forward
    trial.holds(implemented, "it has a method forward", "The method must have this very name.")
    shapes = {name: tuple(p.shape) for name, p in model.named_parameters()}
    expected = {f"{name}.weight": (D, D) for name in MAPS}
    trial.equals(
        shapes,
        expected,
        "its parameters are four matrices",
        "Keep Broken's four maps query, key, value and output, D x D and without a bias: the "
        "faults are not there.",
    )


def _has_no_fault(trial: Trial) -> None:
    """Complains about the planted faults that are still in, all at once."""
    D, H, T = 12, 3, trial.integer(5, 8)
    weights, x, causal = _drawn(trial, D), trial.normal(2, T, D), torch.ones(T, T).tril() > 0
    everyone, given = torch.ones_like(causal), f"d_model = {D}, n_heads = {H}, x (2, {T}, {D})"
    mine = trial.run(_built, trial.answer, D, H, weights, given=given)
    narrow = _built(faulty("scale"), D, H, weights)

    def look(x: Tensor, mask: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        got = trial.run(mine, x, mask, start, given=given)
        pair = isinstance(got, tuple | list) and len(got) == 2
        hint = "Hand back two things, first the output and then the weights."
        trial.holds(pair, "output and weights come back, in this order", hint)
        shapes = [getattr(y, "shape", None) for y in got]
        expected = [x.shape, (len(x), H, T, T)]
        rule = "output (B, T, D) and weights (B, H, T, T)"
        trial.holds(shapes == expected, rule, f"{hint} {_HEADS}", given=given, got=shapes,
                    expected=expected)  # fmt: skip
        nan = "NaN: does every row keep a finite score, and is nothing divided by 0?"
        fine = got[0].isfinite().all() and got[1].isfinite().all()
        trial.holds(fine, "outputs and weights are numbers", nan, given=given)
        return got

    other = torch.cat([x[:, :-1], trial.normal(2, 1, D)], 1)
    with torch.no_grad():
        output, looks = look(x, causal)
        seen = looks.masked_fill(causal, 0).abs().sum() < 0.5 * looks.abs().sum()
        trial.holds(seen, "True = may attend", MEANING, given=f"{given}, a causal mask")
        leaks = (look(other, causal)[1] - looks)[:, :, :-1].abs().max() > 1e-9
        by_width = (look(x, everyone)[1] - narrow(x, everyone)[1]).abs().max() < 1e-5
        far, far_looks = look(x, causal, FAR)
        moved = (far - output).abs().max() > ROUNDING
        still = (far_looks - looks).abs().max() < ROUNDING
    gone = not leaks, not by_width, not (moved and still)
    trial.has_no_fault(_SHOWS, gone, given)
