"""How fast Gemma 3 270M writes: the course's own model beside that of the library transformers.

    python -m benchmarks.gemma [--threads 2]

Needs the model (``python -m helpers.pretrained gemma``) and transformers. Both have the same
weights. (1) Seconds until the model is ready, in a process of its own. (2) Tokens a second of one
text with the cache, behind a prompt of 30 tokens, all ways in turn, the median of some rounds.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
import transformers
from torch import Tensor, nn

from benchmarks.cost import seconds_in_turns
from benchmarks.study import Study, command, machine
from helpers.models.gemma import Gemma, GemmaConfig
from helpers.models.quantized import has_int8_kernel, quantize_model
from helpers.pretrained import store
from helpers.pretrained.gemma import load_gemma

PROMPT, WRITTEN, ROUNDS, LOADS = 30, 32, 5, 3
READY = """
import sys, time
began = time.perf_counter()
from helpers.pretrained.gemma import load_gemma
load_gemma(sys.argv[1])
print(time.perf_counter() - began)
"""


def transformers_model(config: GemmaConfig) -> nn.Module:
    """Of the same sizes; its weights are random, since they do not change what a token takes."""
    kinds = ["sliding_attention" if (i + 1) % config.global_every else "full_attention"
             for i in range(config.n_layers)]  # fmt: skip
    sizes = transformers.Gemma3TextConfig(
        vocab_size=config.vocab_size, max_position_embeddings=config.max_length,
        num_hidden_layers=config.n_layers, num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads, hidden_size=config.d_model, head_dim=config.d_head,
        intermediate_size=config.d_hidden, sliding_window=config.window,
        query_pre_attn_scalar=config.d_head, layer_types=kinds,
    )  # fmt: skip
    return transformers.Gemma3ForCausalLM(sizes).eval()


@torch.inference_mode()
def write(model: Gemma, tokens: Tensor) -> None:
    state = None
    for _ in range(WRITTEN):
        logits, state = model.read(tokens, state, last=True)
        tokens = logits[:, -1].argmax(-1, keepdim=True)


@torch.inference_mode()
def theirs_write(model: nn.Module, tokens: Tensor) -> None:
    cache = None
    for _ in range(WRITTEN):
        found = model(tokens, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache, tokens = found.past_key_values, found.logits[:, -1].argmax(-1, keepdim=True)


def writers(path: Path) -> dict[str, Callable[[], None]]:
    """Both models in each format; the course's in int8 as well, where PyTorch has the product."""
    tokens = torch.randint(5, 5000, (1, PROMPT), generator=torch.Generator().manual_seed(0))
    found: dict[str, Callable[[], None]] = {}
    for dtype in (torch.float32, torch.bfloat16):
        name, ours = str(dtype).removeprefix("torch."), load_gemma(path, dtype)
        found[f"ours, {name}"] = partial(write, ours, tokens)
        theirs = transformers_model(ours.config).to(dtype)
        found[f"transformers, {name}"] = partial(theirs_write, theirs, tokens)
        if dtype == torch.bfloat16 and has_int8_kernel():
            found["ours, int8"] = partial(write, quantize_model(ours), tokens)
    return found


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args().threads
    torch.set_num_threads(threads)
    folder = store.find("gemma")
    if folder is None:
        raise SystemExit(store.missing("gemma"))
    path = folder / "gemma-3-270m.gguf"
    ready = [
        float(subprocess.check_output([sys.executable, "-c", READY, str(path)]))
        for _ in range(LOADS)
    ]
    print(f"ready after {min(ready):.1f} s")
    seconds = seconds_in_turns(writers(path), ROUNDS)
    rates = {name: WRITTEN / statistics.median(times) for name, times in seconds.items()}
    for name, rate in rates.items():
        print(f"{name:24} {rate:5.1f} tokens a second")
    Study(__file__).write(
        machine=machine(f"{threads} threads"),
        transformers=transformers.__version__,
        made=time.strftime("%Y-%m-%d"),
        ready_seconds=ready,
        tokens_a_second=rates,
        slowest={name: WRITTEN / max(times) for name, times in seconds.items()},
    )


if __name__ == "__main__":
    main()
