"""What notebook 17 says over several seeds: the course's GPT learns to follow, in four ways.

    python -m benchmarks.finetuning_study all         whatever is missing
    python -m benchmarks.finetuning_study methods     one part: base, methods, "other rates", "equal
                                                      cost", exchanges, replay, ranks, "whole
                                                      stories" or longer

On one thread; all together takes about an hour of one processor. Each training adds a row to
benchmarks/results/finetuning.json, which the notebook shows; rows that are there are not computed
again.

The model is the GPT that ships, which has read the stories of the Reader's train part and the
tales, but none of the Reader's annotations. It is trained on three tasks in turn, one a step: a
word and then a sentence that holds it; a paragraph and a question, then the answer; a statement
*without* its story, then yes, no or maybe. The loss counts the answers alone. Measured on the test
part: how often the given word is used, beside how often the same sentences hold the word of another
prompt; whether one sentence was written; exact match and F1 of the answers; the share of right
judgements; the surprise of the true answer, with its own prompt and with that of another; and
bits per byte of the old texts, which is the forgetting.

Ways: *full* (all weights), *output* (the output matrix and the norm before it, all else frozen),
*adapters* (two in each block) and *LoRA* (on all six maps of each block), the last two with nearly
the same number of weights. The optimizer is AdamW everywhere. Its rate is chosen for each way on a
seed of its own, by the mean surprise of validation answers after shorter runs; where the best lies
at the edge of those tried, one beyond it is tried. Weight decay and the number of steps were not
tuned. "Other rates" repeats the comparison with a third and with three times the rate of each way,
because the best rate of short runs need not be the best of long ones, and because what is forgotten
depends on it as well. "Equal cost" gives the ways with frozen weights as many steps as cost the
arithmetic of the full one, counted by formula (notebook 13: a weight that is passed through costs
two operations forward, two for the gradient of what it reads, and two for its own gradient).
"Exchanges" trains the models of the first comparison again, and asks what the paragraph and the
question are worth each: only one of them comes from another prompt. "Replay" puts a batch of the
old training text after every three steps. "Ranks" trains LoRA with other ranks, once with the
factor alpha / r and once with one that falls with the root of r only; both are the usual factor at
the rank above.

"Whole stories" fine-tunes all weights for three words and a story, and for a story and a statement:
does the model use what it is given? "Longer" trains the first task alone, eight times as long,
once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Study, command, machine, tuned
from helpers.data.batching import TextWindows, seeded
from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.corpora import lantern_stories
from helpers.data.lantern_reader import Story, inference_test, read_stories
from helpers.data.masking import IGNORED, pad_rows
from helpers.data.reader_instructions import (
    ANSWERS,
    Instruction,
    InstructionBatches,
    InTurn,
    encoded,
    occurs,
    prompt_ids,
    sentences,
    to_answer,
    to_judge,
    to_tell,
    to_write,
    words_used,
)
from helpers.device import mixed_precision
from helpers.inference.answers import exact_match, token_f1
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.plausibility import bits_per_byte, text_log_probs
from helpers.inference.rules import Rules
from helpers.inference.sampling import sample
from helpers.learning.checkpoints import load_model
from helpers.learning.training import Training
from helpers.models.adapters import add_adapters, add_lora, merge_lora, train_only, trained
from helpers.models.gpt import GPT
from helpers.models.naive_bayes import NaiveBayes

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "data" / "checkpoints" / "lantern_stories_gpt"
MAPS = ("query", "key", "value", "output", "up", "down")
RANK, ALPHA, WIDTH = 8, 16, 35
METHODS = ("full", "output", "adapters", "LoRA")
STEPS, TUNING_STEPS, WARMUP = 450, 120, 10
BATCH = {"word": 32, "question": 12, "statement": 32}
RATES = {
    "full": (3e-4, 1e-3, 3e-3),
    "output": (1e-3, 3e-3, 1e-2),
    "adapters": (1e-3, 3e-3, 1e-2),
    "LoRA": (1e-3, 3e-3, 1e-2),
}
SEEDS, TUNING_SEED = 3, 100
ASKED, OLD_STORIES, OLD_TALES = 240, 80, 16  # of the test part
WHOLE_STEPS, WHOLE_BATCH, WHOLE_RATE = 240, 8, 1e-3
LONGER = 8
REPLAY = (8, 320)  # windows of a batch and their tokens
RANKS = (2, 8, 32)


@cache
def tokenizer() -> BPETokenizer:
    return BPETokenizer.load(FOLDER / "tokenizer.json")


@cache
def stories(part: str) -> tuple[Story, ...]:
    return read_stories(part)


def base() -> GPT:
    return load_model(FOLDER)[0]


def adapted(method: str, seed: int) -> GPT:
    """The base model, with what a method trains left unfrozen or added."""
    torch.manual_seed(seed)
    model = base()
    if method == "output":
        train_only(model, "norm", "output")
    elif method == "adapters":
        add_adapters(model, WIDTH)
    elif method == "LoRA":
        add_lora(model, RANK, ALPHA, MAPS)
    return model


def tasks(part: str) -> dict[str, list[Instruction]]:
    some = stories(part)
    return {
        "word": to_write(some),
        "question": to_answer(some, near=True),
        "statement": to_judge(some, without_story=True),
    }


def training_batches(seed: int) -> InTurn:
    rows = tasks("train").items()
    return InTurn([InstructionBatches(tokenizer(), r, BATCH[k], seed) for k, r in rows])


def cost(method: str) -> float:
    """Operations of a step for each token, as a share of those of full fine-tuning.

    Of the weights of matrices that a token passes through: two operations forward, two for the
    gradient of what a matrix reads (where something below it is trained), two for its own.
    """
    model = adapted(method, 0)
    matrices = {n: p for n, p in model.named_parameters() if p.ndim == 2 and "embedding" not in n}
    everywhere = 2 * sum(p.numel() for p in matrices.values())
    own = 2 * sum(p.numel() for p in matrices.values() if p.requires_grad)
    through = everywhere if method != "output" else 2 * matrices["output.weight"].numel()
    whole = sum(p.numel() for n, p in base().named_parameters() if n in matrices or p.ndim == 2)
    whole -= base().embedding.weight.numel()
    return (everywhere + through + own) / (6 * whole)


@torch.no_grad()
def surprises(model: nn.Module, rows: Sequence[Instruction]) -> Tensor:
    """Bits of each answer and its end, given its prompt, (N,)."""
    pairs = [encoded(tokenizer(), row) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: len(pairs[i][0]))
    found = torch.zeros(len(rows))
    for first in range(0, len(order), 48):
        now = order[first : first + 48]
        inputs = pad_rows([pairs[i][0] for i in now], 0)
        targets = pad_rows([pairs[i][1] for i in now], IGNORED)
        costs = F.cross_entropy(model(inputs).transpose(1, 2), targets, reduction="none")
        found[now] = costs.sum(1) / torch.log(torch.tensor(2.0))
    return found


def exchanged(rows: Sequence[Instruction], by: int) -> list[Instruction]:
    """The same answers behind the prompts of others, some rows further on."""
    return [row._replace(prompt=rows[(i + by) % len(rows)].prompt) for i, row in enumerate(rows)]


@torch.no_grad()
def labels_right(model: nn.Module, rows: Sequence[Instruction]) -> Tensor:
    """Whether, of yes, no and maybe, the right answer's first token is the likeliest, (N,)."""
    first = torch.tensor([int(tokenizer().encode(f" {answer}")[0]) for answer in ANSWERS])
    prompts = [prompt_ids(tokenizer(), row.prompt) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: len(prompts[i]))
    guesses = torch.zeros(len(rows), dtype=torch.long)
    for begin in range(0, len(order), 48):
        now = order[begin : begin + 48]
        ends = torch.tensor([len(prompts[i]) - 1 for i in now])
        logits = model(pad_rows([prompts[i] for i in now], 0))
        guesses[now] = logits[torch.arange(len(now)), ends][:, first].argmax(1)
    wanted = torch.tensor([ANSWERS.index(row.answer.strip()) for row in rows])
    return (guesses == wanted).double()


