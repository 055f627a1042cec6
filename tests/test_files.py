"""A file is whole or not there, wherever its writing is cut off."""

import os

import pytest

from helpers.files import write_whole


def test_text_is_utf8_with_its_own_line_ends_and_bytes_are_themselves(tmp_path):
    write_whole(tmp_path / "text", "é\r\nb\n")
    assert (tmp_path / "text").read_bytes() == b"\xc3\xa9\r\nb\n"
    write_whole(tmp_path / "text", b"\xff")
    assert (tmp_path / "text").read_bytes() == b"\xff"


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_the_old_file_stays_where_writing_is_cut_off(tmp_path, monkeypatch, moment):
    path = tmp_path / "file"
    write_whole(path, "old")

    def cut_off(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, moment, cut_off)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_a_new_file_is_not_there_before_it_is_whole(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "file", "half \ud800 a pair")
    assert list(tmp_path.iterdir()) == []
