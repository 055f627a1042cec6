"""Checks of lab 06, task 8: a pre-training with three planted faults.

Shape letters: B texts, T tokens, V ordinary tokens (then come [MASK] and [PAD]), D width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab06.common import GAME, LOSS, MASKING, lab
from helpers.course.checks.trial import Trial
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock
from helpers.models.positions import RotaryPositions

FAULTS = ("padding", "targets", "everywhere")
GIVEN = ("MultiHeadAttention", "FeedForward", "PreNormBlock", "RotaryPositions")


class _Repaired(nn.Module):
    """The small encoder and its pre-training as it should be, or with some of the faults."""

    faults: tuple[str, ...] = ()

    def __init__(self, V: int, D: int, H: int) -> None:
        super().__init__()
        self.V, self.mask, self.pad = V, V, V + 1
        self.embedding = nn.Embedding(V + 2, D)
        nn.init.normal_(self.embedding.weight, std=0.5)
        self.blocks = nn.ModuleList(
            PreNormBlock(
                D, MultiHeadAttention(D, H, positions=RotaryPositions(D // H)), FeedForward(D)
            )
            for _ in range(2)
        )
        self.norm, self.output = nn.LayerNorm(D), nn.Linear(D, V + 2)

    def forward(self, tokens: Tensor) -> Tensor:
        x, real = self.embedding(tokens), (tokens != self.pad)[:, None, None]
        for block in self.blocks:
            x = block(x, mask=None if "padding" in self.faults else real)
        return self.output(self.norm(x))

    def hide(self, tokens: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        draw, what = torch.rand(2, *tokens.shape, generator=generator)
        random = torch.randint(self.V, tokens.shape, generator=generator)
        chosen = (draw < 0.15) & (tokens != self.pad)
        inputs = tokens if "targets" in self.faults else tokens.clone()
        inputs[chosen & (what < 0.8)] = self.mask
        swapped = chosen & (what >= 0.8) & (what < 0.9)
        inputs[swapped] = random[swapped]
        return inputs, chosen

    def loss(self, tokens: Tensor, generator: torch.Generator) -> Tensor:
        inputs, chosen = self.hide(tokens, generator)
        logits = self(inputs)
        real = tokens != self.pad
        targets = tokens.masked_fill(~(real if "everywhere" in self.faults else chosen), -100)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)


def faulty(*faults: str) -> type[nn.Module]:
    """The class of the task with these faults, and no others.

    Args:
        faults: of "padding" (it is attended to), "targets" (taken after hiding) and "everywhere"
            (the loss counts all tokens).

    Raises:
        ValueError: one is none of these.
    """
    for name in faults:
        if name not in FAULTS:
            raise ValueError(f"{name!r} is no fault of this task: take {', '.join(FAULTS)}.")
    return type("Faulty", (_Repaired,), {"faults": faults})


# By what each of the three faults shows; its cure is for the student to find.
_SHOWS = {
    "a text is read alike beside a longer one": "The logits of a text change when [PAD] stands "
    "behind it.",
    "the text stays as it was": "After loss(tokens, generator) the tokens themselves have changed: "
    "[MASK] stands in the text that was handed over, and whoever takes targets from it then asks "
    f"for [MASK]. {GAME}",
    "the loss counts chosen tokens alone": "The loss has a gradient at tokens that were not chosen "
    f"and that the network only has to copy. {LOSS}",
}
CHANGED = "The faults are gone and something else has changed: mend the faults alone. "


def _weights(trial: Trial, model: nn.Module) -> nn.Module:
    model.double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(0.5 * trial.normal(*p.shape))
    return model


def _texts(trial: Trial, model: _Repaired, B: int, T: int) -> Tensor:
    tokens = trial.integers(0, model.V, B, T)
    for row in range(1, B):
        tokens[row, trial.integer(T // 2, T) :] = model.pad
    return tokens


def _asked(
    trial: Trial, model: Any, tokens: Tensor, seed: int, given: str
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, the tokens after it, and where its gradient reaches logits, (B, T)."""
    after, seen = tokens.clone(), []

    def note(_: nn.Module, __: Any, logits: Tensor) -> None:
        logits.retain_grad()
        seen.append(logits)

    hook = model.output.register_forward_hook(note)
    try:
        loss = trial.run(
            lambda: model.loss(after, torch.Generator().manual_seed(seed)), given=given
        )
    finally:
        hook.remove()
    fine = isinstance(loss, Tensor) and loss.dim() == 0 and loss.requires_grad
    hint = "loss hands back one number with a gradient, as Broken.loss does."
    trial.holds(fine and len(seen) == 1, "loss reads the text once and is a number", hint,
                given=given, got=loss)  # fmt: skip
    loss.backward()
    grad = seen[0].grad
    reached = (
        torch.zeros(tokens.shape, dtype=torch.bool) if grad is None else grad.abs().sum(-1) > 0
    )
    return loss.detach(), after, reached


