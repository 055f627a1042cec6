"""Checks of lab 05, tasks 2 and 3: attention with grouped queries and a cache, a parallel block.

Shape letters: B batch, T new tokens, S all tokens, H heads, G pairs of keys and values, D width,
K = D / H. ``Norm``, ``Cache``, ``rotate`` and ``GPT`` are those that the lab hands out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab05.common import fill, has_shapes, is_module_class, lab
from helpers.course.checks.lab05.paper import GROUPS, gate_width
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial

MASK = see(9, "The future is not to be looked at")
DEVICE = "What you make, such as a mask, is made where x is: device=x.device."
GATED = see(11, "The feed-forward layer")


class Norm(nn.Module):
    """RMSNorm with a gain."""

    def __init__(self, D: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:]) * self.weight


class Cache:
    """The keys and values of one block so far, (B, G, S, K) each; None before there are any."""

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None
        self.last: Tensor | None = None  # in the first block's: what the last token hands on


def rotate(x: Tensor, start: int = 0) -> Tensor:
    """Rotary positions, as written in lab 04."""
    T, K = x.shape[-2:]
    t = start + torch.arange(T, device=x.device)[:, None]
    angles = t / 10000 ** (torch.arange(0, K, 2, device=x.device) / K)  # (T, K/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class _Attention(nn.Module):
    """The course's version; ``flaw`` names a known slip, which then is made."""

    flaw = ""

    def __init__(self, D: int, H: int, G: int) -> None:
        super().__init__()
        self.H, self.G, self.K = H, G, D // H
        self.query, self.output = (nn.Linear(D, D, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(D, G * self.K, bias=False) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor | None = None, cache: Any = None) -> Tensor:
        flaw, maps = self.flaw, (self.query, self.key, self.value)
        q, k, v = (m(x).unflatten(-1, (-1, self.K)).transpose(1, 2) for m in maps)
        if flaw == "cut":
            q, k, v = (m(x).view(len(x), -1, x.shape[1], self.K) for m in maps)
        old = None if cache is None else cache.keys
        start = 0 if old is None or flaw == "start" else old.shape[2]
        if flaw != "norm":
            q = F.rms_norm(q, (self.K,))
            k = k if flaw == "norm of queries" else F.rms_norm(k, (self.K,))
        if flaw != "still":
            q, k = rotate(q, start), k if flaw == "turn of queries" else rotate(k, start)
        if flaw == "values":
            v = rotate(v, start)
        if cache is not None:
            new = k, v
            if old is not None and flaw == "new first":
                k, v = torch.cat([k, old], 2), torch.cat([v, cache.values], 2)
            elif old is not None and flaw != "forgets":
                k, v = torch.cat([old, k], 2), torch.cat([cache.values, v], 2)
            cache.keys, cache.values = new if flaw == "keeps the new" else (k, v)
        times = self.H // self.G
        if flaw == "tiled":
            k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)
        else:
            k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
        T, S = q.shape[2], k.shape[2]
        if mask is None or flaw == "unmasked":
            mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(
                0 if flaw == "top left" else S - T
            )
        if flaw == "all":
            mask = torch.ones_like(mask)
        if flaw == "both":
            mask = mask.tril(S - T)
        scale = 1.0 if flaw == "scale" else self.K**-0.5
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
        mixed = heads.flatten(1, 2).view(x.shape) if flaw == "glue" else heads.transpose(1, 2)
        mixed = mixed.reshape(x.shape)
        return mixed if flaw == "output" else self.output(mixed)


