"""What notebook 04 says over several seeds: centred vectors, mixed senses, window networks.

    python -m benchmarks.word_vectors_study [PART ...]

centred      the neighbours and analogies of one seed, before and after the mean is subtracted
senses       pairs of words under one name
sharing      the factored bigram and the whole table: D by weight decay by learning rate
tales        the best of each that ``sharing`` found, and Kneser-Ney, tale by tale
follows      skip-gram's scores against the counts, by D, weight decay and steps
networks     the window network, an averaging one, an eighth of the text, other windows

Each entry of the results is one training on one core. Skip-gram's settings are those that
``word_vectors.py`` chose.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from benchmarks.study import Study, command
from benchmarks.word_vectors import REPORT, mean_aucs, skip_gram, text
from helpers.data import corpora
from helpers.data.batching import windows
from helpers.data.bpe import BPETokenizer
from helpers.data.corpora import Corpus
from helpers.data.tokenizers import WordTokenizer
from helpers.data.word_pairs import Pair, word_relations
from helpers.inference.evaluation import log_probs
from helpers.inference.neural_predictor import NeuralPredictor
from helpers.learning.training import Training
from helpers.models.ngram import ModifiedKneserNey
from helpers.models.window_lm import AveragingLM, WindowLM
from helpers.models.word_vectors import WordVectors

STUDY = Study(__file__)
CHOSEN = {"d_model": 50, "window": 2}  # by word_vectors.py; nothing skipped, weight decay 0.3
SHARES = (40, 20, 10, 4)  # occurrences of the second word beside 40 of the first
PAIRS = 12  # of words for each share
GROUPS = {"never": (0, 0), "once": (1, 1), "2 to 4": (2, 4), "5 to 19": (5, 19)}
GROUPS["20 or more"] = (20, 10**9)
# Learning rates of the factored bigram, and for how many steps at most; D = 0 is the whole table.
# The rate and the step are chosen on one half of the validation tales.
RATES = {0.00125: 700, 0.0025: 500, 0.005: 300, 0.01: 300, 0.02: 300, 0.05: 300, 0.1: 400, 0.2: 200}
SEEDS = 3  # of the best of each D
PATIENCE = 60  # steps without a better one end a training
SIZES = (0, 100, 20, 400, 50, 10)
# Weight decay adds DECAY / 2 times the sum of the squares of E and U (of the table) to the loss.
# Its strengths, and the rates with it, for one seed: of the factored table, and of the whole one.
DECAYS = (1e-6, 1e-5, 3e-5, 1e-4, 3e-4)
WHOLE_DECAYS = (1e-7, 3e-7, 1e-6, 2e-6, 3e-6, 1e-5)
DECAYED_RATES = {0.0025: 700, 0.005: 400, 0.05: 400, 0.2: 400, 0.5: 400}
WHOLE_RATES = {0.05: 400, 0.2: 400, 0.8: 400}
# D, weight decay, steps
FOLLOWS = ((50, 0.3, 3000), (8, 0.3, 3000), (50, 0, 3000), (50, 0, 6000), (50, 0.3, 6000))
# name -> (class, D, steps, share of the training text, window); all with one hidden layer of 96
NETWORKS = {
    "window": (WindowLM, 48, 1800, 1, 6),
    "averaging": (AveragingLM, 58, 1800, 1, 6),  # as many parameters as the window network
    "eighth": (WindowLM, 48, 300, 8, 6),
    "window3": (WindowLM, 48, 1800, 1, 3),
    "window12": (WindowLM, 48, 1800, 1, 12),
}
HIDDEN, MERGES = 96, 2000
RATE, OTHER_RATES = 0.02, (0.005, 0.01, 0.04)  # 0.02 was chosen for the window network


def follows(d_model: int, decay: float, steps: int) -> dict:
    """How skip-gram's scores follow log c(w,o) / (c(w) q(o)), for rare and for frequent pairs."""
    tokens, words = text()
    size = len(words)
    C = torch.zeros(size, size, dtype=torch.double)
    for distance in (1, 2):
        cell = tokens[:-distance] * size + tokens[distance:]
        both = torch.bincount(cell, minlength=size * size).view(size, size)
        C += (both + both.T) * (1 - (distance - 1) / 2)
    noise = torch.bincount(tokens).double() ** 0.75
    target = (C / (C.sum(1, keepdim=True) * noise / noise.sum())).log()
    model = skip_gram(tokens, size, 0, d_model, 2, weight_decay=decay, steps=steps)
    scores = (model.centre.weight @ model.context.weight.T).detach().double()
    found: dict[str, float] = {}
    for name, low, high in (("rare", 1, 3), ("frequent", 20, math.inf)):
        chosen = (low <= C) & (high > C)
        both = torch.stack([target[chosen], scores[chosen]])
        spread = torch.cov(both)
        found[f"{name}, correlation"] = float(torch.corrcoef(both)[0, 1])
        found[f"{name}, slope"] = float(spread[0, 1] / spread[0, 0])
    return found


