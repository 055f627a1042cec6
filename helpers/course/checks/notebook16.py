"""Your turn with encoder and decoder: masks, block, forcing, writing, spans, prefixes, score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward
from helpers.models.encoder_decoder import DecoderBlock

turns = Lab("notebook16")
Slip = tuple[Callable[..., Any], str]
Masks = tuple[Tensor, Tensor, Tensor]

WHO = see(16, "Who may look at whom")
BLOCK = see(16, "The decoder block")
FORCING = see(16, "Teacher forcing, and the phrase grammar again")
ONCE = see(16, "Writing: the source is read once")
SPANS = see(16, "Cut spans out of a text, and write them")
PREFIXES = see(16, "One model, three prefixes")
STORIES = see(16, "Does it read the story?")


def _three_masks(source: Tensor, T: int, pad: int) -> Masks:
    S, real = len(source), source != pad
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return real.expand(S, S), causal, real.expand(T, S)


@turns.task(_three_masks)
def three_masks(trial: Trial) -> None:
    hint = (
        "Padding is a matter of columns: nobody looks at it. In the encoder and in the cross-"
        "attention nothing else is forbidden; in the decoder row t may look at the columns up to "
        f"t. {WHO}"
    )

    def changed(place: int, change: Callable[[Tensor], Tensor]) -> Callable[..., Masks]:
        def slip(source: Tensor, T: int, pad: int) -> Masks:
            found = [mask.clone() for mask in _three_masks(source, T, pad)]
            found[place] = change(found[place])
            return found[0], found[1], found[2]

        return slip

    def padded(source: Tensor, T: int, pad: int) -> Masks:
        return _three_masks(torch.full_like(source, pad + 1), T, pad)

    def rows(source: Tensor, T: int, pad: int) -> Masks:
        encoder, decoder, cross = _three_masks(source, T, pad)
        return encoder.T, decoder, cross

    def both(source: Tensor, T: int, pad: int) -> Masks:
        encoder, decoder, cross = _three_masks(source, T, pad)
        return encoder & encoder.T, decoder, cross

    def numbers(source: Tensor, T: int, pad: int) -> Masks:
        encoder, decoder, cross = (m.float() for m in _three_masks(source, T, pad))
        return encoder, decoder, cross

    slips: list[Slip] = [
        (
            lambda *given: tuple(~mask for mask in _three_masks(*given)),
            "True means *may look* here, and False that it is forbidden: these are the opposite.",
        ),
        (
            changed(0, lambda mask: mask.tril()),
            "The encoder has read the whole sentence: a word may also look at later ones.",
        ),
        (
            changed(1, lambda mask: torch.ones_like(mask)),
            "In the decoder the future is hidden: row t may not look at the columns behind t.",
        ),
        (
            changed(1, lambda mask: mask.tril(-1)),
            "A position of the decoder may look at itself, too: the diagonal is allowed.",
        ),
        (
            changed(1, lambda mask: mask.T),
            "The decoder looks at the past here turned round: row t may look at columns up to t.",
        ),
        (
            changed(2, lambda mask: mask.tril()),
            "The cross-attention has no triangle: the source has been read as a whole.",
        ),
        (
            changed(2, lambda mask: mask.T),
            "In the cross-attention the decoder looks, so its T positions are the rows: (T, S).",
        ),
        (
            padded,
            "Padding is forbidden as something to look at: where source is pad, the column is "
            "False.",
        ),
        (rows, "Padding is forbidden as something to look *at*: it is a column, not a row."),
        (
            both,
            "Only the columns of the padding are forbidden. If its rows are, too, such a row has "
            "nothing left to look at.",
        ),
        (numbers, "Bool tensors are asked for, True and False."),
    ]
    for S, paddings, T in ((3, 1, 3), (5, 0, 4), (trial.integer(2, 6), 2, trial.integer(2, 7))):
        source = torch.cat([trial.integers(3, 20, S), torch.zeros(paddings, dtype=torch.long)])
        rule = f"{S} words, {paddings} paddings"
        given = f"source {source.tolist()}, T = {T}, pad = 0"
        got = trial.call(source, T, 0, given=given, hint=hint)
        plain = isinstance(got, tuple | list) and len(got) == 3
        words = "Hand back three tensors: encoder, decoder, cross."
        trial.holds(plain, "three masks", words, given=given, got=got)
        wanted = _three_masks(source, T, 0)
        wrong = ((slip(source, T, 0), text) for slip, text in slips)
        shapes = [tuple(mask.shape) for mask in got if isinstance(mask, Tensor)]
        fits = shapes == [tuple(mask.shape) for mask in wanted]
        is_bool = all(isinstance(mask, Tensor) and mask.dtype == torch.bool for mask in got)
        if fits and not is_bool:
            trial.holds(False, "bool tensors", slips[-1][1], given=given, got=got)
        trial.equals(tuple(got), wanted, rule, hint, slips=wrong, given=given)


def _decoder_block(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
    x = x + p.attention(p.attention_norm(x), causal=True)
    x = x + p.cross_attention(p.cross_norm(x), memory, mask=mask)
    return x + p.feed_forward(p.feed_forward_norm(x))


def _parts(trial: Trial, D: int, H: int) -> DecoderBlock:
    """A decoder block's parts with random weights, gains and biases included."""
    attentions = [MultiHeadAttention(D, H, bias=True) for _ in range(2)]
    made = DecoderBlock(D, *attentions, FeedForward(D)).double().eval()
    for parameter in made.parameters():
        parameter.data = 0.6 * trial.normal(*parameter.shape)
    for part in made.modules():
        if isinstance(part, nn.LayerNorm):
            part.weight.data += 1
    return made.requires_grad_(False)


