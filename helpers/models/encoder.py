"""Encoders: transformers in which every position looks at all others, and the heads they carry.

An encoder makes a vector, the *state*, of every token, from the tokens on both of its sides. What
is wanted is read off the states by a small head: the tokens that were hidden (``MaskedLM``), a
class of the whole text (``SequenceClassifier``), a tag of each token (``TokenTagger``), or where an
answer begins and ends (``SpanReader``). Pre-training and fine-tuning exchange the head and keep the
encoder. Devlin et al. (2019), "BERT: pre-training of deep bidirectional transformers".

Shape letters: B batch, T tokens, D d_model, V vocabulary, L layers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PostNormBlock, PreNormBlock
from helpers.models.gpt import GPTConfig, block_of, norm_of
from helpers.models.positions import LearnedPositions
from helpers.models.stack import InputEmbedding, draw_weights, into_the_stream


class EncoderEmbedding(nn.Module):
    """What an encoder's first block reads: x_t = norm(E[token_t] + P_t + S[segment_t]).

    A segment says which of two texts a token belongs to, the first (0) or the second (1): a premise
    and a hypothesis, a question and the story that answers it.

    Args:
        vocab_size: V.
        d_model: D.
        positions: adds P_t, such as ``LearnedPositions(512, d_model)``; None for zero.
        segments: how many there are; 0 for none.
        norm: of the sum, of width D; None for none.
        dropout: share of x set to zero in training.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        positions: nn.Module | None = None,
        segments: int = 0,
        norm: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.tokens = InputEmbedding(vocab_size, d_model, positions=positions)
        self.segments = nn.Embedding(segments, d_model) if segments else None
        self.norm, self.dropout = norm or nn.Identity(), nn.Dropout(dropout)
        self.vocab_size, self.d_model = vocab_size, d_model

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """x (B, T, D) of tokens and segments, (B, T) each; without segments all are of the first.

        Raises:
            ValueError: ids out of range, or more tokens than ``positions`` knows.
        """
        x = self.tokens(tokens)  # (B, T, D)
        if segments is not None:
            x = x + self.segments(segments)
        elif self.segments is not None:
            x = x + self.segments.weight[0]
        return self.dropout(self.norm(x))


class Encoder(nn.Module):
    """An embedding, L blocks that look both ways, and a final norm: tokens -> states (B, T, D).

    Args:
        embedding: what makes x of the tokens; it knows V and D.
        blocks: L of them, ``PreNormBlock`` or ``PostNormBlock``.
        norm: of width D; None after blocks that end in a norm.
        pad: the id that fills rows up behind their end. Nobody looks at such positions, so padding
            changes no other state. None where all rows are full.

    Attributes:
        config: the settings that ``modern`` was given; None for others.
    """

    def __init__(
        self,
        embedding: EncoderEmbedding,
        blocks: Iterable[PreNormBlock],
        norm: nn.Module | None = None,
        pad: int | None = None,
    ) -> None:
        super().__init__()
        self.embedding, self.blocks = embedding, nn.ModuleList(blocks)
        self.norm, self.pad = norm or nn.Identity(), pad
        self.vocab_size, self.d_model = embedding.vocab_size, embedding.d_model
        self.config: GPTConfig | None = None

    @classmethod
    def modern(cls, config: GPTConfig, pad: int | None = None, segments: int = 0) -> Encoder:
        """An encoder of the parts of a ``GPT``: the same blocks, only that nobody hides the future.

        Weights begin as the GPT's do; tokens and segments have embeddings of deviation 1.
        ``max_length`` bounds learned positions only; ``tied`` says nothing here.
        """
        D, learned = config.d_model, config.positions == "learned"
        positions = LearnedPositions(config.max_length, D) if learned else None
        embedding = EncoderEmbedding(
            config.vocab_size, D, positions=positions, segments=segments, dropout=config.dropout
        )
        blocks = [block_of(config) for _ in range(config.n_layers)]
        made = cls(embedding, blocks, norm_of(config)(D), pad)
        draw_weights(
            made.modules(),
            0.02 * math.sqrt(768 / D),
            of_embeddings=1.0 if config.zero_start else None,
        )
        with torch.no_grad():
            for matrix in into_the_stream(blocks):
                matrix.mul_(0 if config.zero_start else (2 * config.n_layers) ** -0.5)
        made.config = config
        return made

    @classmethod
    def bert(
        cls,
        vocab_size: int,
        d_model: int = 768,
        n_heads: int = 12,
        n_layers: int = 12,
        *,
        max_length: int = 512,
        segments: int = 2,
        d_hidden: int | None = None,
        dropout: float = 0.1,
        pad: int | None = 0,
    ) -> Encoder:
        """BERT's shape, by default that of BERT-base: post-norm, GELU, learned positions, biases.

        Devlin et al. (2019), section 3. The weights' deviation of 0.02 at the beginning and
        LayerNorm's eps are those of the settings that were published with the models.
        """
        norm = partial(nn.LayerNorm, eps=1e-12)
        embedding = EncoderEmbedding(
            vocab_size,
            d_model,
            positions=LearnedPositions(max_length, d_model),
            segments=segments,
            norm=norm(d_model),
            dropout=dropout,
        )

        def make() -> PostNormBlock:
            attention = MultiHeadAttention(d_model, n_heads, bias=True, dropout=dropout)
            return PostNormBlock(d_model, attention, FeedForward(d_model, d_hidden), norm, dropout)

        made = cls(embedding, [make() for _ in range(n_layers)], pad=pad)
        draw_weights(made.modules(), 0.02)
        return made

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """States (B, T, D) of tokens (B, T), of padding too; see ``EncoderEmbedding``."""
        x, mask = self.embedding(tokens, segments), self.mask(tokens)
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.norm(x)

    def weights(self, tokens: Tensor, segments: Tensor | None = None) -> list[Tensor]:
        """The attention weights of every layer, (B, H, T, T) each, without dropout in eval mode."""
        x, mask, found = self.embedding(tokens, segments), self.mask(tokens), []
        for block in self.blocks:
            found.append(block.weights(x, mask=mask))
            x = block(x, mask=mask)
        return found

    def mask(self, tokens: Tensor) -> Tensor | None:
        """True where a token is no padding, (B, 1, 1, T): what all positions may look at."""
        return None if self.pad is None else (tokens != self.pad)[:, None, None]