def sharing(d_model: int, decay: float = 0.0) -> dict:
    """Bits per word of the bigram network with rank D (0: the whole table), by rate and seed.

    For each rate and seed: the step that is best on one half of the validation tales, the bits
    per word there, and those on the other half.
    """
    tables, _ = pairs_of_words()
    found: dict[str, list] = {}
    for rate, steps in rates(d_model, decay).items():
        for seed in range(1 if decay or not d_model else 2):
            bits, at, _ = bigram(tables, d_model, decay, rate, steps, seed)
            found.setdefault(str(rate), []).append([at, *bits])
    return found


@cache
def pairs_of_words() -> tuple[list[Tensor], list[Tensor]]:
    """Tables (V, V) of the pairs of words, and the ids that they are of.

    Of the training tales, of one half of the validation tales, and of the other half.
    """
    corpus = corpora.lantern_bay()
    tokenizer = WordTokenizer.train(corpus.train.lower(), min_count=20)
    size = tokenizer.vocab_size
    tales = [tale.text.lower() for tale in corpus.validation_documents]
    tables, texts = [], []
    for part in (corpus.train.lower(), "\n".join(tales[::2]), "\n".join(tales[1::2])):
        ids = tokenizer.encode(part)
        table = torch.bincount(ids[:-1] * size + ids[1:], minlength=size**2).view(size, size)
        tables.append(table / table.sum())
        texts.append(ids)
    return tables, texts


def bigram(
    tables: list[Tensor], d_model: int, decay: float, rate: float, steps: int, seed: int
) -> tuple[tuple[float, float], int, Tensor]:
    """Bits per word on both halves at the step best on the first, the step, and log P (V, V)."""
    C, size = tables[0], len(tables[0])
    rows, at = C.sum(1, keepdim=True), [table.nonzero(as_tuple=True) for table in tables]
    new = [table[i] for table, i in zip(tables, at, strict=True)]
    generator = torch.Generator().manual_seed(seed)
    E = torch.randn(size, d_model, generator=generator) / max(d_model, 1) ** 0.5
    U = 0.1 * torch.randn(d_model, size, generator=generator)
    bias = C.sum(0).clamp(min=1e-9).log()
    free = [E, U] if d_model else [torch.zeros(size, size)]
    optimizer = torch.optim.Adam(
        [{"params": free, "weight_decay": decay}, {"params": [bias]}], rate
    )
    best, kept = (math.inf, math.inf, 0), C
    for step in range(steps):
        log_p = ((E @ U if d_model else free[0]) + bias).log_softmax(1)
        dZ = log_p.exp().mul_(rows).sub_(C)  # the gradient, in half the time of autograd
        for p, g in zip(free, [dZ @ U.T, E.T @ dZ] if d_model else [dZ], strict=True):
            p.grad = g
        bias.grad = dZ.sum(0)
        optimizer.step()
        if step % 2:
            bits = [-float((new[i] * log_p[at[i]]).sum()) / math.log(2) for i in (1, 2)]
            if (here := (bits[0], bits[1], step)) < best:
                best, kept = here, log_p
            if step > best[2] + PATIENCE:
                break
    return best[:2], best[2], kept


def tales(d_model: int, decayed: bool) -> dict:
    """Bits of each tale of the other half, at the best rate and weight decay of ``sharing``.

    The mean over the seeds, and beside it Kneser-Ney's.
    """
    runs = {
        (decay, float(rate)): np.mean(rows, axis=0)
        for decay in ((0, *decays(d_model)) if decayed else (0,))
        for rate, rows in STUDY.read()[shared(d_model, decay)].items()
    }
    decay, rate = min(runs, key=lambda settings: runs[settings][1])
    steps = rates(d_model, decay)[rate]
    tables, (train, _, new) = pairs_of_words()
    counted = log_probs(ModifiedKneserNey(2).fit(train, len(tables[0])), new)[1:]
    lengths = words_of_tales()
    found = [
        bigram(tables, d_model, decay, rate, steps, seed)[2][new[:-1], new[1:]]
        for seed in range(SEEDS if d_model else 1)
    ]
    of_words = torch.stack(found).mean(0)
    bits = [-float(x.sum()) / math.log(2) for x in of_words.split(lengths)]
    rival = [-float(x.sum()) / math.log(2) for x in counted.split(lengths)]
    return {
        "weight decay": decay,
        "rate": rate,
        "words": lengths,
        "bits": [round(x, 2) for x in bits],
        "Kneser-Ney": [round(x, 2) for x in rival],
    }


