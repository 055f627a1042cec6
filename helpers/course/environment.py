"""Where the course lies, and what machine it runs on."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


def find_root() -> Path:
    """The folder that holds ``helpers/``, ``data/`` and ``notebooks/``.

    Raises:
        FileNotFoundError: the package was copied away from the course (installed, not editable).
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / "notebooks").is_dir():
        raise FileNotFoundError(
            f"No folder 'notebooks' in {root}: the course is used from a clone of its repository, "
            "so open its notebooks there, or install the package with 'pip install -e .' there."
        )
    return root


def on_colab() -> bool:
    """Whether this Python is a kernel of Google Colab."""
    return "google.colab" in sys.modules


@dataclass(frozen=True)
class Machine:
    """What the course runs on; memory is in GiB (2**30 bytes)."""

    device: str
    device_memory: float | None
    cpu_count: int
    memory: float | None
    system: str
    python: str
    torch: str
    ipywidgets: str
    on_colab: bool


def describe_machine() -> Machine:
    """Look at this machine: accelerator, cores that this process may use, memory, versions."""
    # Here, not above: laying working copies should not wait for torch.
    import torch

    from helpers.device import best_device, describe

    device, device_memory = best_device(), None
    if device.type == "cuda":
        device_memory = torch.cuda.get_device_properties(device).total_memory / 2**30
    return Machine(
        device=describe(device),
        device_memory=device_memory,
        cpu_count=_cpu_count(),
        memory=_memory(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        torch=torch.__version__,
        ipywidgets=_version("ipywidgets"),
        on_colab=on_colab(),
    )


def _cpu_count() -> int:
    # A container or a job scheduler often allows fewer cores than the machine has.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> float | None:
    try:
        import psutil
    except ImportError:
        return None
    return psutil.virtual_memory().total / 2**30


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
