"""How near a linear map, a small CNN and a vision transformer come to the best classifier.

    python -m benchmarks.pictures_study [fixed anywhere exchanged] [--seeds 3]

Capitals in noise, 16 x 16 pixels, always in the middle or at any of 81 places, with few and with
many labelled pictures; and at any place with the patches of all pictures exchanged alike. All
make equally many steps. Rates are chosen on a seed of its own, with many pictures, for each network
and for either kind of place. The ceiling is Bayes' classifier, on the same test pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, machine, tuned
from helpers.data.pictures import CAPITALS, NOISE, SIZE, capitals, hidden_capitals
from helpers.learning.training import Training
from helpers.models.vision import VisionTransformer, patches, small_cnn, unpatch

NUMBERS, STEPS, BATCH, WARMUP, TEST, PATCH = (1000, 20000), 400, 32, 40, 4000, 4
TUNING = 100  # a seed of its own
PLACES = {"fixed": None, "anywhere": 1}  # steps between two places
RATES = {"linear": (0.001, 0.003, 0.01), "CNN": (0.003, 0.01, 0.03), "ViT": (0.001, 0.003, 0.01)}
NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Sequential(nn.Flatten(), nn.Linear(SIZE**2, len(CAPITALS))),
    "CNN": lambda: small_cnn(len(CAPITALS)),
    "ViT": lambda: VisionTransformer(SIZE, PATCH, len(CAPITALS), 48, 4, 2),
}


def about() -> Row:
    return {
        "machine": machine(), "numbers": NUMBERS, "steps": STEPS, "batch": BATCH, "test": TEST,
        "patch": PATCH, "noise": NOISE, "weights": {
            name: sum(p.numel() for p in make().parameters()) for name, make in NETWORKS.items()
        },
    }  # fmt: skip


STUDY = Study(__file__, about)


@cache
def drawn(place: str, number: int, seed: int) -> tuple[Tensor, Tensor]:
    return hidden_capitals(number, torch.Generator().manual_seed(seed), PLACES[place])


def order_of_patches() -> Tensor:
    """The same for all pictures."""
    return torch.randperm((SIZE // PATCH) ** 2, generator=torch.Generator().manual_seed(5))


def exchange(pictures: Tensor) -> Tensor:
    return unpatch(patches(pictures, PATCH)[:, order_of_patches()], PATCH)


def right(logits: Tensor, labels: Tensor) -> float:
    return round(float((logits.argmax(1) == labels).float().mean()), 4)


def trained(
    name: str, place: str, number: int, seed: int, rate: float, exchanged: bool
) -> nn.Module:
    pictures, labels = drawn(place, number, seed)
    if exchanged:
        pictures = exchange(pictures)
    torch.manual_seed(seed)
    network, generator = NETWORKS[name](), torch.Generator().manual_seed(seed)
    rows = (torch.randint(number, (BATCH,), generator=generator) for _ in range(STEPS))
    batches = ((pictures[row], labels[row]) for row in rows)
    list(Training(network, batches, STEPS, rate, warmup=WARMUP, loss=F.cross_entropy))
    return network.eval()


@torch.no_grad()
def judged(network: nn.Module, place: str, number: int, seed: int, exchanged: bool) -> Row:
    found = {}
    for part, data in (
        ("test", drawn(place, TEST, 1000 + seed)),
        ("train", drawn(place, number, seed)),
    ):
        pictures, labels = (part[:TEST] for part in data)
        found[part] = right(network(exchange(pictures) if exchanged else pictures), labels)
    return found


def best_rate(name: str, place: str) -> float:
    def wrong(rate: float) -> float:
        network = trained(name, place, NUMBERS[1], TUNING, rate, False)
        return 1 - judged(network, place, NUMBERS[1], TUNING, False)["test"]

    return STUDY.entry(f"rate, {name}, {place}", lambda: tuned(RATES[name], wrong, 3.0, 1, more=1))


def ceiling(place: str, seed: int) -> float:
    """What Bayes' classifier gets right of the test pictures."""
    pictures, labels = drawn(place, TEST, 1000 + seed)
    match = F.conv2d(pictures, capitals()) / NOISE**2
    if place == "fixed":
        middle = match.shape[-1] // 2
        return right(match[:, :, middle, middle], labels)
    return right(match.flatten(2).logsumexp(2), labels)


def compare(place: str, seeds: int, exchanged: bool = False) -> None:
    for seed in range(seeds):
        STUDY.row(
            {"place": place, "seed": seed},
            lambda seed=seed: {"ceiling": ceiling(place, seed)},
            "ceilings",
        )
        for number in NUMBERS[1:] if exchanged else NUMBERS:
            for name in NETWORKS:
                asked = {"network": name, "place": place, "number": number, "seed": seed}

                def make(name: str = name, number: int = number, seed: int = seed) -> Row:
                    network = trained(name, place, number, seed, best_rate(name, place), exchanged)
                    return judged(network, place, number, seed, exchanged)

                STUDY.row(asked | {"exchanged": exchanged}, make)


def main() -> None:
    options = command(__doc__, ("fixed", "anywhere", "exchanged"), seeds=3).parse_args()
    torch.set_num_threads(1)
    for part in options.parts:
        compare("anywhere" if part == "exchanged" else part, options.seeds, part == "exchanged")


if __name__ == "__main__":
    main()
