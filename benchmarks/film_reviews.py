"""Is a film praised? Labelled sentences for a pretrained encoder, and for a bag of words.

    python -m benchmarks.film_reviews [--seeds 3]

The sentences are from reviews (Pang and Lee 2005), each rated by some twenty people (Hutto and
Gilbert 2014); a sentence is good if the mean of its ratings is above zero. The encoder is
all-MiniLM-L6-v2, a BERT of six layers: `python -m helpers.pretrained` fetches both. It is
fine-tuned as a whole, with one new layer on the mean of its states, at one of the rates that the
BERT paper recommends. Beside it naive Bayes on words and pairs, a logistic regression on the frozen
means, and the people: one rater's sign against the mean of the others.
"""

from __future__ import annotations

import random
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, machine
from helpers.evaluating import evaluating
from helpers.models.encoder import Encoder
from helpers.models.naive_bayes import NaiveBayes
from helpers.pretrained.minilm import BertTokenizer, load_minilm
from helpers.pretrained.opinions import opinions

LABELLED = (100, 1000, None)  # sentences with labels; None for all that are no test sentences
EPOCHS = {100: 10, 1000: 4, None: 2}
RATE, BATCH, WARMUP = 5e-5, 16, 0.1  # the rate of Devlin et al. (2019), appendix A.3
STUDY = Study(__file__, lambda: {"machine": machine(), "settings": {"rate": RATE, "batch": BATCH}})


@cache
def sentences() -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Those to learn from and, every fifth, those for the test: (text, 1 if it is good)."""
    found = opinions("films")
    if found is None:
        raise RuntimeError(
            "The opinions are not here: run `python -m helpers.pretrained opinions`."
        )
    rated = [(one.text, int(one.mean > 0)) for one in found if one.mean]
    random.Random(0).shuffle(rated)
    return [one for i, one in enumerate(rated) if i % 5], rated[::5]


def drawn(number: int | None, seed: int) -> list[tuple[str, int]]:
    learn = sentences()[0]
    return random.Random(seed).sample(learn, number or len(learn))


def people() -> float:
    """Share of the ratings whose sign is that of the mean of the others; a zero counts half."""
    right = total = 0.0
    for one in opinions("films") or []:
        for rating in one.ratings:
            others = sum(one.ratings) - rating
            if others:
                right += 0.5 if not rating else float((rating > 0) == (others > 0))
                total += 1
    return right / total


class Reader(nn.Module):
    """A logit for "good", read off the mean of an encoder's states."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder, self.output = encoder, nn.Linear(encoder.d_model, 1)
        nn.init.normal_(self.output.weight, std=0.02)
        nn.init.zeros_(self.output.bias)

    def means(self, tokens: Tensor) -> Tensor:
        keep = (tokens != self.encoder.pad)[..., None].float()
        return (self.encoder(tokens) * keep).sum(1) / keep.sum(1)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.means(tokens))[:, 0]


def padded(tokenizer: BertTokenizer, texts: list[str]) -> Tensor:
    rows = [torch.tensor(tokenizer.encode(text, 64)) for text in texts]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=tokenizer.pad)


def loaded() -> tuple[Reader, BertTokenizer]:
    found = load_minilm()
    if found is None:
        raise RuntimeError("MiniLM is not here: run `python -m helpers.pretrained minilm`.")
    return Reader(found[0]), found[1]


def right(model: Reader, tokenizer: BertTokenizer, of: list[tuple[str, int]]) -> float:
    of, hits = sorted(of, key=lambda one: len(one[0])), 0
    with evaluating(model):
        for first in range(0, len(of), 64):
            texts, labels = zip(*of[first : first + 64], strict=True)
            hits += int(((model(padded(tokenizer, texts)) > 0) == torch.tensor(labels)).sum())
    return hits / len(of)


def fine_tuned(number: int | None, seed: int) -> Row:
    torch.manual_seed(seed)
    (model, tokenizer), some = loaded(), drawn(number, seed)
    steps = EPOCHS[number] * (len(some) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01)
    model.train()
    for step in range(steps):
        if not step % (len(some) // BATCH):
            order = torch.randperm(len(some)).tolist()
        at = step % (len(some) // BATCH) * BATCH
        texts, labels = zip(*(some[i] for i in order[at : at + BATCH]), strict=True)
        done = (step + 1) / steps
        optimizer.param_groups[0]["lr"] = RATE * min(done / WARMUP, (1 - done) / (1 - WARMUP))
        logits = model(padded(tokenizer, texts))
        loss = F.binary_cross_entropy_with_logits(logits, torch.tensor(labels).float())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return {"steps": steps, "right": round(right(model, tokenizer, sentences()[1]), 4)}


def frozen(number: int | None, seed: int) -> Row:
    """A logistic regression, with the penalty that is best on a fifth of the labels held back."""
    x, y = means_of_all()[0]
    rows = torch.tensor(random.Random(seed).sample(range(len(y)), number or len(y)))
    x, y, tests = x[rows], y[rows], means_of_all()[1]
    cut = len(y) * 4 // 5

    def score(penalty: float, learn: Any, test: Any) -> float:
        W = torch.zeros(x.shape[1] + 1, requires_grad=True)
        optimizer = torch.optim.LBFGS([W], max_iter=200, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            optimizer.zero_grad()
            logits = learn[0] @ W[:-1] + W[-1]
            value = F.binary_cross_entropy_with_logits(logits, learn[1])
            value = value + penalty * W[:-1].square().sum()
            value.backward()
            return value

        optimizer.step(loss)
        return float((((test[0] @ W[:-1] + W[-1]) > 0) == test[1].bool()).float().mean())

    held = (x[:cut], y[:cut]), (x[cut:], y[cut:])
    best = max((10.0**-k for k in range(1, 7)), key=lambda penalty: score(penalty, *held))
    return {"right": round(score(best, (x, y), tests), 4)}


@cache
def means_of_all() -> list[tuple[Tensor, Tensor]]:
    """The frozen means of the sentences to learn from and of the test, standardised; labels."""
    model, tokenizer = loaded()
    found = []
    with evaluating(model):
        for part in sentences():
            rows = [model.means(padded(tokenizer, [t for t, _ in part[i : i + 32]]))
                    for i in range(0, len(part), 32)]  # fmt: skip
            found.append((torch.cat(rows), torch.tensor([float(y) for _, y in part])))
    centre, spread = found[0][0].mean(0), found[0][0].std(0)
    return [((x - centre) / spread, y) for x, y in found]


def naive_bayes(number: int | None, seed: int) -> Row:
    texts, labels = zip(*drawn(number, seed), strict=True)
    told, truth = zip(*sentences()[1], strict=True)
    said = NaiveBayes(texts, labels).classify(list(told))
    return {"right": round(float((said == list(truth)).mean()), 4)}


def main() -> None:
    options = command(__doc__, seeds=3).parse_args()
    torch.set_num_threads(1)
    STUDY.entry("people", lambda: round(people(), 4))
    STUDY.entry("sentences", lambda: [len(part) for part in sentences()])
    for make in (naive_bayes, fine_tuned, frozen):
        for number in LABELLED:
            for seed in range(1 if make is not fine_tuned and not number else options.seeds):
                asked = {"way": make.__name__, "labels": number, "seed": seed}
                STUDY.row(asked, partial(make, number, seed))


if __name__ == "__main__":
    main()
