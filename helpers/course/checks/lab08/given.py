"""What lab 08 hands out: a small world whose answers are listed, the GPT, and a simulated reader.

Shape letters: B answers, T tokens of prompt and answer, V words.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn

from helpers.course.environment import find_root
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.learning import checkpoints
from helpers.learning.preferences import best_policy
from helpers.models.gpt import GPT

# --- the small world: up to four words, then a full stop --------------------------------------
WORDS = (".", "hot", "tea", "please", "now", "and")  # token 0 ends an answer, and is the prompt
LENGTH = 4


class Table(nn.Module):
    """A policy that is a table: the logits of the next word by its place and the word before."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        numbers = torch.randn(LENGTH, len(WORDS), len(WORDS), generator=generator)
        self.table = nn.Parameter(numbers.double())

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, T) -> logits (B, T, V)"""
        place = torch.arange(tokens.shape[1]).clamp(max=LENGTH - 1)  # behind the last word: any
        return self.table[place, tokens]


@cache
def answers() -> Tensor:
    """All 781 answers behind the prompt, (781, 5); behind the full stop there are full stops."""
    rows = itertools.product(range(len(WORDS)), repeat=LENGTH)
    return torch.tensor([(0, *r) for r in rows if not any(a < b for a, b in _ended(r))])


def _ended(row: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in itertools.pairwise(row) if a == 0]


def manners(texts: Tensor) -> Tensor:
    """The reward (B,): 1 for *hot tea*, 1/2 for *please*, -1/2 for a word twice in a row."""
    word, then = texts[:, 1:-1], texts[:, 2:]
    tea, twice = (word == 1) & (then == 2), (word == then) & (word > 0)
    return tea.sum(1) + (texts == 3).sum(1) / 2 - twice.sum(1) / 2


def reference() -> Table:
    """The policy that training begins from in the lab."""
    return Table(torch.Generator().manual_seed(34))


def listed(policy: nn.Module) -> Tensor:
    """The log-probabilities of all answers, (781,)."""
    with torch.no_grad():
        log_p = policy(answers()[:, :-1]).log_softmax(-1)
    log_p = log_p.gather(2, answers()[:, 1:, None])[..., 0]
    ended = (answers()[:, :-1] == 0) & (torch.arange(LENGTH) > 0)
    return log_p.masked_fill(ended, 0).sum(1)


class Judged(NamedTuple):
    """What a policy is worth, exactly: its mean reward, its KL divergence in nats, and J."""

    reward: float
    kl: float
    J: float


def judge(policy: nn.Module, old: nn.Module, reward: Callable[[Tensor], Tensor], beta: float):
    """Sums over all answers; ``old`` is the reference."""
    log_p, log_ref = listed(policy), listed(old)
    p = log_p.exp()
    mean, kl = float(p @ reward(answers()).double()), float(p @ (log_p - log_ref))
    return Judged(mean, kl, mean - beta * kl)


def most(old: nn.Module, reward: Callable[[Tensor], Tensor], beta: float) -> float:
    """The greatest J that a policy can have, beta log Z."""
    return float(best_policy(listed(old), reward(answers()).double(), beta)[1])


@torch.no_grad()
def draw(policy: nn.Module, number: int, generator: torch.Generator) -> Tensor:
    """Answers (number, 5) that a policy of the small world writes."""
    texts, over = torch.zeros(number, 1, dtype=torch.long), torch.zeros(number, dtype=torch.bool)
    for _ in range(LENGTH):
        p = policy(texts)[:, -1].softmax(-1)
        word = torch.multinomial(p, 1, generator=generator)[:, 0].masked_fill(over, 0)
        texts, over = torch.cat([texts, word[:, None]], 1), over | (word == 0)
    return texts


def likeliest(policy: nn.Module, number: int = 3) -> str:
    """The answers that a policy writes most often, with their probabilities."""
    p, rows = listed(policy).exp().topk(number)
    said = (" ".join(WORDS[w] for w in row if w) or "(nothing)" for row in answers()[rows].tolist())
    return ", ".join(f"{words} {x:.2f}" for words, x in zip(said, p.tolist(), strict=True))


# --- sentences of the GPT ---------------------------------------------------------------------
TITLE, MOST = "The Lost Key\n\n", 24  # what is gone on from, and the most tokens of an answer
ANIMALS = {"cat", "cats", "dog", "dogs", "donkey", "goat", "goats", "hen", "hens", "gull", "gulls"}
ANIMALS |= {"fish", "bird", "birds", "mouse", "horse", "cow", "duck", "owl", "crab", "kitten"}
FEATURES = ("quotation marks", "animals", "length")


@cache
def shipped() -> tuple[GPT, BPETokenizer]:
    """The GPT that ships with the course, and its tokenizer."""
    folder = find_root() / "data/checkpoints/lantern_stories_gpt"
    gpt = checkpoints.load_model(folder)[0].float().eval()
    return gpt, BPETokenizer.load(folder / "tokenizer.json")


@cache
def prompt() -> Tensor:
    """The tokens that every answer stands behind."""
    tokenizer = shipped()[1]
    end = tokenizer.special_ids[END_OF_TEXT]
    return torch.tensor([end, *tokenizer.encode(TITLE).tolist()])


@cache
def stop() -> int:
    """The full stop that ends an answer."""
    return int(shipped()[1].encode(".")[0])


@torch.no_grad()
def write(policy: GPT, number: int, generator: torch.Generator) -> Tensor:
    """Prompts with answers, (number, P + 24); behind a full stop there are full stops."""
    texts, state = prompt().expand(number, -1), None
    read, over = texts, torch.zeros(number, 1, dtype=torch.bool)
    for _ in range(MOST):
        logits, state = policy.read(read, state)
        read = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
        read = read.masked_fill(over, stop())
        texts, over = torch.cat([texts, read], 1), over | (read == stop())
    return texts


def said(text: Tensor) -> str:
    """The answer of one text (P + 24,), up to its full stop."""
    ids = text[len(prompt()) :].tolist()
    ids = ids[: ids.index(stop()) + 1] if stop() in ids else ids
    return str(shipped()[1].decode(torch.tensor(ids)))


def _words(sentence: str) -> list[str]:
    return re.findall("[a-z]+", sentence.lower())


def features(texts: Tensor) -> Tensor:
    """What the reward model sees, (B, 3): quotation marks, animals, and words / 10."""
    rows = []
    for sentence in map(said, texts):
        words = _words(sentence)
        animals = sum(word in ANIMALS for word in words)
        rows.append([float(sentence.count('"')), float(animals), len(words) / 10])
    return torch.tensor(rows)


def worth(texts: Tensor) -> Tensor:
    """What a sentence is worth to the reader, (B,), from 0 to 4.

    1.5 if anybody speaks, 1.5 if there is an animal, 1 for a whole sentence; 0 for stammering, that
    is, where a word stands twice in a row.
    """
    rows = []
    for sentence in map(said, texts):
        words = _words(sentence)
        spoken, animal = re.search('"[A-Za-z]', sentence), any(word in ANIMALS for word in words)
        good = 1.5 * bool(spoken) + 1.5 * animal + sentence.endswith(".") * bool(words)
        rows.append(good * all(a != b for a, b in itertools.pairwise(words)))
    return torch.tensor(rows)


def asked(values: Tensor, number: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Pairs of texts of these values: the rows of the preferred ones and of the others."""
    a, b = torch.randint(len(values), (2, number), generator=generator)
    first = torch.rand(number, generator=generator) < torch.sigmoid(values[a] - values[b])
    return torch.where(first, a, b), torch.where(first, b, a)


def bits(log_p: Tensor, texts: Tensor) -> float:
    """Bits for each token of the answers, from their log-probabilities in nats."""
    lengths = (texts[:, len(prompt()) : -1] != stop()).sum(1) + 1
    return float(-log_p.sum() / lengths.sum()) / math.log(2)
