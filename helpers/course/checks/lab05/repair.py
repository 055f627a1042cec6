"""Checks of lab 05, task 6: a GPT with five planted faults.

Shape letters: B batch, T tokens, V vocabulary, D width, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import fill, is_module_class, lab, seeded
from helpers.course.checks.lab05.model import MASK
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips

SCALE = see(9, "Why divide by √d_k")
DROPOUT = see(11, "Dropout")
SIZES = V, T, D, H = 11, 9, 12, 3

# Both ways to divide by the length: with the right mask, and with that of the broken one.
BY_LENGTH = Slips(
    solutions.Repaired,
    """
    k.shape[-1] => k.shape[-2]
    k.shape[-1] => k.shape[-2] ;; triu(1) => triu(2)
        Scores are divided by the root of a head's width.
    """,
)


class _Noting(torch.optim.SGD):
    """Notes the norm of the whole gradient in every step."""

    def __init__(self, parameters: list[Tensor]) -> None:
        super().__init__(parameters, lr=0.1)
        self.norms: list[float] = []
        self.gradients: list[Tensor] = []

    def step(self, closure: None = None) -> None:
        found = [p.grad for p in self.param_groups[0]["params"] if p.grad is not None]
        self.gradients.append(torch.cat([g.flatten() for g in found]).clone())
        self.norms.append(float(self.gradients[-1].norm()))
        super().step(closure)


# By what each of the five faults shows; its cure is for the student to find.
_SHOWS = {
    "the output is tied to the embeddings": "the output and the embeddings are two Parameters, "
    "which an optimizer moves apart, though they are called tied",
    "no logit sees a later token": f"a logit changes where only later tokens do. {MASK}",
    "scores are divided by the root of a head's width": "the same two tokens get another score "
    f"when the text around them is longer. {SCALE}",
    "the gradient is clipped before the step": "the gradient that optimizer.step() follows has not "
    "the norm `clip`, though it is larger before",
    "dropout is off while it writes": "after a training step the same model, asked twice for the "
    f"same text, gives other probabilities. {DROPOUT}",
}


def _twins(trial: Trial, dropout: float = 0.1) -> tuple[nn.Module, nn.Module, str]:
    """The answer's model and the solution's with the same weights, and how they are made."""
    given = f"Repaired{(*SIZES, dropout)}"
    with seeded(trial):
        mine = trial.call(*SIZES, dropout, given=given).double()
    ours = fill(solutions.Repaired(*SIZES, dropout), trial)
    names = "Keep the names of Broken's layers: the check puts weights of its own into them."
    fits = mine.state_dict().keys() == ours.state_dict().keys()
    trial.holds(fits, "its layers have their names", names, got=[*mine.state_dict()])
    mine.load_state_dict(ours.state_dict())
    return mine, ours, given


@lab.task(solutions.Repaired)
def Repaired(trial: Trial) -> None:
    is_module_class(trial)
    mine, ours, given = _twins(trial)
    tied = mine.output.weight is mine.embedding.weight
    mine.eval()
    ours.eval()
    tokens = trial.integers(0, V, 2, T - 1)
    where = f"{given}, tokens (2, {T - 1})"
    with torch.no_grad():
        got = trial.run(mine, tokens, given=where)
        hint = (
            "Now the first place is hidden from itself, too, and sees nothing: the diagonal stays."
        )
        trial.holds(got.isfinite().all(), "the logits are numbers", hint, given=where, got=got)
        leaks = trial.run(solutions.sees_the_future, mine, tokens, V, given=where)
        by_length = False
        for version, _ in BY_LENGTH:
            wrong = version(*SIZES).double().eval()
            wrong.load_state_dict(ours.state_dict())
            by_length |= differs(got, wrong(tokens)) is None
    step, text = _Step(trial, mine, ours), _Writing(trial)
    right = (tied, not leaks, not by_length, step.clipped, text.still)
    found = dict(zip(_SHOWS, right, strict=True))
    left = [f"({i}) {_SHOWS[name]}" for i, name in enumerate(_SHOWS, start=1) if not found[name]]
    for name in filter(found.get, found):
        trial.holds(True, f"fault found: {name}", "")
    if left:
        rule = f"all five faults are found (still in: {len(left)})"
        trial.holds(False, rule, "; ".join(left), given=given)
    with torch.no_grad():
        usual = "The logits are not those of the repaired model: change nothing but the faults."
        trial.equals(got, ours(tokens), "the logits are right", usual, given=where)
    step.is_right(trial)
    text.is_right(trial)
    _drops_out(trial)


class _Step:
    """What one training step does; ``clipped``: the optimizer followed a gradient of norm clip."""

    CLIP = 0.01

    def __init__(self, trial: Trial, mine: nn.Module, ours: nn.Module) -> None:
        mine.dropout.p = 0.0
        tokens = trial.integers(0, V, 3, T)
        loss = F.cross_entropy(ours(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        whole = torch.cat([g.flatten() for g in torch.autograd.grad(loss, [*ours.parameters()])])
        self.loss, self.direction = loss.item(), whole / whole.norm()
        for p in mine.parameters():
            p.grad = trial.normal(*p.shape)  # of an earlier step
        self.optimizer = _Noting([*mine.parameters()])
        self.where = f"training_step with clip = {self.CLIP}; the gradient has the norm "
        self.where += f"{float(whole.norm()):.3f}"
        run = mine.training_step
        self.got = trial.run(run, self.optimizer, tokens, self.CLIP, given=self.where)
        norms = self.optimizer.norms
        trial.holds(len(norms) == 1, "a training step is one step of the optimizer", "Call "
                    "optimizer.step() once.", given=self.where)  # fmt: skip
        self.clipped = differs(norms[0], self.CLIP, 1e-4) is None

    def is_right(self, trial: Trial) -> None:
        trial.equals(
            self.optimizer.gradients[0] / self.optimizer.norms[0],
            self.direction,
            "the step follows the gradient of the loss",
            "Targets are the tokens one place later, and what an earlier step has left in p.grad "
            "is cleared before backward().",
            given=self.where,
            tolerance=1e-4,
        )
        hint = "loss.item(), before the step."
        trial.equals(self.got, self.loss, "it hands back the loss", hint)


class _Writing:
    """What it writes after a training step; ``still``: without dropout."""

    def __init__(self, trial: Trial) -> None:
        mine, ours, _ = _twins(trial, 0.5)
        seed, prompt = trial.integer(0, 1000), trial.integers(0, V, 3)
        mine.train()
        modes: list[bool] = []
        self.kept: list[bool] = []
        note = self.kept.append
        mine.output.register_forward_hook(lambda _, __, logits: note(logits.requires_grad))
        mine.embedding.register_forward_pre_hook(lambda *_: modes.append(mine.dropout.training))
        self.where = "write after a training step, dropout 0.5, a prompt of 3 tokens, 12 to write"
        with torch.random.fork_rng(devices=[]):
            generator = torch.Generator().manual_seed(seed)
            self.got = trial.run(mine.write, prompt, 12, generator, given=self.where)
        self.still = bool(modes) and not any(modes)
        self.expected = ours.write(prompt, 12, torch.Generator().manual_seed(seed))

    def is_right(self, trial: Trial) -> None:
        hint = "Broken.write stands under @torch.no_grad(): keep that line, too."
        rule = "writing keeps nothing for gradients"
        trial.holds(not any(self.kept), rule, hint, given=self.where)
        hint = (
            "Change nothing but the faults: one token is drawn after the last T tokens, and added."
        )
        trial.equals(self.got, self.expected, "it writes what the model says", hint,
                     given=self.where)  # fmt: skip


def _drops_out(trial: Trial) -> None:
    """Dropout acts in training, also after the model has written, and in both of its places."""
    mine, ours, _ = _twins(trial, 0.5)
    tokens, where = trial.integers(0, V, 4, T), "two training steps at rate 0, dropout 0.5"
    losses: list[list[float]] = []
    for model in (mine, ours):
        model.eval()  # as writing leaves it
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(7)
            given = f"{where}, after writing"
            pair = [trial.run(model.training_step, optimizer, tokens, given=given) for _ in "ab"]
        losses.append(pair)
    trial.holds(
        losses[0][0] != losses[0][1],
        "dropout is on while it trains",
        "Nothing is dropped in training: self.train() at the beginning of training_step and both "
        "self.dropout(...) of forward stay. Writing alone goes without: self.eval() belongs into "
        f"write. {DROPOUT}",
        given=where,
        got=f"the same loss twice, {losses[0][0]:.4f}",
    )
    hint = "Both self.dropout(...) of Broken.forward stay where they are."
    trial.equals(
        losses[0], losses[1], "dropout acts in both places", hint, given=f"{where}, the same seed"
    )
