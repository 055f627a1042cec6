"""Two processes that share a layer, and two that share a batch: the results of one.

    python -m helpers.learning.tensor_parallel --world 2

Tensor parallelism: each process has some of a feed-forward layer's hidden units, that is, some rows
of the first matrix and the same columns of the second. All read the whole x; what they compute are
summands of the result, which one ``all_reduce`` adds up. Data parallelism: each process has the
whole layer and its share of the rows of x; ``all_reduce`` takes the mean of the gradients. The
processes run on one machine, on the CPU, and prove that nothing is lost, not that time is saved.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

N, D, HIDDEN = 12, 16, 64  # rows of x, width, hidden units


def share_of(linear: nn.Linear, rank: int, world: int, *, of_inputs: bool = False) -> Tensor:
    """The rows of a matrix, or its columns, that a process has."""
    return linear.weight.detach().chunk(world, dim=int(of_inputs))[rank]


def partial_feed_forward(x: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """What some of the hidden units add to the layer's output: (N, D) -> (N, D)."""
    return F.gelu(x @ up.T) @ down.T


def _layer_and_input() -> tuple[nn.Linear, nn.Linear, Tensor]:
    torch.manual_seed(0)  # the same in all processes
    up, down = nn.Linear(D, HIDDEN, bias=False), nn.Linear(HIDDEN, D, bias=False)
    return up.double(), down.double(), torch.randn(N, D, dtype=torch.float64)


def _work(rank: int, world: int, folder: str) -> None:
    """What each process does; the first writes what was found."""
    torch.set_num_threads(1)
    meeting = Path(folder, "meeting").as_uri()
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
    up, down, x = _layer_and_input()
    whole = partial_feed_forward(x, up.weight, down.weight)

    mine = share_of(up, rank, world), share_of(down, rank, world, of_inputs=True)
    summed = partial_feed_forward(x, *mine).clone()
    alone = float((summed - whole).detach().abs().max())
    dist.all_reduce(summed)  # the sum over all processes

    whole.square().mean().backward()
    of_all = up.weight.grad.clone()
    up.weight.grad = None
    rows = x.chunk(world)[rank]
    partial_feed_forward(rows, up.weight, down.weight).square().mean().backward()
    gradient = up.weight.grad.clone()
    dist.all_reduce(gradient)
    gradient /= world

    if rank == 0:
        found = {
            "processes": world,
            "own shapes": [list(part.shape) for part in mine],
            "tensor: own part alone": alone,
            "tensor: after all_reduce": float((summed - whole).detach().abs().max()),
            "tensor: numbers sent": summed.numel(),
            "data: own rows": len(rows),
            "data: gradient": float((gradient - of_all).abs().max()),
            "data: numbers sent": gradient.numel(),
        }
        Path(folder, "found.json").write_text(json.dumps(found), encoding="utf-8")
    dist.barrier()
    dist.destroy_process_group()


def run_together(world: int = 2) -> dict[str, Any]:
    """Start ``world`` processes, and what the first of them found.

    Call it from a script, or run the module: processes cannot be spawned from a notebook's cell.
    """
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_work, (world, folder), nprocs=world)
        return json.loads(Path(folder, "found.json").read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", type=int, default=2)
    print(json.dumps(run_together(parser.parse_args().world)))


if __name__ == "__main__":
    main()
