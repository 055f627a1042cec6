"""Parts of a layer that sum up to it, in one process and in two."""

import json
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.learning.tensor_parallel import HIDDEN, D, N, partial_feed_forward, share_of


@pytest.mark.parametrize("world", [1, 2, 4])
def test_parts_sum_up_to_the_layer(world: int) -> None:
    torch.manual_seed(1)
    up, down = nn.Linear(6, 8, bias=False).double(), nn.Linear(8, 6, bias=False).double()
    x = torch.randn(3, 6, dtype=torch.float64)
    parts = [
        partial_feed_forward(
            x, share_of(up, rank, world), share_of(down, rank, world, of_inputs=True)
        )
        for rank in range(world)
    ]
    assert torch.allclose(sum(parts), down(F.gelu(up(x))))


def test_two_processes_find_what_one_finds() -> None:
    command = [sys.executable, "-m", "helpers.learning.tensor_parallel", "--world", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["own shapes"] == [[HIDDEN // 2, D], [D, HIDDEN // 2]]
    assert found["tensor: own part alone"] > 1e-3
    assert found["tensor: after all_reduce"] < 1e-12
    assert found["data: gradient"] < 1e-12
    assert found["data: own rows"] == N // 2
