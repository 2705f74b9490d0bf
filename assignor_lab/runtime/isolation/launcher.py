"""The process that forks the processes of plugins. It runs only this project's own code.

A new Python for each plugin, and after each crash, would cost a third of a second. So each process of the lab starts
one launcher with a clean environment. It imports the contract once and forks a process for each plugin, each under a
supervisor (:mod:`assignor_lab.runtime.isolation.supervisor`), which reports the exit status and ends what is left.
The launcher and its processes end with the lab's process.

Commands are lines of JSON on a socket, answered one by one: ``fork`` (with two file descriptors: connection and
output) and ``reap``.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import distribution
from typing import Any, NoReturn

import attrs

from assignment_api.plugins import Policy, discover
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignor_lab.runtime.isolation.descendants import become_subreaper, end_descendants
from assignor_lab.runtime.isolation.folders import remove_folder
from assignor_lab.runtime.isolation.supervisor import keep

__all__ = ["main"]

#: Modules of calls to assignors: a process that calls one most likely needs the built-ins, too.
ASKING_HANDLERS = "assignor_lab.runtime.isolation.handlers"

#: Seconds between two checks that the lab's process lives.
WATCH_SECONDS = 1.0
#: Seconds that a process with a closed connection has to end by itself, so that its exit status is known.
GRACE_SECONDS = 1.0
_REMOVING_SECONDS = 0.5
LAST_SECONDS = 3.0
_MAX_COMMAND = 65_536


def main(control_fd: int, parent: int, folders: str) -> NoReturn:
    """Executes commands until the lab's process ends.

    Args:
        folders: Folder with a subfolder for each process; it is removed at the end.
    """
    from assignor_lab.runtime.isolation import worker

    # Ctrl-C in the terminal is for the lab; the launcher notices the end of the lab.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=control_fd)
    kept: dict[int, _Kept] = {}
    # Only this process has the other end, so supervisors notice the end of this process.
    alive, held = os.pipe()
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
                ours = (control.fileno(), held)
                found = _forked(ours, alive, descriptors, {**command, "folders": folders}, worker.serve, kept)
                answer: dict[str, Any] = {"pid": found and found.pid, "supervisor": found and found.supervisor}
            else:
                answer = {"status": _reaped(command["pid"], kept, waits=command["waits"])}
            control.sendall(json.dumps(answer).encode() + b"\n")
    finally:
        for pid in list(kept):
            _reaped(pid, kept, waits=False)
        remove_folder(folders, LAST_SECONDS)
        os._exit(0)


def _import_own(modules: list[str]) -> None:
    if ASKING_HANDLERS in modules and ASKING_HANDLERS not in sys.modules:
        _import_built_ins()
    for name in modules:
        if name.startswith(f"{__name__.partition('.')[0]}."):
            with contextlib.suppress(Exception):
                importlib.import_module(name)


def _import_built_ins() -> None:
    """Imports modules that many processes of plugins need, once for all of them."""
    with contextlib.suppress(Exception):
        registry = discover(Policy(), [distribution(BUILTIN_DISTRIBUTION)])
        for task_assignor in registry.task_assignors():
            task_assignor.create()
        for connect_assignor in registry.connect_assignors():
            connect_assignor.create()


@attrs.frozen
class _Kept:
    """A plugin's process and its supervisor.

    Args:
        pid: The plugin's process.
        supervisor: Its parent.
        status_read: File descriptor with the supervisor's reports.
        folder: The process's own folder.
    """

    pid: int
    supervisor: int
    status_read: int
    folder: str


def _forked(
    ours: tuple[int, ...],
    alive: int,
    descriptors: list[int],
    command: dict[str, Any],
    serve: Callable[[int], NoReturn],
    kept: dict[int, _Kept],
) -> _Kept | None:
    """Forks a process for a plugin, under a supervisor; ``None`` if that is impossible now."""
    connection, output = descriptors
    status_read, status_write_end = os.pipe()
    try:
        folder = tempfile.mkdtemp(prefix="plugin-", dir=command["folders"])
        supervisor = os.fork()
    except OSError:
        for descriptor in (*descriptors, status_read, status_write_end):
            os.close(descriptor)
        return None
    if supervisor == 0:
        for descriptor in (*ours, status_read, *(each.status_read for each in kept.values())):
            os.close(descriptor)

        def run() -> NoReturn:
            _confine(folder, output, command)
            serve(connection)

        keep(run, status_write_end, alive, (connection, output))
    for descriptor in (*descriptors, status_write_end):
        os.close(descriptor)
    pid = _number_from(status_read)
    found = _Kept(pid or 0, supervisor, status_read, folder)
    if not pid:
        os.close(status_read)
        _end(found, kept)
        return None
    kept[pid] = found
    return found


def _number_from(descriptor: int, seconds: float | None = None) -> int | None:
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([descriptor], [], [], seconds)[0]:
            return None
        part = os.read(descriptor, 1)
        if not part:
            return None
        line += part
    return int(line)


def _confine(folder: str, output_fd: int, command: dict[str, Any]) -> None:
    """Sets the limits of a new process, as far as the system has them."""
    os.setsid()
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


def _reaped(pid: int, kept: dict[int, _Kept], *, waits: bool) -> int | None:
    """Ends a process and everything that it started.

    Returns:
        Its own exit status, as of ``os.waitstatus_to_exitcode``; ``None`` if it had to be ended.
    """
    found = kept.pop(pid, None)
    if found is None:
        return None
    status = _number_from(found.status_read, GRACE_SECONDS if waits else 0.0)
    os.close(found.status_read)
    if status is None:
        with contextlib.suppress(OSError):
            os.killpg(found.pid, signal.SIGKILL)
    _end(found, kept)
    return status


def _end(found: _Kept, kept: dict[int, _Kept]) -> None:
    """Ends a supervisor with everything below it, and all processes that lost theirs before.

    The supervisor gets no request, because a plugin may have stopped it.
    """
    end_descendants(found.supervisor)
    with contextlib.suppress(OSError):
        os.kill(found.supervisor, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.waitpid(found.supervisor, 0)
    end_descendants(os.getpid(), frozenset(each.supervisor for each in kept.values()))
    # Slower removals are left for the end, because other processes wait for their start.
    remove_folder(found.folder, _REMOVING_SECONDS)
