"""The root is where it should be, and the machine is described as it is."""

import os
import sys
import types
from importlib import metadata

import pytest
import torch

from helpers.course import environment


def test_find_root(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert environment.find_root() == root


def test_find_root_without_a_course(tmp_path, monkeypatch):
    installed = tmp_path / "site-packages" / "helpers" / "course" / "environment.py"
    monkeypatch.setattr(environment, "__file__", str(installed))
    with pytest.raises(FileNotFoundError, match="from a clone"):
        environment.find_root()


def test_describe_machine():
    machine = environment.describe_machine()
    assert 1 <= machine.cpu_count <= os.cpu_count()
    assert machine.python == sys.version.split()[0]
    assert machine.torch == torch.__version__
    assert machine.ipywidgets == metadata.version("ipywidgets")
    assert machine.memory is None or 0.25 < machine.memory < 100_000
    assert (machine.device_memory is not None) == torch.cuda.is_available()
    assert not machine.on_colab


def test_on_colab(monkeypatch):
    assert not environment.on_colab()
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    assert environment.on_colab()
