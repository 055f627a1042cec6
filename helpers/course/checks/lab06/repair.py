"""Checks of lab 06, task 6: a pre-training with three planted faults.

Shape letters: B texts, T tokens, V ordinary tokens (then come [MASK] and [PAD]), D width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab06.common import MASKING, lab
from helpers.course.checks.trial import Complaint, Trial, with_hints
from helpers.course.checks.turn import Case, Slips
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock
from helpers.models.positions import RotaryPositions

GIVEN = ("MultiHeadAttention", "FeedForward", "PreNormBlock", "RotaryPositions")
SIZES = V, D, H = 7, 12, 2  # of the models in the checks


class _Repaired(nn.Module):
    """The small encoder and its pre-training, as it should be."""

    def __init__(self, V, D, H):
        super().__init__()
        self.V, self.mask, self.pad = V, V, V + 1
        self.embedding = nn.Embedding(V + 2, D)
        nn.init.normal_(self.embedding.weight, std=0.5)
        self.blocks = nn.ModuleList()
        for _ in range(2):
            attention = MultiHeadAttention(D, H, positions=RotaryPositions(D // H))
            self.blocks.append(PreNormBlock(D, attention, FeedForward(D)))
        self.norm, self.output = nn.LayerNorm(D), nn.Linear(D, V + 2)

    def forward(self, tokens):
        x, real = self.embedding(tokens), (tokens != self.pad)[:, None, None]
        for block in self.blocks:
            x = block(x, mask=real)
        return self.output(self.norm(x))

    def hide(self, tokens, generator):
        draw, what = torch.rand(2, *tokens.shape, generator=generator)
        random = torch.randint(self.V, tokens.shape, generator=generator)
        chosen = (draw < 0.15) & (tokens != self.pad)
        inputs = tokens.clone()
        inputs[chosen & (what < 0.8)] = self.mask
        swapped = chosen & (what >= 0.8) & (what < 0.9)
        inputs[swapped] = random[swapped]
        return inputs, chosen

    def loss(self, tokens, generator):
        inputs, chosen = self.hide(tokens, generator)
        logits = self(inputs)
        targets = tokens.masked_fill(~chosen, -100)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)


_FAULTS = {
    "forward": "block(x, mask=real) => block(x)",
    "hide": "inputs = tokens.clone() => inputs = tokens",
    "loss": "(~chosen, -100) => (tokens == self.pad, -100)",
}


def faulty(*faults: str) -> type[nn.Module]:
    """The class of the task with these faults, and no others.

    Args:
        faults: of "forward" (padding is attended to), "hide" (it changes the text) and "loss" (it
            counts all tokens), one at least.
    """
    patches = " ;; ".join(_FAULTS[name] for name in faults)
    ((version, _),) = Slips(_Repaired, f"{patches}\n    {faults}")
    return version


# By what each of the three faults shows; its cure is for the student to find.
_SHOWS = {
    "a text is read alike beside a longer one": "The logits of a text change when [PAD] stands "
    "behind it.",
    "the text stays as it was": "After loss(tokens, generator) the tokens themselves have changed: "
    "[MASK] stands in the text that was handed over, and whoever takes targets from it then asks "
    "for [MASK].",
    "the loss counts chosen tokens alone": "The loss has a gradient at tokens that were not chosen "
    f"and that the network only has to copy. {MASKING}",
}
CHANGED = "The faults are gone and something else has changed: mend the faults alone."
_MEAN = "The mean is taken over the chosen tokens"
_SLIPS = Slips(
    _Repaired,
    f"""
    (tokens != self.pad)[:, None, None] => (tokens < self.V)[:, None, None]
        [MASK] may be attended to, as any sound may: only [PAD] may not.
    inputs[chosen & (what < 0.8)] => inputs[chosen]
        Broken makes [MASK] of most, but not all of the chosen tokens: from 0.9 on they stay.
    (what < 0.8)] => (what < 0.9)] ;; swapped = chosen & => swapped = chosen & (what < 0) &
        From 0.8 to below 0.9 a chosen token becomes the token in random, and no [MASK].
    = random[swapped] => = 0
        From 0.8 to below 0.9 a chosen token becomes the token in random.
    inputs = tokens.clone() => inputs = tokens ;; \
    self.hide(tokens, generator) => self.hide(tokens.clone(), generator)
        `hide` itself must leave the text alone, because others may call it, too.
    (logits.flatten(0, 1) => (logits[..., : self.V].flatten(0, 1)
        The logits of [MASK] and [PAD] stay in the softmax, as in Broken.
    (~chosen, -100) => (inputs != self.mask, -100)
        Chosen tokens that were swapped or left as they are have a target, too. {MASKING}
    (~chosen, -100) => (inputs == tokens, -100)
        A chosen token that stays as it is has a target, too. {MASKING}
    targets = tokens.masked_fill => targets = inputs.masked_fill
        The targets are what stood there before anything was hidden, and not the inputs.
    ignore_index=-100) => ignore_index=-100, reduction="sum")
        {_MEAN}; this is the sum.
    ignore_index=-100) => ignore_index=-100, reduction="sum") / (tokens != self.pad).sum()
        {_MEAN}, not over all tokens of the texts.
    """,
)
_ERRORS = {
    "state_dict": "Keep the names of Broken's layers: the check puts weights of its own into them.",
    "TypeError": "Repaired takes __init__ over from Broken: it needs none of its own.",
    "size of tensor": "The mask has the shape (B, 1, 1, T), and all blocks get it.",
    "must match": "The mask has the shape (B, 1, 1, T), and all blocks get it.",
}


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _weights(trial: Trial) -> dict[str, Tensor]:
    with torch.random.fork_rng(devices=[]):
        names = _Repaired(*SIZES).state_dict()
    return {name: 0.5 * trial.normal(*p.shape) for name, p in names.items()}


def _built(answer: Callable, weights: dict[str, Tensor]) -> Any:
    """A model with these weights, in float64."""
    with torch.random.fork_rng(devices=[]):
        model = answer(*SIZES).double()
    model.load_state_dict(weights, strict=True)
    return model


def _texts(trial: Trial, B: int, T: int) -> Tensor:
    tokens = trial.integers(0, V, B, T)
    for row in range(1, B):
        tokens[row, trial.integer(T // 2, T) :] = V + 1
    return tokens


def _learns(model: Any, tokens: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, the tokens after it, and where its gradient reaches logits, (B, T)."""
    after, seen = tokens.clone(), []

    def note(_: nn.Module, __: Any, logits: Tensor) -> None:
        logits.retain_grad()
        seen.append(logits)

    hook = model.output.register_forward_hook(note)
    try:
        loss = model.loss(after, _generator(seed))
    finally:
        hook.remove()
    fine = isinstance(loss, Tensor) and loss.dim() == 0 and loss.requires_grad
    if not fine or len(seen) != 1:
        hint = "loss hands back one number with a gradient, as Broken.loss does."
        raise Complaint("loss reads the text once and is a number", hint, got=str(loss))
    loss.backward()
    grad = seen[0].grad
    reached = torch.zeros_like(tokens, dtype=torch.bool) if grad is None else grad.abs().sum(-1) > 0
    return loss.detach(), after, reached


