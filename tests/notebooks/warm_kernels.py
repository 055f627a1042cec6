"""Kernels that are forked from a process that has imported what all notebooks import.

A kernel spends three to four seconds of computing on the imports of torch, of what torch imports
with its first optimizer, and of matplotlib, and the tests start one for each notebook. Here a
server of ``multiprocessing`` imports them once, and each kernel is a fork of it: a process of its
own, which has opened no socket, run no cell, and imported nothing of the course. A notebook sees
no difference. Kernels are forked on Linux alone, because threads of the system's own make it unsafe
on a Mac.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import socket
import subprocess
import sys
import threading
from functools import cache
from typing import Any
from unittest import mock

from jupyter_client.launcher import launch_kernel

LAUNCH = "jupyter_client.provisioning.local_provisioner.launch_kernel"
IMPORTED = ("torch", "torch._dynamo", "matplotlib.pyplot", "ipykernel.kernelapp")
BACKEND = "module://matplotlib_inline.backend_inline"
SECONDS = 300  # until a fork has begun: the first one waits for the imports


def free_port(cache: Any, ip: str) -> int:
    """Stands in for jupyter_client's ``LocalPortCache.find_available_port``: a port to listen at.

    The library takes one that the system hands out, and the kernel listens seconds later. By then
    the system may have handed it to a browser's connection, and the kernel ends; or, where it is
    the port for outputs, is waited for in vain. This one is below those that Linux, macOS and
    Windows hand out, as they are set up.
    """
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as tried:
            try:
                tried.bind((ip, port))
            except OSError:
                continue
        if port not in cache.currently_used_ports:
            cache.currently_used_ports.add(port)
            return port


def launch(command: list[str], **named: Any) -> Any:
    """Stands in for jupyter_client's ``launch_kernel``: forks the kernels of this Python.

    But for those of marking, which say what they read from: what students hand in runs alone.
    """
    ours = command[0] == sys.executable and "ipykernel_launcher" in command
    if ours and named.get("stdin") is None:
        return Fork(command, **named)
    return launch_kernel(command, **named)


class Fork:
    """A kernel's process, with what jupyter_client uses of ``subprocess.Popen``.

    Args:
        command: how the kernel is started otherwise; it ends in ``-f`` and the file of its ports.
        env: its environment.
        cwd: where it runs.
        others: not used.
    """

    stdin = stdout = stderr = None

    def __init__(
        self, command: list[str], env: dict[str, str], cwd: str = ".", **others: Any
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(IMPORTED))
        begun, begins = context.Pipe(duplex=False)
        run = (begins, command[command.index("-f") :], env, cwd, _path())
        self.process = context.Process(target=_run, args=run)
        # Matplotlib reads this when it is imported; ipykernel sets it in every kernel.
        with mock.patch.dict(os.environ, MPLBACKEND=BACKEND):
            self.process.start()
        begins.close()
        # Once it leads a group of its own: jupyter_client sends its signals to the whole group.
        if not begun.poll(SECONDS):
            raise RuntimeError(f"No kernel was forked in {SECONDS} s.")
        begun.recv()  # EOFError: it has ended
        self.pid = self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self.process.join(timeout)
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


@cache
def _path() -> list[str]:
    """Where a kernel's Python looks for modules; pytest has added to its own."""
    tell = "import sys; print(*sys.path[1:], sep='\\n')"
    return subprocess.check_output([sys.executable, "-c", tell], text=True).splitlines()


def _run(begins: Any, arguments: list[str], env: dict[str, str], cwd: str, path: list[str]) -> None:
    """Be a kernel, in the process that was forked."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    begins.send(True)
    begins.close()
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[:] = path
    sys.argv = ["ipykernel_launcher", *arguments]

    import numpy
    import torch
    from ipykernel.kernelapp import IPKernelApp

    torch.seed()  # as a new process has it: each kernel draws other numbers
    numpy.random.seed()
    threading.Thread(target=_end_with_the_tests, daemon=True).start()
    app = IPKernelApp.instance(parent_handle=os.getppid())
    app.initialize(arguments)
    app.start()


def _end_with_the_tests() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)
