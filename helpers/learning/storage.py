"""What a checkpoint's files hold, safetensors and JSON, and how they are read."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor, nn


class CheckpointError(ValueError):
    """A model folder or a checkpoint that cannot be used; the message says why and what to do."""


def sync_names(folder: Path) -> None:
    """Have the names in a folder on the disk as well, where the system can do that."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sha256(content: bytes) -> str:
    """The SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def json_bytes(content: Any, name: str) -> bytes:
    """What a JSON file of ``content`` holds.

    Raises:
        CheckpointError: JSON cannot hold it; ``name`` says what it is.
    """
    try:
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8")
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"The {name} cannot be saved as JSON ({error}): use numbers, strings, lists and "
            "dictionaries with strings as keys."
        ) from error


def tensor_bytes(tensors: dict[str, Tensor]) -> bytes:
    """What a safetensors file of ``tensors`` holds; they may be views, and on any device."""
    # Clones, since safetensors takes neither tensors that share memory nor strided ones.
    whole = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    return safetensors.save(whole, {"format": "pt"})


def read(path: Path) -> bytes:
    """The content of a file.

    Raises:
        CheckpointError: it is missing or cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path} is missing: copy the folder again, or save again."
        ) from error
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be read ({error.strerror}): copy the folder again, or save again."
        ) from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        CheckpointError: it is missing, damaged or holds something else.
    """
    content = read(path)
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(
            f"{path} is damaged (no JSON): copy the folder again, or save again."
        ) from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} holds no JSON object: it is not a file of this course.")
    return value


def parse_tensors(content: bytes, path: Path) -> dict[str, Tensor]:
    """The tensors in the content of a safetensors file.

    Raises:
        CheckpointError: it is damaged; ``path`` says which file it is.
    """
    try:
        return safetensors.load(content)
    except SafetensorError as error:
        raise CheckpointError(
            f"{path} is damaged ({error}): copy the folder again, or save again."
        ) from error


def tensors_of(model: nn.Module) -> dict[str, Tensor]:
    """A model's parameters and buffers by name, each under the first of its names."""
    found, seen = {}, set()
    for name, tensor in model.state_dict().items():
        place = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if not tensor.numel() or place not in seen:
            found[name] = tensor.detach()
        seen.add(place)
    return found


def check_fit(tensors: dict[str, Tensor], model: nn.Module, path: Path) -> None:
    """Whether the tensors are those of the model, by name and by shape.

    Raises:
        CheckpointError: they are not; ``path`` says which file they come from.
    """
    own = tensors_of(model)
    odd = sorted(set(own) ^ set(tensors))
    if odd:
        where = "the file" if odd[0] in tensors else "the model"
        raise CheckpointError(
            f"{path} does not fit the model: {odd[0]} is only in {where}; the file is of a model "
            "with other settings."
        )
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            raise CheckpointError(
                f"{path} does not fit the model: {name} has the shape {tuple(tensor.shape)} there, "
                f"and {tuple(own[name].shape)} in the model; the settings must be the same."
            )


@torch.no_grad()
def copy_into(tensors: dict[str, Tensor], model: nn.Module, path: Path) -> None:
    """Give a model the tensors of ``tensors_of`` a model like it; raises as ``check_fit`` does."""
    check_fit(tensors, model, path)
    for name, own in tensors_of(model).items():
        own.copy_(tensors[name])


def pack(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """A nested state as what JSON can hold; its tensors go into ``tensors``, by the path to each.

    ``unpack`` gives the state again, tuples and keys that are numbers included.
    """
    if isinstance(value, Tensor):
        tensors[name] = value
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[key, pack(v, f"{name}.{key}", tensors)] for key, v in value.items()]}
    if isinstance(value, list | tuple):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [pack(v, f"{name}.{i}", tensors) for i, v in enumerate(value)]}
    return value


def unpack(value: Any, tensors: dict[str, Tensor]) -> Any:
    """The nested state that ``pack`` was given."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {key: unpack(v, tensors) for key, v in content}
    parts = [unpack(v, tensors) for v in content]
    return tuple(parts) if kind == "tuple" else parts
