"""Each rule for notebooks can be broken, and the check of it says so."""

import nbformat
import pytest
from nbformat import v4

from staff.notebooks import notebook_rules as rules
from staff.notebooks.address import Address, bootstrap_source

ADDRESS = Address("https://github.com/lab/course", "v1")
PNG = {"image/png": "aGVsbG8="}
CAPTION = v4.new_output("display_data", data={"text/markdown": "**Figure.** A line that rises."})


def code(source, *outputs, count=1, tags=()):
    metadata = {"slideshow": {"slide_type": "slide"}, "tags": list(tags)}
    return v4.new_code_cell(source, outputs=list(outputs), execution_count=count, metadata=metadata)


def markdown(source):
    return v4.new_markdown_cell(source, metadata={"slideshow": {"slide_type": "slide"}})


def notebook(*cells):
    kernel = {"name": "python3", "display_name": "Python 3"}
    return v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel})


def result(text):
    return v4.new_output("execute_result", data={"text/plain": text}, execution_count=1)


def printed(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def opening(**changes):
    parts = {
        "title": "# A title",
        "badge": ADDRESS.badge("03_x.ipynb"),
        "aims": "You will be able to count.",
        "before": "**Builds on** [02](02_x.ipynb).",
        "time": "Runs in a minute; follows the lecture on counting.",
        **changes,
    }
    return markdown("\n\n".join(parts.values()))


@pytest.fixture
def good(tmp_path):
    """A small notebook without fault, in a course of its own."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "02_x.ipynb").write_text("{}")
    path = folder / "03_x.ipynb"
    cells = [
        opening(),
        code(ADDRESS.bootstrap()),
        code("import torch\n\nx = torch.ones(2)\nx", result("tensor([1., 1.])"), count=2),
        code("show(draw())", v4.new_output("display_data", data=PNG), CAPTION, count=3),
    ]
    path.write_text(nbformat.writes(notebook(*cells)))
    return path


def test_a_good_notebook_has_no_complaints(good, tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "check_lesson", lambda *_: [])  # it has no tasks
    assert rules.check_notebook(good, tmp_path, ADDRESS) == []


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("03_x.ipynb", "further/02_more.ipynb"),
        ("labs/lab01_x.ipynb", "../further/02_more.ipynb"),
        ("further/03_y.ipynb", "02_more.ipynb"),
    ],
)
def test_nothing_builds_on_a_further_notebook(name, link):
    badge = ADDRESS.badge(name)
    known = opening(badge=badge, before=f"**Builds on** [02]({'../' * name.count('/')}02_x.ipynb).")
    assert rules.check_opening(notebook(known), name, ADDRESS) == []
    further = opening(badge=badge, before=f"**Builds on** [more]({link}).")
    assert rules.check_opening(notebook(further), name, ADDRESS) == [
        "it builds on a further notebook, which must be no prerequisite"
    ]


def test_check_notebook_calls_every_check(good, tmp_path, monkeypatch):
    checks = [name for name in vars(rules) if name.startswith("check_")]
    checks.remove("check_notebook")
    for name in checks:
        monkeypatch.setattr(rules, name, lambda *_, name=name: [name])
    assert sorted(rules.check_notebook(good, tmp_path, ADDRESS)) == sorted(checks)


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        (markdown("No title"), "title"),
        (opening(badge=ADDRESS.badge("04_y.ipynb")), "badge"),
        (
            opening(badge=Address("https://github.com/lab/course", "v2").badge("03_x.ipynb")),
            "badge",
        ),
        (opening(aims=""), "you will be able to"),
        (opening(before=""), "builds on"),
        (opening(before="**Builds on** nothing."), "links to no other notebook"),
    ],
)
def test_opening(cell, complaint):
    complaints = rules.check_opening(notebook(cell), "03_x.ipynb", ADDRESS)
    assert len(complaints) == 1
    assert complaint in complaints[0]


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [code("import os")],
        [code(ADDRESS.bootstrap() + "\n")],
        [code(bootstrap_source(ADDRESS.repository, "v2"))],
        [code("1"), code(ADDRESS.bootstrap())],
    ],
)
def test_setup(cells):
    assert rules.check_setup(notebook(*cells), ADDRESS)


def test_kernel():
    node = notebook()
    assert rules.check_kernel(node) == []
    node.metadata.kernelspec.name = "my-env"
    assert rules.check_kernel(node)
    assert rules.check_kernel(v4.new_notebook())


@pytest.mark.parametrize("counts", [[2], [1, 1], [1, 3], [2, 1], [1, None]])
def test_counts(counts):
    cells = [code("x = 1", count=count) for count in counts]
    assert rules.check_counts(notebook(*cells))


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        (v4.new_output("error", ename="ValueError", evalue="no"), "ValueError"),
        (printed("UserWarning: old", "stderr"), "stderr"),
        (v4.new_output("display_data", data={rules.WIDGET_VIEW: {}}), "view of a widget"),
    ],
)
def test_outputs(output, complaint):
    (found,) = rules.check_outputs(notebook(code("f()", output)))
    assert complaint in found


@pytest.mark.parametrize(
    "path",
    [
        "/home/ada/x.txt",
        "/tmp/x",
        "/content/course",
        "C:\\Users\\Ada",
        "/Users/ada/x",
    ],
)
def test_paths(path):
    html = v4.new_output("display_data", data={"text/html": f"<b>{path}</b>"})
    error = v4.new_output("error", ename="E", evalue="", traceback=[f"File {path}"])
    for cell in [
        markdown(f"see `{path}/`"),
        code(f"open('{path}/')"),
        code("f()", result(f"'{path}/'")),
        code("f()", printed(f"in {path}/x")),
    ]:
        assert rules.check_paths(notebook(cell)), cell
    if path.count("/") > 2:
        assert rules.check_paths(notebook(code("f()", html)))
        assert rules.check_paths(notebook(code("f()", error)))


@pytest.mark.parametrize(
    "text", ["../work/02.ipynb", "https://a.org/home/x", "at home/work", "~/work/x", "a/tmp/b"]
)
def test_paths_that_belong_to_no_machine(text):
    assert rules.check_paths(notebook(markdown(text))) == []


def test_captions():
    picture = v4.new_output("display_data", data=PNG)
    late = printed("and then")
    other = v4.new_output("display_data", data={"text/markdown": "Nice."})
    for outputs in [[picture], [picture, late, CAPTION], [picture, other], [CAPTION, picture]]:
        assert len(rules.check_captions(notebook(code("show(f)", *outputs)))) == 1, outputs
    assert len(rules.check_captions(notebook(code("f", picture, picture, CAPTION)))) == 1
    assert rules.check_captions(notebook(code("f", picture, CAPTION, picture, CAPTION))) == []


@pytest.mark.parametrize(
    "source",
    [
        "x",
        "softmax(x)",
        "print(x)\ny = 1",
        "for x in y:\n    print(x)",
        "show(fig, 'caption')\nassert x",
    ],
)
def test_missing_outputs(source):
    assert rules.check_missing_outputs(notebook(code(source)))
    assert rules.check_missing_outputs(notebook(code(source, printed(" \n"))))
    assert rules.check_missing_outputs(notebook(code(source, printed("1")))) == []
    tagged = code(source, tags=[rules.WIDGET_TAG])
    assert rules.check_missing_outputs(notebook(tagged)) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "import torch",
        "def f(x):\n    print(x)\n    return x",
        "if wrong:\n    print('oh')",
        "x.append(1)",
        "...",
        "random.choice(x)\ny = 1",
    ],
)
def test_cells_that_show_nothing(source):
    assert rules.check_missing_outputs(notebook(code(source))) == []


def test_compared_cells_store_an_output():
    for cell in [
        code("x = f(1)", tags=["nbval-check-output"]),
        code("# NBVAL_CHECK_OUTPUT\nx = f(1)"),
        code("x", tags=["nbval-check-output", rules.WIDGET_TAG]),
    ]:
        (complaint,) = rules.check_missing_outputs(notebook(cell))
        assert "compared" in complaint


def test_no_cell_is_hidden_from_the_tests():
    for cell in [
        code("x = 1", tags=["raises-exception"]),
        code("x = 1", tags=["nbval-skip"]),
        code("# NBVAL_SKIP\nx = 1"),
    ]:
        assert rules.check_missing_outputs(notebook(cell))


@pytest.mark.parametrize(
    ("cell", "complaint"),
    [
        (code("\n".join(["x = 1"] * 41)), "41 lines"),
        (code("import subprocess\nsubprocess.run('pip install x')"), "installs"),
        (code("run(['apt-get', 'install', 'x'])"), "installs"),
        (code("%matplotlib inline"), "plain Python"),
        (code("!ls"), "plain Python"),
        (code("  "), "empty"),
        (markdown(""), "empty"),
    ],
)
def test_sources(cell, complaint):
    complaints = rules.check_sources(notebook(cell))
    assert any(complaint in found for found in complaints)


def test_imports():
    cell = code("import pandas as pd, os\nfrom sklearn.svm import SVC\ndef f():\n    import nltk")
    complaints = " ".join(rules.check_imports(notebook(cell)))
    assert all(name in complaints for name in ("'pandas'", "'sklearn'", "'nltk'"))
    assert "'os'" not in complaints
    assert rules.check_imports(notebook(code("from helpers.data import corpora"))) == []


def test_a_section_begins_a_cell():
    good = markdown("## 1 One"), markdown("Text\n\n```\n## a comment\n```\n\n### Part")
    assert not rules.check_headings(notebook(*good))
    assert len(rules.check_headings(notebook(*good, markdown("Text\n\n## 2 Two")))) == 1


def test_slides():
    shown = code("1", tags=["show"])
    assert rules.check_slides(notebook(markdown("text"), code("1"))) == []
    assert len(rules.check_slides(notebook(markdown("# Title"), markdown("text"), shown))) == 2


@pytest.fixture
def linked(tmp_path):
    """A folder of notebooks to link to."""
    folder = tmp_path / "notebooks"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "a.svg").write_text("<svg/>")
    (folder / "02_x.ipynb").write_text(
        nbformat.writes(notebook(markdown("# A\n\n## The *data* set")))
    )
    (tmp_path / "README.md").write_text("# Course\n\n## Set-up, at home\n")
    return folder / "03_x.ipynb"


@pytest.mark.parametrize(
    "target",
    [
        "02_x.ipynb",
        "02_x.ipynb#The-data-set",
        "figures/a.svg",
        "https://a.org/b",
    ],
)
def test_links_that_lead_somewhere(linked, target):
    cell = markdown(f"## Here\n\n[text]({target}) and ![picture]({target})")
    assert rules.check_links(notebook(cell), linked, linked.parents[1]) == []


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("04_y.ipynb", "leads to nothing"),
        ("figures/b.svg", "leads to nothing"),
        ("02_x.ipynb#Nowhere", "no heading"),
        ("#Nowhere", "no heading"),
        ("/etc/hostname", "out of the course"),
    ],
)
def test_links_that_lead_nowhere(linked, target, complaint):
    for source in [f"[text]({target})", f"![a]({target})", f"<img src='{target}'>"]:
        complaints = rules.check_links(notebook(markdown(source)), linked, linked.parents[1])
        assert len(complaints) == 1
        assert complaint in complaints[0]
