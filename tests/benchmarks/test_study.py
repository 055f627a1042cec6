"""What the studies share: rows are made once and never lost, and a best rate lies inside."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import study
from benchmarks.study import Study, command, tuned

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "FOLDER", tmp_path)
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


def test_parts_stay_beside_each_other_and_rows_can_be_replaced(folder):
    one = Study("some_study.py", separators=(",", ":"))
    one.write(first=[1])
    one.add([{"a": 1}, {"a": 2}], "second")
    one.add([{"a": 3}], "second", instead=[{"a": 1}])
    assert one.read() == {"first": [1], "second": [{"a": 2}, {"a": 3}]}
    assert one.path.read_text() == '{"first":[1],"second":[{"a":2},{"a":3}]}\n'


def test_calls_side_by_side_keep_each_others_rows(folder):
    code = (
        "import sys, pathlib; from benchmarks import study;"
        f"study.FOLDER = pathlib.Path({str(folder)!r});"
        "one = study.Study('some_study.py');"
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


def test_rates_beyond_are_rounded():
    seen = []
    tuned((1e-3, 3e-3), lambda rate: seen.append(rate) or rate, factor=3.0, digits=1, more=3)
    assert seen == [1e-3, 3e-3, 3e-4, 1e-4, 3e-5]


def test_the_command_takes_parts_and_seeds(capsys):
    parser = command("A study.\n\nMore.", {"one": 1, "two": 2}, seeds=3)
    assert parser.description == "A study."
    options = parser.parse_args([])
    assert (options.parts, options.seeds) == (["one", "two"], 3)
    assert parser.parse_args(["two", "--seeds", "1"]).parts == ["two"]
    with pytest.raises(SystemExit):
        parser.parse_args(["three"])
    assert "no part 'three'; there are one, two" in capsys.readouterr().err


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_finds_all_that_it_imports(name):
    import_module(f"benchmarks.{name}")


def test_the_table_lists_every_script():
    text = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.py\)", text)) == SCRIPTS
