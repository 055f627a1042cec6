"""The texts of the course: one function per corpus, each split once and for all.

Every function returns a ``Corpus`` whose train, validation and test parts are the same on every
machine that holds the same text: documents are ordered by a hash of their names, never by a random
generator.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from helpers.data import lantern_reader as reader
from helpers.data.bpe import END_OF_TEXT
from helpers.data.reading import DATA_FOLDER, RESTORE, CorpusError, read_bytes, read_text
from helpers.files import name_in, own_files

TINY_SHAKESPEARE_URL = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
)
TINY_SHAKESPEARE_SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
CACHE_VARIABLE = "LANGUAGE_MODEL_COURSE_CACHE"

_TWO_BLANK_LINES = "\n\n\n"
_FEWEST_DOCUMENTS = 20  # with fewer, a tenth of the documents says little about the rest


@dataclass(frozen=True)
class Document:
    """One text of a corpus; ``book`` and ``mood`` are empty where the corpus knows none."""

    title: str
    text: str = field(repr=False)
    book: str = ""
    mood: str = ""


@dataclass(frozen=True)
class Corpus:
    """Documents in their own order, each assigned to one part.

    Attributes:
        name: the function, file or folder it came from.
        parts: for each document "train", "validation" or "test".
    """

    name: str
    documents: tuple[Document, ...] = field(repr=False)
    parts: tuple[str, ...] = field(repr=False)
    separator: str = _TWO_BLANK_LINES

    @property
    def text(self) -> str:
        """All documents, joined by the separator."""
        return self.separator.join(document.text for document in self.documents)

    @property
    def train(self) -> str:
        """The text to fit models on."""
        return self._text_of("train")

    @property
    def validation(self) -> str:
        """The text to choose between models with."""
        return self._text_of("validation")

    @property
    def test(self) -> str:
        """The text to measure a chosen model on."""
        return self._text_of("test")

    @property
    def train_documents(self) -> tuple[Document, ...]:
        """The documents of ``train``."""
        return self._documents_of("train")

    @property
    def validation_documents(self) -> tuple[Document, ...]:
        """The documents of ``validation``."""
        return self._documents_of("validation")

    @property
    def test_documents(self) -> tuple[Document, ...]:
        """The documents of ``test``."""
        return self._documents_of("test")

    def _documents_of(self, part: str) -> tuple[Document, ...]:
        pairs = zip(self.documents, self.parts, strict=True)
        return tuple(document for document, its_part in pairs if its_part == part)

    def _text_of(self, part: str) -> str:
        return self.separator.join(document.text for document in self._documents_of(part))


def lantern_bay() -> Corpus:
    """480 short tales written for this course, in twelve books and four moods; the default text.

    A document is a tale with its title line. The split is by tale: of each book and mood, one tale
    goes to test and one to validation (384, 48 and 48 tales). See ``data/README.md``.

    Raises:
        CorpusError: the data folder is missing or does not fit its list of moods.
    """
    folder = DATA_FOLDER / "lantern_bay"
    if not folder.is_dir():
        raise CorpusError(f"The corpus folder {folder} is missing: {RESTORE}.")
    rows = read_text(folder / "moods.tsv").splitlines()[1:]
    moods = {(book, title): mood for book, title, mood in (row.split("\t") for row in rows)}
    documents = []
    for path in own_files(folder, "*.txt", deep=False):
        for tale in read_text(path).removesuffix("\n").split(_TWO_BLANK_LINES):
            title = tale.partition("\n")[0]
            mood = moods.pop((path.stem[:2], title), None)
            if mood is None:
                raise CorpusError(f"{path} holds {title!r}, which moods.tsv does not: {RESTORE}.")
            documents.append(Document(title, tale, book=path.stem, mood=mood))
    if moods:
        raise CorpusError(f"{folder} lacks {len(moods)} tales that moods.tsv lists: {RESTORE}.")

    cells = defaultdict(list)
    for document in _in_hash_order(documents):
        cells[document.book, document.mood].append(document)
    chosen = {cell[0]: "test" for cell in cells.values()}
    chosen |= {cell[1]: "validation" for cell in cells.values()}
    parts = tuple(chosen.get(document, "train") for document in documents)
    return Corpus("lantern_bay", tuple(documents), parts)


def lantern_reader() -> Corpus:
    """4,800 very short, very simple stories about Lantern Bay, in 24 books and four moods.

    A document is a story in the form of the tales of ``lantern_bay``: its title, a blank line, and
    paragraphs separated by blank lines; the title is not in capitals. ``book`` is "01" to "24".
    The split is by story: of each book 17 go to test and 10 to validation (4152, 240 and 408
    stories). The documents are those of ``helpers.data.lantern_reader.read_stories``, in the same
    order; there are also questions, statements and summaries. See ``data/README.md``.

    Raises:
        CorpusError: the data folder is missing, or a record in it is not whole.
    """
    stories = reader.read_stories()
    documents = tuple(
        Document(
            story.title,
            story.document,
            book=story.book,
            mood=story.mood,
        )
        for story in stories
    )
    parts = reader.part_of_each([story.id for story in stories])
    return Corpus("lantern_reader", documents, tuple(parts.values()))


def lantern_stories() -> Corpus:
    """The stories of ``lantern_reader`` and the tales of ``lantern_bay``: what the GPT reads.

    Each document keeps its part (4,536 are trained on), and ``END_OF_TEXT`` stands between two of
    them: one token, if the tokenizer has it as a special token and encodes with ``special=True``.
    ``book`` has the corpus's name before it, such as "lantern_reader/05".

    Raises:
        CorpusError: a data folder is missing or damaged.
    """
    corpora = lantern_reader(), lantern_bay()
    documents = tuple(
        replace(document, book=f"{corpus.name}/{document.book}")
        for corpus in corpora
        for document in corpus.documents
    )
    parts = tuple(part for corpus in corpora for part in corpus.parts)
    return Corpus("lantern_stories", documents, parts, separator=END_OF_TEXT)


def without_marks(text: str) -> str:
    """The text with two blank lines in place of each ``END_OF_TEXT``; bits per byte count these."""
    return text.replace(END_OF_TEXT, _TWO_BLANK_LINES)


def python_docs() -> Corpus:
    """The chapters of Python's language reference that ``help()`` shows: about half a megabyte.

    Every Python carries them (``pydoc_data.topics``); they differ between versions.
    """
    from pydoc_data.topics import topics  # half a megabyte that only this corpus needs

    documents = [Document(title, text) for title, text in sorted(topics.items())]
    return _split("python_docs", documents)


def tiny_shakespeare(path: str | os.PathLike[str] | None = None) -> Corpus:
    """Passages of Shakespeare's plays, 1,115,394 characters, the field's usual small text.

    Fetched once from its public home, checked, and kept in the user's cache folder, or in the
    folder that the environment variable LANGUAGE_MODEL_COURSE_CACHE names; or read from ``path``.
    The split is contiguous: the first 90 % of the characters, then 5 % and 5 %.

    Raises:
        CorpusError: it cannot be fetched, or the file is not the known one.

    Source: A. Karpathy, char-rnn (2015), data/tinyshakespeare.
    """
    path = _fetch_tiny_shakespeare() if path is None else Path(path).expanduser()
    content = read_bytes(path)
    found = hashlib.sha256(content).hexdigest()
    if found != TINY_SHAKESPEARE_SHA256:
        raise CorpusError(
            f"{path} is not tiny Shakespeare (SHA-256 {found}, expected "
            f"{TINY_SHAKESPEARE_SHA256}): download it again from {TINY_SHAKESPEARE_URL}, or read a "
            "text of your own with from_path()."
        )
    return _split_contiguously("tiny_shakespeare", content.decode("utf-8"))


def from_path(path: str | os.PathLike[str], pattern: str = "*.txt") -> Corpus:
    """A UTF-8 text of your own: a file, or all files of a folder that fit ``pattern``.

    A folder is searched with its sub-folders; a file is one document, its title the path; empty
    files are left out, and so are hidden ones and what programs leave (``helpers.files.is_own``).
    Twenty documents or more are split by document, 80 / 10 / 10 %. Otherwise the text is cut,
    90 / 5 / 5 % of its characters. Line ends become "\\n", a byte-order mark goes.

    Raises:
        CorpusError: nothing there, no text in it, binary, or not UTF-8.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise CorpusError(f"There is no file or folder {path}: check the path.")
    name = path.resolve().stem
    if not path.is_dir():
        return _split(name, [Document(path.name, read_text(path))])
    files = own_files(path, pattern)
    if not files:
        raise CorpusError(
            f"The folder {path} holds no file that fits {pattern!r}: put your texts there, or pass "
            "the pattern of their names."
        )
    documents = [
        Document(name_in(path, file), text)
        for file in files
        if (text := read_text(file, may_be_blank=True)).strip()
    ]
    if not documents:
        raise CorpusError(
            f"The files in {path} that fit {pattern!r} are all empty: give one that holds text."
        )
    return _split(name, documents)


