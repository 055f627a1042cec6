"""How near a linear map, a small CNN and a vision transformer come to the best classifier.

    python -m benchmarks.pictures_study [fixed anywhere exchanged new steps] [--seeds 3]

Capitals in noise, 16 x 16 pixels, always in the middle or at any of 81 places, with few and with
many labelled pictures; and with the patches of all pictures exchanged alike. At any place also
with more steps, and, without noise, tested at places that are kept out of the training. Rates are
chosen on a seed of its own, with many pictures and noise and few steps, for each network and for
either kind of place. The ceiling is Bayes' classifier, on the same test pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

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
HELD = 20  # of the places, for the test alone, where it is at new places
RATES = {"linear": (0.001, 0.003, 0.01), "CNN": (0.003, 0.01, 0.03), "ViT": (0.001, 0.003, 0.01)}
NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Sequential(nn.Flatten(), nn.Linear(SIZE**2, len(CAPITALS))),
    "CNN": lambda: small_cnn(len(CAPITALS)),
    "ViT": lambda: VisionTransformer(SIZE, PATCH, len(CAPITALS), 48, 4, 2),
}


def about() -> Row:
    return {
        "machine": machine(), "numbers": NUMBERS, "steps": STEPS, "batch": BATCH, "test": TEST,
        "patch": PATCH, "noise": NOISE, "held": HELD, "weights": {
            name: sum(p.numel() for p in make().parameters()) for name, make in NETWORKS.items()
        },
    }  # fmt: skip


STUDY = Study(__file__, about)


class Task(NamedTuple):
    place: str
    number: int
    seed: int
    exchanged: bool = False
    noise: float = NOISE
    steps: int = STEPS


MANY = NUMBERS[1]
TASKS: dict[str, Callable[[int], list[Task]]] = {
    "fixed": lambda seed: [Task("fixed", number, seed) for number in NUMBERS],
    "anywhere": lambda seed: [Task("anywhere", number, seed) for number in NUMBERS],
    "exchanged": lambda seed: [Task(place, MANY, seed, exchanged=True) for place in PLACES],
    "new": lambda seed: [Task("new", MANY, seed, noise=0.0)],
    "steps": lambda seed: [Task("anywhere", MANY, seed, steps=4 * STEPS)],
}


def some_places(part: str, seed: int) -> Tensor:
    """Upper left corners for the training, or the other ones, for the test: (P, 2)."""
    most = torch.arange(SIZE - capitals().shape[-1] + 1)
    corners = torch.cartesian_prod(most, most)
    order = torch.randperm(len(corners), generator=torch.Generator().manual_seed(seed))
    return corners[order[:HELD] if part == "test" else order[HELD:]]


@lru_cache(4)
def drawn(task: Task, part: str) -> tuple[Tensor, Tensor]:
    """The pictures for training or test, and their labels."""
    number, seed = (TEST, 1000 + task.seed) if part == "test" else (task.number, task.seed)
    generator = torch.Generator().manual_seed(seed)
    if task.place == "new":
        places = some_places(part, task.seed)
        return hidden_capitals(number, generator, noise=task.noise, places=places)
    return hidden_capitals(number, generator, PLACES[task.place], task.noise)


def order_of_patches() -> Tensor:
    """The same for all pictures."""
    return torch.randperm((SIZE // PATCH) ** 2, generator=torch.Generator().manual_seed(5))


def exchange(pictures: Tensor) -> Tensor:
    return unpatch(patches(pictures, PATCH)[:, order_of_patches()], PATCH)


def right(logits: Tensor, labels: Tensor) -> float:
    return round(float((logits.argmax(1) == labels).float().mean()), 4)


def trained(name: str, task: Task, rate: float) -> nn.Module:
    pictures, labels = drawn(task, "train")
    if task.exchanged:
        pictures = exchange(pictures)
    torch.manual_seed(task.seed)
    network, generator = NETWORKS[name](), torch.Generator().manual_seed(task.seed)
    rows = (torch.randint(task.number, (BATCH,), generator=generator) for _ in range(task.steps))
    batches = ((pictures[row], labels[row]) for row in rows)
    list(Training(network, batches, task.steps, rate, warmup=WARMUP, loss=F.cross_entropy))
    return network.eval()


@torch.no_grad()
def judged(network: nn.Module, task: Task) -> Row:
    found = {}
    for part in ("test", "train"):
        pictures, labels = (x[:TEST] for x in drawn(task, part))
        found[part] = right(network(exchange(pictures) if task.exchanged else pictures), labels)
    return found


def best_rate(name: str, place: str) -> float:
    task = Task(place, NUMBERS[1], TUNING)

    def wrong(rate: float) -> float:
        return 1 - judged(trained(name, task, rate), task)["test"]

    return STUDY.entry(f"rate, {name}, {place}", lambda: tuned(RATES[name], wrong, 3.0, 1, more=1))


def ceiling(task: Task) -> float:
    """What Bayes' classifier gets right of the test pictures."""
    if task.noise == 0:
        return 1.0
    pictures, labels = drawn(task, "test")
    match = F.conv2d(pictures, capitals()) / task.noise**2
    if task.place == "fixed":
        middle = match.shape[-1] // 2
        return right(match[:, :, middle, middle], labels)
    return right(match.flatten(2).logsumexp(2), labels)


def measure(name: str, task: Task) -> None:
    asked = {"place": task.place, "seed": task.seed, "noise": task.noise}
    STUDY.row(asked, lambda: {"ceiling": ceiling(task)}, "ceilings")

    def make() -> Row:
        place = "fixed" if task.place == "fixed" else "anywhere"
        return judged(trained(name, task, best_rate(name, place)), task)

    STUDY.row({"network": name} | task._asdict(), make)


def main() -> None:
    options = command(__doc__, TASKS, seeds=3).parse_args()
    torch.set_num_threads(1)
    for part in options.parts:
        for seed in range(options.seeds):
            for task in TASKS[part](seed):
                for name in NETWORKS:
                    measure(name, task)


if __name__ == "__main__":
    main()
