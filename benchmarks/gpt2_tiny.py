"""Make data/gpt2_tiny: a GPT-2 of the transformers library, so small that it ships, and its logits.

    python benchmarks/gpt2_tiny.py

Its weights are random, and larger than those of a model that begins to learn: with small ones, and
with biases of zero and gains of one, a part that is forgotten would hardly show in the logits.
Notebook 12 carries the weights into the student's own class and compares the logits.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

from helpers.data.corpora import DATA_FOLDER

SIZES = {"vocab_size": 96, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4}
SEED, BATCH, LENGTH = 2019, 2, 16


def tiny_gpt2() -> GPT2LMHeadModel:
    """A GPT-2 of theirs in which every number matters, in evaluation mode."""
    torch.manual_seed(SEED)
    model = GPT2LMHeadModel(GPT2Config(**SIZES, bos_token_id=0, eos_token_id=0)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def main(folder: Path = DATA_FOLDER / "gpt2_tiny") -> None:
    """Write the weights as GPT-2's are published, config.json, and logits for random tokens."""
    model = tiny_gpt2()
    tensors = {n: t.contiguous() for n, t in model.transformer.state_dict().items()}
    mask = torch.ones(1, 1, SIZES["n_positions"], SIZES["n_positions"]).tril()
    for layer in range(SIZES["n_layer"]):  # the published file holds the causal mask, too
        tensors[f"h.{layer}.attn.bias"] = mask.clone()
    tokens = torch.randint(SIZES["vocab_size"], (BATCH, LENGTH))
    with torch.no_grad():
        logits = model(tokens).logits
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    save_file({"tokens": tokens, "logits": logits}, folder / "logits.safetensors")
    settings = {**SIZES, "model_type": "gpt2", "activation_function": "gelu_new"}
    settings["layer_norm_epsilon"] = 1e-5
    (folder / "config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
