"""Released labs belong to their sources, run untouched, and give nothing away."""

import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat import v4

from helpers.course.checks import lab01
from helpers.course.checks.lab import seed_of
from staff.authoring import class_tree as copies
from staff.authoring import labs, release
from staff.authoring.source_rules import check_source
from staff.authoring.student_version import student_version, with_seeds
from staff.notebooks.address import read_address
from staff.notebooks.refresh import RefreshError
from staff.notebooks.refresh import refresh as refresh_file

SECRET = "a long secret of the class of 1951"
TASKS = list(lab01.lab.tasks)


@pytest.fixture
def repository(root):
    if not (root / labs.SOURCES).is_dir():
        pytest.skip("a class's copy has no sources")
    return root


def test_released_labs_belong_to_their_sources(repository):
    assert labs.lab_sources(repository), "the folder of sources is empty"
    assert release.is_current(repository) == []


def test_the_sources_are_as_they_should_be(repository):
    sources = labs.lab_sources(repository).values()
    assert {path.name: check_source(path) for path in sources} == {p.name: [] for p in sources}


def cell(source, cell_id, **meta):
    markdown = meta.pop("markdown", False)
    make = v4.new_markdown_cell if markdown else v4.new_code_cell
    kinds = {"grade": False, "solution": False, "locked": False, "schema_version": 3, "task": False}
    metadata = {"nbgrader": {**kinds, "grade_id": cell_id, **meta}} if meta else {}
    return make(source, id=cell_id, metadata=metadata)


def answered(task, number, points=2):
    """The cells of one task: heading, solution, test."""
    solution = (
        f"def {task}(*given):\n    ### BEGIN SOLUTION\n"
        f"    return check.{task}.fallback(*given)\n    ### END SOLUTION"
    )
    test = (
        f"{task} = check.{task}({task})\n### BEGIN HIDDEN TESTS\n"
        f'check.score("{task}", seed=0)\n### END HIDDEN TESTS'
    )
    return [
        cell(f"### Task {number} · A task · {points} points", f"h-{task}", markdown=True),
        cell(solution, f"s-{task}", solution=True),
        cell(test, f"t-{task}", grade=True, locked=True, points=points),
    ]


def open_question(number):
    return [
        cell("### Question · Why? · 4 points", "h-open", markdown=True),
        cell("Because.", "a-open", markdown=True, grade=True, solution=True, points=3),
        cell(
            "Marking:\n=== BEGIN MARK SCHEME ===\nOne point.\n=== END MARK SCHEME ===",
            *["q-open"],
            **{"markdown": True, "task": True, "locked": True, "points": 1},
        ),
    ]


def source_notebook(root):
    """A source with all tasks of lab01's checks."""
    address = read_address(root)
    badge = address.badge("labs/source/lab01/lab01_toy.ipynb")
    first = (
        "from helpers.course.checks import lab01 as check\n\nVARIANT = 0  # of your class\n"
        "check.use_variant(VARIANT)\nprint(check.by_hand_text())"
    )
    cells = [
        cell(f"# Toy\n\n{badge}", "title", markdown=True),
        cell(address.bootstrap(), "setup"),
        cell(first, "numbers", locked=True),
        *(part for n, task in enumerate(TASKS, start=1) for part in answered(task, n)),
        *open_question(len(TASKS) + 1),
    ]
    cells[0].metadata = cells[3].metadata = {}
    return v4.new_notebook(cells=cells)


@pytest.fixture
def course(root, tmp_path):
    """A small clone of the course with one lab."""
    course = tmp_path / "course"
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for package in ("helpers", "staff"):
        shutil.copytree(root / package, course / package, ignore=ignored)
    shutil.copy(root / "pyproject.toml", course)
    (course / "README.md").touch()
    (course / ".gitignore").write_text("work/\nsecret.txt\n__pycache__/\n")
    (course / "secret.txt").write_text(f"{SECRET}\n")
    for name in (*copies.PRIVATE, "work/"):
        (course / name).mkdir(parents=True, exist_ok=True)
        (course / name / "private.txt").write_text("### BEGIN SOLUTION")
    path = course / labs.SOURCES / "lab01" / "lab01_toy.ipynb"
    path.parent.mkdir()
    (course / labs.SOURCES / "private.txt").unlink()
    notebook = source_notebook(root)
    nbformat.write(notebook, path)
    nbformat.write(v4.new_notebook(), course / "notebooks/00_a.ipynb")
    return course