def written(
    model: GPT, rows: Sequence[Instruction], longest: int, temperature: float, at_once: int = 60
) -> list[str]:
    """What the model writes behind each prompt."""
    end, found = tokenizer().special_ids[END_OF_TEXT], [""] * len(rows)
    prompts = [prompt_ids(tokenizer(), row.prompt)[1:] for row in rows]
    order = sorted(range(len(rows)), key=lambda i: len(prompts[i]))
    predictor, draw = CachedPredictor(model, end, window=800), torch.Generator().manual_seed(0)
    for first in range(0, len(order), at_once):
        now = order[first : first + at_once]
        texts = sample(
            predictor, longest, draw, [prompts[i] for i in now], Rules(temperature), stop=end
        )
        for i, text in zip(now, texts, strict=True):
            found[i] = tokenizer().decode(text[len(prompts[i]) :])
    return found


@cache
def old_texts() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"stories": [], "tales": []}
    for document in lantern_stories().test_documents:
        kind = "stories" if document.book.startswith("lantern_reader") else "tales"
        found[kind].append(document.text)
    return {"stories": found["stories"][:OLD_STORIES], "tales": found["tales"][:OLD_TALES]}


def remembered(model: nn.Module) -> dict[str, float]:
    """Bits per byte of the old texts."""
    mark, found = torch.tensor([tokenizer().special_ids[END_OF_TEXT]]), {}
    for kind, texts in old_texts().items():
        tokens = [torch.cat([mark, tokenizer().encode(text), mark]) for text in texts]
        found[kind] = round(bits_per_byte(text_log_probs(model, tokens, 12), texts), 4)
    return found


