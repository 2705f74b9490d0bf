"""A REST client that creates, changes and deletes connectors one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal, Protocol

import attrs

from assignor_lab.simulation.connect.surroundings.config_log import ConfigLog, ConfigRecord
from assignor_lab.simulation.connect.timings import ConnectTimings
from assignor_lab.simulation.connect.workers.requests import Request

__all__ = ["SimulatedClient", "ClientWorld", "ClientOperation", "Pacing"]


#: Condition for a client's next request.
Pacing = Literal["answered", "calm", "merged"]


@attrs.frozen
class ClientOperation:
    """A request of a client."""

    kind: Literal["create", "alter", "delete"]
    connector: str
    tasks: int = 0


class ClientWorld(Protocol):
    """A client's interface to the simulation."""

    timings: ConnectTimings
    config: ConfigLog

    @property
    def now(self) -> int: ...

    def after(self, delay_ms: int, action: Callable[[], None]) -> None: ...

    def alive(self) -> Collection[str]:
        """In the order of their starts."""
        ...

    def send(self, worker: str, request: Request, time_ms: int) -> None:
        """No effect after the worker's end."""
        ...

    def pause(self) -> int: ...

    def say(self, actor: str, event: str, text: str, **details: Any) -> None: ...


class SimulatedClient:
    """Sends operations in order; repeats refused ones and those of ended workers after a pause.

    Args:
        via: Worker that receives the requests; by default, or while it is down, the first running one.
        pacing: Condition for the next request: the last one is ``answered``; the group is ``calm``; or ``merged``: so
            fast that the leader always has it when it next writes tasks' configurations.
    """

    def __init__(
        self, world: ClientWorld, operations: tuple[ClientOperation, ...], via: str | None, pacing: Pacing = "answered"
    ) -> None:
        self.pacing = pacing
        self.answered: list[tuple[ClientOperation, int, int]] = []
        self.repeated = 0
        self._world, self._operations, self._via = world, operations, via
        self._sent_ms = 0
        self._attempt = 0
        self._to: str | None = None
        self._resting = -1

    @property
    def is_done(self) -> bool:
        return len(self.answered) == len(self._operations)

    @property
    def is_waiting(self) -> bool:
        return not self.is_done and self._attempt == self._resting

    def send_next(self) -> None:
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

    def _take(self, attempt: int, operation: ClientOperation, *, ok: bool) -> None:
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
        """Write the next request together with tasks' configurations just written by the leader."""
        if self.pacing == "merged" and self.answered and not self.is_done:
            operation = self._operations[len(self.answered)]
            kind: Literal["connector", "delete"] = "delete" if operation.kind == "delete" else "connector"
            self._world.config.append(ConfigRecord(kind, operation.connector, operation.tasks))
            self._world.say(leader, "config", f"{operation.kind}s connector {operation.connector} with them")
            self.answered.append((operation, self._world.now, self._world.now))

    def worker_gone(self, name: str) -> None:
        """Requests sent or forwarded to an ended worker get no response."""
        del name  # The request's path is not recorded; repeating it does no harm.
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
