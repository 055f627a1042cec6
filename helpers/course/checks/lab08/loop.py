"""Checks of lab 08, task 6: a loop of RLHF with three planted faults."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from helpers.course.checks.lab08 import answers, rewards
from helpers.course.checks.lab08 import given as world
from helpers.course.checks.lab08.common import BEST, lab, wide
from helpers.course.checks.trial import Trial

BETA, RATE, STEPS, SIZE = 0.25, 0.1, 100, 64
ENOUGH = 0.95  # of the way from the reference's J to the greatest one
# By what each of the three faults shows; its cure is for the student to find.
_SHOWS = {
    "the reference stays": "After some steps the reference says something else than before the "
    "first one, so that leaving it costs nothing.",
    "leaving the reference costs": "An answer that the policy writes more often than the reference "
    "earns more than its reward.",
    "what stands behind the end has no influence": "Of two texts that are the same up to the end "
    "of the answer, and differ behind it, the log-probabilities differ.",
}
_RETURNS = (
    "The reward, less self.beta times the log-ratio of self.policy to self.reference, whatever "
    "models these are when returns is called: change its fault alone."
)
_OTHER = (
    "The faults are gone and something else has changed: mend the faults alone. (Does what an "
    "answer earns still come without a gradient?)"
)
# In another world than the waiter's: what an answer forgets that has its numbers typed in.
_END = "The end mark is self.end: in another world it is not token 0."
_START = "The answer begins at token self.start: what stands before it is the prompt."

# What the lab's own classes call: the answers to tasks 2 and 4.
answer_log_probs = answers.answer_log_probs.fallback
group_advantages = rewards.group_advantages.fallback


class Broken:
    """Trains a policy on what it writes itself. Three things are wrong."""

    def __init__(self, policy, reward, beta, rate, start, end):
        self.policy, self.reward, self.beta = policy, reward, beta
        self.start, self.end = start, end
        self.reference = policy
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=rate, weight_decay=0)

    def log_probs(self, model, texts):
        """Log-probabilities (B,) of the answers, which begin at token self.start."""
        log_p = model(texts[:, :-1]).log_softmax(-1)
        log_p = log_p.gather(2, texts[:, 1:, None])[..., 0]
        return log_p[:, self.start - 1 :].sum(1)

    def returns(self, texts):
        """What each answer earns, (B,)."""
        with torch.no_grad():
            gap = self.log_probs(self.policy, texts) - self.log_probs(self.reference, texts)
        return self.reward(texts) + self.beta * gap

    def step(self, texts):
        """One step on texts (B, T) that the policy has just written."""
        one_prompt = torch.zeros(len(texts), dtype=torch.long)
        advantages = group_advantages(self.returns(texts), one_prompt)
        loss = -(advantages * self.log_probs(self.policy, texts)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()


class Repaired(Broken):
    """Broken, repaired."""

    def __init__(self, policy, reward, beta, rate, start, end):
        super().__init__(policy, reward, beta, rate, start, end)
        self.reference = copy.deepcopy(policy).requires_grad_(False)

    def log_probs(self, model, texts):
        starts = torch.full((len(texts),), self.start)
        return answer_log_probs(model, texts, starts, self.end)

    def returns(self, texts):
        with torch.no_grad():
            gap = self.log_probs(self.policy, texts) - self.log_probs(self.reference, texts)
        return self.reward(texts) - self.beta * gap


class Pairs:
    """A reward that pairs of neighbours earn; nothing counts behind the end."""

    def __init__(self, trial: Trial) -> None:
        V = len(world.WORDS)
        self.table = trial.normal(V, V) / 2
        self.table[0] = 0
        self.rewarded = True

    def __call__(self, texts: Tensor) -> Tensor:
        return self.table[texts[:, 1:-1], texts[:, 2:]].sum(1) * self.rewarded


def train(loop: Any, steps: int, generator: torch.Generator) -> None:
    """Steps on answers of the small world that its policy writes."""
    for _ in range(steps):
        loop.step(world.draw(loop.policy, SIZE, generator))


def _made(
    trial: Trial, policy: nn.Module, reward: Pairs, given: str, beta: float = BETA, start: int = 1,
    end: int = 0,
) -> Any:  # fmt: skip
    loop = trial.run(trial.answer, policy, reward, beta, RATE, start, end, given=given)
    names = ("policy", "reference", "returns", "log_probs", "step")
    missing = [name for name in names if not hasattr(loop, name)]
    hint = "Keep Broken's attributes and methods: the reference is a model, in self.reference."
    fine = not missing and isinstance(loop.reference, nn.Module) and loop.policy is policy
    trial.holds(fine, "it has a policy, a reference and their methods", hint, given=given,
                got=missing or type(loop.reference).__name__)  # fmt: skip
    return loop


@lab.task(Repaired)
def Repaired(trial: Trial) -> None:
    trial.is_class_from("Broken", "step")
    trial.leaves_open()
    given, reward = "a policy that is a table, texts of up to four words", Pairs(trial)
    policy, other = (world.Table(trial.generator) for _ in range(2))
    torch.optim.AdamW(other.parameters())  # the first one imports much: not in the answer's time
    # Each is made of those before it: what answers earn of log-probabilities, steps of both.
    ends = _ends(trial, copy.deepcopy(policy), reward, given)
    costs = _costs(trial, copy.deepcopy(policy), other, reward, given)
    gone = _stays(trial, copy.deepcopy(policy), reward, given), costs, ends
    trial.has_no_fault(_SHOWS, gone, given)
    loop = _made(trial, copy.deepcopy(policy), reward, given)
    trial.run(train, loop, STEPS, trial.generator, given=given)
    before, most = world.judge(policy, policy, reward, BETA).J, world.most(policy, reward, BETA)
    after = world.judge(loop.policy, policy, reward, BETA).J
    rule = f"after {STEPS} steps J is near beta log Z, the most there is"
    trial.holds(after > before + ENOUGH * (most - before), rule, f"{_OTHER} {BEST}", given=given,
                got=f"{after:.3f}, from {before:.3f}", expected=f"about {most:.3f}")  # fmt: skip


def _stays(trial: Trial, policy: world.Table, reward: Pairs, given: str) -> bool:
    """Whether the reference is after some steps what the policy was before."""
    before = copy.deepcopy(policy)
    loop = _made(trial, policy, reward, given)
    trial.run(train, loop, 3, trial.generator, given=given)
    hint = "step changes the policy, and this one has not moved."
    now, old = world.listed(policy), world.listed(before)
    trial.holds(not torch.equal(now, old), "the policy is trained", hint, given=given)
    return torch.equal(world.listed(loop.reference), old)


def _costs(trial: Trial, policy: nn.Module, other: nn.Module, reward: Pairs, given: str) -> bool:
    """Whether what was gained against another reference is subtracted; no answer has ended."""
    beta = 0.4  # not the notebook's: it may be typed in
    loop = _made(trial, policy, reward, given, beta)
    loop.reference = other
    rows = (world.answers()[:, 1:] > 0).all(1).nonzero()[:, 0]
    some = rows[trial.integers(0, len(rows), 20)]
    texts = world.answers()[some]
    gap = world.listed(policy)[some] - world.listed(other)[some]
    got = wide(trial.run(loop.returns, texts, given=given))
    right, wrong = reward(texts) - beta * gap, reward(texts) + beta * gap
    if isinstance(got, Tensor) and got.shape == wrong.shape and torch.allclose(got, wrong):
        return False
    trial.equals(got, right, "what an answer earns", _RETURNS,
                 given=f"answers of four words, beta = {beta}")  # fmt: skip
    return True


def _ends(trial: Trial, policy: nn.Module, reward: Pairs, given: str) -> bool:
    """Whether the log-probabilities are those of the answers, whatever stands behind them."""
    loop = _made(trial, policy, reward, given)
    ended = (world.answers()[:, 1:-1] == 0).any(1).nonzero()[:, 0]
    some = ended[trial.integers(0, len(ended), 40)]
    texts = world.answers()[some]
    behind = (texts[:, 1:] == 0).cumsum(1) - (texts[:, 1:] == 0).long() > 0
    others = texts.clone()
    others[:, 1:][behind] = trial.integers(1, len(world.WORDS), int(behind.sum()))
    every = policy(texts[:, :-1]).log_softmax(-1).gather(2, texts[:, 1:, None]).sum((1, 2))
    for x in (texts, others):
        got = wide(trial.run(loop.log_probs, policy, x, given=given))
        if isinstance(got, Tensor) and got.shape == every.shape and torch.allclose(got, every):
            return False
        trial.equals(got, world.listed(policy)[some], "the log-probabilities of the answers",
                     f"The end mark still belongs to the answer. {_OTHER}",
                     given=f"texts {x[:3].tolist()} and others")  # fmt: skip
    _elsewhere(trial, policy, reward)
    return True


def _elsewhere(trial: Trial, policy: nn.Module, reward: Pairs) -> None:
    """The log-probabilities where prompts have three tokens, and token 2 ends an answer."""
    x, given = trial.integers(0, len(world.WORDS), 40, 8), "start = 3, end = 2"
    loop = _made(trial, policy, reward, given, start=3, end=2)
    got = wide(trial.run(loop.log_probs, policy, x, given=given))
    every = (((3, 2), ""), ((3, 0), _END), ((1, 2), _START), ((1, 0), f"{_START} {_END}"))
    (right, _), *slips = [
        (answer_log_probs(policy, x, torch.full((40,), start), end).detach(), hint)
        for (start, end), hint in every
    ]
    trial.equals(got, right, "another prompt and another end mark", f"{_START} {_END}",
                 slips=slips, given=f"{given}, texts {x[:2].tolist()} and others")  # fmt: skip
