"""Gemma 3, a language model of 2025 (Google), out of the course's own parts.

It differs from the course's modern ``GPT`` in seven things: most layers look back over a window of
512 tokens only, and every sixth over all, with another base of the rotary positions; heads share
keys and values; what a sub-layer adds to the residual stream is normalized once more; embeddings
are multiplied by sqrt(D); the feed-forward layer is gated; the output is tied to the embeddings;
heads are wider than D/H. Source: Gemma Team (2025), "Gemma 3 technical report", section 2.

Shape letters: B batch, T tokens, S keys, D d_model, H heads, G heads of keys and values, K d_head.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.attention import attend, causal_mask
from helpers.models.blocks import GatedFeedForward, RMSNorm
from helpers.models.gpt import GPTState
from helpers.models.kv_cache import KVCache, LayerCache
from helpers.models.positions import RotaryPositions


@dataclass(frozen=True)
class GemmaConfig:
    """The sizes of a Gemma 3; the defaults are those of the one with 270 million weights.

    Attributes:
        max_length: positions of a text in training.
        window: how many tokens a local layer looks at, the present one among them.
        global_every: each such layer looks at all tokens.
        local_base, global_base: of their rotary positions.
    """

    vocab_size: int = 262_144
    max_length: int = 32_768
    n_layers: int = 18
    n_heads: int = 4
    n_kv_heads: int = 1
    d_model: int = 640
    d_head: int = 256
    d_hidden: int = 2048
    window: int = 512
    global_every: int = 6
    local_base: float = 10_000.0
    global_base: float = 1_000_000.0

    positions = "rotary"  # as ``CachedPredictor`` asks of a ``GPTConfig``: texts know no end


class GemmaAttention(nn.Module):
    """Causal attention whose heads share keys and values, over a window or over all tokens.

    Args:
        window: how many tokens a query sees, its own among them; None means all up to its own.
        base: of the rotary positions.
    """

    def __init__(self, config: GemmaConfig, window: int | None, base: float) -> None:
        super().__init__()
        D, K = config.d_model, config.d_head
        self.d_head, self.groups = K, config.n_heads // config.n_kv_heads
        self.query = nn.Linear(D, config.n_heads * K, bias=False)
        self.key = nn.Linear(D, config.n_kv_heads * K, bias=False)
        self.value = nn.Linear(D, config.n_kv_heads * K, bias=False)
        self.output = nn.Linear(config.n_heads * K, D, bias=False)
        self.query_norm, self.key_norm = RMSNorm(K), RMSNorm(K)
        self.positions, self.window = RotaryPositions(K, base), window

    def forward(self, x: Tensor, cache: LayerCache | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D); the cache holds keys and values of the tokens before x."""
        before = 0 if cache is None else cache.length
        maps = self.query(x), self.key(x), self.value(x)
        q, k, v = (y.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for y in maps)
        q = self.positions.rotate(self.query_norm(q), start=before)  # (B, H, T, K)
        k = self.positions.rotate(self.key_norm(k), start=before)  # (B, G, T, K)
        if cache is not None:
            k, v = cache.append(k, v)  # (B, G, S, K)
        T, W = q.shape[2], self.window
        if W is not None:  # no query looks at what is further back
            k, v = k[:, :, -(W + T - 1) :], v[:, :, -(W + T - 1) :]
        mask = causal_mask(T, k.shape[2], x.device)
        if W is not None:
            mask = mask & ~causal_mask(T, k.shape[2], x.device).tril(k.shape[2] - T - W)
        # The heads that share keys and values stand as further queries: no copies of keys.
        q = q.unflatten(1, (-1, self.groups)).flatten(2, 3)  # (B, G, H/G T, K)
        heads = attend(q, k, v, mask.repeat(self.groups, 1))
        heads = heads.unflatten(2, (self.groups, T)).flatten(1, 2)  # (B, H, T, K)
        return self.output(heads.transpose(1, 2).flatten(2))


class GemmaBlock(nn.Module):
    """A block with a norm before *and after* each sub-layer:

    x <- x + norm(attention(norm(x))),   x <- x + norm(feed_forward(norm(x)))
    """

    def __init__(self, config: GemmaConfig, window: int | None, base: float) -> None:
        super().__init__()
        D, gelu = config.d_model, partial(F.gelu, approximate="tanh")
        self.attention = GemmaAttention(config, window, base)
        self.feed_forward = GatedFeedForward(D, config.d_hidden, gelu)
        self.attention_norm, self.after_attention = RMSNorm(D), RMSNorm(D)
        self.feed_forward_norm, self.after_feed_forward = RMSNorm(D), RMSNorm(D)

    def forward(self, x: Tensor, cache: LayerCache | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        x = x + self.after_attention(self.attention(self.attention_norm(x), cache))
        return x + self.after_feed_forward(self.feed_forward(self.feed_forward_norm(x)))


class Gemma(nn.Module):
    """tokens (B, T) -> logits (B, T, V) of the tokens that follow.

    Every text begins with ``<bos>``. It has the state of a ``GPT`` (``start``, ``read``), so that
    ``CachedPredictor`` and the sampler write with it.
    """

    def __init__(self, config: GemmaConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or GemmaConfig()
        V, D = config.vocab_size, config.d_model
        self.vocab_size = V
        self.embedding, self.norm = nn.Embedding(V, D), RMSNorm(D)
        self.output = nn.Linear(D, V, bias=False)
        self.output.weight = self.embedding.weight  # tied
        local, all_tokens = (config.window, config.local_base), (None, config.global_base)
        kinds = [
            all_tokens if i % config.global_every == 0 else local
            for i in range(1, config.n_layers + 1)
        ]
        self.blocks = nn.ModuleList(GemmaBlock(config, *kind) for kind in kinds)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V)."""
        x = self._embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))

    def start(self, batch_size: int) -> GPTState:
        """The state before anything is read."""
        tokens = torch.empty(batch_size, 0, dtype=torch.long, device=self.norm.weight.device)
        return GPTState(tokens, KVCache(self.config.n_layers, batch_size))

    @torch.no_grad()
    def read(
        self, tokens: Tensor, state: GPTState | None = None, *, last: bool = False
    ) -> tuple[Tensor, GPTState]:
        """Read on from a state: logits (B, T, V) for tokens (B, T), and the state after them.

        With ``last`` only those behind the last token, (B, 1, V), which saves the output's matrix,
        the largest of all, most of its work.
        """
        state = self.start(len(tokens)) if state is None else state
        x = self._embed(tokens)
        cache, layers = state.cache.extend(tokens.shape[1])
        for block, layer in zip(self.blocks, layers, strict=True):
            x = block(x, layer)
        x = x[:, -1:] if last else x
        return self.output(self.norm(x)), GPTState(torch.cat([state.tokens, tokens], 1), cache)

    def _embed(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens) * self.config.d_model**0.5
