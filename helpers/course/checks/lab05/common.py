"""What the checks of lab 05 share: the lab, its hints, and modules with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import Trial
from helpers.course.checks.turn import Slips
from helpers.data.bpe import BPETokenizer

lab = Lab("lab05", shows=[BPETokenizer.decode])

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


def twins(
    trial: Trial, solution: type[nn.Module], sizes: tuple[int, ...], hint: str
) -> tuple[nn.Module, nn.Module, str]:
    """The answer's module and the solution's, both with the same random weights, and their making.

    Args:
        sizes: what both are made with.
        hint: for parameters with other names or shapes.
    """
    trial.is_class_from("nn.Module", "forward", "state_dict")
    given = f"{solution.__name__}{sizes}"
    mine, ours = trial.call(*sizes, given=given), fill(solution(*sizes), trial)
    shapes = {name: tuple(p.shape) for name, p in ours.named_parameters()}
    has_shapes(trial, mine, shapes, given, hint)
    mine.double().load_state_dict(ours.state_dict())
    ours.sizes = sizes
    return mine, ours, given


def agree(
    trial: Trial, mine: nn.Module, ours: nn.Module, read: Callable[[nn.Module, Tensor], Tensor],
    x: Tensor, rule: str, hint: str, slips: Slips, given: str, shapes: str = "",
) -> None:  # fmt: skip
    """What ``read`` gives for x (B, T, D) with the answer's module is that of the solution's.

    Args:
        slips: of the solution's class; they get the weights of ``ours``.
        shapes: a hint for errors.
    """
    read = torch.no_grad()(read)
    got = trial.run(read, mine, x, given=given, hint=shapes)
    trial.holds(
        not isinstance(got, Tensor) or got.shape == x.shape,
        "it hands back one vector for each new token",
        "The output of T new tokens is (B, T, D), with or without a cache.",
        given=given,
        got=got,
    )

    def wrong() -> Iterator[tuple[Tensor, str]]:
        for version, words in slips:
            module = version(*ours.sizes).double()
            module.load_state_dict(ours.state_dict())
            with suppress(RuntimeError):  # shapes that do not fit
                yield read(module, x), words

    trial.equals(got, read(ours, x), rule, hint, slips=wrong(), given=given, tolerance=1e-5)


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
