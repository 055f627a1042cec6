"""Gemma 3 270M from its GGUF file: the weights for ``helpers.models.gemma``, and its tokenizer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path

import regex
import torch
from torch import Tensor

from helpers.models.gemma import Gemma, GemmaConfig
from helpers.pretrained.gguf import GGUF

PARTS = {
    "attn_norm": "attention_norm",
    "attn_q": "attention.query",
    "attn_k": "attention.key",
    "attn_v": "attention.value",
    "attn_q_norm": "attention.query_norm",
    "attn_k_norm": "attention.key_norm",
    "attn_output": "attention.output",
    "post_attention_norm": "after_attention",
    "ffn_norm": "feed_forward_norm",
    "ffn_gate": "feed_forward.gate",
    "ffn_up": "feed_forward.up",
    "ffn_down": "feed_forward.down",
    "post_ffw_norm": "after_feed_forward",
}
_TURNED = {"attn_q", "attn_k", "attn_q_norm", "attn_k_norm"}


def load_gemma(path: str | Path, dtype: torch.dtype = torch.float32) -> Gemma:
    """The model in evaluation mode, on the CPU; in float32 it takes 1.1 GB of memory.

    Raises:
        ValueError: the file is damaged.
    """
    file = GGUF(path)
    config = _config(file)
    with torch.device("meta"):
        model = Gemma(config)
    state = {"embedding.weight": file["token_embd.weight"].to(dtype)}
    state["output.weight"] = state["embedding.weight"]
    state["norm.weight"] = file["output_norm.weight"].to(dtype)
    for layer in range(config.n_layers):
        for theirs, ours in PARTS.items():
            tensor = file[f"blk.{layer}.{theirs}.weight"].to(dtype)
            if theirs in _TURNED:
                tensor = neighbours(tensor, config.d_head)
            state[f"blocks.{layer}.{ours}.weight"] = tensor
    model.load_state_dict(state, assign=True)
    model.output.weight = model.embedding.weight
    return model.eval()


def _config(file: GGUF) -> GemmaConfig:
    said = {name.removeprefix("gemma3."): value for name, value in file.settings.items()}
    return GemmaConfig(
        vocab_size=file.tensors["token_embd.weight"].shape[0],
        max_length=said["context_length"],
        n_layers=said["block_count"],
        n_heads=said["attention.head_count"],
        n_kv_heads=said["attention.head_count_kv"],
        d_model=said["embedding_length"],
        d_head=said["attention.key_length"],
        d_hidden=said["feed_forward_length"],
        window=said["attention.sliding_window"],
        global_base=said["rope.freq_base"],
    )


def neighbours(rows: Tensor, d_head: int) -> Tensor:
    """Rows of heads, ordered as ``RotaryPositions`` pairs them: there feature i turns with i + K/2,
    here 2 i with 2 i + 1."""
    heads = rows.unflatten(0, (-1, 2, d_head // 2))  # (heads, 2, K/2, ...)
    return heads.transpose(1, 2).flatten(0, 2).contiguous()


class GemmaTokenizer:
    """Gemma's tokens: SentencePiece's byte pair encoding.

    Runs of blanks or of line ends and some tags are tokens as they stand, in the text's own
    characters; they are taken out first. In what lies between a space is written ▁, and from
    single characters on the two neighbours are joined whose token has the highest score, the
    leftmost first. A character that no token has is written as bytes.

    Args:
        tokens: all tokens; the id is the place.
        scores: of each; the higher, the sooner it is joined.
        kinds: of each, as SentencePiece numbers them: 1 normal, 3 control, 4 as it stands, 6 byte.
        bos: the id that stands before a text.
    """

    def __init__(
        self, tokens: Sequence[str], scores: Sequence[float], kinds: Sequence[int], bos: int
    ) -> None:
        self.tokens, self.kinds, self.bos, self.vocab_size = tokens, kinds, bos, len(tokens)
        self._ids = {t: i for i, (t, k) in enumerate(zip(tokens, kinds, strict=True)) if k == 1}
        self._scores = scores
        self._bytes = [i for i, kind in enumerate(kinds) if kind == 6]
        whole = {token: i for i, token in enumerate(tokens) if kinds[i] == 4}
        longest_first = sorted(whole, key=len, reverse=True)
        self._whole = whole
        self._split = regex.compile("(" + "|".join(map(regex.escape, longest_first)) + ")")

    @classmethod
    def from_gguf(cls, path: str | Path) -> GemmaTokenizer:
        """The one that a GGUF file holds."""
        said, name = GGUF(path).settings, "tokenizer.ggml."
        return cls(
            said[name + "tokens"], said[name + "scores"], said[name + "token_type"],
            said[name + "bos_token_id"],
        )  # fmt: skip

    def encode(self, text: str, bos: bool = True) -> list[int]:
        """The ids of a text, behind that of ``<bos>``."""
        ids = [self.bos] if bos else []
        for part in self._split.split(text):
            if part in self._whole:
                ids.append(self._whole[part])
            elif part:
                ids += self._join(part.replace(" ", "▁"))
        return ids

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """The text of ids; tokens for control, such as ``<bos>``, stand for nothing."""
        text = b"".join(self._as_bytes(int(i)) for i in ids)
        return text.decode("utf-8", errors="replace")

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each token by itself, as the table has it."""
        return [self.tokens[i] for i in ids]

    def _as_bytes(self, i: int) -> bytes:
        if self.kinds[i] == 3:
            return b""
        if self.kinds[i] == 6:
            return bytes([int(self.tokens[i][3:-1], 16)])
        return self.tokens[i].replace("▁", " ").encode()

    def _join(self, text: str) -> Iterator[int]:
        """The ids of a text without tokens that stand as they are."""
        pieces: list[str] = list(text)
        after = [*range(1, len(pieces)), -1]
        before = list(range(-1, len(pieces) - 1))

        def proposal(i: int) -> tuple[float, int, str] | None:
            """The join of piece i with the next, the best one least."""
            joined = pieces[i] + pieces[after[i]] if i >= 0 and after[i] >= 0 else ""
            found = self._ids.get(joined)
            return None if found is None else (-self._scores[found], i, joined)

        queue = [found for i in range(len(pieces)) if (found := proposal(i))]
        heapify(queue)
        while queue:
            _, i, joined = heappop(queue)
            if not pieces[i] or after[i] < 0 or pieces[i] + pieces[after[i]] != joined:
                continue  # one of the two was joined with another in the meantime
            gone = after[i]
            pieces[i], pieces[gone], after[i] = joined, "", after[gone]
            if after[i] >= 0:
                before[after[i]] = i
            for j in (before[i], i):
                if found := proposal(j):
                    heappush(queue, found)
        for piece in filter(None, pieces):
            if piece in self._ids:
                yield self._ids[piece]
            else:
                yield from (self._bytes[byte] for byte in piece.encode("utf-8", "replace"))
