"""What residual connections and the norm's position change, over gains, rates and warm-ups.

    python -m benchmarks.block_study [spirals surfaces norms undivided collapse] [--seeds 3]

(1) Twenty layers of tanh, with and without residual connections, learn to tell two spirals apart,
for several gains of the initial weights and learning rates. (2) The loss around some of them, on
planes of random directions. (3) Causal transformers of twelve blocks, pre-norm and post-norm, learn
a source whose next symbol depends on the one three positions back, and whose entropy is known, for
several rates and lengths of the warm-up. The matrices that write into the stream begin divided by
the square root of their number, as in GPT-2. (4) The same map without this division. (5) Some of
these settings once more, and one without attention: how much of the gradient reaches the first
block, and how alike the positions' vectors are, step by step.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Row, Study, command, machine
from helpers.data.batching import windows
from helpers.data.sources import lagged_source
from helpers.learning.loss_surface import filter_normalised_direction, loss_surface
from helpers.learning.training import Training
from helpers.models.blocks import PostNormBlock, PreNormBlock
from helpers.models.positions import RotaryPositions
from helpers.models.transformer import Transformer

SPIRALS = {
    "points": 512, "layers": 20, "width": 24, "batch": 128, "steps": 300, "optimizer": "Adam",
    "gains": [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0], "rates": [0.001, 0.003, 0.01],
    "kinds": ["none", "plain", "scaled"],
}  # fmt: skip
SURFACES = {
    "gain": 1.5, "rate": 0.001, "reach": 0.5, "steps": 21, "planes": 2,
    "kinds": ["none", "plain", "half", "scaled"],
}  # fmt: skip
# What is multiplied to the layer's result; without residual connections there is no stream.
SCALES = {"plain": 1.0, "half": 0.5, "scaled": 1 / SPIRALS["layers"] ** 0.5}
NORMS = {
    "symbols": 8, "lag": 3, "noise": 0.1, "text": 100000, "layers": 12, "width": 32, "heads": 4,
    "window": 16, "batch": 16, "steps": 200, "clip": 1.0,
    "rates": [0.001, 0.003, 0.01, 0.03], "warmups": [0, 25, 100],
}  # fmt: skip
# The part of the study that trains a kind of block says whether its writers are divided.
MAPS = {"norms": True, "undivided": False}
COLLAPSE = {  # norm, rate, warm-up, whether the writers are divided
    "settings": [
        ["post-norm", 0.01, 0, True], ["post-norm", 0.003, 100, True],
        ["pre-norm", 0.01, 0, True], ["post-norm", 0.003, 0, True],
        ["post-norm", 0.003, 0, False], ["post-norm", 0.01, 0, False],
        ["post-norm", 0.01, 100, False], ["post-norm, no attention", 0.01, 0, True],
    ],
    "at": [0, 1, 2, 5, 10, 20, 50, 100, 150, 200], "windows": 64,
}  # fmt: skip


def spirals(points: int) -> tuple[Tensor, Tensor]:
    """Points (N, 2) on two spirals that wind round each other, and which spiral each is on (N,)."""
    generator = torch.Generator().manual_seed(0)
    turn = 2.2 * math.pi * torch.rand(points, generator=generator).sqrt() + 0.4
    label = torch.randint(2, (points,), generator=generator)
    angle = turn + math.pi * label
    x = torch.stack([angle.cos(), angle.sin()], dim=1) * turn[:, None] / 4
    return x + 0.05 * torch.randn(points, 2, generator=generator), label


def initial(seed: int, gain: float, width: int, layers: int) -> list[Tensor]:
    """Weights of a stack: (2, W) into it, (L, W, W) and their biases (L, 1, W), (W, 2) out."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    inner = draw(layers, width, width) * gain / width**0.5
    return [draw(2, width), inner, torch.zeros(layers, 1, width), draw(width, 2) / width**0.5]


