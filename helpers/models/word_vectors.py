"""Word vectors: skip-gram with negative sampling, counted vectors, neighbours and analogies.

Skip-gram (Mikolov et al. 2013, "Distributed representations of words and phrases") moves the
vector of a centre word towards those of the words near it and away from noise words.
``helpers.learning.training`` trains it; of the settings that ``benchmarks/word_vectors.py`` tried
on the tales of Lantern Bay, these are the best:

    batches = skip_gram_batches(
        tokens, vocab_size, 1024, generator, window=2, negatives=5, threshold=1.0
    )
    model = SkipGram(vocab_size, 50)
    settings = {"learning_rate": 5e-3, "weight_decay": 0.3, "loss": negative_sampling_loss}
    for record in Training(model, batches, 3000, **settings): ...
    vectors = WordVectors(words, model.centre.weight)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.token_ids import check_range


class SkipGram(nn.Module):
    """Two vectors for each word: one as the centre of a window, one as a word of the context.

    Mikolov et al. (2013), section 2.2. The centre vectors are what one keeps.

    Args:
        vocab_size: V.
        d_model: D, the length of a vector.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.centre = nn.Embedding(vocab_size, d_model)
        self.context = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.centre.weight, std=d_model**-0.5)
        nn.init.zeros_(self.context.weight)  # all scores 0: every word is as good as noise

    def forward(self, words: Tensor) -> Tensor:
        """Scores (B, 1+K): centre . context, for words (B, 2+K): centre, its context, K noise."""
        centre = self.centre(words[:, 0])  # (B, D)
        others = self.context(words[:, 1:])  # (B, 1+K, D)
        return torch.bmm(others, centre[:, :, None])[:, :, 0]


def negative_sampling_loss(scores: Tensor, is_context: Tensor) -> Tensor:
    """-log s(score) of the true context word, -log s(-score) of each noise word; nats per pair.

    s is the logistic function; scores and is_context (1 for the true word, 0 for noise) are
    (B, 1+K). Mikolov et al. (2013), equation 4, averaged over the pairs of the batch.
    """
    return F.binary_cross_entropy_with_logits(scores, is_context, reduction="sum") / len(scores)


def keep_probabilities(counts: Tensor, threshold: float) -> Tensor:
    """Chance (V,) that an occurrence of each word stays: min(1, sqrt(threshold / frequency)).

    Mikolov et al. (2013), equation 5.
    """
    frequency = counts.double() / counts.sum()
    return (threshold / frequency).sqrt().clamp(max=1.0)  # a word that never occurs: 1


def noise_distribution(counts: Tensor, power: float = 0.75) -> Tensor:
    """Probabilities (V,) of the noise words: proportional to count ** power."""
    weight = counts.double() ** power * (counts > 0)
    return weight / weight.sum()


def skip_gram_pairs(tokens: Tensor, window: int, generator: torch.Generator) -> Tensor:
    """All (centre, context) pairs (N, 2) of a text, its windows drawn anew.

    Each occurrence draws a radius from 1..window and is paired with all words up to that far on
    either side: near words count more than far ones.
    """
    radius = torch.randint(1, window + 1, (len(tokens),), generator=generator)
    pairs = []
    for distance in range(1, min(window, len(tokens) - 1) + 1):
        left, right = tokens[:-distance], tokens[distance:]
        after = radius[:-distance] >= distance  # the centre is on the left
        before = radius[distance:] >= distance
        pairs.append(torch.stack([left[after], right[after]], 1))
        pairs.append(torch.stack([right[before], left[before]], 1))
    return torch.cat(pairs) if pairs else tokens.new_empty(0, 2)


