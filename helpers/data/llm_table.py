"""A lecture's table of large language models, as data, with what is needed to count parameters.

The table is a slide of B. Galerne's course VI, "The LLM family: architecture details", taken from
W. X. Zhao et al. (2023), "A survey of large language models". Its cells are kept as they are, slips
included; ``LargeModel.corrections`` says what they should be. ``helpers.models.llm_sizes`` counts
the parameters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from helpers.data.corpora import DATA_FOLDER

COLUMNS = {
    "Model": "label",
    "Category": "category",
    "Size": "size",
    "Normalization": "normalization",
    "PE": "positions",
    "Activation": "activation",
    "Bias": "bias",
    "#L": "n_layers",
    "#H": "n_heads",
    "d_model": "d_model",
    "MCL": "max_length",
}


@dataclass(frozen=True)
class LargeModel:
    """One model: the slide's row, and what the slide leaves out. None: not given, not found.

    Attributes:
        name: the model's own spelling.
        on_slide: False for rows that were added to the slide's.
        label, category, size, normalization, positions, activation, bias, n_layers, n_heads,
            d_model, max_length: the slide's cells Model, Category, Size, Normalization, PE,
            Activation, Bias, #L, #H, d_model, MCL.
        corrections: column of the slide -> what its cell should say.
        paper, other_papers: where the rest is from; ``other_papers`` names fields with another
            source.
        note: why 12 L D^2 is not the size.
        vocab_size: V, rows of the table of embeddings.
        d_head: K; None is D / H.
        d_ff: F, width of the feed-forward layer; None is 4 D.
        n_kv_heads: heads of keys and values; None is H.
        gated: the feed-forward layer has three matrices.
        tied: the output shares the embeddings.
        biases, norm_biases: in the matrices' layers; in the norms.
        norms_per_layer, further_norms: in a layer without cross-attention; outside the layers.
        position_rows: rows of the tables of learned positions.
        relative_projections: a D x H K matrix per layer for relative positions (Transformer-XL).
        relative_buckets: numbers per head and stack for relative positions (T5).
        encoder_layers: of a second stack; the ``n_layers`` of the first then have cross-attention.
        stated_without_embeddings: the stated size leaves the embeddings out.
        released: parameters in the released weights.
        qk_norm: queries and keys are normalized, with a gain of K numbers for each.
        latent, query_latent: of latent attention: the width of the vector from which keys and
            values of all heads are made, and of that for the queries; None: there is none.
        d_rotary: then also the width of the one key, shared by all heads, that is turned.
        experts, experts_used, shared_experts, d_expert: how many feed-forward layers a layer has to
            choose from, how many a token uses, how many it uses always, and their width.
        dense_layers: the first layers, which have one feed-forward layer instead.
        year: of the release; given for those of 2023 and later that are not on the slide.
        window, window_layers: how many layers see, and keep, only the last ``window`` tokens.
    """

    name: str
    on_slide: bool
    label: str
    category: str
    size: str
    normalization: str | None
    positions: str | None
    activation: str | None
    bias: bool | None
    n_layers: int
    n_heads: int
    d_model: int
    max_length: int | None
    corrections: dict[str, Any]
    paper: str
    other_papers: dict[str, str]
    note: str
    vocab_size: int
    d_head: int | None = None
    d_ff: int | None = None
    n_kv_heads: int | None = None
    gated: bool = False
    tied: bool | None = None
    biases: bool | None = None
    norm_biases: bool | None = None
    norms_per_layer: int = 2
    further_norms: int = 1
    position_rows: int | None = None
    relative_projections: bool = False
    relative_buckets: int = 0
    encoder_layers: int = 0
    stated_without_embeddings: bool = False
    released: int | None = None
    qk_norm: bool = False
    latent: int | None = None
    query_latent: int | None = None
    d_rotary: int = 0
    experts: int = 0
    experts_used: int = 0
    shared_experts: int = 0
    d_expert: int = 0
    dense_layers: int = 0
    year: int | None = None
    window: int | None = None
    window_layers: int = 0
    cells: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def stated(self) -> float:
        """The size that the table states, as a number: 175B is 175e9."""
        return float(self.size[:-1]) * {"M": 1e6, "B": 1e9}[self.size[-1]]


def large_language_models() -> list[LargeModel]:
    """The models: the slide's 14 in its order, then those added."""
    content = json.loads((DATA_FOLDER / "large_language_models.json").read_text(encoding="utf-8"))
    papers = content["papers"]
    models = []
    for row in content["models"]:
        cells = {attribute: row["cells"][column] for column, attribute in COLUMNS.items()}
        models.append(
            LargeModel(
                name=row["name"],
                on_slide=row["on_slide"],
                **cells,
                corrections=row["corrections"],
                paper=papers[row["paper"]],
                other_papers={name: papers[key] for name, key in row["other_papers"].items()},
                note=row["note"],
                **row["added"],
                cells=row["cells"],
            )
        )
    return models
