"""Models and interrupted trainings on disk: safetensors and JSON, so nothing is ever unpickled.

A *model folder* holds a trained GPT, or an encoder with its head for masked language modelling:
``model.safetensors``, and ``config.json`` with its settings and a card that says where it comes
from. A *checkpoint* is a folder such as ``step_00001000`` with
all that training needs to go on as if it had never stopped. Both become visible all at once, when
they are complete on the disk, and both are checked against SHA-256 before they are used.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from helpers.files import write_whole
from helpers.learning import storage
from helpers.learning.storage import CheckpointError
from helpers.learning.training import Training
from helpers.models.adapters import LoRALinear, merge_lora
from helpers.models.encoder import Encoder, MaskedLM
from helpers.models.gpt import GPT, GPTConfig

FORMAT = 1
_Model = TypeVar("_Model", GPT, MaskedLM)
_WEIGHTS, _CONFIG = "model.safetensors", "config.json"
_OPTIMIZERS, _STATE, _MANIFEST = "optimizers.safetensors", "state.json", "manifest.json"
# Settings that GPTConfig once had, with the values that stood for "without": in older folders.
_FORMER = {"last_tokens": 1, "ngrams": 1, "ngram_rows": 2**16, "ngram_dropout": 0.0}
_KEPT = 2  # checkpoints: should the newest turn out damaged, the one before it is there


def save_model(
    folder: str | os.PathLike[str],
    model: GPT | MaskedLM,
    card: Mapping[str, Any] | None = None,
    dtype: torch.dtype | None = None,
) -> Path:
    """Write a model and its card; a model that the folder held before is replaced all at once.

    Other files in the folder, such as the tokenizer's, are left alone. Weights that are tied are
    stored once. LoRA is stored merged into the weights: what is loaded is a plain GPT.

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
    if odd := _beyond_settings(model):
        raise CheckpointError(
            f"This {type(model).__name__} cannot be loaded again, since its settings do not tell "
            f"of {odd}: save the model as it was before it was adapted or quantized."
        )
    settings = _settings_to_build(model)
    folder, tensors = Path(folder), storage.tensors_of(model)
    if dtype is not None:
        tensors = {n: t.to(dtype) if t.is_floating_point() else t for n, t in tensors.items()}
    for name, tensor in tensors.items():
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(
                f"{name} holds what is infinite or no number as {tensor.dtype}: store the weights "
                "as torch.bfloat16 or torch.float32, or look for what went wrong in training."
            )
    weights = storage.tensor_bytes(tensors)
    digest = storage.sha256(weights)
    description = {
        "format": FORMAT,
        **settings,
        "weights_sha256": digest,
        "card": dict(card or {}),
    }
    config = storage.json_bytes(description, "card")
    folder.mkdir(parents=True, exist_ok=True)
    # The new weights wait under a name of their own until config.json, which knows their hash,
    # has been replaced: whenever this is cut off, the old model or the new one is complete.
    waiting = _waiting(folder, digest)
    write_whole(waiting, weights)
    write_whole(folder / _CONFIG, config)
    os.replace(waiting, folder / _WEIGHTS)
    for left_over in folder.glob(_waiting(folder, "*").name):
        left_over.unlink()
    storage.sync_names(folder)
    return folder


