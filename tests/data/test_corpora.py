"""The corpora: exact texts, a fixed split without leaks, and clear words for bad input."""

from __future__ import annotations

import functools
import hashlib
import http.server
import re
import tempfile
import threading
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.data import corpora
from helpers.data.bpe import END_OF_TEXT
from helpers.data.corpora import (
    DATA_FOLDER,
    Corpus,
    CorpusError,
    from_path,
    lantern_bay,
    python_docs,
    tiny_shakespeare,
)

LANTERN_BAY = DATA_FOLDER / "lantern_bay"


@pytest.fixture(scope="module")
def tales() -> Corpus:
    return lantern_bay()


def assert_is_a_partition(corpus: Corpus) -> None:
    parts = (corpus.train_documents, corpus.validation_documents, corpus.test_documents)
    assert all(parts)
    assert sum(map(len, parts)) == len(corpus.documents)
    assert Counter(d for part in parts for d in part) == Counter(corpus.documents)
    for text, documents in zip((corpus.train, corpus.validation, corpus.test), parts, strict=True):
        assert text == corpus.separator.join(document.text for document in documents)


# Lantern Bay


def test_tales_joined_again_are_the_files(tales):
    books = defaultdict(list)
    for document in tales.documents:
        books[document.book].append(document.text)
    files = sorted(LANTERN_BAY.glob("*.txt"))
    assert [path.stem for path in files] == list(books)
    for path in files:
        assert path.read_text(encoding="utf-8") == "\n\n\n".join(books[path.stem]) + "\n"
    assert tales.text == "\n\n\n".join(document.text for document in tales.documents)


def test_moods_are_those_of_the_table(tales):
    rows = (LANTERN_BAY / "moods.tsv").read_text(encoding="utf-8").split("\n")[1:-1]
    assert rows == [f"{d.book[:2]}\t{d.title}\t{d.mood}" for d in tales.documents]


def test_split_takes_one_tale_of_each_book_and_mood(tales):
    assert_is_a_partition(tales)
    cells = Counter((d.book, d.mood) for d in tales.documents)
    assert len(cells) == 48
    for part in (tales.validation_documents, tales.test_documents):
        assert Counter((d.book, d.mood) for d in part) == dict.fromkeys(cells, 1)
    assert len(tales.train_documents) == 384


def test_split_stays_the_same_for_ever(tales):
    """Models, labs and checkpoints rest on it: this hash changes only with the corpus."""
    listed = "\n".join(f"{p} {d.title}" for p, d in zip(tales.parts, tales.documents, strict=True))
    assert hashlib.sha256(listed.encode()).hexdigest() == SPLIT_SHA256


SPLIT_SHA256 = "306bbb3e90105c219ed89c963ae731adff0afd3d86670589d358e65fb41811d2"


def runs_of_eight_words(text: str) -> list[tuple[str, ...]]:
    runs = []
    for piece in text.split("In Lantern Bay they say"):
        words = re.findall(r"[a-z']+", piece.lower())
        runs += [tuple(words[i : i + 8]) for i in range(len(words) - 7)]
    return runs


def shared_shares(corpus: Corpus) -> dict[str, float]:
    """For each held-out document the share of its runs that occur in another part."""
    parts_of_run = defaultdict(set)
    for part, document in zip(corpus.parts, corpus.documents, strict=True):
        for run in runs_of_eight_words(document.text):
            parts_of_run[run].add(part)
    return {
        document.title: sum(len(parts_of_run[run]) > 1 for run in runs) / len(runs)
        for document in corpus.validation_documents + corpus.test_documents
        if (runs := runs_of_eight_words(document.text))
    }


def test_no_near_duplicate_across_the_split(tales):
    shares = shared_shares(tales)
    assert len(shares) == 96
    worst = max(shares, key=shares.get)
    assert shares[worst] < 0.01, f"{worst} shares {shares[worst]:.1%} of its runs of eight words"


