"""GPT-2's published files: on this machine, or fetched from their public home; its tokenizer.

Nothing is fetched unless it is asked for. What is fetched has a known SHA-256, that of one revision
of openai-community/gpt2 (GPT-2 small, 124 million parameters) on the Hugging Face hub.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from helpers.data.bpe import BPETokenizer, parsed_merges, signs
from helpers.data.corpora import CACHE_VARIABLE
from helpers.data.tokenizers import TokenizerError

FILES_VARIABLE = "COURSE_GPT2_FILES"
REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"
URL = f"https://huggingface.co/openai-community/gpt2/resolve/{REVISION}/"
SHA256 = {  # the large one last, so that a missing network is noticed at once
    "config.json": "0daed7749b4f02b8f76240d5444551d7b08712dab4d0adb8239c56ba823bb7b4",
    "merges.txt": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "vocab.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    "model.safetensors": "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
}


class GPT2FilesError(ValueError):
    """GPT-2's files are not to be had. One sentence says what to do."""


def find_gpt2(fetch: bool = False) -> Path | None:
    """The folder of GPT-2's files, or None where there is none and none shall be fetched.

    It is the one that COURSE_GPT2_FILES names, with the names that the files have on the hub.

    Args:
        fetch: get them where the variable is not set: 548 MB, once, into the cache folder.

    Raises:
        GPT2FilesError: the folder lacks a file, or fetching failed.
    """
    if given := os.environ.get(FILES_VARIABLE):
        folder = Path(given).expanduser()
        if lacking := [name for name in SHA256 if not (folder / name).is_file()]:
            raise GPT2FilesError(
                f"{FILES_VARIABLE} names {folder}, where {' and '.join(lacking)} cannot be found: "
                "put GPT-2's files there, or unset the variable."
            )
        return folder
    return fetch_gpt2() if fetch else None


def fetch_gpt2() -> Path:
    """Fetch what is not yet in the cache folder, check it, and return the folder.

    Raises:
        GPT2FilesError: there is no network, or what came is not what was published.
    """
    import pooch  # nobody else here needs it

    cache = os.environ.get(CACHE_VARIABLE) or pooch.os_cache("language-model-course")
    folder = Path(cache) / "gpt2"
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)  # its progress notes are red boxes in a notebook
    try:
        for name, known in SHA256.items():
            # pooch writes beside, checks, then renames; a cached file that fails comes again.
            pooch.retrieve(
                URL + name,
                known_hash=f"sha256:{known}",
                fname=name,
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=20),
            )
    except OSError as error:  # requests' own errors among them
        raise GPT2FilesError(
            f"GPT-2 could not be fetched from {URL} ({type(error).__name__}): check the network, "
            f"or put its files into a folder and its name into {FILES_VARIABLE}."
        ) from error
    except ValueError as error:
        raise GPT2FilesError(
            f"What came from {URL} was altered or cut short (its SHA-256 is not the known one) and "
            "was thrown away: try again."
        ) from error
    finally:
        logger.setLevel(level)
    return folder


def gpt2_tokenizer(merges_file: str | Path, vocab_file: str | Path) -> BPETokenizer:
    """A tokenizer in the form in which GPT-2's is published, with its ids.

    Args:
        merges_file: ``merges.txt``: a pair of tokens on each line.
        vocab_file: ``vocab.json``: the id of each token. What no merge makes is a special token.

    Raises:
        TokenizerError: a file cannot be read or has another form; the two do not agree.
    """
    try:
        lines, vocab = (Path(f).read_text("utf-8-sig") for f in (merges_file, vocab_file))
        ids = json.loads(vocab)
        first, *merges = lines.rstrip("\n").split("\n")
        merges = merges if first.startswith("#version: ") else [first, *merges]
        plain = BPETokenizer(parsed_merges(merges, merges_file))
        expected = [signs(plain.token_bytes(i)) for i in range(plain.vocab_size)]
        special = sorted(ids.keys() - set(expected), key=ids.__getitem__)
    except OSError as error:
        raise TokenizerError(f"Cannot read {error.filename}: {error.strerror}.") from None
    except (AttributeError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TokenizerError(
            f"{merges_file} and {vocab_file} do not have the form of GPT-2's files: {error}."
        ) from None
    if ids != {token: i for i, token in enumerate([*expected, *special])}:
        raise TokenizerError(
            f"{vocab_file} does not list the bytes, the merges of {merges_file} and the special "
            "tokens in this order: give both files of one tokenizer."
        )
    return BPETokenizer(plain.merges, special)
