"""Checks of lab 05: the whole GPT, put together from its parts."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab05.block import CourseBlock, CourseNorm
from helpers.course.checks.lab05.common import (
    BEFORE_OR_AFTER,
    DROPOUT,
    ONE_PASS,
    fill,
    is_module,
    lab,
    seeded,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, TENSOR, Trial
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward

THIRTY_LINES = see(12, "Thirty lines")


class CourseGPT(nn.Module):
    def __init__(
        self, V: int, T: int, L: int, D: int, H: int, tied: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.ModuleList(
            CourseBlock(D, MultiHeadAttention(D, H, bias=True), FeedForward(D), dropout=dropout)
            for _ in range(L)
        )
        self.norm, self.output = CourseNorm(D), nn.Linear(D, V, bias=False)
        for module in self.modules():
            if isinstance(module, nn.Embedding | nn.Linear):
                nn.init.normal_(module.weight, std=0.02 * (768 / D) ** 0.5)
        if tied:
            self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]  # (B, T, D)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))  # (B, T, V)


@lab.task(CourseGPT, uses=("MultiHeadAttention", "FeedForward"))
def GPT(trial: Trial) -> None:
    sizes = {"V": 11, "T": 8, "L": 2, "D": 12, "H": 3}
    for tied in (True, False):
        given = f"GPT({', '.join(f'{k}={v}' for k, v in sizes.items())}, tied={tied})"
        with seeded(trial):
            model = trial.call(**sizes, tied=tied, given=given)
        is_module(trial, model, given)
        _gpt_has_parts(trial, model, sizes, given)
        _gpt_is_tied(trial, model, tied, sizes, given)
        if tied:
            _gpt_begins_small(trial, model, sizes, given)
        fill(model, trial, 0.3).eval()
        _gpt_logits(trial, model, sizes, given)
        _gpt_learns(trial, model, sizes, given)
    _gpt_drops(trial, sizes)


def _gpt_has_parts(trial: Trial, model: nn.Module, sizes: dict[str, int], given: str) -> None:
    V, T, L, D, H = sizes.values()
    attributes = "embedding, positions, blocks, norm and output, as the docstring says"
    for name, rows in (("embedding", V), ("positions", T)):
        table = getattr(model, name, None)
        got = f"{name}: {table}"
        right = isinstance(table, nn.Embedding) and tuple(table.weight.shape) == (rows, D)
        hint = "nn.Embedding(rows, width): a row for every token, and one for every place. "
        trial.holds(
            right,
            f"{name} is an nn.Embedding of {rows} rows of width {D}",
            f"{hint}Its attributes are {attributes}.",
            given=given,
            got=got,
        )
    found = getattr(model, "blocks", None)
    trial.holds(
        isinstance(found, nn.ModuleList),
        "blocks is an nn.ModuleList",
        "A plain list hides its modules: their parameters are neither trained nor saved. "
        f"{THIRTY_LINES}",
        given=given,
        got=type(found).__name__,
    )
    trial.holds(
        len(found) == L and len({id(block) for block in found}) == L,
        "there are L blocks, and each has weights of its own",
        "[block] * L is one block L times: make a new one in every turn of the comprehension.",
        given=given,
        got=f"{len(found)} blocks, {len({id(block) for block in found})} different",
    )
    heads = [getattr(getattr(block, "attention", None), "n_heads", H) for block in found]
    trial.holds(
        heads == [H] * L,
        f"every attention has H = {H} heads",
        "MultiHeadAttention(D, H, bias=True): the width, then the number of heads.",
        given=given,
        got=heads,
    )
    norm, output = getattr(model, "norm", None), getattr(model, "output", None)
    trial.holds(
        isinstance(norm, nn.Module),
        "norm is a module",
        f"A norm follows the last block: the attributes are {attributes}.",
        given=given,
        got=f"norm: {norm}",
    )
    trial.holds(
        isinstance(output, nn.Linear)
        and tuple(output.weight.shape) == (V, D)
        and output.bias is None,
        "output is an nn.Linear from D to V without a bias",
        f"nn.Linear(D, V, bias=False); the attributes are {attributes}.",
        given=given,
        got=f"output: {output}",
    )


def _gpt_is_tied(
    trial: Trial, model: nn.Module, tied: bool, sizes: dict[str, int], given: str
) -> None:
    one = model.output.weight is model.embedding.weight
    trial.holds(
        one == tied,
        "tied: output and embedding share one parameter"
        if tied
        else "untied: output and embedding have a matrix each",
        "With tied=True the output's weight is the embedding's: the same Parameter, not a copy. "
        f"With tied=False it is not. {THIRTY_LINES}",
        given=given,
        got="one matrix" if one else "two matrices",
    )
    V, T, L, D, _ = sizes.values()
    wanted = V * D * (2 - tied) + T * D + L * (12 * D * D + 13 * D) + 2 * D
    count = sum(p.numel() for p in model.parameters())
    trial.holds(
        count == wanted,
        "its parameters are as many as in task 1",
        "Count part by part (task 1): is a bias missing in attention, or a part made twice? "
        + see(12, "Where the parameters are"),
        given=given,
        got=count,
        expected=wanted,
    )


def _gpt_begins_small(trial: Trial, model: nn.Module, sizes: dict[str, int], given: str) -> None:
    V, T = sizes["V"], sizes["T"]
    tokens = trial.integers(0, V, 16, T)
    shown = f"{given}, then tokens of shape (16, {T})"
    with torch.no_grad():
        rows = (
            "Follow the shapes line by line. If an index is out of range: a token is a row of "
            f"embedding, a place (0, 1, ...) a row of positions. {THIRTY_LINES}"
        )
        logits = trial.run(model, tokens, given=shown, hint=rows)
    hint = f"One score for each of the V tokens, at every place of every text. {THIRTY_LINES}"
    if not isinstance(logits, Tensor):
        hint = NOTHING if logits is None else TENSOR
    trial.holds(
        isinstance(logits, Tensor) and tuple(logits.shape) == (16, T, V),
        "logits have the shape (B, T, V)",
        hint,
        given=shown,
        got=f"shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else type(logits).__name__,
        expected=f"shape (16, {T}, {V})",
    )
    loss = float(F.cross_entropy(logits.flatten(0, 1).float(), trial.integers(0, V, 16 * T)))
    trial.holds(
        abs(loss - math.log(V)) < 0.5,
        "untrained, it guesses: a first loss near log V",
        "nn.Embedding begins with a deviation of 1, which makes the model sure and wrong: end the "
        f"constructor with self.apply(start_small). {ONE_PASS}",
        given=f"random targets, log V = {math.log(V):.2f}",
        got=f"{loss:.2f}",
    )


def _gpt_logits(trial: Trial, model: nn.Module, sizes: dict[str, int], given: str) -> None:
    V, T = sizes["V"], sizes["T"]
    for length in (T, T - 3, 1):
        tokens = trial.integers(0, V, 3, length)
        shown = f"{given}, random weights, tokens of shape (3, {length})"
        shorter = (
            "A text may be shorter than the T places: add the first positions, as many as there "
            "are tokens."
        )
        with torch.no_grad():
            got = trial.run(model, tokens, given=shown, hint=shorter)
            expected = _walk(model, tokens)
            slips = [
                (
                    _walk(model, tokens, norm=False),
                    "The final norm is missing: the stream is never normalized on its way, so it "
                    f"must be before the output reads it. {BEFORE_OR_AFTER}",
                ),
                (
                    _walk(model, tokens, places=False),
                    "The positions are not added: the model cannot tell the order. "
                    + see(10, "Learned positions"),
                ),
                (
                    _walk(model, tokens, n_blocks=0),
                    "The blocks' outputs are lost: x = block(x), one after the other.",
                ),
                (_walk(model, tokens, n_blocks=1), "Only one of the L blocks is used."),
                (
                    _walk(model, tokens, again=True),
                    "A block adds to the stream by itself; the GPT adds nothing around it.",
                ),
                (
                    expected.softmax(-1),
                    "Logits are scores before the softmax; the loss and the sampler do the rest.",
                ),
                (expected.log_softmax(-1), "Logits are scores before the softmax."),
            ]
        usual = (
            "x = embedding + positions, every block in turn, the final norm, the output. "
            f"{THIRTY_LINES}"
        )
        rule = "logits = output(norm(blocks(embedding + positions)))"
        trial.equals(got, expected, rule, usual, slips=slips, given=shown)
    tokens = trial.integers(0, V, 2, T)
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % V
    with torch.no_grad():
        before, after = (trial.run(model, ids, given=given) for ids in (tokens, changed))
    trial.equals(
        after[:, :5],
        before[:, :5],
        "changing the future leaves past logits alone",
        f"Who lets a position see later ones? {ONE_PASS}",
        given="tokens changed from position 5 on; logits of positions 0 to 4",
    )


@torch.no_grad()
def _walk(
    model: nn.Module,
    tokens: Tensor,
    norm: bool = True,
    places: bool = True,
    n_blocks: int | None = None,
    again: bool = False,
) -> Tensor:
    """The logits that a model's parts give: as they should be used, or with a slip."""
    x = model.embedding.weight[tokens]  # (B, T, D)
    x = x + model.positions.weight[: tokens.shape[1]] if places else x
    for block in model.blocks[: len(model.blocks) if n_blocks is None else n_blocks]:
        x = block(x) + x if again else block(x)
    return F.linear(model.norm(x) if norm else x, model.output.weight)  # (B, T, V)


