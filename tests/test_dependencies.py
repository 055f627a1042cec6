"""The lists of dependencies agree: students install what the notebooks need, and no more."""

import ast
import re
import sys

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Named otherwise than they are imported, or part of another.
DISTRIBUTIONS = {"PIL": "pillow", "IPython": "ipython", "cycler": "matplotlib"}


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_requirements_repeat_the_packages_dependencies(root, project):
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    (torch,) = [line for line in wanted if line.startswith("torch")]
    linux, elsewhere = listed[:2]
    assert re.fullmatch(r'torch==[\d.]+; sys_platform == "linux"', linux)
    assert elsewhere == f'{torch}; sys_platform != "linux"'
    assert sorted([torch, *listed[2:]]) == sorted(wanted)


def test_the_package_imports_its_dependencies_alone(root, project):
    known = {re.match(r"[\w.-]+", line)[0] for line in project["dependencies"]}
    imported = set()
    for file in (root / "helpers").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.split(".")[0])
    imported -= {*sys.stdlib_module_names, "tomllib", "helpers"}  # tomllib: since Python 3.11
    assert {DISTRIBUTIONS.get(name, name) for name in imported} <= known
