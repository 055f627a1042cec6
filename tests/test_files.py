"""A file is whole or not there, wherever its writing is cut off; a folder's own files are found."""

import os

import pytest

from helpers.files import name_in, own_files, write_whole


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


LEFT = (
    *(".a.txt", "._a.txt", "a.txt~", "~$a.txt", "#a.txt#", ".DS_Store"),
    *(".ipynb_checkpoints/a-checkpoint.txt", "__MACOSX/b/._a.txt", "__MACOSX/a.txt"),
)


def test_what_programs_leave_in_a_folder_is_not_its_own(tmp_path):
    names = ["A.txt", "a.txt", "b.md", "b/.hidden/c.txt", "b/C.TXT", "b/c.txt", "cafe\u0301.txt"]
    for name in (*names, *LEFT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(*arguments, **options):
        return [name_in(tmp_path, p) for p in own_files(tmp_path, *arguments, **options)]

    assert found() == ["A.txt", "a.txt", "b.md", "b/C.TXT", "b/c.txt", "caf\u00e9.txt"]
    assert found("*.txt") == ["A.txt", "a.txt", "b/c.txt", "caf\u00e9.txt"]
    assert found("b/*.txt") == ["b/c.txt"]
    assert found("*.txt", deep=False) == ["A.txt", "a.txt", "caf\u00e9.txt"]
