"""Slides of a notebook: one HTML file that needs neither a network nor a kernel.

    python -m staff.notebooks.slides 09 [--out FOLDER]      writes slides/09_self_attention.html

The author tags with ``show`` the 12 to 18 cells that are the lecture; all else follows. A shown
cell becomes one slide under the heading of its section:

- code: the last sentences of the prose above it, or the formula that ends it (below the solution of
  a task: what the task speaks of), its source unless that is folded, its outputs;
- an answer: what the question speaks of, the question, and what came out as a second step;
- a quiz: the question, and its answer as a second step;
- a task: what it speaks of, its text, and the code that is given;
- prose: as it stands.

The prose between two of them goes into the speaker's notes (key S): what stands above a heading
speaks of the slide before it, what stands below of the next. The same choice is written
into each cell's metadata (``slideshow``), which JupyterLab's slide shows and nbconvert read.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from itertools import takewhile
from pathlib import Path

import nbformat
from nbconvert.filters import Highlight2HTML, markdown2html, strip_ansi
from nbformat import NotebookNode

from helpers.console import print_all
from helpers.course.environment import find_root
from helpers.course.workspace import find_notebook
from helpers.files import write_whole
from staff.notebooks.folding import ANSWER_TAG, FOLDED_TAG

SHOW_TAG, PREDICTION_TAG = "show", "prediction"
_QUESTION = "**Before you go on**"
_TASK = "**Your turn.**"
_FOLDS = re.compile(r"</?(details|summary)>")
_HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
_AT_HEADING = re.compile(r"^(?=#{2,3} )", re.MULTILINE)
# Where a notebook's opening speaks of the notebook, no longer of its question.
_FRAME = re.compile(r"After this notebook|\*\*(Builds on|Time|Lectures)\*\*")
_TO_RUN = " *Run this cell to use the interactive part.*"
# What a stored output says to whoever runs the cell, not to a room.
_TO_DO = re.compile(r"\*?Move the slider to see the next step\.\*?")
_SUBSTITUTED = re.compile(r"^\w+: the course's version \(own/.*\n", re.MULTILINE)
# The paragraph above belongs to one that begins so: with a formula, a list or code, or after one.
_GOES_ON = re.compile(r"[a-z$|>]|[-*] |\d+\. | {4}")
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)\s]+\.(?:ipynb|md|py)[^)]*\)")
LEAD_WORDS, CONTEXT_WORDS = 40, 90
# What helpers.course.predictions says where nobody has predicted anything.
FOLDED_ANSWER = re.compile(r"<details><summary>The result[^<]*</summary>(.*?)</details>", re.DOTALL)


@dataclass
class Slide:
    """What stands on one slide: pieces of HTML, and the pieces that appear with the next key.

    ``cells`` are the indices of the notebook's cells that it shows, with their slide types.
    """

    section: str
    body: list[str] = field(default_factory=list)
    then: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cells: dict[int, str] = field(default_factory=dict)


def tags_of(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def is_lecture(notebook: NotebookNode) -> bool:
    """Whether its author has chosen cells to be shown."""
    return any(SHOW_TAG in tags_of(cell) for cell in notebook.cells)


def slides_of(notebook: NotebookNode) -> list[Slide]:
    """The slides of a notebook, the first of them its title."""
    title, question, why = _opening(notebook.cells[0].source)
    body = [f"<h1>{html.escape(title)}</h1>", _html(question)]
    slides = [Slide("", body, notes=why, cells={0: "slide"})]
    section, asked = "", None  # the cell of the question that is open
    prose: list[tuple[int, str]] = []  # since the last slide: (index, source)
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and (heads := _HEADING.findall(cell.source)):
            if cell.source.startswith("## "):
                slides[-1].notes += [text for _, text in prose]
                prose = []
            section = heads[0]
        if SHOW_TAG in tags_of(cell):
            slide = _slide(notebook, i, section, prose, asked)
            kind = "slide" if section != slides[-1].section else "subslide"
            slide.cells = dict.fromkeys(slide.cells, kind) or {i: kind}
            slide.cells.setdefault(i, "fragment" if slide.then else "-")
            # What stands below a heading leads to the next slide, the rest speaks of the last one.
            below = len(slides) == 1
            headed = any(_HEADING.search(text) for _, text in prose)
            for j, text in ((j, t) for j, cell in prose for t in _AT_HEADING.split(cell)):
                below = below or bool(_HEADING.match(text))
                said = _above(text) if j in slide.cells else text.strip()
                led = below or (j in slide.cells and not headed)
                (slide if led else slides[-1]).notes += [said] if said else []
            slides.append(slide)
            prose = []
        elif i and cell.cell_type == "markdown":
            prose.append((i, cell.source))
            asked = i if _QUESTION in cell.source else asked
        elif PREDICTION_TAG in tags_of(cell) and asked is None and prose:
            asked = prose[-1][0]  # asked in other words
        if ANSWER_TAG in tags_of(cell):
            asked = None
    slides[-1].notes += [text for _, text in prose]
    return slides


def _html(markdown: str) -> str:
    """Markdown as HTML; what it links to lies nowhere beside the slides."""
    return str(markdown2html(_LINK.sub(r"\1", markdown)))


def _opening(source: str) -> tuple[str, str, list[str]]:
    """The title of a notebook, its question (the first prose below it), and what leads to it."""
    lines = source.splitlines()
    paragraphs = [p for p in "\n".join(lines[1:]).split("\n\n") if p.strip()]
    is_prose = [not re.match(r"\s*(\[!\[|[-|>#])", p) for p in paragraphs]
    if True not in is_prose:
        return lines[0].lstrip("# "), "", []
    at = is_prose.index(True)
    why = list(takewhile(lambda p: not _FRAME.match(p), paragraphs[at + 1 :]))
    return lines[0].lstrip("# "), paragraphs[at], why


def _slide(
    notebook: NotebookNode, at: int, section: str, prose: list[tuple[int, str]], asked: int | None
) -> Slide:
    cell, slide = notebook.cells[at], Slide(section)
    tags = tags_of(cell)
    if cell.cell_type == "markdown":
        slide.body.append(_html(_HEADING.sub("", cell.source, count=1)))
        return slide
    if ANSWER_TAG in tags:
        if asked is not None:
            question = notebook.cells[asked].source
            slide.cells[asked] = ""
            slide.body += _context(asked, question, prose)
            slide.body.append(_html("".join(question.partition(_QUESTION)[1:])))
            slide.body += [code_of(c) for c in notebook.cells[asked:at] if _names_several(c)]
        slide.then += outputs_of(cell)
        return slide
    if "your-turn" in tags:
        j, task = next(((j, p) for j, p in reversed(prose) if _TASK in p), (None, ""))
        if j is not None:
            slide.cells[j] = ""
            slide.body += _context(j, task, prose)
            slide.body.append(_html(task[task.index(_TASK) :]))
        slide.body.append(code_of(cell))
        return slide
    quiz = cell.source.startswith("quiz(")
    if prose and not quiz:
        slide.body += _led(prose[-1][1])
        if not slide.body and "<details>" in prose[-1][1]:  # below the solution of a task
            j, task = next(((j, p) for j, p in reversed(prose) if _TASK in p), (at, ""))
            slide.body += _context(j, task, prose) if _above(task) else []
    if FOLDED_TAG not in tags and not quiz:
        slide.body.append(code_of(cell))
    for piece in outputs_of(cell):
        shown, answer = _unfolded(piece) if quiz else (piece, "")
        slide.body.append(shown)
        slide.then += [answer] if answer else []
    return slide


def _unfolded(piece: str) -> tuple[str, str]:
    """A quiz as it is asked, and its answer, which no key opens while it is folded."""
    asked, _, folded = piece.partition("<details>")
    answer, _, rest = folded.partition("</details>")
    return asked + rest, re.sub(r"<summary>.*?</summary>", "", answer, flags=re.DOTALL).strip()


def _above(text: str) -> str:
    """What stands in the cell of a question or a task above it, without headings."""
    at = min(i for i in (text.find(_QUESTION), text.find(_TASK), len(text)) if i >= 0)
    return re.sub(r"^#{2,3} .*$", "", text[:at], flags=re.MULTILINE).strip()


def _led(prose: str) -> list[str]:
    """What leads to a cell: the formula that ends the prose above it, or its last sentences."""
    paragraphs = [p.strip("\n") for p in _above(prose).split("\n\n") if p.strip()]
    if any(p.startswith("$$") for p in paragraphs[-2:]) and _GOES_ON.match(paragraphs[-1]):
        return [f'<div class="context">{_html(_chain(paragraphs))}</div>']
    said = lead(prose)
    return [f'<div class="lead">{_html(said)}</div>'] if said else []


def _chain(paragraphs: list[str]) -> str:
    """The last paragraph, with those above it to which it belongs."""
    taken = [paragraphs.pop()]
    while paragraphs and (
        _GOES_ON.match(taken[0])
        or paragraphs[-1].endswith(":")
        or paragraphs[-1].startswith(("$$", "|"))
    ):
        taken.insert(0, paragraphs.pop())
    if not _GOES_ON.match(taken[0]):
        words = len(" ".join(taken[1:]).split())
        taken[0] = last_sentences(taken[0], max(CONTEXT_WORDS - words, LEAD_WORDS))
    return "\n\n".join(taken)


def _names_several(cell: NotebookNode) -> bool:
    """Whether a prediction asks for several things, which only its cell names."""
    return PREDICTION_TAG in tags_of(cell) and cell.source.count("\n") > 1


def _context(at: int, text: str, prose: list[tuple[int, str]]) -> list[str]:
    """What a question or a task speaks of: the paragraph above it, with its formula or list."""
    said = _above(text)
    if not said:
        before = next((above for j, above in reversed(prose) if j < at), "")
        said = "" if _QUESTION in before or _TASK in before else _above(before)
    said = said.rpartition("</details>")[2]  # a question before it has its answer there
    paragraphs = [p.strip("\n") for p in said.split("\n\n") if p.strip()]
    while paragraphs and re.fullmatch(r"\(.*\)", paragraphs[-1], re.DOTALL):
        paragraphs.pop()  # settings
    if not paragraphs:
        return []
    return [f'<div class="context">{_html(_chain(paragraphs))}</div>']


def last_sentences(paragraph: str, words: int, most: int = 10) -> str:
    """The last sentences of a paragraph, at most so many words, but one sentence at least."""
    sentences = re.split(r"(?<=[.?!])\s+(?=[A-Z*_`$\"])", paragraph)
    kept: list[str] = []
    for sentence in reversed(sentences[-most:]):
        if kept and len(" ".join([sentence, *kept]).split()) > words:
            break
        kept.insert(0, sentence)
    return " ".join(" ".join(kept).split())


def lead(prose: str) -> str:
    """The last two sentences of a piece of prose, or the last if they are long.

    Empty where a formula, a list or a table ends it.
    """
    paragraph = prose.strip().split("\n\n")[-1]
    if re.match(r"\s*([-|>$#]|\d+\.|<|```)", paragraph) or paragraph.rstrip().endswith("$$"):
        return ""
    said = re.sub(r"\([^()]*[.?!]\)", "", paragraph)
    return last_sentences(said, LEAD_WORDS, 2).removesuffix(":")


def code_of(cell: NotebookNode) -> str:
    """A cell's source, coloured; without what the checks of a task add below it."""
    source = re.sub(r"\n+(\w+ = )?check\.\w+\(.*\)(?=\n|$)", "\n", cell.source.rstrip()).strip()
    return f'<div class="code">{Highlight2HTML()(source, language="python")}</div>'


