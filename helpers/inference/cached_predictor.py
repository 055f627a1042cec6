"""A GPT as a predictor that keeps the keys and values of what it has read."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.evaluating import evaluating
from helpers.models.gpt import GPT, GPTState

LOGITS_AT_ONCE = 2**24  # 128 MiB in float64
WINDOWS_AT_ONCE = 32


class CachedState(NamedTuple):
    """What a ``CachedPredictor`` knows of B texts.

    Attributes:
        memory: the model's own state: the tokens that it looks at, (B, n) with n at most W, and
            their keys and values.
        least: the n of the first state of this window: an earlier one looked at other tokens.
    """

    memory: GPTState
    least: int = 0

    @property
    def tokens(self) -> Tensor:
        """The tokens that the next distribution looks at, (B, n), on the model's device."""
        return self.memory.tokens

    def back(self, n: int) -> CachedState | None:
        """The state n tokens earlier, or None if the window began later; nothing is computed."""
        left = self.memory.length - n
        if not self.least <= left <= self.memory.length:
            return None
        return CachedState(self.memory.cut(left), self.least)


class CachedPredictor:
    """Hands out a GPT's next-token distributions without reading the whole text at every step.

    The state holds the keys and values of at most W tokens, so a step costs one token's pass
    through the model. When it holds W, the newest W // 2 are read again in one pass, together with
    the next token, and what was older is forgotten: the positions of those that stay have changed,
    and with them their keys and values. So no token is read more than twice, and in a text longer
    than the window each distribution looks at the last W // 2 + 1 to W tokens.

    Each distribution is that of a fresh forward pass over ``state.tokens``, up to rounding. Dropout
    is off; the model is left in the mode that it was in.

    Args:
        bos: the token that stands before every text, an ordinary one that stands there in training
            too: a newline for characters, ``<|endoftext|>`` for GPT-2.
        window: W; None is the model's ``config.max_length``.

    Raises:
        ValueError: a window that is longer than the model's learned positions.
    """

    def __init__(self, model: GPT, bos: int, window: int | None = None) -> None:
        longest = model.config.max_length
        self.model, self.bos, self.window = model, bos, longest if window is None else window
        self.vocab_size: int = model.vocab_size
        if model.config.positions == "learned" and self.window > longest:
            raise ValueError(
                f"The window is {window}, but this model has learned positions for {longest} "
                "tokens and knows no later ones: take a window of that or less."
            )

    def start(self, batch_size: int) -> CachedState:
        """The state before anything is read."""
        return CachedState(self.model.start(batch_size))

    def step(self, tokens: Tensor, state: CachedState) -> tuple[Tensor, CachedState]:
        """Read tokens (B,): log-probabilities (B, V) in nats of the next, and the new state."""
        tokens = torch.as_tensor(tokens, dtype=torch.long)
        log_p, state = self.read(tokens[:, None], state)
        return log_p[:, 0], state

    def read(self, tokens: Tensor, state: CachedState) -> tuple[Tensor, CachedState]:
        """Read tokens (B, T) at once: log-probabilities (B, T, V) in nats, and the new state.

        The same as T steps, in as few passes as the window allows.
        """
        tokens = torch.as_tensor(tokens, dtype=torch.long)
        out, W = [], self.window
        tokens = tokens.to(state.tokens.device)
        while tokens.shape[1]:
            held, least = state
            again = held.tokens[:, :0]
            if held.length == W:
                again = held.tokens[:, W - W // 2 :]
                held, least = self.model.start(len(tokens)), again.shape[1] + 1
            room = W - held.length - again.shape[1]
            new, tokens = tokens[:, :room], tokens[:, room:]
            with evaluating(self.model), torch.inference_mode():
                logits, held = self._read(torch.cat([again, new], 1), held)
            out.append(_log_softmax(logits[:, again.shape[1] :]))
            state = CachedState(held, least)
        return out[0] if len(out) == 1 else torch.cat(out, 1), state  # (B, T, V)

    def _read(self, tokens: Tensor, state: GPTState) -> tuple[Tensor, GPTState]:
        return self.model.read(tokens, state)

    def log_probs(self, tokens: Tensor) -> Tensor:
        """Log-probability (T,) in nats of each token of a text, exactly as ``step`` predicts it.

        A long text is cut into the windows that the steps would see, W - W // 2 tokens apart, and
        many of them are read at once, without a cache.

        Raises:
            ValueError: an empty text.
        """
        tokens, W = torch.as_tensor(tokens, dtype=torch.long).flatten(), self.window
        if not len(tokens):
            raise ValueError("There is no token to score: the text is empty.")
        read = torch.cat([torch.tensor([self.bos]), tokens[:-1]])
        out = [self._score(read[None, :W], tokens[None, :W])]
        if len(tokens) > W:
            stride = W - W // 2
            filled = (0, -(len(tokens) - W) % stride)  # looked at by no token before it
            windows = F.pad(read[stride:], filled).unfold(0, W, stride)  # (N, W)
            targets = F.pad(tokens[W:], filled).view(-1, stride)  # (N, stride)
            rows = max(1, min(WINDOWS_AT_ONCE, LOGITS_AT_ONCE // (W * self.vocab_size)))
            parts = zip(windows.split(rows), targets.split(rows), strict=True)
            out += [self._score(*part) for part in parts]
        return torch.cat([part.flatten() for part in out])[: len(tokens)]

    def _score(self, windows: Tensor, targets: Tensor) -> Tensor:
        """Log-probabilities (N, n) of targets that follow the last n tokens of each window."""
        device = next(self.model.parameters()).device
        with evaluating(self.model), torch.inference_mode():
            logits = self.model(windows.to(device))[:, -targets.shape[1] :]
        return _log_softmax(logits).gather(2, targets[:, :, None])[:, :, 0]


def _log_softmax(logits: Tensor) -> Tensor:
    """Log-probabilities in nats, on the CPU, of logits that were computed in inference mode.

    That mode is a few percent faster than ``no_grad``, but its tensors cannot take part in
    gradients later on; what is made of them here, outside of it, can.
    """
    return logits.cpu().double().log_softmax(-1)
