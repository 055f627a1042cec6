"""Your turn with the sizes of models: a block of any form, and a layer of experts."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_12_sizes")


def blocks_of_any_form(draw):
    yield Case("by hand", 2, 4, 3, 1, 5, False)
    for gated in (True, False):
        sizes = (draw.integer(low, low + 9) for low in (60, 20, 40, 5, 100))  # D, H, K, G, F
        yield Case("a gated block" if gated else "any block", *sizes, gated)


@turn(
    turns,
    "Six or seven matrices: W_Q and W_O between D and H K, W_K and W_V from D to G K, and those of "
    "the feed-forward layer between D and F. By hand: 24 + 24 + 6 + 6 + 10 + 10 = 80.",
    cases=blocks_of_any_form,
    slips="""
    2 * D * G * K => 2 * D * H * K
        Keys and values have G heads of K numbers, the queries H.
    2 * D * H * K + 2 * D * G * K => 2 * D * G * K + 2 * D * G * K
        Queries have H heads of K numbers, keys and values G.
    2 * D * H * K + 2 * D * G * K => 4 * D**2
        The heads of queries are H K wide together, which need not be D.
    2 * D * H * K => D * H * K
        W_O is missing, which leads from the H K numbers of all heads back to D.
    + 2 * D * G * K => + D * G * K
        Keys have a matrix, and values have another one.
    + 2 * D * G * K =>
        The matrices of keys and values are missing.
    (3 if gated else 2) => 2
        A gated layer has three matrices, a plain one two.
    * D * F => * D * 4 * D
        The feed-forward layer is F wide, not 4 D.
    """,
)
def block_parameters(D, H, K, G, F, gated):
    """How many parameters the matrices of a block have."""
    attention = 2 * D * H * K + 2 * D * G * K
    feed_forward = (3 if gated else 2) * D * F
    return attention + feed_forward


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
