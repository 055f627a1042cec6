"""Checks of lab 04, tasks 6 and 7: heads, and multi-head attention.

Shape letters: B batch, T queries, H heads, D d_model, K = D / H. A mask has one meaning: True = may
attend. Checks compute in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from helpers.course.checks.comparing import Slips
from helpers.course.checks.describing import describe
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
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

MAPS = ("query", "key", "value", "output")


def _split_heads(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


HEADS = see(9, "Several heads at once")
RESHAPED = "The shape is right and the numbers are mixed: a reshape alone takes them in the order "
RESHAPED += "in which they lie, so it does not exchange dimensions. Every head needs a part of "
RESHAPED += f"each word. {HEADS}"
INTERLEAVED = "A head gets K neighbouring features, not every H-th one: in which order do H and K "
INTERLEAVED += "stand?"
SWAPPED = "The numbers are right and two dimensions stand in the wrong places: which two?"
ADDED = "The heads of a word stand side by side: none of their numbers are added up."
VIEW = "Print the shapes. If view refuses: after a transpose the numbers do not lie in order; "
VIEW += "reshape copies them then."


@lab.task(_split_heads)
def split_heads(trial: Trial) -> None:
    where = f"(B, T, D) becomes (B, H, T, K), D = H K. {HEADS}"

    def try_on(x: Tensor, H: int, rule: str) -> None:
        B, T, _ = x.shape
        uncrossed = x.reshape(B, T, H, -1)
        slips = [
            (uncrossed, SWAPPED),
            (uncrossed.permute(0, 2, 3, 1), SWAPPED),
            (x.reshape(B, H, T, -1), RESHAPED),
            (x.mT.reshape(B, H, T, -1), RESHAPED),
            (x.reshape(B, T, -1, H).permute(0, 3, 1, 2), INTERLEAVED),
        ]
        given = f"x = {describe(x)}, {H} heads"
        got = ask(trial, x, H, given=given, hint=where)
        expected = _split_heads(x, H)
        trial.equals(got, expected, rule, where, slips=in_double(expected, slips), given=given)

    words = torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]]).double()
    try_on(words, 2, "three words of four features, by hand")
    H, K = trial.integer(2, 5), trial.integer(5, 7)
    try_on(trial.normal(2, 3, H * K), H, "random words")
    try_on(trial.normal(2, 3, 4), 1, "one head")
    try_on(trial.normal(1, 1, 6), 3, "one word")


def _merge_heads(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


@lab.task(_merge_heads)
def merge_heads(trial: Trial) -> None:
    where = "(B, H, T, K) becomes (B, T, D): what split_heads did, backwards."

    def try_on(x: Tensor, rule: str) -> None:
        B, H, T, K = x.shape
        slips = [
            (x.reshape(B, T, H * K), RESHAPED),
            (x.permute(0, 2, 3, 1).reshape(B, T, H * K), INTERLEAVED),
            (x.mT.reshape(B, T, H * K), RESHAPED),
            (x.transpose(1, 2), SWAPPED),
            *((value, ADDED) for value in (x.sum(1), x.mean(1))),
        ]
        got = ask(trial, x, given=f"x = {describe(x)}", hint=VIEW)
        expected, given = _merge_heads(x), f"x = {describe(x)}"
        trial.equals(got, expected, rule, where, slips=in_double(expected, slips), given=given)

    words = torch.tensor([[[[0.0, 1], [10, 11], [20, 21]], [[2, 3], [12, 13], [22, 23]]]]).double()
    try_on(words, "two heads, by hand")
    try_on(trial.normal(2, trial.integer(2, 5), 3, trial.integer(5, 7)), "random heads")
    try_on(trial.normal(2, 1, 3, 4), "one head")
    try_on(trial.normal(1, 3, 1, 2), "one word")


class _MultiHead(nn.Module):
    """Multi-head self-attention, with the interface of the student's class."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in MAPS
        )

    def heads(self, x: Tensor) -> list[Tensor]:
        """Queries, keys and values, (B, H, T, K) each."""
        maps = self.query, self.key, self.value
        return [split_heads.fallback(linear(x), self.n_heads) for linear in maps]

    def forward(
        self, x: Tensor, mask: Tensor, turn: Callable[[Tensor], Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        q, k, v = self.heads(x)
        if turn is not None:
            q, k = turn(q), turn(k)
        heads, weights = masked_attention.fallback(q, k, v, mask)
        return self.output(merge_heads.fallback(heads)), weights


@lab.task(_MultiHead, without=KERNELS)
def MultiHead(trial: Trial) -> None:
    hint = "The class itself is checked, class MultiHead(nn.Module), and no object of it."
    made = isinstance(trial.answer, type) and issubclass(trial.answer, nn.Module)
    trial.holds(made, "it is a class made from nn.Module", hint)
    _one_head(trial)
    D, H, T = 12, 3, trial.integer(4, 7)
    mine, ours = _pair(trial, D, H)
    x, mask = trial.normal(2, T, D), causal_mask.fallback(T, T)
    given = f"d_model = {D}, n_heads = {H}, x {tuple(x.shape)}, a causal mask"
    _same(trial, mine, ours, x, mask, "three heads", given)
    _turned(trial, mine, ours, x, mask)
    changed = torch.cat([x[:, :-1], trial.normal(2, 1, D)], 1)
    with torch.no_grad():
        leak = (mine(changed, mask)[0] - mine(x, mask)[0])[:, :-1].abs().max()
    rule = "no output changes with a later word under a causal mask"
    trial.holds(leak <= 1e-12, rule, MEANING, given=given, got=leak)
    factor, found = trial.normal(*x.shape), []
    for model in (mine, ours):
        weights = [getattr(model, name).weight for name in MAPS]
        output = trial.run(model, x, mask, given=given)[0]
        found.append(gradients_of(trial, output * factor, weights, "all four weights", given))
    for name, got, expected in zip(MAPS, *found, strict=True):
        rule = "the gradients of the weights"
        path = "The outputs agree and this gradient does not: is something detached on the way?"
        trial.equals(got, expected, rule, path, given=f"{given}, gradient of {name}.weight")
    mine, ours = _pair(trial, 4, 2)
    one = torch.ones(1, 1, dtype=torch.bool)
    _same(trial, mine, ours, trial.normal(1, 1, 4), one, "a single word", "one word, two heads")


def _pair(trial: Trial, D: int, H: int) -> tuple[nn.Module, _MultiHead]:
    """The student's model and ours, with the same random weights in float64."""
    given = f"d_model = {D}, n_heads = {H}"
    begin = "The first line of __init__ is super().__init__(); layers are made after it."
    mine, ours = ask(trial, D, H, given=given, hint=begin).double(), _MultiHead(D, H).double()
    implemented = type(mine).forward is not nn.Module.forward
    trial.holds(implemented, "it has a method forward", "The method must have this very name.")
    names = "Four attributes query, key, value and output, each an nn.Linear from d_model to "
    names += "d_model; layers in a plain list or dictionary are not seen by the module."
    parameters = dict(mine.named_parameters())
    if any(name.endswith("bias") for name in parameters):
        names = "The four maps are matrices alone: bias=False."
    shapes = {name: tuple(p.shape) for name, p in parameters.items()}
    expected = {f"{name}.weight": (D, D) for name in MAPS}
    trial.equals(shapes, expected, "its parameters are four matrices", names, given=given)
    with torch.no_grad():
        for p in ours.parameters():
            p.copy_(trial.normal(D, D) / math.sqrt(D / 3))
    mine.load_state_dict(ours.state_dict(), strict=False)
    return mine, ours


def _one_head(trial: Trial) -> None:
    """One head, maps that change nothing: attention of x with itself."""
    mine, ours = _pair(trial, 2, 1)
    for model in (mine, ours):
        for name in MAPS:
            getattr(model, name).weight.data = torch.eye(2).double()
    x, mask = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]).double(), causal_mask.fallback(2, 2)
    given = f"one head, all four weights the identity, x = {describe(x)}, a causal mask"
    _same(trial, mine, ours, x, mask, "by hand", given)