def logits(weights: list[Tensor], x: Tensor, kind: str) -> Tensor:
    """Of R stacks at once: weights with R in front, x (N, 2) -> (R, N, 2)."""
    W_in, W, b, W_out = weights
    layers = W.shape[1]
    state = (x @ W_in).tanh()  # (R, N, W)
    for k in range(layers):
        added = torch.baddbmm(b[:, k], state, W[:, k]).tanh()
        if kind == "none":
            state = added
        else:
            state = state + added / (layers**0.5 if kind == "scaled" else 1.0)
    return state @ W_out


def fit_spirals(kind: str, rate: float, seeds: int) -> list[dict]:
    """The loss on all points after training, of every gain and seed; they learn side by side."""
    x, y = spirals(SPIRALS["points"])
    jobs = list(itertools.product(SPIRALS["gains"], range(seeds)))
    parts = [initial(seed, gain, SPIRALS["width"], SPIRALS["layers"]) for gain, seed in jobs]
    weights = [torch.stack(tensors).requires_grad_() for tensors in zip(*parts, strict=True)]
    optimizer = torch.optim.Adam(weights, lr=rate)
    generator = torch.Generator().manual_seed(0)
    for _ in range(SPIRALS["steps"]):
        rows = torch.randint(len(x), (SPIRALS["batch"],), generator=generator)
        optimizer.zero_grad()
        given = logits(weights, x[rows], kind)  # (R, N, 2)
        each = F.cross_entropy(given.flatten(0, 1), y[rows].repeat(len(jobs)), reduction="none")
        (each.sum() / len(rows)).backward()  # a sum over stacks: none touches another's gradient
        optimizer.step()
    with torch.no_grad():
        given = logits(weights, x, kind)
        each = F.cross_entropy(given.flatten(0, 1), y.repeat(len(jobs)), reduction="none")
    losses = each.view(len(jobs), -1).mean(1).tolist()
    return [
        {"gain": gain, "seed": seed, "loss": round(loss, 5)}
        for (gain, seed), loss in zip(jobs, losses, strict=True)
    ]


class Stack(nn.Module):
    """One of the stacks above, with a parameter for each layer's matrix."""

    def __init__(self, kind: str, weights: list[Tensor]) -> None:
        super().__init__()
        self.kind = kind
        first, inner, _, last = weights
        # A row of a parameter is what a filter is in the paper: the weights into one unit.
        self.first, self.last = nn.Parameter(first.T.clone()), nn.Parameter(last.T.clone())
        self.weights = nn.ParameterList(W.T.clone() for W in inner)
        self.biases = nn.ParameterList(torch.zeros(W.shape[1]) for W in inner)

    def forward(self, x: Tensor) -> Tensor:
        """(N, 2) -> logits (N, 2)."""
        state, scale = (x @ self.first.T).tanh(), SCALES.get(self.kind, 0.0)
        for W, b in zip(self.weights, self.biases, strict=True):
            added = F.linear(state, W, b).tanh()
            state = added if self.kind == "none" else state + scale * added
        return state @ self.last.T


