"""GPT-2's weights, as OpenAI published them, for the course's ``GPT``.

The files are those of the Hugging Face hub: ``model.safetensors`` and beside it ``config.json``.
They are read from this machine, never fetched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from helpers.models.gpt import GPT, GPTConfig

# Settings that change what is computed, and the values that GPT computes with.
_EXPECTED = {
    "model_type": "gpt2",
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}
_SIZES = {
    "vocab_size": "vocab_size",
    "max_length": "n_positions",
    "n_layers": "n_layer",
    "n_heads": "n_head",
    "d_model": "n_embd",
}
_ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu"}
# Their names of a block's layers, and ours.
_PARTS = {
    "ln_1": ("attention_norm",),
    "attn.c_attn": ("attention.query", "attention.key", "attention.value"),
    "attn.c_proj": ("attention.output",),
    "ln_2": ("feed_forward_norm",),
    "mlp.c_fc": ("feed_forward.up",),
    "mlp.c_proj": ("feed_forward.down",),
}
# What stands in files besides weights: the causal mask.
_BUFFERS = (".attn.bias", ".attn.masked_bias")


def load_gpt2(path: str | Path) -> GPT:
    """A GPT-2 from a safetensors file with its config.json beside it, or from their folder.

    The model is in evaluation mode, in float32, on the CPU.

    Raises:
        ValueError: a file is missing or damaged, or holds another architecture.
    """
    path = Path(path)
    weights = path / "model.safetensors" if path.is_dir() else path
    settings = weights.parent / "config.json"
    for file in (weights, settings):
        if not file.is_file():
            raise ValueError(
                f"There is no file {file}; expected GPT-2's model.safetensors with its config.json "
                "in the same folder."
            )
    try:
        tensors = load_file(weights)
        described = json.loads(settings.read_text(encoding="utf-8-sig"))
    except (SafetensorError, ValueError) as error:
        raise ValueError(
            f"A file of {weights.parent} is damaged ({error}): fetch both again."
        ) from error
    return gpt2_from(tensors, described)


def gpt2_from(tensors: Mapping[str, Tensor], settings: Mapping[str, Any]) -> GPT:
    """A GPT with the weights ``tensors``, by their names in the ``transformers`` library.

    Args:
        tensors: such as the state dict of its ``GPT2LMHeadModel`` or ``GPT2Model``.
        settings: what its config.json says, such as ``n_layer``.

    Raises:
        ValueError: another architecture.
        RuntimeError: a tensor is missing, is one too many, or has another shape.
    """
    model = GPT(_config(settings))
    model.load_state_dict(_translated(tensors, model))
    return model.eval()


def _config(settings: Mapping[str, Any]) -> GPTConfig:
    for name, value in _EXPECTED.items():
        # What an old file leaves out is as it always was, except for the architecture's name.
        given = settings.get(name, None if name == "model_type" else value)
        if given != value:
            raise ValueError(
                f"config.json says {name} = {given!r}; a GPT-2 that can be loaded here has "
                f"{name} = {value!r}."
            )
    return GPTConfig.gpt2(
        **{ours: settings[theirs] for ours, theirs in _SIZES.items()},
        d_hidden=settings.get("n_inner"),
        activation=_ACTIVATIONS[settings.get("activation_function", "gelu_new")],
        tied=settings.get("tie_word_embeddings", True),
        dropout=settings.get("resid_pdrop", 0.0),
    )


def _translated(tensors: Mapping[str, Tensor], model: GPT) -> dict[str, Tensor]:
    """The state dict of our model from the tensors of theirs."""
    left = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    left = {name: tensor for name, tensor in left.items() if not name.endswith(_BUFFERS)}
    head = left.pop("lm_head.weight", None)  # a copy of wte, unless the output is not tied
    if not model.config.tied and head is not None:
        left["lm_head.weight"] = head
    state, names = {}, _names(model.config)
    for theirs, tensor in left.items():
        all_ours = names.get(theirs, (theirs,))
        if theirs.startswith("h.") and tensor.ndim == 2:
            tensor = tensor.T  # their linear layers keep (in, out), ours (out, in)
        state.update(zip(all_ours, tensor.chunk(len(all_ours)), strict=True))
    return state


def _names(config: GPTConfig) -> dict[str, tuple[str, ...]]:
    """Their name of every tensor, and our names of the parts that it is cut into."""
    positions = "embedding.positions.embedding.weight"
    names: dict[str, tuple[str, ...]] = {
        "wte.weight": ("embedding.weight",),
        "wpe.weight": (positions,),
    }
    if not config.tied:
        names["lm_head.weight"] = ("output.weight",)
    for kind in ("weight", "bias"):
        names[f"ln_f.{kind}"] = (f"norm.{kind}",)
        for layer in range(config.n_layers):
            for theirs, all_ours in _PARTS.items():
                parts = tuple(f"blocks.{layer}.{ours}.{kind}" for ours in all_ours)
                names[f"h.{layer}.{theirs}.{kind}"] = parts
    return names