def outputs_of(cell: NotebookNode) -> list[str]:
    """The stored outputs as HTML; pictures carry their caption as the text that replaces them."""
    pieces: list[str] = []
    said_below = [output.get("data", {}).get("text/markdown", "") for output in cell.outputs]
    caption = next((text for text in said_below if text.startswith("**Figure.**")), "")
    for output in cell.outputs:
        data = output.get("data", {})
        if output.output_type == "stream":
            text = strip_ansi(output.text).removeprefix("What came out:\n").strip("\n")
            text = text.replace("What came out:", " " * 14, 1)  # above columns
            text = _SUBSTITUTED.sub("", text)
            if text:
                pieces.append(f"<pre class='output'>{html.escape(text)}</pre>")
        elif "image/png" in data:
            picture = "".join(data["image/png"].split())
            said = html.escape(caption.partition(" ")[2], quote=True)
            pieces.append(f'<img alt="{said}" src="data:image/png;base64,{picture}">')
        elif "text/html" in data:
            pieces.append(f'<div class="output">{data["text/html"]}</div>')
        elif "text/markdown" in data:
            said, kind = _TO_DO.sub("", data["text/markdown"].replace(_TO_RUN, "")), "caption"
            if folded := FOLDED_ANSWER.search(said):
                said, kind = folded[1], "measured"
            pieces.append(f'<div class="{kind}">{_html(said)}</div>')
        elif "text/plain" in data:
            pieces.append(f"<pre class='output'>{html.escape(data['text/plain'])}</pre>")
    return pieces


