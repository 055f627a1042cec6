"""What runs first inside the sandbox: gives up rights, sets limits, and becomes the kernel.

    python -m staff.marking.inside '{"memory": ...}' --kernel CONNECTION_FILE
    python -m staff.marking.inside '{"memory": ...}' --code "print(1)"

Everything here happens before the first line of a student's, in the process that will run it.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress

# System calls that no notebook needs and that lead far into the kernel, or around the limits.
# Name: number on x86-64, on ARM (64 bits).
REFUSED = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "fsopen": (430, 430), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsmount": (432, 432), "mount_setattr": (442, 442),
    "unshare": (272, 97), "setns": (308, 268), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
}  # fmt: skip
CLONE, CLONE3, NEW_USER = (56, 220), 435, 0x10000000
_ALLOW, _FAIL, _ARCHITECTURES = (
    0x7FFF0000,
    0x00050000,
    {"x86_64": 0xC000003E, "aarch64": 0xC00000B7},
)


def main(arguments: list[str]) -> None:
    limits, what, value = json.loads(arguments[0]), arguments[1], arguments[2]
    give_up_rights(limits["user"])
    _lift()
    if what == "--kernel":
        # Loaded before memory is counted: a program's libraries differ by gigabytes of address
        # space between machines (a build with CUDA, say).
        import torch  # noqa: F401
        from ipykernel.kernelapp import IPKernelApp
    set_limits(limits)
    refuse_system_calls()
    if what == "--kernel":
        sys.argv = ["kernel", "-f", value, "--HistoryManager.hist_file=:memory:"]
        sys.path[0] = ""  # as in every notebook
        IPKernelApp.launch_instance()
    else:
        exec(compile(value, "<code>", "exec"), {"__name__": "__main__"})


def give_up_rights(user: int) -> None:
    """From root to an unprivileged user, for good; others stay who they are.

    Only where the process is root without the right to read everything, which is how the sandbox
    starts it; without a sandbox, another user could not reach the Python environment.
    """
    if hasattr(os, "geteuid") and os.geteuid() == 0 and _confined():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # the first to go when the machine runs out of memory


def set_limits(limits: dict[str, int]) -> None:
    """Limits of this process and of each that it starts, which none can raise again."""
    import resource

    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": limits["seconds"],
        "RLIMIT_FSIZE": limits["file_size"] * 2**20,
        "RLIMIT_NOFILE": limits["open_files"],
        "RLIMIT_NPROC": limits["processes"],
    }
    if size := _address_space():
        wanted["RLIMIT_AS"] = size + limits["memory"]
    for name, value in wanted.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(kind, (value, value))


def refuse_system_calls() -> bool:
    """Make the calls in ``REFUSED`` fail, for good; whether this machine can."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _ARCHITECTURES or not _confined():
        return False
    program = _filter(machine)
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    return libc.prctl(22, 2, ctypes.create_string_buffer(header, len(header)), 0, 0) == 0


def _filter(machine: str) -> bytes:
    """A program for the kernel's packet filter that looks at the number of a system call."""
    column = list(_ARCHITECTURES).index(machine)
    load, equal, at_least, any_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    number, architecture, first_argument = 0, 4, 16
    refuse = _FAIL | 1  # EPERM

    def steps() -> Iterable[tuple[int, int, int, int]]:  # code, jump if true, if false, value
        yield load, 0, 0, architecture
        yield equal, 1, 0, _ARCHITECTURES[machine]
        yield answer, 0, 0, refuse  # a call of 32-bit programs, with numbers of its own
        yield load, 0, 0, number
        yield at_least, 0, 1, 0x40000000  # the "x32" calls
        yield answer, 0, 0, refuse
        for numbers in REFUSED.values():
            yield equal, 0, 1, numbers[column]
            yield answer, 0, 0, refuse
        yield equal, 0, 1, CLONE3  # its arguments cannot be seen; libc then takes clone
        yield answer, 0, 0, _FAIL | 38  # ENOSYS
        yield equal, 0, 3, CLONE[column]
        yield load, 0, 0, first_argument
        yield any_bit, 0, 1, NEW_USER
        yield answer, 0, 0, refuse
        yield answer, 0, 0, _ALLOW

    return b"".join(struct.pack("HBBI", *step) for step in steps())


def _confined() -> bool:
    """Whether this is a sandbox: no capability to override the rights of files."""
    with suppress(OSError), open("/proc/self/status") as file:
        rights = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        return rights.get("NoNewPrivs") == "1" and not int(rights.get("CapEff", "2"), 16) & 2
    return False


def _address_space() -> int:
    with suppress(OSError), open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _lift() -> None:
    """Undo the soft limit on memory of the process that started this one."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
