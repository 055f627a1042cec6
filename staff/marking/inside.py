"""What runs first inside the sandbox: leaves rights and keys, sets limits, and becomes the kernel.

    python -m staff.marking.inside '{"memory": ...}' --kernel CONNECTION_FILE
    python -m staff.marking.inside '{"memory": ...}' --code "print(1)"

All this happens before the first line of a student's, in the process that will run it.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import sys
from contextlib import suppress

KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of this system call on Linux


def main(arguments: list[str]) -> None:
    limits, what, value = json.loads(arguments[0]), arguments[1], arguments[2]
    if (user := limits["user"]) is not None:  # from root to an unprivileged one, for good
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    # A new session keyring: no namespace hides the keys of the one who marks.
    if (keyctl := KEYCTL.get(platform.machine())) is not None:
        ctypes.CDLL(None).syscall(keyctl, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # the worker has a soft limit of its own
    if what == "--kernel":
        # Loaded before memory is counted: a program's libraries differ by gigabytes of address
        # space between machines (a build with CUDA, say).
        import torch  # noqa: F401
        from ipykernel.kernelapp import IPKernelApp
    set_limits(limits)
    if what == "--kernel":
        sys.argv = ["kernel", "-f", value, "--HistoryManager.hist_file=:memory:"]
        sys.path[0] = ""  # as in every notebook
        IPKernelApp.launch_instance()
    else:
        exec(compile(value, "<code>", "exec"), {"__name__": "__main__"})


def set_limits(limits: dict[str, int]) -> None:
    """Limits of this process and of each that it starts, which none can raise again."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits["seconds"],
        resource.RLIMIT_FSIZE: limits["file_size"] * 2**20,
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_NPROC: limits["processes"],
    }
    with suppress(OSError), open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
        wanted[resource.RLIMIT_AS] = used + round(limits["memory"] * 2**30)
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # the first to go when the machine runs out of memory


if __name__ == "__main__":
    main(sys.argv[1:])