def commit(course):
    subprocess.run(["git", "-C", course, "init", "--quiet"], check=True)
    subprocess.run(["git", "-C", course, "add", "--all"], check=True)
    return course


def path_of(course):
    return labs.lab_sources(course)["lab01"]


def change(course, edit):
    path = path_of(course)
    notebook = nbformat.read(path, as_version=4)
    edit(notebook.cells)
    nbformat.write(notebook, path)
    return path


def test_a_good_source(course):
    assert check_source(path_of(course)) == []


def sets(place, **meta):
    return lambda cells: cells[place].metadata["nbgrader"].update(meta)


def replaces(place, old, new):
    def edit(cells):
        assert old in cells[place].source
        cells[place].source = cells[place].source.replace(old, new)

    return edit


# In the source: 2 is the locked cell, 3-5 the first task, 6-8 the second, -3 to -1 the question.
@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        # What nbgrader refuses.
        (replaces(4, "    ### END SOLUTION", ""), "no end solution statement found"),
        # What it does not see.
        (replaces(4, "### BEGIN SOLUTION", "### BEGIN SOLUTON"), "looks like one"),
        (lambda cells: cells.pop(5), "the tasks marked are maximum_likelihood"),
        (replaces(5, "### END", 'check.score("perplexity", seed=0)\n### END'), "one hidden block"),
        (replaces(5, "perplexity = check.perplexity(perplexity)\n", ""), "shows the student no"),
        (
            lambda cells: cells.__setitem__(slice(3, 9), cells[6:9] + cells[3:6]),
            "the tasks marked are maximum_likelihood, perplexity",
        ),
        (replaces(3, "2 points", "3 points"), "announces 3 points, and its cells have 2"),
        (replaces(3, "Task 1 ·", "Task 2 ·"), "not of the form '### Task 1"),
        (lambda cells: cells.pop(3), "before the first heading"),
        (replaces(2, "VARIANT = 0", "VARIANT = 1"), "one line 'VARIANT = 0', and 0 do"),
        (replaces(2, "check.use_variant(VARIANT)", ""), "no cell holds the line"),
    ],
)  # fmt: skip
def test_faults_of_a_source(course, edit, complaint):
    complaints = check_source(change(course, edit))
    assert any(complaint in found for found in complaints), complaints


def test_seeds_of_a_class(root):
    source = source_notebook(root)
    assert with_seeds(source, "lab01") == source
    before = nbformat.writes(source)
    seeded = with_seeds(source, "lab01", SECRET)
    assert nbformat.writes(source) == before
    variant = seed_of(SECRET, "lab01", "variant") % 10**6
    assert f"\nVARIANT = {variant}  # of your class\n" in seeded.cells[2].source
    text = nbformat.writes(seeded)
    for task in TASKS:
        seed = seed_of(SECRET, "lab01", task)
        assert text.count(f'check.score(\\"{task}\\", seed={seed})') == 1
    assert "seed=0" not in text
    other = nbformat.writes(with_seeds(source, "lab02", SECRET))
    assert not set(re.findall(r"seed=(\d+)", text)) & set(re.findall(r"seed=(\d+)", other))


