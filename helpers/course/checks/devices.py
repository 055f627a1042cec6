"""A second device that every machine has: "meta", which computes shapes alone, and no numbers.

A tensor that a model makes on the CPU on its way would raise beside the model's own on a GPU. On
"meta" a few operations let it pass; inside ``OneDevice`` none does that a GPU would refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_INDEXING = ("aten::index.Tensor", "aten::index_put", "aten::index_put_")


class OneDevice(TorchDispatchMode):
    """A context that refuses to mix devices, as a GPU does: it raises RuntimeError.

    As there, x[i] may take its indices i from the CPU.
    """

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run one operation, unless its tensors (numbers excepted) lie on two devices."""
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor) and t.dim()]
        if func.name().startswith(_INDEXING):
            indices = [t for t in args[1] if t is not None and t.device.type == "cpu"]
            given = [t for t in given if not any(t is index for index in indices)]
        devices = sorted({str(tensor.device) for tensor in given})
        if len(devices) > 1 and "copy" not in func.name():
            raise RuntimeError(f"{func} got tensors on more than one device: {devices}.")
        return func(*args, **(kwargs or {}))


def on_meta(compute: Callable[[], Any]) -> Any:
    """What a function gives whose tensors are all on "meta"; raises where one is made elsewhere."""
    with OneDevice():
        return compute()
