"""Three tasks for an encoder on the stories of the Lantern Bay Reader.

- *names*: where somebody is named, a BIO tag of every token;
- *inference*: whether a statement follows from a story, contradicts it or is left open, a class of
  a pair of texts;
- *answers*: where in a story the answer to a question stands, a span.

An example holds what a model reads, [CLS] text [SEP] or [CLS] first [SEP] second [SEP] with its
segments, and what it is to say.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.data.batching import seeded
from helpers.data.bpe import BPETokenizer
from helpers.data.lantern_reader import LABELS, PEOPLE, Story
from helpers.data.masking import IGNORED, pad_rows

PAD, CLS, SEP, MASK = "[PAD]", "[CLS]", "[SEP]", "[MASK]"
SPECIAL = (PAD, CLS, SEP, MASK)
TAGS = ("O", "B", "I")  # of one kind of entity, a name
# Somebody by name, with the title that belongs to it: Pell or Old Pell.
_NAMES = {name: re.compile(rf"\b(?:{re.escape(name)}|{word})\b") for name, word in PEOPLE.items()}

_SENTENCE_ENDS = re.compile(r"[.!?][\"']?(?=\s)")


class Example(NamedTuple):
    """What a model reads and what it is to say.

    Attributes:
        tokens: ids (T,).
        segments: 0 for the first text and its marks, 1 for the second, (T,).
        target: a class (), tags (T,), or the first and the last token of an answer (2,).
    """

    tokens: Tensor
    segments: Tensor
    target: Tensor


def tokenizer_of(text: str, vocab_size: int) -> BPETokenizer:
    """A byte-pair tokenizer with the four special tokens of an encoder, trained on a text."""
    return BPETokenizer.train(text, vocab_size, special_tokens=SPECIAL)


def joined(tokenizer: BPETokenizer, *texts: str) -> tuple[Tensor, Tensor]:
    """Ids (T,) and segments (T,) of [CLS] text [SEP], or of [CLS] first [SEP] second [SEP]."""
    marks = tokenizer.special_ids
    tokens, segments = [marks[CLS]], [0]
    for number, text in enumerate(texts):
        ids = tokenizer.encode(text).tolist()
        tokens += [*ids, marks[SEP]]
        segments += [number] * (len(ids) + 1)
    return torch.tensor(tokens), torch.tensor(segments)


def inference(stories: Iterable[Story], tokenizer: BPETokenizer) -> list[Example]:
    """Three of each story: the story and a statement; the target is a place in ``LABELS``."""
    return [
        Example(*joined(tokenizer, story.text, statement), torch.tensor(label))
        for story in stories
        for label, statement in zip(range(len(LABELS)), story.statements, strict=True)
    ]


def names(stories: Iterable[Story], tokenizer: BPETokenizer) -> list[Example]:
    """The story's text; the targets are places in ``TAGS``, O at [CLS] and [SEP].

    A token belongs to a name if it holds a letter of it; see ``name_spans``.
    """
    found = []
    for story in stories:
        tokens, segments = joined(tokenizer, story.text)
        ends = _ends(tokenizer, tokens[1:-1])
        tags = torch.zeros(len(tokens), dtype=torch.long)
        for first, after in name_spans(story):
            inside = [i for i, (a, b) in enumerate(ends, 1) if a < after and b > first]
            tags[inside] = TAGS.index("I")
            tags[inside[0]] = TAGS.index("B")
        found.append(Example(tokens, segments, tags))
    return found


def name_spans(story: Story) -> list[tuple[int, int]]:
    """Where the story's people are named: (first letter, after the last), in order.

    Old Pell is one name, and so is Pell. At the beginning of a sentence Button, Plum or Silver may
    be the word and not the name; where somebody of that name is in the story, it is taken as such.
    """
    return sorted(
        match.span() for name in story.people for match in _NAMES[name].finditer(story.text)
    )


class Question(NamedTuple):
    """A question about a passage, and its answer, a piece of the passage word for word."""

    question: str
    passage: str
    answer: str


def passages(stories: Iterable[Story], sentences: int, seed: int = 0) -> list[Question]:
    """The two questions of each story about a few of its sentences, in which the answer stands.

    Of all runs of ``sentences`` sentences that hold the first occurrence of the answer one is
    drawn, so that the place of the answer in it tells little. An answer that is spread over more
    sentences is left out.
    """
    draw, found = random.Random(seed), []
    for story in stories:
        ends = [0, *(match.end() for match in _SENTENCE_ENDS.finditer(story.text)), len(story.text)]
        for question, answer in story.questions:
            first = story.text.index(answer)
            last = first + len(answer) - 1
            begins, stops = (sum(end <= place for end in ends) - 1 for place in (first, last))
            choices = range(max(0, stops - sentences + 1), begins + 1)
            within = [k for k in choices if k + sentences < len(ends)] or list(choices)[:1]
            if within:
                k = draw.choice(within)
                text = story.text[ends[k] : ends[min(k + sentences, len(ends) - 1)]].strip()
                found.append(Question(question, text, answer))
    return found


def spans(questions: Iterable[Question], tokenizer: BPETokenizer) -> list[Example]:
    """The question and its text; the target is the span of the answer.

    Where the answer occurs more than once, it is the first occurrence; ``said`` gives its words.
    """
    found = []
    for question, text, answer in questions:
        tokens, segments = joined(tokenizer, question, text)
        begin = int((segments == 0).sum())
        ends = _ends(tokenizer, tokens[begin:-1])
        first = text.index(answer)
        after = first + len(answer)
        inside = [i for i, (a, b) in enumerate(ends, begin) if a < after and b > first]
        found.append(Example(tokens, segments, torch.tensor([inside[0], inside[-1]])))
    return found


def said(tokenizer: BPETokenizer, tokens: Tensor, first: int, last: int) -> str:
    """The words of the tokens first .. last."""
    return tokenizer.decode(tokens[first : last + 1]).strip()


class Batches:
    """Numbered batches of examples, ((tokens, segments), targets), in a new order each pass.

    Tokens are filled up with [PAD], segments with 0, tags with -100; classes and spans are stacked.
    """

    def __init__(
        self, examples: Sequence[Example], batch_size: int, pad: int, seed: int = 0
    ) -> None:
        self.examples, self.pad, self.seed = list(examples), pad, seed
        self.batch_size = min(batch_size, len(self.examples))

    def batch(self, step: int) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """The batch with the number 0, 1, 2, ..."""
        number, place = divmod(step, len(self.examples) // self.batch_size)
        order = torch.randperm(len(self.examples), generator=seeded(self.seed, number))
        rows = order[place * self.batch_size :][: self.batch_size].tolist()
        return collated([self.examples[i] for i in rows], self.pad)


def collated(examples: Sequence[Example], pad: int) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """Some examples as one batch; see ``Batches``."""
    tokens = pad_rows([example.tokens for example in examples], pad)
    segments = pad_rows([example.segments for example in examples], 0)
    targets = [example.target for example in examples]
    tags = targets[0].dim() == 1 and len(targets[0]) == len(examples[0].tokens)
    stacked = pad_rows(targets, IGNORED) if tags else torch.stack(targets)
    return (tokens, segments), stacked


def _ends(tokenizer: BPETokenizer, tokens: Tensor) -> list[tuple[int, int]]:
    """Of each token its letters in the text, (first, after the last), without a space before it.

    The text is ASCII, so that a byte is a letter.
    """
    found, at = [], 0
    for token in tokens.tolist():
        content = tokenizer.token_bytes(token)
        blank = len(content) - len(content.lstrip())
        found.append((min(at + blank, at + len(content) - 1), at + len(content)))
        at += len(content)
    return found
