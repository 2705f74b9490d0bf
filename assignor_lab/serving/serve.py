"""Serving: an assignor with its plugins, warm, behind a port file or behind pipes, until it is told to stop."""

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
from assignor_lab.groups.answering import Answerer, AnswerOptions, answerer
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

#: Milliseconds of a call, where the configuration says nothing: less than the shim waits, so that it learns why.
DEADLINE_MS = 1_500


@attrs.frozen(eq=False)
class Served:
    """What is served.

    Args:
        assignor: Selector of the assignor.
        plugins: What is installed.
        sources: Configuration around each state's own.
        parallel: Most groups that are answered at a time.
        log: Where decisions are kept; ``None``: nowhere.
        on_problem: Takes what goes wrong, in sentences.
    """

    assignor: str
    plugins: Plugins
    sources: ConfigSources
    parallel: int
    log: DecisionLog | None
    on_problem: Callable[[str], None]


def serve_by_port_file(served: Served, path: Path, on_ready: Callable[[Server], None]) -> None:
    """Serves until the server that ``on_ready`` is told of is stopped.

    Raises:
        ServingError: if a process that lives serves by this file, or it is no task assignor.
        PluginError: a subclass, if the assignor cannot be had.
        OutputFileError: if the port file cannot be written.
    """
    with _decider(served) as decider:
        token = secrets.token_urlsafe(32)
        server = Server(decider, served.log, served.assignor, token, served.on_problem)
        said = PortFile(server.port, token, os.getpid(), served.assignor)
        write_port_file(path, said)
        try:
            on_ready(server)
            server.run()
        finally:
            withdraw(path, said)


def serve_by_pipes(served: Served, source: int, target: int, stopped: int | None) -> None:
    """Serves the process at the other end of two pipes until it closes them; errors as of the parts."""
    with _decider(served) as decider:
        serve_pipes(source, target, decider, served.log, served.assignor, stopped)


@contextmanager
def _decider(served: Served) -> Iterator[Decider]:
    """Who is asked; one of them is warm."""
    config = served.sources.effective()
    limits = Limits.of(config)
    if CALL_TIMEOUT_MS not in config or config[CALL_TIMEOUT_MS].value is None:
        limits = attrs.evolve(limits, deadline_ms=DEADLINE_MS)
    made: list[Isolation] = []

    def make() -> Answerer:
        # Each has processes of its own: who hangs there keeps no other group waiting.
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
            f"{assignor} is no task assignor of classic Streams groups, and only those are asked by their application: "
            "name another one (`assignor plugins` lists them)"
        ) from None
