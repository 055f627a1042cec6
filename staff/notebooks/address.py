"""The course's public address: one place holds it, every badge and set-up cell repeats it.

    python -m staff.notebooks.address                    print the address
    python -m staff.notebooks.address OWNER/NAME REF     set it everywhere

``pyproject.toml`` is the one place; the text of the set-up cell stands in the template of a
notebook. Notebooks are changed in their badge and in their set-up cell, which is folded away, and
nowhere else; outputs stay as they are.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.files import own_files, write_whole
from staff.notebooks.folding import fold_cell

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEMPLATE = Path(__file__).parent / "template"
FIRST_LINE = "# @title Set-up, the same in every notebook: find the course, or fetch it on Colab"
COLAB = "https://colab.research.google.com"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
_REF = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9_-])?")
_BADGE = re.compile(
    r"\[!\[[^\]]*\]\(" + re.escape(COLAB) + r"/assets/colab-badge\.svg\)\]"
    r"\(" + re.escape(COLAB) + r"/github/\S+?/blob/\S+?/notebooks/([\w./-]+\.ipynb)\)"
)


@dataclass(frozen=True)
class Address:
    """Where the course is published: a repository on GitHub, and a branch or tag of it."""

    repository: str
    release: str

    def badge(self, notebook: str) -> str:
        """The Colab badge, as Markdown, of a notebook given relative to ``notebooks/``."""
        name = self.repository.removeprefix("https://github.com/")
        return (
            f"[![Open In Colab]({COLAB}/assets/colab-badge.svg)]"
            f"({COLAB}/github/{name}/blob/{self.release}/notebooks/{notebook})"
        )

    def bootstrap(self) -> str:
        """The set-up cell of every notebook."""
        return bootstrap_source(self.repository, self.release)


def bootstrap_source(repository_url: str, release: str) -> str:
    """The text of the set-up cell, for a repository to clone from and a branch or tag of it."""
    template = nbformat.read(TEMPLATE / "notebook.ipynb", as_version=4)
    (text,) = (cell.source for cell in template.cells if cell.id == "set-up")
    for name, value in (("REPOSITORY", repository_url), ("RELEASE", release)):
        text = re.sub(rf'(?m)^{name} = ".*"$', f'{name} = "{value}"', text)
    return text


def read_address(root: Path) -> Address:
    """The address in ``pyproject.toml``."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return Address(settings["project"]["urls"]["Repository"], settings["tool"]["course"]["release"])


def make_address(name: str, release: str) -> Address:
    """An address from ``owner/name`` on GitHub and a branch or tag.

    Raises:
        ValueError: one of them cannot be what it should be.
    """
    name = name.removeprefix("https://github.com/").removesuffix(".git")
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' is not a repository on GitHub: give owner/name.")
    if not _REF.fullmatch(release) or ".." in release or "//" in release:
        raise ValueError(f"'{release}' is not the name of a branch or tag: give one such as v1.")
    return Address(f"https://github.com/{name}", release)


def write_address(root: Path, address: Address) -> list[Path]:
    """Write the address into pyproject.toml, README.md and every notebook; return what changed.

    Nothing is written if one of the files is not as expected.

    Raises:
        ValueError: a notebook has no badge or no set-up cell where they belong.
    """
    old = read_address(root).repository
    settings, readme, notebooks = root / "pyproject.toml", root / "README.md", root / "notebooks"
    text = settings.read_text(encoding="utf-8").replace(f'"{old}"', f'"{address.repository}"')
    changes = {settings: re.sub(r'(?m)^release = ".*"$', f'release = "{address.release}"', text)}
    if readme.is_file():
        text = _BADGE.sub(lambda match: address.badge(match[1]), readme.read_text(encoding="utf-8"))
        changes[readme] = text.replace(old, address.repository)
    for path in own_files(notebooks, "*.ipynb"):
        # The badge of a lab's source leads to the released lab.
        name = re.sub(r"(?<=^labs/)source/[^/]+/", "", path.relative_to(notebooks).as_posix())
        changes[path] = _in_notebook(path, name, address)
    changes = {path: text for path, text in changes.items() if text != path.read_text("utf-8")}
    for path, text in changes.items():
        write_whole(path, text)
    return list(changes)


def _in_notebook(path: Path, name: str, address: Address) -> str:
    notebook = nbformat.read(path, as_version=4)
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    if first is None or not _BADGE.search(first.source):
        raise ValueError(f"{path.name}: its first Markdown cell has no Colab badge.")
    setup = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if setup is None or not setup.source.startswith(FIRST_LINE):
        raise ValueError(f"{path.name}: its first code cell is not the set-up cell.")
    first.source = _BADGE.sub(lambda match: address.badge(name), first.source)
    setup.source = address.bootstrap()
    fold_cell(setup, setup=True)
    return nbformat.writes(notebook) + "\n"


def main(arguments: list[str] | None = None) -> int:
    print_all()
    parser = argparse.ArgumentParser(
        prog="python -m staff.notebooks.address",
        description="Print the course's public address, or set it in every badge and set-up cell.",
    )
    parser.add_argument("repository", nargs="?", metavar="OWNER/NAME", help="on GitHub")
    parser.add_argument("release", nargs="?", metavar="REF", help="branch or tag, such as v1")
    options = parser.parse_args(arguments)
    root = find_root()
    if options.repository is None:
        print(read_address(root))
        return 0
    if options.release is None:
        parser.error("give the branch or tag as well, such as: owner/name v1")
    try:
        changed = write_address(root, make_address(options.repository, options.release))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for path in changed:
        print(f"wrote {path.relative_to(root).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
