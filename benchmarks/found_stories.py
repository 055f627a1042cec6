"""What a reader answers from the story that was found, the right one, another one, and none.

    python -m benchmarks.found_stories [--seeds 1]

The first question about every second test story. Gemma 3 270M (``python -m helpers.pretrained gemma
minilm``) sees two training stories, each with a question and its answer, then a story and the
question, and writes at most 16 tokens, each the most probable of those that the story has. Once
more it sees no story at all, but eight questions with their answers, and takes any story's tokens.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from functools import partial

import torch
from torch import nn

from benchmarks.study import Row, Study, command, machine
from helpers.data.lantern_reader import read_stories
from helpers.models.gemma import Gemma
from helpers.models.retrieval import BM25
from helpers.pretrained import gemma, store
from helpers.pretrained.minilm import load_minilm, sentence_vectors

STUDY = Study(__file__, lambda: {"machine": machine()}, unsaid=("answers",), separators=(",", ":"))
EVERY, EXAMPLES, QUESTIONS, LONGEST, BATCH = 2, 2, 8, 16, 12


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


def cast(question: str, text: str = "") -> str:
    return (f"{text}\n" if text else "") + f"Question: {question}\nAnswer:"


class Reader:
    """Answers questions behind some examples, prompts with their answers."""

    def __init__(self, examples: Iterable[tuple[str, str]]) -> None:
        path = store.find("gemma")
        if path is None:
            raise SystemExit(store.missing("gemma"))
        path = path / "gemma-3-270m.gguf"
        self.model: Gemma = gemma.load_gemma(path, torch.bfloat16)
        self.tokens = gemma.GemmaTokenizer.from_gguf(path)
        shown = "".join(f"{prompt} {answer}\n\n" for prompt, answer in examples)
        self.before = self.model.read(torch.tensor([self.tokens.encode(shown)]), last=True)[1]
        self.end = set(self._ids("\n") + self._ids("\n\n"))  # a token each

    def _ids(self, text: str) -> list[int]:
        return self.tokens.encode(text, bos=False)

    def words_of(self, text: str) -> set[int]:
        """The tokens of a text, in the text and as its words are cut by themselves, and the end."""
        alone = " " + " ".join(re.findall(r"[\w'-]+", text))
        return self.end.union(self._ids(text), self._ids(alone))

    def answers(self, asked: Sequence[tuple[str, set[int]]]) -> list[str]:
        """The answers to prompts, in tokens of a set each; those of one length are read at once."""
        rows = [self._ids(prompt) for prompt, _ in asked]
        found: dict[int, str] = {}
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        while order:
            length = len(rows[order[0]])
            some = [i for i in order[:BATCH] if len(rows[i]) == length]
            order = order[len(some) :]
            said = self._write([rows[i] for i in some], [asked[i][1] for i in some])
            found |= dict(zip(some, said, strict=True))
            print(len(order), "prompts left", said[0], flush=True)
        return [found[i] for i in range(len(rows))]

    def _write(self, rows: Sequence[list[int]], of_each: Sequence[set[int]]) -> list[str]:
        """Greedy continuations of prompts of one length."""
        known = sorted(set().union(*of_each))
        allowed = torch.tensor([[i in mine for i in known] for mine in of_each])
        whole = self.model.output
        self.model.output = nn.Linear(1, len(known), bias=False)  # the rows of these tokens alone
        self.model.output.weight = nn.Parameter(whole.weight[known], requires_grad=False)
        state, new = self.before.rows([0] * len(rows)), torch.tensor(rows)
        written = torch.empty(len(rows), 0, dtype=torch.long)
        ended, end = torch.zeros(len(rows), dtype=torch.bool), torch.tensor(sorted(self.end))
        while not ended.all() and written.shape[1] < LONGEST:
            logits, state = self.model.read(new, state, last=True)
            best = logits[:, 0].float().masked_fill(~allowed, -torch.inf).argmax(1)
            new = torch.tensor(known)[best][:, None]
            written, ended = torch.cat([written, new], 1), ended | torch.isin(new[:, 0], end)
        self.model.output = whole
        return [self.tokens.decode(row).split("\n")[0].strip() for row in written.tolist()]


def answers(draw: int, first: dict[str, list[int]]) -> Row:
    """Of each kind of story the answers to all questions; the same story is read once."""
    test, training = read_stories("test"), read_stories("train")
    shown = [(s.text, *s.questions[0]) for s in random.Random(draw).sample(training, EXAMPLES)]
    reader = Reader((cast(question, text), answer) for text, question, answer in shown)
    own = list(range(0, len(test), EVERY))
    kinds = {"right": own, **first, "another": [(i + EVERY) % len(test) for i in own]}
    pairs = sorted(
        {(j, i) for numbers in kinds.values() for i, j in zip(own, numbers, strict=True)}
    )
    of_story = [reader.words_of(story.text) for story in test]
    said = reader.answers(
        [(cast(test[i].questions[0][0], test[j].text), of_story[j]) for j, i in pairs]
    )
    of_pair = dict(zip(pairs, said, strict=True))
    return {
        "answers": {
            kind: [of_pair[j, i] for i, j in zip(own, numbers, strict=True)]
            for kind, numbers in kinds.items()
        }
    }


def without_story(draw: int) -> Row:
    """Answers to the same questions by a reader who has questions alone, in tokens of any story."""
    test, training = read_stories("test"), read_stories("train")
    shown = [s.questions[0] for s in random.Random(draw).sample(training, QUESTIONS)]
    reader = Reader((cast(question), answer) for question, answer in shown)
    of_any = set().union(*(reader.words_of(story.text) for story in test))
    return {"answers": reader.answers([(cast(s.questions[0][0]), of_any) for s in test[::EVERY]])}


def main() -> None:
    options = command(__doc__, seeds=3).parse_args()
    torch.set_num_threads(1)
    first = STUDY.entry("first", first_of_search)
    STUDY.row({"draw": 0}, partial(without_story, 0), "without_story")
    for draw in range(options.seeds):
        STUDY.row({"draw": draw}, partial(answers, draw, first))


if __name__ == "__main__":
    main()
