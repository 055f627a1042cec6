"""Your turn with a GPT that writes: a beam, rules, a cache, drafts, a score of heads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import Trial

turns = Lab("notebook14")
Beam = Sequence[tuple[float, list[int]]]  # log-probabilities of beginnings, and their tokens
Slip = tuple[Callable[..., Any], str]


def _of_row(
    text: tuple[float, list[int]], row: Tensor, width: int
) -> list[tuple[float, list[int]]]:
    values, ids = row.topk(min(width, len(row)))
    pairs = zip(values.tolist(), ids.tolist(), strict=True)
    return [(text[0] + value, [*text[1], token]) for value, token in pairs]


def _beam_step(beam: Beam, log_p: Tensor, width: int) -> list[tuple[float, list[int]]]:
    longer = [text for row in zip(beam, log_p, strict=True) for text in _of_row(*row, width)]
    return sorted(longer, reverse=True)[:width]


def _is_int(token: object) -> bool:
    return isinstance(token, int)


@turns.task(_beam_step)
def beam_step(trial: Trial) -> None:
    hint = (
        "Extend each beginning by its best tokens, add the log-probabilities, and keep the best "
        "`width` of all candidates together."
    )

    def of_each(beam: Beam, log_p: Tensor, width: int) -> list[tuple[float, list[int]]]:
        return [
            (total + float(row.max()), [*tokens, int(row.argmax())])
            for (total, tokens), row in zip(beam, log_p, strict=True)
        ]

    def every(beam: Beam, log_p: Tensor, width: int) -> list[tuple[float, list[int]]]:
        return _beam_step(beam, log_p, len(beam) * log_p.shape[1])

    def with_total(change: Callable[[float, float], float]) -> Callable[..., Any]:
        def slip(beam: Beam, log_p: Tensor, width: int) -> list[tuple[float, list[int]]]:
            longer = []
            for (total, tokens), row in zip(beam, log_p, strict=True):
                values, ids = row.topk(min(width, len(row)))
                for value, token in zip(values.tolist(), ids.tolist(), strict=True):
                    longer.append((change(total, value), [*tokens, token]))
            return sorted(longer, reverse=True)[:width]

        return slip

    def of_widths(beam: Beam, log_p: Tensor, width: int) -> list[tuple[float, list[int]]]:
        return [text for row in zip(beam, log_p, strict=True) for text in _of_row(*row, width)]

    slips: list[Slip] = [
        (
            with_total(lambda total, value: value),
            "The probability of the whole text counts: add that of the beginning.",
        ),
        (
            with_total(lambda total, value: total * value),
            "Probabilities are multiplied, and their logarithms added.",
        ),
        (
            of_each,
            "Each beginning gives several candidates, and several of the best may come from one.",
        ),
        (every, "Of all candidates only the best `width` are kept."),
        (
            lambda *given: sorted(of_widths(*given), reverse=True),
            "Of all candidates only the best `width` are kept.",
        ),
        (
            lambda beam, log_p, width: _beam_step(beam, log_p, width)[::-1],
            "The best comes first: log-probabilities are negative, and the largest is the best.",
        ),
        (
            lambda beam, log_p, width: [
                (total, tokens[-1:]) for total, tokens in _beam_step(beam, log_p, width)
            ],
            "Hand back the whole beginning, the old tokens and the new one.",
        ),
        (
            lambda beam, log_p, width: sorted(of_widths(beam, log_p, width))[:width],
            "These are the worst of the candidates: the largest log-probability is the best.",
        ),
    ]
    beam = [(-1.0, [3, 0]), (-1.5, [3, 2])]
    log_p = torch.tensor([[0.1, 0.2, 0.7], [0.06, 0.9, 0.04]], dtype=torch.double).log()
    look = {"hint": hint, "slips": slips, "tolerance": 1e-5}
    rule = "by hand, the best two of six"
    given = "two beginnings, V = 3, width 2"
    trial.agrees(_beam_step, beam, log_p, 2, rule=rule, given=given, **look)
    plain = all(
        isinstance(total, float) and isinstance(tokens, list) and all(map(_is_int, tokens))
        for total, tokens in trial.value
    )
    rule = "a pair is a plain number and a list of plain numbers"
    words = (
        "Later cells look texts up by their tokens: take plain numbers, values.tolist() and "
        "ids.tolist(), and a list of tokens, [*tokens, token]."
    )
    trial.holds(plain, rule, words, given=given, got=trial.value)
    one = [(-0.2, [3]), (-3.0, [1])]
    drawn = trial.normal(2, 6).log_softmax(-1)
    rule = "all may come from one beginning"
    given = "a beginning of -0.2 and one of -3, V = 6, width 2"
    even = torch.full((2, 6), 1 / 6, dtype=torch.double).log() + 0.001 * drawn
    trial.agrees(_beam_step, one, even, 2, rule=rule, given=given, **look)
    many = [(-float(i), [3, i]) for i in range(1, 4)]
    drawn = trial.normal(3, 8).log_softmax(-1)
    rule = "it is right for random numbers"
    trial.agrees(_beam_step, many, drawn, 3, rule=rule, given="three beginnings, V = 8", **look)
    rule = "a beam may be wider than the vocabulary"
    wide = "topk cannot give more values than a row has: min(width, len(row))."
    trial.agrees(
        _beam_step, beam, log_p, 5, rule=rule, hint=wide, slips=slips, given="V = 3, width 5"
    )


def _tempered(x: Tensor, tau: float) -> Tensor:
    return (x / tau).softmax(-1)


@turns.task(_tempered)
def tempered(trial: Trial) -> None:
    hint = "Divide every logit by tau, then take the softmax: exp, and divide by the sum."
    slips: list[Slip] = [
        (
            lambda x, tau: (x * tau).softmax(-1),
            "The logits are divided by tau: a low temperature makes their differences larger.",
        ),
        (
            lambda x, tau: x.softmax(-1) / tau,
            "These do not sum to 1: tau belongs inside the softmax.",
        ),
        (lambda x, tau: (x / tau).exp(), "Divide by the sum, so that they sum to 1."),
        (lambda x, tau: (x / tau).log_softmax(-1), "Those are logarithms: probabilities, please."),
        (lambda x, tau: x.softmax(-1), "tau does not occur in it."),
        (
            lambda x, tau: (x.softmax(-1) / tau).softmax(-1),
            "One softmax only: divide the logits themselves by tau.",
        ),
        (
            lambda x, tau: x.exp() ** (1 / tau) / x.exp().sum(),
            "Divide by the sum of what stands in the numerator, after the temperature.",
        ),
    ]
    x = torch.tensor([4.0, 1.0], dtype=torch.double).log()
    for tau in (0.5, 2.0):
        trial.agrees(
            _tempered, x, tau, rule="it gives what the pencil gives", hint=hint, slips=slips,
            given=f"logits ln 4 and ln 1, tau = {tau}",
        )  # fmt: skip
    drawn, tau = 3 * trial.normal(9), trial.integer(3, 25) / 10
    rule = "it is right for any logits"
    trial.agrees(_tempered, drawn, tau, rule=rule, hint=hint, slips=slips)


def _top_k(p: Tensor, k: int) -> Tensor:
    best = p.argsort(descending=True)[:k]
    kept = torch.zeros_like(p)
    kept[best] = p[best]
    return kept / kept.sum()


@turns.task(_top_k)
def top_k(trial: Trial) -> None:
    hint = (
        "Take the first k of p.argsort(descending=True), copy them into zeros, divide by the sum."
    )

    def whole(p: Tensor, k: int) -> Tensor:
        best = p.argsort(descending=True)[:k]
        return torch.zeros_like(p).index_fill(0, best, 1.0) * p

    slips: list[Slip] = [
        (whole, "What is left has to sum to 1: divide by the sum."),
        (
            lambda p, k: _top_k(p, k + 1),
            "That keeps one token more than k.",
        ),
        (lambda p, k: _top_k(p, k - 1), "That keeps one token less than k."),
        (
            lambda p, k: torch.cat([p[:k], torch.zeros_like(p[k:])]) / p[:k].sum(),
            "Those are the first k tokens of the vocabulary, not the likeliest.",
        ),
        (
            lambda p, k: p.sort(descending=True).values[:k] / p.topk(k).values.sum(),
            "Each token keeps its position in the vocabulary: hand back V numbers.",
        ),
        (
            lambda p, k: _top_k(p, k).sort(descending=True).values,
            "Each token keeps its position in the vocabulary: these stand in sorted order.",
        ),
        (
            lambda p, k: torch.zeros_like(p).index_fill(0, p.topk(k).indices, 1 / k),
            "The tokens that stay keep their proportions; they are not made alike.",
        ),
        (
            lambda p, k: (
                (least := torch.zeros_like(p).index_fill(0, p.argsort()[:k], 1.0) * p) / least.sum()
            ),
            "Those are the k least likely tokens.",
        ),
    ]
    p = torch.tensor([0.1, 0.5, 0.1, 0.3], dtype=torch.double)
    look = {"hint": hint, "slips": slips}
    trial.agrees(_top_k, p, 2, rule="it gives what the pencil gives", **look)
    kept = trial.call(p, 3, given="p = (0.1, 0.5, 0.1, 0.3), k = 3", hint=hint)
    words = (
        "Two tokens are alike here, and only one of them has room: take tokens by their rank, not "
        "all that are as likely as the k-th."
    )
    rule = "k tokens stay where two are alike"
    trial.equals(int((kept > 0).sum()), 3, rule, words, given="p = (0.1, 0.5, 0.1, 0.3), k = 3")
    drawn = trial.normal(12).softmax(-1)
    k = trial.integer(2, 9)
    trial.agrees(_top_k, drawn, k, rule="it is right for any distribution", **look)
    trial.agrees(_top_k, drawn, 12, rule="k = V changes nothing", **look)


def _top_p(p: Tensor, share: float) -> Tensor:
    kept, together = torch.zeros_like(p), 0.0
    for token in p.argsort(descending=True).tolist():
        kept[token] = p[token]
        together += float(p[token])
        if together >= share:
            break
    return kept / kept.sum()


@turns.task(_top_p)
def top_p(trial: Trial) -> None:
    hint = (
        "Go through the tokens from the likeliest on; take each, add its probability, and stop as "
        "soon as the sum has reached the share."
    )

    def number(p: Tensor, share: float) -> int:
        return int((_top_p(p, share) > 0).sum())

    def unscaled(p: Tensor, share: float) -> Tensor:
        return (_top_p(p, share) > 0) * p

    def in_order(p: Tensor, share: float) -> Tensor:
        count = int((p.cumsum(-1) < share).sum()) + 1
        return torch.cat([p[:count], torch.zeros_like(p[count:])]) / p[:count].sum()

    def fewer(p: Tensor, share: float) -> Tensor:
        if number(p, share) == 1:
            raise ValueError("there is none to leave out")
        return _top_k(p, number(p, share) - 1)

    def above(p: Tensor, share: float) -> Tensor:
        if p.max() < share:
            raise ValueError("none is above")
        return (p >= share) * p / ((p >= share) * p).sum()

    slips: list[Slip] = [
        (
            fewer,
            "The token with which the sum reaches the share is still taken.",
        ),
        (
            lambda p, share: _top_k(p, number(p, share) + 1),
            "That is one token too many: stop as soon as the sum has reached the share.",
        ),
        (unscaled, "What is left has to sum to 1: divide by the sum."),
        (in_order, "Go through the tokens in the order of their probability, the likeliest first."),
        (above, "The share is compared with the sum of the tokens taken, not with each of them."),
        (
            lambda p, share: unscaled(p, share) / share,
            "Divide by the sum of what is left, which may be more than the share.",
        ),
        (
            lambda p, share: p / p.sum(),
            "Nothing was removed: is the loop left when the sum has reached the share?",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    p = torch.tensor([0.3, 0.08, 0.5, 0.12], dtype=torch.double)
    trial.agrees(_top_p, p, 0.75, rule="it gives what the pencil gives", **look)
    trial.agrees(_top_p, p, 0.3, rule="the likeliest token always stays", **look)
    half = torch.tensor([0.25, 0.25, 0.5], dtype=torch.double)
    rule = "a sum that is just the share is enough"
    trial.agrees(_top_p, half, 0.5, rule=rule, **look)
    drawn, share = trial.normal(12).softmax(-1), trial.integer(40, 95) / 100
    trial.agrees(_top_p, drawn, share, rule="it is right for any distribution", **look)


def _cached_attention(q: Tensor, k: Tensor, v: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
    K, V = torch.cat([K, k[:, None]], 1), torch.cat([V, v[:, None]], 1)
    scores = (K @ q[:, :, None])[:, :, 0] / math.sqrt(q.shape[-1])
    return (scores.softmax(-1)[:, None] @ V)[:, 0], K, V


@turns.task(_cached_attention)
def cached_attention(trial: Trial) -> None:
    hint = (
        "First add the new key and value to K and V as a row, with torch.cat along dimension 1; "
        "then it is attention with a single query."
    )

    def changed(scale: float | None = None, own: bool = True, softmax: bool = True) -> Any:
        def slip(q: Tensor, k: Tensor, v: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
            longer, more = torch.cat([K, k[:, None]], 1), torch.cat([V, v[:, None]], 1)
            keys, values = (longer, more) if own else (K, V)
            scores = (keys @ q[:, :, None])[:, :, 0]
            scores = scores / (math.sqrt(q.shape[-1]) if scale is None else scale)
            weights = scores.softmax(-1) if softmax else scores
            return (weights[:, None] @ values)[:, 0], longer, more

        return slip

    def over_heads(q: Tensor, k: Tensor, v: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
        K, V = torch.cat([K, k[:, None]], 1), torch.cat([V, v[:, None]], 1)
        scores = (K @ q[:, :, None])[:, :, 0] / math.sqrt(q.shape[-1])
        return (scores.softmax(0)[:, None] @ V)[:, 0], K, V

    def in_front(q: Tensor, k: Tensor, v: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
        context = _cached_attention(q, k, v, K, V)[0]
        return context, torch.cat([k[:, None], K], 1), torch.cat([v[:, None], V], 1)

    def mixed(q: Tensor, k: Tensor, v: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
        K, V = torch.cat([k[:, None], K], 1), torch.cat([V, v[:, None]], 1)
        scores = (K @ q[:, :, None])[:, :, 0] / math.sqrt(q.shape[-1])
        return (scores.softmax(-1)[:, None] @ V)[:, 0], K, V

    def keys_twice(q: Tensor, k: Tensor, v: Tensor, K: Tensor, V: Tensor) -> tuple[Tensor, ...]:
        return _cached_attention(q, k, k, K, K)[0], *_cached_attention(q, k, v, K, V)[1:]

    slips: list[Slip] = [
        (
            changed(own=False),
            "The new token looks at itself, too: use K and V with the new rows.",
        ),
        (changed(scale=1.0), "The scores are divided by the square root of d."),
        (
            lambda q, k, v, K, V: changed(scale=float(q.shape[-1]))(q, k, v, K, V),
            "The scores are divided by the square root of d, not by d.",
        ),
        (changed(softmax=False), "The scores become weights by a softmax over the tokens."),
        (over_heads, "The softmax runs over the tokens (the last dimension), not over the heads."),
        (in_front, "The new rows come last: the cache is in the order of the text."),
        (mixed, "The new rows come last, in K and in V: the cache is in the order of the text."),
        (
            lambda *given: (_cached_attention(*given)[0], *given[3:]),
            "Hand back K and V with the new rows in them.",
        ),
        (lambda *given: _cached_attention(*given)[0], "Hand back three: return context, K, V."),
        (keys_twice, "The weights are applied to the values, not to the keys."),
        (
            lambda q, k, v, K, V: (v, *_cached_attention(q, k, v, K, V)[1:]),
            "That is the token's own value: the context is a weighted mean of all values.",
        ),
    ]
    for H, d, t in ((2, 4, 3), (3, 2, 0), (1, 8, trial.integer(4, 9))):
        q, k, v = trial.normal(3, H, d)
        K, V = trial.normal(2, H, t, d)
        rule = "context, keys and values are right" if t else "the first token finds an empty cache"
        given = f"random q, k, v ({H}, {d}) and a cache of {t} tokens"
        trial.agrees(
            _cached_attention, q, k, v, K, V, rule=rule, hint=hint, slips=slips, given=given
        )
    q, k, v = trial.normal(3, 5, 2, 4)  # five tokens, two heads
    K, V = torch.zeros(2, 2, 0, 4, dtype=torch.double)
    for step in range(5):
        found = trial.call(q[step], k[step], v[step], K, V, given="five tokens, one after another")
        context, K, V = found
        scores = k[: step + 1].transpose(0, 1) @ q[step][:, :, None] / 2
        expected = (scores[:, :, 0].softmax(-1)[:, None] @ v[: step + 1].transpose(0, 1))[:, 0]
        trial.equals(context, expected, "token by token it is causal attention", hint)


def _verify(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    missing = (p - q).clamp(min=0)
    return (p / q).clamp(max=1), missing / missing.sum(-1, keepdim=True)


@turns.task(_verify)
def verify(trial: Trial) -> None:
    hint = "accept is min(1, p/q); the residual is max(p - q, 0), divided by its sum over tokens."

    def accept(p: Tensor, q: Tensor) -> Tensor:
        return _verify(p, q)[0]

    def residual(p: Tensor, q: Tensor) -> Tensor:
        return _verify(p, q)[1]

    turned = "The drafts come from q and are to be corrected towards p: which divides which?"
    slips: list[Slip] = [
        (lambda p, q: ((q / p).clamp(max=1), residual(p, q)), turned),
        (lambda p, q: _verify(q, p), turned),
        (
            lambda p, q: (accept(p, q), residual(q, p)),
            "The residual holds what q gives too little of: p - q, not q - p.",
        ),
        (lambda p, q: (p / q, residual(p, q)), "A probability is at most 1: min(1, p/q)."),
        (
            lambda p, q: (accept(p, q), (p - q).clamp(min=0)),
            "The residual is a distribution: divide it by its sum.",
        ),
        (
            lambda p, q: (accept(p, q), (p - q).abs() / (p - q).abs().sum(-1, keepdim=True)),
            "Where q is larger than p nothing is missing: max(p - q, 0), not the absolute value.",
        ),
        (
            lambda p, q: (accept(p, q), p),
            "What is rejected is replaced from the residual, not from p again.",
        ),
        (
            lambda p, q: (accept(p, q), (p - q).clamp(min=0) / (p - q).clamp(min=0).sum()),
            "For several distributions at once, each has a sum of its own: sum(-1, keepdim=True).",
        ),
        (lambda p, q: (residual(p, q), accept(p, q)), "The probability of accepting comes first."),
        (accept, "Hand back both: return accept, residual."),
        (residual, "Hand back both: return accept, residual."),
    ]
    look = {"hint": hint, "slips": slips}
    p, q = trial.normal(2, 5).softmax(-1)
    rule = "it is right for any distributions"
    trial.agrees(_verify, p, q, rule=rule, given="random p and q (5,)", **look)
    p, q = torch.tensor([[0.5, 0.5], [0.8, 0.2]], dtype=torch.double)
    given = "p = (0.5, 0.5), q = (0.8, 0.2)"
    trial.agrees(_verify, p, q, rule="it gives what the pencil gives", given=given, **look)
    p, q = trial.normal(2, 3, 4).softmax(-1)
    rule = "it is right for several at once"
    trial.agrees(_verify, p, q, rule=rule, given="random p and q (3, 4)", **look)


def _one_round(drafted: list[int], p: Tensor, q: Tensor, generator: torch.Generator) -> list[int]:
    for i, x in enumerate(drafted):
        accept, residual = _verify(p[i], q[i])
        if torch.rand((), generator=generator) >= accept[x]:
            return [*drafted[:i], int(torch.multinomial(residual, 1, generator=generator))]
    return [*drafted, int(torch.multinomial(p[-1], 1, generator=generator))]


@turns.task(_one_round)
def one_round(trial: Trial) -> None:
    hint = (
        "Go through the drafts. Draw a number between 0 and 1; below accept[x] the draft is "
        "accepted, otherwise one token from the residual ends the round. Who comes to the end of "
        "the drafts draws one more, from p[-1]."
    )
    # Token 0 is rejected for certain where q and p are these, and the residual is all token 3's.
    q = torch.tensor([0.4, 0.2, 0.3, 0.1], dtype=torch.double)
    rejecting = torch.tensor([0.0, 0.2, 0.3, 0.5], dtype=torch.double)

    def of(token: int) -> Tensor:
        """A distribution in which one token has all; as a draft it is accepted for certain."""
        return torch.eye(4, dtype=torch.double)[token]

    def holds(
        rule: str, drafted: list[int], p: list[Tensor], expected: list[int],
        slips: dict[tuple[int, ...], str],
    ) -> None:  # fmt: skip
        qs, ps = q.repeat(len(drafted), 1), torch.stack(p)
        for seed in range(20):
            generator = torch.Generator().manual_seed(seed)
            given = f"drafted = {drafted}, a generator with the seed {seed}"
            got = trial.call(drafted, ps, qs, generator, given=given, hint=hint)
            wrong = [(list(value), words) for value, words in slips.items()]
            trial.equals(got, expected, rule, hint, slips=wrong, given=given)

    more = "All drafts were accepted: the same pass gives one more token, drawn from p[-1]."
    turned = "The draft is accepted if the random number is *below* accept[x]."
    holds(
        "three drafts that p is sure of are accepted, and one more is drawn",
        [1, 0, 2], [of(1), of(0), of(2), of(3)], [1, 0, 2, 3],
        {
            (1, 0, 2): more,
            (1, 0, 2, 2): "The one more comes from the *last* row of p, p[-1].",
            (3,): "The drafts that were accepted belong to the new tokens.",
            (1,): turned,
        },
    )  # fmt: skip
    last = "The one more is drawn only if *all* drafts were accepted."
    again = "What is rejected is replaced from the residual of its own position, not from p again."
    dropped = "With the first rejection the round ends: all later drafts are dropped."
    holds(
        "a draft that p forbids is replaced from the residual, and the round ends",
        [0, 1, 2], [rejecting, of(1), of(2), of(2)], [3],
        {
            (1,): again, (2,): again, (0,): "Token 0 has no probability in p: it is rejected.",
            (0, 1, 2, 2): "Token 0 has no probability in p: it is rejected.",
            (): "What is rejected is replaced: one token from the residual.",
            (3, 1, 2, 2): dropped, (3, 1, 2): dropped, (1, 2, 2): dropped, (1, 2): dropped,
            (3, 2): last,
        },
    )  # fmt: skip
    holds(
        "in the middle, what was accepted before it stays",
        [1, 0, 2], [of(1), rejecting, of(2), of(2)], [1, 3],
        {
            (3,): "The drafts that were accepted before it belong to the new tokens.",
            (1,): "What is rejected is replaced: one token from the residual.",
            (1, 1): again, (1, 2): again, (1, 0, 3): "The rejected draft itself is left out.",
            (1, 3, 2, 2): dropped, (1, 3, 2): dropped, (1, 2, 2): dropped, (1, 3, 2, 1): dropped,
        },
    )  # fmt: skip
    holds(
        "where the last draft is rejected, nothing is added to its replacement",
        [1, 2, 0], [of(1), of(2), rejecting, of(1)], [1, 2, 3],
        {(1, 2, 3, 1): last, (1, 2, 1): again, (1, 2, 2): again},
    )  # fmt: skip
    q = torch.tensor([[0.6, 0.3, 0.1]] * 2, dtype=torch.double)
    p = torch.tensor([[0.2, 0.5, 0.3], [0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], dtype=torch.double)
    count = 2_000
    drafts = torch.multinomial(q[0], 2 * count, replacement=True, generator=trial.generator)
    pairs = drafts.view(-1, 2).tolist()

    def write(many: list[list[int]], seed: int) -> list[list[int]]:
        generator, given = torch.Generator().manual_seed(seed), "two drafts, V = 3"
        return [trial.call(list(x), p, q, generator, given=given, hint=hint) for x in many]

    def share(rounds: list[list[int]], position: int, token: int) -> float:
        return sum(int(new[position]) == token for new in rounds) / max(1, len(rounds))

    rule = "the same seed gives the same round"
    words = "Draw all random numbers from the generator that is handed in: generator=generator."
    rounds = write(pairs, 1)
    trial.equals(write(pairs[:40], 1), rounds[:40], rule, words, given="two generators, one seed")
    given = f"{count:,} rounds of two drafts"
    # All bounds are more than four standard errors.
    words = (
        "Which token replaces a rejected one is a matter of chance: draw it from the residual by "
        "torch.multinomial, and do not take the likeliest."
    )
    replaced = share([new for new in rounds if len(new) == 1], 0, 1)
    rule = "half of the rejected first drafts become token 1, for a residual of (0, 1/2, 1/2)"
    trial.holds(abs(replaced - 0.5) < 0.08, rule, words, given=given, got=replaced, expected=0.5)
    words = "The one more is a matter of chance, too: draw it from p[-1] by torch.multinomial."
    longest = [new for new in rounds if len(new) == 3]
    last_is_2 = share(longest, 2, 2)
    rule = "half of the added tokens are token 2, for a last row of (0.2, 0.3, 0.5)"
    trial.holds(abs(last_is_2 - 0.5) < 0.09, rule, words, given=given, got=last_is_2, expected=0.5)
    words = (
        "With chance accept[x] the draft stays: compare a new random number with it each time, and "
        "take accept and residual from verify(p[i], q[i])."
    )
    rule = "the first token has the target's probabilities"
    first = torch.bincount(torch.tensor([int(new[0]) for new in rounds]), minlength=3) / count
    near = bool(((first - p[0]).abs() < 0.05).all())
    trial.holds(near, rule, words, given=given, got=first, expected=p[0])
    words = (
        "Each draft is judged by a random number of its own. With one number for the whole round "
        "the drafts do not stay independently of each other."
    )
    both = len(longest) / count
    rule = "both drafts stay in 0.6 times 0.6 of the rounds"
    trial.holds(abs(both - 0.36) < 0.045, rule, words, given=given, got=both, expected=0.36)


def _induction_score(weights: Tensor, n: int) -> Tensor:
    t = torch.arange(n + 1, 2 * n + 1)
    return weights[t, t - n + 1].mean()


@turns.task(_induction_score)
def induction_score(trial: Trial) -> None:
    hint = "For t from n + 1 to 2n, take weights[t, t - n + 1], and average these n numbers."

    def at(back: int, first: int = 1, last: int = 1) -> Callable[[Tensor, int], float]:
        def slip(weights: Tensor, n: int) -> float:
            found = [float(weights[t, t - n + back]) for t in range(n + first, 2 * n + last)]
            return sum(found) / len(found)

        return slip

    slips: list[Slip] = [
        (at(0), "That is the weight on the same token, and the one after it is looked for."),
        (at(-1), "That is the token before the earlier one: the one after it is looked for."),
        (at(2), "That is one position too far."),
        (
            at(1, 0, 0),
            "The second round begins at position n + 1: position 0 holds the token `end`.",
        ),
        (at(1, 0, 1), "The second round begins at position n + 1."),
        (
            lambda weights, n: (n + 1) * at(1, 0, 1)(weights, n) / n,
            "The second round begins at position n + 1.",
        ),
        (
            lambda weights, n: (n - 1) * at(1, 1, 0)(weights, n) / n,
            "The last position, 2n, belongs to the second round.",
        ),
        (at(1, 1, 0), "The last position, 2n, belongs to the second round."),
        (
            lambda weights, n: at(1)(weights.T, n),
            "Rows look, columns are looked at: weights[looking, looked at].",
        ),
        (lambda weights, n: n * at(1)(weights, n), "A mean is asked for: divide the sum by n."),
        (
            lambda weights, n: n * at(1)(weights, n) / len(weights),
            "The second round has n positions: divide by n.",
        ),
        (
            lambda weights, n: float(weights.diagonal(-1).mean()),
            "That is the score of a previous-token head.",
        ),
    ]
    for n in (4, trial.integer(5, 9)):
        T = 1 + 2 * n
        weights = (
            trial.normal(T, T).masked_fill(torch.ones(T, T).triu(1) > 0, -math.inf).softmax(-1)
        )
        given = f"random weights ({T}, {T}), n = {n}"
        got = trial.call(weights, n, given=given, hint=hint)
        one = isinstance(got, float | int) or (isinstance(got, Tensor) and got.numel() == 1)
        words = "Hand back one number, the mean over all positions of the second round."
        trial.holds(one, "it is one number", words, given=given, got=got)
        wrong = ((slip(weights, n), words) for slip, words in slips)
        rule = "it is the mean weight on what followed last time"
        expected = float(_induction_score(weights, n))
        trial.equals(float(got), expected, rule, hint, slips=wrong, given=given)
