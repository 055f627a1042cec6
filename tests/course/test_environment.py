"""The root is where it should be."""

import pytest

from helpers.course import environment


def test_find_root(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert environment.find_root() == root


def test_find_root_without_a_course(tmp_path, monkeypatch):
    installed = tmp_path / "site-packages" / "helpers" / "course" / "environment.py"
    monkeypatch.setattr(environment, "__file__", str(installed))
    with pytest.raises(FileNotFoundError, match="from a clone"):
        environment.find_root()
