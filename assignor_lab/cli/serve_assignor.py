"""``assignor serve-assignor``: a Python assignor for the Java application beside it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.isolation_options import Isolate, Trust, with_isolation
from assignor_lab.cli.options import ConfigFile, Overrides, sources
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.serving.serve import Served
    from assignor_lab.serving.server import Server

__all__ = ["register"]

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of a task assignor (see 'assignor plugins') or module:attribute."),
]
PortFileName = Annotated[
    Path | None,
    typer.Option(
        "--port-file",
        metavar="FILE",
        help="File for port and token, readable by its owner only: the application's assignor.lab.port.file.",
    ),
]
Stdio = Annotated[
    bool,
    typer.Option("--stdio", help="Serve the process that started this one, by standard input and output."),
]
Log = Annotated[
    Path | None,
    typer.Option("--log", metavar="DIR", help="Folder for every decision with its input, as scenarios."),
]
LogMb = Annotated[
    int,
    typer.Option("--log-mb", metavar="N", min=1, help="Mebibytes of that folder; the oldest decisions go first."),
]
Parallel = Annotated[
    int, typer.Option("--parallel", metavar="N", min=1, max=64, help="Most groups with an answer in progress.")
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("serve-assignor")(_serve_assignor)


def _serve_assignor(
    name: Name,
    port_file: PortFileName = None,
    stdio: Stdio = False,
    log: Log = None,
    log_mb: LogMb = 256,
    parallel: Parallel = 2,
    trust: Trust = None,
    isolate: Isolate = None,
    config: ConfigFile = None,
    c: Overrides = None,
) -> None:
    """Serve a task assignor to local Java applications, which call it through the shim of 'java-shim'.

    It serves the loopback address, for users with access to the port file. SIGTERM ends it after the present answers.
    """
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.serving.decision_log import DecisionLog
    from assignor_lab.serving.serve import Served, serve_by_pipes

    if (port_file is None) == (not stdio):
        raise typer.BadParameter("give one of --port-file and --stdio", param_hint="--port-file")
    # Printed text must not get between the frames.
    target = os.dup(1) if stdio else -1
    if stdio:
        os.dup2(2, 1)
    given = sources(config, with_isolation(c, trust, isolate))
    plugins = found_plugins(given.effective())
    with ExitStack() as stack:
        kept = None if log is None else stack.enter_context(closing(DecisionLog(log, log_mb * 2**20, note)))
        served = Served(name, plugins, given, parallel, kept, note)
        if port_file is not None:
            _serve(served, port_file)
            return
        stopped, stop = os.pipe()
        with _stopped_by_signals(lambda: os.write(stop, b"\0")):
            serve_by_pipes(served, 0, target, stopped)


def _serve(served: Served, port_file: Path) -> None:
    from assignor_lab.serving.serve import serve_by_port_file

    running: list[Server] = []

    def ready(server: Server) -> None:
        running.append(server)
        note(f"{served.assignor} is served at port {server.port} of the loopback address, by {port_file}")

    def stop_running() -> None:
        if not running:
            # No request is served yet: nothing needs an orderly end.
            raise KeyboardInterrupt
        running[0].stop()

    with _stopped_by_signals(stop_running):
        serve_by_port_file(served, port_file, ready)


@contextmanager
def _stopped_by_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Makes Ctrl-C and SIGTERM, the stop signal of services, request an orderly end; the second one ends at once."""
    came: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if came:
            signal.default_int_handler(number, frame)
        came.append(number)
        stop()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