def _same(trial, mine, ours, x: Tensor, mask: Tensor, rule: str, given: str) -> None:
    """Output and weights of both; known slips get their own hint."""
    where = f"Project, split, attend, merge, project. {HEADS}"
    with torch.no_grad():
        output, weights = ours(x, mask)
        hint = f"{where} Print the shapes."
        got = ask(trial, x, mask, function=mine, given=given, hint=hint)
        of_weights, of_outputs = _slips(ours, x, mask)
    mine_output, mine_weights = output_and_weights(trial, got, output, weights)
    hint, slips = f"{where} Weights are (B, H, T, T).", in_double(weights, of_weights)
    trial.equals(mine_weights, weights, rule, hint, slips=slips, given=f"{given}: the weights")
    slips = in_double(output, of_outputs)
    trial.equals(mine_output, output, rule, where, slips=slips, given=f"{given}: the output")


def _slips(ours: _MultiHead, x: Tensor, mask: Tensor) -> tuple[Slips, Slips]:
    """The known slips, those of the weights and those of the output."""
    (q, k, v), H, K = ours.heads(x), ours.n_heads, x.shape[-1] // ours.n_heads
    attend, merge = masked_attention.fallback, merge_heads.fallback
    roles = "Queries and keys have exchanged their roles: a row of weights belongs to a query."
    own = "Queries and keys are two projections of x, each with a map of its own."
    weights = [
        (attend(q * H**-0.5, k, v, mask)[1], f"{SCALE} K is d_model / H, not d_model."),
        (attend(q * K**0.5, k, v, mask)[1], SCALE),
        (attend(q * K**-0.5, k, v, mask)[1], f"{SCALE} Here that is done twice."),
        (attend(k, q, v, mask)[1], roles),
        *((attend(y, y, v, mask)[1], own) for y in (q, k)),
        (attend(q, k, v, torch.ones_like(mask))[1], "The mask does nothing here."),
        (attend(q, k, v, ~mask)[1], MEANING),
    ]
    unprojected = split_heads.fallback(x, H)
    heads, *others = (attend(q, k, y, mask)[0] for y in (v, unprojected, q, k))
    values = "Values are projections of x too, by W_V."
    missing = "The heads stand side by side; W_O, which mixes them, is missing."
    outputs = [
        (merge(heads), missing),
        (ours.output(heads.reshape(x.shape)), RESHAPED),
        (x + ours.output(merge(heads)), "This is x plus the attention; that sum is made outside."),
        *((ours.output(merge(other)), values) for other in others),
        (heads, "The output is still split into heads."),
    ]
    return weights, outputs


