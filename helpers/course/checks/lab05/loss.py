"""Checks of lab 05: batches of windows, the loss, and bits per byte."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab05.common import DROPOUT, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, TENSOR, Trial
from helpers.learning import training

Batch = tuple[Tensor, Tensor]

WINDOWS = see(13, "Windows")
LONGER = "The model reads tokens of shape (1, t) with t at most T: it has no positions beyond."
LOSS = see(1, "The loss")
BITS = see(1, "Bits per what?")


def course_batch(tokens: Tensor, B: int, T: int, generator: torch.Generator) -> Batch:
    starts = torch.randint(len(tokens) - T, (B, 1), generator=generator)
    rows = tokens[starts + torch.arange(T + 1)]  # (B, T + 1)
    return rows[:, :-1], rows[:, 1:]


@lab.task(course_batch)
def make_batch(trial: Trial) -> None:
    numbers, B, T = torch.arange(100, 150), 6, 5
    given = "tokens 100, 101, ..., 149, B = 6, T = 5"
    x, y = _batch(trial, numbers, B, T, given)
    trial.equals(
        x[:, 1:] - x[:, :-1],
        torch.ones(B, T - 1, dtype=torch.long),
        "a row holds T tokens that follow each other in the text",
        f"Draw where a window begins, and take what follows there. {WINDOWS}",
        given=given,
    )
    slips = [
        (x, f"The targets are the inputs themselves: a model would learn to copy. {WINDOWS}"),
        (x - 1, "The targets are one place too early: position t predicts token t + 1."),
    ]
    usual = f"targets[b, t] is the token that follows inputs[b, t] in the text. {WINDOWS}"
    rule = "the targets are the inputs, one place on"
    trial.equals(y, x + 1, rule, usual, slips=slips, given=given)
    tokens = trial.integers(0, 1000, 40)
    x, y = _batch(trial, tokens, 1, 20, "random tokens, B = 1, T = 20")
    whole = torch.cat([x[0], y[0, -1:]])
    trial.holds(
        any(torch.equal(whole, tokens[i : i + 21]) for i in range(20)),
        "the rows are pieces of the text",
        "tokens[place] is the token that stands at a place; the place itself is none.",
        given="40 random tokens, B = 1, T = 20",
        got=x[0],
    )
    _batch_is_fair(trial)


def _batch_is_fair(trial: Trial) -> None:
    """Every window may come, and the generator alone decides."""
    last = (
        "A window takes T + 1 tokens, so of N tokens it can begin at 0, ..., N - T - 1; the upper "
        "end of torch.randint is excluded."
    )
    for places in (1, 13):
        N = 5 + places
        given = f"{N} tokens 0, 1, ..., B = 400, T = 5"
        x, _ = _batch(trial, torch.arange(N), 400, 5, given, hint=last)
        starts = sorted(set(x[:, 0].tolist()))
        overlap = "Windows may overlap: they begin at any place, not at multiples of T."
        trial.equals(
            starts,
            list(range(places)),
            "windows begin at every place where one fits, and at no other",
            "Draw B places, not one." if len(starts) == 1 else last,
            slips=[([0, 5, 10], overlap)],
            given=f"{given}; where the windows begin",
        )
    tokens, given = torch.arange(500), "500 tokens, B = 8, T = 5, generators with equal seeds"
    (one, _), (two, _), (three, _) = (
        trial.call(tokens, 8, 5, torch.Generator().manual_seed(seed), given=given)
        for seed in (1, 1, 2)
    )
    hint = "Hand it to torch.randint as generator=generator, and draw nothing without it."
    rule = "the generator decides: the same seed, the same batch"
    trial.equals(two, one, rule, hint, given=given)
    rule = "another seed, another batch"
    trial.holds(differs(three, one) is not None, rule, hint, given=given)


def _batch(
    trial: Trial, tokens: Tensor, B: int, T: int, given: str, hint: str = ""
) -> tuple[Tensor, Tensor]:
    got = trial.call(tokens, B, T, trial.generator, given=given, hint=hint)
    trial.holds(
        isinstance(got, tuple | list) and len(got) == 2,
        "it hands back two tensors, inputs and targets",
        NOTHING if got is None else "Two tensors, the inputs first.",
        given=given,
        got=got,
    )
    for name, part in zip(("inputs", "targets"), got, strict=True):
        tensor = isinstance(part, Tensor)
        shape, hint = tuple(part.shape) if tensor else (), TENSOR
        if tensor:
            hint = f"T inputs and T targets share a window of T + 1 tokens. {WINDOWS}"
        if shape == (T, B):
            hint = "Each of the B windows is a row: stack them along the first dimension."
        elif shape == (B, T):
            hint = "Tokens are whole numbers, torch.int64, as in the text."
        elif len(shape) == 2 and shape[1] == T:
            hint = "Every row has a place of its own, and two rows may draw the same one: B rows."
        trial.holds(
            shape == (B, T) and part.dtype == torch.long,
            "inputs and targets have the shape (B, T), whole numbers",
            hint,
            given=given,
            got=f"{name}: shape {shape}, {part.dtype}" if tensor else f"a {type(part).__name__}",
            expected=f"shape ({B}, {T}), torch.int64",
        )
    return got[0], got[1]


def _lm_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return training.language_model_loss(logits, targets)


@lab.task(_lm_loss, without=("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"))
def lm_loss(trial: Trial) -> None:
    logits, targets = torch.tensor([[[0.0, math.log(3)]]]), torch.tensor([[1]])
    usual = f"-log of the probability that softmax gives to the target, natural logarithm. {LOSS}"
    one_each = (
        "Each position picks the logit of its own target: torch.gather does that, with an index of "
        "as many dimensions as the logits."
    )
    got = trial.call(logits, targets, hint=one_each)
    slips = [
        (
            torch.tensor(math.log2(4 / 3)),
            f"That is in bits: nats take the natural logarithm. {BITS}",
        ),
        (torch.tensor(math.log(3 / 4)), "The cost is minus the logarithm."),
        (torch.tensor(-math.log(3)), "The logits are no log-probabilities yet: what is missing?"),
        (torch.tensor(math.log(4)), "Which of the two tokens is the target?"),
        (
            torch.tensor(math.log(16 / 3) / 2),
            f"Only the target's token costs: the other tokens are not averaged in. {LOSS}",
        ),
        (torch.tensor(0.75), "Minus the logarithm of this."),
        (torch.tensor([[math.log(4 / 3)]]), "One number is wanted: the mean over all positions."),
        (
            torch.tensor(-math.log(3) / 2),
            "The softmax runs over the last dimension, the vocabulary.",
        ),
    ]
    trial.equals(
        got,
        torch.tensor(math.log(4 / 3)),
        "by hand: probabilities 1/4 and 3/4, the target is the second",
        usual,
        slips=slips,
        given="logits [[[0, log 3]]], targets [[1]]",
        tolerance=1e-5,
    )
    logits, targets = 2 * trial.normal(2, 3, 5), trial.integers(0, 5, 2, 3)
    given, expected = "logits of shape (2, 3, 5), targets of shape (2, 3)", None
    expected = _lm_loss(logits, targets)
    got = trial.call(logits, targets, given=given)
    shape = "the softmax runs over the last dimension, the vocabulary"
    log_p = logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    slips = [
        (6 * expected, "That is the sum over all positions: take the mean."),
        (3 * expected, "Divide by all B T positions, not by the B texts."),
        (2 * expected, "Divide by all B T positions, not by the T places."),
        (expected / 5, "Each position costs -log p of its target alone: V does not divide."),
        (-logits.log_softmax(-1)[..., targets].mean(), one_each),
        (-log_p, "One number is wanted: the mean over all positions."),
        (-log_p.mean(-1), "One number is wanted: the mean over all positions."),
    ]
    rule, usual = "the mean over all positions", "The mean over all positions of -log p(target); "
    trial.equals(got, expected, rule, f"{usual}{shape}.", slips=slips, given=given)
    _loss_is_stable(trial)


def _loss_is_stable(trial: Trial) -> None:
    logits = torch.tensor([[[1000.0, 998.0, -1000.0], [-900.0, -1000.0, -1000.0]]])
    targets = torch.tensor([[1, 2]])
    given = "logits [[[1000, 998, -1000], [-900, -1000, -1000]]], targets [[1, 2]]"
    trial.equals(
        trial.call(logits, targets, given=given),
        _lm_loss(logits, targets),
        "large logits do no harm",
        "exp(1000) is infinite, a probability that has become 0 has no finite logarithm, and one "
        "that is held above 0 costs too little. Stay with logarithms: torch.logsumexp.",
        given=given,
        tolerance=1e-5,
    )
    leaf, targets = trial.normal(2, 3, 5).requires_grad_(), trial.integers(0, 5, 2, 3)
    loss = trial.call(leaf, targets, given="logits of shape (2, 3, 5) that require a gradient")
    rule = "the gradient is (softmax - one-hot) / (B T)"
    hint = "The loss must stay a tensor that knows where it came from: no .item(), no no_grad."
    trial.holds(isinstance(loss, Tensor) and loss.requires_grad, rule, hint, got=loss)
    expected = (leaf.detach().softmax(-1) - F.one_hot(targets, 5)) / 6
    trial.equals(torch.autograd.grad(loss, leaf)[0], expected, rule, hint, given="random logits")


def _bits_per_byte(model: nn.Module, tokens: Tensor, T: int, text: str) -> float:
    was_training, nats = model.training, 0.0
    model.eval()
    with torch.no_grad():
        for start in range(0, len(tokens) - 1, T):
            targets = tokens[start + 1 : start + T + 1]
            logits = model(tokens[None, start : start + len(targets)])
            nats += float(F.cross_entropy(logits[0], targets, reduction="sum"))
    model.train(was_training)
    return nats / math.log(2) / len(text.encode())


class Table(nn.Module):
    """Logits that depend on the token and on its place in the window; notes how it is called."""

    def __init__(self, words: Tensor, places: Tensor) -> None:
        super().__init__()
        self.words, self.places = nn.Parameter(words), nn.Parameter(places)
        self.modes: list[bool] = []
        self.gradients: list[bool] = []
        self.lengths: list[int] = []

    def forward(self, tokens: Tensor) -> Tensor:
        self.modes.append(self.training)
        self.gradients.append(torch.is_grad_enabled())
        self.lengths.append(tokens.shape[1])
        return self.words[tokens] + self.places[: tokens.shape[1]]


@lab.task(_bits_per_byte)
def bits_per_byte(trial: Trial) -> None:
    flat = Table(torch.zeros(8, 8, dtype=torch.float64), torch.zeros(4, 8, dtype=torch.float64))
    tokens = trial.integers(0, 8, 9)
    given = "a model of eight equally likely characters, 9 tokens, T = 4, text 'badcafed'"
    got = trial.call(flat, tokens, 4, "badcafed", given=given, hint=LONGER)
    in_bits = f"Nats / log 2 are bits. {BITS}"
    lost = (
        "Tokens are lost between the windows: each reads T tokens and predicts T, and the next "
        "one begins with the last that was predicted."
    )
    slips = [
        (math.log(8), in_bits),
        (math.log10(8), in_bits),
        (math.log(8) * math.log(2), in_bits),
        (math.nan, "The mean of no targets is no number: the last window has one at least."),
        (3 * 6 / 8, lost),
        (24.0, "Divide the whole cost by the length of the text."),
        (3 * 8 / 9, "Of 9 tokens 8 are predicted: the first is only read."),
    ]
    usual = (
        "The cost of all predicted tokens in bits, over the bytes of the text. Every token but the "
        "first is predicted once."
    )
    rule = "eight equally likely characters of one byte cost 3 bits per byte"
    trial.equals(got, 3.0, rule, usual, slips=slips, given=given)
    given = "the same model, 5 tokens, T = 4, text 'déjà'"
    got = trial.call(flat, tokens[:5], 4, "déjà", given=given, hint=LONGER)
    rule, hint = "a byte is a byte of UTF-8", "len(text) counts characters: text.encode() is bytes."
    trial.equals(got, 2.0, f"{rule}: é and à have two", hint, given=given)
    _bits_in_windows(trial)
    _bits_in_peace(trial)


def _bits_in_windows(trial: Trial) -> None:
    model = Table(2 * trial.normal(5, 5), 2 * trial.normal(4, 5))
    tokens, text = trial.integers(0, 5, 15), "fourteen bytes"
    given = "a model of windows of T = 4, 15 tokens (14 predicted), a text of 14 bytes"
    windows = [(i, min(i + 4, 14)) for i in range(0, 14, 4)]
    sums = [14 * _bits_per_byte(model, tokens[i : j + 1], 4, text) for i, j in windows]
    means = [bits / (j - i) for bits, (i, j) in zip(sums, windows, strict=True)]
    model.lengths.clear()
    got = trial.call(model, tokens, 4, text, given=given, hint=LONGER)
    slips = [
        (sum(sums[:-1]) / 14, "The last window is shorter than T, and its tokens count as well."),
        (
            sum(means) / 4,
            "The last window is shorter: the mean of the windows' means counts its tokens more. "
            "Add up costs, not means.",
        ),
        (
            sum(4 * mean for mean in means) / 14,
            "A window's mean times how many tokens it predicts; the last one has fewer than T.",
        ),
    ]
    usual = (
        "Cut the tokens into windows: tokens 0 to T - 1 are read to predict 1 to T, then T to "
        "2T - 1 to predict T + 1 to 2T, and so on. Every token but the first is predicted once."
    )
    rule = "every token but the first is predicted once, from its window"
    trial.equals(got, sum(sums) / 14, rule, usual, slips=slips, given=given)


def _bits_in_peace(trial: Trial) -> None:
    for mode in (True, False):
        model = Table(trial.normal(5, 5), trial.normal(4, 5)).train(mode)
        came = "training" if mode else "evaluation"
        given = f"a model that comes in {came} mode"
        trial.call(model, trial.integers(0, 5, 15), 4, "fourteen bytes", given=given)
        trial.holds(
            not any(model.modes),
            "the model is measured in evaluation mode",
            f"model.eval() switches dropout off. {DROPOUT}",
            given=given,
        )
        trial.holds(
            model.training == mode,
            "afterwards the model is in the mode that it came in",
            "Remember model.training, and hand it to model.train(...) at the end.",
            given=given,
            got="training mode" if model.training else "evaluation mode",
        )
        trial.holds(
            not any(model.gradients),
            "nothing is kept for gradients",
            "with torch.no_grad(): measuring needs no gradients, and they cost memory.",
            given=given,
        )