def write_slide_types(notebook: NotebookNode) -> None:
    """Write into every cell's metadata what it is in a slide show: from the tags ``show`` alone."""
    types = {i: kind for slide in slides_of(notebook) for i, kind in slide.cells.items()}
    for i, cell in enumerate(notebook.cells):
        other = "notes" if cell.cell_type == "markdown" else "skip"
        cell.metadata["slideshow"] = {"slide_type": types.get(i, other)}


def asset(package: str, name: str) -> str:
    """The text of a file that an installed package brings."""
    try:
        for path in distribution(package).files or ():
            if path.as_posix().endswith(name):
                return Path(str(path.locate())).read_text(encoding="utf-8")
    except PackageNotFoundError:
        pass
    raise FileNotFoundError(
        f"Slides need {name} of the package {package}: make slides installs it."
    )


def page(notebook: NotebookNode, title: str) -> str:
    """The slides as one HTML file, with everything that it needs inside."""
    made = []
    for slide in slides_of(notebook):
        head = f'<div class="section">{_html(slide.section)}</div>' if slide.section else ""
        then = f'<div class="fragment">{"".join(slide.then)}</div>' if slide.then else ""
        said = _FOLDS.sub("", "\n\n".join(slide.notes))  # a solution is not folded there
        notes = _html(_HEADING.sub(r"**\1**", said))
        made.append(
            f'<section>{head}<div class="body">{"".join(slide.body)}{then}</div>'
            f'<aside class="notes">{notes}</aside></section>'
        )
    template = Path(__file__).with_name("slides.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": html.escape(title),
        "SLIDES": "\n".join(made),
        "REVEAL_CSS": asset("sphinx-revealjs", "revealjs/dist/reveal.css"),
        "REVEAL_JS": asset("sphinx-revealjs", "revealjs/dist/reveal.js"),
        "NOTES_JS": asset("sphinx-revealjs", "plugin/notes/notes.js"),
        "MATHJAX_JS": asset("sphinx-mathjax-offline", "mathjax/tex-svg.js"),
    }
    for name, text in parts.items():
        if name.endswith("_JS"):  # inside of a script nothing may look like its end
            text = text.replace("</script", "<\\/script")
        template = template.replace(f"{{{{{name}}}}}", text)
    return template


def write(path: Path, folder: Path) -> Path:
    """Write the slides of one notebook; return their file."""
    notebook = nbformat.read(path, as_version=4)
    target = folder / f"{path.stem}.html"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(target, page(notebook, _opening(notebook.cells[0].source)[0]))
    return target


def main(arguments: list[str] | None = None) -> int:
    print_all()
    root = find_root()
    parser = argparse.ArgumentParser(prog="python -m staff.notebooks.slides")
    parser.add_argument("notebooks", nargs="+", help="beginnings of names: 09, further/12_gemma")
    parser.add_argument("--out", type=Path, default=root / "slides")
    options = parser.parse_args(arguments)
    try:
        paths = [root / "notebooks" / find_notebook(root, name) for name in options.notebooks]
        for path in paths:
            print(f"wrote {write(path, options.out)}")
    except (FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
