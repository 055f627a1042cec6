"""A sandbox for students' code, made with bubblewrap.

What it isolates, on Linux:

- files: of the machine the code sees /usr, the Python environment, and of the course ``helpers/``,
  ``data/`` and ``inside.py``, all read-only. ``tests/``, the rest of ``staff/``, the labs' sources,
  other submissions and the home folder are not there. It writes to private folders in memory, of
  limited size, that end with it;
- network, processes and shared memory: namespaces of its own, with no way out;
- rights: an unprivileged user without capabilities, who cannot gain any, and without the keys of
  the session;
- amounts: address space, processor time, processes, size of a file, open files by limits of each
  process; wall-clock time and the memory of all processes together by the watchdog
  (``watchdog.py``), which looks several times a second.

What it does not, and a container or a virtual machine does:

- a fault of the kernel: sandbox and machine share it (only a virtual machine has its own), and
  all system calls are open. Marked by root, the code can also make user namespaces of its own;
  mark as another user, or in a container, whose runtime refuses such calls;
- hard limits on memory and processor time in total. They need control groups: between two looks of
  the watchdog, memory can grow past the limit, and many processes can keep all cores busy.
  Memory of no process (memfd_create) counts only when the machine runs short, which ends the code;
- side channels: timing, caches, and the load of the machine.

And what neither does: a student's code shares its process with the hidden test at the moment when
that runs, as everywhere in nbgrader. It can look at the test's inputs then, and change the checks
in memory. ``worker.py`` asks for the sentence that a passed test prints and drops other results
that nbgrader would take for points, but someone determined can print that sentence.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from helpers.device import SPEED, speed, time_for
from staff.marking.limits import MIB, Limits

CONTAINERFILE = "staff/marking/Containerfile"
# Of staff/, all that there is in a sandbox.
INSIDE = ("__init__.py", "marking/__init__.py", "marking/inside.py")
# Nobody's; used only where marking runs as root, one for each worker of each marking: the limit of
# processes counts all of a user's.
FIRST_USER, MARKINGS = 61300, 256
OLDEST = (0, 8)  # of bubblewrap: the first that forbids user namespaces inside
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
            "/etc/fonts", "/etc/alternatives", "/nix/store")  # fmt: skip


class NoSandbox(RuntimeError):
    """Students' code cannot be confined on this machine; says what to do."""


def find_bubblewrap() -> str:
    """Where bubblewrap is.

    Raises:
        NoSandbox: it is not installed, or too old.
    """
    found = shutil.which("bwrap") if sys.platform == "linux" else None
    if found is None:
        raise NoSandbox("bubblewrap (the command bwrap) is not installed")
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if tuple(map(int, re.findall(r"\d+", said)[:2])) < OLDEST:
        raise NoSandbox(f"bubblewrap is older than {'.'.join(map(str, OLDEST))}")
    return found


def confined(
    command: Sequence[str], course: Path, limits: Limits, shared: Path | None = None
) -> list[str]:
    """A command line that runs a command in a fresh sandbox, in the course's folder ``work/labs``.

    Where this process is root, the command starts as root without rights, except for that of
    becoming another user: it must do so itself (``inside.py`` does).

    Args:
        command: the program, by its path, and its arguments.
        course: its root.
        limits: only ``folder_size`` counts here; the others are for ``inside.py``.
        shared: a folder that is seen, and may be written to, from both sides.

    Raises:
        NoSandbox: see ``find_bubblewrap``.
    """
    bubblewrap, size = find_bubblewrap(), str(limits.folder_size * MIB)
    line = [bubblewrap, "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        line += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        line += ["--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-all", "--unshare-user", "--disable-userns"]
        # As process 1, or bubblewrap would be there, without limits and with the same user.
        line += ["--uid", "65534", "--gid", "65534", "--as-pid-1"]
    line += ["--hostname", "lab"]
    for path in SYSTEM:
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            line += ["--ro-bind", path, path]
    line += ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/dev/shm", "/tmp"):
        line += ["--perms", "1777", "--size", size, "--tmpfs", folder]
    seen = [Path(path) for path in SETTINGS if os.path.exists(path)]
    seen += [*_python(course), course / "helpers", course / "data"]
    seen += [course / "staff" / name for name in INSIDE]
    made: set[Path] = set()
    for path in seen:
        line += [*_parents(path, made), "--ro-bind", str(path), str(path)]
    line += [*_parents(course / "notebooks/labs", made)]  # tells the course where its root is
    work = course / "work/labs"
    line += [*_parents(work, made), "--perms", "1777", "--size", size, "--tmpfs", str(work)]
    if shared is not None:
        line += [*_parents(shared, made), "--bind", str(shared), str(shared)]
    # Folders in memory that bubblewrap makes for itself have no size: nothing may be written there.
    line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(work), "--clearenv"]
    for name, value in environment(course, "/tmp").items():
        line += ["--setenv", name, value]
    return [*line, "--", *command]