def words_of_tales() -> list[int]:
    """How many words each tale of the other half has, but for the first one of all."""
    corpus = corpora.lantern_bay()
    tokenizer = WordTokenizer.train(corpus.train.lower(), min_count=20)
    texts = [tale.text.lower() for tale in corpus.validation_documents[1::2]]
    first, *others = (len(tokenizer.encode(text)) for text in texts)
    return [first - 1, *others]


def decays(d_model: int) -> tuple[float, ...]:
    """The strengths of weight decay that are tried."""
    return DECAYS if d_model else WHOLE_DECAYS


def rates(d_model: int, decay: float) -> dict[float, int]:
    """The rates that are tried, and for how many steps at most."""
    return (DECAYED_RATES if d_model else WHOLE_RATES) if decay else RATES


def shared(d_model: int, decay: float) -> str:
    """The name of an entry."""
    return f"sharing {d_model}" + (f" {decay:g}" if decay else "")


def centred(seed: int) -> dict:
    """AUC and analogies of one seed, before and after the mean is subtracted."""
    tokens, words = text()
    weight = skip_gram(tokens, len(words), seed, **CHOSEN).centre.weight.detach()
    row: dict = {}
    for name, vectors in (("as trained", weight), ("centred", weight - weight.mean(0))):
        known = WordVectors(words, vectors)
        row[name] = {
            "auc": mean_aucs(known.similarity, seed, REPORT),
            "analogies": {r: answers(known, pairs) for r, pairs in word_relations().items()},
        }
    return row


def answers(vectors: WordVectors, pairs: list[Pair]) -> dict[str, float]:
    """Share of right answers: by the sum, by c alone (Linzen 2016), and how many questions.

    Each pair is asked with each other one: a is to b as c is to what?
    """
    size, by_sum, alone = len(vectors.words), [], []
    for (a, b), (c, answer) in itertools.product(pairs, pairs):
        if len({a, b, c, answer}) == 4:
            by_sum.append([w for w, _ in vectors.analogy(a, b, c, size)].index(answer) + 1)
            near = [w for w, _ in vectors.neighbours(c, size) if w not in (a, b)]
            alone.append(near.index(answer) + 1)
    ranks = {"sum": np.array(by_sum), "c alone": np.array(alone)}
    found = {f"{name}, first": float(np.mean(r == 1)) for name, r in ranks.items()}
    found |= {f"{name}, of ten": float(np.mean(r <= 10)) for name, r in ranks.items()}
    return {"questions": len(by_sum), **found}