def test_the_students_version(root):
    source = source_notebook(root)
    source.cells[2].outputs = [v4.new_output("stream", text="of the solution")]
    released = student_version(source)
    assert released == student_version(source)
    assert [c.id for c in released.cells] == [c.id for c in source.cells]
    stub = "def perplexity(*given):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    assert released.cells[4].source == stub
    assert released.cells[5].source == "perplexity = check.perplexity(perplexity)"
    assert released.cells[-2].source == "YOUR ANSWER HERE"
    assert released.cells[-1].source == "Marking:"
    text = nbformat.writes(released)
    for word in (
        "SOLUTION",
        "HIDDEN",
        "SCHEME",
        "fallback",
        "score",
        "seed",
        "Because",
        "of the s",
    ):
        assert word not in text
    assert released.cells[2].outputs == []
    assert released.cells[4].metadata.deletable is False
    assert "editable" not in released.cells[4].metadata
    assert released.cells[5].metadata.editable is False


def test_checksums_are_those_that_nbgrader_expects(root):
    from nbgrader.utils import compute_checksum, determine_grade

    released = student_version(with_seeds(source_notebook(root), "lab01", SECRET))
    graded = [c for c in released.cells if c.metadata.get("nbgrader", {}).get("checksum")]
    assert len(graded) == 1 + 2 * len(TASKS) + 2
    assert all(c.metadata.nbgrader.checksum == compute_checksum(c) for c in graded)
    assert determine_grade(released.cells[-2]) == (0, 3)  # untouched, so no points


def test_release_and_is_current(course):
    assert "lab01_toy.ipynb is missing" in release.is_current(course)[0]
    (file,) = release.release(course, execute=False)
    assert file == course / "notebooks/labs/lab01_toy.ipynb"
    assert "source" not in nbformat.read(file, as_version=4).cells[0].source  # the badge
    assert release.is_current(course) == []
    text = file.read_bytes()
    release.release(course, execute=False, labs=["lab01"])
    assert file.read_bytes() == text
    change(course, replaces(4, "*given", "*values"))
    assert "lab01_toy.ipynb does not belong to its source" in release.is_current(course)[0]
    release.release(course, execute=False)
    file.with_name("._lab01_toy.ipynb").touch()  # as a Mac does on a disk that is not its own
    shutil.copy(file, file.with_name("lab02_old.ipynb"))
    assert release.is_current(course) == ["notebooks/labs/lab02_old.ipynb has no source"]
    with pytest.raises(ValueError, match="no lab lab09; there are: lab01"):
        release.release(course, labs=["lab09"])


def test_outputs_are_those_of_an_untouched_run(course):
    (file,) = release.release(course)
    notebook = nbformat.read(file, as_version=4)
    for task in TASKS:
        (test,) = [c for c in notebook.cells if c.id == f"t-{task}"]
        assert test.outputs[0].text.startswith(f"○ {task}: not attempted yet")
    assert release.is_current(course) == []
    assert not refresh_file(file)  # `make refresh` gives the same
    change(course, replaces(2, "from helpers", "1 / 0\nfrom helpers"))
    text = file.read_bytes()
    with pytest.raises(RefreshError, match=r"lab01_toy\.ipynb: cell 3 .* ZeroDivisionError"):
        release.release(course)
    assert file.read_bytes() == text


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}


