"""The process that plugins' processes are forked from. It runs nothing but this project's own code.

Starting Python anew for each plugin, and again after each crash, would cost a third of a second. So one launcher is
started with a clean environment for each process of the lab; it imports the contract once and forks a process for
each plugin, under a keeper each (:mod:`assignor_lab.runtime.isolation.keeper`), which tells how they ended and ends
what they leave behind. It ends, and they with it, as soon as the lab's process is gone.

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
from assignor_lab.runtime.isolation import namespaces
from assignor_lab.runtime.isolation.descendants import become_subreaper, children_of, end_descendants
from assignor_lab.runtime.isolation.folders import remove_folder
from assignor_lab.runtime.isolation.keeper import keep

__all__ = ["main"]

#: Where assignors are asked: who is to do that needs the built-ins, too, most likely.
ASKING_HANDLERS = "assignor_lab.runtime.isolation.handlers"

#: Seconds between two looks at whether the lab's process is still there.
WATCH_SECONDS = 1.0
#: Seconds that a process which closed its connection has to end by itself, so that one learns how it ended.
GRACE_SECONDS = 1.0
#: Seconds that removing what plugins have left in their folders may take: of one that has ended, and of all in the end.
_REMOVING_SECONDS = 0.5
LAST_SECONDS = 3.0
_MAX_COMMAND = 65_536


def main(control_fd: int, parent: int, folders: str) -> NoReturn:
    """Answers commands until the lab's process is gone.

    Args:
        control_fd: Socket on which commands come.
        parent: Process id of the lab's process.
        folders: Folder in which each process gets a folder of its own; it is removed in the end.
    """
    from assignor_lab.runtime.isolation import worker

    # A Ctrl-C in the terminal is for the lab; the launcher notices that it goes.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    namespaces.hide()
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=control_fd)
    kept: dict[int, _Kept] = {}
    # Only this process holds the other end: keepers see it closed when this process is gone.
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
                answer: dict[str, Any] = {"pid": found and found.pid, "keeper": found and found.keeper}
            else:
                answer = {"status": _reaped(command["pid"], kept, waits=command["waits"])}
            control.sendall(json.dumps(answer).encode() + b"\n")
    finally:
        for pid in list(kept):
            _reaped(pid, kept, waits=False)
        remove_folder(folders, LAST_SECONDS)
        os._exit(0)


def _import_own(modules: list[str]) -> None:
    """Imports what the next process will need, once for all that follow: this project's own code and nothing else."""
    if ASKING_HANDLERS in modules and ASKING_HANDLERS not in sys.modules:
        _import_built_ins()
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


@attrs.frozen
class _Kept:
    """A plugin's process, and its keeper.

    Args:
        pid: The plugin's process.
        keeper: Its parent.
        told: What the keeper tells can be read here.
        folder: The process's own folder.
        has_namespace: Whether the kernel ends everything else there together with the keeper.
    """

    pid: int
    keeper: int
    told: int
    folder: str
    has_namespace: bool


def _forked(
    ours: tuple[int, ...],
    alive: int,
    descriptors: list[int],
    command: dict[str, Any],
    serve: Callable[[int], NoReturn],
    kept: dict[int, _Kept],
) -> _Kept | None:
    """Forks a process for a plugin, under a keeper; ``None`` if that cannot be done now."""
    connection, output = descriptors
    born, bear = os.pipe()
    told, tell = os.pipe()
    try:
        folder = tempfile.mkdtemp(prefix="plugin-", dir=command["folders"])
        first = os.fork()
    except OSError:
        for descriptor in (*descriptors, born, bear, told, tell):
            os.close(descriptor)
        return None
    if first == 0:
        for descriptor in (*ours, born, told, *(each.told for each in kept.values())):
            os.close(descriptor)

        def run() -> NoReturn:
            _confine(folder, output, command)
            serve(connection)

        _begin_keeper(
            run,
            bear,
            tell,
            alive,
            (connection, output),
            folder if command["namespace"] else None,
            command["memory_mb"],
        )
    for descriptor in (*descriptors, bear, tell):
        os.close(descriptor)
    keeper = _number_from(born) or first
    os.close(born)
    has_namespace = keeper != first
    if has_namespace:
        os.waitpid(first, 0)
    pid = _number_from(told)
    if pid and has_namespace:
        # It told its number in there. It has no other child, for the plugin was not asked anything yet.
        pid = next(iter(children_of(keeper)), None)
    found = _Kept(pid or 0, keeper, told, folder, has_namespace)
    if not pid:
        os.close(told)
        _end(found, kept)
        return None
    kept[pid] = found
    return found


def _begin_keeper(
    run: Callable[[], NoReturn],
    bear: int,
    tell: int,
    alive: int,
    others: tuple[int, ...],
    folder: str | None,
    memory_mb: int,
) -> NoReturn:
    """Becomes the keeper, or, where a namespace can be had, leaves that to the first process in it.

    Args:
        run: Runs the plugin.
        bear: File descriptor for a line, the keeper's process id.
        tell: As of :func:`keep`.
        alive: As there.
        others: As there.
        folder: The plugin's folder, where a namespace is to be tried for.
        memory_mb: Mebibytes that it may hold in there, and of shared memory.
    """
    has_namespace = folder is not None and namespaces.enter()
    try:
        keeper = os.fork() if has_namespace else 0
    except OSError:
        os._exit(1)
    if keeper or not has_namespace:
        os.write(bear, b"%d\n" % (keeper or os.getpid()))
    os.close(bear)
    if keeper:
        os._exit(0)
    if has_namespace and folder is not None:
        namespaces.mount_own(folder, memory_mb)
        namespaces.hide()
    keep(run, tell, alive, others, is_first=has_namespace)


def _number_from(told: int, seconds: float | None = None) -> int | None:
    """The next line of a keeper; ``None`` if there is none within ``seconds``."""
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([told], [], [], seconds)[0]:
            return None
        part = os.read(told, 1)
        if not part:
            return None
        line += part
    return int(line)


def _confine(folder: str, output_fd: int, command: dict[str, Any]) -> None:
    """Sets the limits of a new process; what cannot be set on this system is left as it is."""
    os.setsid()
    namespaces.give_up_rights()
    # The launcher and the keeper are hidden; here the lab has to see how much memory is shared.
    namespaces.show()
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

    Args:
        pid: The process.
        kept: All processes; it is taken out.
        waits: Whether it has a moment to end by itself.

    Returns:
        How it ended by itself, as ``os.waitstatus_to_exitcode`` tells it; ``None`` if it had to be ended.
    """
    found = kept.pop(pid, None)
    if found is None:
        return None
    status = _number_from(found.told, GRACE_SECONDS if waits else 0.0)
    os.close(found.told)
    if status is None:
        # Where there is no /proc, that is all that is known of what it started.
        with contextlib.suppress(OSError):
            os.killpg(found.pid, signal.SIGKILL)
    _end(found, kept)
    return status


def _end(found: _Kept, kept: dict[int, _Kept]) -> None:
    """Ends a keeper with everything below it, and whatever lost its keeper before.

    Nothing is asked of the keeper, since a plugin may have stopped it.
    """
    if not found.has_namespace:
        end_descendants(found.keeper)
    with contextlib.suppress(OSError):
        os.kill(found.keeper, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.waitpid(found.keeper, 0)
    end_descendants(os.getpid(), frozenset(each.keeper for each in kept.values()))
    # What takes longer is left for the end: others are waiting to be started.
    remove_folder(found.folder, _REMOVING_SECONDS)
