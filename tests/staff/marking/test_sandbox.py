"""The sandbox confines, its limits hold, and the watchdog leaves nothing behind."""

import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from staff.marking import sandbox
from staff.marking.inside import KEYCTL
from staff.marking.limits import Limits
from staff.marking.sandbox import (
    NoSandbox,
    confined,
    container_commands,
    find_bubblewrap,
    inside,
    try_out,
)
from staff.marking.watchdog import Watchdog, end_processes

ROOT = Path(__file__).resolve().parents[3]
SMALL = Limits(memory=0.25, seconds=5, processes=20, file_size=1, folder_size=4, open_files=40)

try:
    try_out(ROOT, SMALL)
    MISSING = ""
except NoSandbox as error:
    MISSING = str(error)
needs_sandbox = pytest.mark.skipif(bool(MISSING), reason=MISSING or "there is a sandbox")

# The user of these tests alone: limits count all processes of one.
MINE = sandbox.MARKINGS * 15


def run(code, limits=SMALL, shared=None):
    """What code prints in the sandbox."""
    line = confined(inside(limits, code=code, slot=MINE), ROOT, limits, shared)
    return subprocess.run(line, capture_output=True, text=True, timeout=60)


def said(code, **more):
    done = run(code, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_sandbox
def test_what_is_there():
    seen = said("""
import json, os, helpers
from helpers.course.environment import find_root
root = str(find_root())
print(json.dumps({
    "root": sorted(os.listdir("/")), "course": sorted(os.listdir(root)), "here": os.getcwd(),
    "staff": [f for _, _, files in os.walk(root + "/staff") for f in sorted(files)],
    "notebooks": os.listdir(root + "/notebooks"), "variables": sorted(os.environ),
    "processes": [p for p in os.listdir("/proc") if p.isdigit()], "tmp": os.listdir("/tmp"),
    "user": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()],
    "status": open("/proc/self/status").read(),
}))
""")
    assert not {"home", "mnt", "media", "srv", "run", "var", "boot"} & set(seen["root"]) - set(
        ROOT.parts[:2] + Path(sys.base_prefix).parts[:2]
    )
    assert set(seen["course"]) <= {"helpers", "data", "staff", "notebooks", "work", ".venv"}
    assert seen["staff"] == ["__init__.py", "__init__.py", "inside.py"]
    assert seen["here"] == str(ROOT / "work/labs")
    assert seen["notebooks"] == []
    assert seen["tmp"] == [*ROOT.parts[2:3]] * (ROOT.parts[1] == "tmp")  # the course itself
    # Its own and, where it is another user's, bubblewrap's.
    assert len(seen["processes"]) == (2 if os.geteuid() == 0 else 1)
    assert 0 not in seen["user"]
    assert not {"SSH_AUTH_SOCK", "DISPLAY", "VIRTUAL_ENV"} & set(seen["variables"])
    status = dict(line.split(":\t", 1) for line in seen["status"].splitlines() if ":\t" in line)
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == int(status["CapAmb"], 16) == 0
    assert status["NoNewPrivs"] == "1"


@needs_sandbox
@pytest.mark.parametrize(
    "action",
    [
        "open('/etc/passwd')",
        "open('/etc/shadow')",
        "assert b'SECRET_OF_THE_MARKER' in open('/proc/1/environ', 'rb').read()",
        "open('/proc/1/mem', 'r+b').seek(0) or os.getpid() == 1 and os.setuid(0)",
        f"os.listdir({str(ROOT / 'tests')!r})",
        f"os.listdir({str(ROOT / '.git')!r})",
        f"open({str(ROOT / 'helpers/__init__.py')!r}, 'a')",
        f"open({str(ROOT / 'x')!r}, 'w')",
        "open('/x', 'w')",
        "open('/usr/x', 'w')",
        "open('/dev/x', 'w')",
        "open('/etc/x', 'w')",
        "os.mknod('/tmp/x', 0o600 | 0o060000, os.makedev(8, 0))",
        "socket.create_connection(('1.1.1.1', 53), timeout=2)",
        "socket.getaddrinfo('example.org', 80)",
        "socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "os.setuid(0)",
        "os.kill(1, 9) or os.kill(1, 0) or os.setuid(0)",
        "os.chroot('/tmp')",
        "os.setpriority(os.PRIO_PROCESS, 0, -20)",
        "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1))",
    ],
)
def test_what_is_refused(action, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_MARKER", "1")
    code = f"import os, resource, socket\ntry:\n    {action}\n    print(1)\n"
    assert said(code + "except (OSError, ValueError, AssertionError):\n    print(0)\n") == 0


@needs_sandbox
@pytest.mark.skipif(os.geteuid() == 0, reason="root's sandbox has no user namespace of its own")
def test_no_user_namespace_inside():
    assert said("import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))") == -1


@needs_sandbox
@pytest.mark.skipif(platform.machine() not in KEYCTL, reason="its number is not known here")
def test_the_keys_of_the_one_who_marks():
    """Laid into the session keyring by a process that starts the sandbox, and not found inside."""
    keyctl, add_key = KEYCTL[platform.machine()], {"x86_64": 248, "aarch64": 217}
    search = f"""
import ctypes
print(ctypes.CDLL(None).syscall({keyctl}, 10, -3, b"user", b"of the marker", 0))"""
    line = confined(inside(SMALL, code=search, slot=MINE), ROOT, SMALL)
    outside = f"""
import ctypes, subprocess
call = ctypes.CDLL(None).syscall
call({keyctl}, 1, None)
call({add_key[platform.machine()]}, b"user", b"of the marker", b"secret", 6, -3)
{search}
subprocess.run({line!r})"""
    done = subprocess.run([sys.executable, "-uc", outside], capture_output=True, text=True)
    mine, theirs = map(int, done.stdout.split())
    if mine == -1:
        pytest.skip("this machine keeps no keys")
    assert theirs == -1


@needs_sandbox
@pytest.mark.parametrize(
    ("action", "steps", "low", "high"),
    [
        ("kept.append(bytearray(16 * 2**20))", 100, 8, 16),  # 0.25 GiB
        ("kept.append(open(f'/tmp/{i}', 'w'))", 100, 30, 40),
        ("open(f'/dev/shm/{i}', 'wb').write(bytes(2**20))", 100, 3, 4),
        ("open(f'/tmp/{i}', 'wb').write(bytes(2**20))", 100, 3, 4),
        ("open(f'{i}', 'wb').write(bytes(2**20))", 100, 3, 4),
        ("os.fork() or (__import__('time').sleep(30), os._exit(0))", 100, 15, 20),
        ("threading.Thread(target=__import__('time').sleep, args=(30,), daemon=True).start()",
         100, 5, 20),
    ],
)  # fmt: skip
def test_limits(action, steps, low, high):
    """How often something can be done before it is refused."""
    code = f"""
import os, threading
kept, i = [], 0
try:
    for i in range({steps}):
        {action}
    print(-1, flush=True)
except (OSError, MemoryError, RuntimeError):
    kept.clear()
    print(i, flush=True)
os._exit(0)
"""
    assert low <= said(code) <= high


@needs_sandbox
def test_a_large_file_and_an_endless_loop():
    assert (
        said("""
try:
    open("/tmp/large", "wb").write(bytes(2 * 2**20))
    print(1)
except OSError as error:
    print(error.errno)
""")
        == 27
    )  # EFBIG
    began = time.monotonic()
    assert run("while True: pass", Limits(seconds=1)).returncode != 0
    assert time.monotonic() - began < 20


@needs_sandbox
def test_a_shared_folder_is_the_only_way_out(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "secret").write_text("x")
    if os.geteuid() == 0:
        os.chown(shared, sandbox.FIRST_USER + MINE, sandbox.FIRST_USER + MINE)
    code = f"""
import json, os
open({str(shared / "out")!r}, "w").write("1")
print(json.dumps([os.listdir({str(tmp_path)!r}), os.listdir({str(shared)!r})]))
"""
    assert said(code, shared=shared) == [["shared"], ["out"]]
    assert (shared / "out").read_text() == "1"


@needs_sandbox
def test_nothing_is_left_when_the_one_who_started_it_is_killed():
    loops = inside(Limits(), code="import os; os.fork()\nwhile True: pass", slot=MINE)
    line = confined(loops, ROOT, Limits())
    script = f"import subprocess, sys; p = subprocess.Popen({line!r}); print(p.pid); p.wait()"
    starter = subprocess.Popen([sys.executable, "-uc", script], stdout=subprocess.PIPE, text=True)
    bubblewrap = psutil.Process(int(starter.stdout.readline()))
    deadline = time.monotonic() + 20
    least = 3 if os.geteuid() == 0 else 2  # two loops and, for root, a process of bubblewrap's
    while (
        len(family := bubblewrap.children(recursive=True)) < least and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    assert len(family) >= least
    starter.kill()
    starter.wait()
    gone, alive = psutil.wait_procs([bubblewrap, *family], timeout=10)
    assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]
    assert gone


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("import time; time.sleep(60)", Limits(seconds=1), "more than 1 s in all"),
        ("x = b'x' * 300 * 2**20; import time; time.sleep(60)", Limits(memory=0.2), "0.2 GiB"),
        # Each is small, and together they are not.
        ("import os, time; [os.fork() for _ in range(3)]; x = b'x' * 40 * 2**20; time.sleep(60)",
         Limits(memory=0.2), "0.2 GiB of memory with 8 processes"),
        ("open('big', 'w').write('x' * 2**21); import time; time.sleep(60)", Limits(), "wrote to"),
        ("import os, time; os.symlink('/etc', 'here'); time.sleep(60)", Limits(), "wrote to"),
    ],
)  # fmt: skip
def test_the_watchdog(tmp_path, code, limits, reason):
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    watchdog = Watchdog(limits, tmp_path)
    watchdog.process = psutil.Process(process.pid)
    watchdog.start()
    try:
        assert process.wait(30) == -9
    finally:
        watchdog.stop()
    assert reason in watchdog.reason
    assert not watchdog.machine


