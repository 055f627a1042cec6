"""ELECTRA: a small generator replaces hidden tokens, and a discriminator finds what was replaced.

Masked language modelling learns from the hidden 15 % of the tokens; the discriminator's question,
was this token replaced?, is asked at every position. Clark et al. (2020), "ELECTRA: pre-training
text encoders as discriminators rather than generators".
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.data.masking import IGNORED, masked_loss
from helpers.models.encoder import Encoder, MaskedLM
from helpers.models.stack import draw_weights


class ElectraOutput(NamedTuple):
    """What a forward pass of the pair gives.

    Attributes:
        logits: of the generator, (B, T, V).
        tokens: what the discriminator read, (B, T): the generator's samples at the chosen places.
        replaced: where they differ from the text, (B, T) bool. A sample that happens to be the
            right token counts as not replaced.
        scores: of the discriminator, (B, T), the logit of "replaced".
        counts: (B, T) bool, where there is text and no padding.
    """

    logits: Tensor
    tokens: Tensor
    replaced: Tensor
    scores: Tensor
    counts: Tensor


class Electra(nn.Module):
    """Generator and discriminator, trained together; only the discriminator is used afterwards.

    No gradient passes through the sampled tokens, so the generator is trained by masked language
    modelling alone. The two share the tokens' embeddings where their widths are equal.

    Args:
        generator: smaller than the discriminator; the paper recommends a quarter to a half.
        discriminator: the encoder that is wanted.

    Raises:
        ValueError: encoders of different vocabularies.
    """

    def __init__(self, generator: MaskedLM, discriminator: Encoder) -> None:
        super().__init__()
        small = generator.encoder
        if small.vocab_size != discriminator.vocab_size:
            raise ValueError(
                f"The generator knows {small.vocab_size} tokens and the discriminator "
                f"{discriminator.vocab_size}: make both with one vocabulary."
            )
        if small.d_model == discriminator.d_model:
            small.embedding.tokens.weight = discriminator.embedding.tokens.weight
        self.generator, self.discriminator = generator, discriminator
        D = discriminator.d_model
        self.transform, self.output = nn.Linear(D, D), nn.Linear(D, 1)
        draw_weights([self.transform], D**-0.5)
        draw_weights([self.output], 0.02)

    def forward(self, inputs: Tensor, targets: Tensor) -> ElectraOutput:
        """Inputs and targets (B, T) as ``mask_tokens`` makes them, all chosen tokens masked."""
        logits = self.generator(inputs)  # (B, T, V)
        chosen = targets != IGNORED
        with torch.no_grad():
            noise = -torch.empty_like(logits).exponential_().log()  # Gumbel: argmax is a sample
            sampled = (logits + noise).argmax(-1)
            tokens = torch.where(chosen, sampled, inputs)
            replaced = chosen & (sampled != targets)
        states = self.discriminator(tokens)  # (B, T, D)
        scores = self.output(F.gelu(self.transform(states)))[..., 0]
        pad = self.discriminator.pad
        counts = torch.ones_like(chosen) if pad is None else inputs != pad
        return ElectraOutput(logits, tokens, replaced, scores, counts)


def electra_loss(output: ElectraOutput, targets: Tensor, weight: float = 50.0) -> Tensor:
    """The generator's loss plus ``weight`` times the discriminator's, both means in nats.

    The weight of 50 is the paper's; the discriminator's loss is the smaller, being of two classes.
    A mean over nothing, where no token was chosen or all is padding, is zero.
    """
    scores, replaced = output.scores[output.counts], output.replaced[output.counts]
    if not len(scores):
        return masked_loss(output.logits, targets) + scores.sum()
    found = F.binary_cross_entropy_with_logits(scores, replaced.to(scores.dtype))
    return masked_loss(output.logits, targets) + weight * found
