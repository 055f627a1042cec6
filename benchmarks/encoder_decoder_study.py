"""What notebook 16 says over several seeds: a transformer and a GRU on notebook 08's grammar.

    python -m benchmarks.encoder_decoder_study [budgets "two passes"]

Data, batches, optimizer, schedule, validation and test sentences are those of
``attention_study.py``; its GRU with additive attention stands beside the transformer.

Budgets. Both are trained for two numbers of steps, with a rate that is chosen for each on a seed of
its own. Of the transformer the alignment is measured for each head of each layer, for the mean over
the heads of each layer, and for one head, which is chosen on the validation sentences and measured
on the test sentences.

"Two passes" is scheduled sampling for transformers, with the smallest budget.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import attention_study
from benchmarks.attention_study import (
    BEYOND,
    HIDDEN,
    TUNING_SEED,
    Kind,
    about,
    alignment,
    exact,
    loss_on,
    optimize,
    padded,
    sentences,
    training_batches,
)
from benchmarks.study import Study, command, tuned
from helpers.models.encoder_decoder import EncoderDecoder

WIDTH, HEADS, LAYERS = 64, 4, 2
RATES = {"transformer": (1e-3, 2e-3, 4e-3), "GRU": (5e-3, 1e-2, 2e-2)}
BUDGETS, SEEDS = (500, 1500), 3
OWN_WORDS, EOS_ID = (0.25, 0.5), 2


def translator(model: str) -> nn.Module:
    if model == "GRU":
        return attention_study.Translator(Kind("additive", "after", True), HIDDEN)
    english, french, *_ = sentences()
    sizes = french.vocab_size, english.vocab_size
    return EncoderDecoder.build(*sizes, WIDTH, HEADS, LAYERS, max_length=40)


@torch.no_grad()
def mixed(
    model: nn.Module, source: Tensor, target_in: Tensor, share: float, draw: torch.Generator
) -> Tensor:
    """The targets read, of which a share is replaced by what the model would have written there.

    The first of two passes: all positions at once, from the true words before. Mihaylova and
    Martins (2019), "Scheduled sampling for transformers"; here with the most probable words.
    """
    guesses = F.pad(model(source, target_in).argmax(-1), (1, 0))[:, :-1]
    replaced = (torch.rand(target_in.shape, generator=draw) < share) & (target_in > EOS_ID)
    return torch.where(replaced, guesses, target_in)


@torch.no_grad()
def alignments(model: EncoderDecoder) -> dict:
    """``attention_study.alignment`` of every head, of each layer's mean, and of the chosen head."""
    data = sentences()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for part, pairs in {"validation": data.validation, "test": data.test}.items():
        layers = model.weights(*padded(pairs)[:2])
        maps = {
            f"{layer}.{head}": weights[:, head]
            for layer, weights in enumerate(layers)
            for head in range(weights.shape[1])
        }
        maps |= {f"{layer}.mean": weights.mean(1) for layer, weights in enumerate(layers)}
        found[part] = {name: alignment(weights, pairs) for name, weights in maps.items()}
    single = [name for name in found["validation"] if not name.endswith("mean")]
    best = min(single, key=lambda name: found["validation"][name]["error rate"])
    return {"heads": found["test"], "chosen": best}


def measured(kind: str, rate: float, seed: int, steps: int, own: float = 0.0) -> dict:
    """Train a translator once: the row of results.

    Args:
        own: share of its own words that the decoder reads at the end; it rises from 0 linearly.
    """
    torch.manual_seed(seed)
    model, data, draw = translator(kind), sentences(), torch.Generator().manual_seed(0)

    def change(step: int, source: Tensor, target_in: Tensor) -> Tensor:
        return mixed(model, source, target_in, own * step / steps, draw)

    seconds = optimize(model, training_batches(seed), rate, steps, change if own else None)
    model.eval()
    row = {"parameters": sum(p.numel() for p in model.parameters()), "seconds": seconds}
    row["validation"] = loss_on(model, data.validation)
    if seed == TUNING_SEED:
        return row
    if isinstance(model, EncoderDecoder):
        ends = data.english.bos, data.english.eos
        row |= exact(lambda source: model.write(source, *ends, BEYOND + 3))
        return row | {"alignment": alignments(model)}
    row |= exact(partial(attention_study.greedy, model))
    with torch.no_grad():
        _, weights = model.read(*padded(data.test)[:2])
    return row | {"alignment": alignment(weights, data.test)}


STUDY = Study(__file__, about, unsaid=("alignment", "by length"), separators=(",", ":"))


def done(part: str, kind: str, rate: float, seed: int, steps: int, own: float = 0.0) -> dict:
    asked = {"part": part, "model": kind, "rate": rate, "seed": seed, "steps": steps}
    asked |= {"own words": own} if own else {}
    return STUDY.row(asked, lambda: measured(kind, rate, seed, steps, own))


def best_rate(kind: str, steps: int) -> float:
    """The rate with the smallest loss on the tuning seed, not at the edge of those tried."""

    def loss(rate: float) -> float:
        return done("budgets", kind, rate, TUNING_SEED, steps)["validation"]

    return tuned(RATES[kind], loss)


def main() -> None:
    parts = command(__doc__, ["budgets", "two passes"]).parse_args().parts
    torch.set_num_threads(1)
    for seed in range(SEEDS):
        for steps in BUDGETS if "budgets" in parts else ():
            for kind in RATES:
                done("budgets", kind, best_rate(kind, steps), seed, steps)
    if "two passes" in parts:
        for own in OWN_WORDS:
            for seed in range(SEEDS):
                done("two passes", "transformer", best_rate("transformer", 500), seed, 500, own)


if __name__ == "__main__":
    main()
