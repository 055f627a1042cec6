"""Models and trainings on disk: saved, loaded, resumed; reading them runs no code of theirs.

A *model folder* holds a trained GPT, or an encoder with its head for masked language modelling:
``model.safetensors``, and ``config.json`` with its settings, a card that says where it comes from,
and the weights' SHA-256. A *checkpoint* is a file such as ``step_00001000.pt`` with all that
training needs to go on as if it had never stopped. Every file appears at once, when it is complete
on the disk, and is checked when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import torch as safetensors
from torch import Tensor, nn

from helpers.files import write_whole
from helpers.learning.training import Training
from helpers.models.adapters import LoRALinear, merge_lora
from helpers.models.encoder import Encoder, MaskedLM
from helpers.models.gpt import GPT, GPTConfig

FORMAT = 1
_Model = TypeVar("_Model", GPT, MaskedLM)
_WEIGHTS, _CONFIG = "model.safetensors", "config.json"
# Settings that GPTConfig once had, with the values that stood for "without": in older folders.
_FORMER = {"last_tokens": 1, "ngrams": 1, "ngram_rows": 2**16, "ngram_dropout": 0.0}
_KEPT = 2  # checkpoints: should the newest turn out damaged, the one before it is there


class CheckpointError(ValueError):
    """A model folder or a checkpoint that cannot be used; the message says why and what to do."""


def save_model(
    folder: str | os.PathLike[str],
    model: GPT | MaskedLM,
    card: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
) -> Path:
    """Write a model and its card; a model that the folder held before is replaced all at once.

    Other files in the folder, such as the tokenizer's, are left alone. LoRA is stored merged into
    the weights: what is loaded is a plain GPT.

    Args:
        folder: made if need be.
        model: what to save, a GPT or a ``MaskedLM`` on an ``Encoder.modern``; its mode and device
            do not matter.
        card: what a reader should know, in what JSON can hold: data, settings, seed, curve, device,
            bits per byte, licence.
        dtype: how to store the weights; as they are if None. ``torch.bfloat16`` and
            ``torch.float16`` halve the size and round each weight to 8 or 11 binary digits.

    Returns:
        The folder.

    Raises:
        CheckpointError: a card that JSON cannot hold, weights that are no finite numbers (as
            ``dtype``), or a model that ``load_model`` and ``load_encoder`` could not build again:
            one with adapters, a quantized one, an encoder that ``Encoder.modern`` did not make.
    """
    if not isinstance(model, GPT | MaskedLM):
        raise CheckpointError(
            f"This is a {type(model).__name__}; save_model takes a GPT or a MaskedLM."
        )
    if any(isinstance(part, LoRALinear) for part in model.modules()):
        model = merge_lora(model)
    settings, tensors = _settings_to_build(model), model.state_dict()
    with torch.device("meta"):
        plain = _build(settings, Path(_CONFIG)).state_dict()
    mine, theirs = ({n: t.shape for n, t in some.items()} for some in (tensors, plain))
    if odd := next((n for n in {**mine, **theirs} if mine.get(n) != theirs.get(n)), ""):
        raise CheckpointError(
            f"This {type(model).__name__} cannot be loaded again, since its settings do not tell "
            f"of {odd}: save the model as it was before it was adapted or quantized."
        )
    for name, tensor in tensors.items():
        tensor = tensor.to("cpu", dtype if tensor.is_floating_point() else None).contiguous()
        tensors[name] = tensor
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(
                f"{name} holds what is infinite or no number as {tensor.dtype}: store the weights "
                "as torch.bfloat16 or torch.float32, or look for what went wrong in training."
            )
    weights = safetensors.save(tensors, {"format": "pt"})
    hashed = {"weights_sha256": hashlib.sha256(weights).hexdigest()}
    description = {"format": FORMAT, **settings, **hashed, "card": dict(card or {})}
    config, folder = _json(description, "card"), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for left_over in folder.glob(".model-*.safetensors"):
        left_over.unlink()
    # The new weights wait under a name of their own until config.json, which knows their hash,
    # has been replaced: whenever this is cut off, the old model or the new one is complete.
    waiting = _waiting(folder, description)
    write_whole(waiting, weights)
    write_whole(folder / _CONFIG, config)
    os.replace(waiting, folder / _WEIGHTS)
    return folder


def load_model(folder: str | os.PathLike[str]) -> tuple[GPT, dict[str, Any]]:
    """The GPT of a model folder, in float32, on the CPU and in evaluation mode, and its card.

    Random generators are left as they are.

    Raises:
        CheckpointError: a file is missing, damaged or of a newer format, a setting is unknown, the
            weights do not fit the settings, or the folder holds an encoder.
    """
    return _load(folder, GPT)


def load_encoder(folder: str | os.PathLike[str]) -> tuple[MaskedLM, dict[str, Any]]:
    """The encoder of a model folder with its head for masked language modelling, and its card.

    As ``load_model`` does; an encoder alone is ``load_encoder(folder)[0].encoder``.
    """
    return _load(folder, MaskedLM)


def _load(folder: str | os.PathLike[str], kind: type[_Model]) -> tuple[_Model, dict[str, Any]]:
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(
            f"There is no model folder {folder}: check the path, or save a model there first."
        )
    description = _read(folder / _CONFIG, _object)
    _check_format(description, folder / _CONFIG)
    waiting = _waiting(folder, description)
    path = waiting if waiting.exists() else folder / _WEIGHTS
    content = _read(path, bytes)
    if hashlib.sha256(content).hexdigest() != description.get("weights_sha256"):
        raise CheckpointError(
            f"{path} is damaged, or of another model than {_CONFIG} beside it (its SHA-256 "
            "differs): copy the folder again, or save the model again."
        )
    model = _build(description, folder / _CONFIG)
    if not isinstance(model, kind):
        other = "load_encoder" if isinstance(model, MaskedLM) else "load_model"
        raise CheckpointError(
            f"{folder} holds a {type(model).__name__}, not a {kind.__name__}: open it with {other}."
        )
    _load_weights(model, _read(path, safetensors.load), path)
    return model.float().eval(), description.get("card") or {}


def save(
    folder: str | os.PathLike[str],
    training: Training,
    settings: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Path:
    """Write a checkpoint of a training that is between two steps; the last two are kept.

    Args:
        folder: where the checkpoints of this one training lie; made if need be.
        training: model, optimizers, counters and random-number states are saved.
        settings: what makes this training the one it is (the data's hash, the batch size, ...), in
            what JSON can hold; ``resume`` refuses to go on with others. A model's own ``config``
            is always among them.
        notes: what ``resume`` should give back, in what JSON can hold, such as the curve so far.

    Returns:
        The file of this checkpoint.

    Raises:
        CheckpointError: the folder holds checkpoints of later steps, so they belong to a training
            that this one did not resume; or the settings or notes are nothing that JSON can hold.
    """
    folder, step = Path(folder), training.step
    goal = folder / f"step_{step:08d}.pt"
    newest = max((path.stem for path in _checkpoints(folder)), default="")
    if newest > goal.stem:
        raise CheckpointError(
            f"{folder} holds a checkpoint of a later step, {newest}, than {step}: resume from it, "
            "or save in another folder."
        )
    state = {
        "format": FORMAT,
        "settings": _settings_of(training, settings),
        "notes": json.loads(_json(dict(notes or {}), "notes")),
        "model": training.model.state_dict(),
        "training": training.state_dict(),
    }
    content = io.BytesIO()
    torch.save(state, content)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(goal, content.getvalue())
    for path in [*folder.glob(".step_*"), *_checkpoints(folder)[:-_KEPT]]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return goal


def resume(
    folder: str | os.PathLike[str],
    training: Training,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Bring a training to its newest checkpoint; one sentence of warning if that was damaged.

    On the same machine it then goes on as if it had never stopped, bit for bit on a CPU. A damaged
    checkpoint is kept under another name.

    Args:
        folder: the one given to ``save``; it need not exist.
        training: made as the saved one was; changed in place.
        settings: as given to ``save``.

    Returns:
        The ``notes`` of the checkpoint, or None where there is none and training begins.

    Raises:
        CheckpointError: all checkpoints are damaged, or they belong to another model, to other
            settings or to a newer format. Make the training anew then.
    """
    damaged: dict[Path, CheckpointError] = {}
    for path in reversed(_checkpoints(Path(folder))):
        try:
            state = _read_former(path) if path.is_dir() else _read(path, _checked_state)
            break
        except CheckpointError as error:
            damaged[path] = error
    else:
        if damaged:
            raise CheckpointError(
                f"No checkpoint in {folder} can be used ({next(iter(damaged.values()))}): restore "
                "one, or delete the folder to begin anew."
            )
        return None
    _check_format(state, path)
    _check_settings(state["settings"], _settings_of(training, settings), path)
    _load_weights(training.model, state["model"], path)
    try:
        training.load_state_dict(state["training"])
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(
            f"The checkpoint {path} does not fit this training ({error}): make it with the model, "
            "the optimizers and the settings of the one that was saved."
        ) from error
    for bad, error in damaged.items():
        bad.rename(bad.with_name(f"{bad.name}.damaged"))
        warnings.warn(f"Training goes on from {path.name}, because {error}", stacklevel=2)
    return state["notes"]


def _checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a folder, oldest first."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if re.fullmatch(r"step_\d{8}(\.pt)?", path.name))


def _checked_state(content: bytes) -> dict[str, Any]:
    """What ``torch.save`` wrote, a zip file, whose checksums ``torch.load`` does not look at."""
    if wrong := zipfile.ZipFile(io.BytesIO(content)).testzip():
        raise ValueError(f"{wrong} has another checksum")
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _read_former(folder: Path) -> dict[str, Any]:
    """A checkpoint as the course once wrote it: a folder of JSON and safetensors."""
    for name, digest in _read(folder / "manifest.json", _object).get("sha256", {}).items():
        if hashlib.sha256(_read(folder / name, bytes)).hexdigest() != digest:
            raise CheckpointError(f"{folder / name} is damaged (its SHA-256 differs).")
    state = _read(folder / "state.json", _object)
    tensors = _read(folder / "optimizers.safetensors", safetensors.load)

    def unpacked(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "tensor":
            return tensors[content]
        if kind == "dict":
            return {key: unpacked(part) for key, part in content}
        return (tuple if kind == "tuple" else list)(map(unpacked, content))

    model = _read(folder / _WEIGHTS, safetensors.load)
    return {**state, "model": model, "training": unpacked(state["training"])}


_Content = TypeVar("_Content")


def _read(path: Path, parse: Callable[[bytes], _Content]) -> _Content:
    try:
        return parse(path.read_bytes())
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path} is missing: copy the folder again, or save again."
        ) from error
    except Exception as error:  # of a damaged file, which can have any type
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        raise CheckpointError(
            f"{path} is damaged ({reason}): copy the folder again, or save again."
        ) from error


