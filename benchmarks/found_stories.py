"""What a reader answers from the story that was found, from the right one, and from another one.

    python -m benchmarks.found_stories [--seeds 1]

The first question about every second test story. Gemma 3 270M (``python -m helpers.pretrained gemma
minilm``) sees two training stories, each with a question and its answer, then a story and the
question, and writes at most 16 tokens, each the most probable of those that the story has.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import partial

import torch
from torch import nn

from benchmarks.study import Row, Study, command, machine
from helpers.data.lantern_reader import Story, read_stories
from helpers.models.gemma import Gemma
from helpers.models.retrieval import BM25
from helpers.pretrained import gemma, store
from helpers.pretrained.minilm import load_minilm, sentence_vectors

STUDY = Study(__file__, lambda: {"machine": machine()}, unsaid=("answers",), separators=(",", ":"))
EVERY, EXAMPLES, LONGEST, BATCH = 2, 2, 16, 12


def first_of_search() -> dict[str, list[int]]:
    """The number of the story that each search puts first for each question."""
    test = read_stories("test")
    texts = [story.text for story in test]
    asked = [story.questions[0][0] for story in test[::EVERY]]
    bm25, minilm = BM25(texts), load_minilm()
    if minilm is None:
        raise SystemExit(store.missing("minilm"))
    queries, stories = (sentence_vectors(*minilm, of) for of in (asked, texts))
    cosines = queries @ stories.T
    return {
        "BM25": [int(bm25.scores(question).argmax()) for question in asked],
        "MiniLM": cosines.argmax(1).tolist(),
    }


def cast(story: Story, question: str) -> str:
    return f"{story.text}\nQuestion: {question}\nAnswer:"


class Reader:
    """Answers questions about stories behind some examples."""

    def __init__(self, shown: Sequence[Story]) -> None:
        path = store.find("gemma")
        if path is None:
            raise SystemExit(store.missing("gemma"))
        path = path / "gemma-3-270m.gguf"
        self.model: Gemma = gemma.load_gemma(path, torch.bfloat16)
        self.tokens = gemma.GemmaTokenizer.from_gguf(path)
        prompt = "".join(f"{cast(s, s.questions[0][0])} {s.questions[0][1]}\n\n" for s in shown)
        self.before = self.model.read(torch.tensor([self.tokens.encode(prompt)]), last=True)[1]
        self.end = self._ids("\n")[0]

    def _ids(self, text: str) -> list[int]:
        return self.tokens.encode(text, bos=False)

    def answers(self, asked: Sequence[tuple[Story, str]]) -> list[str]:
        """The answers; prompts of one length are read together."""
        rows = [self._ids(cast(*one)) for one in asked]
        found: dict[int, str] = {}
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        while order:
            length = len(rows[order[0]])
            some = [i for i in order[:BATCH] if len(rows[i]) == length]
            order = order[len(some) :]
            said = self._write([rows[i] for i in some], [asked[i][0].text for i in some])
            found |= dict(zip(some, said, strict=True))
            print(len(order), "prompts left", said[0], flush=True)
        return [found[i] for i in range(len(rows))]

    def _write(self, rows: Sequence[list[int]], texts: Sequence[str]) -> list[str]:
        """Greedy continuations of prompts of one length, in tokens of the texts."""
        words = [" " + " ".join(re.findall(r"[\w'-]+", text)) for text in texts]
        of_each = [
            {self.end, *self._ids(a), *self._ids(b)} for a, b in zip(texts, words, strict=True)
        ]
        known = sorted(set().union(*of_each))
        allowed = torch.tensor([[i in mine for i in known] for mine in of_each])
        whole = self.model.output
        self.model.output = nn.Linear(1, len(known), bias=False)  # the rows of these tokens alone
        self.model.output.weight = nn.Parameter(whole.weight[known], requires_grad=False)
        state, new = self.before.rows([0] * len(rows)), torch.tensor(rows)
        written = torch.empty(len(rows), 0, dtype=torch.long)
        ended = torch.zeros(len(rows), dtype=torch.bool)
        while not ended.all() and written.shape[1] < LONGEST:
            logits, state = self.model.read(new, state, last=True)
            best = logits[:, 0].float().masked_fill(~allowed, -torch.inf).argmax(1)
            new = torch.tensor(known)[best][:, None]
            written, ended = torch.cat([written, new], 1), ended | (new[:, 0] == self.end)
        self.model.output = whole
        return [self.tokens.decode(row).split("\n")[0].strip() for row in written.tolist()]


def answers(draw: int, first: dict[str, list[int]]) -> Row:
    """Of each kind of story the answers to all questions; the same story is read once."""
    test, training = read_stories("test"), read_stories("train")
    reader = Reader(random.Random(draw).sample(training, EXAMPLES))
    own = list(range(0, len(test), EVERY))
    kinds = {"right": own, **first, "another": [(i + EVERY) % len(test) for i in own]}
    pairs = sorted(
        {(j, i) for numbers in kinds.values() for i, j in zip(own, numbers, strict=True)}
    )
    said = reader.answers([(test[j], test[i].questions[0][0]) for j, i in pairs])
    of_pair = dict(zip(pairs, said, strict=True))
    return {
        "answers": {
            kind: [of_pair[j, i] for i, j in zip(own, numbers, strict=True)]
            for kind, numbers in kinds.items()
        }
    }


def main() -> None:
    options = command(__doc__, seeds=3).parse_args()
    torch.set_num_threads(1)
    first = STUDY.entry("first", first_of_search)
    for draw in range(options.seeds):
        STUDY.row({"draw": draw}, partial(answers, draw, first))


if __name__ == "__main__":
    main()
