"""The tiny GPT-2 that ships is the library's; the real one is found, or fetched and checked."""

import hashlib
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close
from transformers import GPT2Config, GPT2LMHeadModel

from helpers.data.corpora import CACHE_VARIABLE, DATA_FOLDER
from helpers.pretrained import gpt2_files
from helpers.pretrained.gpt2_files import FILES_VARIABLE, GPT2FilesError, find_gpt2
from helpers.pretrained.gpt2_weights import load_gpt2

TINY = DATA_FOLDER / "gpt2_tiny"


@pytest.fixture(autouse=True)
def without_files(monkeypatch, tmp_path):
    monkeypatch.delenv(FILES_VARIABLE, raising=False)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))


def test_the_library_gives_the_logits_that_ship():
    tensors, kept = load_file(TINY / "model.safetensors"), load_file(TINY / "logits.safetensors")
    settings = json.loads((TINY / "config.json").read_text(encoding="utf-8"))
    library = GPT2LMHeadModel(GPT2Config(**settings)).eval()
    missing, unknown = library.transformer.load_state_dict(tensors, strict=False)
    assert not missing
    assert all(name.endswith("attn.bias") for name in unknown)
    library.tie_weights()
    with torch.no_grad():
        assert_close(library(kept["tokens"]).logits, kept["logits"], atol=1e-5, rtol=1e-5)
        assert_close(load_gpt2(TINY)(kept["tokens"]), kept["logits"], atol=1e-5, rtol=1e-5)


def test_the_card_names_its_files_and_they_are_small():
    card = (DATA_FOLDER / "README.md").read_text(encoding="utf-8")
    for file in TINY.iterdir():
        assert hashlib.sha256(file.read_bytes()).hexdigest() in card, file.name
    assert sum(file.stat().st_size for file in TINY.iterdir()) < 200_000


def test_nothing_is_fetched_unasked(monkeypatch):
    monkeypatch.setattr(gpt2_files, "fetch_gpt2", lambda: pytest.fail("it fetched"))
    assert find_gpt2() is None


def test_files_on_disk_are_found(monkeypatch, tmp_path):
    monkeypatch.setenv(FILES_VARIABLE, str(tmp_path))
    with pytest.raises(GPT2FilesError, match=r"model\.safetensors cannot be found") as told:
        find_gpt2()
    assert "\n" not in str(told.value)
    for name in gpt2_files.SHA256:
        (tmp_path / name).write_bytes(b"x")
    assert find_gpt2(fetch=True) == tmp_path


def test_what_was_fetched_is_checked_and_kept(monkeypatch, tmp_path):
    import pooch

    asked = []

    def retrieve(url, known_hash, fname, path, downloader):
        assert url.startswith("https://huggingface.co/openai-community/gpt2/resolve/")
        assert known_hash == f"sha256:{gpt2_files.SHA256[fname]}"
        asked.append(fname)
        Path(path).mkdir(parents=True, exist_ok=True)
        return str(Path(path) / fname)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert find_gpt2(fetch=True) == tmp_path / "gpt2"
    assert asked == list(gpt2_files.SHA256)


@pytest.mark.parametrize(
    ("error", "words"),
    [(ConnectionError("no way out"), "check the network"), (ValueError("hash"), "not the known")],
)
def test_no_network_and_altered_files_are_told_in_one_sentence(monkeypatch, error, words):
    import pooch

    def retrieve(*arguments, **named):
        raise error

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(GPT2FilesError, match=words) as told:
        find_gpt2(fetch=True)
    assert "\n" not in str(told.value)
