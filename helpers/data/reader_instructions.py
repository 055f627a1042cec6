"""Instructions and answers from the annotations of the Reader, for a model that goes on with texts.

Each task is one stream of text, a prompt and what should follow it:

- *word*: one of a story's given words, then a sentence in which it occurs;
- *name*: one of the people, then a sentence that names this person and nobody else;
- *question*: the paragraph that answers and a question, then the answer;
- *statement*: a statement about a story that is not shown, then yes, no or maybe.

Radford et al. (2018), "Improving language understanding by generative pre-training", figure 1, puts
tasks into streams in this way. The loss counts the answer alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.lantern_reader import Story, named_people
from helpers.data.masking import IGNORED

ANSWERS = ("yes", "no", "maybe")  # in the order of ``lantern_reader.LABELS``
# Forms that do not begin as the verb does without its last letter.
_IRREGULAR = """
bend bent, blow blew, break broke, bring brought, build built, buy bought, catch caught,
choose chose, draw drew, drink drank, drink drunk, fall fell, find found, forget forgot, give gave,
hang hung, hold held, keep kept, leave left, lend lent, light lit, make made, ring rang, ring rung,
rise rose, run ran, send sent, shake shook, shine shone, sit sat, sleep slept, spin spun,
stand stood, sweep swept, teach taught, tear tore, tear torn, throw threw, wake woke, wear wore,
write wrote
"""
_FORMS = [pair.split() for pair in _IRREGULAR.replace("\n", " ").split(",")]


class Instruction(NamedTuple):
    """One thing to do: what is given, and what should follow."""

    kind: str
    prompt: str
    answer: str


def to_write(stories: Iterable[Story]) -> list[Instruction]:
    """Up to three of each story: a given word; the answer is the first sentence that holds it."""
    return [
        Instruction("word", f"Word: {word}\n\n", sentence)
        for story in stories
        for word in story.words
        for sentence in [next((s for s in sentences(story.text) if occurs(word, s)), "")]
        if sentence
    ]


def to_mention(stories: Iterable[Story], each: int = 2) -> list[Instruction]:
    """Up to ``each`` of a story: a person; the answer is a sentence that names nobody else."""
    found = []
    for story in stories:
        told = [(sentence, named_people(sentence)) for sentence in sentences(story.text)]
        about = [(s, who[0]) for s, who in told if len(who) == 1 and len(s.split()) > 4]
        found += [Instruction("name", f"About: {name}\n\n", s) for s, name in about[:each]]
    return found


def to_answer(stories: Iterable[Story]) -> list[Instruction]:
    """Two of each story: a paragraph (see ``near_answer``) and a question; a piece of it."""
    return [
        Instruction(
            "question",
            f"{near_answer(story, question, answer)}\n\nQuestion: {question}\nAnswer:",
            f" {answer}",
        )
        for story in stories
        for question, answer in story.questions
    ]


def near_answer(story: Story, question: str, answer: str) -> str:
    """The paragraph of a story that holds an answer and shares most words with its question."""
    asked = set(_words(question))
    holding = [part for part in story.text.split("\n") if answer in part]
    return max(holding, key=lambda part: len(asked & set(_words(part)))) if holding else story.text


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with its closing quotation mark."""
    return re.findall(r"\S[^\n]*?(?:[.!?:][\"']*(?=\s|$)|(?=\n|$))", text)


def to_judge(stories: Iterable[Story]) -> list[Instruction]:
    """Three of each story: a statement; the answer is yes, no or maybe."""
    return [
        Instruction("statement", f"\n\nStatement: {statement}\nAnswer:", f" {answer}")
        for story in stories
        for answer, statement in zip(ANSWERS, story.statements, strict=True)
    ]


def occurs(word: str, text: str) -> bool:
    """Whether one of the Reader's given words occurs in a text, in some form: carry, carried."""
    forms = [word[:-1] if word[-1] in "ey" else word]
    forms += [form for verb, form in _FORMS if verb == word]
    return any(re.search(rf"\b{re.escape(form)}", text.lower()) for form in forms)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def prompt_ids(tokenizer: BPETokenizer, prompt: str) -> Tensor:
    """The ids of a prompt, (P,), behind the mark that every text begins with."""
    mark = torch.tensor([tokenizer.special_ids[END_OF_TEXT]])
    return torch.cat([mark, tokenizer.encode(prompt)])


def encoded(tokenizer: BPETokenizer, instruction: Instruction) -> tuple[Tensor, Tensor]:
    """Inputs and targets, (N,) each: the targets are the answer and the mark behind it.

    At all positions whose next token belongs to the prompt the target is ``IGNORED``.
    """
    prompt = prompt_ids(tokenizer, instruction.prompt)
    tokens = torch.cat([prompt, tokenizer.encode(instruction.answer), prompt[:1]])
    targets = tokens[1:].clone()
    targets[: len(prompt) - 1] = IGNORED
    return tokens[:-1], targets
