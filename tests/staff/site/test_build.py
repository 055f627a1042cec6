"""The site: notebooks fold as in JupyterLab, and links out of it lead to the repository."""

import subprocess

import nbformat
import pytest
from nbformat import v4

from staff.notebooks.address import Address
from staff.site import build
from tests.conftest import ROOT

ADDRESS = Address("https://github.com/lab/course", "v1")


def code(source, *tags, outputs=()):
    return v4.new_code_cell(source, metadata={"tags": list(tags)}, outputs=list(outputs))


def test_what_is_folded_stays_folded():
    shown = v4.new_output("stream", name="stdout", text="3")
    badge = f"# Title\n\n{ADDRESS.badge('01_x.ipynb')}"
    cells = [
        v4.new_markdown_cell(badge),
        code("# @title Imports\nimport torch", "folded"),
        code("# @title Draw it\nx = 1", "folded"),
        code("# @title Say it\nprint(3)", "folded", outputs=[shown]),
        code("compare(1)", "answer", outputs=[shown]),
        code("print(3)", outputs=[shown]),
    ]
    title, draw, say, answer, plain = build.for_the_site(v4.new_notebook(cells=cells)).cells
    assert "[Open in Colab](https://colab" in title.source
    assert "![" not in title.source
    assert "hide-cell" in draw.metadata.tags
    assert draw.metadata.mystnb.code_prompt_show == "Draw it"
    assert "hide-input" in say.metadata.tags
    assert {"hide-output", "remove-input"} < set(answer.metadata.tags)
    assert plain.metadata.tags == []
    assert "tags" not in cells[0].metadata  # the notebook itself is as it was


def test_a_reader_of_the_site_opens_one_fold_and_sees_every_formula():
    said = "You made no prediction.<details><summary>The result, without a prediction</summary>"
    folded = v4.new_output(
        "display_data", data={"text/markdown": f"{said}\n\n**3** bits\n</details>"}
    )
    asked = v4.new_output("display_data", data={"text/html": "<b>Quiz.</b> Let $d_k = 4$ and $T$."})
    cells = [code("compare(1)", "answer", outputs=[folded]), code("quiz('a')", outputs=[asked])]
    answer, quiz = build.for_the_site(v4.new_notebook(cells=cells)).cells
    assert answer.outputs[0].data["text/markdown"] == "**3** bits"
    set_in = '<span class="math notranslate nohighlight">'
    assert f"Let {set_in}\\(d_k = 4\\)</span> and" in quiz.outputs[0].data["text/html"]
    assert "$" in cells[1].outputs[0].data["text/html"]  # the notebook itself is as it was


def test_links_out_of_the_site_lead_to_the_repository():
    known = {"notebooks/02_x.ipynb", "data/README.md"}
    text = (
        "[a](02_x.ipynb#1-A) [b](../benchmarks/gpt.py) [c](../data/README.md) [d](https://x.org/y)"
    )
    text += " [e](#here) ![f](../tests/f.png) [g](../helpers)"
    said = build.with_links(text, "notebooks/01_x.ipynb", known, ADDRESS)
    there = "https://github.com/lab/course"
    assert said == (
        f"[a](02_x.ipynb#1-A) [b]({there}/blob/v1/benchmarks/gpt.py) [c](../data/README.md) "
        f"[d](https://x.org/y) [e](#here) ![f]({there}/blob/v1/tests/f.png) "
        f"[g]({there}/tree/v1/helpers)"
    )


def test_the_index_leads_to_the_first_place():
    first = v4.new_notebook(
        cells=[v4.new_markdown_cell("## 1 A `b`\n\nA **batch**."), v4.new_markdown_cell("**So**")]
    )
    second = v4.new_notebook(cells=[v4.new_markdown_cell("## 2 C\n\nThe **batch**, a **loss**.")])
    notebooks = {"notebooks/01_x.ipynb": first, "notebooks/further/01_y.ipynb": second}
    index = build.terms(notebooks, ["batch", "loss"])
    assert "- batch: [01, 1 A `b`](notebooks/01_x.ipynb#1-A-b)" in index
    assert "- loss: [01, further, 2 C](notebooks/further/01_y.ipynb#2-C)" in index
    with pytest.raises(ValueError, match="introduces in bold: token"):
        build.terms(notebooks, ["token"])


def test_no_solution_of_a_lab_is_collected(tmp_path):
    build.collect(ROOT, tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert {
        "README.md",
        "terms.md",
        "guide/README.md",
        "notebooks/labs/lab01_ngrams.ipynb",
    } <= names
    assert not [name for name in names if "/source/" in name]
    lab = nbformat.read(tmp_path / "notebooks/labs/lab01_ngrams.ipynb", as_version=4)
    assert any("raise NotImplementedError" in cell.source for cell in lab.cells)


@pytest.mark.nightly
def test_the_whole_site_without_a_warning(tmp_path):
    build.build(ROOT, tmp_path)
    page = (tmp_path / "notebooks/09_self_attention.html").read_text(encoding="utf-8")
    assert "<details" in page
    assert 'src="https://' not in page
    for name in ("index.html", "guide/09_self_attention.html", "_static/mathjax/tex-chtml.js"):
        assert (tmp_path / name).is_file()


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path, monkeypatch):
    def one_page(root, folder):
        (folder / "README.md").write_text("# A\n\n[b](nothing.md)\n")
        (folder / "conf.py").write_text("extensions = ['myst_parser']\nroot_doc = 'README'\n")

    monkeypatch.setattr(build, "collect", one_page)
    with pytest.raises(subprocess.CalledProcessError):
        build.build(ROOT, tmp_path / "out")
