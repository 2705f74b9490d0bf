"""A REST client that creates, changes and deletes connectors, one request after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, Protocol

import attrs

from assignor_lab.simulation.connect.surroundings.config_log import ConfigLog, ConfigRecord
from assignor_lab.simulation.connect.timings import Timings
from assignor_lab.simulation.connect.workers.requests import Request

__all__ = ["Client", "ClientWorld", "Operation", "Pacing"]


#: When a client sends its next request.
Pacing = Literal["answered", "calm", "merged"]


@attrs.frozen
class Operation:
    """What a client asks for.

    Args:
        kind: ``create``, ``alter`` (another number of tasks), ``delete``.
        connector: Name of the connector.
        tasks: How many tasks it is to have.
    """

    kind: Literal["create", "alter", "delete"]
    connector: str
    tasks: int = 0


class ClientWorld(Protocol):
    """What a client needs of the world."""

    timings: Timings
    config: ConfigLog

    @property
    def now(self) -> int:
        """What the clock shows."""
        ...

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Has ``action`` called in a while."""
        ...

    def alive(self) -> Collection[str]:
        """Names of the workers that are up, in the order of their starts."""
        ...

    def send(self, worker: str, request: Request, time_ms: int) -> None:
        """A request reaches a worker's process at a moment, if that is still up then."""
        ...

    def pause(self) -> int:
        """What a step takes longer because the machine is busy."""
        ...

    def say(self, actor: str, event: str, text: str, **details: Any) -> None:
        """Adds to the event log."""
        ...


class Client:
    """Sends operations in order; what is refused, or whose worker is gone, is sent again after a pause.

    Args:
        world: Where to.
        operations: What to ask for.
        via: Name of the worker to which it talks; while that is down, and if not given, the first one that is up.
        pacing: When it sends the next request: once the last one was ``answered``; once all is ``calm``; or
            ``merged``: so fast that the leader always has it when it next writes tasks' configurations.
    """

    def __init__(
        self, world: ClientWorld, operations: tuple[Operation, ...], via: str | None, pacing: Pacing = "answered"
    ) -> None:
        self.pacing = pacing
        #: For each answered operation when it was sent and when it was answered.
        self.answered: list[tuple[Operation, int, int]] = []
        #: How often something had to be sent again.
        self.repeated = 0
        self._world, self._operations, self._via = world, operations, via
        self._sent_ms = 0
        self._attempt = 0
        self._to: str | None = None
        self._resting = -1

    @property
    def is_done(self) -> bool:
        """Whether everything was answered."""
        return len(self.answered) == len(self._operations)

    @property
    def is_waiting(self) -> bool:
        """Whether it could send its next request: nothing of it is under way."""
        return not self.is_done and self._attempt == self._resting

    def send_next(self) -> None:
        """Sends what is not yet answered."""
        if not self.is_done:
            self._sent_ms = self._world.now
            self._send()

    def _send(self) -> None:
        world, timings = self._world, self._world.timings
        operation = self._operations[len(self.answered)]
        self._attempt += 1
        attempt = self._attempt
        up = world.alive()
        self._to = self._via if self._via in up else next(iter(up), None)
        if self._to is None:
            self._again(attempt)
            return

        def answer(ok: bool) -> None:  # noqa: FBT001 - the answer to a request
            hops = 1 + request.hops
            back = hops * timings.hop_ms(operation.kind) + sum(world.pause() for _ in range(hops))
            world.after(back, lambda: self._take(attempt, operation, ok=ok))

        request = Request(operation.kind, operation.connector, operation.tasks, answer, operation.kind == "delete")
        world.send(self._to, request, world.now + timings.hop_ms(operation.kind) + world.pause())

    def _take(self, attempt: int, operation: Operation, *, ok: bool) -> None:
        if attempt != self._attempt or self.is_done:
            return
        if not ok:
            self._again(attempt)
            return
        self._to = None
        self._attempt += 1
        self.answered.append((operation, self._sent_ms, self._world.now))
        self._resting = self._attempt
        if self.pacing == "answered":
            self.send_next()

    def slip_in(self, leader: str) -> None:
        """The leader has written tasks' configurations: the next request is written with them."""
        if self.pacing == "merged" and self.answered and not self.is_done:
            operation = self._operations[len(self.answered)]
            kind: Literal["connector", "delete"] = "delete" if operation.kind == "delete" else "connector"
            self._world.config.append(ConfigRecord(kind, operation.connector, operation.tasks))
            self._world.say(leader, "config", f"{operation.kind}s connector {operation.connector} with them")
            self.answered.append((operation, self._world.now, self._world.now))

    def worker_gone(self, name: str) -> None:
        """A worker's process has ended: what was asked of it, or passed on to it, will have no answer."""
        del name  # Which workers a request went through is not kept; asking again does no harm.
        if not self.is_done and self._to is not None:
            self._again(self._attempt)

    def _again(self, attempt: int) -> None:
        self.repeated += 1
        self._attempt = attempt + 1
        self._to = None
        expected = self._attempt
        self._world.after(
            self._world.timings.client_retry_ms, lambda: self._send() if self._attempt == expected else None
        )
