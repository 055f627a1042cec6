"""The course as a website, from what is stored: nothing is executed, no page asks a network.

    python -m staff.site.build [--out build/site]

Notebooks with their folds, labs as students get them, the guide, the README, the data card, and an
index of terms are copied into a folder, and Sphinx makes pages of them.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import FURTHER, released_notebooks
from helpers.files import name_in
from staff.notebooks.address import FIRST_LINE, Address, read_address
from staff.notebooks.folding import ANSWER_TAG, FOLDED_TAG, TITLE
from staff.notebooks.slides import FOLDED_ANSWER

PAGES = ("README.md", "CONTRIBUTING.md", "data/README.md", "notebooks/labs/README.md")
PARTS = {
    "Counting": ("00", "01", "02", "03", "04"),
    "Recurrence": ("05", "06", "07"),
    "Attention": ("08", "09", "10", "11"),
    "GPT": ("12", "13", "14"),
    "What came after": tuple(str(number) for number in range(15, 30)),
}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(<?([^)\s>]+)>?\)")
# A formula in HTML, such as a quiz, which MathJax passes over unless it is marked.
_FORMULA = re.compile(r"\$([^$\n]+)\$")
_SET = r'<span class="math notranslate nohighlight">\\(\1\\)</span>'
_BADGE = re.compile(r"\[!\[Open In Colab\]\([^)]*\)\]")
_TERM = re.compile(r"\*\*([a-z][a-zA-Zé\- ]{2,30})\*\*")
_HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)


def for_the_site(notebook: NotebookNode) -> NotebookNode:
    """A notebook whose folds are those of the site: by tags that myst-nb knows."""
    notebook = nbformat.from_dict(notebook)
    kept = []
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.source.startswith((FIRST_LINE, "# @title Imports")):
            continue
        if cell.cell_type == "markdown":  # the badge is a picture of another site
            cell.source = _BADGE.sub(r"[Open in Colab]", cell.source)
        if FOLDED_TAG in tags:
            title = cell.source.split("\n")[0].removeprefix(TITLE)
            cell.metadata["mystnb"] = {"code_prompt_show": title, "code_prompt_hide": title}
            tags.add("hide-input" if cell.outputs else "hide-cell")
        if ANSWER_TAG in tags:
            told = "What came out"
            cell.metadata["mystnb"] = {"code_prompt_show": told, "code_prompt_hide": told}
            tags |= {"hide-output", "remove-input"}
            for data in (output.get("data", {}) for output in cell.outputs):
                if folded := FOLDED_ANSWER.search(data.get("text/markdown", "")):
                    data["text/markdown"] = folded[1].strip()  # nobody predicts on the site
        for data in (output.get("data", {}) for output in cell.get("outputs", [])):
            if "text/html" in data:
                data["text/html"] = _FORMULA.sub(_SET, data["text/html"])
        cell.metadata["tags"] = sorted(tags)
        kept.append(cell)
    notebook.cells = kept
    return notebook


def with_links(text: str, name: str, known: set[str], address: Address) -> str:
    """Markdown whose links out of the site lead to the repository.

    Args:
        text: of the page.
        name: of the page, relative to the course.
        known: the names of all pages and pictures of the site.
        address: of the repository.
    """

    def link(match: re.Match[str]) -> str:
        bang, said, target = match.groups()
        file, _, anchor = target.partition("#")
        if not file or re.match(r"[a-z]+:", target):
            return match[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(name), file))
        if there in known or there.startswith(".."):
            return match[0]
        kind = "tree" if posixpath.splitext(there)[1] == "" else "blob"
        anchor = f"#{anchor}" if anchor else ""
        return f"{bang}[{said}]({address.repository}/{kind}/{address.release}/{there}{anchor})"

    return _LINK.sub(link, text)


def terms(notebooks: dict[str, NotebookNode], wanted: list[str]) -> str:
    """An index of terms, each with the place where a notebook has it in bold first.

    Raises:
        ValueError: no notebook has one of them.
    """
    found: dict[str, tuple[str, str]] = {}
    for name, notebook in notebooks.items():
        heading = ""
        for cell in notebook.cells:
            if cell.cell_type != "markdown":
                continue
            for piece in re.split(r"(?m)^(?=#{1,3} )", cell.source):
                if match := _HEADING.match(piece):
                    heading = match[1]
                for term in _TERM.findall(re.sub(r"(?s)<details>.*?</details>", "", piece)):
                    found.setdefault(term, (name, heading))
    if lost := [term for term in wanted if term not in found]:
        raise ValueError(
            f"no notebook introduces in bold: {', '.join(lost)} (staff/site/terms.txt)"
        )
    rows = []
    for term in wanted:
        name, heading = found[term]
        number = Path(name).name[:2] + (", further" if FURTHER in name else "")
        rows.append(f"- {term}: [{number}, {heading}]({name}#{anchor_of(heading)})")
    return "# Index of terms\n\nEach with the place where it is explained.\n\n" + "\n".join(rows)


def anchor_of(heading: str) -> str:
    """JupyterLab's anchor of a heading, in which the notebooks' links are written."""
    return re.sub(r"[*`]", "", heading).replace(" ", "-")


def contents(names: list[str]) -> str:
    """What stands at the side, for the end of the first page."""

    def block(caption: str, entries: list[str]) -> str:
        listed = "\n".join(entries)
        return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"

    lessons = [n for n in names if posixpath.dirname(n) == "notebooks"]
    blocks = [
        block(part, [n for n in lessons if Path(n).name[:2] in numbers])
        for part, numbers in PARTS.items()
    ]
    further = [n for n in names if f"/{FURTHER}/" in n]
    labs = [n for n in names if "/labs/" in n]
    blocks.append(block("Labs", ["notebooks/labs/README.md", *labs]))
    blocks.append(block("Further reading", further))
    rest = ["guide/README.md", "terms.md", "data/README.md", "CONTRIBUTING.md"]
    blocks.append(block("For lecturers and authors", rest))
    return "\n\n" + "\n".join(blocks)


def collect(root: Path, folder: Path) -> None:
    """Copy what the site shows into a folder, ready for Sphinx."""
    address = read_address(root)
    names = [f"notebooks/{path.as_posix()}" for path in released_notebooks(root)]
    guide = sorted(name_in(root, path) for path in (root / "guide").glob("*.md"))
    pictures = [name_in(root, path) for path in (root / "notebooks/figures").iterdir()]
    known = {*names, *PAGES, *guide, *pictures}
    notebooks = {name: nbformat.read(root / name, as_version=4) for name in names}
    for name, notebook in notebooks.items():
        page = for_the_site(notebook)
        for cell in page.cells:
            if cell.cell_type == "markdown":
                cell.source = with_links(cell.source, name, known, address)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(page, folder / name)
    for name in (*PAGES, *guide):
        text = _BADGE.sub("[Colab]", (root / name).read_text(encoding="utf-8"))
        text = with_links(text, name, known, address)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name == "README.md":
            text += contents(names)
        if name == "guide/README.md":
            pages = "\n".join(Path(page).name for page in guide if page != name)
            text += f"\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
        (folder / name).write_text(text, encoding="utf-8")
    wanted = Path(__file__).with_name("terms.txt").read_text(encoding="utf-8").split("\n")
    lessons = {name: notebook for name, notebook in notebooks.items() if "/labs/" not in name}
    index = terms(lessons, [term for term in wanted if term])
    (folder / "terms.md").write_text(index + "\n", encoding="utf-8")
    for name in pictures:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)
    shutil.copy(Path(__file__).with_name("conf.py"), folder / "conf.py")


def build(root: Path, out: Path) -> None:
    """Make the site; a warning of Sphinx, such as a link that leads nowhere, ends it.

    Raises:
        subprocess.CalledProcessError: Sphinx has said what is wrong.
    """
    with tempfile.TemporaryDirectory() as scratch:
        collect(root, Path(scratch))
        # One process: Sphinx warns of sphinx-mathjax-offline where more are asked for.
        options = ["-q", "-W", "--keep-going"]
        subprocess.run(
            [sys.executable, "-m", "sphinx", *options, scratch, str(out.resolve())],
            check=True,
            cwd=root,
        )


def main(arguments: list[str] | None = None) -> int:
    print_all()
    root = find_root()
    parser = argparse.ArgumentParser(prog="python -m staff.site.build")
    parser.add_argument("--out", type=Path, default=root / "build/site")
    out = parser.parse_args(arguments).out
    try:
        build(root, out)
    except subprocess.CalledProcessError:
        print("The site was not made: see what is said above.", file=sys.stderr)
        return 1
    print(f"wrote {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
