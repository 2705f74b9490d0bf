"""``assignor connect workers``: the workers of a running ``connect serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assignor_lab.cli.connect.options import DataDirectory
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, print_json, table

__all__ = ["register"]

Worker = Annotated[str, typer.Argument(metavar="WORKER", help="Name of the worker, as `workers list` shows it.")]
NewProtocol = Annotated[str | None, typer.Option("--protocol", metavar="NAME", help="Another connect.protocol.")]
NewDelay = Annotated[int | None, typer.Option("--max-delay-ms", metavar="MS", min=0, help="Another delay.")]
NewConnectors = Annotated[
    str | None, typer.Option("--static-connectors", metavar="NAMES", help="static.connectors, with commas.")
]
NewTasks = Annotated[str | None, typer.Option("--static-tasks", metavar="TASKS", help="static.tasks, with commas.")]
Wildcard = Annotated[bool, typer.Option("--wildcard", help="No static jobs any more.")]
OnePort = Annotated[int, typer.Option("--port", metavar="P", min=0, max=65535, help="Its port; 0 = any.")]
Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its name; w and a number by default.")]


def register(connect: typer.Typer) -> None:
    """Adds the commands to ``assignor connect``."""
    workers = typer.Typer(name="workers", help="Workers of a running `connect serve`.", no_args_is_help=True)
    workers.command("list")(_list)
    workers.command("add")(_add)
    workers.command("stop")(_stop)
    workers.command("kill")(_kill)
    workers.command("roll")(_roll)
    connect.add_typer(workers)


def _list(data_dir: DataDirectory, json: Json = False) -> None:
    """List the workers."""
    _tell(data_dir, {"do": "list"}, as_json=json)


def _add(
    data_dir: DataDirectory,
    port: OnePort = 0,
    name: Name = None,
    protocol: NewProtocol = None,
    max_delay_ms: NewDelay = None,
    static_connectors: NewConnectors = None,
    static_tasks: NewTasks = None,
    json: Json = False,
) -> None:
    """Start another worker.

    It has the first one's settings except for the given ones, and no static jobs.
    """
    changes = _changes(protocol, max_delay_ms, static_connectors, static_tasks, wildcard=True)
    _tell(data_dir, {"do": "add", "port": port, "name": name, "settings": changes}, as_json=json)


def _stop(worker: Worker, data_dir: DataDirectory, json: Json = False) -> None:
    """Stop a worker in order: it stops its work, then leaves the group."""
    _tell(data_dir, {"do": "stop", "worker": worker}, as_json=json)


def _kill(worker: Worker, data_dir: DataDirectory, json: Json = False) -> None:
    """Kill a worker: the group notices after the session timeout."""
    _tell(data_dir, {"do": "kill", "worker": worker}, as_json=json)


def _roll(
    worker: Worker,
    data_dir: DataDirectory,
    protocol: NewProtocol = None,
    max_delay_ms: NewDelay = None,
    static_connectors: NewConnectors = None,
    static_tasks: NewTasks = None,
    wildcard: Wildcard = False,
    json: Json = False,
) -> None:
    """Stop a worker in order and start it again on its port.

    The given settings replace its own.
    """
    changes = _changes(protocol, max_delay_ms, static_connectors, static_tasks, wildcard=wildcard)
    _tell(data_dir, {"do": "roll", "worker": worker, "settings": changes}, as_json=json)


def _changes(
    protocol: str | None, max_delay_ms: int | None, connectors: str | None, tasks: str | None, *, wildcard: bool
) -> dict[str, Any]:
    changes: dict[str, Any] = {"static_connectors": None, "static_tasks": None} if wildcard else {}
    given = {
        "protocol": protocol,
        "max_delay_ms": max_delay_ms,
        "static_connectors": connectors,
        "static_tasks": tasks,
    }
    return changes | {key: value for key, value in given.items() if value is not None}


def _tell(data_dir: Path, command: dict[str, Any], *, as_json: bool) -> None:
    from connect_workers.control import ask

    workers = ask(data_dir, command)
    if as_json:
        print_json(workers)
        return
    columns = ("worker", "url", "protocol", "leads", "generation", "connectors", "tasks", "static")
    rows = []
    for each in workers:
        static = [*(each["static_connectors"] or ()), *(each["static_tasks"] or ())]
        is_static = each["static_connectors"] is not None or each["static_tasks"] is not None
        rows.append((
            each["worker"], each["url"], each["protocol"], "yes" if each["leads"] else "", each["generation"],
            each["connectors"], each["tasks"], ", ".join(static) or ("nothing" if is_static else ""),
        ))  # fmt: skip
    console().print(table(columns, rows))
