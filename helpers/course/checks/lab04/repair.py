"""Checks of lab 04, task 7: multi-head attention with three planted faults.

Shape letters: B batch, T queries, H heads, D d_model, K = D / H. A mask has one meaning: True = may
attend. Checks compute in float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from helpers.course.checks.comparing import Slips, differs
from helpers.course.checks.lab04.common import (
    KERNELS,
    MEANING,
    SCALE,
    ask,
    gradients_of,
    in_double,
    lab,
    output_and_weights,
)
from helpers.course.checks.lab04.one_head import causal_mask, masked_attention
from helpers.course.checks.lab04.positions import rotate
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

MAPS = ("query", "key", "value", "output")
HEADS = see(9, "Several heads at once")
ROPE = see(10, "RoPE: turn the queries and the keys")
FAR = 50  # positions by which all words are moved
ROUNDING = 1e-4  # angles of far positions may have been computed in single precision


def _split_heads(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


CHANGED = "The faults are gone and something else has changed: mend the faults alone. "
FACTOR = f"All scores are too large, or too small, by one factor: what are they divided by? {SCALE}"


class _MultiHead(nn.Module):
    """Multi-head self-attention with rotary positions, as it should be."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in MAPS
        )

    def heads(self, x: Tensor) -> list[Tensor]:
        """Queries, keys and values, (B, H, T, K) each, not turned yet."""
        maps = self.query, self.key, self.value
        return [_split_heads(linear(x), self.n_heads) for linear in maps]

    def forward(self, x: Tensor, mask: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        q, k, v = self.heads(x)
        q, k = rotate.fallback(q, start), rotate.fallback(k, start)
        heads, weights = masked_attention.fallback(q, k, v, mask)
        return self.output(_merge_heads(heads)), weights


class _Faulty(_MultiHead):
    """It with some of the faults; the lab measures what they do."""

    faults: tuple[str, ...] = ()

    def forward(self, x: Tensor, mask: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        q, k, v = self.heads(x)
        q, k = rotate.fallback(q, start), rotate.fallback(k, start)
        if "scale" in self.faults:
            q = q / math.sqrt(self.n_heads)
        if "values" in self.faults:
            v = rotate.fallback(v, start)
        late = "mask" in self.faults
        seen = torch.ones_like(mask) if late else mask
        heads, weights = masked_attention.fallback(q, k, v, seen)
        if late:
            weights = weights * mask
            heads = weights @ v
        return self.output(_merge_heads(heads)), weights


def faulty(*faults: str) -> type[nn.Module]:
    """The class MultiHead(d_model, n_heads) of the task with these faults, and no others.

    Args:
        faults: of "scale" (divided by the root of d_model), "values" (turned, too) and "mask"
            (applied after the softmax).

    Raises:
        ValueError: one is none of these.
    """
    for name in faults:
        if name not in ("scale", "values", "mask"):
            raise ValueError(f"{name!r} is no fault of this task: take scale, values or mask.")
    return type("Faulty", (_Faulty,), {"faults": faults})


# By what each of the three faults shows; its cure is for the student to find.
_SHOWS = {
    "no row tells of the future": "Under a causal mask the rows of weights do not sum to 1, and an "
    "output changes where only later words do.",
    "scores are divided by the root of a head's width": "With the same numbers in a head, its "
    "weights change when there are more heads beside it.",
    "only distances count": f"When all words move by {FAR} positions, the weights stay and the "
    "outputs change.",
}


@lab.task(_MultiHead, without=KERNELS)
def MultiHead(trial: Trial) -> None:
    hint = "The class itself is checked, class MultiHead(Broken), and no object of it."
    made = isinstance(trial.answer, type) and issubclass(trial.answer, nn.Module)
    trial.holds(made, "it is a class made from Broken", hint)
    D, H, T = 12, 3, trial.integer(5, 8)
    mine, ours = _pair(trial, D, H)
    x, causal = trial.normal(2, T, D), causal_mask.fallback(T, T)
    given = f"d_model = {D}, n_heads = {H}, x {tuple(x.shape)}"
    _faults(trial, mine, ours, x, causal, given)
    _same(trial, mine, ours, x, causal, 0, "three heads", f"{given}, a causal mask")
    start, some = trial.integer(2, 9), causal.clone()
    some[2:, 0] = False
    where = f"{given}, a mask that hides the first word from the third on, start = {start}"
    _same(trial, mine, ours, x, some, start, "any mask and any start", where)
    _gradients(trial, mine, ours, x, causal, f"{given}, a causal mask")
    mine, ours = _pair(trial, 4, 2)
    _large(trial, mine, ours)
    one, word = torch.ones(1, 1, dtype=torch.bool), trial.normal(1, 1, 4)
    _same(trial, mine, ours, word, one, 0, "a single word", "one word, two heads")


def _faults(
    trial: Trial, mine: nn.Module, ours: _MultiHead, x: Tensor, causal: Tensor, given: str
) -> None:
    """Complains about the planted faults that are still in, all at once."""
    everyone, hint = torch.ones_like(causal), f"{HEADS} Print the shapes."

    def look(x: Tensor, mask: Tensor, start: int = 0) -> tuple[Tensor, Tensor]:
        got = ask(trial, x, mask, start, function=mine, given=given, hint=hint)
        return output_and_weights(trial, got, *ours(x, mask, start))

    changed = torch.cat([x[:, :-1], trial.normal(len(x), 1, x.shape[2])], 1)
    with torch.no_grad():
        output, weights = look(x, causal)
        whole = ours(x, causal)
        shapes = [getattr(y, "shape", None) for y in (output, weights)]
        expected = [y.shape for y in whole]
        rule = "output (B, T, D) and weights (B, H, T, T)"
        trial.holds(shapes == expected, rule, hint, given=given, got=shapes, expected=expected)
        nan = "NaN: does every row keep a finite score, and is nothing divided by 0?"
        fine = output.isfinite().all() and weights.isfinite().all()
        trial.holds(fine, "outputs and weights are numbers", nan, given=given)
        opposite = ours(x, ~causal)[1]
        wrong = differs(weights, opposite, 1e-5) is None
        trial.holds(not wrong, "True = may attend", MEANING, given=f"{given}, a causal mask")
        leaks = (look(changed, causal)[1] - weights)[:, :, :-1].abs().max() > 1e-9
        free = look(x, everyone)[1]
        q, k, v = ours.heads(x)
        q, k = rotate.fallback(q), rotate.fallback(k)
        narrow = masked_attention.fallback(q * ours.n_heads**-0.5, k, v, everyone)[1]
        by_width = differs(free, narrow, 1e-5) is None
        far, far_weights = look(x, causal, FAR)
        moved = (far - output).abs().max() > ROUNDING
        still = (far_weights - weights).abs().max() < ROUNDING
    right = (not leaks, not by_width, not (moved and still))
    found = dict(zip(_SHOWS, right, strict=True))
    left = [f"({i}) {_SHOWS[name]}" for i, name in enumerate(_SHOWS, start=1) if not found[name]]
    for name in filter(found.get, found):
        trial.holds(True, f"fault found: {name}", "")
    rule = f"all three faults are found (still in: {len(left)})"
    trial.holds(not left, rule, " ".join(left), given=given)


def _large(trial: Trial, mine: nn.Module, ours: _MultiHead) -> None:
    """A masked score that is larger by 2,000 than the only one that is allowed."""
    with torch.no_grad():
        for model in (mine, ours):
            for name in ("query", "key"):
                getattr(model, name).weight.copy_(torch.eye(4))
    # Turned by one position, which is the angle 1, the second word has the direction of the first.
    words = [[10.0, 0.0], [300 * math.cos(1), -300 * math.sin(1)]]
    x = torch.tensor(words).double().repeat(1, 2)[None]
    hint = "As in task 4: the masked score still takes part in the softmax here, beside it the "
    hint += "allowed one gets 0, and 0 / 0 is NaN. Mask before the softmax."
    given = "d_model = 4, n_heads = 2, two words: a small one, and a large one that is masked"
    causal = causal_mask.fallback(2, 2)
    _same(trial, mine, ours, x, causal, 0, "a large score that is masked", given, hint)


def _gradients(
    trial: Trial, mine: nn.Module, ours: _MultiHead, x: Tensor, mask: Tensor, given: str
) -> None:
    factor, found = trial.normal(*x.shape), []
    for model in (mine, ours):
        weights = [getattr(model, name).weight for name in MAPS]
        output = trial.run(model, x, mask, given=given)[0]
        found.append(gradients_of(trial, output * factor, weights, "all four weights", given))
    for name, got, expected in zip(MAPS, *found, strict=True):
        rule = "the gradients of the weights"
        path = "The outputs agree and this gradient does not: is something detached on the way?"
        trial.equals(got, expected, rule, path, given=f"{given}, gradient of {name}.weight")


def _pair(trial: Trial, D: int, H: int) -> tuple[nn.Module, _MultiHead]:
    """The student's model and ours, with the same random weights in float64."""
    given = f"d_model = {D}, n_heads = {H}"
    begin = "MultiHead takes __init__ over from Broken: it needs none of its own."
    mine, ours = ask(trial, D, H, given=given, hint=begin).double(), _MultiHead(D, H).double()
    implemented = type(mine).forward is not nn.Module.forward
    trial.holds(implemented, "it has a method forward", "The method must have this very name.")
    names = "Keep Broken's four maps query, key, value and output, D x D and without a bias: the "
    names += "faults are not there."
    shapes = {name: tuple(p.shape) for name, p in mine.named_parameters()}
    expected = {f"{name}.weight": (D, D) for name in MAPS}
    trial.equals(shapes, expected, "its parameters are four matrices", names, given=given)
    with torch.no_grad():
        for p in ours.parameters():
            p.copy_(trial.normal(D, D) / math.sqrt(D / 3))
    mine.load_state_dict(ours.state_dict(), strict=False)
    return mine, ours


def _same(
    trial: Trial, mine: nn.Module, ours: _MultiHead, x: Tensor, mask: Tensor, start: int,
    rule: str, given: str, where: str = CHANGED,
) -> None:  # fmt: skip
    """Output and weights of both; known slips get their own hint, otherwise ``where``."""
    with torch.no_grad():
        output, weights = ours(x, mask, start)
        hint = f"{HEADS} Print the shapes."
        got = ask(trial, x, mask, start, function=mine, given=given, hint=hint)
        of_weights, of_outputs = _slips(ours, x, mask, start)
    mine_output, mine_weights = output_and_weights(trial, got, output, weights)
    slips, what = in_double(weights, of_weights), f"{given}: the weights"
    hint = FACTOR if _one_factor(mine_weights, weights, mask) else where
    trial.equals(mine_weights, weights, rule, hint, slips=slips, given=what, tolerance=1e-5)
    slips, what = in_double(output, of_outputs), f"{given}: the output"
    trial.equals(mine_output, output, rule, where, slips=slips, given=what, tolerance=1e-5)


def _one_factor(got: object, weights: Tensor, mask: Tensor) -> bool:
    """Whether these are the weights of scores that all are wrong by one factor."""
    if not isinstance(got, Tensor) or got.shape != weights.shape:
        return False

    def scores(a: Tensor) -> Tensor:  # from weights: up to a number for each row, which goes
        s = torch.where(mask, a.double().log(), 0.0)
        return (s - s.sum(-1, keepdim=True) / mask.sum(-1, keepdim=True)) * mask

    mine, theirs = scores(got.detach()), scores(weights)
    factor = (mine * theirs).sum() / (theirs * theirs).sum()
    return bool((mine - factor * theirs).abs().max() < 1e-4 < (factor - 1).abs())


def _slips(ours: _MultiHead, x: Tensor, mask: Tensor, start: int) -> tuple[Slips, Slips]:
    """The known slips, those of the weights and those of the output."""
    (q0, k0, v), H, K = ours.heads(x), ours.n_heads, x.shape[-1] // ours.n_heads
    q, k = rotate.fallback(q0, start), rotate.fallback(k0, start)
    attend, merge, everyone = masked_attention.fallback, _merge_heads, torch.ones_like(mask)
    both = "Queries and keys both have a position: a turned query is compared with turned keys."
    before = _split_heads(rotate.fallback(ours.query(x), start), H)
    before_k = _split_heads(rotate.fallback(ours.key(x), start), H)
    split = "Each head is turned on its own: split into (B, H, T, K) first, as Broken does."
    zero = "A masked score is -infinity. A score of 0 still counts: e to the power of 0 is 1."
    scores = q @ k.mT / math.sqrt(K)
    weights = [
        (attend(q * K**0.5, k, v, mask)[1], SCALE),
        (attend(q * K**-0.5, k, v, mask)[1], f"{SCALE} Here that is done twice."),
        (attend(q, k, v, everyone)[1], "The mask does nothing here."),
        (attend(q, k, v, ~mask)[1], MEANING),
        ((scores * mask).softmax(-1), zero),
        (attend(q, k0, v, mask)[1], both),
        (attend(q0, k, v, mask)[1], both),
        (attend(q0, k0, v, mask)[1], "Nothing is turned here: without positions it reads a bag."),
        (attend(before, before_k, v, mask)[1], split),
    ]
    heads, turned = (attend(q, k, y, mask)[0] for y in (v, rotate.fallback(v, start)))
    outputs = [
        (merge(heads), "W_O, which mixes the heads, is missing."),
        (ours.output(heads.reshape(x.shape)), f"A reshape alone mixes words. {HEADS}"),
        (x + ours.output(merge(heads)), "This is x plus the attention; that sum is made outside."),
        (ours.output(merge(turned)), f"{_SHOWS['only distances count']} {ROPE}"),
    ]
    return weights, outputs