def _gpt_learns(trial: Trial, model: nn.Module, sizes: dict[str, int], given: str) -> None:
    V, T = sizes["V"], sizes["T"]
    tokens = torch.arange(2 * T).view(2, T) % V
    logits = trial.run(model, tokens, given=given)
    model.zero_grad()
    if logits.requires_grad:
        F.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    missing = [name for name, p in model.named_parameters() if p.grad is None]
    trial.holds(
        not missing,
        "the gradient reaches every parameter",
        "A part whose output is not used, or that is detached (.data, no_grad), learns nothing.",
        given=given,
        got=f"no gradient: {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}",
    )


def _gpt_drops(trial: Trial, sizes: dict[str, int]) -> None:
    given = "GPT(..., dropout=0.5)"
    tokens = trial.integers(0, sizes["V"], 2, sizes["T"])
    with seeded(trial):
        model = trial.call(**sizes, dropout=0.5, given=given)
        fill(model, trial, 0.3).train()
        one, two = (trial.run(model, tokens, given=given).detach() for _ in range(2))
    hint = f"Hand dropout on to every block. {DROPOUT}"
    trial.holds(
        differs(one, two) is not None, "in training dropout acts in the blocks", hint, given=given
    )
    model.eval()
    one, two = (trial.run(model, tokens, given=given).detach() for _ in range(2))
    rule = "in evaluation the same tokens give the same logits"
    trial.equals(two, one, rule, DROPOUT, given=given)
