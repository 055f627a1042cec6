"""Model folders and checkpoints: what was saved comes back, and damage is found and named."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sys
import warnings
from itertools import islice
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from helpers.data.batching import TextWindows
from helpers.learning.checkpoints import (
    CheckpointError,
    load_encoder,
    load_model,
    resume,
    save,
    save_model,
)
from helpers.learning.optimizers import gpt_optimizers
from helpers.learning.training import Training
from helpers.models.adapters import LoRALinear, SoftPrompt, add_adapters, add_lora
from helpers.models.encoder import Encoder, MaskedLM
from helpers.models.gpt import GPT, GPTConfig
from helpers.models.quantized import quantize_model

FORMER = Path(__file__).with_name("former_run")


V = 11
CONFIG = GPTConfig.modern(V, max_length=8, n_layers=2, n_heads=2, d_model=8, dropout=0.2)
TOKENS = torch.arange(400) ** 2 % V
CARD = {"data": "squares", "seed": 3, "curve": [[1, 2.5], [2, 2.25]], "note": "größer"}


def gpt(seed: int = 0, config: GPTConfig = CONFIG) -> GPT:
    torch.manual_seed(seed)
    model = GPT(config)
    with torch.no_grad():  # matrices that begin at zero would make all models alike
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def training(seed: int = 0, steps: int = 12, model: nn.Module | None = None, **settings):
    model = gpt(seed) if model is None else model
    optimizers = gpt_optimizers(model, 0.01, 0.02, 0.1)
    optimizers[0].precision = "float32"
    windows = TextWindows(TOKENS, 4, 8, seed=5)
    torch.manual_seed(seed + 100)
    return Training(model, windows, steps, warmup=2, optimizers=optimizers, **settings)


def advance(run: Training, steps: int) -> list[float]:
    return [record.loss for record in islice(run, steps)]


def same(a: nn.Module, b: nn.Module) -> bool:
    mine, other = a.state_dict(), b.state_dict()
    return mine.keys() == other.keys() and all(torch.equal(mine[n], other[n]) for n in mine)


def flip(path, at: float = 0.5) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[int(at * len(content))] ^= 1
    path.write_bytes(content)


class Killed(BaseException):
    """Stands for the end of the process, at a chosen moment."""


def kill_at(monkeypatch, moment: int) -> None:
    """From its ``moment``-th call of the file system on, the process does nothing more."""
    calls = 0
    for name in ("replace", "rename", "fsync", "unlink", "rmdir"):
        original = getattr(os, name)

        def counted(*arguments, original=original, **keywords):
            nonlocal calls
            calls += 1
            if calls > moment:
                raise Killed
            return original(*arguments, **keywords)

        monkeypatch.setattr(os, name, counted)


# Model folders


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        GPTConfig.gpt2(V, max_length=8, n_layers=1, n_heads=2, d_model=8),
        GPTConfig.modern(V, n_layers=1, n_heads=4, d_model=16, n_kv_heads=2),
        GPTConfig.modern(V, n_layers=1, n_heads=2, d_model=8, tied=False, activation="swiglu"),
    ],
)
def test_a_model_comes_back_as_it_was(tmp_path, config):
    model = gpt(1, config).eval()
    save_model(tmp_path / "a" / "model", model, CARD)
    before = torch.get_rng_state()
    loaded, card = load_model(tmp_path / "a" / "model")
    assert torch.equal(torch.get_rng_state(), before)
    assert (loaded.config, card, loaded.training) == (config, CARD, False)
    assert same(model, loaded)
    tokens = TOKENS[:16].view(2, 8)
    assert torch.equal(model(tokens), loaded(tokens))


@pytest.mark.parametrize(("pad", "segments"), [(0, 2), (None, 0)])
def test_an_encoder_comes_back_as_it_was(tmp_path, pad, segments):
    torch.manual_seed(0)
    model = MaskedLM(Encoder.modern(CONFIG, pad, segments))
    folder = save_model(tmp_path / "encoder", model, CARD)
    loaded, card = load_encoder(folder)
    assert card == CARD
    assert same(loaded, model)
    assert not loaded.training
    assert loaded.encoder.pad == pad
    tokens = torch.tensor([[3, 1, 4, 1, 0]])
    assert torch.equal(loaded(tokens), model.eval()(tokens))
    with pytest.raises(CheckpointError, match="holds a MaskedLM, not a GPT: open it with load_enc"):
        load_model(folder)
    with pytest.raises(CheckpointError, match="holds a GPT, not a MaskedLM: open it with load_mod"):
        load_encoder(save_model(tmp_path / "gpt", gpt()))


def test_former_settings_that_say_without_are_passed_over(tmp_path):
    folder = save_model(tmp_path / "model", gpt())
    change_config(folder, last_tokens=1, ngrams=1, ngram_rows=2**16, ngram_dropout=0.0)
    assert same(load_model(folder)[0], gpt())


def test_an_encoder_without_settings_cannot_be_saved(tmp_path):
    model = MaskedLM(Encoder.bert(V, 8, 2, 1))
    with pytest.raises(CheckpointError, match=r"save encoders that Encoder\.modern made"):
        save_model(tmp_path / "encoder", model)
    assert not (tmp_path / "encoder").exists()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_the_bytes_and_loaded_as_float32(tmp_path, dtype):
    model = gpt(2, GPTConfig.modern(V, n_layers=2, n_heads=2, d_model=32))
    save_model(tmp_path / "whole", model)
    save_model(tmp_path / "half", model, dtype=dtype)
    sizes = [(tmp_path / n / "model.safetensors").stat().st_size for n in ("whole", "half")]
    assert sizes[1] < 0.56 * sizes[0]
    loaded, _ = load_model(tmp_path / "half")
    for name, parameter in loaded.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, model.get_parameter(name).to(dtype).float())
    assert all(p.dtype == torch.float32 for p in model.parameters())


def test_weights_too_large_for_float16_and_a_card_that_is_no_json(tmp_path):
    model = gpt()
    with torch.no_grad():
        model.embedding.weight[0, 0] = 1e6
    with pytest.raises(CheckpointError, match=r"embedding.weight holds .* as torch\.float16"):
        save_model(tmp_path, model, dtype=torch.float16)
    with torch.no_grad():
        model.embedding.weight[0, 0] = math.nan
    with pytest.raises(CheckpointError, match="or look for what went wrong in training"):
        save_model(tmp_path, model)
    model = gpt()
    with pytest.raises(CheckpointError, match="card cannot be saved as JSON"):
        save_model(tmp_path, model, {"loss": torch.tensor(1.0)})
    assert list(tmp_path.iterdir()) == []


def test_a_gpt_with_lora_is_saved_merged(tmp_path):
    model = gpt()
    for layer in add_lora(model, 2):
        nn.init.normal_(layer.B)
    loaded, _ = load_model(save_model(tmp_path, model))
    tokens = TOKENS[:16].view(2, 8)
    torch.testing.assert_close(loaded(tokens), model.eval()(tokens))
    assert any(isinstance(part, LoRALinear) for part in model.modules())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda m: add_adapters(m, 2) and m, "This GPT cannot be loaded again, since its settings"),
        (quantize_model, r"do not tell of blocks\.0\..*: save the model as it was before"),
        (lambda m: SoftPrompt(m, TOKENS[:2]), "This is a SoftPrompt; save_model takes a GPT or a"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, change, sentence):
    with pytest.raises(CheckpointError, match=sentence):
        save_model(tmp_path, change(gpt()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("adapt", [lambda m: add_lora(m, 2), lambda m: add_adapters(m, 2)])
def test_the_training_of_an_adapted_gpt_goes_on(tmp_path, adapt):
    runs = []
    for _ in range(2):
        model = gpt()
        adapt(model)
        runs.append(Training(model, TextWindows(TOKENS, 4, 8, seed=5), 6))
    advance(runs[0], 3)
    save(tmp_path, runs[0])
    assert resume(tmp_path, runs[1]) == {}
    assert same(*(run.model for run in runs))


def change_config(folder, **changes):
    path = folder / "config.json"
    content = json.loads(path.read_text())
    for name, value in changes.items():
        (content if name in content else content["config"])[name] = value
    path.write_text(json.dumps(content))


def change_weights(folder, change):
    """Other tensors, with the hash that fits them."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)
    change_config(folder, weights_sha256=hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda f: (f / "config.json").unlink(), "config.json is missing"),
        (lambda f: flip(f / "model.safetensors"), "is damaged, or of another model"),
        (lambda f: change_config(f, format=2), "is of format 2, .* format 1: update the course"),
        (lambda f: change_config(f, n_experts=8), "can be built .*n_experts.*update the course"),
        (lambda f: change_config(f, vocab_size=V + 1), r"fit the model .*\[11, 8\].*\[12, 8\]"),
        (lambda f: change_weights(f, lambda t: t.pop("norm.weight")), "Missing .*norm.weight"),
    ],
)
def test_what_is_wrong_with_a_model_folder_is_said(tmp_path, spoil, message):
    save_model(tmp_path, gpt(), CARD)
    spoil(tmp_path)
    with pytest.raises(CheckpointError, match=message) as caught:
        load_model(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CheckpointError, match="There is no model folder"):
        load_model(tmp_path / "nothing")


