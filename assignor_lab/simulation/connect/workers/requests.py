"""Requests to a herder between rebalances: by REST, and by connector instances with new task configurations.

A request waits for the herder's loop, so rebalances slow a client with consecutive requests down (Kafka:
``DistributedHerder.tick``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import attrs

from assignor_lab.kafka.herder.task_configs_retry import FIRST_PAUSE_MS, next_pause_ms

__all__ = ["Request", "RequestWorld", "Requests"]


@attrs.define
class Request:
    """A write to the config topic by the leader.

    Args:
        validated: The present worker has checked the configuration.
    """

    kind: Literal["create", "alter", "delete", "tasks"]
    connector: str
    tasks: int
    done: Callable[[bool], None]
    validated: bool = False
    hops: int = 0


class RequestWorld(Protocol):
    """A request queue's interface to the simulation."""

    @property
    def now(self) -> int: ...

    def at_process(self, process: int, time_ms: int, action: Callable[[], None]) -> None: ...

    def jitter(self) -> int: ...

    def wake(self, process: int) -> None: ...


class Requests:
    """The queue of one herder."""

    def __init__(self, process: int, world: RequestWorld) -> None:
        self._process, self._world = process, world
        self._queue: list[Request] = []
        self._expected = 0

    def is_empty(self) -> bool:
        return not self._queue and not self._expected

    def add(self, request: Request) -> None:
        self._queue.append(request)
        self._world.wake(self._process)

    def add_at(self, request: Request, time_ms: int) -> None:
        self._expected += 1

        def arrive() -> None:
            self._expected -= 1
            self.add(request)

        self._world.at_process(self._process, time_ms, arrive)

    def reconfigure_at(self, connector: str, time_ms: int) -> None:
        self._wanted(connector, time_ms, FIRST_PAUSE_MS)

    def _wanted(self, connector: str, time_ms: int, retry_ms: int) -> None:
        def again(ok: bool) -> None:  # noqa: FBT001 - the answer to a request
            if not ok:
                self._wanted(connector, self._world.now + retry_ms, next_pause_ms(retry_ms))

        self.add_at(Request("tasks", connector, -1, again, validated=True), time_ms + self._world.jitter())

    def take(self) -> list[Request]:
        queue, self._queue = self._queue, []
        return queue