def test_missing_or_altered_data_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "DATA_FOLDER", tmp_path)
    with pytest.raises(CorpusError, match="is missing: restore it with"):
        lantern_bay()
    folder = tmp_path / "lantern_bay"
    folder.mkdir()
    moods = "book\ttitle\tmood\n01\tA\tsad\n"
    (folder / "moods.tsv").write_text(moods, encoding="utf-8")
    with pytest.raises(CorpusError, match="lacks 1 tales"):
        lantern_bay()
    (folder / "01_book.txt").write_text("B\n\nText.\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"'B', which moods\.tsv does not"):
        lantern_bay()


# The data card


@functools.cache
def card() -> str:
    return (DATA_FOLDER / "README.md").read_text(encoding="utf-8")


def card_rows(pattern: str) -> dict[str, list[str]]:
    section = card().split("\n## ")[1]
    assert section.startswith("`lantern_bay/`")
    rows = re.findall(rf"^\| ({pattern}) \| (.+) \|$", section, flags=re.MULTILINE)
    return {name.strip("`"): rest.replace(",", "").split(" | ") for name, rest in rows}


def test_card_gives_the_sizes_of_the_parts(tales):
    rows = card_rows("train|validation|test|all")
    for part in ("train", "validation", "test", "all"):
        text = tales.text if part == "all" else getattr(tales, part)
        number = len(tales.documents) if part == "all" else tales.parts.count(part)
        words = re.findall(r"[a-z']+", text.lower())
        expected = [number, len(text), len(words), len(set(words)), len(set(text))]
        assert list(map(int, rows[part])) == expected


def test_card_gives_the_hash_and_size_of_each_file():
    rows = card_rows("`[a-z0-9_.]+`")
    assert set(rows) == {path.name for path in LANTERN_BAY.iterdir()} - {"LICENSE"}
    for name, (size, digest) in rows.items():
        content = (LANTERN_BAY / name).read_bytes()
        assert int(size) == len(content)
        assert digest.strip("`") == hashlib.sha256(content).hexdigest()


def test_card_describes_what_the_files_hold(tales):
    moods = Counter(document.mood for document in tales.documents)
    for mood, number in moods.items():
        assert f"{number} {mood}" in " ".join(card().split())
    assert tales.text.isascii()
    assert not re.search(r"[0-9]", tales.text)
    assert corpora.TINY_SHAKESPEARE_URL in card()
    assert corpora.TINY_SHAKESPEARE_SHA256 in card()
    assert corpora.CACHE_VARIABLE in card()
    licence = (LANTERN_BAY / "LICENSE").read_text(encoding="utf-8")
    assert "https://creativecommons.org/publicdomain/zero/1.0/legalcode" in licence


# Python's own text


def test_python_docs_are_the_topics_of_help():
    from pydoc_data.topics import topics

    corpus = python_docs()
    assert_is_a_partition(corpus)
    assert {d.title: d.text for d in corpus.documents} == topics
    assert len(corpus.test_documents) == len(corpus.validation_documents) == len(topics) // 10


# A text of one's own


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_file_is_cut_contiguously(tmp_path):
    text = "".join(chr(0x4E00 + i) for i in range(1000))
    corpus = from_path(write(tmp_path / "notes.txt", text))
    assert corpus.name == "notes"
    assert (corpus.train, corpus.validation, corpus.test) == (text[:900], text[900:950], text[950:])
    assert corpus.text == text
    assert_is_a_partition(corpus)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=20))
def test_any_text_is_read_exactly_and_cut_into_three(text):
    kept = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    assume(len(kept) >= 20 and kept.strip())
    with tempfile.TemporaryDirectory() as folder:
        corpus = from_path(write(Path(folder) / "text.txt", text))
    assert corpus.train + corpus.validation + corpus.test == corpus.text == kept
    assert all((corpus.train, corpus.validation, corpus.test))


def test_a_folder_of_many_files_is_split_by_file(tmp_path):
    for i in range(25):
        write(tmp_path / f"{i % 3}" / f"{i}.txt", f"text {i}")
    write(tmp_path / "empty.txt", " \n")
    write(tmp_path / "picture.png", b"\0")
    corpus = from_path(tmp_path)
    assert_is_a_partition(corpus)
    assert {d.title: d.text for d in corpus.documents} == {
        f"{i % 3}/{i}.txt": f"text {i}" for i in range(25)
    }
    order = sorted(
        (document.title for document in corpus.documents),
        key=lambda title: hashlib.sha256(f"/{title}".encode()).hexdigest(),
    )
    assert {d.title for d in corpus.test_documents} == set(order[:2])
    assert {d.title for d in corpus.validation_documents} == set(order[2:4])


