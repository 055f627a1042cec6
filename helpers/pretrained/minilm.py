"""all-MiniLM-L6-v2: a BERT of six layers, 384 wide, trained to give sentences alike in meaning
vectors alike (Wang et al. 2020 for the network; Reimers and Gurevych 2019 for the training)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

import regex
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F

from helpers.data.wordpiece import WordPieceTokenizer
from helpers.evaluating import evaluating
from helpers.models.encoder import Encoder
from helpers.pretrained.store import find

_LAYERS = {
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "feed_forward.up",
    "output.dense": "feed_forward.down",
    "output.LayerNorm": "feed_forward_norm",
}
_EMBEDDINGS = {
    "word_embeddings.weight": "tokens.weight",
    "position_embeddings.weight": "tokens.positions.embedding.weight",
    "token_type_embeddings.weight": "segments.weight",
    "LayerNorm.weight": "norm.weight",
    "LayerNorm.bias": "norm.bias",
}


class BertTokenizer:
    """BERT's way around word pieces: small letters without accents, [CLS] before, [SEP] behind."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary, ids = list(vocabulary), {p: i for i, p in enumerate(vocabulary)}
        self._pieces = WordPieceTokenizer(p for p in vocabulary if p != "[UNK]")
        self._ids = [ids[piece] for piece in self._pieces.pieces]
        self.cls, self.sep, self.pad = ids["[CLS]"], ids["[SEP]"], ids["[PAD]"]

    def encode(self, text: str, longest: int = 256) -> list[int]:
        """The ids of a text, cut to ``longest``."""
        words = (self._pieces.encode_word(word) for word in bert_words(text))
        ids = [self._ids[i] for word in words for i in word]
        return [self.cls, *ids[: longest - 2], self.sep]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Each of the ids as it is written in the vocabulary."""
        return [self.vocabulary[i] for i in ids]


_WORD = regex.compile(
    r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    r"\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f]"
    r"|[\p{P}$+<=>^`|~]|(?:(?![\p{P}$+<=>^`|~\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b820-\U0002ceaf"
    r"\U0002f800-\U0002fa1f])\S)+"
)


def bert_words(text: str) -> list[str]:
    """The words that BERT's uncased models cut a text into, each sign and each Chinese one apart.

    Signs are Unicode's punctuation and ASCII's other signs; control characters go.
    """
    kept = (" " if c in "\t\n\r" else c for c in text if c in "\t\n\r" or not _is_control(c))
    plain = unicodedata.normalize("NFD", "".join(kept).lower())
    return _WORD.findall("".join(c for c in plain if unicodedata.category(c) != "Mn"))


def _is_control(character: str) -> bool:
    return character in "\x00\ufffd" or unicodedata.category(character).startswith("C")


def load_minilm() -> tuple[Encoder, BertTokenizer] | None:
    """The encoder in evaluation mode, and its tokenizer; None where they were not fetched."""
    folder = find("minilm")
    if folder is None:
        return None
    stored = load_file(folder / "model.safetensors")
    encoder = Encoder.bert(30_522, 384, 12, 6, d_hidden=1536)
    state = {f"embedding.{ours}": stored[f"embeddings.{t}"] for t, ours in _EMBEDDINGS.items()}
    for layer in range(6):
        for theirs, ours in _LAYERS.items():
            for kind in ("weight", "bias"):
                state[f"blocks.{layer}.{ours}.{kind}"] = stored[
                    f"encoder.layer.{layer}.{theirs}.{kind}"
                ]
    encoder.load_state_dict(state)
    table = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = table["model"]["vocab"]
    return encoder.eval(), BertTokenizer(sorted(vocabulary, key=vocabulary.__getitem__))


@torch.no_grad()
def sentence_vectors(
    encoder: Encoder, tokenizer: BertTokenizer, texts: Sequence[str], batch: int = 64
) -> Tensor:
    """A vector of length 1 for each text, (N, D): the mean of its tokens' states, normalized."""
    ids = [tokenizer.encode(text) for text in texts]
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))  # alike in length: little padding
    made = torch.empty(len(ids), encoder.d_model)
    with evaluating(encoder):
        for rows in (order[i : i + batch] for i in range(0, len(order), batch)):
            longest = len(ids[rows[-1]])
            padded = [ids[i] + [tokenizer.pad] * (longest - len(ids[i])) for i in rows]
            tokens = torch.tensor(padded)
            keep = (tokens != tokenizer.pad)[..., None].float()
            mean = (encoder(tokens) * keep).sum(1) / keep.sum(1)
            made[rows] = F.normalize(mean, dim=-1)
    return made
