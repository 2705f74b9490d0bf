"""``assignor connect serve``: a live Connect cluster."""

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

from assignor_lab.cli.connect.options import DataDirectory
from assignor_lab.cli.text import note, print_line

if TYPE_CHECKING:
    from connect_workers.settings import LiveWorkerSettings

__all__ = ["register"]

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
        help="session.timeout.ms: time without a heartbeat after which a worker counts as dead.",
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
    typer.Option("--allow-origin", metavar="URL", help="An origin whose pages may send changes; may be repeated."),
]
LogLevel = Annotated[str, typer.Option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")]


def register(connect: typer.Typer) -> None:
    """Adds the command to ``assignor connect``."""
    connect.command("serve")(_serve)


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
    standalone: Standalone = False,
) -> None:
    """Run Connect workers of this project, with Connect's REST interface.

    Everything is kept in the data directory and survives a crash; connectors' files are in its directory files. Ctrl-C
    stops the workers in order.
    """
    from connect_workers.rest import RestSettings

    if log_level.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise typer.BadParameter(f"{log_level!r} is no level", param_hint="--log-level")
    logging.basicConfig(stream=sys.stderr, level=log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    for chatty in ("httpx", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
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
    from connect_workers.control import changed_settings
    from connect_workers.settings import LiveWorkerSettings

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
    from connect_workers.cluster import ConnectCluster
    from connect_workers.control import listen
    from connect_workers.served_cluster import ServedCluster, advertised_host
    from connect_workers.settings import LiveTimings

    # Within one process a heartbeat costs nothing, and no start takes seconds.
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
    from assignment_api.plugins import effective_config
    from assignor_lab.http.server import listening_socket, serve
    from assignor_lab.runtime.discovery import discovered
    from connect_workers.herders.standalone import StandaloneHerder
    from connect_workers.logs.cluster_logs import ClusterLogs
    from connect_workers.plugins.connector_plugins import ConnectorPlugins
    from connect_workers.rest import create_app
    from connect_workers.served_cluster import advertised_host, answering_to
    from connect_workers.settings import LiveWorkerSettings

    logs = ClusterLogs(data_dir)
    logs.start()
    try:
        listener = listening_socket(host, port)
        worker_id = f"{advertised_host(host)}:{listener.getsockname()[1]}"
        plugins = ConnectorPlugins.from_registry(discovered(effective_config()).registry)
        herder = StandaloneHerder(worker_id, LiveWorkerSettings(), logs, plugins)
        async with serve(create_app(herder, answering_to(host, rest)), listener, rest) as server:
            await herder.start()
            print_line(f"standalone {server.url}/")
            await _interrupted()
            note("stopping")
        await herder.stop()
    finally:
        await asyncio.to_thread(logs.close)


async def _interrupted() -> None:
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for each in signals:
        loop.add_signal_handler(each, interrupted.set)
    try:
        await interrupted.wait()
    finally:
        for each in signals:
            with contextlib.suppress(ValueError):
                loop.remove_signal_handler(each)
