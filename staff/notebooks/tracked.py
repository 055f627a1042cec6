"""Which files belong to the course: those that git knows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def known_to_git(root: Path) -> list[str]:
    """The files that git knows and that are there, relative to the root of a clone.

    Raises:
        ValueError: git cannot list them.
    """
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached"]
    try:
        done = subprocess.run(listing, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        words = getattr(error, "stderr", b"") or str(error).encode()
        raise ValueError(
            f"git cannot list the files of {root}, which must be a clone of the course: "
            f"{words.decode(errors='replace').strip()}"
        ) from error
    names = done.stdout.decode("utf-8").split("\0")
    return [name for name in names if name and os.path.lexists(root / name)]
