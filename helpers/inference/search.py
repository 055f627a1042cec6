"""Searching for the likeliest text of a predictor with a beam.

For one good text that ends with a stop token: a translation, an answer.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from helpers.contracts import Predictor, read_prompt
from helpers.inference.prompts import Tokens, check_stop, prompt_rows


def beam_search(
    predictor: Predictor,
    width: int,
    stop: int | None,
    max_length: int,
    prompt: Tokens = (),
) -> list[tuple[Tensor, float]]:
    """Search for the likeliest text: at every step, the ``width`` best beginnings go on.

    Width 1 is greedy search, which takes the likeliest token and never takes a choice back; a beam
    that holds every beginning is exhaustive search. Between the two nothing is promised: the
    likeliest text may lie outside the beam, and a wider beam may even find a worse one. The cost
    grows as ``width``. Two warnings: each token lowers a text's probability, so the likeliest text
    tends to be short, and the more exact the search, the shorter (Koehn and Knowles 2017; Stahlberg
    and Byrne 2019); and what is likeliest is not what is most like human text, so open-ended text
    is better sampled.

    Args:
        predictor: of a language model, or of a translator that was given its source.
        width: beginnings kept, and texts returned at most.
        stop: the token that ends a text; None if none does.
        max_length: steps after which a text is cut, even if it has not stopped.
        prompt: (P,) tokens that the text goes on from.

    Returns:
        (tokens, log_prob) of each text found, best first: token ids without the prompt and
        ``stop``, and the log-probability in nats of these tokens and ``stop``. A text that was cut,
        of ``max_length`` tokens, has none of ``stop``. Impossible texts are left out.

    Raises:
        ValueError: a width below 1, no step to make, or ``stop`` or the prompt outside the
            vocabulary.
    """
    if stop is not None:
        check_stop(predictor, stop)
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}; expected one step or more.")
    if width < 1:
        raise ValueError(f"width is {width}; expected 1 or more.")
    finished: list[tuple[float, list[int]]] = []  # (log_prob, tokens)
    # (log_prob, tokens, to read, state)
    beam = [(0.0, [], _with_bos(prompt, predictor), predictor.start(1))]
    for length in range(1, max_length + 1):
        totals, states = [], []
        for so_far, _, read, state in beam:
            log_p, state = read_prompt(predictor, read, state)
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
                finished.append((total, tokens))
            else:
                read = torch.tensor([[token]])
                survivors.append((total, [*tokens, token], read, states[parent]))
        finished.sort(key=lambda text: -text[0])
        beam = survivors
        # A log-probability only falls, so no text can end up above this score.
        bound = max((total for total, *_ in beam), default=-math.inf)
        if not beam or (len(finished) >= width and finished[width - 1][0] >= bound):
            break
    return [(torch.tensor(tokens, dtype=torch.long), total) for total, tokens in finished[:width]]


def _with_bos(prompt: Tokens, predictor: Predictor) -> Tensor:
    """What is read before the first new token, (1, 1 + P)."""
    row = prompt_rows(prompt, 1, predictor)[0]
    return torch.cat([torch.tensor([predictor.bos]), row])[None]
