"""One place holds the address; writing it changes badges and set-up cells and nothing else."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat import v4

from staff.notebooks import address
from staff.notebooks.address import Address, make_address, read_address, write_address

SETTINGS = """\
[project.urls]
Repository = "https://github.com/OWNER/REPOSITORY"

[tool.course]
release = "main"

[tool.other]
line = 1
"""
OLD = Address("https://github.com/OWNER/REPOSITORY", "main")
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
NEW = Address("https://github.com/lab/course.x", "feature/v1.2")


def course_notebook(name):
    png = v4.new_output("display_data", data={"image/png": "aGVsbG8=\n", "text/plain": "<é>"})
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell(f"# Title\n\n{OLD.badge(name)}\n\nText, with `main` in it."),
            v4.new_code_cell(OLD.bootstrap(), execution_count=1, metadata=FOLDED),
            v4.new_code_cell("plot()\nx", outputs=[png], execution_count=2),
        ]
    )


@pytest.fixture
def course(tmp_path):
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    (tmp_path / "README.md").write_text(
        f"git clone {OLD.repository} course\n\n"
        f"| {OLD.badge('00_a.ipynb')} | {OLD.badge('labs/l.ipynb')} |\n"
    )
    for name in ("00_a.ipynb", "labs/l.ipynb"):
        path = tmp_path / "notebooks" / name
        path.parent.mkdir(exist_ok=True)
        nbformat.write(course_notebook(name), path)
    return tmp_path


def texts(folder):
    return {p: p.read_text("utf-8") for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_address_is_written_everywhere(course):
    changed = write_address(course, NEW)
    assert len(changed) == 4
    assert read_address(course) == NEW
    for text in texts(course).values():
        assert OLD.repository not in text
    readme = (course / "README.md").read_text()
    assert NEW.badge("00_a.ipynb") in readme
    assert NEW.badge("labs/l.ipynb") in readme
    assert f"git clone {NEW.repository} course" in readme
    lab = nbformat.read(course / "notebooks" / "labs" / "l.ipynb", as_version=4)
    assert NEW.badge("labs/l.ipynb") in lab.cells[0].source
    assert lab.cells[1].source == NEW.bootstrap()


def test_the_badge_of_a_labs_source_leads_to_the_released_lab(course):
    source = course / "notebooks" / "labs" / "source" / "lab01" / "l.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(course_notebook("labs/l.ipynb"), source)
    write_address(course, NEW)
    first = nbformat.read(source, as_version=4).cells[0].source
    assert NEW.badge("labs/l.ipynb") in first


def test_nothing_else_changes(course):
    before = texts(course)
    write_address(course, NEW)
    for path, text in texts(course).items():
        lines = zip(before[path].splitlines(), text.splitlines())
        differing = [new for old, new in lines if old != new]
        assert len(before[path].splitlines()) == len(text.splitlines())
        assert all("lab/course.x" in line or "feature/v1.2" in line for line in differing)
    write_address(course, OLD)
    assert texts(course) == before
    assert write_address(course, OLD) == []


@pytest.mark.parametrize("fault", ["no badge", "no set-up cell", "no code"])
def test_a_faulty_notebook_stops_everything(course, fault):
    path = course / "notebooks" / "labs" / "l.ipynb"
    notebook = nbformat.read(path, as_version=4)
    if fault == "no badge":
        notebook.cells[0].source = "# Title"
    elif fault == "no set-up cell":
        notebook.cells[1].source = "import os"
    else:
        del notebook.cells[1:]
    nbformat.write(notebook, path)
    before = texts(course)
    with pytest.raises(ValueError, match=r"l\.ipynb: its first"):
        write_address(course, NEW)
    assert texts(course) == before


@pytest.mark.parametrize("name", ["owner", "a/b/c", "a b/c", ""])
def test_names_that_are_no_repository(name):
    with pytest.raises(ValueError, match="owner/name"):
        make_address(name, "v1")


@pytest.mark.parametrize("ref", ["", "a..b", "a b", "v1."])
def test_refs_that_are_none(ref):
    with pytest.raises(ValueError, match="branch or tag"):
        make_address("a/b", ref)


def test_a_pasted_url_is_understood():
    expected = Address("https://github.com/a/b.c", "v1")
    assert make_address("https://github.com/a/b.c.git", "v1") == expected


def test_the_command(course, monkeypatch, capsys):
    monkeypatch.setattr(address, "find_root", lambda: course)
    assert address.main(["lab/course", "v1"]) == 0
    assert "wrote notebooks/labs/l.ipynb" in capsys.readouterr().out
    assert address.main([]) == 0
    assert "https://github.com/lab/course" in capsys.readouterr().out
    assert address.main(["lab", "v1"]) == 1
    assert "give owner/name" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        address.main(["lab/course"])


def run_bootstrap(source, folder, colab):
    """Run a set-up cell in a fresh Python; (the lines it printed, what it raised)."""
    stand_in = "import sys, types; sys.modules['google.colab'] = types.ModuleType('c')\n"
    program = (
        f"{stand_in if colab else ''}{source}\nprint(root)\nprint(os.getcwd())\nprint(sys.path[0])"
    )
    # -I: neither the folder nor PYTHONPATH is on the path, as for a kernel elsewhere.
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, text=True
    )
    return done.stdout.splitlines(), done.stderr.strip().partition("RuntimeError: ")[2]


@pytest.fixture
def published(tmp_path):
    """A repository to clone from, with the files that the set-up cell looks at."""
    source = tmp_path / "published"
    (source / "helpers" / "course").mkdir(parents=True)
    (source / "helpers" / "course" / "environment.py").write_text("")
    (source / "notebooks").mkdir()
    (source / "notebooks" / "00.ipynb").write_text("{}")
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*person, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=source, check=True)
    return source


def test_bootstrap_in_a_clone(published):
    source = OLD.bootstrap()
    for folder in (published, published / "notebooks", published / "helpers" / "course"):
        out, raised = run_bootstrap(source, folder, colab=False)
        assert raised == ""
        assert out == [str(published), str(folder), str(published)]


def test_bootstrap_on_colab(published, tmp_path):
    content = tmp_path / "content"
    content.mkdir()
    source = address.bootstrap_source(published.as_uri(), "main")
    clone = content / "published"
    for _ in range(2):  # the second time it is already there
        out, raised = run_bootstrap(source, content, colab=True)
        assert raised == ""
        assert out == [str(clone), str(clone / "notebooks"), str(clone)]
    assert len((clone / ".git" / "shallow").read_text().split()) == 1
    out, raised = run_bootstrap(source, clone / "notebooks", colab=True)
    assert out == [str(clone), str(clone / "notebooks"), str(clone)]


@pytest.mark.parametrize("fault", ["no release", "no repository", "folder in the way"])
def test_bootstrap_says_what_is_wrong(published, tmp_path, fault):
    content = tmp_path / "content"
    content.mkdir()
    url = published.as_uri() + ("-gone" if fault == "no repository" else "")
    if fault == "folder in the way":
        (content / "published").mkdir()
        (content / "published" / "mine.txt").write_text("x")
    release = "v9" if fault == "no release" else "main"
    _, raised = run_bootstrap(address.bootstrap_source(url, release), content, colab=True)
    assert raised.startswith(f"Could not fetch {url} ({release}): ")
    assert "fatal: " in raised  # git's own reason
    assert sorted(p.name for p in content.iterdir()) == (
        ["published"] if fault == "folder in the way" else []
    )


def test_bootstrap_elsewhere_and_without_an_address(tmp_path):
    _, raised = run_bootstrap(NEW.bootstrap(), tmp_path, colab=False)
    assert raised == f"Open this notebook from a clone of the course: {NEW.repository}"
    _, raised = run_bootstrap(OLD.bootstrap(), tmp_path, colab=True)
    assert raised.startswith("No course here: upload language-model-course.zip")
    assert os.listdir(tmp_path) == []