def load_model(folder: str | os.PathLike[str]) -> tuple[GPT, dict[str, Any]]:
    """The GPT of a model folder, in float32, on the CPU and in evaluation mode, and its card.

    A checkpoint of a GPT (``.../step_00001000``) can be opened too. Random generators are left as
    they are.

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
    description = storage.read_json(folder / _CONFIG)
    _check_format(description, folder / _CONFIG)
    digest = str(description.get("weights_sha256"))
    for path in (folder / _WEIGHTS, _waiting(folder, digest)):
        content = path.read_bytes() if path.is_file() else b""
        if storage.sha256(content) == digest:
            break
    else:
        storage.read(folder / _WEIGHTS)
        raise CheckpointError(
            f"{folder / _WEIGHTS} is damaged, or of another model than {_CONFIG} beside it (its "
            "SHA-256 differs): copy the folder again, or save the model again."
        )
    model = _build(description, folder / _CONFIG)
    if not isinstance(model, kind):
        other = "load_encoder" if isinstance(model, MaskedLM) else "load_model"
        raise CheckpointError(
            f"{folder} holds a {type(model).__name__}, not a {kind.__name__}: open it with {other}."
        )
    storage.copy_into(storage.parse_tensors(content, path), model, path)
    return cast(_Model, model.float().eval()), description.get("card") or {}


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
        The folder of this checkpoint.

    Raises:
        CheckpointError: the folder holds checkpoints of later steps, so they belong to a training
            that this one did not resume; or the settings or notes are nothing that JSON can hold.
    """
    folder, step = Path(folder), training.step
    goal = folder / f"step_{step:08d}"
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob(".step_*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    damaged = [path for path in _checkpoints(folder) if path.name > goal.name]
    for path in damaged:
        if not _damage(path):
            raise CheckpointError(
                f"{folder} holds a checkpoint of a later step, {path.name}, than {step}: resume "
                "from it, or save in another folder."
            )
    part = folder / f".{goal.name}.part"
    part.mkdir()
    try:
        if isinstance(training.model, GPT) and not _beyond_settings(training.model):
            save_model(part, training.model, {"step": step})  # so that load_model can open it
        else:
            write_whole(part / _WEIGHTS, storage.tensor_bytes(storage.tensors_of(training.model)))
        tensors: dict[str, Tensor] = {}
        state = {
            "format": FORMAT,
            "step": step,
            "settings": _settings_of(training, settings),
            "notes": dict(notes or {}),
            "training": storage.pack(training.state_dict(), "training", tensors),
        }
        write_whole(part / _OPTIMIZERS, storage.tensor_bytes(tensors))
        write_whole(part / _STATE, storage.json_bytes(state, "state"))
        hashes = {p.name: storage.sha256(p.read_bytes()) for p in part.iterdir()}
        write_whole(
            part / _MANIFEST,
            storage.json_bytes({"format": FORMAT, "sha256": hashes}, "list of files"),
        )
        storage.sync_names(part)
        if goal.exists():
            os.rename(goal, folder / f".{goal.name}.old")
        os.rename(part, goal)
        storage.sync_names(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    older = [path for path in _checkpoints(folder) if path.name < goal.name]
    for path in [*folder.glob(".step_*"), *damaged, *older[: len(older) - (_KEPT - 1)]]:
        shutil.rmtree(path, ignore_errors=True)
    return goal


def resume(
    folder: str | os.PathLike[str],
    training: Training,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Bring a training to its newest checkpoint; one sentence of warning if that was damaged.

    On the same machine it then goes on as if it had never stopped, bit for bit on a CPU.

    Args:
        folder: the one given to ``save``; it need not exist.
        training: made as the saved one was; changed in place.
        settings: as given to ``save``.

    Returns:
        The ``notes`` of the checkpoint, or None where there is none and training begins.

    Raises:
        CheckpointError: all checkpoints are damaged, or they belong to another model, to other
            settings or to a newer format. The training is then as it was.
    """
    folder, damages = Path(folder), []
    for path in reversed(_checkpoints(folder)):
        damage = _damage(path)
        if not damage:
            break
        damages.append(damage)
    else:
        if damages:
            raise CheckpointError(
                f"No checkpoint in {folder} can be used ({'; '.join(damages)}): restore one, or "
                "delete the folder to begin anew."
            )
        return None
    state = storage.read_json(path / _STATE)
    _check_format(state, path / _STATE)
    _check_settings(state["settings"], _settings_of(training, settings), path)
    weights = storage.parse_tensors(storage.read(path / _WEIGHTS), path / _WEIGHTS)
    tensors = storage.parse_tensors(storage.read(path / _OPTIMIZERS), path / _OPTIMIZERS)
    storage.check_fit(weights, training.model, path / _WEIGHTS)
    before = training.state_dict()
    try:
        training.load_state_dict(storage.unpack(state["training"], tensors))
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        training.load_state_dict(before)
        raise CheckpointError(
            f"The checkpoint {path} does not fit this training ({error}): make it with the model, "
            "the optimizers and the settings of the one that was saved."
        ) from error
    storage.copy_into(weights, training.model, path / _WEIGHTS)
    if damages:
        warnings.warn(
            f"The newest checkpoint was damaged ({'; '.join(damages)}): training goes on from "
            f"{path.name}, the one before it.",
            stacklevel=2,
        )
    return state["notes"]


def _checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a folder, oldest first."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if re.fullmatch(r"step_\d{8}", path.name))


def _damage(path: Path) -> str:
    """What is wrong with the files of a checkpoint; empty where nothing is."""
    try:
        manifest = storage.read_json(path / _MANIFEST)
        for name, digest in manifest["sha256"].items():
            if storage.sha256(storage.read(path / name)) != digest:
                return f"{path.name}/{name} has another SHA-256 than when it was written"
    except CheckpointError as error:
        return str(error).partition(": ")[0]
    except (KeyError, AttributeError):
        return f"{path.name}/{_MANIFEST} lists no files"
    return ""


def _settings_of(training: Training, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    config = getattr(training.model, "config", None)
    own = asdict(config) if is_dataclass(type(config)) else {}
    # Through JSON, so that what is compared later has gone the same way (tuples become lists).
    return json.loads(storage.json_bytes({**own, **(settings or {})}, "settings"))


def _check_settings(saved: dict[str, Any], wanted: dict[str, Any], path: Path) -> None:
    missing = object()
    for name in {**saved, **wanted}:
        if saved.get(name, missing) != wanted.get(name, missing):
            was, now = (
                json.dumps(part[name]) if name in part else "not set" for part in (saved, wanted)
            )
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


def _beyond_settings(model: GPT | MaskedLM) -> str:
    """The first weight that a model built from the settings lacks, or has and this one lacks."""
    with torch.device("meta"):
        plain = _build(_settings_to_build(model), Path(_CONFIG))
    own, wanted = ({n: p.shape for n, p in m.named_parameters()} for m in (model, plain))
    return next((n for n in {**own, **wanted} if own.get(n) != wanted.get(n)), "")


def _build(description: dict[str, Any], path: Path) -> GPT | MaskedLM:
    """A model with these settings, without touching the random generator."""
    config, encoder = description.get("config"), description.get("encoder")
    if not isinstance(config, dict):
        raise CheckpointError(f'{path} holds no "config": it is not that of a model folder.')
    config = {key: value for key, value in config.items() if (key, value) not in _FORMER.items()}
    unknown = sorted(set(config) - {field.name for field in fields(GPTConfig)})
    if unknown:
        raise CheckpointError(
            f"{path} has settings that GPTConfig does not know, {', '.join(unknown)}: update the "
            "course, or correct the file."
        )
    try:
        with torch.random.fork_rng(devices=[]):
            if encoder is None:
                return GPT(GPTConfig(**config))
            return MaskedLM(Encoder.modern(GPTConfig(**config), **encoder))
    except (TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{path} describes no model that can be built: {error}") from error


def _check_format(content: dict[str, Any], path: Path) -> None:
    number = content.get("format")
    if not isinstance(number, int) or number < 1:
        raise CheckpointError(f"{path} names no format: it is not a file that this course wrote.")
    if number > FORMAT:
        raise CheckpointError(
            f"{path} is of format {number}, and this version of the course reads {FORMAT}: update "
            "the course."
        )


def _waiting(folder: Path, digest: str) -> Path:
    return folder / f".model-{digest[:16]}.safetensors"