def measured(model: GPT) -> dict[str, Any]:
    """All that is measured of a model that has been fine-tuned, on the test part."""
    model = merge_lora(model).eval()
    rows, found = tasks("test"), {}
    words = rows["word"][:ASKED]
    texts = written(model, words, 48, 0.8)
    given = [row.prompt.removeprefix("Word: ").strip() for row in words]
    others = given[7:] + given[:7]
    found["word used"] = share(occurs(w, t) for w, t in zip(given, texts, strict=True))
    found["other word"] = share(occurs(w, t) for w, t in zip(others, texts, strict=True))
    found["one sentence"] = share(len(sentences(t)) == 1 and "\n" not in t for t in texts)
    questions = rows["question"][:ASKED]
    answers = written(model, questions, 14, 0)
    pairs = [(a.strip(), row.answer.strip()) for a, row in zip(answers, questions, strict=True)]
    found["exact"] = share(exact_match(a, [b]) for a, b in pairs)
    found["F1"] = share(token_f1(a, [b]) for a, b in pairs)
    found["piece"] = share(
        a != "" and a in row.prompt.partition("\n\nQuestion:")[0]
        for (a, _), row in zip(pairs, questions, strict=True)
    )
    right, chosen = labels_right(model, rows["statement"]), set(inference_test())
    hard = [story in chosen for story in stories("test") for _ in ANSWERS]
    found["statement"] = share(right)
    found["statement, hard"] = share(right[torch.tensor(hard)])
    for kind, some in {"word": words, "question": questions}.items():
        own, wrong = surprises(model, some), surprises(model, exchanged(some, 7))
        gain = wrong - own
        found[f"{kind}, bits"] = round(float(own.mean()), 3)
        found[f"{kind}, gained"] = round(float(gain.mean()), 3)
        found[f"{kind}, gained, error"] = round(float(gain.std() / len(gain) ** 0.5), 3)
    found["old"] = remembered(model)
    found["examples"] = [[w, t] for w, t in zip(given[:8], texts[:8], strict=True)]
    found["answers"] = [
        [row.prompt[-90:], a, b] for row, (a, b) in zip(questions, pairs[:8], strict=False)
    ]
    return found


def share(values: Any) -> float:
    values = [float(value) for value in values]
    return round(sum(values) / len(values), 4)