_FLAWS = {
    "start": "The new tokens stand behind those of the cache: rotate(..., start) with the number "
    "of tokens in it.",
    "tiled": "Neighbouring heads share: heads 0 ... H/G - 1 use group 0, the next ones group 1. "
    f"repeat_interleave does that, repeat does not. {GROUPS}",
    "cut": "view(B, H, T, K) deals the numbers of a token out to other tokens. First cut D into H "
    "heads of K, view(B, T, H, K), then exchange T and H: transpose(1, 2).",
    "norm": "Queries and keys are normalized, F.rms_norm over the K numbers of a head.",
    "still": "Queries and keys are turned by their positions: rotate, once each.",
    "norm of queries": "The keys are normalized, too, by F.rms_norm over the K numbers of a head.",
    "turn of queries": "The keys are turned by their positions, too: rotate, as the queries.",
    "values": "Values are not turned: a position says where to look, not what is found there.",
    "all": f"Nobody sees the future: without a mask it is causal. {MASK}",
    "unmasked": "The mask that was handed over takes the place of the causal one.",
    "both": "The mask that was handed over is used as it is, and no causal one beside it.",
    "scale": "Scores are divided by the root of K, which F.scaled_dot_product_attention does.",
    "glue": "The heads of a token stand side by side: exchange H and T before you flatten.",
    "output": "The last map, output, mixes the heads.",
    "forgets": "A new token must see the old ones, too: put its key and value behind those of the "
    "cache, and leave them all there.",
    "keeps the new": "The cache must hold the longer keys and values afterwards, not the new ones "
    "alone: the token after next looks at all of them.",
    "new first": "The new keys and values come behind the old ones: torch.cat([old, new], 2).",
    "top left": "With S tokens in all, the first of T new ones may see S - T + 1: tril(S - T).",
}


def _flawed(module: nn.Module, x: Tensor, mask: Tensor | None, steps: Iterable[int]) -> Iterator:
    """What the known slips give, the tokens read in pieces of these lengths."""
    H, G = module.H, module.G
    for flaw, hint in _FLAWS.items():
        wrong = _Attention(x.shape[-1], H, G).double()
        wrong.load_state_dict(module.state_dict())
        wrong.flaw = flaw
        try:
            with torch.no_grad():  # which must have ended where a generator stops to yield
                value = _in_pieces(wrong, x, mask, steps)[0]
        except RuntimeError:  # shapes that do not fit a slip
            continue
        yield value, hint


def _in_pieces(
    module: nn.Module, x: Tensor, mask: Tensor | None, steps: Iterable[int]
) -> tuple[Tensor, Cache]:
    cache, found = Cache(), []
    steps = list(steps)
    if len(steps) < 2:
        return module(x, mask), cache
    for piece in x.split(steps, 1):
        found.append(module(piece, None, cache))
    return torch.cat(found, 1), cache


