"""The course's public address: one place holds it, every badge and set-up cell repeats it.

    python -m staff.notebooks.address                    print the address
    python -m staff.notebooks.address OWNER/NAME REF     set it everywhere
    ... --clone-url URL                                 let set-up cells clone from elsewhere

``pyproject.toml`` is the one place. Notebooks are changed in their badge and in their set-up cell,
which is folded away, and nowhere else; outputs stay as they are.
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

FIRST_LINE = "# @title Set-up, the same in every notebook: find the course, or fetch it on Colab"
COLAB = "https://colab.research.google.com"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
# How a set-up cell begins; older ones have no "@title" there.
_SETUP = re.compile(r"# (?:@title )?Set-up, the same in every notebook\b")
_REF = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9_-])?")
_BADGE = re.compile(
    r"\[!\[[^\]]*\]\(" + re.escape(COLAB) + r"/assets/colab-badge\.svg\)\]"
    r"\(" + re.escape(COLAB) + r"/github/\S+?/blob/\S+?/notebooks/([\w./-]+\.ipynb)\)"
)

_BOOTSTRAP = """\
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REPOSITORY = "{repository}"
RELEASE = "{release}"
COURSE, ZIP, DRIVE = "helpers/course/environment.py", "language-model-course*.zip", "drive/MyDrive/"
here, clone = Path.cwd(), Path.cwd() / Path(REPOSITORY).stem
root = next((p for p in [here, *here.parents, clone] if (p / COURSE).is_file()), None)
if root is None and "google.colab" not in sys.modules:
    raise RuntimeError(f"Open this notebook from a clone of the course: {REPOSITORY}")
if root is None:  # a zip or folder beside the notebook, then in the Drive; of a kind, the newest
    folders = ["*/", DRIVE, DRIVE + "*/", DRIVE + "*/*/"]
    kinds = [ZIP, *(folder + COURSE for folder in folders), DRIVE + ZIP]
    newest = (max(here.glob(kind), key=os.path.getmtime, default=None) for kind in kinds)
    if found := next(filter(None, newest), None):  # a zip is unpacked once, a newer one elsewhere
        unpacked = here / f"{found.stem}-{found.stat().st_mtime:.0f}"
        root = unpacked if found.suffix == ".zip" else found.parents[2]
if root and not root.exists():
    try:
        with tempfile.TemporaryDirectory(dir=here) as part, zipfile.ZipFile(found) as file:
            file.extractall(part)
            next(Path(part).glob("*/" + COURSE)).parents[2].rename(root)
    except Exception as error:
        raise RuntimeError(f"{found.name} is broken: upload it again and run this cell") from error
if root is None and REPOSITORY.endswith("OWNER/REPOSITORY"):
    how = "upload language-model-course.zip (made by `make zip`) with the folder symbol at the left"
    raise RuntimeError(f"No course here: {how} or mount a Drive with it, then run this cell again.")
