"""What 16 · One model, three prefixes says over several seeds: one translator, three tasks.

    python -m benchmarks.encoder_decoder_prefixes

The transformer of ``encoder_decoder_study.py`` reads a prefix and a sentence of notebook 08's
grammar; both sides know one vocabulary of English and French words. The tasks are "to-English:",
"to-French:" and "restore:", which reads a sentence with one word cut out and writes the word. The
tasks are mixed in several ways. With *separate sentences*, only French ones come behind
"to-English:" and only English ones behind "to-French:", so the sentence tells the task as well.
With *same sentences*, either language comes behind both, a sentence of the wanted language to be
copied, so only the prefix tells it. Between them lie mixes with a small share of such copies.

The rate is chosen for *same sentences*, on a seed of its own by the loss on validation tasks; the
other mixes have it, too. A model is then tested with its prefixes before sentences of either
language.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import torch
from torch.nn import functional as F

from benchmarks.attention_study import BEYOND, SETTINGS, TUNING_SEED, about, optimize, sentences
from benchmarks.encoder_decoder_study import HEADS, LAYERS, WIDTH
from benchmarks.study import Study, command, tuned
from helpers.data.translation import Pair, PhraseGrammar, WordVocabulary, batches
from helpers.data.translation_lexicon import small_lexicon
from helpers.models.encoder_decoder import EncoderDecoder

PREFIXES, MARKS = ("to-English:", "to-French:", "restore:"), ("<0>", "<1>")
MIXES = {"separate sentences": 0.0, "same sentences": 0.5}  # the share of copies
MIXES |= {"1 % of copies": 0.01, "10 % of copies": 0.1}
STEPS, RATES, SEEDS, TESTED = 1200, (5e-4, 1e-3, 2e-3, 4e-3, 8e-3), 3, 500
Words = tuple[str, ...]


@cache
def vocabulary() -> WordVocabulary:
    grammar = PhraseGrammar(small_lexicon())
    words = {*grammar.english_words, *grammar.french_words}
    return WordVocabulary([*PREFIXES, *MARKS, *sorted(words)])


def task(prefix: str, source: Words, target: Words) -> Pair:
    """What is read stands in the place of the French sentence, what is written of the English."""
    return Pair(tuple(target), (prefix, *source), frozenset())


def tasks(pairs: Sequence[Pair], mix: str, seed: int) -> list[Pair]:
    """Three of each pair, by prefix."""
    draw = torch.Generator().manual_seed(seed)
    shares = torch.tensor([MIXES[mix], MIXES[mix], 0.5])  # of copies, twice, and of English holes
    found: list[list[Pair]] = [[], [], []]
    for pair in pairs:
        sides = pair.french, pair.english
        *copied, hole = (torch.rand(3, generator=draw) < shares).tolist()
        words = sides[hole]
        i = int(torch.randint(len(words) - 1, (1,), generator=draw))  # "." and "?" stay
        cut = (*words[:i], MARKS[0], *words[i + 1 :]), (MARKS[0], words[i], MARKS[1])
        three = (sides[copied[0]], pair.english), (sides[not copied[1]], pair.french), cut
        for rows, prefix, both in zip(found, PREFIXES, three, strict=True):
            rows.append(task(prefix, *both))
    return [row for rows in found for row in rows]


@torch.no_grad()
def loss_on(model: EncoderDecoder, rows: list[Pair]) -> float:
    draw = torch.Generator().manual_seed(0)
    drawn = batches(rows, vocabulary(), vocabulary(), len(rows), draw, to_french=False)
    (source, target_in), target_out = next(drawn)
    return float(F.cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten()))


def written(model: EncoderDecoder, sources: Sequence[Words]) -> list[Words]:
    known = vocabulary()
    rows = model.write(known.encode_batch(sources), known.bos, known.eos, BEYOND + 3)
    return [known.decode(row) for row in rows]


def share(hits: Sequence[bool]) -> float:
    return round(sum(hits) / len(hits), 4)


def equal(texts: Sequence, wanted: Sequence) -> float:
    return share([text == other for text, other in zip(texts, wanted, strict=True)])


def tested(model: EncoderDecoder) -> dict:
    """Every prefix before sentences of both languages: what comes out."""
    pairs = sentences().test[:TESTED]
    kinds = {"French": [pair.french for pair in pairs], "English": [pair.english for pair in pairs]}
    found = {}
    for prefix, (kind, sources) in itertools.product(PREFIXES, kinds.items()):
        texts = written(model, [(prefix, *source) for source in sources])
        shown = list(zip(sources, texts, strict=True))[:6]
        found[f"{prefix} {kind}"] = {
            "the English sentence": equal(texts, kinds["English"]),
            "the French sentence": equal(texts, kinds["French"]),
            "between marks": share([t[:1] == MARKS[:1] and t[-1:] == MARKS[1:] for t in texts]),
            "examples": [[" ".join(part) for part in both] for both in shown],
        }
    return found


def trained(mix: str, rate: float, seed: int) -> dict:
    """Train once: the row of results."""
    data, known = sentences(), vocabulary()
    torch.manual_seed(seed)
    V = known.vocab_size
    model = EncoderDecoder.build(V, V, WIDTH, HEADS, LAYERS, max_length=40)
    draw = torch.Generator().manual_seed(seed)
    rows = tasks(data.training, mix, seed=1)
    drawn = batches(rows, known, known, SETTINGS["batch"], draw, to_french=False)
    found = {"steps": STEPS, "seconds": optimize(model, drawn, rate, STEPS)}
    found["parameters"] = sum(p.numel() for p in model.parameters())
    model.eval()
    found["validation"] = round(loss_on(model, tasks(data.validation, mix, seed=3)), 4)
    return found if seed == TUNING_SEED else found | {"tested": tested(model)}


STUDY = Study(__file__, about, unsaid=["tested"], separators=(",", ":"))


def of_run(mix: str, rate: float, seed: int) -> dict:
    return STUDY.row({"mix": mix, "rate": rate, "seed": seed}, lambda: trained(mix, rate, seed))


def best_rate() -> float:
    """The rate with the smallest loss on the tuning seed; the best is not at the edge of RATES."""
    return tuned(RATES, lambda r: of_run("same sentences", r, TUNING_SEED)["validation"])


def main() -> None:
    command(__doc__).parse_args()
    torch.set_num_threads(1)
    rate = best_rate()
    for seed, mix in itertools.product(range(SEEDS), MIXES):
        of_run(mix, rate, seed)


if __name__ == "__main__":
    main()
