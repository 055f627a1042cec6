"""Speculative decoding: a small model drafts a few tokens, a large one checks them in one pass.

A large model takes about as long to read five tokens at once as to read one, so drafts that it
keeps are nearly free. The text is distributed as if the large model had written it alone, whatever
the draft model is; a poor draft model costs time, never quality.

Sources: Y. Leviathan, M. Kalman and Y. Matias, "Fast inference from transformers via
speculative decoding" (2023), algorithm 1; C. Chen et al., "Accelerating large language model
decoding with speculative sampling" (2023). (The lecture on decoders keeps the tokens for which the
two models "don't differ too much", which is another text; the notebook on sampling shows it.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from helpers.contracts import Predictor, back, read_prompt, read_tokens, reads_at_once
from helpers.inference.filters import token_probabilities
from helpers.inference.rules import AS_PREDICTED, Rules


@dataclass(frozen=True)
class SpeculativeText:
    """A text and how it came about.

    Attributes:
        tokens: (P + length,), the prompt included.
        rounds: for each pass of the target the numbers of tokens drafted and kept. Each pass adds
            one token of the target's own to those it keeps.
        drafted: for each pass the tokens drafted, kept or not.
    """

    tokens: Tensor
    rounds: tuple[tuple[int, int], ...]
    drafted: tuple[tuple[int, ...], ...]


def speculative_sample(
    target: Predictor,
    draft: Predictor,
    length: int,
    generator: torch.Generator,
    prompt: Sequence[int] | Tensor = (),
    drafts: int = 4,
    rules: Rules = AS_PREDICTED,
) -> SpeculativeText:
    """Draw one text of the target's, with the help of a draft model over the same tokens.

    With p the target's distribution of a token, q the draft model's and x ~ q the drafted token,
    x is kept with probability min(1, p(x) / q(x)); on the first refusal the token is drawn from
    max(p - q, 0), normalised, and the drafts after it are dropped. If all are kept, the same pass
    gives one more token, from p.

    Of the tokens that the target has read, those after the first refusal must be forgotten. A state
    that offers ``back(n)``, the state n tokens earlier or None, is asked; without it a predictor
    that has ``read`` reads the kept tokens once more, which is not counted as a pass.

    Args:
        target: the model whose text is wanted.
        draft: the model that drafts.
        length: tokens to draw after the prompt; exactly as many are drawn.
        generator: where the randomness comes from; the same seed gives the same text.
        prompt: (P,) tokens that the text begins with.
        drafts: k, tokens drafted per round; 0 is plain sampling from the target.
        rules: of both models: p and q are what the rules leave, so the text is drawn from the
            target as ``helpers.inference.sampling.sample`` does under the same rules (Leviathan et
            al. 2023, section 2.2).

    Raises:
        ValueError: vocabularies of different sizes.
    """
    if target.vocab_size != draft.vocab_size:
        raise ValueError(
            f"The target predicts {target.vocab_size} tokens and the draft model "
            f"{draft.vocab_size}; both must have been made with the same tokenizer."
        )
    text = torch.as_tensor(prompt, dtype=torch.long).flatten().tolist()

    end, rounds, drafted = len(text) + length, [], []
    state, unread = target.start(1), [target.bos, *text]
    draft_state, draft_unread = draft.start(1), [draft.bos, *text]
    while len(text) < end:
        k = min(drafts, end - len(text) - 1)  # the pass itself gives one token more
        proposed, qs, draft_states = [], [], []
        for _ in range(k):
            log_q, draft_state = read_prompt(draft, torch.tensor([draft_unread]), draft_state)
            qs.append(_distributions(log_q, text + proposed, rules)[0])
            draft_states.append(draft_state)
            draft_unread = [_draw(qs[-1], generator)]
            proposed += draft_unread
        log_p, rewound = _read(target, unread + proposed, state)
        ps = _distributions(log_p[-k - 1 :], text + proposed, rules)  # (k + 1, V)
        new = _judge(ps, qs, proposed, generator)
        text += new
        rounds.append((k, len(new) - 1))
        drafted.append(tuple(proposed))
        # The newest token is read in the next round, together with what is drafted after it.
        state, unread = rewound(k + 1 - len(new)), new[-1:]
        if k:
            read = min(len(new), k) - 1  # the last draft was never read by the draft model
            draft_state, draft_unread = draft_states[read], new[read:]
    return SpeculativeText(torch.tensor(text, dtype=torch.long), tuple(rounds), tuple(drafted))


def _judge(
    ps: Tensor,
    qs: Sequence[Tensor],
    proposed: Sequence[int],
    generator: torch.Generator,
) -> list[int]:
    """The drafts that are kept, and one token more."""
    for i, (p, q, x) in enumerate(zip(ps, qs, proposed, strict=False)):
        if torch.rand((), generator=generator, dtype=p.dtype) * q[x] >= p[x]:
            residual = (p - q).clamp(min=0)
            # Where p and q differ by rounding alone, nothing of p may be left over.
            return [*proposed[:i], _draw(residual if residual.sum() > 0 else p, generator)]
    return [*proposed, _draw(ps[-1], generator)]


def _read(
    predictor: Predictor, tokens: list[int], state: Any
) -> tuple[Tensor, Callable[[int], Any]]:
    """Read tokens: log-probabilities (T, V), and a function n -> the state n tokens earlier."""
    if not reads_at_once(predictor):
        rows, states = [], []
        for token in tokens:
            row, state = predictor.step(torch.tensor([token]), state)
            rows.append(row)
            states.append(state)
        return torch.cat(rows), lambda n: states[-1 - n]
    log_probs, after = read_tokens(predictor, torch.tensor([tokens]), state)

    def rewound(n: int) -> Any:
        earlier = back(after, n)
        if earlier is None:
            kept = torch.tensor([tokens[: len(tokens) - n]])
            earlier = read_tokens(predictor, kept, state)[1]
        return earlier

    return log_probs[0], rewound


def _distributions(log_probs: Tensor, text: list[int], rules: Rules) -> Tensor:
    """Probabilities (n, V) in float64 of n tokens one after another; the last one follows text."""
    n = len(log_probs)
    seen = torch.tensor(text, dtype=torch.long).repeat(n, 1)
    # Row i has seen all but the last n - 1 - i tokens; an id of -1 stands for none.
    seen = torch.where(torch.ones_like(seen, dtype=torch.bool).triu(len(text) + 1 - n), -1, seen)
    return token_probabilities(log_probs.double(), seen, rules)


def _draw(weights: Tensor, generator: torch.Generator) -> int:
    return int(torch.multinomial(weights, 1, generator=generator))


def expected_tokens(alpha: float, drafts: int) -> float:
    """The mean number of tokens per pass of the target: (1 - alpha^(k+1)) / (1 - alpha).

    If every draft is kept with probability alpha, independently of the others. One of the tokens is
    the target's own (Leviathan et al. 2023, equation 1).

    Args:
        alpha: the acceptance rate, 0 to 1.
        drafts: k.
    """
    return sum(alpha**i for i in range(drafts + 1))


def speed_up(alpha: float, drafts: int, cost: float) -> float:
    """How many times faster than plain sampling: expected_tokens / (k c + 1).

    It assumes that the target takes as long for k + 1 tokens at once as for one (Leviathan et al.
    2023, theorem 3.8). Below 1 the drafts cost more than they save.

    Args:
        alpha: the acceptance rate, 0 to 1.
        drafts: k.
        cost: c, the time of a draft step over the time of a pass of the target.
    """
    return expected_tokens(alpha, drafts) / (drafts * cost + 1)
