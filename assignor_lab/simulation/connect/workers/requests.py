"""Requests to a herder between rebalances: by REST, and of connector instances with new task configurations.

A request runs only when the herder comes to it, so that a rebalance makes it wait; this is what paces a client that
sends one request after the other (Kafka: ``DistributedHerder.tick``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import attrs

from assignor_lab.kafka.herder.task_configs_retry import FIRST_PAUSE_MS, next_pause_ms

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
    """What a queue of requests needs of the world."""

    @property
    def now(self) -> int:
        """What the clock shows."""
        ...

    def at_process(self, process: int, time_ms: int, action: Callable[[], None]) -> None:
        """Has ``action`` called at a moment if the process still lives then."""
        ...

    def jitter(self) -> int:
        """What a small duration is longer by than it should be."""
        ...

    def wake(self, process: int) -> None:
        """Wakes a herder that polls."""
        ...


class Requests:
    """The queue of one herder.

    Args:
        process: Number of the process.
        world: The world.
    """

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
        self._wanted(connector, time_ms, FIRST_PAUSE_MS)

    def _wanted(self, connector: str, time_ms: int, retry_ms: int) -> None:
        def again(ok: bool) -> None:  # noqa: FBT001 - the answer to a request
            if not ok:
                self._wanted(connector, self._world.now + retry_ms, next_pause_ms(retry_ms))

        self.add_at(Request("tasks", connector, -1, again, validated=True), time_ms + self._world.jitter())

    def take(self) -> list[Request]:
        """Everything that is queued, in order; nothing is left."""
        queue, self._queue = self._queue, []
        return queue
