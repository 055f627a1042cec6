"""A kernel that the tests fork is to a notebook what one is that JupyterLab starts."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from unittest import mock

import pytest
from jupyter_client.connect import LocalPortCache
from jupyter_client.launcher import launch_kernel
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, start_new_kernel

from tests.notebooks import warm_kernels

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone"),
]
COLD, WARM = launch_kernel, warm_kernels.launch
SEES = """
import json, os, random, sys
sees = {"course": [name for name in sys.modules if name.split(".")[0] == "helpers"]}
ready = "torch" in sys.modules
import matplotlib, numpy, torch
drawn = [random.random(), torch.rand(1).item(), numpy.random.rand()]
sees |= {"cwd": os.getcwd(), "path": sys.path, "name": __name__, "mark": os.environ["MARK"]}
sees["backend"] = matplotlib.get_backend()
sees["leads"] = os.getpgid(0) == os.getsid(0) == os.getpid()
print(json.dumps([ready, drawn, sees]))
"""


@contextmanager
def kernel(launch, cwd):
    named = {"kernel_name": CURRENT_ENV_KERNEL_NAME, "startup_timeout": 300, "cwd": str(cwd)}
    with mock.patch(warm_kernels.LAUNCH, launch):
        manager, client = start_new_kernel(**named, stderr=subprocess.DEVNULL)
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        assert not manager.is_alive()


def seen(launch, cwd):
    said = []
    with kernel(launch, cwd) as (_, client):
        client.execute_interactive(SEES, output_hook=lambda message: said.append(message))
    return json.loads("".join(message["content"].get("text", "") for message in said))


def test_a_notebook_sees_no_difference(tmp_path, monkeypatch):
    monkeypatch.setenv("MARK", "first")
    (_, _, cold), (ready, drawn, warm) = seen(COLD, tmp_path), seen(WARM, tmp_path)
    assert ready  # so it was forked
    assert warm == cold
    assert warm["course"] == []
    assert warm["leads"]
    monkeypatch.setenv("MARK", "second")
    _, others, warm = seen(WARM, tmp_path / "..")
    assert warm["mark"] == "second"
    assert warm["cwd"] == str(tmp_path.parent)
    assert not set(drawn) & set(others)


def test_a_kernel_listens_where_the_system_sends_nobody(tmp_path):
    with kernel(WARM, tmp_path) as (manager, _):
        ports = set(manager.ports)
    assert len(ports) == 5
    assert min(ports) >= 12_000
    assert max(ports) < 32_000


def test_a_port_that_is_taken_is_not_offered(monkeypatch):
    ip, drawn = "127.0.0.1", LocalPortCache()
    busy, one, other = (warm_kernels.free_port(drawn, ip) for _ in range(3))
    offers = iter([busy, one, one, other])
    chosen = mock.Mock(randrange=lambda *_: next(offers))
    monkeypatch.setattr(warm_kernels.random, "SystemRandom", lambda: chosen)
    with socket.socket() as taken:
        taken.bind((ip, busy))
        cache = LocalPortCache()
        assert [warm_kernels.free_port(cache, ip) for _ in range(2)] == [one, other]


def test_a_cell_that_takes_too_long_is_interrupted(tmp_path):
    with kernel(WARM, tmp_path) as (manager, client):
        sent = client.execute("import time\nprint()\ntime.sleep(600)")
        while client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
            pass
        manager.interrupt_kernel()
        while (reply := client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != sent:
            pass
        assert reply["content"]["ename"] == "KeyboardInterrupt"


def test_a_kernel_ends_with_the_tests_that_started_it(root, tmp_path):
    code = f"""
import os
from tests.notebooks import warm_kernels
from tests.notebooks.test_warm_kernels import WARM, kernel
warm_kernels.IMPORTED = ()  # it takes seconds, and is not what is tried
with kernel(WARM, {str(tmp_path)!r}) as (manager, _):
    print(manager.provisioner.pid, flush=True)
    os._exit(1)  # as if killed
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as tests:
        forked = int(tests.stdout.readline())
    limit = time.monotonic() + 60
    while os.path.exists(f"/proc/{forked}"):
        assert time.monotonic() < limit
        time.sleep(0.1)