class MaskedLM(nn.Module):
    """An encoder that says what stood at each position: logits (B, T, V).

    The states go through D x D weights, GELU and LayerNorm, and then meet the tokens' embeddings:
    logits = E norm(gelu(W h + b)) + c. Devlin et al. (2019); the head is that of their code.
    """

    def __init__(self, encoder: Encoder, eps: float = 1e-12) -> None:
        super().__init__()
        D = encoder.d_model
        self.encoder, self.transform, self.norm = encoder, nn.Linear(D, D), nn.LayerNorm(D, eps)
        self.bias = nn.Parameter(torch.zeros(encoder.vocab_size))
        draw_weights([self.transform], D**-0.5)
        # Embeddings of deviation 1 would begin with logits as large as the root of D.
        table = encoder.embedding.tokens.weight.detach()
        if not table.is_meta:
            size = float(table.square().mean().sqrt()) * math.sqrt(D)
            nn.init.constant_(self.norm.weight, min(1.0, 1 / size))

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Logits (B, T, V) for the token that stood at each position, hidden or not."""
        h = self.norm(F.gelu(self.transform(self.encoder(tokens, segments))))  # (B, T, D)
        return F.linear(h, self.encoder.embedding.tokens.weight, self.bias)


class SequenceClassifier(nn.Module):
    """A class of the whole text: logits (B, C), read off one state.

    As BERT does, off the state of the first token, [CLS], with a tanh layer (its *pooler*) before
    the output; or off the mean of the states. Where pre-training asked nothing of [CLS], its state
    holds little, and the mean is the better start. Of a pair the mean is that of its second text: a
    statement of ten words would drown in the mean of the story beside it.

    Args:
        n_classes: C.
        dropout: share of the state set to zero in training.
        mean: read the mean over the tokens of the last segment that are no padding, instead of the
            first token.
    """

    def __init__(
        self, encoder: Encoder, n_classes: int, dropout: float = 0.0, mean: bool = False
    ) -> None:
        super().__init__()
        D = encoder.d_model
        self.encoder, self.dropout, self.mean = encoder, nn.Dropout(dropout), mean
        self.pooler, self.output = nn.Linear(D, D), nn.Linear(D, n_classes)
        draw_weights([self.pooler], D**-0.5)
        draw_weights([self.output], 0.02)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Logits (B, C) of the texts' classes."""
        h = self.encoder(tokens, segments)  # (B, T, D)
        if self.mean:
            keep = torch.ones_like(tokens, dtype=torch.bool)
            if self.encoder.pad is not None:
                keep = tokens != self.encoder.pad
            if segments is not None:
                keep = keep & (segments == segments.amax(1, keepdim=True))
            share = keep.to(h.dtype) / keep.sum(1, keepdim=True)
            state = torch.einsum("btd,bt->bd", h, share)
        else:
            state = h[:, 0]
        return self.output(self.dropout(self.pooler(state).tanh()))


class TokenTagger(nn.Module):
    """A tag of every token, such as B, I or O: logits (B, T, C).

    Arguments as for ``SequenceClassifier``.
    """

    def __init__(self, encoder: Encoder, n_tags: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.dropout = encoder, nn.Dropout(dropout)
        self.output = nn.Linear(encoder.d_model, n_tags)
        draw_weights([self.output], 0.02)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Logits (B, T, C) of the tokens' tags."""
        return self.output(self.dropout(self.encoder(tokens, segments)))


class SpanReader(nn.Module):
    """Where an answer begins and where it ends: logits (B, 2, T) from two vectors, S and E.

    The score of the span from i to j is S h_i + E h_j; see ``helpers.inference.spans``. Devlin et
    al. (2019), section 4.2.
    """

    def __init__(self, encoder: Encoder, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder, self.dropout = encoder, nn.Dropout(dropout)
        self.output = nn.Linear(encoder.d_model, 2)
        draw_weights([self.output], 0.02)

    def forward(self, tokens: Tensor, segments: Tensor | None = None) -> Tensor:
        """Logits (B, 2, T): row 0 for the first token of the answer, row 1 for its last."""
        return self.output(self.dropout(self.encoder(tokens, segments))).transpose(1, 2)
