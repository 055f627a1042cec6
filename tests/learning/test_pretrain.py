"""The command that trains a GPT: interrupted, killed and damaged."""

from __future__ import annotations

import io
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from helpers.data.bpe import END_OF_TEXT, BPETokenizer
from helpers.data.corpora import lantern_bay
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.cached_predictor import CachedPredictor
from helpers.inference.evaluation import score
from helpers.learning import presets, pretrain
from helpers.learning.checkpoints import load_model
from helpers.learning.presets import PRESETS, in_time, parse, preset_for
from helpers.learning.training import Training
from helpers.models.gpt import GPT, GPTConfig

ROOT = Path(__file__).resolve().parents[2]


def start(text, folder, *more) -> subprocess.Popen:
    """The command, in a process of its own and on one thread."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = ["-m", "helpers.learning.pretrain", "--text", text, "--folder", folder]
    preset = ["--preset", "tiny", "--tokenizer", "char", "--device", "cpu"]
    command = [sys.executable, *command, *preset, *more]
    return subprocess.Popen(
        list(map(str, command)),
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


FORMER = Path(__file__).with_name("former_run")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Sums in one order, in this process and in those that a test starts."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("text") / "tales.txt"
    path.write_text(lantern_bay().train[:6000], encoding="utf-8")
    return path


def run(text, folder, *more) -> int:
    """The command, in this process."""
    where = ["--text", str(text), "--folder", str(folder), "--device", "cpu"]
    return pretrain.main([*where, "--preset", "tiny", "--tokenizer", "char", *map(str, more)])


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory) -> Path:
    """The folder of a run of 40 steps that nothing interrupted."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert run(text, folder) == 0
    return folder


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def card(folder: Path) -> dict:
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))["card"]


# The folder that a run leaves


def test_the_folder_holds_the_model_its_card_and_its_tokenizer(text, whole):
    model, said = load_model(whole)
    content = text.read_text(encoding="utf-8")
    tokenizer = CharTokenizer.load(whole / "tokenizer.json")
    assert model.vocab_size == tokenizer.vocab_size == len(set(content))
    train, validation = content[:5400], content[5400:5700]
    predictor = CachedPredictor(model, int(tokenizer.encode(train[-1])))
    bits = score(predictor, tokenizer.encode(validation), validation).bits_per_byte
    assert said["bits_per_byte"]["validation"] == pytest.approx(bits, abs=1e-4)
    assert said["curve"]["step"] == list(range(1, 41))
    assert [step for step, _ in said["curve"]["validation"]] == [10, 20, 30, 40]
    assert said["curve"]["validation"][-1][1] < said["curve"]["validation"][0][1]
    assert said["parameters"] == sum(p.numel() for p in model.parameters())
    assert said["tokens_seen"] == 40 * 4 * 16
    assert said["settings"] == PRESETS["tiny"]
    assert str(whole.parent) not in json.dumps(said)


def test_a_finished_run_is_not_trained_again(text, whole, tmp_path, capsys):
    folder = shutil.copytree(whole, tmp_path / "run")
    assert run(text, folder) == 0
    assert weights(folder) == weights(whole)
    assert card(folder)["curve"] == card(whole)["curve"]
    assert "Going on after step 40 of 40" in capsys.readouterr().out


def test_tokens_of_byte_pairs_and_options_instead_of_the_presets(text, tmp_path):
    more = ["--tokenizer", "bpe:300", "--steps", 6, "--layers", 1, "--batch", 6, "--accumulate", 2]
    assert run(text, tmp_path, *more, "--heads", 1, "--seed", 4) == 0
    model, said = load_model(tmp_path)
    tokenizer = BPETokenizer.load(tmp_path / "tokenizer.json")
    assert model.vocab_size == tokenizer.vocab_size == 300
    assert (model.config.n_layers, model.config.n_heads, said["seed"]) == (1, 1, 4)
    assert said["tokens_seen"] == 6 * 2 * 6 * 16


def test_the_best_weights_are_kept_not_the_last(text, tmp_path, capsys, monkeypatch):
    """Validation gets worse after step 20, as when a model learns its text by heart."""
    real, found = pretrain.Text.bits_per_byte, iter([4.0, 3.0, 3.5, 3.2])

    def fake(self, model, part):
        return next(found, None) or real(self, model, part)

    monkeypatch.setattr(pretrain.Text, "bits_per_byte", fake)
    assert run(text, tmp_path) == 0
    assert "the best weights, of step 20, have" in capsys.readouterr().out
    assert card(tmp_path)["best_step"] == 20
    assert weights(tmp_path) == weights(tmp_path / "best")
    last = torch.load(tmp_path / "checkpoints" / "step_00000040.pt")["model"]
    kept, _ = load_model(tmp_path)
    assert not torch.equal(last["embedding.weight"], kept.embedding.weight)


