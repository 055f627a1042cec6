"""Checks of lab 06, tasks 2 and 3: whole words are hidden, and batches follow from their number."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from itertools import chain
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from helpers.course.checks.lab06.common import (
    IGNORED,
    MASKING,
    PAIRS,
    lab,
    on_its_device,
    without_loops,
)
from helpers.course.checks.trial import NOTHING, Complaint, Trial
from helpers.course.checks.turn import Slips

MASK = 99


def _hide_words(
    tokens: Tensor, begins: Tensor, special: Tensor, draw: Tensor, what: Tensor, random: Tensor,
    mask: int, share: float = 0.15,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    places = torch.arange(tokens.shape[1], device=tokens.device)
    first = torch.where(begins, places, 0).cummax(-1).values  # where the token's word begins
    chosen = (draw.gather(-1, first) < share) & ~special
    inputs = torch.where(chosen & (what < 0.8), mask, tokens)
    inputs = torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)
    return inputs, torch.where(chosen, tokens, -100)


_EDGE = "A number that is just `share`, 0.8 or 0.9 is no longer below it."
_SLIPS = Slips(
    _hide_words,
    f"""
    < share => <= share
        {_EDGE}
    draw.gather(-1, first) => draw
        Here each token is chosen by its own number. A word is chosen, or not, by the number of its
        first token, and then all of its tokens are.
    & ~special => & ~special & begins
        All tokens of a chosen word are chosen, not its first one alone.
    chosen = (draw.gather(-1, first) => \
    ends = torch.cat([begins[:, 1:], begins[:, :1] | True], 1).flip(-1); \
    last = places[-1] - torch.where(ends, places, 0).cummax(-1).values.flip(-1); \
    chosen = (draw.gather(-1, last)
        The number of the first token of a word decides, not that of its last one.
    draw.gather(-1, first) => \
    torch.ones_like(draw).scatter_reduce(-1, first, draw, "amin").gather(-1, first)
        The number of the first token alone decides; those of the others do not count.
    inputs = torch.where(chosen & (what < 0.8) => \
    what = what.gather(-1, first); inputs = torch.where(chosen & (what < 0.8)
        What becomes of a chosen token is decided by its own `what`, not by that of the first token
        of its word.
    & ~special =>
        [CLS], [SEP] and [PAD] are never chosen. {PAIRS}
    & (what < 0.9) =>
        From 0.9 on a chosen token stays as it is.
    (what < 0.8) => (what < 0.9) ;; (what >= 0.8) & (what < 0.9) => (what >= 0.9)
        Below 0.8 it is [MASK], from there to 0.9 the random token, from 0.9 on it stays.
    chosen & (what < 0.8) => ~special & (what < 0.8) ;; \
    chosen & (what >= 0.8) => ~special & (what >= 0.8)
        The shares 80, 10 and 10 % are those of the chosen tokens, not of all. {MASKING}
    torch.where(chosen, tokens => torch.where(inputs == mask, tokens
        A chosen token that is swapped or kept has a target, too. {MASKING}
    torch.where(chosen, tokens => torch.where(inputs != tokens, tokens
        A chosen token that stays as it is has a target, too. {MASKING}
    torch.where(chosen, tokens, -100) => tokens
        Only chosen tokens have a target; the others have -100.
    torch.where(chosen, tokens, -100) => torch.where(chosen, inputs, -100)
        The target is the token that stood there before anything was hidden.
    -100 => 0
        0 is a token like others: no target is -100.
    < share => < 0.15
        `share` is handed over: it is 0.15 only where it is left out.
    draw.gather(-1, first) => (draw * begins).cummax(-1).values
        cummax of `draw` is the largest number of all words so far, so a word is chosen by one
        before it. Take cummax of positions, and read `draw` there with gather.
    """,
)
_RANDOM = "From 0.8 to below 0.9 a chosen token becomes the token in `random` at the same place."


def _rows(trial: Trial, B: int, T: int) -> tuple[Tensor, ...]:
    """tokens, begins, special, draw, what, random for B rows that end in padding."""
    tokens = trial.integers(10, 60, B, T)
    begins = torch.rand(B, T, generator=trial.generator) < 0.5
    special = torch.zeros(B, T, dtype=torch.bool)
    special[:, 0] = True
    for row in range(1, B):
        special[row, T - trial.integer(1, max(2, T // 3)) :] = True
    begins[:, :2] = True
    begins |= special
    tokens = tokens.masked_fill(special, 90)
    draw, what = (torch.rand(B, T, generator=trial.generator) for _ in range(2))
    return tokens, begins, special, draw, what, trial.integers(60, 80, B, T)


@lab.task(_hide_words)
def hide_words(trial: Trial) -> None:
    hint = (
        "Which position does the word of each token begin at? torch.where(begins, place, 0) and "
        "cummax(-1).values tell it, and draw.gather(-1, first) reads the word's number there. "
        f"{MASKING}"
    )
    pair = "Hand back two things: return inputs, targets."

    def try_on(rule: str, arguments: tuple, given: str, words: str = hint,
               **named: float) -> None:  # fmt: skip
        got = trial.call(*arguments, given=given, hint=words, **named)
        fine = isinstance(got, tuple | list) and len(got) == 2
        trial.holds(fine, "two things come back", NOTHING if got is None else pair, got=got)
        expected = _hide_words(*arguments, **named)
        swapped = (expected[1] != IGNORED) & (expected[0] == arguments[5])
        for place, name in enumerate(("inputs", "targets")):
            others = place == 0 and _fits(got[0], swapped)
            others = others and torch.equal(got[0][~swapped], expected[0][~swapped])
            slips = chain(
                [(got[0], _RANDOM)] if others else [],
                ((version(*arguments, **named)[place], words) for version, words in _SLIPS),
            )
            if name == "inputs" and len(got) == 2 and _alike(got[0], expected[1]):
                trial.holds(False, "inputs come first", pair, given=given)
            trial.equals(got[place], expected[place], f"{rule}: {name}", words, slips=slips,
                         given=given)  # fmt: skip

    rows = (
        torch.tensor([[90, 11, 12, 13, 14, 15, 16, 91]]),
        torch.tensor([[True, True, False, True, True, False, False, True]]),
        torch.tensor([[True, *[False] * 6, True]]),
        torch.tensor([[0.01, 0.10, 0.90, 0.50, 0.05, 0.12, 0.40, 0.02]]),
        torch.tensor([[0.10, 0.50, 0.30, 0.10, 0.30, 0.82, 0.95, 0.10]]),
        torch.tensor([[71, 72, 73, 74, 75, 76, 77, 78]]),
    )
    given = "tokens [CLS] 11 12 | 13 | 14 15 16 [SEP], of three words; draw 0.01, 0.10 0.90, 0.50, "
    given += "0.05 0.12 0.40, 0.02; what 0.1, 0.50 0.30, 0.1, 0.30 0.82 0.95, 0.1; random 71 to 78"
    try_on("by hand", (*rows, MASK), given)
    tokens, _, special = rows[:3]
    edges = torch.tensor([[0.1, 0.5, 0.4, 0.4, 0.4, 0.4, 0.4, 0.1]])
    kinds = torch.tensor([[0.1, 0.1, 0.1, 0.8, 0.9, 0.1, 0.8, 0.1]])
    border = (tokens, torch.ones_like(special), special, edges, kinds, rows[5], MASK)
    given = "six words of one token; draw 0.5, then 0.4; what 0.1, 0.1, 0.8, 0.9, 0.1, 0.8; share "
    given += "= 0.5"
    try_on("a number that is no longer below", border, given, _EDGE, share=0.5)
    for B, T in ((4, 12), (6, 9)):
        arguments = _rows(trial, B, T)
        where = f"{B} rows of {T} tokens, share = "
        try_on("random rows", (*arguments, MASK), f"{where}0.5", share=0.5)
        try_on("random rows", (*arguments, MASK), f"{where}0.3", share=0.3)
    many = _rows(trial, 60, 20)
    try_on("BERT's share, 15 %", (*many, MASK), "60 rows of 20 tokens, share left out")
    try_on("another [MASK]", (*many, 7), "60 rows of 20 tokens, mask = 7")
    loops = "A loop does one token after the other, and Python is slow at that: write it for all "
    loops += "of them at once, with cummax and gather."
    without_loops(trial, lambda n: (*_rows(trial, 3, n), MASK), (12, 92), "tokens in a row", loops)
    on_its_device(trial, lambda: trial.answer(*[x.to("meta") for x in many], MASK),
                  "all on another device")  # fmt: skip


hide_words.slips = _SLIPS


def _fits(got: Any, expected: Tensor) -> bool:
    return isinstance(got, Tensor) and got.shape == expected.shape and not got.is_floating_point()


def _alike(got: Any, expected: Tensor) -> bool:
    return isinstance(got, Tensor) and got.shape == expected.shape and torch.equal(got, expected)


def _batch_of(step: int, texts: Tensor, B: int, seed: int, hide: Callable) -> tuple[Tensor, Tensor]:
    number, place = divmod(step, len(texts) // B)
    of_pass = torch.Generator().manual_seed(10**9 * seed + 2 * number)
    of_step = torch.Generator().manual_seed(10**9 * seed + 2 * step + 1)
    order = torch.randperm(len(texts), generator=of_pass)
    return hide(texts[order[place * B : (place + 1) * B]], of_step)


class _World:
    """Texts that can be told apart, and a masking that shows which numbers it drew."""

    T = 4

    def __init__(self, trial: Trial, N: int) -> None:
        self.trial, self.N = trial, N
        self.of_masks = 0  # the seed of the generator that hide gets
        self.texts = 10 * torch.arange(N)[:, None] + torch.arange(self.T)

    def batch(self, step: int, B: int, seed: int, seconds: float = 20.0) -> tuple[list[int], list]:
        """The numbers of a batch's texts, and what its masking drew."""
        given = f"batch_of({step}, texts of shape {tuple(self.texts.shape)}, {B}, {seed}, hide)"
        calls: list[Any] = []

        def hide(rows: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
            calls.append((rows, generator))
            fine = isinstance(rows, Tensor) and tuple(rows.shape) == (B, self.T)
            words = f"hide gets the {B} texts of this batch, {(B, self.T)}, and a generator."
            if not fine or not isinstance(generator, torch.Generator):
                got = f"{getattr(rows, 'shape', type(rows))}, {type(generator).__name__}"
                raise Complaint("hide is called with the batch and a generator", words, given, got)
            self.of_masks = generator.initial_seed()
            return rows.clone(), torch.rand(B, self.T, generator=generator)

        before = torch.random.get_rng_state()
        got = self.trial.call(step, self.texts, B, seed, hide, given=given, seconds=seconds)
        after = torch.random.get_rng_state()
        own = "Make a torch.Generator() of its own and seed that. torch.manual_seed, or randperm "
        own += "and rand without a generator, use the one that everybody shares: whoever draws "
        own += "from it in between changes your batch, and you change theirs."
        self.trial.holds(torch.equal(before, after), "the shared generator is left alone", own,
                         given=given)  # fmt: skip
        pair = isinstance(got, tuple | list) and len(got) == 2
        fine = pair and all(
            isinstance(part, Tensor) and tuple(part.shape) == (B, self.T) for part in got
        )
        words = NOTHING if got is None else "Hand back what hide(rows, generator) hands back."
        once = "batch_of calls hide once, with the texts of this batch: batch number 1,000,000 "
        once += "must not cost a million batches."
        self.trial.holds(len(calls) == 1, "hide is called once", once if calls else words,
                         given=given, got=f"{len(calls)} calls")  # fmt: skip
        self.trial.holds(fine, "it hands back what hide makes of a batch", words, given=given,
                         got=got)  # fmt: skip
        numbers = (got[0][:, 0] // 10).tolist()
        whole = all(n in range(self.N) for n in numbers)
        whole = whole and torch.equal(got[0], self.texts[torch.tensor(numbers)])
        self.trial.holds(whole, "a batch is made of whole texts", "Rows of texts are chosen, such "
                         "as texts[rows] with the numbers of the rows.", given=given)  # fmt: skip
        return numbers, got[1].flatten().tolist()


@lab.task(_batch_of)
def batch_of(trial: Trial) -> None:
    N, B, seed = 23, 4, trial.integer(1, 50)
    per_pass = N // B
    world = _World(trial, N)
    where = f"{N} texts, B = {B}, seed {seed}, steps "
    first = world.batch(3, B, seed)
    torch.rand(trial.integer(1, 9))  # somebody else draws from the shared generator
    world.batch(7, B, seed)
    trial.holds(
        world.batch(3, B, seed) == first,
        "the same step gives the same batch again",
        "Nothing may be kept between calls, and no number may come from a generator that was not "
        "seeded in this very call.",
        given=f"{where}3, 7, 3",
    )
    passes = [
        [world.batch(step, B, seed) for step in range(n * per_pass, (n + 1) * per_pass)]
        for n in range(3)
    ]
    for n, batches in enumerate(passes):
        read = [text for texts, _ in batches for text in texts]
        trial.holds(
            len(set(read)) == B * per_pass,
            f"a pass of {per_pass} batches reads no text twice",
            "The order is that of the pass: all its steps must make the same one, so it is seeded "
            "with the number of the pass, step // (N // B), and not with the step; and step % (N "
            "// B) says which piece of it is meant.",
            given=f"{where}{n * per_pass} to {(n + 1) * per_pass - 1}",
            got=f"{len(set(read))} different texts",
            expected=B * per_pass,
        )
    orders = [[text for texts, _ in batches for text in texts] for batches in passes]
    trial.holds(
        orders[0] != list(range(B * per_pass)),
        "the texts are shuffled",
        "torch.randperm(N, generator=...) gives an order.",
        given=f"{where}0 to {per_pass - 1}",
        got=orders[0],
    )
    trial.holds(
        orders[0] != orders[1] != orders[2],
        "every pass has another order",
        "The order is seeded with the seed and the number of the pass.",
        given=f"{where}0 to {3 * per_pass - 1}",
        got=orders[:2],
    )
    drawn = [numbers for batches in passes for _, numbers in batches]
    trial.holds(
        all(a != b for i, a in enumerate(drawn[:per_pass]) for b in drawn[:i]),
        "every batch of a pass is masked in its own way",
        "The masking is seeded with the step: with the number of the pass alone all batches of a "
        "pass would be hidden at the same positions.",
        given=f"{where}0 to {per_pass - 1}",
    )
    trial.holds(
        not {*map(tuple, drawn[:per_pass])} & {*map(tuple, drawn[per_pass:])},
        "every pass is masked anew",
        "The masking is seeded with the step itself, and not with its place in the pass.",
        given=f"{where}0 to {3 * per_pass - 1}",
    )
    other = [world.batch(step, B, seed + 1) for step in range(per_pass)]
    another = "The seed counts for the order and for the masking. Of the number that manual_seed "
    another += "gets only the last 32 bits count: seed * 2**32 is lost, an odd factor is not."
    trial.holds([t for t, _ in other] != [t for t, _ in passes[0]], "another seed, another order",
                another, given=f"seeds {seed} and {seed + 1}")  # fmt: skip
    masks = {tuple(numbers) for _, numbers in other}
    trial.holds(masks != {*map(tuple, drawn[:per_pass])}, "another seed, other masks", another,
                given=f"seeds {seed} and {seed + 1}")  # fmt: skip
    later = {tuple(numbers) for numbers in drawn}
    trial.holds(
        not masks & later,
        "no two seeds share their masks",
        "seed + step is the same number for seed 1, step 4 and for seed 2, step 3: two runs would "
        "see the same masks, one step apart. Multiply the seed by a large number first.",
        given=f"seeds {seed} and {seed + 1}",
    )
    again = {tuple(texts) for texts, _ in other}
    shifted = {tuple(texts) for batches in passes for texts, _ in batches}
    trial.holds(
        not again & shifted,
        "no two seeds share their orders",
        "seed + number of the pass is the same for two seeds: their orders repeat each other, one "
        "pass apart. Multiply the seed by a large number first.",
        given=f"seeds {seed} and {seed + 1}",
    )
    exact = [_World(trial, 8).batch(step, B, seed)[0] for step in range(2)]
    hint = "With N = 8 and B = 4 a pass has two batches: N // B."
    trial.holds(len({*exact[0], *exact[1]}) == 8, "batches that fit exactly", hint,
                given=f"8 texts, B = {B}, seed {seed}, steps 0 and 1", got=exact)  # fmt: skip
    long = "Go to the step at once, with divmod(step, N // B): no loop over earlier steps."
    try:
        world.batch(3_000_000_001, B, seed, seconds=5.0)
    except Complaint as wrong:
        wrong.hint = long if wrong.rule.startswith("it comes to an end") else wrong.hint
        raise
    trial.holds(True, "it goes to any step at once", long)
    _after_a_restart(trial, world, seed)
    _apart(trial)


def _after_a_restart(trial: Trial, world: _World, seed: int) -> None:
    """No number comes from Python's hash of a text."""
    before, real = world.batch(6, 4, seed), hash

    def another_start(value: Any) -> int:
        return real(("another start", value)) if _holds_text(value) else real(value)

    with mock.patch.object(builtins, "hash", another_start):
        after = world.batch(6, 4, seed)
    trial.holds(
        before == after,
        "the same batch today and tomorrow",
        "Python's hash of a text is another number in each start of Python, so a training that "
        "goes on tomorrow would get other batches. Make the number from step and seed by sums "
        "and products.",
        given=f"seed {seed}, step 6, before and after a restart",
    )


def _holds_text(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return True
    return isinstance(value, tuple | frozenset) and any(map(_holds_text, value))


_APART = (
    "manual_seed got the same number twice, in its last 32 bits. seed + step is the same for seed "
    "1, step 4 and for seed 2, step 3, and 1,000 * seed + step soon is, too; 1,000 * pass + place "
    "is that of another seed, or of another pass if a pass is long; a product gives 0 for seed 0. "
    "Take the step itself for the masking and the number of the pass for the order, and add a "
    "large multiple of the seed, such as 1,000,003 * seed."
)
_ANEW = (
    "Each pass is shuffled anew, by a generator seeded with the seed and the number of the pass: "
    "an order that is only rolled comes again some passes later."
)


def _apart(trial: Trial) -> None:
    """Seeds that lie side by side share no order and no mask, in the first steps and far away."""
    N, B, seeds = 23, 11, range(4)  # two batches a pass; no two orders of 11 texts by chance
    world, begin = _World(trial, N), []
    for seed in seeds:
        world.batch(0, B, seed)
        begin.append(world.of_masks)
    steps = {*range(150), *(10**k + j for k in range(3, 6) for j in range(3))}
    # Where seed 0 comes to the number that another seed begins with, if each step adds 1.
    steps |= {number - begin[0] for number in begin if 0 <= number - begin[0] < 10**6}
    for what in ("a mask", "an order"):
        seen: dict[tuple, tuple[int, int]] = {}
        for seed in seeds:
            for step in sorted(steps):
                step = 2 * step if what == "an order" else step  # where a pass begins
                texts, mask = world.batch(step, B, seed)
                before = seen.setdefault(tuple(texts if what == "an order" else mask), (seed, step))
                pair = f"seed {before[0]}, step {before[1]} and seed {seed}, step {step}"
                hint = _ANEW if what == "an order" and before[0] == seed else _APART
                trial.holds(
                    before == (seed, step),
                    f"no two of the seeds 0 to 3 share {what}, and no seed has it twice",
                    f"{pair.capitalize()} share {what}. {hint}",
                    given=pair,
                )
