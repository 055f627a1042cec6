"""Your turn with the sizes of models: in GPT-2's form, and with experts."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_12_sizes")


def sizes_of_models(draw):
    for sizes in ((11, 10, 3, 8), (50_257, 1024, 12, 768)):
        yield Case("it counts what is in the model", *sizes)


@turn(
    turns,
    "Add up the table: embeddings, positions, L times what a block has, the last norm.",
    cases=sizes_of_models,
    slips="""
    + T * D =>
        The T learned positions are missing.
    + 2 * D =>
        The last norm is missing: a gain, a bias.
    return V * D + => return 2 * V * D +
        The output is tied: its matrix is the embeddings, which count once.
    4 * D**2 + 4 * D + 8 * D**2 + 5 * D + => 12 * D**2 +
        The biases are missing: four of width D in attention, 4 D and D in the feed-forward layer.
    4 * D**2 + 4 * D + 8 * D**2 + 5 * D + 4 * D => 12 * D**2
        The biases and the norms of a block are missing.
    return V * D + T * D + L * block + 2 * D => return 12 * L * D**2 + V * D
        That is the rule of thumb: positions, biases and norms are missing.
    5 * D + 4 * D => 5 * D
        A block has two norms as well.
    5 * D + 4 * D => 5 * D + 2 * D
        Each norm has a gain and a bias, and a block has two norms.
    5 * D + 4 * D => 2 * D + 4 * D
        The first bias of the feed-forward layer is as wide as its hidden layer: 4 D.
    L * block => block
        There are L blocks, and each has weights of its own.
    """,
)
def count_parameters(V, T, L, D):
    """How many parameters gpt2_form(V, T, L, D, H) has."""
    block = 4 * D**2 + 4 * D + 8 * D**2 + 5 * D + 4 * D
    return V * D + T * D + L * block + 2 * D


def layers_of_experts(draw):
    yield Case("by hand", 2, 3, 4, 1, 1)
    for shared in (2, 0, 1):
        experts = draw.integer(20, 40)
        sizes = draw.integer(11, 19), draw.integer(21, 29), experts, draw.integer(3, 7), shared
        yield Case("any layer", *sizes)


@turn(
    turns,
    "An expert has 3 D F parameters, the router D for each expert to choose from. The layer holds "
    "all experts, shared ones too; a token uses the chosen and the shared ones, and the router.",
    cases=layers_of_experts,
    slips="""
    one, router = 3 * D * F, => one, router = 2 * D * F,
        A SwiGLU has three matrices: gate, up and down.
    router = 3 * D * F, D * experts => router = 3 * D * F, 0
        The router is missing: D numbers for each expert to choose from.
    router = 3 * D * F, D * experts => router = 3 * D * F, D * (experts + shared)
        The router does not choose the shared experts: it has D numbers for each of the others.
    (chosen + shared) * one + router => (chosen + shared) * one
        The router computes for every token, too: it belongs to both numbers.
    (experts + shared) * one => experts * one
        The shared experts lie in memory like the others.
    (chosen + shared) * one => chosen * one
        A token uses the shared experts as well as those that were chosen.
    (experts + shared) => experts ;; (chosen + shared) => chosen
        The shared experts are missing, in both numbers.
    return (experts + shared) * one + router, (chosen + shared) * one + router => \
    return (chosen + shared) * one + router, (experts + shared) * one + router
        First all parameters, then those that a token uses.
    """,
)
def expert_layer(D, F, experts, chosen, shared):
    """(all parameters, those that one token uses) of a layer of experts of width F."""
    one, router = 3 * D * F, D * experts
    return (experts + shared) * one + router, (chosen + shared) * one + router
