"""Drawing text from any predictor, and searching for its likeliest text.

``sample`` draws at random. ``greedy`` and ``beam_search`` look for one good text that ends with a
stop token: a translation, an answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.contracts import Predictor


def sample(
    predictor: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Sequence[int] | Tensor = (),
    temperature: float = 1.0,
    batch_size: int = 1,
) -> Tensor:
    """Draw texts token by token, each from the distribution given all before it.

    Args:
        predictor: an n-gram, a known source, a neural model's predictor.
        length: tokens to draw after the prompt.
        generator: where the randomness comes from; the same seed gives the same text.
        prompt: (P,) tokens that every text begins with.
        temperature: p is made proportional to p ** (1 / temperature); 0 takes the likeliest token
            (ties go to the lower id).
        batch_size: B, the number of texts.

    Returns:
        (B, P + length) tokens.

    Raises:
        ValueError: a negative length or temperature, or a prompt outside the vocabulary.
    """
    if length < 0 or temperature < 0:
        raise ValueError(f"length ({length}) and temperature ({temperature}) cannot be negative.")
    prompt = torch.as_tensor(prompt, dtype=torch.long).flatten()
    if len(prompt) and not 0 <= int(prompt.min()) <= int(prompt.max()) < predictor.vocab_size:
        raise ValueError(f"The prompt holds ids outside 0 .. {predictor.vocab_size - 1}.")
    out = torch.empty(batch_size, len(prompt) + length, dtype=torch.long)
    out[:, : len(prompt)] = prompt
    state, read = predictor.start(batch_size), torch.full((batch_size,), predictor.bos)
    for t in range(len(prompt) + length):
        log_p, state = predictor.step(read, state)  # (B, V)
        if t >= len(prompt):
            if temperature == 0:
                out[:, t] = log_p.argmax(-1)
            else:
                p = torch.softmax(log_p / temperature, -1)
                out[:, t] = torch.multinomial(p, 1, generator=generator)[:, 0]
        read = out[:, t]
    return out


def greedy(predictor: Predictor, stop: int, max_length: int, batch_size: int = 1) -> list[Tensor]:
    """Take the likeliest token at every step, until ``stop``: fast, and often good enough.

    A choice is never taken back, so the text need not be the likeliest one: a good first token may
    lead to poor ones. ``beam_search`` looks further, at ``width`` times the cost.

    Args:
        predictor: of a language model, or of a translator that was given its source.
        stop: the token that ends a text.
        max_length: steps after which a text is cut, even if it has not stopped.
        batch_size: B, the number of texts; they differ where the predictor's sources do.

    Returns:
        B tensors of token ids, each without ``stop``. Ties go to the lower id.

    Raises:
        ValueError: ``stop`` outside the vocabulary, or no step or no text to make.
    """
    _check_search(predictor, stop, max_length)
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; expected one text or more.")
    state, read = predictor.start(batch_size), torch.full((batch_size,), predictor.bos)
    columns, running = [], torch.ones(batch_size, dtype=torch.bool)
    while len(columns) < max_length and running.any():
        log_p, state = predictor.step(read, state)  # (B, V)
        read = log_p.argmax(-1).masked_fill(~running, stop)
        columns.append(read)
        running = running & (read != stop)
    rows = torch.stack(columns, 1)
    lengths = (rows != stop).sum(1).tolist()
    return [row[:length] for row, length in zip(rows, lengths, strict=True)]


def beam_search(
    predictor: Predictor, width: int, stop: int, max_length: int, length_penalty: float = 0.0
) -> list[tuple[Tensor, float]]:
    """Search for the likeliest text: at every step, the ``width`` best beginnings go on.

    Width 1 is ``greedy``; a beam that holds every beginning is exhaustive search. Between the two
    nothing is promised: the likeliest text may lie outside the beam, and a wider beam may even
    find a worse one. The cost grows as ``width``. Two warnings: each token lowers a text's
    probability, so the likeliest text tends to be short, and the more exact the search, the
    shorter (Koehn and Knowles 2017; Stahlberg and Byrne 2019); and what is likeliest is not what is
    most like human text, so open-ended text is better sampled.

    Args:
        predictor: as for ``greedy``; one text, since every beginning keeps a state of its own.
        width: beginnings kept, and texts returned at most.
        stop: the token that ends a text.
        max_length: steps after which a text is cut, even if it has not stopped.
        length_penalty: finished texts are ranked by log_prob / length ** length_penalty, where the
            length counts ``stop``. 0 ranks by probability, 1 by the mean per token; the larger, the
            longer the texts that win.

    Returns:
        (tokens, log_prob) of each text found, best first: token ids without ``stop``, and the log-
        probability in nats of the text and its ``stop``, whatever the length penalty. A text that
        was cut, of ``max_length`` tokens, has none of ``stop``. Impossible texts are left out.

    Raises:
        ValueError: a width below 1, a negative penalty, or what ``greedy`` raises.
    """
    _check_search(predictor, stop, max_length)
    if width < 1 or length_penalty < 0:
        raise ValueError(
            f"width is {width} and length_penalty {length_penalty}; expected a width of 1 or more "
            "and a penalty of 0 or more."
        )
    finished: list[tuple[float, float, list[int]]] = []  # (score, log_prob, tokens)
    beam = [(0.0, [], predictor.bos, predictor.start(1))]  # (log_prob, tokens, to read, state)
    for length in range(1, max_length + 1):
        totals, states = [], []
        for so_far, _, read, state in beam:
            log_p, state = predictor.step(torch.tensor([read]), state)
            totals.append(so_far + log_p[0])
            states.append(state)
        best, places = torch.stack(totals).flatten().sort(descending=True, stable=True)
        survivors = []
        for total, place in zip(best[:width].tolist(), places[:width].tolist(), strict=True):
            if total == -math.inf:
                break
            parent, token = divmod(place, predictor.vocab_size)
            tokens = beam[parent][1]
            if token == stop or length == max_length:
                tokens = tokens if token == stop else [*tokens, token]
                finished.append((total / length**length_penalty, total, tokens))
            else:
                survivors.append((total, [*tokens, token], token, states[parent]))
        finished.sort(key=lambda text: -text[0])
        beam = survivors
        # A log-probability only falls, so no text can end up above this score.
        bound = max((total for total, *_ in beam), default=-math.inf) / max_length**length_penalty
        if not beam or (len(finished) >= width and finished[width - 1][0] >= bound):
            break
    return [
        (torch.tensor(tokens, dtype=torch.long), total) for _, total, tokens in finished[:width]
    ]


def _check_search(predictor: Predictor, stop: int, max_length: int) -> None:
    if not 0 <= stop < predictor.vocab_size:
        raise ValueError(
            f"stop is {stop}; expected a token that can be predicted, 0 to "
            f"{predictor.vocab_size - 1}."
        )
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}; expected one step or more.")