def fit(model: GPT, batches: Any, steps: int, rate: float) -> dict[str, Any]:
    """Train; the curve of the loss, in nats per token of the answers, and the seconds."""
    began, losses, curve = time.process_time(), [], []
    training = Training(model, batches, steps, rate, warmup=WARMUP, precision="auto")
    for record in training:
        losses.append(record.loss)
        if record.step % 30 == 0:
            curve.append(round(sum(losses) / len(losses), 4))
            losses = []
    return {"curve": curve, "seconds": round(time.process_time() - began, 1)}


def validation(model: GPT) -> float:
    """Mean surprise of validation answers in bits, the three tasks alike."""
    model, found = merge_lora(model).eval(), []
    for some in tasks("validation").values():
        some = [some[i] for i in torch.randperm(len(some), generator=seeded(1))[:120].tolist()]
        tokens = sum(int((encoded(tokenizer(), row)[1] != IGNORED).sum()) for row in some)
        found.append(float(surprises(model, some).sum()) / tokens)
    return round(sum(found) / len(found), 4)


def run(method: str, rate: float, seed: int, steps: int) -> dict[str, Any]:
    model = adapted(method, seed)
    row = {"trained": sum(p.numel() for _, p in trained(model))}
    row |= fit(model, training_batches(seed), steps, rate)
    row["validation"] = validation(model)
    return row if seed == TUNING_SEED else row | measured(model)


def about() -> dict[str, Any]:
    settings = {
        "rank": RANK,
        "alpha": ALPHA,
        "width": WIDTH,
        "maps": MAPS,
        "steps": STEPS,
        "tuning steps": TUNING_STEPS,
        "batch": BATCH,
        "asked": ASKED,
        "old": {"stories": OLD_STORIES, "tales": OLD_TALES},
        "cost": {method: round(cost(method), 4) for method in METHODS},
        "replay": REPLAY,
        "whole stories": [WHOLE_STEPS, WHOLE_BATCH, WHOLE_RATE],
    }
    precision = mixed_precision(torch.device("cpu"))
    about = {"torch": torch.__version__, "machine": machine()}
    return about | {"precision": precision, "settings": settings}


STUDY = Study(__file__, about, "finetuning")


