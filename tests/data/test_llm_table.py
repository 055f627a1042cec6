"""The table of large language models: the slide's cells, and sources for what was added."""

from __future__ import annotations

from dataclasses import fields

import pytest

from helpers.data.llm_table import COLUMNS, LargeModel, large_language_models

# The slide, row by row: Size, Normalization, PE, Activation, Bias, #L, #H, d_model, MCL.
SLIDE = """
GPT3|175B|Pre Layer Norm|Learned|GeLU|yes|96|96|12288|2048
PanGU-α|207B|Pre Layer Norm|Learned|GeLU|yes|64|128|16384|1024
OPT|175B|Pre Layer Norm|Learned|ReLU|yes|96|96|12288|2048
PaLM|540B|Pre Layer Norm|RoPE|SwiGLU|no|118|48|18432|2048
BLOOM|176B|Pre Layer Norm|ALiBi|GeLU|yes|70|112|14336|2048
MT-NLG|530B|-|-|-|-|105|128|20480|2048
Gopher|280B|Pre RMS Norm|Relative|-|-|80|128|16384|-
Chinchilla|70B|Pre RMS Norm|Relative|-|-|80|64|8192|-
Galactica|120B|Pre Layer Norm|Learned|GeLU|no|96|80|10240|2048
LaMDA|137B|-|Relative|GeGLU|-|64|128|8192|-
Jurassic-1|178B|Pre Layer Norm|Learned|GeLU|yes|76|96|13824|2048
LLaMA|65B|Pre RMS Norm|RoPE|SwiGLU|yes|80|64|8192|2048
GLM-130B|130B|Post Deep Norm|RoPE|GeGLU|yes|70|96|12288|2048
T5|11B|Pre RMS Norm|Relative|ReLU|no|24|128|1024|-
"""


def shown(value):
    return {None: "-", True: "yes", False: "no"}.get(value, str(value))


def test_the_rows_are_the_slide_s():
    rows = [line.split("|") for line in SLIDE.split("\n") if line]
    columns = [column for column in COLUMNS if column != "Category"]
    models = [model for model in large_language_models() if model.on_slide]
    assert [[shown(model.cells[c]) for c in columns] for model in models] == rows
    categories = ["Casual decoder"] * 12 + ["Prefix decoder", "Encoder-decoder"]
    assert [model.category for model in models] == categories


def test_attributes_are_the_cells():
    for model in large_language_models():
        assert list(model.cells) == list(COLUMNS)
        for column, attribute in COLUMNS.items():
            assert getattr(model, attribute) == model.cells[column]


def test_what_is_added_is_marked():
    added = [model for model in large_language_models() if not model.on_slide]
    assert len(large_language_models()) == 26
    assert [model.name for model in added if model.year is None] == ["GPT-1", "GPT-2"]
    assert {model.year for model in added} == {None, 2023, 2024, 2025}


def test_stated_sizes_are_numbers():
    sizes = {model.name: model.stated for model in large_language_models()}
    assert sizes["GPT-3"] == 175e9
    assert sizes["GPT-1"] == 117e6
    assert sizes["GPT-2"] == pytest.approx(1.5e9)


def test_slips_of_the_slide_are_noted_beside_its_cells():
    models = {model.name: model for model in large_language_models()}
    assert models["LLaMA"].bias is True
    assert models["LLaMA"].corrections["Bias"] is False
    assert models["LLaMA"].biases is False
    for model in models.values():
        assert set(model.corrections) <= set(COLUMNS)
        assert all(model.cells[column] != right for column, right in model.corrections.items())
        known = model.corrections.get("Bias", model.bias)
        assert known is None or known == model.biases


def test_every_fact_has_a_source():
    names = {field.name for field in fields(LargeModel)}
    for model in large_language_models():
        assert len(model.paper) > 20
        assert len(model.note) > 20
        assert set(model.other_papers) <= names | {"Size"}
        assert all(len(paper) > 20 for paper in model.other_papers.values())