def local_minima(losses: np.ndarray) -> int:
    """How many inner points of a grid lie below all of their eight neighbours."""
    rows, columns = losses.shape[0] - 2, losses.shape[1] - 2
    shifts = [(i, j) for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    around = [losses[i : i + rows, j : j + columns] for i, j in shifts]
    return int((losses[1:-1, 1:-1] < np.min(around, axis=0)).sum())


def look_around(kind: str, seed: int) -> list[dict]:
    """What planes of two random directions through a trained stack look like."""
    x, y = spirals(SPIRALS["points"])
    stack = Stack(kind, initial(seed, SURFACES["gain"], SPIRALS["width"], SPIRALS["layers"]))
    optimizer = torch.optim.Adam(stack.parameters(), lr=SURFACES["rate"])
    generator = torch.Generator().manual_seed(seed)
    for _ in range(SPIRALS["steps"]):
        rows = torch.randint(len(x), (SPIRALS["batch"],), generator=generator)
        optimizer.zero_grad()
        F.cross_entropy(stack(x[rows]), y[rows]).backward()
        optimizer.step()

    @torch.no_grad()
    def loss(model: nn.Module) -> float:
        return F.cross_entropy(model(x), y).item()

    along = torch.linspace(-SURFACES["reach"], SURFACES["reach"], SURFACES["steps"])
    found = []
    for plane in range(SURFACES["planes"]):
        generator = torch.Generator().manual_seed(plane)
        directions = [filter_normalised_direction(stack, generator) for _ in range(2)]
        losses = loss_surface(stack, loss, directions, along, along).numpy()
        found.append({
            "plane": plane, "trained": round(loss(stack), 5),
            "below 0.1": round(float((losses < 0.1).mean()), 4), "minima": local_minima(losses),
        })  # fmt: skip
    return found


def symbols() -> Tensor:
    """The text that the transformers learn, (N,)."""
    source = lagged_source(NORMS["symbols"], NORMS["lag"], NORMS["noise"])
    return source.sample(NORMS["text"], torch.Generator().manual_seed(1))


class NoAttentionPostNorm(PostNormBlock):
    def forward(self, x: Tensor, mask=None, causal=False, cache=None) -> Tensor:
        x = self.attention_norm(x)
        return self.feed_forward_norm(x + self.feed_forward(x))


KINDS = {"pre-norm": PreNormBlock, "post-norm": PostNormBlock}
WATCHED = {**KINDS, "post-norm, no attention": NoAttentionPostNorm}


def model_and_batches(
    block: Callable[..., nn.Module], seed: int, divided: bool = True
) -> tuple[Transformer, Iterator[tuple[Tensor, Tensor]]]:
    """A causal transformer of such blocks, and the batches that it learns from.

    Where the writers are not divided, the matrices that write into the stream begin as large as all
    others, and are drawn from the same random numbers.
    """
    d_head = NORMS["width"] // NORMS["heads"]
    torch.manual_seed(seed)
    model = Transformer(
        NORMS["symbols"], NORMS["width"], NORMS["heads"], NORMS["layers"],
        relative=lambda: RotaryPositions(d_head), block=block,
    )  # fmt: skip
    if not divided:
        undivide(model)
    generator = torch.Generator().manual_seed(seed)
    return model, windows(symbols(), NORMS["batch"], NORMS["window"], generator)


@torch.no_grad()
def undivide(model: Transformer) -> None:
    """Make the writers as large as they were drawn (``Transformer`` divides them)."""
    for block in model.blocks:
        for writer in (block.attention.output, block.feed_forward.down):
            writer.weight.mul_((2 * len(model.blocks)) ** 0.5)


def fit(
    block: Callable[..., nn.Module],
    rate: float,
    warmup: int,
    seed: int,
    divided: bool = True,
    seen: list | None = None,
) -> float:
    """The mean loss of the last 20 batches, none of which was seen before.

    Args:
        seen: takes what the model looks like inside at some steps.
    """
    model, batches = model_and_batches(block, seed, divided)
    if seen is not None:
        seen.append(look_inside(model))
    options = {"learning_rate": rate, "warmup": warmup, "clip": NORMS["clip"]}
    losses = []
    for record in Training(model, batches, NORMS["steps"], **options):
        losses.append(record.loss)
        if seen is not None and record.step in COLLAPSE["at"]:
            seen.append(look_inside(model))
    return round(sum(losses[-20:]) / 20, 5)


def fit_transformer(norm: str, rate: float, warmup: int, seed: int, divided: bool) -> Row:
    try:
        return {"loss": fit(KINDS[norm], rate, warmup, seed, divided=divided)}
    except ValueError as diverged:
        return {"failed": str(diverged)}


def look_inside(model: Transformer) -> dict[str, float]:
    """What reaches the first block, what sub-layers add to what they read, how alike states are.

    "between" is the mean cosine of the last positions of different texts.
    """
    generator = torch.Generator().manual_seed(99)
    x, y = next(windows(symbols(), COLLAPSE["windows"], NORMS["window"], generator))
    states: list[Tensor] = []
    added: list[float] = []
    aligned: list[float] = []

    def keep(module: nn.Module, given: tuple[Tensor, ...], state: Tensor) -> None:
        state.retain_grad()
        states.append(state)

    def compare(module: nn.Module, given: tuple[Tensor, ...], written: Tensor) -> None:
        added.append((written.norm() / given[0].norm()).item())
        aligned.append(F.cosine_similarity(written, given[0], dim=-1).mean().item())

    hooks = [block.register_forward_hook(keep) for block in model.blocks]
    for block in model.blocks:
        hooks += [part.register_forward_hook(compare) for part in (block.attention,
                                                                   block.feed_forward)]  # fmt: skip
    F.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
    for hook in hooks:
        hook.remove()
    sizes = [state.grad.norm().item() for state in states if state.grad is not None]
    model.zero_grad()
    last = states[-1].detach()
    return {
        "gradient": float(f"{sizes[0] / sizes[-1]:.3g}"),
        "cosine": round(mean_cosine(last.flatten(0, 1)[:200]), 5),
        "between": round(mean_cosine(last[:, -1]), 5),
        "added": round(float(np.mean(added)), 3), "aligned": round(float(np.mean(aligned)), 3),
    }  # fmt: skip


def mean_cosine(vectors: Tensor) -> float:
    """The mean cosine of two different rows."""
    unit = F.normalize(vectors, dim=-1)
    return (unit @ unit.T)[~torch.eye(len(unit), dtype=torch.bool)].mean().item()


def watch(norm: str, rate: float, warmup: int, divided: bool, seed: int) -> Row:
    """A run of ``fit_transformer`` again, looked into at some of its steps.

    What sub-layers add is compared with what they read, which in post-norm is the stream itself.
    """
    seen: list[dict] = []
    loss = fit(WATCHED[norm], rate, warmup, seed, divided=divided, seen=seen)
    return {"loss": loss} | {name: [look[name] for look in seen] for name in seen[0]}


def floor() -> dict[str, float]:
    """Nats per symbol of one who knows the source, in a window, and of one who knows nothing."""
    source = lagged_source(NORMS["symbols"], NORMS["lag"], NORMS["noise"])
    uniform, window, blind = math.log(NORMS["symbols"]), NORMS["window"], NORMS["lag"] - 1
    # The first targets of a window have no symbol three positions back: nothing tells them.
    known = (blind * uniform + (window - blind) * source.entropy_rate()) / window
    return {"best possible": known, "uniform": uniform}


STUDY = Study(__file__, lambda: {"machine": machine(), "floor": floor()}, indent=None)


def spirals_learned(seeds: int) -> None:
    for kind, rate in itertools.product(SPIRALS["kinds"], SPIRALS["rates"]):
        STUDY.several(
            {"kind": kind, "rate": rate}, partial(fit_spirals, kind, rate, seeds), "spirals"
        )


def surfaces(seeds: int) -> None:
    for kind, seed in itertools.product(SURFACES["kinds"], range(seeds)):
        asked = {"kind": kind, "seed": seed}
        STUDY.several(asked, partial(look_around, **asked), "surfaces")


def norms(part: str, seeds: int) -> None:
    for norm, rate, warmup, seed in itertools.product(
        KINDS, NORMS["rates"], NORMS["warmups"], range(seeds)
    ):
        asked = {"norm": norm, "rate": rate, "warmup": warmup, "seed": seed}
        STUDY.row(asked, partial(fit_transformer, **asked, divided=MAPS[part]), part)


def collapse(seeds: int) -> None:
    names = "norm", "rate", "warmup", "divided"
    for setting, seed in itertools.product(COLLAPSE["settings"], range(seeds)):
        asked = dict(zip(names, setting, strict=True)) | {"seed": seed}
        STUDY.row(asked, partial(watch, **asked), "collapse")


PARTS: dict[str, tuple[dict, Callable[[int], None]]] = {
    "spirals": (SPIRALS, spirals_learned),
    "surfaces": (SURFACES, surfaces),
    **{part: (NORMS, partial(norms, part)) for part in MAPS},
    "collapse": (COLLAPSE, collapse),
}


def main() -> None:
    options = command(__doc__, PARTS, seeds=3).parse_args()
    torch.set_num_threads(1)
    for part in options.parts:
        settings, make = PARTS[part]
        STUDY.begin(part, **settings, seeds=options.seeds)
        make(options.seeds)


if __name__ == "__main__":
    main()