def _fetch_tiny_shakespeare() -> Path:
    import pooch  # only this corpus needs it

    folder = Path(os.environ.get(CACHE_VARIABLE) or pooch.os_cache("language-model-course"))
    way_on = (
        "use another corpus, for example lantern_bay(), or pass tiny_shakespeare(path) a copy "
        "of the file"
    )
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)  # its progress notes are red boxes in a notebook
    try:
        # pooch writes beside, checks, then renames; a cached file that fails is fetched again.
        file = pooch.retrieve(
            TINY_SHAKESPEARE_URL,
            known_hash=f"sha256:{TINY_SHAKESPEARE_SHA256}",
            fname="tiny_shakespeare.txt",
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=20),
        )
    except OSError as error:  # requests' own errors among them
        raise CorpusError(
            f"Tiny Shakespeare could not be fetched from {TINY_SHAKESPEARE_URL} into {folder} "
            f"({type(error).__name__}): check the network, {way_on}."
        ) from error
    except ValueError as error:
        raise CorpusError(
            f"What came from {TINY_SHAKESPEARE_URL} was altered or cut short (its SHA-256 is not "
            f"the known one) and was thrown away: try again, {way_on}."
        ) from error
    finally:
        logger.setLevel(level)
    return Path(file)


def _in_hash_order(documents: Sequence[Document]) -> list[Document]:
    """The same shuffle on every machine, whatever its random generators do."""

    def key(document: Document) -> bytes:
        name = f"{document.book}/{document.title}"
        # Linux takes any bytes for the name of a file.
        return hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()

    return sorted(documents, key=key)


def _split(name: str, documents: Sequence[Document]) -> Corpus:
    """80 / 10 / 10 % of the documents, or 90 / 5 / 5 % of the characters where they are few."""
    if len(documents) < _FEWEST_DOCUMENTS:
        return _split_contiguously(name, _TWO_BLANK_LINES.join(d.text for d in documents))
    tenth = len(documents) // 10
    order = [document.title for document in _in_hash_order(documents)]
    chosen = dict.fromkeys(order[:tenth], "test")
    chosen |= dict.fromkeys(order[tenth : 2 * tenth], "validation")
    parts = tuple(chosen.get(document.title, "train") for document in documents)
    return Corpus(name, tuple(documents), parts)


def _split_contiguously(name: str, text: str) -> Corpus:
    if len(text) < 20:
        raise CorpusError(
            f"The text of {name!r} has {len(text)} characters, too few to split into train, "
            "validation and test: give at least 20."
        )
    cuts = (0, len(text) * 90 // 100, len(text) * 95 // 100, len(text))
    parts = ("train", "validation", "test")
    documents = tuple(
        Document(f"{name}: {part}", text[cuts[i] : cuts[i + 1]]) for i, part in enumerate(parts)
    )
    return Corpus(name, documents, parts, separator="")