if root is None:
    root, git = clone, ["git", "clone", "-q", "--depth=1", "--branch", RELEASE, REPOSITORY, clone]
    fetched = subprocess.run(git, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if fetched.returncode:
        raise RuntimeError(f"Could not fetch {REPOSITORY} ({RELEASE}): {fetched.stderr}")
if "google.colab" in sys.modules:
    os.chdir(root / "notebooks")
sys.path.insert(0, str(root))"""


@dataclass(frozen=True)
class Address:
    """Where the course is published; ``clone_url`` only where set-up cells clone from elsewhere."""

    repository: str
    release: str
    clone_url: str | None = None

    @property
    def name(self) -> str:
        """``owner/name``."""
        return self.repository.removeprefix("https://github.com/")

    def badge(self, notebook: str) -> str:
        """The Colab badge, as Markdown, of a notebook given relative to ``notebooks/``."""
        return (
            f"[![Open In Colab]({COLAB}/assets/colab-badge.svg)]"
            f"({COLAB}/github/{self.name}/blob/{self.release}/notebooks/{notebook})"
        )

    def bootstrap(self) -> str:
        """The set-up cell of every notebook."""
        return bootstrap_source(self.clone_url or self.repository, self.release)


def bootstrap_source(repository_url: str, release: str) -> str:
    """The text of the set-up cell, for a repository to clone from and a branch or tag of it."""
    filled = _BOOTSTRAP.replace("{repository}", repository_url).replace("{release}", release)
    return f"{FIRST_LINE}\n{filled}"


def read_address(root: Path) -> Address:
    """The address in ``pyproject.toml``."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    course = settings["tool"]["course"]
    return Address(
        settings["project"]["urls"]["Repository"], course["release"], course.get("clone-url")
    )


def make_address(name: str, release: str, clone_url: str | None = None) -> Address:
    """An address from ``owner/name`` on GitHub and a branch or tag.

    Raises:
        ValueError: one of them cannot be what it should be.
    """
    name = name.removeprefix("https://github.com/").removesuffix(".git")
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' is not a repository on GitHub: give owner/name.")
    if not _REF.fullmatch(release) or ".." in release or "//" in release:
        raise ValueError(f"'{release}' is not the name of a branch or tag: give one such as v1.")
    if clone_url is not None and not re.fullmatch(r"[^\s\"\\{}]+", clone_url):
        raise ValueError(f"'{clone_url}' is not an address that git can clone from.")
    return Address(f"https://github.com/{name}", release, clone_url)


def write_address(root: Path, address: Address) -> list[Path]:
    """Write the address into pyproject.toml, README.md and every notebook; return what changed.

    Nothing is written if one of the files is not as expected.

    Raises:
        ValueError: a notebook has no badge or no set-up cell where they belong.
    """
    old = read_address(root)
    texts = {root / "pyproject.toml": _in_settings, root / "README.md": _in_readme}
    changes = {}
    for path, change in texts.items():
        if path.is_file():
            changes[path] = change(path.read_text(encoding="utf-8"), old, address)
    folder = root / "notebooks"
    for path in own_files(folder, "*.ipynb"):
        # The badge of a lab's source leads to the released lab.
        name = re.sub(r"(?<=^labs/)source/[^/]+/", "", path.relative_to(folder).as_posix())
        changes[path] = _in_notebook(path, name, address)
    changes = {path: text for path, text in changes.items() if text != path.read_text("utf-8")}
    for path, text in changes.items():
        write_whole(path, text)
    return list(changes)


def _in_settings(text: str, old: Address, new: Address) -> str:
    text = re.sub(r'(?m)^Repository = ".*"$', f'Repository = "{new.repository}"', text)
    text = re.sub(r'(?m)^clone-url = ".*"\n', "", text)
    clone = f'clone-url = "{new.clone_url}"\n' if new.clone_url else ""
    return re.sub(r'(?m)^release = ".*"\n', f'release = "{new.release}"\n{clone}', text)


def _in_readme(text: str, old: Address, new: Address) -> str:
    text = _BADGE.sub(lambda match: new.badge(match[1]), text)
    return text.replace(old.repository, new.repository)


def _in_notebook(path: Path, name: str, address: Address) -> str:
    notebook = nbformat.read(path, as_version=4)
    first = next((cell for cell in notebook.cells if cell.cell_type == "markdown"), None)
    if first is None or not _BADGE.search(first.source):
        raise ValueError(f"{path.name}: its first Markdown cell has no Colab badge.")
    setup = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if setup is None or not _SETUP.match(setup.source):
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
    parser.add_argument("--clone-url", metavar="URL", help="where set-up cells clone from instead")
    options = parser.parse_args(arguments)
    root = find_root()
    if options.repository is None:
        print(read_address(root))
        return 0
    if options.release is None:
        parser.error("give the branch or tag as well, such as: owner/name v1")
    try:
        address = make_address(options.repository, options.release, options.clone_url)
        changed = write_address(root, address)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    for path in changed:
        print(f"wrote {path.relative_to(root).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