def _turned(trial: Trial, mine: nn.Module, ours: _MultiHead, x: Tensor, mask: Tensor) -> None:
    """A function that is given as ``turn`` changes queries and keys, in heads, and nothing else."""
    seen: list[tuple[int, ...]] = []

    def turn(y: Tensor) -> Tensor:
        seen.append(tuple(y.shape))
        return y * torch.linspace(0.2, 2, y.shape[-2] * y.shape[-1]).view(y.shape[-2:]).to(y)

    given = "turn = a function that changes every query and key in its own way"
    rule = "turn acts on the queries and the keys, in heads"
    hint = "Positions turn queries and keys, each once, when they are split into heads."
    with torch.no_grad():
        expected, q = ours(x, mask, turn), ours.heads(x)[0]
        seen.clear()
        got = ask(trial, x, mask, turn, function=mine, given=given, hint=hint)
        if not seen:
            hint = "turn is handed over and never called."
        elif seen[0] != tuple(q.shape):
            hint = "Each head is turned on its own: split into (B, H, T, K) first."
        elif len(seen) == 1:
            hint = "A turned query is compared with turned keys: both have a position."
        elif len(seen) == 3:
            hint = "A position says where to look, not what is found there: values stay."
        trial.equals(seen, [tuple(q.shape)] * 2, rule, hint, given=f"{given}: what it was given")
        output, weights = output_and_weights(trial, got, *expected)
        unused = "turn changes nothing in place: what it hands back is the turned vector."
        slips = in_double(expected[1], [(ours(x, mask)[1], unused)])
        trial.equals(weights, expected[1], rule, hint, slips=slips, given=f"{given}: the weights")
        trial.equals(output, expected[0], rule, hint, given=f"{given}: the output")
