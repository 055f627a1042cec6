"""OpenAI's tokenizers as the course's own ``BPETokenizer``.

What is published is a list of tokens in the order in which they were merged, not the merges. But
these can be found again: a token was merged from the two pieces into which the merges before it cut
its bytes.
"""

from __future__ import annotations

import base64
import gzip
import itertools
from collections.abc import Iterator, Sequence

from helpers.data.bpe import END_OF_TEXT, GPT2_PATTERN, BPETokenizer
from helpers.pretrained.store import find

_GPT4_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_GPT4O_PATTERN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDING}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDING}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# name: (thing, file, pattern, special tokens whose ids follow at once)
_PUBLISHED = {
    "gpt2": ("gpt2-tokens", "gpt2.tiktoken", GPT2_PATTERN, (END_OF_TEXT,)),
    "gpt4": ("gpt4-tokens", "cl100k_base.tiktoken.gz", _GPT4_PATTERN, ()),
    "gpt4o": ("gpt4-tokens", "o200k_base.tiktoken.gz", _GPT4O_PATTERN, ()),
}


def openai_tokenizer(name: str) -> BPETokenizer | None:
    """The tokenizer of "gpt2", "gpt4" or "gpt4o", with its own ids; None where it was not fetched.

    Raises:
        ValueError: there is no such tokenizer, or its file is damaged.
    """
    if name not in _PUBLISHED:
        raise ValueError(f"There is no tokenizer {name!r}, only {', '.join(_PUBLISHED)}.")
    thing, file, pattern, special = _PUBLISHED[name]
    folder = find(thing)
    if folder is None:
        return None
    content = (folder / file).read_bytes()
    content = gzip.decompress(content) if file.endswith(".gz") else content
    tokens = [base64.b64decode(line.split()[0]) for line in content.splitlines() if line]
    return BPETokenizer(merges_of(tokens), special, pattern)


def merges_of(tokens: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """The merges that made tokens, of which the first 256 are single bytes: pairs of ids."""
    ids = {token: i for i, token in enumerate(tokens)}
    for new in range(256, len(tokens)):
        parts = [bytes([byte]) for byte in tokens[new]]
        while len(parts) > 2:
            joined = [ids.get(a + b, new) for a, b in itertools.pairwise(parts)]
            first = min(range(len(joined)), key=joined.__getitem__)
            parts[first : first + 2] = [parts[first] + parts[first + 1]]
        yield ids[parts[0]], ids[parts[1]]
