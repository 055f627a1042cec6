"""Matrix products in 16 bits, for a training loop that knows nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def products_in(precision: str, model: nn.Module) -> Iterator[None]:
    """Inside the block the model makes its matrix products in this precision.

    Its weights stay float32. Do not copy the model inside the block.

    Args:
        precision: "float32", which changes nothing, or "bfloat16". float16 needs a scaled loss:
            ``helpers.learning.training.Training`` has it.
        model: whose ``forward`` is meant, and nothing else.
    """
    plain, device = model.forward, next(model.parameters()).device.type

    def forward(*arguments: Any, **named: Any) -> Any:
        with torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16"):
            return plain(*arguments, **named)

    model.forward = forward  # type: ignore[method-assign]
    try:
        yield
    finally:
        del model.forward  # that of its class is found again