def test_a_folder_of_few_files_is_cut_contiguously(tmp_path):
    write(tmp_path / "a.md", "a" * 60)
    write(tmp_path / "b.md", "b" * 37)
    corpus = from_path(tmp_path, pattern="*.md")
    assert corpus.text == "a" * 60 + "\n\n\n" + "b" * 37
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (90, 5, 5)


def test_copies_that_programs_leave_in_a_folder_are_no_documents(tmp_path):
    for i in range(25):
        write(tmp_path / f"{i}.txt", f"text {i}")
    before = from_path(tmp_path)
    for i in range(25):
        write(tmp_path / ".ipynb_checkpoints" / f"{i}-checkpoint.txt", f"text {i}")
        write(tmp_path / "__MACOSX" / f"._{i}.txt", b"\0")
    assert from_path(tmp_path) == before


def test_the_parts_of_a_folder_are_the_same_on_every_system(tmp_path, monkeypatch):
    """Whether names come composed, in which order, and with which ends of lines."""
    for form, end, mark in (("NFC", "\n", ""), ("NFD", "\r\n", "\ufeff")):
        for i, letter in enumerate("aBcDeéÉñöü" * 3):
            name = unicodedata.normalize(form, f"{letter}{i}.txt")
            write(tmp_path / form / "texts" / name, f"{mark}text {i}{end}")
        write(tmp_path / form / "texts" / "blank.txt", f"{mark}{end}")
    linux = from_path(tmp_path / "NFC" / "texts")

    def as_windows(path, other):
        return str(path).lower() < str(other).lower()

    monkeypatch.setattr(type(tmp_path), "__lt__", as_windows)
    assert from_path(tmp_path / "NFD" / "texts") == linux
    assert [document.title for document in linux.documents][:2] == ["B1.txt", "B11.txt"]
    assert len(linux.test_documents) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: give a file that holds text"),
        (b" \n\n", "is empty: give a file that holds text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\r", r"binary \(byte 8 is zero\): save it as UTF-8"),
        ("wide".encode("utf-16"), r"binary \(byte 3 is zero\)"),
        ("caf\u00e9 ".encode("latin-1") * 9, r"is not UTF-8 \(byte 3 is 0xe9\): save it as UTF-8"),
        (b"short", "has 5 characters, too few to split"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, content, message):
    path = write(tmp_path / "bad.txt", content)
    with pytest.raises(CorpusError, match=message) as error:
        from_path(path)
    assert "\n" not in str(error.value)
    assert "bad" in str(error.value)


def test_bad_paths_are_refused(tmp_path):
    with pytest.raises(CorpusError, match="There is no file or folder"):
        from_path(tmp_path / "nothing.txt")
    with pytest.raises(CorpusError, match="holds no file that fits"):
        from_path(tmp_path)
    write(tmp_path / "a.txt", "")
    with pytest.raises(CorpusError, match=r"The files in .* that fit '\*\.txt' are all empty"):
        from_path(tmp_path)
    write(tmp_path / "b.txt", b"\xff")
    with pytest.raises(CorpusError, match=r"b\.txt is not UTF-8 \(byte 0 is 0xff\)"):
        from_path(tmp_path)
    assert issubclass(CorpusError, ValueError)


# Tiny Shakespeare, with a small stand-in text and a server of our own

PLAY = b"First Citizen:\nBefore we proceed any further, hear me speak.\n" * 50


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        bodies = {"/good": PLAY, "/altered": PLAY.replace(b"speak", b"sqeak"), "/short": PLAY[:999]}
        body = bodies.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(PLAY)))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests = 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv(corpora.CACHE_VARIABLE, str(folder))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(corpora, "TINY_SHAKESPEARE_SHA256", hashlib.sha256(PLAY).hexdigest())
    return folder


def use(monkeypatch, server, path: str) -> None:
    url = f"http://127.0.0.1:{server.server_port}{path}"
    monkeypatch.setattr(corpora, "TINY_SHAKESPEARE_URL", url)