def test_the_courses_stories_with_their_mark_between_documents():
    text = pretrain.Text.read("lantern_stories", "bpe:300")
    mark = text.tokenizer.special_ids[END_OF_TEXT]
    assert int((text.train == mark).sum()) == len(text.corpus.train_documents) - 1
    model = GPT(GPTConfig.modern(300, max_length=64, n_layers=1, n_heads=1, d_model=8))
    short = replace(text.corpus, documents=text.corpus.documents[:40], parts=("validation",) * 40)
    bits = replace(text, corpus=short).bits_per_byte(model, "validation")
    raw = "\n\n\n".join(document.text for document in short.documents)
    tokens = len(text.encode(short.validation))
    assert bits == pytest.approx(tokens * math.log2(300) / len(raw), rel=1e-6)  # it knows nothing


@pytest.mark.parametrize("preset", ["laptop", "laptop_long", "t4", "gpu"])
def test_a_presets_model_is_small_enough_to_be_shared(preset):
    options = parse(["--preset", preset])
    with torch.device("meta"):
        model = pretrain._model(options, vocab_size=2048)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert 2 * count < 25e6  # bytes in bfloat16
    assert options.steps * options.batch * options.length > 2e6


@pytest.mark.parametrize(
    ("device", "capability", "preset"),
    [("cpu", None, "laptop"), ("mps", None, "t4"), ("cuda", (7, 5), "t4"), ("cuda", (9, 0), "gpu")],
)
def test_the_preset_that_a_device_deserves(monkeypatch, device, capability, preset):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert preset_for(torch.device(device)) == preset


@pytest.mark.parametrize(
    ("speed", "precision", "steps", "warmup"),
    [
        ("1", "bfloat16", 400, 20),
        ("0.6", "float32", 200, 20),
        ("0.05", "bfloat16", 150, 15),
        ("0.3", "float16", 150, 15),
    ],
)
def test_the_laptops_steps_fit_into_the_time(monkeypatch, speed, precision, steps, warmup):
    monkeypatch.setenv("COURSE_SPEED", speed)
    monkeypatch.setattr(presets, "mixed_precision", lambda device: precision)
    found = in_time("laptop", torch.device("cpu"))
    changed = {"steps": steps, "warmup": warmup}
    changed["precision"] = "bfloat16" if precision == "bfloat16" else "float32"
    assert found == PRESETS["laptop"] | changed
    assert in_time("laptop_long", torch.device("cpu"))["steps"] == PRESETS["laptop_long"]["steps"]


@pytest.mark.parametrize(
    ("a_second", "steps", "width"), [(100.0, 3000, 256), (5.01, 650, 256), (1.0, 150, 128)]
)
def test_a_gpu_s_steps_are_timed(monkeypatch, a_second, steps, width):
    monkeypatch.setattr(presets, "mixed_precision", lambda device: "float16")
    monkeypatch.setattr(presets, "steps_a_second", lambda preset, device: a_second)
    found = in_time("t4", torch.device("cuda"))
    assert (found["steps"], found["width"]) == (steps, width)
    assert (found["precision"], found["compile"]) == ("float32", False)


def test_timing_some_steps_leaves_the_random_numbers_alone():
    preset, state = PRESETS["tiny"] | {"heads": 2}, torch.get_rng_state()
    assert presets.steps_a_second(preset, torch.device("cpu"), 50) > 1
    assert torch.equal(torch.get_rng_state(), state)


# Interrupted and resumed


@pytest.mark.parametrize("step", [3, 17, 29])
def test_an_interrupted_run_goes_on_to_the_same_weights(
    text, whole, tmp_path, monkeypatch, capsys, step
):
    make_step = Training.make_step

    def interrupted(training):
        if training.step == step:
            raise KeyboardInterrupt
        make_step(training)

    with monkeypatch.context() as patched:
        patched.setattr(Training, "make_step", interrupted)
        assert run(text, tmp_path) == 130
    assert "goes on from the last checkpoint" in capsys.readouterr().err
    assert not (tmp_path / "model.safetensors").exists()
    assert run(text, tmp_path) == 0
    out = capsys.readouterr().out
    saved = step // 10 * 10
    assert ("Going on after step" in out) == (saved > 0)
    assert f"Going on after step {saved} of 40" in out or not saved
    assert weights(tmp_path) == weights(whole)
    assert card(tmp_path)["curve"]["nats_per_token"] == card(whole)["curve"]["nats_per_token"]