def _hidden(model: Any, tokens: Tensor, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """What hide hands back, and the tokens after it."""
    after = tokens.clone()
    got = model.hide(after, _generator(seed))
    fine = isinstance(got, tuple | list) and len(got) == 2
    if not fine or not all(isinstance(part, Tensor) for part in got):
        hint = "hide hands back inputs and chosen, as Broken.hide does."
        raise Complaint("hide hands back two tensors", hint, got=str(got)[:80])
    return got[0], got[1], after


def _reads(answer: Callable, weights: dict, tokens: Tensor, seed: int) -> Tensor:
    """The logits at all that is no padding."""
    with torch.no_grad():
        return _built(answer, weights)(tokens)[tokens != V + 1]


def _hides(answer: Callable, weights: dict, tokens: Tensor, seed: int) -> dict[str, Tensor]:
    inputs, chosen, after = _hidden(_built(answer, weights), tokens, seed)
    return {"chosen": chosen, "inputs": inputs, "the text afterwards": after}


def _asks(answer: Callable, weights: dict, tokens: Tensor, seed: int) -> dict[str, Tensor]:
    loss, _, reached = _learns(_built(answer, weights), tokens, seed)
    return {"asked for": reached, "loss": loss}


def _uses(trial: Trial) -> Iterator[Case]:
    weights, tokens, seed = _weights(trial), _texts(trial, 60, 14), trial.integer(0, 1000)
    gaps = (tokens != V + 1) & (torch.arange(14) % 3 == 1)
    given = f"Repaired{SIZES}, tokens (60, 14) with [PAD] behind shorter texts"
    for rule, part, read in (
        ("the logits are those of Broken without its fault", _reads, tokens),
        ("[MASK] in the text is read, too", _reads, tokens.masked_fill(gaps, V)),
        ("hide does what Broken.hide does, and leaves the text alone", _hides, tokens),
        ("the mean loss of all chosen tokens", _asks, tokens),
    ):
        yield Case(rule, part, weights, read, seed, given=given)


@lab.task(_Repaired, uses=GIVEN)
def Repaired(trial: Trial) -> None:
    trial.is_class_from("Broken", "forward", "state_dict")
    trial.leaves_open()
    with with_hints(_ERRORS):
        _has_no_fault(trial)
        for case in _uses(trial):
            trial.agrees(
                _Repaired, *case.arguments, rule=case.rule, hint=CHANGED, slips=_SLIPS,
                given=case.given, tolerance=1e-6,
                call=lambda answer, part, *arguments: part(answer, *arguments),
            )  # fmt: skip


Repaired.slips = _SLIPS


def _has_no_fault(trial: Trial) -> None:
    """Complains about the planted faults that are still in, all at once."""
    weights, tokens, seed = _weights(trial), _texts(trial, 6, 14), trial.integer(0, 1000)
    given = f"Repaired{SIZES}, tokens (6, 14) with [PAD] behind shorter texts"
    mine = trial.run(_built, trial.answer, weights, given=given)
    short = tokens[:1, :9]
    longer = F.pad(short, (0, 5), value=V + 1)
    with torch.no_grad():
        alone, beside = (trial.run(mine, read, given=given) for read in (short, longer))
        fine = isinstance(alone, Tensor) and alone.shape == (1, 9, V + 2)
        hint = "forward(tokens) hands back logits (B, T, V + 2), as Broken.forward does."
        trial.holds(fine, "logits (B, T, V + 2)", hint, given=given, got=alone)
        meaning = "The mask of a block says who may be attended to: True where a token is no [PAD]."
        finite = bool(alone.isfinite().all() and beside.isfinite().all())
        trial.holds(finite, "the logits are numbers", f"{meaning} NaN comes of a mask that hides "
                    "everything.", given=given)  # fmt: skip
        opposite = _built(_OPPOSITE, weights)(longer)
        turned = torch.allclose(beside, opposite, atol=1e-8)
        trial.holds(not turned, "True = may attend", meaning, given=given)
        moved = not torch.allclose(alone, beside[:, :9], atol=1e-8)
    _, after, reached = trial.run(_learns, mine, tokens, seed, given=given)
    _, chosen, _ = _hidden(_built(_Repaired, weights), tokens, seed)
    gone = not moved, torch.equal(after, tokens), not bool((reached & ~chosen).any())
    trial.has_no_fault(_SHOWS, gone, given)


((_OPPOSITE, _),) = Slips(
    _Repaired,
    """
    (tokens != self.pad)[:, None, None] => (tokens == self.pad)[:, None, None]
        The mask the other way round.
    """,
)