def test_good_download_is_cached_and_quiet(server, cache, monkeypatch, capfd):
    use(monkeypatch, server, "/good")
    corpus = tiny_shakespeare()
    assert corpus.text.encode() == PLAY
    assert len(corpus.train) == len(PLAY) * 9 // 10
    assert [file.read_bytes() for file in cache.iterdir()] == [PLAY]
    assert tiny_shakespeare() == corpus
    assert server.requests == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["/altered", "/short", "/not-there"])
def test_bad_download_leaves_nothing_behind(server, cache, monkeypatch, path):
    use(monkeypatch, server, path)
    with pytest.raises(CorpusError, match=r"lantern_bay\(\), or pass tiny_shakespeare\(path\)"):
        tiny_shakespeare()
    assert server.requests == 1
    assert list(cache.iterdir()) == []


def test_damaged_cache_is_fetched_again(server, cache, monkeypatch):
    use(monkeypatch, server, "/good")
    file = write(cache / "tiny_shakespeare.txt", PLAY[:-1])
    assert tiny_shakespeare().text.encode() == PLAY
    assert file.read_bytes() == PLAY


def test_without_a_server_one_sentence_and_a_way_on(server, cache, monkeypatch):
    use(monkeypatch, server, "/good")
    server.shutdown()
    server.server_close()
    with pytest.raises(CorpusError, match=r"could not be fetched .* check the network") as error:
        tiny_shakespeare()
    message = str(error.value)
    assert "lantern_bay()" in message
    assert "tiny_shakespeare(path)" in message
    assert "\n" not in message
    assert list(cache.iterdir()) == []


def test_a_copy_of_the_file_is_read_and_checked(cache, tmp_path):
    assert tiny_shakespeare(write(tmp_path / "copy.txt", PLAY)).text.encode() == PLAY
    altered = write(tmp_path / "altered.txt", PLAY[1:])
    with pytest.raises(CorpusError, match=r"altered\.txt is not tiny Shakespeare \(SHA-256"):
        tiny_shakespeare(altered)
    with pytest.raises(CorpusError, match="cannot be read"):
        tiny_shakespeare(tmp_path / "missing.txt")
    assert not cache.exists()


def test_the_gpts_text_is_the_reader_and_the_tales_with_a_mark_between_documents():
    both, reader, tales = corpora.lantern_stories(), corpora.lantern_reader(), lantern_bay()
    assert len(both.documents) == len(reader.documents) + len(tales.documents)
    assert both.parts == reader.parts + tales.parts
    assert both.train.count(END_OF_TEXT) == len(both.train_documents) - 1
    texts = both.validation.split(END_OF_TEXT)
    wanted = [*reader.validation_documents, *tales.validation_documents]
    assert texts == [document.text for document in wanted]
    assert {document.book.partition("/")[0] for document in both.documents} == {
        "lantern_reader",
        "lantern_bay",
    }
    assert corpora.without_marks(f"a{END_OF_TEXT}b") == "a\n\n\nb"


def test_the_search_for_near_duplicates_finds_one(tales):
    copied = tales.train_documents[0]
    halves = copied.text[: len(copied.text) // 2], tales.test_documents[0].text
    leaky = corpora.Document("LEAKY", "\n\n".join(halves))
    corpus = Corpus("leaky", (*tales.documents, leaky), (*tales.parts, "test"))
    assert shared_shares(corpus)["LEAKY"] > 0.2


def test_interrupted_download_leaves_nothing_behind(server, cache, monkeypatch):
    import pooch

    def interrupt(self, url, output_file, *args, **kwargs):
        Path(str(output_file)).write_bytes(PLAY[:100])
        raise KeyboardInterrupt

    use(monkeypatch, server, "/good")
    with monkeypatch.context() as patch:
        patch.setattr(pooch.HTTPDownloader, "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            tiny_shakespeare()
    assert list(cache.iterdir()) == []
    assert tiny_shakespeare().text.encode() == PLAY


def test_a_cache_that_cannot_be_written_is_named(server, cache, monkeypatch):
    use(monkeypatch, server, "/good")
    write(cache, "a file where the folder should be")
    with pytest.raises(CorpusError, match=re.escape(str(cache))):
        tiny_shakespeare()
