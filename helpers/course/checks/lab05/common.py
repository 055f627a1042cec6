"""What the checks of lab 05 share: the lab, its hints, and modules with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import Trial

lab = Lab("lab05")

IGNORED = -100  # the target of a position that predicts nothing, as in F.cross_entropy
_AT_REST = ("size", "numel", "dim", "__len__", "__get__", "__repr__", "is_floating_point")
_COUNTING = ("ne", "eq", "ge", "gt", "lt", "le", "sum", "item", "count_nonzero", "tolist")


def fill(module: nn.Module, trial: Trial, scale: float = 0.5) -> nn.Module:
    """The same module in float64 with random weights, whatever it began with."""
    module.double()
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(scale * trial.normal(*p.shape))
    return module


@contextmanager
def seeded(trial: Trial) -> Iterator[None]:
    """Layers that are made in here begin with weights that depend on the trial alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(trial.integer(0, 2**31))
        yield


def is_module_class(trial: Trial) -> None:
    """The answer is a class of modules, not an object of one."""
    trial.holds(
        isinstance(trial.answer, type) and issubclass(trial.answer, nn.Module),
        "it is a class made from nn.Module",
        "The class itself is checked, class ...(nn.Module), and no object of it.",
        got=type(trial.answer).__name__,
    )


def has_shapes(
    trial: Trial, module: Any, expected: Mapping[str, tuple[int, ...]], given: str, hint: str
) -> None:
    """A module's parameters have these names and shapes."""
    trial.holds(
        isinstance(module, nn.Module),
        "it is an nn.Module",
        "Derive the class from nn.Module, and call super().__init__() first.",
        given=given,
        got=type(module).__name__,
    )
    found = {name: tuple(p.shape) for name, p in module.named_parameters()}
    biases = any(name.endswith("bias") for name in found.keys() - expected.keys())
    hint = "The linear maps are matrices alone: bias=False." if biases else hint
    trial.equals(found, dict(expected), "its parameters", hint, given=given)


class OnHost(Tensor):
    """A tensor that claims to be on another device than the model, until ``.to`` moves it.

    With tensors that are not, it computes nothing: as between a CPU and a GPU, but on any machine.
    """

    asked: ClassVar[list[str]] = []  # the devices that such tensors were moved to

    @classmethod
    def __torch_function__(
        cls, function: Callable, kinds: Any, arguments: tuple = (), named: dict | None = None
    ) -> Any:
        name = getattr(function, "__name__", "")
        value = super().__torch_function__(function, kinds, arguments, named or {})
        if name in ("to", "cuda", "cpu"):
            given = [*arguments[1:], *(named or {}).values()]
            OnHost.asked.append(str(given[0]) if given else name)
            return value.as_subclass(Tensor)
        if name in _AT_REST or name in _COUNTING:
            return value
        if _meets_others(arguments) or _meets_others(tuple((named or {}).values())):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but the batch is on another "
                "device than the model"
            )
        return value


def on_host(x: Tensor) -> Tensor:
    """A copy that must be moved before a model can read it."""
    return x.clone().as_subclass(OnHost)


def _meets_others(values: tuple) -> bool:
    """Whether there is a tensor of the model's device among these."""
    return any(
        (isinstance(value, Tensor) and not isinstance(value, OnHost))
        or (isinstance(value, tuple | list) and _meets_others(tuple(value)))
        for value in values
    )
