"""The order of the folders in ``helpers/`` and ``staff/``: imports lead downwards, and importing
``helpers`` does nothing."""

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

from helpers.files import own_files

ROOT = Path(__file__).resolve().parents[1]
# From the ground floor up; a single module on the ground floor is its own layer's name.
LAYERS = ["ground", "data", "models", "pretrained", "inference", "learning", "display", "course"]
# Of staff's tools, likewise: a class's copy has the first alone.
STAFF = ["notebooks", "authoring", "marking", "site"]
DRAWING = {"matplotlib", "IPython", "ipywidgets"}


def imports(path, package):
    """The modules that a file imports, anywhere in it, as absolute dotted names."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) + 1 - node.level]
            base = [*parts, node.module] if node.level else [node.module]
            module = ".".join(filter(None, base))
            # `from helpers.data import corpora` imports helpers.data.corpora
            found += [f"{module}.{alias.name}" for alias in node.names]
    return found


def modules(root, package="helpers"):
    """Every module of a package: dotted name -> file."""
    files = own_files(root / package, "*.py")
    names = [".".join(file.relative_to(root).with_suffix("").parts) for file in files]
    return {name.removesuffix(".__init__"): file for name, file in zip(names, files)}


def layer(module):
    """The layer of a module: its folder, or the ground floor."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "ground"


def violations(root):
    """What breaks the order of the layers, one sentence each."""
    complaints, edges = [], {}
    known = modules(root)
    for module, file in known.items():
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        edges[module] = set()
        for name in imports(file, package):
            top = name.split(".")[0]
            if top in DRAWING and LAYERS.index(layer(module)) < LAYERS.index("display"):
                complaints.append(f"{module} draws: it imports {name}")
            if top == "staff":
                complaints.append(f"{module} imports staff's tools: {name}")
            if top != "helpers":
                continue
            target = name if name in known else name.rpartition(".")[0]
            if target in known and target != module:
                edges[module].add(target)
            if LAYERS.index(layer(target)) > LAYERS.index(layer(module)):
                complaints.append(f"{module} imports upwards: {name}")
            if module == "helpers.display.plotting" and layer(target) == "models":
                complaints.append(f"{module} imports a model: {name}")
    return complaints + [f"a circle of imports: {' > '.join(c)}" for c in circles(edges)]


def circles(edges):
    """The circles of a graph, each found once from where a depth-first walk closes it."""
    found, done = [], set()

    def walk(module, path):
        if module in path:
            found.append([*path[path.index(module) :], module])
        elif module not in done:
            for target in sorted(edges.get(module, ())):
                walk(target, [*path, module])
            done.add(module)

    for module in edges:
        walk(module, [])
    return found


def test_imports_lead_downwards():
    assert violations(ROOT) == []


def staff_violations(root):
    """What breaks the order of staff's tools, one sentence each."""
    return [
        f"{module} imports upwards: {name}"
        for module, file in modules(root, "staff").items()
        for name in imports(
            file, module if file.name == "__init__.py" else module.rpartition(".")[0]
        )
        if name.startswith("staff.")
        and STAFF.index(name.split(".")[1]) > STAFF.index(module.split(".")[1])
    ]


def test_staffs_tools_import_downwards():
    assert staff_violations(ROOT) == []
    assert {"staff.notebooks.notebook_rules"} < set(modules(ROOT, "staff"))


def test_no_notebook_imports_staffs_tools():
    """Of the labs' sources, too, which the notebooks' rules do not look at."""
    paths = own_files(ROOT / "notebooks", "*.ipynb")
    assert paths
    for path in paths:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            assert not re.search(r"(?m)^\s*(?:from|import)\s+staff\b", source), path.name


def test_every_folder_is_a_layer():
    folders = {p.name for p in (ROOT / "helpers").iterdir() if p.is_dir() and p.name[0] != "_"}
    assert folders <= set(LAYERS)


# Runs in a fresh Python: imports the modules named first, then, watching, those after "--".
PROBE = """
import importlib, logging, os, random, sys, threading, warnings

import numpy, torch

def state():
    loggers = [logging.root, *map(logging.getLogger, logging.root.manager.loggerDict)]
    ours = [log.name for log in loggers if log.name.startswith("helpers") and log.handlers]
    shared = {
        "torch generator": torch.get_rng_state().tolist(),
        "numpy generator": str(numpy.random.get_state()),
        "random generator": random.getstate(),
        "threads": [thread.name for thread in threading.enumerate()],
        "torch threads": torch.get_num_threads(),
        "default dtype": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "CUDA": torch.cuda.is_initialized(),
        "root logger": (list(logging.root.handlers), logging.root.level),
        "our loggers": ours,
        "warnings": list(warnings.filters),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "numpy printing": numpy.get_printoptions(),
    }
    if "matplotlib" in sys.modules:
        shared["matplotlib"] = dict(sys.modules["matplotlib"].rcParams)
    return shared

watched = sys.argv.index("--")
for name in sys.argv[1:watched]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:  # found by the tests' process alone, on a path of setuptools' own
        pass
before = state()
for name in sys.argv[watched + 1:]:
    importlib.import_module(name)
    after = state()
    for key in after:
        if before.get(key, after[key]) != after[key]:
            print(f"importing {name} changes: {key}")
    before = after
drawing = {"matplotlib", "IPython", "ipywidgets"} & set(sys.modules) - set(sys.argv)
if drawing:
    print(f"drawing was imported: {sorted(drawing)}")
"""


def probe(*arguments, folder=ROOT):
    """Run the probe; its findings, one sentence each."""
    command = [sys.executable, "-c", PROBE, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def libraries(files):
    """The modules of other packages that some files import, as far as they are installed."""
    names = {name for file in files for name in imports(file, "helpers")}
    names |= {name.rpartition(".")[0] for name in names}
    return sorted(n for n in names if n and n.split(".")[0] != "helpers" and _is_module(n))


def _is_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_importing_does_nothing():
    known = modules(ROOT)
    height = LAYERS.index("display")
    below = {n: file for n, file in known.items() if LAYERS.index(layer(n)) < height}
    # What a well-kept library does when it is imported is its own affair: those come first.
    assert probe(*libraries(below.values()), "--", *below) == []
    drawing = [*libraries(known.values()), *DRAWING, *below]
    assert probe(*drawing, "--", *[name for name in known if name not in below]) == []
