"""Drawing text from any predictor, and searching for its likeliest text.

``sample`` draws at random, ``stream`` does so and hands out every token at once. ``greedy`` and
``beam_search`` look for one good text that ends with a stop token: a translation, an answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from helpers.contracts import Predictor, read_prompt
from helpers.inference import filters
from helpers.token_ids import check_range

Tokens = Sequence[int] | Tensor


def sample(
    predictor: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Tokens | Sequence[Tokens] = (),
    temperature: float = 1.0,
    batch_size: int = 1,
    *,
    top_k: int | None = None,
    top_p: float | None = None,
    repetition: float = 1.0,
    stop: int | Sequence[int] | None = None,
) -> Tensor | list[Tensor]:
    """Draw texts token by token, each from the distribution given all before it.

    Args:
        predictor: an n-gram, a known source, a neural model's predictor.
        length: tokens to draw after each prompt, at most.
        generator: where the randomness comes from; the same seed gives the same text.
        prompt: (P,) tokens that every text begins with; or a list of B such prompts, of any
            lengths, one for each text; or equally long ones as a tensor (B, P).
        temperature: p is made proportional to p ** (1 / temperature); 0 takes the likeliest token
            (ties go to the lower id).
        batch_size: B, the number of texts; a list of prompts has it already.
        top_k: draw from the k likeliest tokens only.
        top_p: draw from the fewest tokens only that have the probability p together.
        repetition: penalty on tokens that stand in the text already; 1 is none. For the three see
            ``helpers.inference.filters``, for their order ``token_probabilities``.
        stop: a token, or several, each of which ends a text when it is drawn. In a prompt it ends
            nothing. The drawing is over as soon as all texts have stopped.

    Returns:
        (B, P + length) tokens. With ``stop`` or with a list of prompts, a list of B tensors, each
        of its own length: prompt and drawn tokens, without the stop token.

    Raises:
        ValueError: a setting out of its range, or a prompt or stop token outside the vocabulary.
    """
    rows, ends = _prompts(prompt, batch_size, predictor), _stop_tokens(stop, predictor)
    columns = stream(
        predictor,
        length,
        generator,
        prompt,
        temperature,
        batch_size,
        top_k=top_k,
        top_p=top_p,
        repetition=repetition,
        stop=stop,
    )
    written = torch.stack([torch.empty(len(rows), dtype=torch.long), *columns], 1)[:, 1:]
    shortest, texts = min(len(row) for row in rows), []
    for row, new in zip(rows, written, strict=True):
        new = new[len(row) - shortest :][:length]
        stops = torch.isin(new, ends).nonzero()
        texts.append(torch.cat([row, new[: int(stops[0])] if len(stops) else new]))
    return texts if stop is not None or _is_list_of_prompts(prompt) else torch.stack(texts)


def stream(
    predictor: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Tokens | Sequence[Tokens] = (),
    temperature: float = 1.0,
    batch_size: int = 1,
    *,
    top_k: int | None = None,
    top_p: float | None = None,
    repetition: float = 1.0,
    stop: int | Sequence[int] | None = None,
) -> Iterator[Tensor]:
    """Draw texts as ``sample`` does, and yield each step's tokens (B,) as soon as they are drawn.

    A text that has stopped goes on with its stop token until all have. With prompts of unequal
    lengths all texts keep step: the stream begins after the shortest prompt, and a text whose
    prompt is longer yields the rest of it first; a text with a shorter one goes on until the last
    text is done. Nothing is computed before it is asked for, so a stream may be left at any time.

    Args:
        predictor, length, generator, prompt, temperature, batch_size, top_k, top_p, repetition,
            stop: as for ``sample``.

    Raises:
        ValueError: as ``sample``, at the call and not only at the first token.
    """
    if length < 0 or temperature < 0:
        raise ValueError(f"length ({length}) and temperature ({temperature}) cannot be negative.")
    rows, ends = _prompts(prompt, batch_size, predictor), _stop_tokens(stop, predictor)
    settings = (temperature, top_k, top_p, repetition)
    # Settings out of range are refused here, before the generator below has begun.
    token_probabilities(torch.zeros(1, 1), torch.zeros(1, 0, dtype=torch.long), *settings)

    def tokens() -> Iterator[Tensor]:
        lengths = torch.tensor([len(row) for row in rows])
        shortest, longest = int(lengths.min()), int(lengths.max())
        text = torch.empty(len(rows), 1 + longest + length, dtype=torch.long)
        text[:, 0] = predictor.bos
        for b, row in enumerate(rows):
            text[b, 1 : 1 + len(row)] = row
        state, stopped = predictor.start(len(rows)), torch.zeros(len(rows), dtype=torch.bool)
        read = text[:, : 1 + shortest]
        for t in range(1 + shortest, text.shape[1]):
            log_p, state = read_prompt(predictor, read, state)  # (B, V)
            p = token_probabilities(log_p, text[:, 1:t], *settings)
            if temperature == 0:
                drawn = p.argmax(-1)
            else:
                drawn = torch.multinomial(p, 1, generator=generator)[:, 0]
            drawn = torch.where(stopped, text[:, t - 1], drawn)
            text[:, t] = torch.where(t <= lengths, text[:, t], drawn)
            yield text[:, t].clone()
            stopped = stopped | ((t > lengths) & torch.isin(text[:, t], ends))
            if (stopped | (t >= lengths + length)).all():
                return
            read = text[:, t : t + 1]

    return tokens()


def token_probabilities(
    log_p: Tensor,
    text: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    repetition: float = 1.0,
) -> Tensor:
    """The distribution that ``sample`` draws from, given what the predictor says: (B, V).

    The filters of ``helpers.inference.filters`` work in this order, each on what the one before it
    left: repetition, temperature, top-k, top-p. It is the order of the ``transformers`` library;
    with another one, top-p would keep other tokens.

    Args:
        log_p: the predictor's log-probabilities (B, V) in nats.
        text: (B, n) the tokens so far, prompts included and ``bos`` not.
        temperature: see ``filters.with_temperature``.
        top_k: see ``filters.top_k``; None keeps all.
        top_p: see ``filters.top_p``; None keeps all.
        repetition: see ``filters.repetition_penalty``; 1 is none.

    Raises:
        ValueError: a setting out of its range.
    """
    if repetition != 1:
        log_p = filters.repetition_penalty(log_p, text, repetition)
    if 0 < temperature < math.inf:
        log_p = log_p / temperature  # what follows normalises
    else:
        log_p = filters.with_temperature(log_p, temperature)  # the limit 0, or an error
    if top_k is not None:
        log_p = filters.top_k(log_p, top_k)
    if top_p is not None:
        log_p = filters.top_p(log_p, top_p)
    return log_p.softmax(-1)


def greedy(
    predictor: Predictor,
    stop: int | None,
    max_length: int,
    batch_size: int = 1,
    prompt: Tokens = (),
) -> list[Tensor]:
    """Take the likeliest token at every step, until ``stop``: fast, and often good enough.

    A choice is never taken back, so the text need not be the likeliest one: a good first token may
    lead to poor ones. ``beam_search`` looks further, at ``width`` times the cost.

    Args:
        predictor: of a language model, or of a translator that was given its source.
        stop: the token that ends a text; None if none does.
        max_length: steps after which a text is cut, even if it has not stopped.
        batch_size: B, the number of texts; they differ where the predictor's sources do.
        prompt: (P,) tokens that every text goes on from.

    Returns:
        B tensors of token ids, each without the prompt and ``stop``. Ties go to the lower id.

    Raises:
        ValueError: ``stop`` or the prompt outside the vocabulary, or no step or no text to make.
    """
    _check_search(predictor, stop, max_length)
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; expected one text or more.")
    never = -1  # an id that no token has
    stop = never if stop is None else stop
    state = predictor.start(batch_size)
    read = _with_bos(prompt, predictor).expand(batch_size, -1)  # (B, 1 + P)
    columns, running = [], torch.ones(batch_size, dtype=torch.bool)
    while len(columns) < max_length and running.any():
        log_p, state = read_prompt(predictor, read, state)  # (B, V)
        columns.append(log_p.argmax(-1).masked_fill(~running, stop))
        running = running & (columns[-1] != stop)
        read = columns[-1][:, None]
    rows = torch.stack(columns, 1)
    lengths = (rows != stop).sum(1).tolist()
    return [row[:length] for row, length in zip(rows, lengths, strict=True)]


def beam_search(
    predictor: Predictor,
    width: int,
    stop: int | None,
    max_length: int,
    length_penalty: float = 0.0,
    prompt: Tokens = (),
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
        stop: the token that ends a text; None if none does.
        max_length: steps after which a text is cut, even if it has not stopped.
        length_penalty: finished texts are ranked by log_prob / length ** length_penalty, where the
            length counts ``stop``. 0 ranks by probability, 1 by the mean per token; the larger, the
            longer the texts that win.
        prompt: (P,) tokens that the text goes on from.

    Returns:
        (tokens, log_prob) of each text found, best first: token ids without the prompt and
        ``stop``, and the log-probability in nats of these tokens and ``stop``, whatever the length
        penalty. A text that was cut, of ``max_length`` tokens, has none of ``stop``. Impossible
        texts are left out.

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
                finished.append((total / length**length_penalty, total, tokens))
            else:
                read = torch.tensor([[token]])
                survivors.append((total, [*tokens, token], read, states[parent]))
        finished.sort(key=lambda text: -text[0])
        beam = survivors
        # A log-probability only falls, so no text can end up above this score.
        bound = max((total for total, *_ in beam), default=-math.inf) / max_length**length_penalty
        if not beam or (len(finished) >= width and finished[width - 1][0] >= bound):
            break
    return [
        (torch.tensor(tokens, dtype=torch.long), total) for _, total, tokens in finished[:width]
    ]


def _with_bos(prompt: Tokens, predictor: Predictor) -> Tensor:
    """What is read before the first new token, (1, 1 + P)."""
    row = _prompts(prompt, 1, predictor)[0]
    return torch.cat([torch.tensor([predictor.bos]), row])[None]


def _check_search(predictor: Predictor, stop: int | None, max_length: int) -> None:
    if stop is not None:
        _check_stop(predictor, stop)
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}; expected one step or more.")


def _prompts(
    prompt: Tokens | Sequence[Tokens], batch_size: int, predictor: Predictor
) -> list[Tensor]:
    """The prompt of each text, (P,) each."""
    if isinstance(prompt, str) or (_is_list_of_prompts(prompt) and isinstance(prompt[0], str)):
        raise ValueError(
            "The prompt is text, and token ids were expected: encode it with the tokenizer that "
            "the predictor was made with."
        )
    if _is_list_of_prompts(prompt) or (isinstance(prompt, Tensor) and prompt.dim() == 2):
        rows = [torch.as_tensor(row, dtype=torch.long).flatten() for row in prompt]
    else:
        rows = [torch.as_tensor(prompt, dtype=torch.long).flatten()]
    if batch_size < 1 or (len(rows) > 1 and batch_size not in (1, len(rows))):
        raise ValueError(
            f"batch_size is {batch_size}, and {len(rows)} prompt(s) were given; expected one text "
            "or more, and one prompt for all or one for each."
        )
    for row in rows:
        check_range(row, predictor.vocab_size, "The prompt holds ids outside 0 .. {last}.")
    return rows * batch_size if len(rows) == 1 else rows


def _is_list_of_prompts(prompt: Tokens | Sequence[Tokens]) -> bool:
    if isinstance(prompt, Tensor) or not len(prompt):
        return False
    return isinstance(prompt[0], str) or torch.as_tensor(prompt[0]).dim() == 1


def _stop_tokens(stop: int | Sequence[int] | None, predictor: Predictor) -> Tensor:
    tokens = torch.as_tensor([] if stop is None else stop, dtype=torch.long).flatten()
    for token in tokens.tolist():
        _check_stop(predictor, token)
    return tokens


def _check_stop(predictor: Predictor, stop: int) -> None:
    if not 0 <= stop < predictor.vocab_size:
        raise ValueError(
            f"stop is {stop}; expected a token that can be predicted, 0 to "
            f"{predictor.vocab_size - 1}."
        )
