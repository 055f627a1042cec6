"""The shapes that flow through a model, taken down in a real forward pass."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from helpers.evaluating import evaluating


def record_shapes(model: nn.Module, *inputs: Any, **options: Any) -> dict[str, tuple[int, ...]]:
    """Run the model once and note the shape of what each of its named parts hands on.

    The pass runs in evaluation mode and without gradients, so nothing is drawn at random for
    dropout; each part's mode comes back afterwards.

    Returns:
        Name, as in ``model.named_modules()``, -> the shape of the output, in the order in which the
        parts finish. "" is the model itself. Of several outputs the first tensor counts, and of
        several calls the last. Parts that were not called, or gave no tensor, are left out; a
        function or a bare parameter is no part and has no name.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    hooks = []

    def note(name: str):
        def hook(part: nn.Module, given: Any, output: Any) -> None:
            tensor = _first_tensor(output)
            if tensor is not None:
                shapes.pop(name, None)
                shapes[name] = tuple(tensor.shape)

        return hook

    try:
        for name, part in model.named_modules():
            hooks.append(part.register_forward_hook(note(name)))
        with evaluating(model):
            model(*inputs, **options)
    finally:
        for hook in hooks:
            hook.remove()
    return shapes


def _first_tensor(output: Any) -> Tensor | None:
    if isinstance(output, Tensor):
        return output
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (tuple, list)):
        return next((found for part in output if (found := _first_tensor(part)) is not None), None)
    return None