def test_a_save_cut_off_at_any_moment_leaves_the_old_model_or_the_new_one(tmp_path, monkeypatch):
    models, found = [gpt(0), gpt(1)], []
    for moment in range(100):
        folder = tmp_path / str(moment)
        save_model(folder, models[0], {"number": 0})
        with monkeypatch.context() as patched:
            kill_at(patched, moment)
            try:
                save_model(folder, models[1], {"number": 1})
            except Killed:
                finished = False
            else:
                finished = True
        loaded, card = load_model(folder)
        assert same(loaded, models[card["number"]])
        found.append(card["number"])
        save_model(folder, models[1], {"number": 2})
        assert load_model(folder)[1] == {"number": 2}
        assert len(list(folder.iterdir())) == 2
        if finished:
            break
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] == 1
    assert 4 < len(found) < 100


# Checkpoints of a training


@pytest.mark.parametrize("settings", [{}, {"accumulate": 2}, {"decay": 0.5}])
def test_a_resumed_run_equals_the_uninterrupted_one_bit_for_bit(tmp_path, settings):
    whole = training(**settings)
    losses = advance(whole, 12)
    first = training(**settings)
    begun = advance(first, 5)
    save(tmp_path, first, notes={"curve": begun})
    torch.manual_seed(999)
    second = training(seed=7, **settings)  # other weights, other random numbers
    assert resume(tmp_path, second) == {"curve": begun}
    assert second.step == 5
    assert begun + advance(second, 12) == losses
    assert same(whole.model, second.model)
    assert whole.tokens == second.tokens


