"""Your turn with published weights: their tensors under our names."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_12_published_weights")


def tensors_of_a_block(draw):
    D = 4
    parts = ("query", "key", "value")
    names = {
        "wte.weight": ("embedding.weight",),
        "h.0.ln_1.weight": ("blocks.0.attention_norm.weight",),
        "h.0.attn.c_attn.weight": tuple(f"{part}.weight" for part in parts),
        "h.0.attn.c_attn.bias": tuple(f"{part}.bias" for part in parts),
        "h.0.attn.c_proj.weight": ("attention.output.weight",),
        "h.0.mlp.c_fc.weight": ("up.weight",),
    }
    shapes = [(7, D), (D,), (D, 3 * D), (3 * D,), (D, D), (D, 4 * D)]
    tensors = {name: draw.normal(*shape) for name, shape in zip(names, shapes)}
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 3, 3).tril()  # the mask
    given = "tensors of one block, D = 4"
    yield Case("our names, with the right parts", tensors, names, given=given)


@turn(
    turns,
    "For each of their names: turn a matrix of a block, cut it into len(ours) parts. Go through "
    "names: the file also holds a mask, which has no name of ours.",
    cases=tensors_of_a_block,
    slips="""
    tensor = tensor.T => pass
        Their linear maps keep inputs x outputs, nn.Linear outputs x inputs: turn them.
    theirs.startswith("h.") and tensor.ndim == 2 => tensor.ndim == 2
        Embeddings are no linear maps: wte and wpe stay as they are.
    theirs.startswith("h.") and => "c_attn" in theirs and
        All linear maps are stored that way, the square ones too, where no shape complains.
    tensor.chunk(len(ours)) => tensor.chunk(len(ours))[::-1]
        The three parts are queries, keys, values: in the order given.
    state[name] = part => state[ours] = tensor
        Each part is filed under its own name: ours is a tuple of names.
    tensor.chunk(len(ours)) => [tensor] * len(ours)
        Where there are several of ours, each gets its part: chunk.
    """,
)
def translate(tensors, names):
    """Our tensors by our names; names[theirs] is the tuple of ours."""
    state = {}
    for theirs, ours in names.items():
        tensor = tensors[theirs]
        if theirs.startswith("h.") and tensor.ndim == 2:
            tensor = tensor.T
        for name, part in zip(ours, tensor.chunk(len(ours))):
            state[name] = part
    return state