def skip_gram_batches(
    tokens: Tensor,
    vocab_size: int,
    batch_size: int,
    generator: torch.Generator,
    window: int = 5,
    negatives: int = 5,
    threshold: float = 1e-3,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches for ``SkipGram``: words (B, 2+K) and which of them are true (B, 1+K).

    Each pass drops frequent words at random, so that windows reach further, makes all pairs of
    what is left and deals them out in random order. Words to leave out altogether (``<unk>``, ends
    of lines) are taken out of ``tokens`` before.

    Args:
        vocab_size: V.
        window: largest distance of a context word.
        negatives: K, noise words for each pair, drawn from ``noise_distribution``. A noise word may
            by chance be the true one, as in the original.
        threshold: frequency above which words are dropped; see ``keep_probabilities``.

    Raises:
        ValueError: the text is too short for one batch, or holds ids outside the vocabulary.
    """
    tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
    check_range(tokens, vocab_size, "The text holds ids outside 0 .. {last}.")
    counts = torch.bincount(tokens, minlength=vocab_size)
    keep = keep_probabilities(counts, threshold)[tokens]
    cumulative = noise_distribution(counts).cumsum(0)
    labels = torch.zeros(batch_size, 1 + negatives)
    labels[:, 0] = 1
    while True:
        kept = torch.rand(len(tokens), generator=generator, dtype=torch.float64) < keep
        pairs = skip_gram_pairs(tokens[kept], window, generator)
        if len(pairs) < batch_size:
            raise ValueError(
                f"A batch needs {batch_size} pairs and this text gives {len(pairs)} a pass: use a "
                "longer text or a smaller batch."
            )
        pairs = pairs[torch.randperm(len(pairs), generator=generator)]
        for i in range(0, len(pairs) - batch_size + 1, batch_size):
            drawn = torch.rand(batch_size, negatives, generator=generator, dtype=torch.float64)
            noise = torch.searchsorted(cumulative, drawn * cumulative[-1], right=True)
            yield torch.cat([pairs[i : i + batch_size], noise], 1), labels


def counted_vectors(
    tokens: Tensor, vocab_size: int, d_model: int, window: int = 5, power: float = 0.75
) -> Tensor:
    """Word vectors (V, D) without a network: counts of neighbours, PPMI, truncated SVD.

    Positive pointwise mutual information max(0, log p(w, c) / (p(w) p(c))) over the windows of the
    text, with context counts raised to ``power``, factored; each direction is weighted by the root
    of its singular value. Levy, Goldberg and Dagan (2015), sections 2.2 and 3.
    """
    tokens = torch.as_tensor(tokens, dtype=torch.long).flatten()
    V, counts = vocab_size, torch.zeros(vocab_size, vocab_size)
    for distance in range(1, window + 1):
        # Weight 1 - (distance-1)/window: how often a random radius reaches so far.
        cell = tokens[:-distance] * V + tokens[distance:]
        both = torch.bincount(cell, minlength=V * V).view(V, V)
        counts += (both + both.T) * (1 - (distance - 1) / window)
    context = counts.sum(0) ** power
    expected = counts.sum(1)[:, None] * (context / context.sum())
    ppmi = (counts / expected.clamp(min=1e-30)).clamp(min=1).log()  # log 1 = 0: "positive"
    left, singular, _ = torch.linalg.svd(ppmi)
    return left[:, :d_model] * singular[:d_model].sqrt()


class WordVectors:
    """Words with their vectors: neighbours, analogies and a map.

    Args:
        words: the words, in the order of the vectors' rows; none twice.
        vectors: (V, D).

    Raises:
        ValueError: as many words as vectors are needed.
    """

    def __init__(self, words: Sequence[str], vectors: Tensor) -> None:
        self.words, self.vectors = list(words), vectors.detach().cpu()
        self._row = {word: i for i, word in enumerate(self.words)}
        if not len(self._row) == len(self.words) == len(self.vectors):
            raise ValueError(
                f"Give each word once, with one vector: got {len(self._row)} different words among "
                f"{len(self.words)}, and {len(self.vectors)} vectors."
            )
        length = self.vectors.norm(dim=1, keepdim=True)
        self._unit = self.vectors / length  # (V, D)

    def row(self, word: str) -> int:
        """The row of a word.

        Raises:
            ValueError: there is no such word; the message names similar ones.
        """
        if word not in self._row:
            near = difflib.get_close_matches(word, self.words, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "try another."
            raise ValueError(
                f"There is no vector for {word!r} among {len(self.words)} words: {hint}"
            )
        return self._row[word]

    def __getitem__(self, word: str) -> Tensor:
        """The vector (D,) of a word."""
        return self.vectors[self.row(word)]

    def similarity(self, a: str, b: str) -> float:
        """Cosine of the angle between two words' vectors, -1 to 1."""
        return float(self._unit[self.row(a)] @ self._unit[self.row(b)])

    def neighbours(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """The k words most similar to a word, with their cosines, nearest first."""
        row = self.row(word)
        return self._nearest(self._unit[row], [row], k)

    def analogy(self, a: str, b: str, c: str, k: int = 10) -> list[tuple[str, float]]:
        """a is to b as c is to what? The k words nearest to b - a + c, other than a, b and c.

        Lengths are made equal first. Mikolov, Yih and Zweig (2013), "Linguistic regularities in
        continuous space word representations", section 3.
        """
        rows = [self.row(word) for word in (a, b, c)]
        first, second, third = self._unit[rows]
        return self._nearest(F.normalize(second - first + third, dim=0), rows, k)

    def _nearest(self, direction: Tensor, without: list[int], k: int) -> list[tuple[str, float]]:
        cosine = self._unit @ direction
        cosine[without] = -torch.inf
        best, rows = cosine.topk(min(k, len(self.words) - len(set(without))))
        return [(self.words[i], c) for i, c in zip(rows.tolist(), best.tolist(), strict=True)]
