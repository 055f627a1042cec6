"""Where the course lies."""

from __future__ import annotations

from pathlib import Path


def find_root() -> Path:
    """The folder that holds ``helpers/``, ``data/`` and ``notebooks/``.

    Raises:
        FileNotFoundError: the package was copied away from the course (installed, not editable).
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / "notebooks").is_dir():
        raise FileNotFoundError(
            f"No folder 'notebooks' in {root}: the course is used from a clone of its repository, "
            "so open its notebooks there, or install the package with 'pip install -e .' there."
        )
    return root