def mixed_text(tokens: Tensor, words: list[str], seed: int) -> tuple[Tensor, list[tuple], int]:
    """The tales with pairs of frequent words (a, b) under one new name.

    40 occurrences of a and n of b get the name of the pair; 40 others of a, and n others of b, a
    name of their own each, for comparison; the rest keep theirs.

    Returns:
        The ids, rows (n, a, b, mixed, b alone, a alone), and the size of the vocabulary.
    """
    counts, rng = torch.bincount(tokens).numpy(), np.random.default_rng(seed)
    known = [i for i, word in enumerate(words) if 150 <= counts[i] <= 1500 and word.isalpha()]
    drawn = rng.permutation(known)[: 2 * PAIRS * len(SHARES)].reshape(-1, 2).tolist()
    new, rows, size = tokens.numpy().copy(), [], len(words)
    for k, (a, b) in enumerate(drawn):
        n = SHARES[k // PAIRS]
        of_a, of_b = (rng.permutation(np.flatnonzero(new == word)) for word in (a, b))
        new[of_a[:40]] = new[of_b[:n]] = size
        new[of_b[n : 2 * n]], new[of_a[40:80]] = size + 1, size + 2
        rows.append((n, a, b, size, size + 1, size + 2))
        size += 3
    return torch.from_numpy(new), rows, size


def senses(seed: int) -> dict:
    """Cosines of mixed words with both parts, by the number of occurrences of the second part."""
    tokens, words = text()
    new, rows, size = mixed_text(tokens, words, seed)
    vectors = skip_gram(new, size, seed, **CHOSEN).centre.weight.detach()
    unit = torch.nn.functional.normalize(vectors - vectors[: len(words)].mean(0))
    found: dict[str, list] = {}
    for n, a, b, mixed, b_alone, a_alone in rows:
        pairs = {"mixed, first": (mixed, a), "mixed, second": (mixed, b)}
        pairs |= {"alone, first": (a_alone, a), "alone, second": (b_alone, b)}
        for name, (i, j) in pairs.items():
            found.setdefault(f"{n}: {name}", []).append(round(float(unit[i] @ unit[j]), 4))
    return found


def network(name: str, seed: int, rate: float = RATE) -> dict:
    """A network of NETWORKS and the best Kneser-Ney model on the same tokens."""
    kind, d_model, steps, part, window = NETWORKS[name]
    corpus = corpora.lantern_bay()
    bpe = BPETokenizer.train(corpus.train, vocab_size=256 + MERGES)
    ids = {p: bpe.encode(getattr(corpus, p)) for p in ("train", "validation", "test")}
    train = ids["train"][: len(ids["train"]) // part]
    size = {p: len(getattr(corpus, p).encode()) * math.log(2) for p in ("validation", "test")}
    ngrams = {n: ModifiedKneserNey(n).fit(train, bpe.vocab_size) for n in (2, 3, 4, 5)}
    counted = {
        n: -float(log_probs(m, ids["validation"]).sum()) / size["validation"]
        for n, m in ngrams.items()
    }
    best = min(counted, key=lambda n: counted[n])
    torch.manual_seed(seed)
    net = kind(bpe.vocab_size, d_model, HIDDEN, window, dropout=0.2)
    batches = windows(train, 8, 64, torch.Generator().manual_seed(seed))
    settings = {"learning_rate": rate, "weight_decay": 0.1, "warmup": 20}
    list(Training(net, batches, steps, **settings))
    row: dict = {
        "parameters": sum(p.numel() for p in net.parameters()),
        "Kneser-Ney": {str(n): value for n, value in counted.items()},
    }
    bos = int(bpe.encode("\n\n\n")[-1])
    for p in ("validation", "test"):
        network, table = (
            log_probs(model, ids[p]).double()
            for model in (NeuralPredictor(net, bos=bos, window=window), ngrams[best])
        )
        row[p] = {
            "network": -float(network.sum()) / size[p],
            "Kneser-Ney": -float(table.sum()) / size[p],
        }
        if name == "window":
            row[p]["saved by tale"] = by_tale(network - table, bpe, corpus, p)
        if p == "validation":
            saved = (network - table).numpy() / math.log(2)
            row["groups"] = by_context(saved, ngrams[best], best, ids[p])
    return row


def by_tale(saved: Tensor, bpe: BPETokenizer, corpus: Corpus, part: str) -> list[list[float]]:
    """For each tale its bytes and the bits that the network saves there against Kneser-Ney.

    The separator behind a tale belongs to it, so the rows add up to the whole text.
    """
    tales = getattr(corpus, f"{part}_documents")
    rows: list[list[float]] = []
    start = 0
    for i, tale in enumerate(tales):
        text = tale.text + (corpus.separator if i + 1 < len(tales) else "")
        end = start + len(bpe.encode(text))
        bits = float(saved[start:end].sum()) / math.log(2)
        rows.append([len(text.encode()), round(bits, 3)])
        start = end
    if start != len(saved):
        raise RuntimeError(f"the tales have {start} tokens one by one and {len(saved)} together")
    return rows


def by_context(saved: np.ndarray, model: ModifiedKneserNey, n: int, tokens: Tensor) -> dict:
    """Bits gained and lost against Kneser-Ney, by how often its context was seen."""
    contexts = model.counts.rows(tokens, n)[1][n - 1]
    seen = np.where(contexts >= 0, model.counts.tables[n - 2].count[contexts], 0)
    rows = {}
    for label, (low, high) in GROUPS.items():
        here = saved[(seen >= low) & (seen <= high)]
        rows[label] = {
            "tokens": len(here),
            "gained": float(here[here > 0].sum()),
            "lost": float(-here[here < 0].sum()),
        }
    return rows


def entries() -> Iterator[tuple[str, str, Callable[[], dict]]]:
    """The part and the name of every entry, and what makes it."""
    for seed in range(5):
        yield "centred", f"centred {seed}", partial(centred, seed)
    for seed in range(3):
        yield "senses", f"senses {seed}", partial(senses, seed)
    for size in SIZES:
        for decay in (0, *decays(size)):
            yield "sharing", shared(size, decay), partial(sharing, size, decay)
    for size, decayed in itertools.product(SIZES, (False, True)):
        name = f"tales {size}" + (" decayed" if decayed else "")
        yield "tales", name, partial(tales, size, decayed)
    for numbers in FOLLOWS:
        yield "follows", " ".join(map(str, ("follows", *numbers))), partial(follows, *numbers)
    for name, (*_, window) in NETWORKS.items():
        for seed in range(3 if window == 6 else 2):
            yield "networks", f"{name} {seed}", partial(network, name, seed)
    for rate in OTHER_RATES:
        yield "networks", f"averaging 0 {rate}", partial(network, "averaging", 0, rate)


def main() -> None:
    names = ["centred", "senses", "sharing", "tales", "follows", "networks"]
    parts = command(__doc__, names).parse_args().parts
    torch.set_num_threads(1)
    for part, name, make in entries():
        if part in parts:
            STUDY.entry(name, make)


if __name__ == "__main__":
    main()
