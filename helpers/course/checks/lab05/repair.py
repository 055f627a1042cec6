"""Checks of lab 05, task 6: a GPT with five planted faults.

Shape letters: B batch, T tokens, V vocabulary, D width, H heads.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab05.common import fill, is_module_class, lab, seeded
from helpers.course.checks.lab05.model import MASK
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

SCALE = see(9, "Why divide by √d_k")
DROPOUT = see(11, "Dropout")


def _sees_the_future(model: nn.Module, tokens: Tensor, V: int) -> bool:
    """Whether a logit depends on a later token, as the lab hands it out."""
    was_training, leaks = model.training, False
    model.eval()
    with torch.no_grad():
        before = model(tokens)
        for t in range(1, tokens.shape[1]):
            changed = tokens.clone()
            changed[:, t:] = (changed[:, t:] + 1) % V
            leaks |= float((model(changed) - before)[:, :t].abs().max()) > 1e-6
    model.train(was_training)
    return leaks


class _Repaired(nn.Module):
    """The small GPT of task 6 as it should be."""

    def __init__(self, V: int, T: int, D: int, H: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.T, self.H = T, H
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.qkv, self.mix = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3))
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(D, V, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor, ahead: int = 0, by_length: bool = False) -> Tensor:
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions(torch.arange(t, device=tokens.device))
        parts = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in parts)
        scores = q @ k.mT / k.shape[-2 if by_length else -1] ** 0.5
        later = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1 + ahead)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(
        self, optimizer: torch.optim.Optimizer, tokens: Tensor, clip: float = 1.0
    ) -> float:
        self.train()
        logits = self(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), clip)
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def write(self, prompt: Tensor, length: int, generator: torch.Generator) -> Tensor:
        self.eval()
        text = prompt
        for _ in range(length):
            p = self(text[None, -self.T :])[0, -1].softmax(-1)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)])
        return text


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


@lab.task(_Repaired)
def Repaired(trial: Trial) -> None:
    is_module_class(trial)
    V, T, D, H = 11, 9, 12, 3
    given = f"Repaired({V}, {T}, {D}, {H})"
    with seeded(trial):
        mine = trial.call(V, T, D, H, given=given)
    ours = fill(_Repaired(V, T, D, H), trial)
    names = "Keep the names of Broken's layers: the check puts weights of its own into them."
    mine.double()
    fits = mine.state_dict().keys() == ours.state_dict().keys()
    trial.holds(fits, "its layers have their names", names, got=[*mine.state_dict()])
    tied = mine.output.weight is mine.embedding.weight
    mine.load_state_dict(ours.state_dict())
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
        leaks = trial.run(_sees_the_future, mine, tokens, V, given=where)
        by_length = any(
            differs(got, ours(tokens, ahead, by_length=True), 1e-6) is None for ahead in (0, 1)
        )
    step, text = _Step(trial, mine, ours, V, T), _Writing(trial, V, T, D, H)
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
    _drops_out(trial, V, T, D, H)


class _Step:
    """What one training step does; ``clipped``: the optimizer followed a gradient of norm clip."""

    CLIP = 0.01

    def __init__(self, trial: Trial, mine: nn.Module, ours: nn.Module, V: int, T: int) -> None:
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

    def __init__(self, trial: Trial, V: int, T: int, D: int, H: int) -> None:
        with seeded(trial):
            mine = trial.call(V, T, D, H, 0.5, given=f"Repaired({V}, {T}, {D}, {H}, dropout=0.5)")
        ours = fill(_Repaired(V, T, D, H, 0.5), trial)
        mine.double().load_state_dict(ours.state_dict())
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


def _drops_out(trial: Trial, V: int, T: int, D: int, H: int) -> None:
    """Dropout acts in training, also after the model has written, and in both of its places."""
    with seeded(trial):
        mine = trial.call(V, T, D, H, 0.5, given=f"Repaired({V}, {T}, {D}, {H}, dropout=0.5)")
    ours = fill(_Repaired(V, T, D, H, 0.5), trial)
    mine.double().load_state_dict(ours.state_dict())
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