def _with(**changes: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The block with some of its three lines exchanged: (p, x, memory, mask) -> x."""

    def first(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return x + p.attention(p.attention_norm(x), causal=True)

    def second(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return x + p.cross_attention(p.cross_norm(x), memory, mask=mask)

    def third(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return x + p.feed_forward(p.feed_forward_norm(x))

    lines = {"first": first, "second": second, "third": third} | changes

    def block(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        for name in ("first", "second", "third"):
            x = lines[name](p, x, memory, mask)
        return x

    return block


@turns.task(_decoder_block)
def decoder_block(trial: Trial) -> None:
    hint = (
        "Three times the same: x plus a sub-layer of the normalized x. First the causal self-"
        f"attention, then the cross-attention to the memory, then the feed-forward layer. {BLOCK}"
    )

    def post_norm(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = p.attention_norm(x + p.attention(x, causal=True))
        x = p.cross_norm(x + p.cross_attention(x, memory, mask=mask))
        return p.feed_forward_norm(x + p.feed_forward(x))

    def at_once(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        own = p.attention(p.attention_norm(x), causal=True)
        x = x + own + p.cross_attention(p.cross_norm(x), memory, mask=mask)
        return x + p.feed_forward(p.feed_forward_norm(x))

    def cross_first(p: Any, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + p.cross_attention(p.cross_norm(x), memory, mask=mask)
        x = x + p.attention(p.attention_norm(x), causal=True)
        return x + p.feed_forward(p.feed_forward_norm(x))

    around = "The residual connection is missing: each line adds what it finds to x."
    slips: list[Slip] = [
        (
            _with(first=lambda p, x, memory, mask: x + p.attention(p.attention_norm(x))),
            "The self-attention looks ahead: hide the future with causal=True.",
        ),
        (
            _with(second=lambda p, x, memory, mask: x + p.cross_attention(p.cross_norm(x), memory)),
            "The padding of the memory is looked at: hand the mask to the cross-attention.",
        ),
        (
            _with(
                second=lambda p, x, memory, mask: (
                    x + p.cross_attention(p.cross_norm(x), p.cross_norm(memory), mask=mask)
                )
            ),
            "The memory is taken as it is: the encoder has normalized it once, at its end.",
        ),
        (
            _with(second=lambda p, x, memory, mask: x + p.cross_attention(p.cross_norm(x))),
            "The memory is not used: the cross-attention's keys and values come from it.",
        ),
        (
            _with(
                second=lambda p, x, memory, mask: x + p.cross_attention(x, memory, mask=mask),
            ),
            "The cross-attention, too, reads a normalized x: p.cross_norm.",
        ),
        (
            _with(
                first=lambda p, x, memory, mask: p.attention(p.attention_norm(x), causal=True),
            ),
            around,
        ),
        (
            _with(
                second=lambda p, x, memory, mask: p.cross_attention(
                    p.cross_norm(x), memory, mask=mask
                )
            ),
            around,
        ),
        (
            _with(third=lambda p, x, memory, mask: p.feed_forward(p.feed_forward_norm(x))),
            around,
        ),
        (
            _with(third=lambda p, x, memory, mask: x),
            "The feed-forward layer is missing, the third of the sub-layers.",
        ),
        (
            _with(first=lambda p, x, memory, mask: x),
            "The self-attention is missing, the first of the sub-layers.",
        ),
        (
            _with(second=lambda p, x, memory, mask: x),
            "The cross-attention is missing, the second of the sub-layers.",
        ),
        (
            _with(third=lambda p, x, memory, mask: x + p.feed_forward(x)),
            "The feed-forward layer, too, reads a normalized x: p.feed_forward_norm.",
        ),
        (
            _with(first=lambda p, x, memory, mask: x + p.attention(x, causal=True)),
            "The self-attention, too, reads a normalized x: p.attention_norm.",
        ),
        (
            post_norm,
            "These norms stand behind the additions, post-norm; here each sub-layer reads a "
            "normalized copy, and the stream itself is only added to.",
        ),
        (
            at_once,
            "The cross-attention asks with the x that the self-attention has changed: one line "
            "after the other.",
        ),
        (
            cross_first,
            "The order is self-attention, cross-attention, feed-forward: a word first learns from "
            "its own sentence what to look for.",
        ),
        (
            _with(
                second=lambda p, x, memory, mask: (
                    x + p.cross_attention(p.attention_norm(x), memory, mask=mask)
                )
            ),
            "Each sub-layer has a norm of its own: cross_norm for the cross-attention.",
        ),
        (
            _with(
                second=lambda p, x, memory, mask: (
                    x + p.cross_attention(p.cross_norm(x), memory, mask=mask, causal=True)
                )
            ),
            "The cross-attention has no triangle: the source has been read as a whole.",
        ),
    ]
    for B, T, S, D, H in ((1, 3, 3, 4, 1), (2, 4, 6, 8, 2), (3, 1, 5, 6, 3)):
        p, x, memory = _parts(trial, D, H), trial.normal(B, T, D), trial.normal(B, S, D)
        mask = torch.arange(S) < torch.tensor([S, S - 2, 1])[:B, None]
        given = f"random parts, D = {D}, H = {H}, T_d = {T}, T_e = {S}"
        rule = "a batch with padding in the memory" if B > 1 else "one sentence"
        arguments = (p, x, memory, mask[:, None, None])
        trial.agrees(_decoder_block, *arguments, rule=rule, hint=hint, slips=slips, given=given)


def _teacher_forcing(
    rows: Sequence[Sequence[int]], bos: int, eos: int, pad: int
) -> tuple[Tensor, Tensor]:
    T = 1 + max(len(row) for row in rows)
    read = [[bos, *row] + [pad] * (T - 1 - len(row)) for row in rows]
    predict = [[*row, eos] + [-100] * (T - 1 - len(row)) for row in rows]
    return torch.tensor(read), torch.tensor(predict)


@turns.task(_teacher_forcing)
def teacher_forcing(trial: Trial) -> None:
    hint = (
        "What is read begins with bos, what is predicted ends in eos, and between them stand the "
        f"same words, shifted by one. Fill up the first with pad, the second with -100. {FORCING}"
    )

    def filled(rows: Sequence[Sequence[int]], value: int) -> Tensor:
        T = max(len(row) for row in rows)
        return torch.tensor([[*row] + [value] * (T - len(row)) for row in rows])

    def of(
        read: Callable[..., Sequence[int]],
        predict: Callable[..., Sequence[int]],
        fill: Callable[[int], int] = lambda pad: pad,
        ignored: Callable[[int], int] = lambda pad: -100,
    ) -> Callable[..., tuple[Tensor, Tensor]]:
        def slip(
            rows: Sequence[Sequence[int]], bos: int, eos: int, pad: int
        ) -> tuple[Tensor, Tensor]:
            first = filled([read(row, bos, eos) for row in rows], fill(pad))
            return first, filled([predict(row, bos, eos) for row in rows], ignored(pad))

        return slip

    def begun(row: Sequence[int], bos: int, eos: int) -> Sequence[int]:
        return [bos, *row]

    def ended(row: Sequence[int], bos: int, eos: int) -> Sequence[int]:
        return [*row, eos]

    def alone(row: Sequence[int], bos: int, eos: int) -> Sequence[int]:
        return row

    def framed(row: Sequence[int], bos: int, eos: int) -> Sequence[int]:
        return [bos, *row, eos]

    slips: list[Slip] = [
        (
            of(ended, begun),
            "bos is read at the beginning, and eos is predicted at the end: here it is the other "
            "way round.",
        ),
        (
            of(begun, begun),
            "What is predicted stands one position further on: the first word at the position that "
            "reads bos.",
        ),
        (
            of(ended, ended),
            "The decoder reads bos first: from it, it has to predict the first word.",
        ),
        (
            of(alone, ended),
            "The decoder reads bos first: from it, it has to predict the first word.",
        ),
        (
            of(begun, alone),
            "After the last word eos has to be predicted, or the decoder never learns to stop.",
        ),
        (
            of(alone, alone),
            "Here the decoder reads the very word that it is to predict: shift them by one.",
        ),
        (
            of(framed, framed),
            "Here the decoder reads the very word that it is to predict: shift them by one.",
        ),
        (
            of(framed, ended),
            "The decoder never reads eos: behind it nothing is to be predicted.",
        ),
        (
            of(begun, framed),
            "bos is not predicted; the first prediction is the first word.",
        ),
        (
            of(begun, ended, ignored=lambda pad: pad),
            "In what is to be predicted, padding has the number -100, which cross_entropy leaves "
            "out.",
        ),
        (
            of(begun, ended, fill=lambda pad: -100),
            "What is read is filled up with pad: -100 is no word and has no embedding.",
        ),
        (
            lambda *given: _teacher_forcing(*given)[::-1],
            "First what is read, then what is to be predicted.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(
        _teacher_forcing, [[7, 8, 9]], 1, 2, 0, rule="one sentence", given="[[7, 8, 9]], 1, 2, 0",
        **look,
    )  # fmt: skip
    for bos, eos, pad in ((1, 2, 0), (30, 31, 32)):
        rows = [trial.integers(3, 20, n).tolist() for n in (4, 2, trial.integer(5, 8), 1)]
        given = f"sentences of {', '.join(str(len(row)) for row in rows)} words"
        rule = "sentences of several lengths"
        trial.agrees(_teacher_forcing, rows, bos, eos, pad, rule=rule, given=given, **look)


def _write(
    encode: Callable, decode: Callable, source: Tensor, bos: int, eos: int, longest: int
) -> list[int]:
    memory, mask = encode(source)
    words = [bos]
    while len(words) <= longest:
        y = int(decode(torch.tensor([words]), memory, mask)[0, -1].argmax())
        if y == eos:
            break
        words.append(y)
    return words[1:]


class _Speaker:
    """An encoder-decoder that surely says these words, if it reads bos and what it wrote."""

    def __init__(self, told: Sequence[int], source: Tensor, V: int = 10) -> None:
        self.told, self.source, self.V = [1, *told], source, V
        self.readings = 0

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        self.readings += 1
        return source.double()[..., None], (source != 0)[:, None, None]

    def decode(self, words: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        logits = torch.zeros(1, words.shape[1], self.V)
        fits = torch.equal(memory[..., 0], self.source.double())
        for t in range(words.shape[1]):
            begun = words[0, : t + 1].tolist() == self.told[: t + 1]
            next_word = self.told[t + 1] if t + 1 < len(self.told) else self.V - 1
            logits[0, t, next_word if begun and fits and mask.dtype == torch.bool else 0] = 5.0
        return logits


@turns.task(_write)
def write(trial: Trial) -> None:
    hint = (
        "Encode once. Then, with all words so far, decode, take the last row, and the word with "
        f"the largest logit; stop at eos, else append it. {ONCE}"
    )
    bos, eos = 1, 2
    source = torch.tensor([[5, 6, 7]])

    def say(rule: str, told: Sequence[int], longest: int, expected: list[int]) -> None:
        speaker = _Speaker(told, source)
        given = f"a decoder that says {list(told)}, longest = {longest}, bos = 1, eos = 2"
        got = trial.call(
            speaker.encode, speaker.decode, source, bos, eos, longest, given=given, hint=hint
        )
        got = got.tolist() if isinstance(got, Tensor) else got
        form = "A plain list of word ids is asked for, without bos and eos."
        trial.holds(isinstance(got, list), "a list of ids", form, given=given, got=got)
        got = [int(word) for word in got]
        slips = [
            ([*expected, eos], "eos is a mark and no word: leave it out."),
            ([bos, *expected], "bos was given, not written: leave it out."),
            ([bos, *expected, eos], "Leave out both marks, bos and eos."),
            (
                expected[:-1] if len(expected) == longest else [-1],
                "The sentence is one word too short: `longest` words may be written.",
            ),
            (
                [*expected, told[longest]] if longest < len(told) else [-1],
                "The sentence is one word too long: at most `longest` words are written.",
            ),
            (
                [expected[0]] * longest if expected else [-1],
                "The first word is written again and again: look at the *last* row of the logits, "
                "[0, -1].",
            ),
            (
                [expected[0], *[0] * (longest - 1)] if expected else [-1],
                "The decoder reads *all* words so far, bos included, at each step.",
            ),
            (expected[:1], "It ends after the first word: the loop goes on until eos comes."),
        ]
        trial.equals(got, expected, rule, hint, slips=slips, given=given)
        once = (
            f"encode was called {speaker.readings} times: the source does not change, so it is "
            "read once, before the loop."
        )
        trial.holds(speaker.readings == 1, "the source is read once", once, given=given)

    say("it writes until eos comes", [4, 6, 3, eos], 12, [4, 6, 3])
    say("a word may come twice", [4, 4, 8, 4, eos], 12, [4, 4, 8, 4])
    say("it ends at the longest length", [4, 6, 3, 7, 8, 5, 3], 4, [4, 6, 3, 7])
    say("a sentence may be empty", [eos], 5, [])


def _corrupt(
    tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence
) -> tuple[list, list]:
    source: list = []
    target: list = []
    begin = 0
    for (first, after), mark in zip(spans, marks, strict=False):
        source += [*tokens[begin:first], mark]
        target += [mark, *tokens[first:after]]
        begin = after
    return [*source, *tokens[begin:]], [*target, marks[len(spans)]]


TEXT = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week", "."]
MARKS = [f"<{k}>" for k in range(9)]


@turns.task(_corrupt)
def corrupt(trial: Trial) -> None:
    hint = (
        "Go through the spans. To what is read, add the tokens since the last span and the mark; "
        "to what is written, the mark and the span's tokens. At the end add the rest of the text "
        f"to the one and one more mark to the other. {SPANS}"
    )

    def pieces(
        tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence
    ) -> tuple[list, list]:
        source, target = _corrupt(tokens, spans, marks)
        for (first, after), mark in zip(spans, marks, strict=False):
            at = source.index(mark)
            source[at : at + 1] = [mark] * (after - first)
        return source, target

    def longer(tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence) -> Any:
        return _corrupt(tokens, [(first, after + 1) for first, after in spans], marks)

    def rest(tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence) -> Any:
        source, target = _corrupt(tokens, spans, marks)
        return source[: source.index(marks[len(spans) - 1]) + 1], target

    def again(tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence) -> Any:
        source, target = _corrupt(tokens, spans, [marks[0]] * 9)
        return source, target

    def doubled(tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence) -> Any:
        source, begin = [], 0
        for (_first, after), mark in zip(spans, marks, strict=False):
            source += [*tokens[begin:after], mark]
            begin = after
        return [*source, *tokens[begin:]], _corrupt(tokens, spans, marks)[1]

    def unmarked(place: int) -> Callable[..., Any]:
        def slip(tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence) -> Any:
            found = list(_corrupt(tokens, spans, marks))
            found[place] = [token for token in found[place] if token not in marks]
            return tuple(found)

        return slip

    def behind(tokens: Sequence, spans: Sequence[tuple[int, int]], marks: Sequence) -> Any:
        target: list = []
        for (first, after), mark in zip(spans, marks, strict=False):
            target += [*tokens[first:after], mark]
        return _corrupt(tokens, spans, marks)[0], [*target, marks[len(spans)]]

    slips: list[Slip] = [
        (
            lambda *given: (_corrupt(*given)[0], _corrupt(*given)[1][:-1]),
            "What is written ends in one more mark, which says that the last span is over.",
        ),
        (
            lambda tokens, spans, marks: (
                _corrupt(tokens, spans, marks)[0],
                [*_corrupt(tokens, spans, marks)[1][:-1], marks[-1]],
            ),
            "The mark at the end is the next one in the row, marks[len(spans)].",
        ),
        (pieces, "One mark stands for the whole span, however long it is."),
        (longer, "A span ends before its second number: tokens[first:after]."),
        (rest, "The tokens behind the last span belong to what is read."),
        (again, "Each span has a mark of its own, in their order."),
        (doubled, "What is cut out does not stand in what is read: a mark stands in its place."),
        (unmarked(0), "In what is read, a mark stands in place of each span."),
        (unmarked(1), "In what is written, its mark stands in front of each span."),
        (behind, "In what is written, the mark stands *in front of* its span."),
        (lambda *given: _corrupt(*given)[::-1], "First what is read, then what is written."),
    ]
    look = {"hint": hint, "slips": slips}
    rule = "the example of the slide"
    given = "the text of the slide, spans (2, 4) and (8, 9)"
    trial.agrees(_corrupt, TEXT, [(2, 4), (8, 9)], MARKS, rule=rule, given=given, **look)
    rule = "a span may stand at either end"
    given = "six numbers, spans (0, 2) and (5, 6)"
    numbers = list(range(10, 16))
    trial.agrees(_corrupt, numbers, [(0, 2), (5, 6)], [90, 91, 92], rule=rule, given=given, **look)
    tokens = trial.integers(10, 99, 12).tolist()
    spans, marks = [(1, 4), (5, 6), (8, 11)], [201, 202, 203, 204, 205]
    given = f"twelve numbers, spans {spans}"
    trial.agrees(_corrupt, tokens, spans, marks, rule="any text", given=given, **look)


def _restore(source: Sequence, target: Sequence, marks: Sequence) -> list:
    spans: dict[Any, list] = {}
    span: list = []
    for token in target:
        if token in marks:
            span = spans[token] = []
        else:
            span.append(token)
    text: list = []
    for token in source:
        text += spans[token] if token in marks else [token]
    return text


@turns.task(_restore)
def restore(trial: Trial) -> None:
    hint = (
        "First collect the spans from what is written: a mark begins a new list, other tokens are "
        "appended to it. Then go through what is read, and put the list in place of its mark. "
        f"{SPANS}"
    )

    def marked(source: Sequence, target: Sequence, marks: Sequence) -> list:
        text: list = []
        for token in source:
            text += [token, *_restore([token], target, marks)] if token in marks else [token]
        return text

    def first_only(source: Sequence, target: Sequence, marks: Sequence) -> list:
        text: list = []
        for token in source:
            text += _restore([token], target, marks)[:1] if token in marks else [token]
        return text

    def nested(source: Sequence, target: Sequence, marks: Sequence) -> list:
        return [_restore([token], target, marks) if token in marks else token for token in source]

    slips: list[Slip] = [
        (marked, "The mark itself goes: its span stands in its place."),
        (
            lambda source, target, marks: [token for token in source if token not in marks],
            "The spans are missing: they stand in what is written, behind their marks.",
        ),
        (
            lambda source, target, marks: list(source),
            "The marks are still there: put their spans in their places.",
        ),
        (first_only, "A span may have several tokens: all of them belong in the text."),
        (nested, "One flat list is asked for: add the tokens of a span, not the list."),
        (
            lambda source, target, marks: [
                *[token for token in source if token not in marks],
                *[token for token in target if token not in marks],
            ],
            "Each span goes to the place of its mark, not to the end.",
        ),
        (
            lambda *given: "".join(map(str, _restore(*given))),
            "A list of tokens is asked for.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    given = "the example of the slide"
    both = _corrupt(TEXT, [(2, 4), (8, 9)], MARKS)
    trial.agrees(_restore, *both, MARKS, rule="the example of the slide", given=given, **look)
    tokens = trial.integers(10, 99, 14).tolist()
    marks = [201, 202, 203, 204, 205]
    for spans in ([(0, 3), (5, 6), (9, 14)], [(2, 7)]):
        both = _corrupt(tokens, spans, marks)
        given = f"fourteen numbers, cut at {spans}"
        trial.agrees(_restore, *both, marks, rule="nothing is lost", given=given, **look)


Words = tuple[str, ...]
Table = list[list[float]]
Judge = Callable[[Words, Words, Words], float]  # a text, what is wanted, what was read
TO_ENGLISH, TO_FRENCH = "to-English:", "to-French:"
TWINS = [
    ("le chat dort .", "the cat sleeps ."),
    ("la vache arrive .", "the cow arrives ."),
    ("un hibou chante .", "an owl sings ."),
    ("les rois dorment .", "the kings sleep ."),
    ("une oie attend .", "a goose waits ."),
    ("la femme chante .", "the woman sings ."),
    ("un jardin dort .", "a garden sleeps ."),
]


def _exchange(
    write: Callable[[list[Words]], Sequence[Words]],
    french: Sequence[Words],
    english: Sequence[Words],
) -> Table:
    table = []
    for prefix, wanted in ((TO_ENGLISH, english), (TO_FRENCH, french)):
        row = []
        for sentences in (french, english):
            texts = write([(prefix, *words) for words in sentences])
            hits = [text == asked for text, asked in zip(texts, wanted, strict=True)]
            row.append(sum(hits) / len(hits))
        table.append(row)
    return table


def _known(plan: Mapping[tuple[str, int], str], count: int) -> Callable[..., list[Words]]:
    """A writer that gives each of its sources a text of its own, and else a text of one word.

    Args:
        plan: for a prefix and the language of the sentence, French (0) or English (1), what it
            writes for each of the first sentences: the sentence in English (e), in French (f), or
            a broken one (b).
        count: of the sentences.
    """
    told: dict[Words, Words] = {}
    for (prefix, side), kinds in plan.items():
        for twins, kind in zip(TWINS[:count], kinds, strict=True):
            french, english = (tuple(text.split()) for text in twins)
            broken = (english if prefix == TO_ENGLISH else french)[:-1]
            source = (prefix, *(french, english)[side])
            told[source] = {"e": english, "f": french, "b": broken}[kind]
    return lambda sources: [told.get(tuple(source), ("?",)) for source in sources]


@turns.task(_exchange)
def exchange(trial: Trial) -> None:
    hint = (
        "For each prefix and for the sentences of each language: put the prefix in front of every "
        "sentence, let them be written, and count the texts that are the sentence in the "
        f"*prefix's* language. {PREFIXES}"
    )

    def judged(judge: Judge, source: Callable[[str, Words], Words]) -> Callable[..., Table]:
        """The test with other sources, or with another idea of what is right."""

        def slip(write: Callable, french: Sequence[Words], english: Sequence[Words]) -> Table:
            table: Table = []
            for prefix, wanted in ((TO_ENGLISH, english), (TO_FRENCH, french)):
                table.append([])
                for read in (french, english):
                    texts = write([source(prefix, words) for words in read])
                    every = [judge(*three) for three in zip(texts, wanted, read, strict=True)]
                    table[-1].append(sum(every) / len(every))
            return table

        return slip

    def in_front(prefix: str, words: Words) -> Words:
        return (prefix, *words)

    def obeyed(text: Words, wanted: Words, read: Words) -> float:
        return text == wanted

    def other(write: Callable, french: Sequence[Words], english: Sequence[Words]) -> Table:
        return [
            [
                float(np.mean([a == b for a, b in zip(write(sources), wanted, strict=True)]))
                for wanted, sources in (
                    (english, [(prefix, *words) for words in french]),
                    (french, [(prefix, *words) for words in english]),
                )
            ]
            for prefix in (TO_ENGLISH, TO_FRENCH)
        ]

    def one_language(place: int) -> Callable[..., Table]:
        def slip(write: Callable, french: Sequence[Words], english: Sequence[Words]) -> Table:
            wanted = (french, english)[place]
            return [
                [
                    sum(a == b for a, b in zip(texts, wanted, strict=True)) / len(wanted)
                    for read in (french, english)
                    for texts in [write([(prefix, *words) for words in read])]
                ]
                for prefix in (TO_ENGLISH, TO_FRENCH)
            ]

        return slip

    def scaled(factor: Callable[[int], float]) -> Callable[..., Table]:
        return lambda write, french, english: [
            [factor(len(french)) * share for share in row]
            for row in _exchange(write, french, english)
        ]

    def single_words(text: Words, wanted: Words, read: Words) -> float:
        return sum(a == b for a, b in zip(text, wanted, strict=False)) / len(wanted)

    usual = (
        "These are the two usual cases only. The test is to exchange the prefix: each of the two "
        "before sentences of both languages, four numbers in all."
    )
    slips: list[Slip] = [
        (
            judged(lambda text, wanted, read: text == read, in_front),
            "Here a text is compared with the sentence that was read. The *prefix* says which "
            "language is wanted, so compare it with the sentence in that language.",
        ),
        (
            other,
            "Here a translation counts as right behind each prefix. A French sentence behind "
            "to-French: is to stay French: the prefix says which language is wanted.",
        ),
        (one_language(1), "Behind to-French: the French sentence is wanted, not the English one."),
        (one_language(0), "Behind to-English: the English sentence is wanted, not the French one."),
        (
            lambda *given: [list(column) for column in zip(*_exchange(*given), strict=True)],
            "A row belongs to a prefix, and a column to the language of the sentence.",
        ),
        (
            lambda *given: _exchange(*given)[::-1],
            "The first row belongs to to-English:, the second to to-French:.",
        ),
        (
            lambda *given: [row[::-1] for row in _exchange(*given)],
            "In each row, French sentences come first, then English ones.",
        ),
        (lambda *given: [_exchange(*given)[i][i] for i in (0, 1)], usual),
        (lambda *given: [[_exchange(*given)[i][i]] for i in (0, 1)], usual),
        (
            lambda *given: [share for row in _exchange(*given) for share in row],
            "Two rows of two numbers are asked for, a list for each prefix.",
        ),
        (scaled(lambda count: count), "These are counts: divide by the number of sentences."),
        (scaled(lambda count: 100), "These are per cent: a share is a number from 0 to 1."),
        (
            judged(obeyed, lambda prefix, words: words),
            "What the model reads begins with its prefix: it is the first word of every source, "
            "in front of the words of the sentence.",
        ),
        (
            judged(single_words, in_front),
            "A text counts if it is the wanted sentence word for word, not in part.",
        ),
    ]

    def ask(rule: str, given: str, count: int, plan: Mapping[tuple[str, int], str]) -> None:
        french, english = ([tuple(two[k].split()) for two in TWINS[:count]] for k in (0, 1))
        write = _known(plan, count)
        look = {"rule": rule, "hint": hint, "slips": slips, "given": given}
        trial.agrees(_exchange, write, french, english, **look)

    pairs = [(prefix, side) for prefix in (TO_ENGLISH, TO_FRENCH) for side in (0, 1)]
    by_hand = dict(zip(pairs, ("eeeef", "effbb", "ffeeb", "fffeb"), strict=True))
    ask(
        "by hand: 0.8, 0.2 and 0.4, 0.6", "a model that obeys now and then, 5 sentences", 5, by_hand
    )
    blind = dict(zip(pairs, ("eee", "fff", "eee", "fff"), strict=True))
    ask("a model that always translates: 1, 0 and 0, 1", "a model that reads no prefix", 3, blind)
    kinds = ["".join("efb"[k] for k in trial.integers(0, 3, 7).tolist()) for _ in pairs]
    ask("any model", "a model that writes at random", 7, dict(zip(pairs, kinds, strict=True)))


def _rouge_1(found: Sequence[str], wanted: Sequence[str]) -> float:
    common = sum((Counter(found) & Counter(wanted)).values())
    return 2 * common / (len(found) + len(wanted))


@turns.task(_rouge_1)
def rouge_1(trial: Trial) -> None:
    hint = (
        "Count the words that both have, each as often as it occurs in both, and divide twice "
        f"that number by the number of words in both texts together. {STORIES}"
    )

    def common(found: Sequence[str], wanted: Sequence[str]) -> int:
        return sum((Counter(found) & Counter(wanted)).values())

    slips: list[Slip] = [
        (
            lambda found, wanted: 2 * len(set(found) & set(wanted)) / (len(found) + len(wanted)),
            "A word counts as often as it occurs in *both* texts: a set forgets how often.",
        ),
        (
            lambda found, wanted: (
                2 * len(set(found) & set(wanted)) / (len(set(found)) + len(set(wanted)))
            ),
            "A word counts as often as it occurs in *both* texts: a set forgets how often.",
        ),
        (
            lambda found, wanted: common(found, wanted) / len(wanted),
            "That is the recall, the share of the wanted words: a text of all words would win. "
            "F1 takes both lengths.",
        ),
        (
            lambda found, wanted: common(found, wanted) / len(found),
            "That is the precision, the share of the words that were found: one right word would "
            "win. F1 takes both lengths.",
        ),
        (
            lambda found, wanted: common(found, wanted) / (len(found) + len(wanted)),
            "Two equal texts must get 1: the common words count twice, once for each text.",
        ),
        (
            lambda found, wanted: (
                2 * sum(word in wanted for word in found) / (len(found) + len(wanted))
            ),
            "A word that is found three times and wanted once counts once: take the smaller "
            "number of the two.",
        ),
        (
            lambda found, wanted: (
                2
                * sum(a == b for a, b in zip(found, wanted, strict=False))
                / (len(found) + len(wanted))
            ),
            "The order does not count here: a common word may stand anywhere.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    found = ["the", "cat", "sees", "the", "dog"]
    wanted = ["a", "red", "dog", "now", "sees", "the", "cat"]
    given = " ".join(found) + " | " + " ".join(wanted)
    trial.agrees(_rouge_1, found, wanted, rule="by hand: 2/3", given=given, **look)
    found, wanted = ["the", "the", "the", "gull"], ["the", "old", "gull", "and", "the", "boat"]
    trial.agrees(
        _rouge_1, found, wanted, rule="words that come twice",
        given=f"{' '.join(found)} | {' '.join(wanted)}", **look,
    )  # fmt: skip
    trial.agrees(_rouge_1, found, found, rule="a text against itself has 1", **look)
    words = ["the", "a", "gull", "boat", "sea", "dog", "sang", "old"]
    for _ in range(2):
        texts = [[words[i] for i in trial.integers(0, 8, n).tolist()] for n in (6, 9)]
        trial.agrees(_rouge_1, *texts, rule="any two texts", **look)