def test_the_last_two_are_kept(tmp_path):
    run = training()
    for _ in range(4):
        advance(run, 2)
        save(tmp_path, run)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["step_00000006.pt", "step_00000008.pt"]


class Code:
    """Would make a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_code_in_a_checkpoint_does_not_run(tmp_path):
    path, trap = tmp_path / "step_00000001.pt", tmp_path / "trap"
    torch.save({"format": 1, "model": Code(trap)}, path)
    with pytest.raises(CheckpointError, match=r"No checkpoint in .* can be used"):
        resume(tmp_path, training())
    assert not trap.exists()


@pytest.mark.parametrize("way", ["flip", "truncate", "empty"])
def test_of_a_damaged_checkpoint_the_one_before_it_is_used(tmp_path, way):
    whole = training()
    advance(whole, 12)
    run = training()
    for _ in range(2):
        advance(run, 3)
        path = save(tmp_path, run)
    {"flip": flip, "truncate": lambda p: os.truncate(p, 99), "empty": lambda p: p.write_bytes(b"")}[
        way
    ](path)
    run = training(1)
    told = "goes on from step_00000003.pt, because .*step_00000006.pt is damaged"
    with pytest.warns(UserWarning, match=told):
        resume(tmp_path, run)
    assert run.step == 3
    advance(run, 3)
    assert save(tmp_path, run) == path  # takes the place of the damaged one
    again = training(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resume(tmp_path, again)
    advance(again, 12)
    assert same(whole.model, again.model)


def test_where_all_are_damaged_this_is_said(tmp_path):
    run = training()
    for _ in range(2):
        advance(run, 1)
        save(tmp_path, run).write_bytes(b"nothing")
    fresh = training(1)
    before = gpt(1)
    with pytest.raises(
        CheckpointError, match=r"No checkpoint in .* can be used.*is damaged"
    ) as told:
        resume(tmp_path, fresh)
    assert "\n" not in str(told.value)
    assert same(fresh.model, before)


def test_a_save_cut_off_at_any_moment_leaves_a_checkpoint(tmp_path, monkeypatch):
    run, found = training(), []
    for _ in range(2):
        advance(run, 1)
        save(tmp_path / "two", run)
    advance(run, 1)
    for moment in range(200):
        folder = shutil.copytree(tmp_path / "two", tmp_path / str(moment))
        with monkeypatch.context() as patched:
            kill_at(patched, moment)
            try:
                save(folder, run)
            except Killed:
                finished = False
            else:
                finished = True
        again = training(1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            resume(folder, again)
        found.append(again.step)
        assert again.step == 2 or same(again.model, run.model)
        save(folder, run)  # the next one sweeps up what the last one left
        names = sorted(path.name for path in folder.iterdir())
        assert names == ["step_00000002.pt", "step_00000003.pt"]
        if finished:
            break
    assert found == sorted(found)
    assert set(found) == {2, 3}
    few = 2 if sys.version_info < (3, 11) else 3  # pathlib 3.10 keeps functions of os from before
    assert few < len(found) < 200


def test_another_text_other_settings_or_another_model_are_refused(tmp_path):
    settings = {"text": "aa11", "batch": 4, "betas": (0.9, 0.95)}
    run = training()
    advance(run, 2)
    save(tmp_path, run, settings)
    assert resume(tmp_path, training(1), settings) == {}
    smaller = GPTConfig.modern(V, max_length=8, n_layers=1, n_heads=2, d_model=8, dropout=0.2)
    for wanted, model, message in [
        ({**settings, "text": "bb22"}, None, 'text was "aa11", now it is "bb22"'),
        ({**settings, "batch": 8}, None, "batch was 4, now it is 8"),
        ({"text": "aa11", "betas": (0.9, 0.95)}, None, "batch was 4, now it is not set"),
        (settings, gpt(1, smaller), "n_layers was 2, now it is 1"),
    ]:
        other = training(1, model=model)
        before = {name: tensor.clone() for name, tensor in other.model.state_dict().items()}
        with pytest.raises(CheckpointError, match=message):
            resume(tmp_path, other, wanted)
        assert other.step == 0
        after = other.model.state_dict()
        assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_a_training_that_did_not_resume_does_not_push_out_a_longer_one(tmp_path):
    run = training()
    advance(run, 6)
    save(tmp_path, run)
    fresh = training()
    advance(fresh, 2)
    with pytest.raises(CheckpointError, match="later step, step_00000006, than 2: resume"):
        save(tmp_path, fresh)
    assert [path.name for path in tmp_path.iterdir()] == ["step_00000006.pt"]


def test_where_nothing_was_saved_training_begins(tmp_path):
    run = training()
    assert resume(tmp_path / "nothing", run) is None
    assert resume(tmp_path, run) is None
    assert run.step == 0


def test_the_best_weights_of_a_former_run_are_loaded():
    model, card = load_model(FORMER / "best")
    assert card == {"step": 8}
    assert model.vocab_size == 12


@pytest.mark.parametrize("file", ["model.safetensors", "optimizers.safetensors", "state.json"])
@pytest.mark.parametrize("spoil", [flip, os.unlink])
def test_damage_to_a_checkpoint_in_the_former_format_is_found(tmp_path, file, spoil):
    """One that is whole is resumed in test_pretrain."""
    folder = shutil.copytree(FORMER / "checkpoints", tmp_path / "checkpoints")
    spoil(folder / "step_00000008" / file)
    with pytest.raises(CheckpointError, match=rf"{file} is (damaged|missing)"):
        resume(folder, training())
