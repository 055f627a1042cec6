"""What the studies share: rows are made once and never lost, and a best rate lies inside."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.study import Study, tuned

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
TABLE = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
# Those that go on and have a first row that a CPU makes in a minute or two.
QUICK = set(re.findall(r"benchmarks\.(\w+)` \(goes on", TABLE)) - {"reader_encoder", "reader_gpt"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "folder", tmp_path)
    return tmp_path


def test_a_row_is_made_once(folder):
    made = []

    def make():
        made.append(1)
        return {"loss": 0.5}

    one = Study("a/some_study.py", lambda: {"machine": "here"})
    for _ in range(2):
        row = one.row({"sizes": (1, 2), "seed": 0}, make)
        assert row == {"sizes": [1, 2], "seed": 0, "loss": 0.5}
    one.row({"sizes": (1, 2), "seed": 1}, make)
    assert len(made) == 2
    content = json.loads((folder / "some_study.json").read_text())
    assert list(content) == ["script", "machine", "rows"]
    assert content["script"] == "benchmarks/some_study.py"
    assert [row["seed"] for row in content["rows"]] == [0, 1]


def test_parts_stay_beside_each_other(folder):
    one = Study("some_study.py", separators=(",", ":"))
    one.write(first=[1])
    one.add([{"a": 1}, {"a": 2}], "second")
    one.begin("third", width=8)
    one.begin("third", width=9)
    one.add([{"b": 1}], "third")
    third = {"width": 8, "runs": [{"b": 1}]}
    assert one.read() == {"first": [1], "second": [{"a": 1}, {"a": 2}], "third": third}
    assert one.rows("third") == [{"b": 1}]
    assert one.path.read_text().startswith('{"first":[1],"second":[{"a":1}')


def test_what_is_missing_is_made_side_by_side(folder):
    one = Study("some_study.py")
    one.add([{"x": 2.0, "seen": True}])
    found = one.side_by_side([{"x": x} for x in (1.0, 2.0, 3.0)], doubled, processes=1)
    assert found == [{"x": 1.0, "y": 2.0}, {"x": 2.0, "seen": True}, {"x": 3.0, "y": 6.0}]
    assert one.rows() == [found[1], found[0], found[2]]


def doubled(job):
    return {"y": 2 * job["x"]}


def test_calls_side_by_side_keep_each_others_rows(folder):
    code = (
        "import sys, pathlib; from benchmarks.study import Study;"
        f"Study.folder = pathlib.Path({str(folder)!r});"
        "one = Study('some_study.py');"
        "[one.add([{'of': sys.argv[1], 'n': n}]) for n in range(30)]"
    )
    calls = [subprocess.Popen([sys.executable, "-c", code, name], cwd=ROOT) for name in "ab"]
    assert [call.wait() for call in calls] == [0, 0]
    found = [(row["of"], row["n"]) for row in Study("some_study.py").rows()]
    assert sorted(found) == [(name, n) for name in "ab" for n in range(30)]


@pytest.mark.parametrize(
    ("best", "tried", "found"),
    [
        (0.02, [0.01, 0.02, 0.04], 0.02),
        (0.005, [0.01, 0.02, 0.04, 0.005, 0.0025], 0.005),
        (1.0, [0.01, 0.02, 0.04, 0.08, 0.16], 0.16),
    ],
)
def test_one_rate_beyond_the_edge_is_tried(best, tried, found):
    seen = []

    def measure(rate):
        seen.append(rate)
        return abs(rate - best)

    assert tuned((0.01, 0.02, 0.04), measure) == found
    assert seen == tried


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_finds_all_that_it_imports(name):
    import_module(f"benchmarks.{name}")


def test_the_table_lists_every_script():
    assert sorted(re.findall(r"\]\((\w+)\.py\)", TABLE)) == SCRIPTS


def test_the_table_says_who_shows_a_script():
    for name, shown in re.findall(r"^\| \[(\w+)\.py\].*?\| ([^|]*) \|", TABLE, re.M):
        results = {"finetuning_study": "finetuning"}.get(name, name)
        for page in shown.split(", "):
            if page == "README":
                paths = [ROOT / "README.md"]
            else:  # 06, or further 07, of which there may be several
                *folder, number = page.split()
                paths = ROOT.joinpath("notebooks", *folder).glob(f"{number}_*.ipynb")
            texts = [path.read_text(encoding="utf-8") for path in paths]
            assert any(f"{results}.json" in text or name in text for text in texts), (name, page)


def test_every_file_of_results_has_its_script():
    names = {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.json")}
    assert names <= {*SCRIPTS, "finetuning", "positions_window_study"}


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(QUICK))
def test_a_study_makes_a_row_like_those_that_are_stored(name, tmp_path):
    """Its first row, in another folder; the results of the other studies stand beside it."""
    own = {"finetuning_study": "finetuning"}.get(name, name)
    results = ROOT / "benchmarks" / "results"
    for path in results.glob("*.json"):
        if path.stem != own:
            shutil.copy(path, tmp_path)
    command = [sys.executable, "-m", f"benchmarks.{name}", "--rows", "1", "--folder", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert "As many rows are made as were asked for" in done.stderr, done.stderr
    stored, made = (json.loads((at / f"{own}.json").read_text()) for at in (results, tmp_path))
    assert made.keys() - {"machine", "script"} <= stored.keys()  # older files lack these two
    for part, found in made.items():
        for row in rows_of(found) if part != "machine" else []:
            # An older row may lack what is noted now; nothing that it has may be gone.
            stored_keys = [
                other.keys() - {"seconds", "processor"} for other in rows_of(stored[part])
            ]
            assert any(keys <= row.keys() for keys in stored_keys), (part, row)


def rows_of(part):
    part = part.get("runs", [part]) if isinstance(part, dict) else part
    return [row for row in part if isinstance(row, dict)] if isinstance(part, list) else []