def test_a_damaged_checkpoint_is_said_and_the_one_before_it_used(text, whole, tmp_path, capsys):
    folder = shutil.copytree(whole, tmp_path / "run")
    damaged = folder / "checkpoints" / "step_00000040.pt"
    os.truncate(damaged, damaged.stat().st_size - 3)
    (folder / "model.safetensors").unlink()
    assert run(text, folder) == 0
    out = capsys.readouterr().out
    assert re.search(r"goes on from step_00000030.pt, because .*step_00000040.pt is damaged", out)
    assert "Going on after step 30 of 40" in out
    assert weights(folder) == weights(whole)


# What goes wrong is said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--steps", 80], "steps was 40, now it is 80"),
        (["--text", "other"], "the SHA-256 of the text's tokens was .*the settings and the text"),
        (["--tokenizer", "words"], "tokenizer 'words' is not known here: expected bpe:N"),
        (["--text", "nowhere.txt"], "There is no file or folder nowhere.txt"),
        (["--length", 4000], "this text of 5400 tokens gives 0. Use a longer text"),
    ],
)
def test_one_sentence_says_what_is_wrong(text, whole, tmp_path, capsys, more, message):
    if more == ["--text", "other"]:
        other = tmp_path / "other.txt"
        other.write_text(text.read_text(encoding="utf-8").swapcase(), encoding="utf-8")
        more = ["--text", other]
    assert run(text, whole, *more) == 1
    said = capsys.readouterr().err
    assert re.search(message, said)
    assert said.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_refused_before_the_text_is_read(
    text, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(pretrain.Text, "read", None)
    (tmp_path / "file").touch()
    assert run(text, tmp_path / "file" / "run") == 1
    assert re.fullmatch(
        r"Nothing can be written in the folder .*run \(.+\): name another one.\n",
        capsys.readouterr().err,
    )


def test_a_console_of_another_encoding_ends_no_run(text, tmp_path, monkeypatch):
    named = shutil.copy(text, tmp_path / "日本.txt")
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", console)
    assert run(named, tmp_path / "モデル", "--steps", 3) == 0
    console.flush()
    said = console.buffer.getvalue().decode("cp1252")
    assert said.startswith(r"\u65e5\u672c: 5,400 tokens")
    assert said.rstrip().endswith(r"\u30e2\u30c7\u30eb")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_run_killed_at_a_random_moment_ends_with_the_same_weights(text, tmp_path):
    settings = ["--steps", 150, "--save-every", 5]
    assert run(text, tmp_path / "whole", *settings) == 0
    moments = random.Random(6)
    process = start(text, tmp_path / "killed", *settings)
    saves = moments.randint(2, 9)
    for line in process.stdout:
        saves -= "; saved step_" in line
        if not saves:
            break
    time.sleep(moments.uniform(0, 0.05))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    assert not (tmp_path / "killed" / "config.json").exists()
    assert run(text, tmp_path / "killed", *settings) == 0
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")


def test_a_device_that_is_not_there(text, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pretrain, "best_device", lambda: torch.device("cpu"))
    assert run(text, tmp_path, "--device", "cuda") == 1
    assert "This machine has no device 'cuda'" in capsys.readouterr().err


def test_a_run_goes_on_from_a_checkpoint_in_the_former_format(tmp_path, capsys):
    """Made by the command while a checkpoint was a folder; stopped after 8 of its 12 steps."""
    text, folder = tmp_path / "text.txt", shutil.copytree(FORMER, tmp_path / "run")
    text.write_text("The cat sat on the mat. " * 40, encoding="utf-8")
    settings = "--layers 1 --heads 1 --width 8 --length 8 --batch 2 --steps 12 --save-every 4"
    whole = tmp_path / "whole"
    assert run(text, folder, *settings.split()) == run(text, whole, *settings.split()) == 0
    assert "Going on after step 8 of 12" in capsys.readouterr().out
    found, wanted = (card(f)["curve"]["nats_per_token"] for f in (folder, whole))
    assert found == pytest.approx(wanted, rel=1e-4)
    for a, b in zip(*(load_model(f)[0].parameters() for f in (folder, whole)), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-4)
    names = {path.name for path in (folder / "checkpoints").iterdir()}
    assert names == {"step_00000008", "step_00000012.pt"}