@lab.task(_Attention, without=("MultiheadAttention",))
def GroupedAttention(trial: Trial) -> None:
    is_module_class(trial)
    D, H, G, T = 24, 6, 2, trial.integer(5, 8)
    K, given = D // H, f"GroupedAttention({D}, {H}, {G})"
    mine, ours = trial.call(D, H, G, given=given), fill(_Attention(D, H, G), trial)
    names = "Four attributes query, key, value and output; keys and values have G heads of width "
    shapes = dict.fromkeys(("query.weight", "output.weight"), (D, D))
    shapes |= dict.fromkeys(("key.weight", "value.weight"), (G * K, D))
    has_shapes(trial, mine, shapes, given, f"{names}K = D / H, so they map D to G K. {GROUPS}")
    mine.double().load_state_dict(ours.state_dict())
    x, usual = trial.normal(2, T, D), "Project, split into heads, normalize, turn, share, attend."
    given = f"{given}, x (2, {T}, {D})"
    shape = "Print the shapes: queries are (B, H, T, K), keys and values (B, G, T, K)."

    def agree(rule: str, mask: Tensor | None, steps: list[int], given: str) -> Any:
        cache = Cache()
        with torch.no_grad():
            expected = _in_pieces(ours, x, mask, steps)[0]
            if len(steps) < 2:
                got = trial.run(mine, x, mask, given=given, hint=shape)
            else:
                parts = []
                for piece in x.split(steps, 1):
                    parts.append(trial.run(mine, piece, None, cache, given=given, hint=shape))
                    fine = isinstance(parts[-1], Tensor) and parts[-1].shape == piece.shape
                    rule_of_shape = "it hands back one vector for each new token"
                    hint = "The output of T new tokens is (B, T, D), with or without a cache."
                    trial.holds(fine, rule_of_shape, hint, given=given, got=parts[-1])
                got = torch.cat(parts, 1)
        slips = _flawed(ours, x, mask, steps)
        trial.equals(got, expected, rule, usual, slips=slips, given=given, tolerance=1e-5)
        return cache

    agree("six heads share two pairs of keys and values, causally", None, [T], given)
    apart = torch.ones(2, 1, T, T, dtype=torch.bool).tril()
    apart[:, :, T // 2 :, : T // 2] = False
    agree("a mask is used as it is", apart, [T], f"{given}, a mask that keeps two halves apart")
    free = trial.integers(0, 2, 2, 1, T, T).bool() | torch.eye(T, dtype=torch.bool)
    agree("a mask is used as it is", free, [T], f"{given}, a mask that lets some places look ahead")
    cache = agree(
        "reading with a cache, token by token, is reading the whole",
        None,
        [1] * T,
        f"{given}, one token at a time with one cache",
    )
    shape_of = [None if part is None else tuple(part.shape) for part in (cache.keys, cache.values)]
    trial.equals(
        shape_of,
        [(2, G, T, K)] * 2,
        "the cache holds G heads of every token",
        "Keep keys and values before they are repeated for the H heads, or the cache is no "
        f"smaller than without groups: cache.keys and cache.values are (B, G, S, K). {GROUPS}",
        given=f"{given}: shapes in the cache",
    )
    agree(
        "several tokens at once with a cache, too",
        None,
        [3, T - 3],
        f"{given}, three tokens and then {T - 3} with one cache",
    )
    far, caches = x.to("meta"), (Cache(), Cache())

    def read_far(module: nn.Module, cache: Cache) -> None:
        module.to("meta")(far)
        for piece in far.split([T - 2, 2], 1):
            module(piece, None, cache)

    read_far(ours, caches[0])  # what torch loads for it is not the student's time
    given = f'{given}, all on the device "meta"'
    trial.run(lambda: read_far(mine, caches[1]), given=given, hint=DEVICE)
    trial.holds(True, "on any device", DEVICE)


class _Block(nn.Module):
    """The course's parallel block; ``flaw`` as above."""

    flaw = ""

    def __init__(self, D: int, H: int, G: int) -> None:
        super().__init__()
        width = gate_width(D, H, G)
        self.norm, self.attention = Norm(D), _Attention(D, H, G)
        self.gate, self.up = (nn.Linear(D, width, bias=False) for _ in range(2))
        self.down = nn.Linear(width, D, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None, cache: Any = None) -> Tensor:
        flaw, y = self.flaw, self.norm(x)
        if flaw == "mask":
            mask = None
        read = self.attention(x if flaw == "raw" else y, mask, cache)
        if flaw == "one after the other":
            x = x + read
            y, read = self.norm(x), 0 * read
        if flaw == "raw layer":
            y = x
        gate, up = self.gate(y), self.up(y)
        act = {"gelu": F.gelu, "relu": F.relu, "sigmoid": torch.sigmoid}.get(flaw, F.silu)
        hidden = gate * F.silu(up) if flaw == "gate and up" else act(gate) * up
        layer = self.down(act(gate) if flaw == "no up" else hidden)
        return read + layer if flaw == "no residual" else x + read + layer


_BLOCK_FLAWS = {
    "mask": "The mask is handed on to the attention.",
    "raw": "Attention reads the normalized vectors y, too.",
    "raw layer": "The gated layer reads the normalized vectors y, not x.",
    "one after the other": "Parallel: the gated layer reads the same y as attention, not a "
    "stream to which attention has already been added.",
    "gelu": f"The gate goes through SiLU: F.silu. {GATED}",
    "relu": f"The gate goes through SiLU: F.silu. {GATED}",
    "sigmoid": "SiLU is z times the sigmoid of z: F.silu.",
    "gate and up": "SiLU acts on the gate, not on up.",
    "no up": "What the gate lets through is up(y): multiply the two.",
    "no residual": "Both are added to x, the residual stream.",
}


@lab.task(_Block)
def ParallelBlock(trial: Trial) -> None:
    is_module_class(trial)
    D, H, G, T = 24, 6, 2, trial.integer(4, 7)
    given = f"ParallelBlock({D}, {H}, {G})"
    mine, ours = trial.call(D, H, G, given=given), fill(_Block(D, H, G), trial)
    shapes = {name: tuple(p.shape) for name, p in ours.named_parameters()}
    has_shapes(
        trial,
        mine,
        shapes,
        given,
        "Attributes norm (Norm), attention (GroupedAttention), gate, up, down. The hidden width is "
        "hidden_width(D, H, G) of task 1.",
    )
    for D_, H_, G_ in ((32, 4, 1), (96, 4, 4)):
        width = gate_width(D_, H_, G_)
        made = trial.call(D_, H_, G_, given=f"ParallelBlock({D_}, {H_}, {G_})")
        trial.equals(
            tuple(made.gate.weight.shape),
            (width, D_),
            "the hidden width follows D, H and G",
            "It is hidden_width(D, H, G) of task 1, for any D, H and G.",
            given=f"ParallelBlock({D_}, {H_}, {G_}): the shape of gate.weight",
        )
    mine.double().load_state_dict(ours.state_dict())
    x = trial.normal(2, T, D)
    apart = torch.ones(2, 1, T, T, dtype=torch.bool).tril()
    apart[:, :, T // 2 :, : T // 2] = False

    def slips(mask: Tensor | None) -> Iterator[tuple[Tensor, str]]:
        wrong = _Block(D, H, G).double()
        wrong.load_state_dict(ours.state_dict())
        for flaw, hint in _BLOCK_FLAWS.items():
            wrong.flaw = flaw
            with torch.no_grad():
                value = wrong(x, mask)
            yield value, hint

    usual = "y = norm(x); then x + attention(y) + down(silu(gate(y)) * up(y))."
    for mask, rule in ((None, "x + Attention(y) + gated layer(y)"), (apart, "with a mask")):
        where = f"{given}, x (2, {T}, {D}){'' if mask is None else ', a mask'}"
        with torch.no_grad():
            got, expected = trial.run(mine, x, mask, given=where), ours(x, mask)
        trial.equals(
            got, expected, rule, usual, slips=slips(mask), given=where, tolerance=1e-5
        )  # fmt: skip
    cache, parts = Cache(), []
    with torch.no_grad():
        for piece in x.split(1, 1):
            parts.append(trial.run(mine, piece, None, cache, given=f"{given}, a cache"))
        trial.equals(
            torch.cat(parts, 1),
            ours(x),
            "with a cache",
            "The cache is handed on to the attention; nothing else in the block looks back.",
            given=f"{given}, one token at a time with one cache",
            tolerance=1e-5,
        )


class GPT(nn.Module):
    """Embeddings, blocks, a last norm and an output of its own, as the lab hands it out."""

    def __init__(self, V: int, D: int, blocks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.embedding, self.before = nn.Embedding(V, D), nn.Embedding(V, D)
        self.blocks = nn.ModuleList(blocks)
        self.norm = Norm(D)
        self.output = nn.Linear(D, V, bias=False)
        for name, p in self.named_parameters():
            if name.endswith(("output.weight", "down.weight")):
                nn.init.zeros_(p)
            elif p.dim() == 2:
                small = 0.25 if name.startswith(("embedding", "before")) else 0.5 * D**-0.5
                nn.init.normal_(p, std=small)
        nn.init.constant_(self.norm.weight, 4.0)

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, caches: list[Any] | None = None
    ) -> Tensor:
        handed_on = self.before(tokens)  # (B, T, D)
        first = None if caches is None else caches[0].last
        first = torch.zeros_like(handed_on[:, :1]) if first is None else first
        if caches is not None:
            caches[0].last = handed_on[:, -1:]
        received = torch.cat([first, handed_on[:, :-1]], 1)
        if mask is not None:  # nothing is received from a token that may not be seen
            seen = mask[:, 0].diagonal(-1, 1, 2)  # (B, T - 1): whether t may see t - 1
            received = received * F.pad(seen, (1, 0), value=True)[..., None]
        x = self.embedding(tokens) + received
        for i, block in enumerate(self.blocks):
            x = block(x, mask, None if caches is None else caches[i])
        return self.output(self.norm(x))


def course_gpt(V: int, L: int, D: int, H: int, G: int) -> GPT:
    """A GPT of the course's own blocks."""
    return GPT(V, D, [_Block(D, H, G) for _ in range(L)])
