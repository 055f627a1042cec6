"""An encoder-decoder that was given its source, as a predictor of the target."""

from __future__ import annotations

import torch
from torch import Tensor

from helpers.evaluating import evaluating
from helpers.models.seq2seq import Memory, Seq2Seq
from helpers.models.sequence_layout import State


class Seq2SeqPredictor:
    """Hands out P(y_t | y_1 ... y_{t-1}, source) step by step, with the source fixed.

    So what serves language models serves translation: ``sample``, ``greedy``, ``beam_search`` and
    ``next_log_probs``. The source is read anew at every ``start``; nothing of it is read twice
    after that. Dropout is off; the model is left in the mode that it was in.

    Args:
        model: an encoder-decoder; see ``helpers.models.seq2seq``.
        source: token ids (S,), or (B, S) for B sources of their own, padded at their ends.

    Raises:
        ValueError: a source of another shape.
    """

    def __init__(self, model: Seq2Seq, source: Tensor) -> None:
        source = torch.as_tensor(source)
        if source.dim() not in (1, 2) or source.numel() == 0:
            raise ValueError(
                f"The source has the shape {tuple(source.shape)}; expected token ids (S,) or "
                "(B, S), at least one."
            )
        self.model, self.source = model, source.view(-1, source.shape[-1])
        self.vocab_size, self.bos = model.vocab_size, model.bos

    def start(self, batch_size: int) -> tuple[Memory, State]:
        """Read the source: what the encoder hands over, and the decoder's state.

        One source serves any number of texts; B sources serve B texts.

        Raises:
            ValueError: B sources for another number of texts.
        """
        source = self.source.to(next(self.model.parameters()).device)
        if len(source) not in (1, batch_size):
            raise ValueError(
                f"This predictor has {len(source)} sources, one for each text, but was asked for "
                f"{batch_size} texts: give it one source, or decode as many texts as sources."
            )
        with evaluating(self.model):
            memory = self.model.encode(source.expand(batch_size, -1))
        return memory, memory.state

    def step(self, tokens: Tensor, state: tuple[Memory, State]) -> tuple[Tensor, tuple]:
        """Read tokens (B,): log-probabilities (B, V) in nats of the next, and the new state."""
        memory, s = state
        tokens = torch.as_tensor(tokens, dtype=torch.long)[:, None].to(memory.keys.device)
        with evaluating(self.model):
            logits, s = self.model.read(tokens, memory, s)
        return logits[:, 0].cpu().double().log_softmax(-1), (memory, s)
