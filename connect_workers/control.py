"""The control socket of ``assignor connect serve``: workers are added, stopped, killed and rolled through it.

A Unix socket in the data directory takes one JSON line for each connection and answers with one. Only the
owner of the directory can reach it, and no web page.

::

    {"do": "list"}
    {"do": "add", "port": 0, "name": null, "settings": {...}}
    {"do": "stop" | "kill", "worker": "w1"}
    {"do": "roll", "worker": "w1", "settings": {...}}

``settings`` has any of ``protocol``, ``static_connectors``, ``static_tasks`` (texts with commas, or null) and
``max_delay_ms``; missing keys stay unchanged. The answer is ``{"workers": [...]}`` or ``{"error": "..."}``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.connect import STATIC_CONNECTORS, STATIC_TASKS, ConnectProtocol, StaticJobs
from connect_workers.served_cluster import ServedCluster
from connect_workers.settings import LiveWorkerSettings

__all__ = ["ControlError", "ask", "changed_settings", "listen"]

_SOCKET = "control"
_MOST_BYTES = 1 << 20
#: A Unix socket's path has to be shorter than this, on any system.
_MOST_PATH = 100


class ControlError(AssignorLabError):
    """The running cluster cannot be reached, or refuses."""


def changed_settings(settings: LiveWorkerSettings, changes: Mapping[str, Any]) -> LiveWorkerSettings:
    """Settings with changes as a user gives them.

    Raises:
        ControlError: if there is no such setting.
        ConnectConfigError: if a value cannot be used.
    """
    unknown = sorted(set(changes) - {"protocol", "static_connectors", "static_tasks", "max_delay_ms"})
    if unknown:
        raise ControlError(f"there is no setting {unknown[0]!r:.80}")
    made = settings
    if "protocol" in changes:
        made = attrs.evolve(made, protocol=ConnectProtocol.from_config(changes["protocol"]))
    if "max_delay_ms" in changes:
        delay = changes["max_delay_ms"]
        if type(delay) is not int or not 0 <= delay < 1 << 31:
            raise ControlError(f"max_delay_ms is {delay!r:.80}: give 0 to {(1 << 31) - 1}")
        made = attrs.evolve(made, max_delay_ms=delay)
    static = made.static
    if "static_connectors" in changes:
        given = StaticJobs.from_config({STATIC_CONNECTORS: changes["static_connectors"]})
        static = StaticJobs(given.connectors, static.tasks)
    if "static_tasks" in changes:
        given = StaticJobs.from_config({STATIC_TASKS: changes["static_tasks"]})
        static = StaticJobs(static.connectors, given.tasks)
    return attrs.evolve(made, static=static)


# --- the server -------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def listen(served: ServedCluster, defaults: LiveWorkerSettings) -> AsyncIterator[None]:
    """Takes commands for a cluster until the context is left.

    Args:
        defaults: Settings of added workers, for keys that a command leaves out.
    """
    path = served.cluster.logs.data.path / _SOCKET
    path.unlink(missing_ok=True)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            answer = await _answered(reader, served, defaults)
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()

    with _reachable(path) as short:
        listener = socket.socket(socket.AF_UNIX)
        umask = os.umask(0o177)
        try:
            listener.bind(short)
        except OSError as error:
            listener.close()
            raise ControlError(f"{path}: {error.strerror or error}: use a data directory on a local disk") from error
        finally:
            os.umask(umask)
    server = await asyncio.start_unix_server(talk, sock=listener, limit=_MOST_BYTES)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def _answered(
    reader: asyncio.StreamReader, served: ServedCluster, defaults: LiveWorkerSettings
) -> dict[str, Any]:
    try:
        async with asyncio.timeout(10):
            command = json.loads(await reader.readline())
        if not isinstance(command, dict):
            raise ControlError("a command is a JSON object")
        await _done(command, served, defaults)
    except AssignorLabError as error:
        return {"error": str(error)}
    except (ValueError, RecursionError, TimeoutError) as error:
        return {"error": f"no command: {error}"}
    return {"workers": _listed(served)}


async def _done(command: Mapping[str, Any], served: ServedCluster, defaults: LiveWorkerSettings) -> None:
    verb, settings = command.get("do"), command.get("settings") or {}
    if not isinstance(settings, dict):
        raise ControlError("settings is a JSON object")
    if verb == "list":
        return
    if verb == "add":
        port, name = command.get("port", 0), command.get("name")
        if type(port) is not int or not 0 <= port < 1 << 16:
            raise ControlError(f"port {port!r:.80}: give 0 to 65535")
        if name is not None and not (isinstance(name, str) and name.isascii() and name.isalnum() and len(name) < 64):
            raise ControlError(f"{name!r:.80} is no name of a worker: use up to 63 letters and digits")
        await served.add(port, changed_settings(defaults, settings), name)
        return
    worker = str(command.get("worker"))
    if verb == "stop":
        await served.stop(worker)
    elif verb == "kill":
        await served.kill(worker)
    elif verb == "roll":
        before = served.cluster.worker(worker).settings
        await served.roll(worker, changed_settings(before, settings))
    else:
        raise ControlError(f"{verb!r:.80} is no command: there are list, add, stop, kill, roll")


def _listed(served: ServedCluster) -> list[dict[str, Any]]:
    listed = []
    for worker in served.cluster.workers.values():
        membership, settings = worker.herder.loop.membership.state, worker.settings
        held = membership.held
        static = settings.static
        listed.append({
            "worker": worker.name,
            "url": worker.url,
            "protocol": settings.protocol.value,
            "max_delay_ms": settings.max_delay_ms,
            "static_connectors": None if static.connectors is None else list(static.connectors),
            "static_tasks": None if static.tasks is None else [str(task) for task in static.tasks],
            "leads": membership.is_leader,
            "generation": membership.generation,
            "connectors": 0 if held is None else len(held.connectors),
            "tasks": 0 if held is None else len(held.tasks),
        })  # fmt: skip
    return listed


# --- the client -------------------------------------------------------------------------------------


def ask(data_dir: Path, command: Mapping[str, Any], timeout_s: float = 120.0) -> list[dict[str, Any]]:
    """Sends a command to the cluster that uses a data directory; its workers after that.

    Raises:
        ControlError: if none is running there, or it refuses.
    """
    path = data_dir / _SOCKET
    try:
        with _reachable(path) as short, socket.socket(socket.AF_UNIX) as talking:
            talking.settimeout(timeout_s)
            talking.connect(short)
            talking.sendall(json.dumps(dict(command)).encode() + b"\n")
            with talking.makefile("rb") as reader:
                answer = json.loads(reader.readline(_MOST_BYTES))
    except OSError as error:
        raise ControlError(
            f"{data_dir}: no cluster answers here ({error.strerror or error}): start `assignor connect serve` with "
            "this --data-dir, or name the one that it was started with"
        ) from error
    except ValueError as error:
        raise ControlError(f"{data_dir}: the cluster ended before it answered") from error
    if "error" in answer:
        raise ControlError(str(answer["error"]))
    workers: list[dict[str, Any]] = answer["workers"]
    return workers


@contextlib.contextmanager
def _reachable(path: Path) -> Any:
    """A path to the socket that is short enough."""
    if len(os.fsencode(path)) < _MOST_PATH or not sys.platform.startswith("linux"):
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
