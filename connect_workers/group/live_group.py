"""The group's coordinator, live: the state machine of :mod:`assignor_lab.kafka.coordinator` with a clock.

The coordinator is inside the cluster's process, as the broker's would be outside of it; workers talk to it through
these calls alone.
"""

from __future__ import annotations

import asyncio

from assignor_lab.kafka.coordinator import (
    AddressedReply,
    Coordinator,
    CoordinatorState,
    JoinReply,
    JoinRequest,
    Refused,
    Round,
    Synced,
    SyncRequest,
)
from connect_workers.clock import Clock

__all__ = ["Response", "LiveGroup"]

#: An answer of the group.
Response = JoinReply | Synced | Refused


class LiveGroup:
    """The group.

    For the event loop's thread.

    Args:
        initial_delay_ms: ``group.initial.rebalance.delay.ms``.
    """

    #: Rounds that are remembered.
    _MOST_ROUNDS = 1_000

    #: A later timer was delayed together with all heartbeats, which then get as much longer.
    _LATE_MS, _GRACE_MS = 50, 200

    def __init__(self, clock: Clock, initial_delay_ms: int) -> None:
        self.clock = clock
        self._coordinator = Coordinator(initial_delay_ms)
        self._waiting: dict[str, asyncio.Future[Response]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._grace_until_ms: int | None = None

    # --- requests of workers --------------------------------------------------------------------------

    async def join(self, request: JoinRequest) -> Response:
        return await self._asked(request.worker, self._coordinator.join, request)

    async def sync(self, worker: str, request: SyncRequest) -> Response:
        """Returns a member's assignment after the leader has sent it."""
        return await self._asked(worker, self._coordinator.sync, request)

    def heartbeat(self, member_id: str) -> str:
        """``ok``, ``rebalancing`` or ``unknown_member``."""
        answer = self._coordinator.heartbeat(self.clock.now_ms(), member_id)
        self._settle([])
        return answer

    def leave(self, member_id: str, reason: str = "leaves") -> None:
        self._settle(self._coordinator.leave(self.clock.now_ms(), member_id, reason))

    def leave_process(self, worker: str) -> None:
        """Removes the worker of a process that ends, under any member id that the group gave it."""
        self.forget(worker)
        for member, name in self._coordinator.members().items():
            if name == worker:
                self.leave(member)

    def forget(self, worker: str) -> None:
        """A worker's process is no more: its connection is closed, and the group has yet to find out."""
        waiting = self._waiting.pop(worker, None)
        if waiting is not None:
            waiting.cancel()

    # --- state -----------------------------------------------------------------------------------------

    @property
    def state(self) -> CoordinatorState:
        return self._coordinator.state

    @property
    def generation(self) -> int:
        return self._coordinator.generation

    @property
    def rounds(self) -> list[Round]:
        return self._coordinator.rounds

    def members(self) -> dict[str, str]:
        return self._coordinator.members()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for waiting in self._waiting.values():
            waiting.cancel()

    # --- inside ---------------------------------------------------------------------------------------

    async def _asked(self, worker: str, call: object, request: object) -> Response:
        waiting: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting[worker] = waiting
        self._settle(call(self.clock.now_ms(), request))  # type: ignore[operator]
        try:
            return await waiting
        finally:
            if self._waiting.get(worker) is waiting:
                del self._waiting[worker]

    def _settle(self, replies: list[AddressedReply]) -> None:
        for reply in replies:
            self._answer(reply.worker, reply.body)
        members = set(self._coordinator.members().values())
        for worker in [worker for worker in self._waiting if worker not in members]:
            # A member that was removed while it waited must join again.
            self._answer(worker, Refused("unknown_member"))
        del self._coordinator.rounds[: -self._MOST_ROUNDS]
        self._set_timer()

    def _answer(self, worker: str, body: Response) -> None:
        waiting = self._waiting.pop(worker, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(body)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self._coordinator.next_deadline()
        if deadline is not None:
            deadline = max(deadline, self._grace_until_ms or 0)
            delay = max(deadline - self.clock.now_ms(), 0) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self._expire, deadline)

    def _expire(self, due_ms: int) -> None:
        now = self.clock.now_ms()
        if now - due_ms > self._LATE_MS and self._grace_until_ms is None:
            self._grace_until_ms = now + self._GRACE_MS
            self._set_timer()
            return
        # Only once: on a machine that is always late, a member may still be dead.
        self._timer = self._grace_until_ms = None
        self._settle(self._coordinator.expire(now))
