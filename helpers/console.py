"""What the course's commands print, on a console of any encoding."""

from __future__ import annotations

import io
import sys


def print_all() -> None:
    r"""From now on print what the console's encoding lacks as \u...., instead of ending there.

    On Windows a console, and what a program's output is sent to, may know 256 characters only.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
