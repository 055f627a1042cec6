"""Neural language models as predictors, with a window or with a state: one sampler for all."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from helpers.evaluating import evaluating
from helpers.models.recurrent_models import RecurrentLM
from helpers.models.sequence_layout import State


class NeuralPredictor:
    """Hands out a neural language model's next-token distributions step by step.

    Its state is the last ``window`` tokens read, ``bos`` included. A forward pass over them gives
    what a pass over the whole text gives, as long as the model looks at no more than that.
    Dropout is off; the model is left in the mode that it was in.

    Args:
        model: tokens (B, T) -> logits (B, T, V), with an attribute ``vocab_size``.
        bos: the token that stands before every text. Take one that stands before texts in training
            too: for ``WordTokenizer``, ``</s>``, which closes the line before.
        window: W, how many tokens the model looks at.
    """

    def __init__(self, model: nn.Module, bos: int, window: int) -> None:
        self.model, self.bos, self.window = model, bos, window
        self.vocab_size: int = model.vocab_size

    def start(self, batch_size: int) -> Tensor:
        """The state before anything is read: no tokens, (B, 0)."""
        return torch.empty(batch_size, 0, dtype=torch.long)

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Read tokens (B,): log-probabilities (B, V) in nats of the next, and the new state."""
        tokens = torch.as_tensor(tokens, dtype=torch.long)
        state = torch.cat([state, tokens[:, None]], 1)[:, -self.window :]
        return self._log_softmax(state)[:, -1], state

    def log_probs(self, tokens: Tensor, length: int = 512) -> Tensor:
        """Log-probability (T,) in nats of each token of a text, given all before it.

        Works in stretches of ``length`` tokens, each with the W-1 tokens before it, so the result
        does not depend on ``length``.
        """
        tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
        read = torch.cat([torch.tensor([self.bos]), tokens[:-1]])
        out = []
        for begin in range(0, len(tokens), length):
            first, targets = max(0, begin - self.window + 1), tokens[begin : begin + length]
            log_p = self._log_softmax(read[None, first : begin + length])[0, begin - first :]
            out.append(log_p.gather(1, targets[:, None])[:, 0])
        return torch.cat(out)

    def _log_softmax(self, tokens: Tensor) -> Tensor:
        device = next(self.model.parameters()).device
        with evaluating(self.model):
            logits = self.model(tokens.to(device))
        return logits.cpu().double().log_softmax(-1)


class RecurrentPredictor:
    """Hands out a recurrent language model's next-token distributions step by step.

    Its state is the network's own, so nothing is read twice, however long the text is. Dropout is
    off; the model is left in the mode that it was in.

    Args:
        model: a recurrent language model with ``read`` and ``start``; see
            ``helpers.models.recurrent_models.RecurrentLM``.
        bos: the token that stands before every text; see ``NeuralPredictor``.
    """

    def __init__(self, model: RecurrentLM, bos: int) -> None:
        if not 0 <= bos <= model.vocab_size:
            raise ValueError(
                f"bos is {bos}; the model can read 0 to {model.vocab_size}, the last of which "
                "stands for the beginning of a text."
            )
        self.model, self.bos = model, bos
        self.vocab_size: int = model.vocab_size

    def start(self, batch_size: int) -> tuple[State, ...]:
        """The state before anything is read, on the model's device."""
        return self.model.start(batch_size)

    def step(self, tokens: Tensor, state: tuple[State, ...]) -> tuple[Tensor, tuple[State, ...]]:
        """Read tokens (B,): log-probabilities (B, V) in nats of the next, and the new state."""
        tokens = torch.as_tensor(tokens, dtype=torch.long)
        log_p, state = self._read(tokens[:, None], state)
        return log_p[:, 0], state

    def log_probs(self, tokens: Tensor, length: int = 512) -> Tensor:
        """Log-probability (T,) in nats of each token of a text, given all before it.

        Works in stretches of ``length`` tokens and hands the state from one to the next, so the
        result does not depend on ``length``.
        """
        tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
        read = torch.cat([torch.tensor([self.bos]), tokens[:-1]])
        state, out = self.start(1), []
        for part, targets in zip(read.split(length), tokens.split(length), strict=True):
            log_p, state = self._read(part[None], state)
            out.append(log_p[0].gather(1, targets[:, None])[:, 0])
        return torch.cat(out)

    def _read(self, tokens: Tensor, state: tuple[State, ...]) -> tuple[Tensor, tuple[State, ...]]:
        device = next(self.model.parameters()).device
        with evaluating(self.model):
            logits, state = self.model.read(tokens.to(device), state)
        return logits.cpu().double().log_softmax(-1), state
