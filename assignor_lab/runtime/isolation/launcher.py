"""The process that plugins' processes are forked from. It runs nothing but this project's own code.

Starting Python anew for each plugin, and again after each crash, would cost a third of a second. So one launcher is
started with a clean environment for each process of the lab; it imports the contract once and forks a process for
each plugin. It is the parent of them all: it tells how they ended, and what they leave behind falls to it and is ended,
too. It ends, and they with it, as soon as the lab's process is gone.

Commands are lines of JSON on a socket, answered one by one: ``fork`` (with two file descriptors: connection and
output) and ``reap``.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from importlib.metadata import distribution
from typing import Any, NoReturn

from assignment_api.plugins import Policy, discover
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION

__all__ = ["main"]

#: Seconds between two looks at whether the lab's process is still there.
WATCH_SECONDS = 1.0
#: Seconds that a process which closed its connection has to end by itself, so that one learns how it ended.
GRACE_SECONDS = 1.0
#: Exit code of a process that could not be set up.
SETUP_FAILED = 70

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_MAX_COMMAND = 65_536


def main(control_fd: int, parent: int, folders: str) -> NoReturn:
    """Answers commands until the lab's process is gone.

    Args:
        control_fd: Socket on which commands come.
        parent: Process id of the lab's process.
        folders: Folder in which each process gets a folder of its own; it is removed in the end.
    """
    from assignor_lab.runtime.isolation import worker

    _import_built_ins()
    # A Ctrl-C in the terminal is for the lab; the launcher notices that it goes.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=control_fd)
    launched: dict[int, str] = {}
    try:
        while os.getppid() == parent:
            if not select.select([control], [], [], WATCH_SECONDS)[0]:
                continue
            data, descriptors, _, _ = socket.recv_fds(control, _MAX_COMMAND, 2)
            if not data:
                break
            command = json.loads(data)
            if command["do"] == "fork":
                _import_own(command["modules"])
                pid = _forked(control, descriptors, {**command, "folders": folders}, worker.serve, launched)
                answer: dict[str, Any] = {"pid": pid}
            else:
                answer = {"status": _reaped(command["pid"], launched, waits=command["waits"])}
            control.sendall(json.dumps(answer).encode() + b"\n")
    finally:
        for pid in list(launched):
            _reaped(pid, launched, waits=False)
        shutil.rmtree(folders, ignore_errors=True)
        os._exit(0)


def _import_own(modules: list[str]) -> None:
    """Imports what the next process will need, once for all that follow: this project's own code and nothing else."""
    for name in modules:
        if name.startswith(f"{__name__.partition('.')[0]}."):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _import_built_ins() -> None:
    """What many plugins' processes need in the end is imported once, and shared by them."""
    with contextlib.suppress(Exception):
        registry = discover(Policy(), [distribution(BUILTIN_DISTRIBUTION)])
        for task_assignor in registry.task_assignors():
            task_assignor.create()
        for connect_assignor in registry.connect_assignors():
            connect_assignor.create()


def _forked(
    control: socket.socket, descriptors: list[int], command: dict[str, Any], serve: Any, launched: dict[int, str]
) -> int | None:
    """Forks a process for a plugin; ``None`` if that cannot be done now."""
    try:
        folder = tempfile.mkdtemp(prefix="plugin-", dir=command["folders"])
        pid = os.fork()
    except OSError:
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    if pid == 0:
        try:
            control.close()
            _confine(folder, descriptors[1], command)
            serve(descriptors[0])
        finally:
            os._exit(SETUP_FAILED)
    for descriptor in descriptors:
        os.close(descriptor)
    launched[pid] = folder
    return pid


def _confine(folder: str, output_fd: int, command: dict[str, Any]) -> None:
    """Sets the limits of a new process; what cannot be set on this system is left as it is."""
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(output_fd)
    os.chdir(folder)
    os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
    memory = command["memory_mb"] * 2**20
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, memory),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _reaped(pid: int, launched: dict[int, str], *, waits: bool) -> int | None:
    """Ends a process and everything that it started.

    Args:
        pid: The process.
        launched: All processes; it is taken out.
        waits: Whether it has a moment to end by itself.

    Returns:
        How it ended by itself, as ``os.waitstatus_to_exitcode`` tells it; ``None`` if it had to be ended.
    """
    folder = launched.pop(pid, None)
    if folder is None:
        return None
    ended = _ends_within(pid, GRACE_SECONDS if waits else 0.0)
    # Until it is waited for, its id and that of its group belong to nobody else.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)
    try:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        ended, status = False, 0
    _end_orphans(launched)
    shutil.rmtree(folder, ignore_errors=True)
    return status if ended else None


def _ends_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while True:
        try:
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
        except ChildProcessError:
            return False
        if time.monotonic() >= end:
            return False
        time.sleep(0.002)


def _end_orphans(launched: dict[int, str]) -> None:
    """Ends what plugins' processes started and left behind: being orphans, these are now children of this process."""
    for _ in range(100):
        orphans = [pid for pid in children_of(os.getpid()) if pid not in launched]
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def children_of(pid: int) -> list[int]:
    """Children of the first thread's process ``pid``; none where the system does not tell."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - a path object for each look costs more
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def _prctl(option: int, value: int) -> None:
    """Linux's ``prctl``; other systems have no such thing, and the launcher's own watch has to do there."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