def test_a_class_tree(course, tmp_path):
    release.release(course, execute=False)
    commit(course)
    folder = tmp_path / "class"
    folder.mkdir()
    copies.class_tree(course, folder, SECRET)
    files = files_of(folder)
    checks = "helpers/course/checks/lab01/__init__.py"
    assert {"pyproject.toml", "notebooks/00_a.ipynb", checks} < set(files)
    assert not [name for name in files if name.startswith((*copies.PRIVATE, "work/", ".git/"))]
    assert not [name for name in files if "__pycache__" in name or name.endswith(".part")]
    assert [name for name in files if "/labs/" in name] == ["notebooks/labs/lab01_toy.ipynb"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["class", "course"]
    hidden = [SECRET, *(str(seed_of(SECRET, "lab01", task)) for task in TASKS)]
    for name, file in files.items():
        data = file.read_bytes()
        assert not [part for part in hidden if part.encode() in data], name
    lab = nbformat.read(files["notebooks/labs/lab01_toy.ipynb"], as_version=4)
    variant = seed_of(SECRET, "lab01", "variant") % 10**6
    assert f"VARIANT = {variant} " in lab.cells[2].source
    lab01.use_variant(variant)
    try:
        assert lab.cells[2].outputs[0].text == lab01.by_hand_text() + "\n"
    finally:
        lab01.use_variant(0)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "helpers.course.workspace"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert "laid work/labs/lab01_toy.ipynb" in done.stdout, done.stderr


def test_a_class_tree_that_would_tell(course, tmp_path):
    (course / "notes.txt").write_text(f"for me: {SECRET}")
    commit(course)
    with pytest.raises(ValueError, match=r"Nothing was written: notes\.txt holds the secret"):
        copies.class_tree(course, tmp_path / "class", SECRET, execute=False)
    seed = seed_of(SECRET, "lab01", "add_k")
    (course / "notes.txt").write_text(f"for me: {seed}")
    commit(course)
    with pytest.raises(ValueError, match="the seed of the hidden inputs of add_k"):
        copies.class_tree(course, tmp_path / "class", SECRET, execute=False)
    (course / "notes.txt").unlink()
    shutil.copy(path_of(course), course / "notebooks" / "01_b.ipynb")
    commit(course)
    with pytest.raises(ValueError, match=r"notebooks/01_b\.ipynb holds a marker of a source"):
        copies.class_tree(course, tmp_path / "class", SECRET, execute=False)
    assert [p.name for p in tmp_path.iterdir()] == ["course"]


def test_folders_that_a_class_tree_refuses(course, tmp_path):
    with pytest.raises(ValueError, match="must be a clone of the course"):
        copies.class_tree(course, tmp_path / "class", SECRET, execute=False)
    with pytest.raises(ValueError, match="is not an empty folder"):
        copies.class_tree(commit(course), course, SECRET, execute=False)
    with pytest.raises(ValueError, match="is not an empty folder"):
        copies.class_tree(course, course / "README.md", SECRET, execute=False)


def test_secrets(tmp_path):
    file = tmp_path / "secret.txt"
    with pytest.raises(ValueError, match="cannot be read"):
        copies.read_secret(file)
    file.write_text(f"{SECRET}\n")
    assert copies.read_secret(file) == SECRET
    file.write_text(f"{SECRET}\n", encoding="utf-8-sig")  # as Windows' editor does
    assert copies.read_secret(file) == SECRET
    for short in ("", "spring 2025", f"{SECRET}\n{SECRET}"):
        file.write_text(short)
        with pytest.raises(ValueError, match="one line of at least 16 characters"):
            copies.read_secret(file)


def test_the_command(course, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(release, "find_root", lambda: course)
    monkeypatch.setattr(labs.refresh, "with_outputs", lambda *_: None)
    assert release.main(["--check"]) == 1
    assert "is missing" in capsys.readouterr().err
    assert release.main(["lab01"]) == 0
    assert "released notebooks/labs/lab01_toy.ipynb" in capsys.readouterr().out
    assert release.main(["--check"]) == 0
    secret = ["--secret-file", str(course / "secret.txt")]
    commit(course)
    assert release.main(["--class-tree", str(tmp_path / "class"), *secret]) == 0
    assert "class is ready" in capsys.readouterr().out
    assert release.main(["--class-tree", str(tmp_path / "class"), *secret]) == 1
    assert "not an empty folder" in capsys.readouterr().err
    assert release.main(["--class-tree", str(tmp_path / "public")]) == 0
    assert "Without --secret-file" in capsys.readouterr().out
    change(course, replaces(3, "2 points", "3 points"))
    assert release.main([]) == 1
    assert "lab01_toy.ipynb: '### Task 1 · A task · 3 points' announces" in capsys.readouterr().err
    for arguments in (secret, ["lab01", "--class-tree", "x"]):
        with pytest.raises(SystemExit):
            release.main(arguments)


def test_a_hidden_block_outside_a_test_cell(root):
    source = source_notebook(root)
    source.cells.append(v4.new_code_cell("### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS"))
    with pytest.raises(ValueError, match=f"lab01, cell {len(source.cells)}: a test cell needs"):
        with_seeds(source, "lab01")
