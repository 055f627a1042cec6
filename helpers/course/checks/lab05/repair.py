"""Checks of lab 05, task 6: a GPT with five planted faults.

Shape letters: B batch, T tokens, V vocabulary, D width, H heads.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

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


@lab.task(_Repaired)
def Repaired(trial: Trial) -> None:
    is_module_class(trial)
    V, T, D, H = 11, 9, 12, 3
    given = f"Repaired({V}, {T}, {D}, {H})"
    with seeded(trial):
        mine = trial.call(V, T, D, H, given=given)
    trial.holds(isinstance(mine, nn.Module), "it is an nn.Module", "See Broken.", got=mine)
    trial.holds(
        mine.output.weight is mine.embedding.weight,
        "fault found: the output is tied to the embeddings",
        "A fault is still in: after a step of training the output and the embeddings are no longer "
        "equal, though they are called tied.",
        given=given,
    )
    ours = fill(_Repaired(V, T, D, H), trial)
    names = "Keep the names of Broken's layers: the check puts weights of its own into them."
    mine.double()
    fits = mine.state_dict().keys() == ours.state_dict().keys()
    trial.holds(fits, "its layers have their names", names, got=[*mine.state_dict()])
    mine.load_state_dict(ours.state_dict())
    mine.eval()
    ours.eval()
    tokens = trial.integers(0, V, 2, T - 1)
    where = f"{given}, tokens (2, {T - 1})"
    with torch.no_grad():
        got = trial.run(mine, tokens, given=where)
    leaks = trial.run(_sees_the_future, mine, tokens, V, given=where)
    trial.holds(
        not leaks,
        "fault found: no logit sees a later token",
        f"A fault is still in: a logit changes where only later tokens do. {MASK}",
        given=where,
    )
    with torch.no_grad():
        right = ours(tokens)
        slips = [
            (
                ours(tokens, by_length=True),
                "A fault is still in: the same two tokens get another score when the text around "
                f"them is longer. {SCALE}",
            ),
            (
                ours(tokens, ahead=-1),
                "Now every place is hidden from itself, too: the diagonal stays.",
            ),
        ]
    usual = "The logits are not those of the repaired model: change nothing but the faults."
    rule = "fault found: scores are divided by the root of a head's width"
    trial.equals(got, right, rule, usual, slips=slips, given=where)
    _steps_right(trial, mine, ours, V, T)
    _writes_right(trial, V, T, D, H)


def _steps_right(trial: Trial, mine: nn.Module, ours: nn.Module, V: int, T: int) -> None:
    mine.dropout.p = 0.0
    tokens, clip = trial.integers(0, V, 3, T), 0.01
    loss = F.cross_entropy(ours(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    found = torch.autograd.grad(loss, [*ours.parameters()])
    norm = float(torch.cat([g.flatten() for g in found]).norm())
    for p in mine.parameters():
        p.grad = trial.normal(*p.shape)  # of an earlier step
    optimizer = _Noting([*mine.parameters()])
    where = f"training_step with clip = {clip}; the gradient has the norm {norm:.3f}"
    got = trial.run(mine.training_step, optimizer, tokens, clip, given=where)
    trial.holds(len(optimizer.norms) == 1, "a training step is one step of the optimizer", "Call "
                "optimizer.step() once.", given=where)  # fmt: skip
    trial.equals(
        optimizer.norms[0],
        clip,
        "fault found: the gradient is clipped before the step",
        "A fault is still in: the gradient that optimizer.step() follows has not the norm `clip`, "
        "though it is larger before.",
        given=f"{where}: its norm at optimizer.step()",
        tolerance=1e-4,
    )
    whole = torch.cat([g.flatten() for g in found])
    trial.equals(
        optimizer.gradients[0] / optimizer.norms[0],
        whole / whole.norm(),
        "the step follows the gradient of the loss",
        "Targets are the tokens one place later, and what an earlier step has left in p.grad is "
        "cleared before backward().",
        given=where,
        tolerance=1e-4,
    )
    trial.equals(got, loss.item(), "it hands back the loss", "loss.item(), before the step.")


def _writes_right(trial: Trial, V: int, T: int, D: int, H: int) -> None:
    with seeded(trial):
        mine = trial.call(V, T, D, H, 0.5, given=f"Repaired({V}, {T}, {D}, {H}, dropout=0.5)")
    ours = fill(_Repaired(V, T, D, H, 0.5), trial)
    mine.double().load_state_dict(ours.state_dict())
    seed, prompt = trial.integer(0, 1000), trial.integers(0, V, 3)
    mine.train()
    modes: list[bool] = []
    kept: list[bool] = []
    mine.output.register_forward_hook(lambda _, __, logits: kept.append(logits.requires_grad))
    mine.embedding.register_forward_pre_hook(lambda *_: modes.append(mine.dropout.training))
    where = "write after a training step, dropout 0.5, a prompt of 3 tokens, 12 to write"
    with torch.random.fork_rng(devices=[]):
        generator = torch.Generator().manual_seed(seed)
        got = trial.run(mine.write, prompt, 12, generator, given=where)
    trial.holds(
        bool(modes) and not any(modes),
        "fault found: dropout is off while it writes",
        "A fault is still in: after a training step the same model, asked twice for the same "
        f"text, gives other probabilities. {DROPOUT}",
        given=where,
    )
    hint = "Broken.write stands under @torch.no_grad(): keep that line, too."
    trial.holds(not any(kept), "writing keeps nothing for gradients", hint, given=where)
    expected = ours.write(prompt, 12, torch.Generator().manual_seed(seed))
    usual = "Change nothing but the faults: one token is drawn after the last T tokens, and added."
    trial.equals(got, expected, "it writes what the model says", usual, given=where)
