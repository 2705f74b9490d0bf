"""``assignor connect serve``, a live Connect cluster, and ``assignor connect workers``, its workers while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, note, print_json, print_line, table

if TYPE_CHECKING:
    from assignor_lab.connect.settings import LiveWorkerSettings

__all__ = ["register"]

DataDirectory = Annotated[
    Path, typer.Option("--data-dir", metavar="DIR", help="Where logs, topics and connectors' files are kept.")
]
Workers = Annotated[int, typer.Option("--workers", metavar="N", min=1, max=100, help="Number of workers.")]
Port = Annotated[
    int,
    typer.Option(
        "--port", metavar="P", min=0, max=65535, help="Port of the first worker, the next ones in a row; 0 = any."
    ),
]
Host = Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen at.")]
Protocol = Annotated[
    str, typer.Option("--protocol", metavar="NAME", help="eager, compatible, sessioned or static (KIP-987).")
]
StaticConnectors = Annotated[
    list[str] | None,
    typer.Option(
        "--static-connectors", metavar="WORKER=NAMES",
        help="static.connectors of a worker (w1, w2, ...), with commas; may be repeated.",
    ),
]  # fmt: skip
StaticTasks = Annotated[
    list[str] | None,
    typer.Option(
        "--static-tasks", metavar="WORKER=TASKS",
        help="static.tasks of a worker, such as w2=files-0,files-1; may be repeated.",
    ),
]  # fmt: skip
Delay = Annotated[
    int,
    typer.Option(
        "--max-delay-ms", metavar="MS", min=0, max=2**31 - 1,
        help="scheduled.rebalance.max.delay.ms: how long the jobs of a lost worker wait for it.",
    ),
]  # fmt: skip
Session = Annotated[
    int,
    typer.Option(
        "--session-timeout-ms", metavar="MS", min=100, max=1_800_000,
        help="session.timeout.ms: how long nothing need be heard of a worker before it is taken for dead.",
    ),
]  # fmt: skip
Assignor = Annotated[
    str | None,
    typer.Option("--assignor", metavar="NAME", help="Assignor for every protocol but eager; Kafka's own by default."),
]
Standalone = Annotated[bool, typer.Option("--standalone", help="One worker without a group; restarts are synchronous.")]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A further name by which clients reach us; may be repeated."),
]
AllowedOrigins = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="URL", help="An origin whose pages may change things; may be repeated."),
]
LogLevel = Annotated[str, typer.Option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")]
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
    connect.command("serve")(_serve)
    workers = typer.Typer(name="workers", help="Workers of a running `connect serve`.", no_args_is_help=True)
    workers.command("list")(_list)
    workers.command("add")(_add)
    workers.command("stop")(_stop)
    workers.command("kill")(_kill)
    workers.command("roll")(_roll)
    connect.add_typer(workers)


# --- serve ------------------------------------------------------------------------------------------


def _serve(
    data_dir: DataDirectory,
    workers: Workers = 1,
    port: Port = 8083,
    host: Host = "127.0.0.1",
    protocol: Protocol = "sessioned",
    static_connectors: StaticConnectors = None,
    static_tasks: StaticTasks = None,
    max_delay_ms: Delay = 300_000,
    session_timeout_ms: Session = 10_000,
    assignor: Assignor = None,
    allow_host: AllowedHosts = None,
    allow_origin: AllowedOrigins = None,
    log_level: LogLevel = "INFO",
    standalone: Standalone = False,  # noqa: FBT002 - a flag
) -> None:
    """Run Connect workers of this project, with Connect's REST interface.

    Everything is kept in the data directory and survives a crash; connectors' files are in its directory files. Ctrl-C
    stops the workers in order.
    """
    from assignor_lab.connect.rest import RestSettings

    if log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise typer.BadParameter(f"{log_level!r} is no level", param_hint="--log-level")
    logging.basicConfig(stream=sys.stderr, level=log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    rest = RestSettings(allowed_hosts=tuple(allow_host or ()), allowed_origins=tuple(allow_origin or ()))
    if standalone:
        if workers != 1 or static_connectors or static_tasks:
            raise typer.BadParameter("a standalone worker is alone, and has no static jobs", param_hint="--standalone")
        asyncio.run(_run_standalone(data_dir, host, port, rest))
        return
    settings = [
        _settings(f"w{number}", workers, protocol, max_delay_ms, static_connectors or [], static_tasks or [])
        for number in range(1, workers + 1)
    ]
    asyncio.run(_run_cluster(data_dir, host, port, settings, session_timeout_ms, assignor, rest))


def _settings(
    name: str, workers: int, protocol: str, max_delay_ms: int, connectors: list[str], tasks: list[str]
) -> LiveWorkerSettings:
    from assignor_lab.connect.control import changed_settings
    from assignor_lab.connect.settings import LiveWorkerSettings

    changes: dict[str, Any] = {"protocol": protocol, "max_delay_ms": max_delay_ms}
    for option, key, given in (
        ("--static-connectors", "static_connectors", connectors),
        ("--static-tasks", "static_tasks", tasks),
    ):
        for text in given:
            worker, separator, jobs = text.partition("=")
            if not separator or worker not in {f"w{number}" for number in range(1, workers + 1)}:
                raise typer.BadParameter(f"{text!r:.120}: expected w1=... to w{workers}=...", param_hint=option)
            if worker == name:
                changes[key] = jobs
    return changed_settings(LiveWorkerSettings(), changes)


async def _run_cluster(
    data_dir: Path,
    host: str,
    port: int,
    settings: list[LiveWorkerSettings],
    session_timeout_ms: int,
    assignor: str | None,
    rest: Any,
) -> None:
    from assignor_lab.connect.cluster import ConnectCluster
    from assignor_lab.connect.control import listen
    from assignor_lab.connect.served_cluster import ServedCluster, advertised_host
    from assignor_lab.connect.settings import LiveTimings

    # Within one process a heartbeat costs nothing, and nobody's start takes seconds.
    timings = LiveTimings(
        heartbeat_interval_ms=min(300, session_timeout_ms // 3),
        session_timeout_ms=session_timeout_ms,
        initial_rebalance_delay_ms=500,
    )
    async with ConnectCluster(data_dir, timings, assignor=assignor, host=advertised_host(host)) as cluster:
        served = ServedCluster(cluster, host, rest)
        try:
            defaults = attrs.evolve(settings[0], timings=timings)
            async with listen(served, defaults):
                for number, each in enumerate(settings):
                    worker = await served.add(port + number if port else 0, attrs.evolve(each, timings=timings))
                    print_line(f"{worker.name} {worker.url}")
                await _interrupted()
                note("stopping")
        finally:
            await served.close()


async def _run_standalone(data_dir: Path, host: str, port: int, rest: Any) -> None:
    from assignment_api.plugins import discover
    from assignor_lab.connect.herders.standalone import StandaloneHerder
    from assignor_lab.connect.logs.cluster_logs import ClusterLogs
    from assignor_lab.connect.plugins.connector_plugins import ConnectorPlugins
    from assignor_lab.connect.rest import create_app, listening_socket, serve
    from assignor_lab.connect.served_cluster import advertised_host, answering_to
    from assignor_lab.connect.settings import LiveWorkerSettings

    logs = ClusterLogs(data_dir)
    logs.start()
    try:
        listener = listening_socket(host, port)
        worker_id = f"{advertised_host(host)}:{listener.getsockname()[1]}"
        herder = StandaloneHerder(worker_id, LiveWorkerSettings(), logs, ConnectorPlugins.from_registry(discover()))
        async with serve(create_app(herder, answering_to(host, rest)), listener, rest) as server:
            await herder.start()
            print_line(f"standalone {server.url}/")
            await _interrupted()
            note("stopping")
        await herder.stop()
    finally:
        await asyncio.to_thread(logs.close)


async def _interrupted() -> None:
    """Returns when the process is asked to end."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for each in signals:
        loop.add_signal_handler(each, asked.set)
    try:
        await asked.wait()
    finally:
        for each in signals:
            with contextlib.suppress(ValueError):
                loop.remove_signal_handler(each)


