"""What a herder is asked to do between rebalances: REST requests, and connector instances with new task configurations.

A request runs only when the herder comes to it, so that a rebalance makes it wait; this is what paces a client that
sends one request after the other (reference 6.3 step 4, 8.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol

import attrs

from assignor_lab.simulation.connect.config_log import ConfigLog, ConfigRecord
from assignor_lab.simulation.connect.herder_steps import Sleep, Steps
from assignor_lab.simulation.connect.timings import Timings

if TYPE_CHECKING:
    from assignor_lab.simulation.connect.worker import WorkerProcess

__all__ = ["Request", "RequestWorld", "Requests"]


@attrs.define
class Request:
    """Something to be written to the config topic by the leader.

    Args:
        kind: ``create`` or ``alter`` a connector, ``delete`` it, or ``tasks``: put its tasks' configurations.
        connector: Name of the connector.
        tasks: How many tasks.
        done: Called with true when it was written, false when it was refused.
        validated: Whether the worker at which it is has checked the configuration.
        hops: How often it was passed on.
    """

    kind: Literal["create", "alter", "delete", "tasks"]
    connector: str
    tasks: int
    done: Callable[[bool], None]
    validated: bool = False
    hops: int = 0


class RequestWorld(Protocol):
    """What requests need of the world."""

    timings: Timings
    config: ConfigLog

    @property
    def now(self) -> int:
        """What the clock shows."""
        ...

    def at_process(self, process: int, time_ms: int, action: Callable[[], None]) -> None:
        """Has ``action`` called at a moment if the process still lives then."""
        ...

    def forward(self, leader: str, request: Request) -> bool:
        """Passes a request on to the leader's worker; false if it is not there."""
        ...

    def can_read_config(self, worker: str) -> bool:
        """Whether a worker can read the config topic."""
        ...

    def jitter(self) -> int:
        """What a small duration is longer by than it should be."""
        ...

    def wake(self, process: int) -> None:
        """Wakes a herder that polls."""
        ...

    def written(self, worker: WorkerProcess, *, tasks: bool) -> None:
        """A worker has written to the config topic: the others will hear of it."""
        ...

    def say(self, actor: str, event: str, text: str, **details: Any) -> None:
        """Adds to the event log."""
        ...


class Requests:
    """The queue of one herder.

    Args:
        process: Number of the process.
        world: The world.
    """

    #: First and longest pause before a connector's task configurations are tried again (reference 6.8).
    RETRY_MS = (250, 60_000)

    def __init__(self, process: int, world: RequestWorld) -> None:
        self._process, self._world = process, world
        self._queue: list[Request] = []
        self._expected = 0

    def is_empty(self) -> bool:
        """Whether nothing is queued or about to be."""
        return not self._queue and not self._expected

    def add(self, request: Request) -> None:
        """Queues a request and wakes the herder."""
        self._queue.append(request)
        self._world.wake(self._process)

    def add_at(self, request: Request, time_ms: int) -> None:
        """Queues a request that is on its way."""
        self._expected += 1

        def arrive() -> None:
            self._expected -= 1
            self.add(request)

        self._world.at_process(self._process, time_ms, arrive)

    def reconfigure_at(self, connector: str, time_ms: int) -> None:
        """A connector instance will have its tasks' configurations at a moment."""
        self._wanted(connector, time_ms, self.RETRY_MS[0])

    def _wanted(self, connector: str, time_ms: int, retry_ms: int) -> None:
        def again(ok: bool) -> None:  # noqa: FBT001 - the answer to a request
            if not ok:
                self._wanted(connector, self._world.now + retry_ms, min(retry_ms * 2, self.RETRY_MS[1]))

        self.add_at(Request("tasks", connector, -1, again, validated=True), time_ms + self._world.jitter())

    def run(self, herder: WorkerProcess) -> Steps:
        """Runs everything that is queued, in order."""
        queue, self._queue = self._queue, []
        for request in queue:
            yield from self._run(request, herder)

    def _run(self, request: Request, herder: WorkerProcess) -> Steps:
        world = self._world
        if not request.validated:
            request.validated = True
            self.add_at(request, world.now + world.timings.validation_ms + world.jitter())
            return
        if request.kind == "tasks" and request.tasks < 0:
            view = herder.view()
            if not view.needs_task_configs(request.connector):
                request.done(True)
                return
            request.tasks = view.wanted[request.connector]
        if not herder.leads:
            leader = herder.leader
            request.validated = request.kind not in ("create", "alter")
            request.hops += 1
            if leader is None or leader == herder.name or request.hops > 2 or not world.forward(leader, request):
                if request.kind == "tasks":
                    request.tasks, request.validated, request.hops = -1, True, 0
                request.done(False)
            return
        if not world.can_read_config(herder.name):
            # The leader waits for what it wrote to come back, and gives up.
            yield Sleep(world.timings.worker_sync_timeout_ms)
            request.done(False)
            return
        half = world.timings.config_write_ms // 2
        yield Sleep(half)
        if self._write(request, herder):
            world.written(herder, tasks=request.kind == "tasks")
        # Others may have read it before the leader has it back, and goes on.
        yield Sleep(world.timings.config_write_ms - half + world.jitter())
        herder.read_config(world.config.end)
        request.done(True)

    def _write(self, request: Request, herder: WorkerProcess) -> bool:
        config = self._world.config
        view = config.view(config.end)
        known = request.connector in view.wanted
        name = request.connector
        if request.kind == "tasks":
            if not known or view.jobs.task_counts.get(name) == request.tasks:
                return False
            config.append(ConfigRecord("commit", name, request.tasks))
            self._world.say(herder.name, "config", f"writes configurations of {request.tasks} tasks of {name}")
            return True
        if request.kind == "delete":
            if not known:
                return False
            config.append(ConfigRecord("delete", name))
            self._world.say(herder.name, "config", f"deletes connector {name}")
            return True
        if request.kind == "create" and known:
            return False
        config.append(ConfigRecord("connector", name, request.tasks))
        verb = "creates" if not known else "changes"
        self._world.say(herder.name, "config", f"{verb} connector {name}")
        return True
