"""What a student wrote is kept with what it needs, and nothing else."""

import linecache

import pytest
import torch

from helpers.course import own_work
from helpers.course.checks import lab04
from helpers.data.bpe import BPETokenizer
from helpers.learning import checkpoints
from helpers.models.gpt import GPT, GPTConfig

CELL = """\
import math
import torch
from torch import nn


HALF = 0.5
model = nn.Linear(2, 2)
x = torch.zeros(3)


def scale(x):
    return HALF * math.sqrt(x)


class Net(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.layer = nn.Linear(D, D)

    def forward(self, x):
        model = self.layer
        return scale(4.0) * model(x)
"""


def cell_of(source, tmp_path):
    """The names that a cell of a notebook defines."""
    name = str(tmp_path / "cell.py")
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), space)
    return space


def test_a_class_is_kept_with_what_it_looks_up(tmp_path):
    source = own_work.source_with_imports(cell_of(CELL, tmp_path)["Net"])
    space = {"__name__": "own_work"}
    exec(source, space)
    net, x = space["Net"](2), torch.randn(3, 2)
    assert torch.equal(net(x), net.layer(x))


def test_a_local_name_is_not_the_notebooks_variable(tmp_path):
    """The notebook's ``model`` is no source, and could not be written down."""
    source = own_work.source_with_imports(cell_of(CELL, tmp_path)["Net"])
    assert "HALF = 0.5" in source
    assert "\nmodel = nn" not in source


@pytest.mark.parametrize("variable", [own_work.TESTS, own_work.MARKING])
def test_in_tests_and_marking_nothing_is_kept_for_others(tmp_path, monkeypatch, variable):
    monkeypatch.setattr(own_work, "find_root", lambda: tmp_path)
    answer = cell_of("def rotate(x, start=0):\n    return x\n", tmp_path)["rotate"]
    monkeypatch.setenv(variable, "1")
    own_work.keep(lab04.rotate, answer)
    monkeypatch.delenv(variable)
    monkeypatch.delenv(own_work.TESTS, raising=False)
    assert not (tmp_path / "work").exists()
    own_work.keep(lab04.rotate, answer)
    assert (tmp_path / "work" / "own" / "lab04_rotate.py").read_text().startswith("def rotate")


def test_numbers_that_are_not_finite_are_kept(tmp_path):
    cell = "LOW, HIGH = float('-inf'), float('inf')\n\ndef f(x):\n    return LOW < x < HIGH\n"
    space = {}
    exec(own_work.source_with_imports(cell_of(cell, tmp_path)["f"]), space)
    assert space["f"](3)


def test_a_model_that_is_used_cannot_be_kept(tmp_path):
    cell = CELL + "\n\ndef f(y):\n    return model(y)\n"
    with pytest.raises(ValueError, match="neither a function nor a class"):
        own_work.source_with_imports(cell_of(cell, tmp_path)["f"])


def small_gpt():
    tokenizer = BPETokenizer.train("a story of a boat and of a storm", 260)
    config = GPTConfig.modern(tokenizer.vocab_size, n_layers=1, n_heads=1, d_model=8)
    return GPT(config), tokenizer


def test_a_trained_gpt_is_found_and_else_the_one_that_ships(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(own_work.TESTS, raising=False)
    monkeypatch.setattr(own_work, "find_root", lambda: tmp_path)
    assert own_work.find_gpt() == tmp_path / own_work.SHIPPED_GPT
    model, tokenizer = small_gpt()
    own_work.save_gpt(model, tokenizer, {"steps": 3})
    assert own_work.find_gpt() == tmp_path / own_work.OWN_GPT
    assert "Your own GPT, from work/my_gpt." in capsys.readouterr().out
    read, card = checkpoints.load_model(own_work.find_gpt())
    assert torch.equal(read.embedding.weight, model.embedding.weight)
    assert card == {"steps": 3}
    loaded = BPETokenizer.load(own_work.find_gpt() / "tokenizer.json")
    assert loaded.encode("a boat").tolist() == tokenizer.encode("a boat").tolist()


def test_where_the_tests_look_on_nothing_of_the_students_is_read_or_written(tmp_path, monkeypatch):
    monkeypatch.setenv(own_work.TESTS, "1")
    monkeypatch.setattr(own_work, "find_root", lambda: tmp_path)
    own_work.save_gpt(*small_gpt(), {})
    assert list(tmp_path.iterdir()) == []
    own_work.save_gpt(*small_gpt(), {}, tmp_path / own_work.OWN_GPT)
    assert own_work.find_gpt() == tmp_path / own_work.SHIPPED_GPT
