"""Checks of lab 05: attention of one new token, and reading with a cache of keys and values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.comparing import differs
from helpers.course.checks.lab05.common import (
    BEFORE_OR_AFTER,
    fill,
    lab,
    seeded,
)
from helpers.course.checks.lab05.gpt import CourseGPT
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import NOTHING, Trial

Cache = list[tuple[Tensor, Tensor]]

CACHE = see(14, "The cache")
SCALE = see(9, "Why divide by √d_k")
SIZES = {"V": 7, "T": 12, "L": 2, "D": 8, "H": 2}


def _attend_new(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, keys, values)


@lab.task(_attend_new, without=("scaled_dot_product_attention", "MultiheadAttention"))
def attend_new(trial: Trial) -> None:
    q = torch.tensor([[[[2.0, 0.0, 0.0, 0.0]]]])
    keys = torch.tensor([[[[math.log(3), 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]]])
    values = torch.tensor([[[[4.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]]]])
    shapes = "A query (1, K) meets S keys (S, K) and has one score for each of them: (1, S)."
    got = trial.call(q, keys, values, given="one query, two keys, K = 4", hint=shapes)

    def result(first: float, second: float) -> Tensor:
        return torch.tensor([[[[4 * first, 4 * second, 0.0, 0.0]]]])

    odds = 3 ** (2**0.5)  # where the scores are divided by the root of the number of keys
    slips = [
        (
            result(odds / (odds + 1), 1 / (odds + 1)),
            f"By the root of K, the head's width, not of the number of keys. {SCALE}",
        ),
        (result(0.9, 0.1), f"The scores are divided by the root of K, the head's width. {SCALE}"),
        (result(3**0.5 / (3**0.5 + 1), 1 / (3**0.5 + 1)), f"By the root of K, not by K. {SCALE}"),
        (result(1.0, 1.0), "The weights of the S keys sum to 1: the softmax runs over the keys."),
        (
            result(1.0, 0.0),
            "Nothing is to be masked: a new token stands behind all the keys and may see them.",
        ),
    ]
    usual = f"The values' weighted mean: softmax over the S keys of q . k / sqrt(K). {SCALE}"
    trial.equals(
        got,
        result(0.75, 0.25),
        "by hand: weights 3/4 and 1/4",
        usual,
        slips=slips,
        given="q = [2, 0, 0, 0], keys [log 3, 0, 0, 0] and [0, 1, 0, 0], values [4, 0, 0, 0] and "
        "[0, 4, 0, 0]",
        tolerance=1e-5,
    )
    for S, K in ((1, 4), (2, 5), (9, 3)):
        q = trial.normal(2, 3, 1, K)
        keys, values = trial.normal(2, 3, S, K), trial.normal(2, 3, S, K)
        got = trial.call(q, keys, values, hint=shapes)
        fixed = F.scaled_dot_product_attention(q, keys, values, scale=0.5)
        trial.equals(
            got,
            _attend_new(q, keys, values),
            "every text and every head by itself, of any width",
            usual,
            slips=[(fixed, f"Here K is {K}, not 4. {SCALE}")],
            given=f"q (2, 3, 1, {K}), keys and values (2, 3, {S}, {K})",
        )


def _split(y: Tensor, n_heads: int) -> Tensor:
    return y.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, H, T, K)


@torch.no_grad()
def course_read_token(model: nn.Module, token: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
    place = cache[0][0].shape[2] if cache else 0
    x = model.embedding(token)[:, None] + model.positions.weight[place]  # (B, 1, D)
    longer = []
    for i, block in enumerate(model.blocks):
        a, y = block.attention, block.attention_norm(x)
        q, k, v = (_split(m(y), a.n_heads) for m in (a.query, a.key, a.value))
        if cache:
            k, v = torch.cat([cache[i][0], k], 2), torch.cat([cache[i][1], v], 2)  # (B, H, S, K)
        longer.append((k, v))
        x = x + a.output(_attend_new(q, k, v).transpose(1, 2).flatten(2))
        x = x + block.feed_forward(block.feed_forward_norm(x))
    return model.output(model.norm(x))[:, 0], longer


@lab.task(course_read_token)
def read_token(trial: Trial) -> None:
    V, T, L = (SIZES[name] for name in "VTL")
    model, B = random_model(trial), 4
    tokens = trial.integers(0, V, B, T)
    with torch.no_grad():
        whole = model(tokens)  # (B, T, V)
    seen = count_reads(model.blocks[-1].attention.key)
    cache: Cache = []
    for t in range(T):
        given = f"a GPT of {L} blocks, {B} texts, token number {t} with " + (
            "an empty cache" if t == 0 else f"the cache of {t} tokens"
        )
        seen.clear()
        hint = (
            "Before the first token the cache is an empty list. A layer reads (B, T, D), and here "
            "T = 1: print the shapes, and compare them with those in split and glue."
            if t == 0
            else "The cache goes on along the S tokens: torch.cat([old, new], 2)."
        )
        got = trial.call(model, tokens[:, t], cache, given=given, hint=hint)
        positions = sum(seen)
        trial.holds(
            isinstance(got, tuple | list) and len(got) == 2,
            "it hands back logits and the longer cache",
            NOTHING if got is None else "The logits (B, V) first, then the new cache.",
            given=given,
            got=type(got).__name__,
        )
        logits, longer = got
        _cache_is_whole(trial, model, tokens[:, : t + 1], longer, given)
        trial.equals(
            logits,
            whole[:, t],
            "the logits are those of a pass over the whole text",
            "Go through a block's forward line by line: norm, queries, keys and values, attention, "
            "W_O, add; norm, feed-forward, add. Then the final norm and the output.",
            slips=_reading_slips(model, tokens[:, : t + 1], cache, logits, longer),
            given=given,
        )
        trial.holds(
            positions == B,
            "each token is read once: one position passes through every layer",
            f"The block has a linear map for the keys: attention.key, not another one. {CACHE}"
            if positions < B
            else "Only the new token passes through the layers, and once: what earlier ones left "
            f"is in the cache. {CACHE}",
            given=given,
            got=f"{positions} positions of {B} texts through the last block's W_K",
        )
        cache = [(keys.detach(), values.detach()) for keys, values in longer]


def random_model(trial: Trial, scale: float = 0.4) -> nn.Module:
    with seeded(trial):
        model = CourseGPT(**SIZES)
    return fill(model, trial, scale).eval()


def count_reads(module: nn.Module) -> list[int]:
    """A list that gets the number of vectors that every later call of a module reads."""
    seen: list[int] = []
    module.register_forward_pre_hook(
        lambda _, inputs: seen.append(inputs[0].shape[:-1].numel() if inputs[0].dim() else 1)
    )
    return seen


def _cache_is_whole(trial: Trial, model: nn.Module, tokens: Tensor, cache: Any, given: str) -> None:
    B, S, H = *tokens.shape, SIZES["H"]
    K = SIZES["D"] // H
    pairs = isinstance(cache, tuple | list) and len(cache) == SIZES["L"]
    shapes = pairs and [
        tuple(part.shape) for pair in cache for part in pair if isinstance(part, Tensor)
    ]
    trial.holds(
        shapes == [(B, H, S, K)] * 2 * SIZES["L"],
        "the cache has a pair (keys, values) for every block, of shape (B, H, S, K)",
        "To what the cache holds, put the new token's key and value at the end of the dimension of "
        f"the S tokens: torch.cat([old, new], 2). {CACHE}",
        given=given,
        got=f"shapes {shapes}" if shapes else cache,
        expected=f"{SIZES['L']} pairs of shape ({B}, {H}, {S}, {K})",
    )


def _reading_slips(
    model: nn.Module, tokens: Tensor, cache: Cache, logits: Any, longer: Cache
) -> Iterator[tuple[Tensor, str]]:
    """The logits of the last token that known slips give; ``logits`` where the cache shows one."""
    t, new = tokens.shape[1] - 1, tokens[:, -1]
    right, course_longer = course_read_token(model, new, cache)
    if t > 0 and differs(longer[0][0], course_longer[0][0].roll(1, 2)) is None:
        yield logits, "The new token's key and value come at the end: torch.cat([old, new], 2)."
    places = "The new token's place is the number of tokens in the cache, the S of its keys."
    for place in {0, t - 1, (t + 1) % SIZES["T"]} - {t}:
        moved = course_read_token(_with_place(model, place), new, cache)[0]
        yield moved, f"Positions go on. {places} {CACHE}"
    nowhere = course_read_token(_with_place(model, 0, 0.0), new, cache)[0]
    yield nowhere, f"The vector of the token's position is not added. {places}"
    if cache:
        alone = _read_at(model, new, t)
        yield alone, f"The query must see the cached keys too, not only its own. {CACHE}"
    yield right.softmax(-1), "Logits are scores before the softmax: write turns them into one."
    yield right[:, None], "One row of V logits for each text: the axis of the one token goes."
    unnormed = model.output(_stream(model, new, cache)).detach()[:, 0]
    yield unnormed, f"The final norm is missing. {BEFORE_OR_AFTER}"


def _with_place(model: nn.Module, place: int, factor: float = 1.0) -> nn.Module:
    """A model that gives every token the position ``place``, times a factor."""
    moved = CourseGPT(**SIZES).double()
    moved.load_state_dict(model.state_dict())
    with torch.no_grad():
        moved.positions.weight.copy_(
            factor * model.positions.weight[place].expand_as(moved.positions.weight)
        )
    return moved


def _read_at(model: nn.Module, token: Tensor, place: int) -> Tensor:
    """The logits of a token that stands at a place and sees itself alone."""
    return course_read_token(_with_place(model, place), token, [])[0]


def _stream(model: nn.Module, token: Tensor, cache: Cache) -> Tensor:
    """The stream behind the last block, before the final norm, (B, 1, D)."""
    found = []
    handle = model.norm.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0]))
    course_read_token(model, token, cache)
    handle.remove()
    return found[0]
