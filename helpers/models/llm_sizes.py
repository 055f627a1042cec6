"""How many parameters a large language model has, from the numbers in its paper.

The rule of thumb is 12 L D^2 + V D: attention has 4 D^2 parameters per layer, a feed-forward layer
8 D^2, and the output shares the embeddings. It holds for the shape of GPT-2 and GPT-3 and is off by
up to a factor of 34 for others; ``parameter_parts`` says where their parameters are.
"""

from __future__ import annotations

from helpers.data.llm_table import LargeModel
from helpers.models.costs import (
    feed_forward_parameters,
    gated_feed_forward_parameters,
    norm_parameters,
)


def simple_parameters(model: LargeModel) -> int:
    """The rule of thumb: 12 L D^2 + V D (Kaplan et al. 2020, section 2.1, plus the embeddings)."""
    D = model.d_model
    return 12 * model.n_layers * D * D + model.vocab_size * D


def parameter_parts(model: LargeModel) -> dict[str, int]:
    """Parameters by part, in a fixed order; they sum up to ``parameters``.

    attention (cross-attention too), feed-forward, norms, embeddings, positions (learned tables, and
    what relative positions add), output (0 if it is tied to the embeddings, or not known to be
    untied). Biases count where they are known to be there.
    """
    D, L, layers = model.d_model, model.n_layers, model.n_layers + model.encoder_layers
    cross, stacks = L * bool(model.encoder_layers), 1 + bool(model.encoder_layers)
    heads = model.n_heads * _d_head(model)  # H K
    norms = layers * model.norms_per_layer + cross + stacks * model.further_norms
    return {
        "attention": (layers + cross) * _attention(model),
        "feed-forward": _feed_forward_of_all(model, model.experts),
        "norms": norms * norm_parameters(D, bias=bool(model.norm_biases))
        + layers * _norms_in_attention(model),
        "embeddings": model.vocab_size * D,
        "positions": (model.position_rows or 0) * D
        + layers * D * heads * model.relative_projections
        + stacks * model.relative_buckets * model.n_heads,
        "output": model.vocab_size * D if model.tied is False else 0,
    }


def parameters(model: LargeModel) -> int:
    """The number of parameters, embeddings included, from everything known of the model."""
    return sum(parameter_parts(model).values())


def active_parameters(model: LargeModel) -> int:
    """How many parameters take part in the computation of one token: all, but for the experts."""
    idle = model.experts - model.experts_used
    return parameters(model) - _feed_forward_of_all(model, idle) + _feed_forward_of_all(model, 0)


def cached_numbers(model: LargeModel, tokens: int = 1) -> int:
    """How many numbers a model keeps of so many tokens while it writes, in all layers together."""
    if model.latent is not None:
        return tokens * model.n_layers * (model.latent + model.d_rotary)
    in_window = min(tokens, model.window or tokens) * model.window_layers
    in_all = tokens * (model.n_layers - model.window_layers)
    return (in_window + in_all) * 2 * (model.n_kv_heads or model.n_heads) * _d_head(model)


def comparable_parameters(model: LargeModel) -> int:
    """``parameters`` as the stated size counts them: for some without the embeddings."""
    parts = parameter_parts(model)
    return sum(parts.values()) - model.stated_without_embeddings * parts["embeddings"]


def _d_head(model: LargeModel) -> int:
    return model.d_model // model.n_heads if model.d_head is None else model.d_head


def _attention(model: LargeModel) -> int:
    """Of one layer: 2 D H K for W_Q and W_O, 2 D H_kv K for W_K and W_V; H K need not be D."""
    D, K = model.d_model, _d_head(model)
    if model.latent is not None:
        return _latent_attention(model)
    queries = model.n_heads * K
    keys = (model.n_kv_heads or model.n_heads) * K
    biases = (queries + 2 * keys + D) * bool(model.biases)
    return 2 * D * (queries + keys) + biases


def _latent_attention(model: LargeModel) -> int:
    """Of one layer of multi-head latent attention; keys and queries have d_rotary numbers more."""
    D, heads, K = model.d_model, model.n_heads, _d_head(model)
    latent, query_latent = model.latent or 0, model.query_latent or D
    queries = (D + heads * (K + model.d_rotary)) * query_latent
    keys_and_values = D * (latent + model.d_rotary) + latent * heads * 2 * K
    return queries + keys_and_values + heads * K * D


def _norms_in_attention(model: LargeModel) -> int:
    """Gains of the norms inside of one layer's attention."""
    if model.latent is not None:
        return model.latent + (model.query_latent or 0)
    return 2 * _d_head(model) * model.qk_norm


def _feed_forward_of_all(model: LargeModel, experts: int) -> int:
    """Of all layers, if so many experts to choose from are counted."""
    layers = model.n_layers + model.encoder_layers
    if not model.experts:
        return layers * _feed_forward(model, model.d_ff)
    with_experts = layers - model.dense_layers
    chosen = (experts + model.shared_experts) * _feed_forward(model, model.d_expert)
    router = model.experts * model.d_model
    return model.dense_layers * _feed_forward(model, model.d_ff) + with_experts * (chosen + router)


def _feed_forward(model: LargeModel, d_ff: int | None) -> int:
    count = gated_feed_forward_parameters if model.gated else feed_forward_parameters
    d_ff = 4 * model.d_model if d_ff is None else d_ff
    return count(model.d_model, d_ff, bias=bool(model.biases))
