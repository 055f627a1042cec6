"""How good a model's predictions are: cross-entropy, perplexity, bits per character and per byte.

Nats and bits per *token* compare models with the same tokens only. Bits per character and per byte
divide the same total by the length of the raw text, so models with different tokens compare, as
long as each gives every text a probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.contracts import Predictor, scores_texts
from helpers.evaluating import evaluating


@dataclass(frozen=True)
class Score:
    """What a model paid for a text.

    Attributes:
        nats: minus the log-probability of the whole text, in nats.
        tokens: number of tokens that were predicted.
        characters, bytes: length of the raw text (bytes in UTF-8); 0 where no text was given.
    """

    nats: float
    tokens: int
    characters: int = 0
    bytes: int = 0

    @property
    def nats_per_token(self) -> float:
        """The cross-entropy that training minimises."""
        return self.nats / self.tokens

    @property
    def bits_per_token(self) -> float:
        """Cross-entropy in bits."""
        return self.nats_per_token / math.log(2)

    @property
    def perplexity(self) -> float:
        """exp of the cross-entropy in nats per token; infinite where a token had probability 0."""
        return math.exp(self.nats_per_token) if self.nats_per_token < 700 else math.inf

    @property
    def bits_per_character(self) -> float:
        """Bits per character of the raw text."""
        return self._per(self.characters)

    @property
    def bits_per_byte(self) -> float:
        """Bits per byte of the raw text in UTF-8."""
        return self._per(self.bytes)

    def _per(self, length: int) -> float:
        if not length:
            raise ValueError(
                "This score was made from tokens alone: give score() the raw text too."
            )
        return self.nats / math.log(2) / length


def log_probs(predictor: Predictor, tokens: Tensor) -> Tensor:
    """Log-probability (T,) in nats of each token, given all before it from the text's beginning.

    A model's own ``log_probs`` is used where it has one (an n-gram scores a text at once).
    """
    tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
    if not len(tokens):
        raise ValueError("There is no token to score: the text is empty.")
    if scores_texts(predictor):
        return predictor.log_probs(tokens)
    state, read, out = predictor.start(1), torch.tensor([predictor.bos]), []
    for token in tokens:
        log_p, state = predictor.step(read, state)
        out.append(log_p[0, token])
        read = token.view(1)
    return torch.stack(out)


def score(predictor: Predictor, tokens: Tensor, text: str | None = None) -> Score:
    """Score a text: its tokens (T,), and the raw text if bits per character or byte are wanted."""
    log_p = log_probs(predictor, tokens)
    return _score(-float(log_p.double().sum()), len(log_p), text)


def score_model(
    model: nn.Module, tokens: Tensor, length: int, text: str | None = None, batch_size: int = 64
) -> Score:
    """Score a text with a neural language model, in windows of ``length`` tokens.

    Every token but the first is predicted exactly once, from the tokens before it in its window.
    ``text`` is the raw text of all tokens but the first.
    """
    tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
    if len(tokens) < 2:
        raise ValueError("A text of at least two tokens is needed: the first is only read.")
    device = next(model.parameters()).device
    full = (len(tokens) - 1) // length * length
    whole = zip(tokens[:full].view(-1, length), tokens[1 : full + 1].view(-1, length), strict=True)
    pairs = list(whole)
    chunks = [pairs[i : i + batch_size] for i in range(0, len(pairs), batch_size)]
    if full < len(tokens) - 1:
        chunks.append([(tokens[full:-1], tokens[full + 1 :])])
    nats = 0.0
    with evaluating(model):
        for chunk in chunks:
            inputs, targets = (torch.stack(part).to(device) for part in zip(*chunk, strict=True))
            logits = model(inputs).flatten(0, 1).float()
            nats += float(F.cross_entropy(logits, targets.flatten(), reduction="sum"))
    return _score(nats, len(tokens) - 1, text)


def _score(nats: float, tokens: int, text: str | None) -> Score:
    if text is None:
        return Score(nats, tokens)
    return Score(nats, tokens, len(text), len(text.encode("utf-8")))