def _object(content: bytes) -> dict[str, Any]:
    value = json.loads(content.decode("utf-8-sig"))
    if not isinstance(value, dict):
        raise ValueError("it holds no JSON object")
    return value


def _json(content: Any, name: str) -> str:
    try:
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"The {name} cannot be saved as JSON ({error}): use numbers, strings, lists and "
            "dictionaries with strings as keys."
        ) from error


def _load_weights(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:  # of many lines
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(
            f"{path} does not fit the model ({reason}): the settings must be the same."
        ) from error


def _settings_of(training: Training, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    config = getattr(training.model, "config", None)
    own = asdict(config) if is_dataclass(type(config)) else {}
    # Through JSON, so that what is compared later has gone the same way (tuples become lists).
    return json.loads(_json({**own, **(settings or {})}, "settings"))


def _check_settings(saved: dict[str, Any], wanted: dict[str, Any], path: Path) -> None:
    for name in {**saved, **wanted}:
        was, now = (
            json.dumps(some[name]) if name in some else "not set" for some in (saved, wanted)
        )
        if was != now:
            raise CheckpointError(
                f"The checkpoint {path} belongs to another training: {name} was {was}, now it is "
                f"{now}; take the settings and the text that it was begun with, or another folder."
            )


def _settings_to_build(model: GPT | MaskedLM) -> dict[str, Any]:
    """What ``_build`` needs to make such a model again."""
    if isinstance(model, GPT):
        return {"config": asdict(model.config)}
    encoder = model.encoder
    if encoder.config is None:
        raise CheckpointError(
            "This encoder has no GPTConfig, so nobody could build it again from its file: save "
            "encoders that Encoder.modern made."
        )
    table = encoder.embedding.segments
    segments = 0 if table is None else table.num_embeddings
    return {
        "config": asdict(encoder.config),
        "encoder": {"pad": encoder.pad, "segments": segments},
    }


def _build(description: dict[str, Any], path: Path) -> GPT | MaskedLM:
    """A model with these settings, without touching the random generator."""
    config, encoder = description.get("config"), description.get("encoder")
    if not isinstance(config, dict):
        raise CheckpointError(f'{path} holds no "config": it is not that of a model folder.')
    config = {key: value for key, value in config.items() if (key, value) not in _FORMER.items()}
    try:
        with torch.random.fork_rng(devices=[]):
            if encoder is None:
                return GPT(GPTConfig(**config))
            return MaskedLM(Encoder.modern(GPTConfig(**config), **encoder))
    except (TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(
            f"{path} describes no model that can be built ({error}): update the course, or correct "
            "the file."
        ) from error


def _check_format(content: dict[str, Any], path: Path) -> None:
    if content.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} is of format {content.get('format')}, and this version of the course reads "
            f"format {FORMAT}: update the course."
        )


def _waiting(folder: Path, description: dict[str, Any]) -> Path:
    return folder / f".model-{str(description.get('weights_sha256'))[:16]}.safetensors"
