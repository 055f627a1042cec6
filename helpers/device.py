"""Which device the course computes on."""

from __future__ import annotations

import torch


def best_device() -> torch.device:
    """A CUDA GPU where there is one, else Apple's (MPS), else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe(device: torch.device) -> str:
    """The device in words, such as 'CPU' or the GPU's own name."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return "Apple GPU (MPS)" if device.type == "mps" else device.type.upper()
