"""GPT: a causal transformer language model, in the lecture's GPT-2 shape and in a modern one.

Both are put together from the same blocks and differ in their settings, so that every part can be
exchanged by itself and its worth measured. Shape letters: B batch, T tokens, H heads, G heads of
keys and values, D d_model, K d_head, V vocabulary, L layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, GatedFeedForward, PreNormBlock, RMSNorm
from helpers.models.kv_cache import KVCache
from helpers.models.positions import LearnedPositions, RotaryPositions
from helpers.models.stack import InputEmbedding, TransformerStack, into_the_stream


def squared_relu(x: Tensor) -> Tensor:
    """max(0, x)^2, of any shape. So et al. (2021), "Primer", section 3."""
    return F.relu(x).square()


_ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "relu2": squared_relu,
    "swiglu": F.silu,
}
_CHOICES = {
    "norm": ("layer", "rms"),
    "positions": ("learned", "rotary"),
    "activation": tuple(_ACTIVATIONS),
}


@dataclass(frozen=True)
class GPTConfig:
    """Everything that a ``GPT`` is made from; ``dataclasses.asdict`` gives what JSON can keep.

    The defaults are GPT-2's architecture at a size that a laptop trains.

    Attributes:
        vocab_size: V; all ids 0 .. V-1 can be read and predicted.
        max_length: how many positions are learned. With rotary positions, which know no end, the
            length that training used.
        n_layers: L.
        n_heads: H, which divides D.
        d_model: D.
        n_kv_heads: G, which divides H; None means H. Fewer make the cache smaller.
        d_hidden: width of the feed-forward layers; None means 4 D, for SwiGLU 8 D / 3.
        norm: "layer" (LayerNorm) or "rms" (RMSNorm).
        positions: "learned" or "rotary".
        activation: "gelu", "gelu_tanh" (the approximation by tanh that OpenAI's code uses),
            "relu2" (squared ReLU) or "swiglu" (a gated layer).
        bias: whether linear maps and LayerNorms add a vector.
        qk_norm: whether queries and keys are normalized, head by head.
        tied: whether the embeddings are the output's matrix too.
        zero_start: whether what writes into the residual stream begins at zero.
        dropout: share set to zero in training, of embeddings, attention weights and sub-layers'
            outputs.

    Raises:
        ValueError: another norm, other positions or another activation.
    """

    vocab_size: int
    max_length: int = 256
    n_layers: int = 4
    n_heads: int = 4
    d_model: int = 128
    n_kv_heads: int | None = None
    d_hidden: int | None = None
    norm: str = "layer"
    positions: str = "learned"
    activation: str = "gelu_tanh"
    bias: bool = True
    qk_norm: bool = False
    tied: bool = True
    zero_start: bool = False
    dropout: float = 0.0

    @classmethod
    def gpt2(cls, vocab_size: int, **settings) -> GPTConfig:
        """The lecture's shape, that of GPT-2: LayerNorm, GELU, learned positions, biases.

        ``settings`` say the sizes, or change a part. Radford et al. (2019), section 2.3.
        """
        return cls(vocab_size, **settings)

    @classmethod
    def modern(cls, vocab_size: int, **settings) -> GPTConfig:
        """RMSNorm, rotary positions, QK-norm, squared ReLU, no biases, an output of its own.

        What writes into the residual stream begins at zero, and so does the output.

        ``settings`` say the sizes, or change a part, as in ``activation="swiglu"``.
        """
        parts = {
            "norm": "rms",
            "positions": "rotary",
            "activation": "relu2",
            "bias": False,
            "qk_norm": True,
            "tied": False,
            "zero_start": True,
        }
        return cls(vocab_size, **{**parts, **settings})

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}; expected one of {', '.join(known)}."
                )


@dataclass(frozen=True, eq=False)
class GPTState:
    """What a GPT has read so far, for B texts of one length. It stays valid when a read goes on.

    Attributes:
        tokens: all that was read, (B, length).
    """

    tokens: Tensor
    cache: KVCache

    @property
    def length(self) -> int:
        """How many tokens of each text have been read."""
        return self.cache.length

    def rows(self, index: Sequence[int] | Tensor) -> GPTState:
        """The state of some texts; see ``KVCache.rows``."""
        index = torch.as_tensor(index, device=self.tokens.device)
        return GPTState(self.tokens[index], self.cache.rows(index))

    def cut(self, length: int) -> GPTState:
        """The state after the first ``length`` tokens; see ``KVCache.cut``."""
        return GPTState(self.tokens[:, :length], self.cache.cut(length))


class GPT(TransformerStack):
    """Token embeddings, L pre-norm blocks, a final norm, and the output.

    x_t = E[token_t] + P_t,   x <- block_L(... block_1(x)),   logits = E norm(x)

    with P = 0 for rotary positions, which act inside the attention, and with a matrix of its own as
    the output if the model is not tied.

    A neural language model in the course's sense: tokens (B, T) -> logits (B, T, V). Nothing stands
    for "before the text": every text begins with a token that all of them begin with, such as a
    newline.

    Weights begin as in ``Transformer``: normally distributed with deviation 0.02 sqrt(768 / D),
    those that write into the residual stream divided by sqrt(2 L) (Radford et al. 2019, section
    2.3). With ``zero_start`` the latter begin at zero, so that every block begins as the identity,
    and embeddings with deviation 1, or 1 / D if they are tied. An output of its own begins at zero.
    The first loss is near log V, that of guessing, in all cases.

    Raises:
        ValueError: heads that do not divide d_model, or an odd width of heads with rotary
            positions.
    """

    def __init__(self, config: GPTConfig) -> None:
        D, L = config.d_model, config.n_layers
        learned = config.positions == "learned"
        embedding = InputEmbedding(
            config.vocab_size,
            D,
            positions=LearnedPositions(config.max_length, D) if learned else None,
            dropout=config.dropout,
        )
        blocks = [block_of(config) for _ in range(L)]
        output = None if config.tied else nn.Linear(D, config.vocab_size, bias=False)
        super().__init__(embedding, blocks, norm_of(config)(D), output)
        self.config = config
        # Blocks that begin as the identity hand x through. To an output that is tied, where a token
        # meets its own embedding with a logit of D times the deviation: 1 / D keeps it at 1.
        identity = 1 / D if config.tied else 1.0
        self._draw(self.modules(), identity if config.zero_start else None)
        with torch.no_grad():
            for matrix in into_the_stream(blocks):
                matrix.mul_(0 if config.zero_start else (2 * L) ** -0.5)
            if output is not None:
                output.weight.zero_()

    def start(self, batch_size: int) -> GPTState:
        """The state before anything is read, for ``batch_size`` texts, on the model's device."""
        device = self.embedding.weight.device
        tokens = torch.empty(batch_size, 0, dtype=torch.long, device=device)
        return GPTState(tokens, KVCache(self.config.n_layers, batch_size))

    @torch.no_grad()
    def read(self, tokens: Tensor, state: GPTState | None = None) -> tuple[Tensor, GPTState]:
        """Read on from a state: logits (B, T, V) for tokens (B, T), and the state after them.

        The logits are those of ``forward`` for the whole text, at a cost that grows with T times
        its length. No gradients flow. The state that was given stays valid; None is ``start``.

        Raises:
            ValueError: ids out of range, a text longer than learned positions, or a state of
                another model.
        """
        state = self.start(len(tokens)) if state is None else state
        x = self.embedding(tokens, state.tokens)  # (B, T, D)
        cache, layers = state.cache.extend(tokens.shape[1])
        for block, layer in zip(self.blocks, layers, strict=True):
            x = block(x, causal=True, cache=layer)
        return self._logits(x), GPTState(torch.cat([state.tokens, tokens], 1), cache)


def norm_of(config: GPTConfig) -> type[RMSNorm] | partial[nn.LayerNorm]:
    return RMSNorm if config.norm == "rms" else partial(nn.LayerNorm, bias=config.bias)


def block_of(config: GPTConfig) -> PreNormBlock:
    rotary = config.positions == "rotary"
    attention = MultiHeadAttention(
        config.d_model,
        config.n_heads,
        n_kv_heads=config.n_kv_heads,
        bias=config.bias,
        dropout=config.dropout,
        positions=RotaryPositions(config.d_model // config.n_heads) if rotary else None,
        qk_norm=norm_of(config) if config.qk_norm else None,
    )
    kind = GatedFeedForward if config.activation == "swiglu" else FeedForward
    feed_forward = kind(
        config.d_model, config.d_hidden, _ACTIVATIONS[config.activation], bias=config.bias
    )
    return PreNormBlock(config.d_model, attention, feed_forward, norm_of(config), config.dropout)
