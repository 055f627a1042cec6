"""Checks of lab 05, tasks 1 and 2: attention with grouped queries and a cache, a parallel block.

Shape letters as in ``solutions``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from helpers.course.checks.lab05 import solutions
from helpers.course.checks.lab05.common import agree, lab, twins
from helpers.course.checks.lab05.solutions import Cache
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips

GROUPS = see(11, "Grouped-query attention")
MASK = see(9, "The future is not to be looked at")
DEVICE = "What you make, such as a mask, is made where x is: device=x.device."
GATED = see(11, "The feed-forward layer")


def _in_pieces(
    steps: Sequence[int], mask: Tensor | None = None, cache: Cache | None = None
) -> Callable[[nn.Module, Tensor], Tensor]:
    """How a module reads x in pieces of so many tokens, with one cache if there are several."""

    def read(module: nn.Module, x: Tensor) -> Tensor:
        if len(steps) == 1:
            return module(x, mask)
        kept = Cache() if cache is None else cache
        return torch.cat([module(piece, None, kept) for piece in x.split(steps, 1)], 1)

    return read


def _two_halves(T: int) -> Tensor:
    """A causal mask (2, 1, T, T) that keeps two halves of the text apart."""
    apart = torch.ones(2, 1, T, T, dtype=torch.bool).tril()
    apart[:, :, T // 2 :, : T // 2] = False
    return apart


ATTENTION_SLIPS = Slips(
    solutions.GroupedAttention,
    f"""
    q, (self.K,)), start) => q, (self.K,))) ;; k, (self.K,)), start) => k, (self.K,)))
        The new tokens stand behind those of the cache: rotate(..., start) with the number of
        tokens in it.
    k.repeat_interleave(self.H // self.G, 1) => k.repeat(1, self.H // self.G, 1, 1) ;; \
    v.repeat_interleave(self.H // self.G, 1) => v.repeat(1, self.H // self.G, 1, 1)
        Neighbouring heads share: heads 0 ... H/G - 1 use group 0, the next ones group 1.
        repeat_interleave does that, repeat does not. {GROUPS}
    y.unflatten(-1, (-1, self.K)).transpose(1, 2) => y.view(len(x), -1, x.shape[1], self.K)
        view(B, H, T, K) deals the numbers of a token out to other tokens. First cut D into H heads
        of K, view(B, T, H, K), then exchange T and H: transpose(1, 2).
    F.rms_norm(q, (self.K,)) => q ;; F.rms_norm(k, (self.K,)) => k
        Queries and keys are normalized, F.rms_norm over the K numbers of a head.
    rotate(F.rms_norm(q, (self.K,)), start) => F.rms_norm(q, (self.K,)) ;; \
    rotate(F.rms_norm(k, (self.K,)), start) => F.rms_norm(k, (self.K,))
        Queries and keys are turned by their positions: rotate, once each.
    k = rotate( => v = rotate(v, start); k = rotate(
        Values are not turned: a position says where to look, not what is found there.
    .tril(S - T) =>
        Nobody sees the future: without a mask it is causal. {MASK}
    if mask is None: => if True:
        The mask that was handed over takes the place of the causal one.
    heads = F. => mask = mask.tril(k.shape[2] - q.shape[2]); heads = F.
        The mask that was handed over is used as it is, and no causal one beside it.
    heads.transpose(1, 2).flatten(2) => heads.reshape(x.shape)
        The heads of a token stand side by side: exchange H and T before you flatten.
    self.output(heads.transpose(1, 2).flatten(2)) => heads.transpose(1, 2).flatten(2)
        The last map, output, mixes the heads.
    if start: => if False:
        A new token must see the old ones, too: put its key and value behind those of the cache,
        and leave them all there.
    cache.keys, cache.values = k, v => \
    cache.keys, cache.values = k[:, :, start:], v[:, :, start:]
        The cache must hold the longer keys and values afterwards, not the new ones alone: the
        token after next looks at all of them.
    [cache.keys, k] => [k, cache.keys] ;; [cache.values, v] => [v, cache.values]
        The new keys and values come behind the old ones: torch.cat([old, new], 2).
    .tril(S - T) => .tril()
        With S tokens in all, the first of T new ones may see S - T + 1: tril(S - T).
    q, (self.K,)), start) => q, (self.K,)))
        The new queries stand behind the cache as the new keys do: rotate(..., start) for both.
    rotate(F.rms_norm(q, (self.K,)), start) => \
    rotate(F.rms_norm(q, (self.K,)).transpose(1, 2), start).transpose(1, 2) ;; \
    rotate(F.rms_norm(k, (self.K,)), start) => \
    rotate(F.rms_norm(k, (self.K,)).transpose(1, 2), start).transpose(1, 2)
        rotate reads x as (..., T, K): exchange T and H before you rotate, or it takes the heads
        for positions.
    (self.query(x), self.key(x), self.value(x)) => \
    (F.rms_norm(self.query(x), x.shape[-1:]), \
    F.rms_norm(self.key(x), (self.G * self.K,)), self.value(x)) ;; \
    F.rms_norm(q, (self.K,)) => q ;; F.rms_norm(k, (self.K,)) => k
        The norm is over the K numbers of each head: first split into heads, then normalize.
    .tril(S - T) => .tril(S - T + 1)
        A new token sees what is in the cache and the new ones up to itself, and none that comes
        later: tril(S - T).
    """,
)


@lab.task(solutions.GroupedAttention, without=("MultiheadAttention",))
def GroupedAttention(trial: Trial) -> None:
    D, H, G, T = 24, 6, 2, trial.integer(5, 8)
    mine, ours, given = twins(
        trial, solutions.GroupedAttention, (D, H, G),
        "Four attributes query, key, value and output; keys and values have G heads of width "
        f"K = D / H, so they map D to G K. {GROUPS}",
    )  # fmt: skip
    x, cache = trial.normal(2, T, D), Cache()
    given = f"{given}, x (2, {T}, {D})"
    free = trial.integers(0, 2, 2, 1, T, T).bool() | torch.eye(T, dtype=torch.bool)
    for rule, read, where in (
        ("six heads share two pairs of keys and values, causally", _in_pieces([T]), ""),
        ("a mask is used as it is", _in_pieces([T], _two_halves(T)),
         ", a mask that keeps two halves apart"),
        ("a mask is used as it is", _in_pieces([T], free),
         ", a mask that lets some positions look ahead"),
        ("reading with a cache, token by token, is reading the whole", _in_pieces([1] * T),
         ", one token at a time with one cache"),
        ("several tokens at once with a cache, too", _in_pieces([3, T - 3]),
         f", three tokens and then {T - 3} with one cache"),
    ):  # fmt: skip
        agree(
            trial, mine, ours, read, x, rule,
            "Project, split into heads, normalize, turn, share, attend.",
            ATTENTION_SLIPS, given + where,
            shapes="Print the shapes: queries are (B, H, T, K), keys and values (B, G, T, K).",
        )  # fmt: skip
    with torch.no_grad():
        _in_pieces([1] * T, cache=cache)(mine, x)
    trial.equals(
        [None if part is None else tuple(part.shape) for part in (cache.keys, cache.values)],
        [(2, G, T, D // H)] * 2,
        "the cache holds G heads of every token",
        "Keep keys and values before they are repeated for the H heads, or the cache is no "
        f"smaller than without groups: cache.keys and cache.values are (B, G, S, K). {GROUPS}",
        given=f"{given}, one token at a time: shapes in the cache",
    )

    def read_far(module: nn.Module) -> None:
        module.to("meta")
        for steps in ([T], [T - 2, 2]):
            _in_pieces(steps)(module, x.to("meta"))

    read_far(ours)  # what torch loads for it is not the student's time
    trial.run(read_far, mine, given=f'{given}, all on the device "meta"', hint=DEVICE)
    trial.holds(True, "on any device", DEVICE)


BLOCK_SLIPS = Slips(
    solutions.ParallelBlock,
    f"""
    (y, mask, cache) => (y, None, cache)
        The mask is handed on to the attention.
    (y, mask, cache) => (x, mask, cache)
        Attention reads the normalized vectors y, too.
    self.gate(y)) * self.up(y) => self.gate(x)) * self.up(x)
        The gated layer reads the normalized vectors y, not x.
    y = self.norm(x) => x = x + self.attention(self.norm(x), mask, cache); y = self.norm(x) ;; \
    x + self.attention(y, mask, cache) => x
        Parallel: the gated layer reads the same y as attention, not a stream to which attention
        has already been added.
    F.silu => F.gelu
        The gate goes through SiLU: F.silu. {GATED}
    * self.up(y) =>
        What the gate lets through is up(y): multiply the two.
    return x + => return
        Both are added to x, the residual stream.
    """,
)


@lab.task(solutions.ParallelBlock)
def ParallelBlock(trial: Trial) -> None:
    T = trial.integer(4, 7)
    mine, ours, given = twins(
        trial, solutions.ParallelBlock, (24, 6, 2),
        "Attributes norm (Norm), attention (GroupedAttention), gate, up, down. The hidden width is "
        "hidden_width(D, H, G).",
    )  # fmt: skip
    for sizes in ((32, 4, 1), (96, 4, 4)):
        made = f"ParallelBlock{sizes}"
        trial.equals(
            tuple(trial.call(*sizes, given=made).gate.weight.shape),
            (solutions.hidden_width(*sizes), sizes[0]),
            "the hidden width follows D, H and G",
            "It is hidden_width(D, H, G), for any D, H and G.",
            given=f"{made}: the shape of gate.weight",
        )
    x = trial.normal(2, T, 24)
    usual = "y = norm(x); then x + attention(y) + down(silu(gate(y)) * up(y))."
    for rule, read, hint, where in (
        ("x + Attention(y) + gated layer(y)", _in_pieces([T]), usual, ""),
        ("with a mask", _in_pieces([T], _two_halves(T)), usual, ", a mask"),
        ("with a cache", _in_pieces([1] * T),
         "The cache is handed on to the attention; nothing else in the block looks back.",
         ", one token at a time with one cache"),
    ):  # fmt: skip
        where = f"{given}, x (2, {T}, 24){where}"
        agree(trial, mine, ours, read, x, rule, hint, BLOCK_SLIPS, where)


GroupedAttention.slips, ParallelBlock.slips = ATTENTION_SLIPS, BLOCK_SLIPS
