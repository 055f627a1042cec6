"""What notebook 16 says about prefixes over several seeds: one translator, three tasks.

    python -m benchmarks.encoder_decoder_prefixes

The transformer of ``encoder_decoder_study.py`` reads a prefix and a sentence of notebook 08's
grammar; both sides know one vocabulary of English and French words. The tasks are "to-English:",
"to-French:" and "restore:", which reads a sentence with one word cut out and writes the word. The
tasks are mixed in two ways. With *separate sentences*, only French ones come behind "to-English:"
and only English ones behind "to-French:", so the sentence tells the task as well. With *same
sentences*, either language comes behind both, a sentence of the wanted language to be copied, so
only the prefix tells it. Between them lie mixes with a small share of such copies. "restore:" has
both languages each time.

One model for three tasks is trained for STEPS, for each mix, and beside the one of *same sentences*
one model for each task for a third of the steps, so that each task is read as often. The rate is
chosen on a seed of its own by the loss on validation tasks, for each of these four; the models of
the other mixes take that of *same sentences*. A model is then tested with its prefixes before every
kind of test sentence: French, English, and with a word cut out.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.attention_study import BEYOND, SETTINGS, TUNING_SEED, about, optimize, sentences
from benchmarks.encoder_decoder_study import HEADS, LAYERS, WIDTH, greedy
from benchmarks.study import Study, command, tuned
from helpers.data.span_corruption import cut_spans, restore_spans
from helpers.data.translation import Pair, PhraseGrammar, WordVocabulary, batches
from helpers.data.translation_lexicon import small_lexicon
from helpers.models.encoder_decoder import EncoderDecoder

PREFIXES, MARKS = ("to-English:", "to-French:", "restore:"), ("<0>", "<1>")
MIXES = {"separate sentences": 0.0, "same sentences": 0.5}  # the share of copies
MIXES |= {"1 % of copies": 0.01, "10 % of copies": 0.1}
STEPS, RATES, SEEDS, TESTED = 1200, (5e-4, 1e-3, 2e-3, 4e-3, 8e-3), 3, 500
Words = tuple[str, ...]


@cache
def grammar() -> PhraseGrammar:
    return PhraseGrammar(small_lexicon())


@cache
def vocabulary() -> WordVocabulary:
    words = {*grammar().english_words, *grammar().french_words}
    return WordVocabulary([*PREFIXES, *MARKS, *sorted(words)])


def with_a_hole(words: Words, draw: torch.Generator) -> tuple[Words, Words]:
    """A sentence without one of its words, and this word between the marks; "." and "?" stay."""
    i, known = int(torch.randint(len(words) - 1, (1,), generator=draw)), vocabulary()
    marks = known.encode(MARKS).tolist()
    source, target = cut_spans(known.encode(words), [(i, i + 1)], marks)
    return decoded(source), decoded(target)


def decoded(ids: Tensor) -> Words:
    return tuple(vocabulary().words[i] for i in ids.tolist())


def task(prefix: str, source: Words, target: Words) -> Pair:
    """What is read stands in the place of the French sentence, what is written of the English."""
    return Pair(tuple(target), (prefix, *source), frozenset())


def tasks(pairs: Sequence[Pair], mix: str, seed: int) -> dict[str, list[Pair]]:
    """Three of each pair, by prefix."""
    draw = torch.Generator().manual_seed(seed)
    shares = torch.tensor([MIXES[mix], MIXES[mix], 0.5])  # of copies, twice, and of English holes
    found: dict[str, list[Pair]] = {prefix: [] for prefix in PREFIXES}
    for pair in pairs:
        sides = pair.french, pair.english
        *copied, hole = (torch.rand(3, generator=draw) < shares).tolist()
        found["to-English:"].append(task("to-English:", sides[copied[0]], pair.english))
        found["to-French:"].append(task("to-French:", sides[not copied[1]], pair.french))
        found["restore:"].append(task("restore:", *with_a_hole(sides[hole], draw)))
    return found


@torch.no_grad()
def loss_on(model: EncoderDecoder, rows: list[Pair]) -> float:
    draw = torch.Generator().manual_seed(0)
    drawn = batches(rows, vocabulary(), vocabulary(), len(rows), draw, to_french=False)
    (source, target_in), target_out = next(drawn)
    return float(F.cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten()))


def is_sentence(words: Words, side: int) -> bool:
    """Whether the grammar has this English (0) or French (1) sentence."""
    return bool(grammar().grammar.parse(words, side)[0])


def fits(source: Words, written: Words) -> bool:
    """Whether what is written fills the hole so that a sentence of the grammar comes out."""
    known = vocabulary()
    marks = known.encode(MARKS).tolist()
    filled = restore_spans(known.encode(source), known.encode(written), marks)
    words = decoded(filled)
    return len(words) >= len(source) and any(is_sentence(words, side) for side in (0, 1))


def written(model: EncoderDecoder, sources: Sequence[Words]) -> list[Words]:
    rows = greedy(model, vocabulary().encode_batch(sources), vocabulary().eos, BEYOND + 3)
    return [vocabulary().decode(row) for row in rows]


def share(hits: Sequence[bool]) -> float:
    return round(sum(hits) / len(hits), 4)


def equal(texts: Sequence, wanted: Sequence) -> float:
    return share([text == other for text, other in zip(texts, wanted, strict=True)])


def tested(model: EncoderDecoder, prefixes: Sequence[str]) -> dict:
    """Every prefix before every kind of sentence: what comes out."""
    pairs = sentences().test[:TESTED]
    cut = tasks(pairs, "separate sentences", seed=2)["restore:"]
    kinds = {"French": [pair.french for pair in pairs], "English": [pair.english for pair in pairs]}
    kinds["cut"] = [row.french[1:] for row in cut]
    found = {}
    for prefix in prefixes:
        for kind, sources in kinds.items():
            texts = written(model, [(prefix, *source) for source in sources])
            row = {
                "the English sentence": equal(texts, [pair.english for pair in pairs]),
                "the French sentence": equal(texts, [pair.french for pair in pairs]),
                "an English sentence": share([is_sentence(text, 0) for text in texts]),
                "a French sentence": share([is_sentence(text, 1) for text in texts]),
                "between marks": share([t[:1] == MARKS[:1] and t[-1:] == MARKS[1:] for t in texts]),
            }
            if kind == "cut":
                row["the word"] = equal(texts, [r.english for r in cut])
                row["fits"] = share([fits(s, t) for s, t in zip(sources, texts, strict=True)])
            shown = zip(sources, texts, strict=True)
            row["examples"] = [[" ".join(part) for part in both] for both in list(shown)[:6]]
            found[f"{prefix} {kind}"] = row
    return found


def trained(mix: str, prefixes: Sequence[str], rate: float, seed: int) -> dict:
    """Train once: the row of results."""
    data, known = sentences(), vocabulary()
    every = tasks(data.training, mix, seed=1)
    rows = [row for prefix in prefixes for row in every[prefix]]
    torch.manual_seed(seed)
    V, steps = known.vocab_size, STEPS * len(prefixes) // len(PREFIXES)
    model = EncoderDecoder.build(V, V, WIDTH, HEADS, LAYERS, max_length=40)
    draw = torch.Generator().manual_seed(seed)
    drawn = batches(rows, known, known, SETTINGS["batch"], draw, to_french=False)
    found = {"steps": steps, "seconds": optimize(model, drawn, rate, steps)}
    found["parameters"] = sum(p.numel() for p in model.parameters())
    model.eval()
    held = tasks(data.validation, mix, seed=3)
    found["validation"] = round(loss_on(model, [r for name in prefixes for r in held[name]]), 4)
    return found if seed == TUNING_SEED else found | {"tested": tested(model, prefixes)}


def baseline() -> dict:
    """What fills the holes without a network: the word of another test sentence, the commonest word
    of the language, and the commonest word between the same two neighbours."""
    cut = tasks(sentences().test[:TESTED], "separate sentences", seed=2)["restore:"]
    holes = [(row.french[1:], row.english[1]) for row in cut]  # a source, and the word that is cut
    around: dict[tuple, Counter] = {}
    alone: list[Counter] = [Counter(), Counter()]  # English, French
    for pair in sentences().training:
        for side, words in enumerate((pair.english, pair.french)):
            padded = ("", *words)
            for before, word, behind in zip(padded, words, words[1:], strict=False):
                around.setdefault((side, before, behind), Counter())[word] += 1
                alone[side][word] += 1

    def side_of(source: Words) -> int:
        return int(sum(w in alone[1] for w in source) > sum(w in alone[0] for w in source))

    def between(source: Words) -> str:
        hole, side = source.index(MARKS[0]), side_of(source)
        known = around.get((side, ("", *source)[hole], source[hole + 1]), alone[side])
        return known.most_common(1)[0][0]

    fillers = {
        "another sentence's word": [word for _, word in [*holes[1:], holes[0]]],
        "the commonest word": [alone[side_of(s)].most_common(1)[0][0] for s, _ in holes],
        "the commonest between the neighbours": [between(source) for source, _ in holes],
    }
    return {
        name: {
            "the word": equal(words, [word for _, word in holes]),
            "fits": share(
                [fits(s, (MARKS[0], a, MARKS[1])) for a, (s, _) in zip(words, holes, strict=True)]
            ),
        }
        for name, words in fillers.items()
    }


STUDY = Study(__file__, about, unsaid=["tested"], separators=(",", ":"))


def of_run(mix: str, prefixes: Sequence[str], rate: float, seed: int) -> dict:
    asked = {"mix": mix, "prefixes": list(prefixes), "rate": rate, "seed": seed}
    return STUDY.row(asked, lambda: trained(mix, prefixes, rate, seed))


def best_rate(prefixes: Sequence[str]) -> float:
    """The rate with the smallest loss on the tuning seed; the best is not at the edge of RATES."""

    def loss(rate: float) -> float:
        return of_run("same sentences", prefixes, rate, TUNING_SEED)["validation"]

    return tuned(RATES, loss)


def main() -> None:
    command(__doc__).parse_args()
    torch.set_num_threads(1)
    STUDY.row({"part": "baseline"}, baseline)
    rate = best_rate(PREFIXES)
    for seed, mix in itertools.product(range(SEEDS), MIXES):
        of_run(mix, PREFIXES, rate, seed)
    for prefix in PREFIXES:
        rate = best_rate([prefix])
        for seed in range(SEEDS):
            of_run("same sentences", [prefix], rate, seed)


if __name__ == "__main__":
    main()