def kept(part: str, keys: dict[str, Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A row of results: the one that is there, or a new one, which is written at once."""
    return STUDY.row({"part": part, **keys}, make, unsaid=("examples", "answers", "curve"))


def best_rate(method: str) -> float:
    """The rate with the lowest surprise of validation answers; no best at an edge."""

    def of(rate: float) -> float:
        keys = {"method": method, "rate": rate, "seed": TUNING_SEED, "steps": TUNING_STEPS}
        return kept("tuning", keys, lambda: run(**keys))["validation"]

    return tuned(RATES[method], of, factor=3.0, digits=1, more=3)


def of_base() -> None:
    kept("base", {"method": "none"}, lambda: measured(base()) | {"validation": validation(base())})
    kept("baselines", {"method": "none"}, baselines)
    read_by_models = BATCH["statement"] * STEPS // 3
    for seed in range(SEEDS):

        def make(seed: int = seed) -> dict[str, Any]:
            return {"statement": naive_bayes(stories("test"), read_by_models, seed)}

        kept("naive Bayes", {"statements": read_by_models, "seed": seed}, make)


def naive_bayes(tested: Sequence[Story], number: int | None = None, seed: int = 0) -> float:
    """The share of statements judged right after a number of training statements drawn, or all."""
    texts = [statement for story in stories("train") for statement in story.statements]
    some = torch.randperm(len(texts), generator=seeded(seed))[:number].tolist()
    naive = NaiveBayes([texts[i] for i in some], [i % 3 for i in some])
    guesses = naive.classify([s for story in tested for s in story.statements])
    return share(guess == i % 3 for i, guess in enumerate(guesses))


def baselines() -> dict[str, Any]:
    """What can be had without a network: naive Bayes on statements, usual answers to questions."""
    train, found = stories("train"), {}
    for name, some in {"statement": stories("test"), "statement, hard": inference_test()}.items():
        found[name] = naive_bayes(some)
    usual: dict[str, dict[str, int]] = {}
    for story in train:
        for question, answer in story.questions:
            counts = usual.setdefault(question.split()[0], {})
            counts[answer] = counts.get(answer, 0) + 1
    rows = to_answer(stories("test"), near=True)[:ASKED]
    pairs = []
    for row in rows:
        word = row.prompt.partition("Question: ")[2].split()[0]
        counts = usual.get(word) or {"the sea": 1}
        pairs.append((max(counts, key=counts.__getitem__), row.answer.strip()))
    found["exact"] = share(exact_match(a, [b]) for a, b in pairs)
    found["F1"] = share(token_f1(a, [b]) for a, b in pairs)
    return found


def methods(part: str = "methods", factors: Sequence[float] = (1,)) -> None:
    for seed in range(SEEDS):
        for method in METHODS:
            for factor in factors:
                rate = float(f"{factor * best_rate(method):.0e}")
                keys = {"method": method, "rate": rate, "seed": seed, "steps": STEPS}
                kept(part, keys, lambda keys=keys: run(**keys))


def other_rates() -> None:
    methods("other rates", (1 / 3, 3))


def equal_cost() -> None:
    rates = {method: best_rate(method) for method in METHODS}
    for seed in range(SEEDS):
        for method in METHODS[1:]:
            steps = round(STEPS / cost(method))
            keys = {"method": method, "rate": rates[method], "seed": seed, "steps": steps}
            kept("equal cost", keys, lambda keys=keys: run(**keys))


class Replayed:
    """Three batches of tasks and one of old text, in turn."""

    def __init__(self, new: Any, old: Any) -> None:
        self.new, self.old = new, old

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        turn, place = divmod(step, 4)
        return self.old.batch(turn) if place == 3 else self.new.batch(3 * turn + place)


def replay() -> None:
    text = tokenizer().encode(lantern_stories().train, special=True)
    for seed in range(SEEDS):
        for method in METHODS:
            rate = best_rate(method)

            def make(method: str = method, rate: float = rate, seed: int = seed) -> dict[str, Any]:
                model = adapted(method, seed)
                batches = Replayed(training_batches(seed), TextWindows(text, *REPLAY, seed))
                return fit(model, batches, STEPS * 4 // 3, rate) | measured(model)

            kept("replay", {"method": method, "rate": rate, "seed": seed}, make)


def ranks() -> None:
    rate = best_rate("LoRA")
    for seed in range(SEEDS):
        for rank in RANKS:
            for power in (1.0, 0.5) if rank != RANK else (1.0,):

                def make(
                    rank: int = rank, power: float = power, seed: int = seed
                ) -> dict[str, Any]:
                    torch.manual_seed(seed)
                    model = base()
                    factor = ALPHA / RANK * (RANK / rank) ** power
                    layers = add_lora(model, rank, factor * rank, MAPS)
                    found = {"factor": round(factor, 4)}
                    found |= fit(model, training_batches(seed), STEPS, rate)
                    with torch.no_grad():
                        changes = [x.update().norm() / x.base.weight.norm() for x in layers]
                    found["size"] = round(float(torch.stack(changes).mean()), 4)
                    model = merge_lora(model).eval()
                    old = remembered(model)
                    return found | {"old": old} | exchanges_measured(model)

                kept("ranks", {"rank": rank, "power": power, "rate": rate, "seed": seed}, make)


def exchanges() -> None:
    kept("exchanges", {"method": "none"}, lambda: exchanges_measured(base()))
    for seed in range(SEEDS):
        for method in METHODS:
            rate = best_rate(method)

            def make(method: str = method, rate: float = rate, seed: int = seed) -> dict[str, Any]:
                model = adapted(method, seed)
                found = fit(model, training_batches(seed), STEPS, rate)
                return found | exchanges_measured(merge_lora(model).eval())

            kept("exchanges", {"method": method, "rate": rate, "seed": seed}, make)


def exchanges_measured(model: GPT) -> dict[str, Any]:
    """Bits that the true answer costs more when one half of its prompt is another's."""
    own = tasks("test")["question"][:ASKED]
    between = "\n\nQuestion: "
    halves = [row.prompt.split(between) for row in own]
    further = halves[7:] + halves[:7]
    wrong = {
        "paragraph": [
            other[0] + between + mine[1] for mine, other in zip(halves, further, strict=True)
        ],
        "question": [
            mine[0] + between + other[1] for mine, other in zip(halves, further, strict=True)
        ],
        "both": [other[0] + between + other[1] for other in further],
    }
    bits, found = surprises(model, own), {}
    for name, prompts in wrong.items():
        rows = [row._replace(prompt=prompt) for row, prompt in zip(own, prompts, strict=True)]
        gain = surprises(model, rows) - bits
        found[name] = round(float(gain.mean()), 3)
        found[f"{name}, error"] = round(float(gain.std() / len(gain) ** 0.5), 3)
    return found


def whole(kind: str, seed: int) -> dict[str, Any]:
    """All weights, whole stories: is what is given used?"""
    model = adapted("full", seed)
    rows = {"words": to_tell, "statement": to_judge}[kind](stories("train"))
    batches = InstructionBatches(tokenizer(), rows, WHOLE_BATCH, seed)
    row = fit(model, batches, WHOLE_STEPS, WHOLE_RATE)
    model.eval()
    return row | whole_measured(model, kind)


def whole_measured(model: GPT, kind: str) -> dict[str, Any]:
    some = stories("test")[:80]
    turned = some[7:] + some[:7]
    if kind == "words":
        own, wrong = to_tell(some), exchanged(to_tell(some), 7)
        texts = written(model, own[:48], 300, 0.8, 48)
        given = [story.words for story in some[:48]]
        others = given[7:] + given[:7]
        found = {
            "words used": share(words_used(w, t) for w, t in zip(given, texts, strict=True)),
            "other words": share(words_used(w, t) for w, t in zip(others, texts, strict=True)),
            "example": [list(given[0]), texts[0]],
        }
    else:
        own = to_judge(some)
        told = [replace(a, text=b.text) for a, b in zip(some, turned, strict=True)]
        wrong = to_judge(told)
        found = {"statement": share(labels_right(model, own))}
        found["statement, other story"] = share(labels_right(model, wrong))
    bits = surprises(model, own)
    gain = surprises(model, wrong) - bits
    found["bits"] = round(float(bits.mean()), 3)
    found["gained"] = round(float(gain.mean()), 3)
    found["gained, error"] = round(float(gain.std() / len(gain) ** 0.5), 3)
    return found


def whole_stories() -> None:
    for kind in ("words", "statement"):
        keys = {"kind": kind, "method": "none"}
        kept("whole stories", keys, lambda kind=kind: whole_measured(base(), kind))
    for seed in range(SEEDS):
        for kind in ("words", "statement"):
            keys = {"kind": kind, "method": "full", "seed": seed}
            kept("whole stories", keys, lambda kind=kind, seed=seed: whole(kind, seed))


def longer() -> None:
    """The first task alone, eight times its steps, all weights, once."""
    rate, steps = best_rate("full"), LONGER * STEPS // 3

    def make() -> dict[str, Any]:
        model = adapted("full", 0)
        rows = InstructionBatches(tokenizer(), tasks("train")["word"], BATCH["word"], 0)
        return fit(model, rows, steps, rate) | measured(model)

    kept("longer", {"method": "full", "rate": rate, "seed": 0, "steps": steps}, make)


PARTS: dict[str, Callable[[], None]] = {
    "base": of_base,
    "methods": methods,
    "other rates": other_rates,
    "whole stories": whole_stories,
    "equal cost": equal_cost,
    "exchanges": exchanges,
    "replay": replay,
    "ranks": ranks,
    "longer": longer,
}

if __name__ == "__main__":
    parser = command(__doc__)
    parser.add_argument("part", nargs="+", choices=[*PARTS, "all"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    for part in PARTS if "all" in options.part else options.part:
        PARTS[part]()
