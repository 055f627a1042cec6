"""What the checks of lab 06 share: the lab, and a second device.

Shape letters: B texts, T tokens, D width of a state, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from helpers.course.checks.devices import on_meta
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.bpe import BPETokenizer

lab = Lab("lab06", shows=[BPETokenizer.decode])

MASKING = see(15, "Masking")


def on_its_device(trial: Trial, compute: Callable[[], Any], given: str) -> str:
    """All that an answer makes lies on the device of its input.

    Other errors are passed over, because "meta" cannot do everything that a GPU can.

    Returns:
        The error's words, if there is one.
    """
    said = ""
    try:
        torch.zeros(1, device="meta") + 1  # its first use imports much
        on_meta(compute)
    except Exception as error:
        said = str(error)
    hint = "A tensor that you make, such as torch.arange(T), is made with device=x.device, x being "
    hint += "one that is handed over. On a CPU nobody notices that it is missing."
    trial.holds("device" not in said, "it runs on a GPU, too", hint, given=given)
    return said