def test_the_watchdog_leaves_others_alone(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"])
    watchdog = Watchdog(Limits(), tmp_path)
    watchdog.process = psutil.Process(process.pid)
    watchdog.start()
    assert process.wait(30) == 0
    watchdog.stop()
    assert watchdog.reason == ""


def test_the_whole_family_ends():
    code = "import os, time\nfor _ in range(4): os.fork()\nos.write(1, b'%d\\n' % os.getpid())\n"
    process = subprocess.Popen(
        [sys.executable, "-c", code + "time.sleep(60)"], stdout=subprocess.PIPE, text=True
    )
    family = [psutil.Process(int(process.stdout.readline())) for _ in range(16)]
    end_processes(psutil.Process(process.pid))
    process.wait()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]


def test_machines_without_a_sandbox(monkeypatch, tmp_path):
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    old.chmod(0o755)
    monkeypatch.setattr(sandbox.sys, "platform", "linux")
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: str(old))
    with pytest.raises(NoSandbox, match=r"older than 0\.8"):
        find_bubblewrap()
    old.write_text("#!/bin/sh\n[ $1 = --version ] && echo bubblewrap 0.9.0 && exit\n"
                   "echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")  # fmt: skip
    with pytest.raises(NoSandbox, match=r"does not start here .*uid map: Permission denied"):
        try_out(ROOT, SMALL)
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    with pytest.raises(NoSandbox, match="not installed"):
        find_bubblewrap()
    build, mark = container_commands(Path("/a b"))
    assert (ROOT / re.search(r"-f (\S+)", build)[1]).is_file()
    assert mark.startswith("docker run --rm --network none --memory")
    assert "-v '/a b':/submissions" in mark
    guide = " ".join((ROOT / "notebooks/labs/README.md").read_text("utf-8").split())
    for command in (build, mark.replace("'/a b'", "~/lab01")):
        assert command in guide.replace(" \\ ", " ")