def inside(
    limits: Limits, *, kernel: str = "", code: str = "", slot: int | None = None
) -> list[str]:
    """The command line of ``inside.py``, which sets the limits.

    Args:
        limits: of the process.
        kernel: the connection file of the kernel to become; or
        code: Python to run instead.
        slot: which of the users from ``FIRST_USER`` on to become, if root; None to stay.
    """
    wanted = asdict(limits) | {"user": user_of(slot)}
    what = ["--kernel", kernel] if kernel else ["--code", code]
    return [sys.executable, "-m", "staff.marking.inside", json.dumps(wanted), *what]


def user_of(slot: int | None) -> int | None:
    """As whom the code of a worker runs in the sandbox; None for the one who marks."""
    return None if slot is None or os.geteuid() else FIRST_USER + slot


def environment(course: Path, home: str) -> dict[str, str]:
    """The variables that a student's kernel sees: nothing of the one who marks."""
    variables = {
        "HOME": home,
        "IPYTHONDIR": f"{home}/.ipython",
        "JUPYTER_NO_CONFIG": "1",
        "LANG": "C.UTF-8",
        "LOGNAME": "student",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(course),
        SPEED: f"{speed():.3g}",
        "TMPDIR": home,
        "USER": "student",
    }
    if site.ENABLE_USER_SITE:
        variables["PYTHONUSERBASE"] = site.getuserbase()
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return variables | dict.fromkeys(threads, "1")


def try_out(course: Path, limits: Limits) -> None:
    """Start a sandbox and do nothing in it.

    Raises:
        NoSandbox: it does not start here; says why.
    """
    line = confined(inside(limits, code="import helpers, ipykernel", slot=0), course, limits)
    done = subprocess.run(line, capture_output=True, text=True, timeout=time_for(120))
    if done.returncode:
        words = (done.stderr.strip() or "no reason given").split("\n")[-1]
        raise NoSandbox(f"bubblewrap does not start here ({words[:200]})")


def container_commands(folder: Path) -> list[str]:
    """How to mark in a container instead, from the course's root, where there is no bubblewrap."""
    return [
        f"git archive HEAD | docker build -t course-labs -f {CONTAINERFILE} -",
        "docker run --rm --network none --memory 6g --pids-limit 512 --read-only --tmpfs /tmp "
        "--cap-drop ALL --security-opt no-new-privileges --user $(id -u):$(id -g) "
        f"-v {shlex.quote(str(folder))}:/submissions course-labs /submissions --no-sandbox",
    ]


def _python(course: Path) -> Iterator[Path]:
    """The folders that make this Python and its packages, without those that others contain.

    Of ``sys.path`` only folders of packages count: the current folder is on it, too.
    """
    packages = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    wanted = [Path(path) for path in (sys.base_prefix, sys.prefix, *packages)]
    link = Path(sys.executable)
    while link.is_symlink():  # the base Python may itself be a link to a version
        link = link.parent / os.readlink(link)
        wanted.append(Path(os.path.normpath(link)).parent.parent)
    usable = {p for p in wanted if p.is_absolute() and p.is_dir() and not course.is_relative_to(p)}
    usable -= {p for p in usable if p.is_relative_to(course) and p != Path(sys.prefix)}
    for path in sorted(usable):
        inside = any(path != other and path.is_relative_to(other) for other in usable)
        if not inside and not any(path.is_relative_to(system) for system in SYSTEM):
            yield path


def _parents(path: Path, made: set[Path]) -> Iterator[str]:
    """Options that make the folders above a path, for everyone to pass through."""
    for folder in reversed(path.parents):
        if folder not in made and str(folder) not in ("/", "/tmp", "/usr"):
            made.add(folder)
            yield from ("--perms", "0755", "--dir", str(folder))
