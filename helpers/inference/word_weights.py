"""Attention between words, of a model that reads tokens.

A tokenizer cuts some words into several tokens, and then a picture of the attention shows pieces.
Here they are put together again: a word is looked at as much as all its tokens together, and it
looks where its tokens look on average. So each row still sums to 1. Clark et al. (2019), "What does
BERT look at?", section 4.1.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import torch
from torch import Tensor


def words_of(pieces: Sequence[str]) -> tuple[list[str], Tensor]:
    """The words of a text that is given as the strings of its tokens, spaces included.

    A token goes on with a word if both are letters or digits where they meet, and line breaks in a
    row are one. Punctuation marks stand by themselves, cut as the tokenizer cuts them.

    Returns:
        The W words without their spaces, line breaks as "¶" and quotation marks as “ and ”, which
        opens and which closes being seen from the spaces; and for each of the T tokens the number
        of its word, (T,).
    """
    words: list[str] = []
    numbers = []
    for piece in pieces:
        last = words[-1] if words else ""
        if (_in_word(piece[:1]) and _in_word(last[-1:])) or piece[:1] == last[-1:] == "\n":
            words[-1] += piece
        else:
            opens = piece.startswith(' "') or (piece[:1] == '"' and last[-1:] in ("", "\n"))
            words.append(piece.replace('"', "“", 1) if opens else piece.replace('"', "”"))
        numbers.append(len(words) - 1)
    return [word.strip() or ("¶" if "\n" in word else "␣") for word in words], torch.tensor(numbers)


def _in_word(sign: str) -> bool:
    """Letters and digits, and the marks that are combined with them."""
    return sign.isalnum() or unicodedata.category(sign or " ").startswith("M")


def into_words(weights: Tensor, word_of: Tensor) -> Tensor:
    """Weights between words (..., W, W) from weights between tokens (..., T, T).

    Columns of a word are added up, its rows averaged; each row still sums to 1.
    """
    member = torch.nn.functional.one_hot(word_of).to(weights)  # (T, W)
    return (member / member.sum(0)).T @ weights @ member
