"""Drawing text from any predictor, token by token; ``filters`` has temperature, top-k and top-p.

``sample`` draws at random, ``stream`` does so and hands out every token at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral

import torch
from torch import Tensor

from helpers.contracts import Predictor, read_prompt
from helpers.inference.filters import token_probabilities
from helpers.inference.prompts import Tokens, is_list_of_prompts, prompt_rows, stop_tokens
from helpers.inference.rules import AS_PREDICTED, Rules


def sample(
    predictor: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Tokens | Sequence[Tokens] = (),
    rules: Rules = AS_PREDICTED,
    batch_size: int = 1,
    *,
    stop: int | Sequence[int] | None = None,
) -> Tensor | list[Tensor]:
    """Draw texts token by token, each from the distribution given all before it.

    Args:
        predictor: an n-gram, a known source, a neural model's predictor.
        length: tokens to draw after each prompt, at most.
        generator: where the randomness comes from; the same seed gives the same text.
        prompt: (P,) tokens that every text begins with; or a list of B such prompts, of any
            lengths, one for each text; or equally long ones as a tensor (B, P).
        rules: temperature, top-k, top-p and repetition; without them as the predictor says.
        batch_size: B, the number of texts; a list of prompts has it already.
        stop: a token, or several, each of which ends a text when it is drawn. In a prompt it ends
            nothing. The drawing is over as soon as all texts have stopped.

    Returns:
        (B, P + length) tokens. With ``stop`` or with a list of prompts, a list of B tensors, each
        of its own length: prompt and drawn tokens, without the stop token.

    Raises:
        ValueError: a negative length, no text to draw, or a prompt or stop token outside the
            vocabulary.
    """
    rows, ends = prompt_rows(prompt, batch_size, predictor), stop_tokens(stop, predictor)
    columns = stream(predictor, length, generator, prompt, rules, batch_size, stop=stop)
    written = torch.stack([torch.empty(len(rows), dtype=torch.long), *columns], 1)[:, 1:]
    shortest, texts = min(len(row) for row in rows), []
    for row, new in zip(rows, written, strict=True):
        new = new[len(row) - shortest :][:length]
        stops = torch.isin(new, ends).nonzero()
        texts.append(torch.cat([row, new[: int(stops[0])] if len(stops) else new]))
    return texts if stop is not None or is_list_of_prompts(prompt) else torch.stack(texts)


def stream(
    predictor: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Tokens | Sequence[Tokens] = (),
    rules: Rules = AS_PREDICTED,
    batch_size: int = 1,
    *,
    stop: int | Sequence[int] | None = None,
) -> Iterator[Tensor]:
    """Draw texts as ``sample`` does, and yield each step's tokens (B,) as soon as they are drawn.

    A text that has stopped goes on with its stop token until all have. With prompts of unequal
    lengths all texts keep step: the stream begins after the shortest prompt, and a text whose
    prompt is longer yields the rest of it first; a text with a shorter one goes on until the last
    text is done. Nothing is computed before it is asked for, so a stream may be left at any time.

    Args:
        predictor, length, generator, prompt, rules, batch_size, stop: as for ``sample``.

    Raises:
        ValueError: as ``sample``, at the call and not only at the first token.
    """
    if not isinstance(length, int | Integral) or length < 0:
        raise ValueError(f"length is {length}; expected a whole number of tokens, 0 or more.")
    rows, ends = prompt_rows(prompt, batch_size, predictor), stop_tokens(stop, predictor)

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
            p = token_probabilities(log_p, text[:, 1:t], rules)
            if rules.temperature == 0:
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