# --- workers ----------------------------------------------------------------------------------------


def _list(data_dir: DataDirectory, json: Json = False) -> None:  # noqa: FBT002 - a flag
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
    json: Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Start another worker; it is set up as the first one was, but for what is given, and has no static jobs."""
    changes = _changes(protocol, max_delay_ms, static_connectors, static_tasks, wildcard=True)
    _tell(data_dir, {"do": "add", "port": port, "name": name, "settings": changes}, as_json=json)


def _stop(worker: Worker, data_dir: DataDirectory, json: Json = False) -> None:  # noqa: FBT002 - a flag
    """Stop a worker in order: it stops its work, then leaves the group."""
    _tell(data_dir, {"do": "stop", "worker": worker}, as_json=json)


def _kill(worker: Worker, data_dir: DataDirectory, json: Json = False) -> None:  # noqa: FBT002 - a flag
    """Have a worker vanish: the group finds out after the session timeout."""
    _tell(data_dir, {"do": "kill", "worker": worker}, as_json=json)


def _roll(
    worker: Worker,
    data_dir: DataDirectory,
    protocol: NewProtocol = None,
    max_delay_ms: NewDelay = None,
    static_connectors: NewConnectors = None,
    static_tasks: NewTasks = None,
    wildcard: Wildcard = False,  # noqa: FBT002 - a flag
    json: Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Stop a worker in order and start it again on its port, with other settings where they are given."""
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
    from assignor_lab.connect.control import ask

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