@lab.task(_Repaired, uses=GIVEN)
def Repaired(trial: Trial) -> None:
    made = isinstance(trial.answer, type) and issubclass(trial.answer, nn.Module)
    hint = "The class itself is checked, class Repaired(Broken), and no object of it."
    trial.holds(made, "it is a class made from Broken", hint)
    V, D, H = 7, 12, 2
    given = f"Repaired({V}, {D}, {H})"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(trial.integer(0, 1000))
        mine, ours = trial.call(V, D, H, given=given), _weights(trial, _Repaired(V, D, H))
    names = "Keep the names of Broken's layers: the check puts weights of its own into them."
    mine.double()
    fits = mine.state_dict().keys() == ours.state_dict().keys()
    trial.holds(fits, "its layers have their names", names, got=[*mine.state_dict()])
    mine.load_state_dict(ours.state_dict())
    tokens, seed = _texts(trial, ours, 6, 14), trial.integer(0, 1000)
    where = f"{given}, tokens {tuple(tokens.shape)} with [PAD] behind shorter texts"
    short = tokens[:1, :9]
    longer = torch.cat([short, torch.full((1, 5), ours.pad)], 1)
    with torch.no_grad():
        alone = trial.run(mine, short, given=where)
        beside = trial.run(mine, longer, given=where)
        hint = "forward(tokens) hands back logits (B, T, V + 2), as Broken.forward does."
        fine = isinstance(alone, Tensor) and alone.shape == (1, 9, V + 2)
        trial.holds(fine and beside.shape == (1, 14, V + 2), "logits (B, T, V + 2)", hint,
                    given=where, got=alone)  # fmt: skip
        nan = "NaN: does a row of the mask hide everything? True = may attend."
        trial.holds(alone.isfinite().all(), "the logits are numbers", nan, given=where)
        everyone = trial.run(mine, tokens, given=where)
        opposite = block_by(ours, tokens, tokens == ours.pad)
        meaning = "The mask of a block says who may be attended to: True where a token is no [PAD]."
        trial.holds(not torch.allclose(everyone, opposite), "True = may attend", meaning,
                    given=where)  # fmt: skip
        moved = not torch.allclose(alone, beside[:, :9], atol=1e-8)
    loss, after, reached = _asked(trial, mine, tokens, seed, where)
    changed = not torch.equal(after, tokens)
    _, chosen = ours.hide(tokens.clone(), torch.Generator().manual_seed(seed))
    everywhere = bool((reached & ~chosen).any())
    found = dict(zip(_SHOWS, (not moved, not changed, not everywhere), strict=True))
    left = [f"({i}) {_SHOWS[name]}" for i, name in enumerate(_SHOWS, start=1) if not found[name]]
    for name in filter(found.get, found):
        trial.holds(True, f"fault found: {name}", "")
    rule = f"all three faults are found (still in: {len(left)})"
    trial.holds(not left, rule, " ".join(left), given=where)
    _same(trial, mine, ours, tokens, (loss, reached, chosen), seed, where)


