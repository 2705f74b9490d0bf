"""Serving an assignor with warm plugins, by a port file or by pipes, until it is stopped."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources
from assignment_api.plugins.keys import CALL_TIMEOUT_MS
from assignor_lab.groups.runner.result_lines import Answerer, AnswerOptions, answerer
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.plugins import Isolation
from assignor_lab.scenarios import ScenarioKindError
from assignor_lab.serving.deciding import Decider
from assignor_lab.serving.decision_log import DecisionLog
from assignor_lab.serving.errors import ServingError
from assignor_lab.serving.port_file import PortFile, withdraw, write_port_file
from assignor_lab.serving.server import Server, serve_pipes

__all__ = ["DEADLINE_MS", "Served", "serve_by_pipes", "serve_by_port_file"]

DEADLINE_MS = 1_500
_MORE_TIME = f"assignor.lab.deadline.ms of the application, and a lower {CALL_TIMEOUT_MS} of serve-assignor"


@attrs.frozen(eq=False)
class Served:
    """A served assignor."""

    assignor: str
    plugins: Plugins
    sources: ConfigSources
    parallel: int
    log: DecisionLog | None
    on_problem: Callable[[str], None]


def serve_by_port_file(served: Served, path: Path, on_ready: Callable[[Server], None]) -> None:
    """Serves until the server passed to ``on_ready`` is stopped.

    Raises:
        ServingError: if a living process uses this file, or it is no task assignor.
        PluginError: a subclass, if the assignor is not available.
        OutputFileError: if the port file cannot be written.
    """
    with _decider(served) as decider:
        token = secrets.token_urlsafe(32)
        server = Server(decider, served.log, served.assignor, token, served.on_problem)
        port_file = PortFile(server.port, token, os.getpid(), served.assignor)
        write_port_file(path, port_file)
        try:
            on_ready(server)
            server.run()
        finally:
            withdraw(path, port_file)


def serve_by_pipes(served: Served, source: int, target: int, stopped: int | None) -> None:
    """Serves the process at the other end of two pipes until it closes them; errors as of the parts."""
    with _decider(served) as decider:
        serve_pipes(source, target, decider, served.log, served.assignor, stopped)


@contextmanager
def _decider(served: Served) -> Iterator[Decider]:
    config = served.sources.effective()
    # An application waits for this assignor, so its own deadline comes first, and leaving it out is no remedy.
    limits = attrs.evolve(Limits.of(config), more_time=_MORE_TIME, or_leave_out="")
    if CALL_TIMEOUT_MS not in config or config[CALL_TIMEOUT_MS].value is None:
        limits = attrs.evolve(limits, deadline_ms=DEADLINE_MS)
    made: list[Isolation] = []

    def make() -> Answerer:
        # Each has its own processes, so a hanging call blocks no other group.
        isolation = Isolation(limits, served.plugins.isolation.policy)
        made.append(isolation)
        options = AnswerOptions(served.sources, followups=True, on_problem=served.on_problem, isolation=isolation)
        return answerer(served.assignor, served.plugins.registry, options, may_run_code=True)

    decider = Decider(make, served.parallel)
    try:
        error = _warmed(decider, served.assignor)["error"]
        if error is not None:
            served.on_problem(
                f"{served.assignor} does not answer a state of one task: {error['type']}: {error['message']}"
            )
        yield decider
    finally:
        for isolation in made:
            isolation.close()


def _warmed(decider: Decider, assignor: str) -> dict[str, Any]:
    try:
        return decider.warm_up()
    except ScenarioKindError:
        raise ServingError(
            f"{assignor} is no task assignor of classic Streams groups, and applications call only those: "
            "name another one (`assignor plugins` lists them)"
        ) from None