def _same(
    trial: Trial, mine: Any, ours: _Repaired, tokens: Tensor, asked: tuple[Tensor, Tensor, Tensor],
    seed: int, where: str,
) -> None:  # fmt: skip
    """Apart from the faults it does what Broken does."""
    loss, reached, chosen = asked
    with torch.no_grad():
        real, words = tokens != ours.pad, "The mask has the shape (B, 1, 1, T), and all blocks get "
        words += "it."
        gaps = "[MASK] may be attended to, as any sound may: only [PAD] may not."
        hidden = torch.where(real & (torch.arange(tokens.shape[1]) % 3 == 1), ours.mask, tokens)
        for read, given in ((tokens, where), (hidden, f"{where}, and with [MASK] in them")):
            slips = [(block_by(ours, read, read < ours.V)[real], CHANGED + gaps)]
            trial.equals(trial.run(mine, read, given=given)[real], ours(read)[real],
                         "the logits are those of Broken without its fault", CHANGED + words,
                         slips=slips, given=given)  # fmt: skip
    trial.holds(
        bool(reached[chosen].all()),
        "every chosen token is asked for",
        f"Chosen tokens that were swapped or left as they are have a target, too. {MASKING}",
        given=where,
        got=f"{int((reached & chosen).sum())} of {int(chosen.sum())} chosen tokens have a gradient",
    )
    after = tokens.clone()
    inputs, picked = _two(trial, lambda: mine.hide(after, torch.Generator().manual_seed(seed)),
                          where)  # fmt: skip
    hint = "hide(tokens, generator) leaves tokens as they are, whoever calls it: work on a copy."
    trial.holds(torch.equal(after, tokens), "hide leaves the text as it is", hint, given=where)
    theirs = ours.hide(tokens, torch.Generator().manual_seed(seed))
    order = CHANGED + "hide draws first draw and what, then the random tokens, as before."
    trial.equals(picked, theirs[1], "hide: chosen", order, given=where)
    many = _texts(trial, ours, 200, 14)  # so many that all kinds of tokens are among them
    given = f"{tuple(many.shape)} tokens"
    after = many.clone()
    inputs, picked = _two(trial, lambda: mine.hide(after, torch.Generator().manual_seed(seed)),
                          given)  # fmt: skip
    theirs = ours.hide(many, torch.Generator().manual_seed(seed))
    what = torch.rand(2, *many.shape, generator=torch.Generator().manual_seed(seed))[1]
    trial.equals(picked, theirs[1], "hide: chosen", order, given=given)
    swapped = picked & (what >= 0.8) & (what < 0.9)
    all_masked = torch.where(picked, ours.mask, many)
    one_kind = CHANGED + "Below 0.8 it is [MASK], and from there to 0.9 the token in random."
    fits = inputs.shape == many.shape
    if fits and torch.equal(inputs[~swapped], theirs[0][~swapped]):
        order = CHANGED + "From 0.8 to below 0.9 a chosen token becomes the token in random."
    slips = [
        (all_masked, "Broken makes [MASK] of most, but not all of the chosen tokens. " + one_kind),
        (torch.where(swapped, ours.mask, theirs[0]), one_kind),
    ]
    trial.equals(inputs, theirs[0], "hide: inputs", order, slips=slips, given=given)
    hint = CHANGED + "The mean over the chosen tokens is asked for, of what stood there before."
    slips = [(torch.tensor(float(value)), words) for value, words in _losses(ours, tokens, seed)]
    trial.equals(loss.float(), ours.loss(tokens, torch.Generator().manual_seed(seed)).float(),
                 "the loss", hint, slips=slips, given=where, tolerance=1e-5)  # fmt: skip


def block_by(model: _Repaired, tokens: Tensor, may: Tensor) -> Tensor:
    """The logits if these positions, (B, T), may be attended to."""
    x = model.embedding(tokens)
    for block in model.blocks:
        x = block(x, mask=may[:, None, None])
    return model.output(model.norm(x))


def _losses(model: _Repaired, tokens: Tensor, seed: int) -> list[tuple[Tensor, str]]:
    """What known slips make of the loss."""
    with torch.no_grad():
        inputs, chosen = model.hide(tokens, torch.Generator().manual_seed(seed))
        costs = F.cross_entropy(model(inputs).flatten(0, 1), tokens.flatten(), reduction="none")
        asked, real = chosen.flatten(), (tokens != model.pad).flatten()
        total = costs[asked].sum()
        read = F.cross_entropy(model(inputs)[chosen], inputs[chosen])
    mean = "The mean is taken over the chosen tokens"
    return [
        (total, f"{mean}; this is the sum."),
        (total / real.sum(), f"{mean}, not over all tokens of the texts."),
        (total / tokens.numel(), f"{mean}, not over all positions of the batch."),
        (read, "The targets are what stood there before anything was hidden, and not the inputs."),
    ]


def _two(trial: Trial, call: Callable[[], Any], given: str) -> tuple[Tensor, Tensor]:
    got = trial.run(call, given=given)
    fine = isinstance(got, tuple | list) and len(got) == 2
    fine = fine and all(isinstance(part, Tensor) for part in got)
    hint = "hide hands back inputs and chosen, as Broken.hide does."
    trial.holds(fine, "hide hands back two tensors", hint, given=given, got=got)
    return got[0], got[1]
