"""Restoring: threads' reading of state, and each task's progress.

A thread shares its rate equally among its active tasks; its standbys and warm-ups wait until none is left. Threads of
one machine may share its capacity.

Amounts are milliseconds of one thread alone. A thread keeps one figure for the progress of all loads, so a load costs
only at its begin and end.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import attrs

from assignor_lab.simulation.clock import VirtualClock

__all__ = ["RestoreLoad", "Reader", "Restoring"]


@attrs.define(eq=False)
class RestoreLoad:
    """One task's state in transfer to one thread.

    Args:
        amount_ms: Its duration on a thread alone.
        reached: Complete part at that time.
    """

    reader: Reader
    is_active: bool
    amount_ms: float
    from_share: float
    begun_ms: int
    done: Callable[[], None]
    is_over: bool = False
    reached: float = 1.0

    def fraction(self, now_ms: int) -> float:
        if self.is_over:
            return self.reached
        if self.amount_ms <= 0:
            return 1.0
        got = self.reader.share(now_ms, is_active=self.is_active) - self.from_share
        return min(1.0, max(0.0, got / self.amount_ms))


class _Queue:
    __slots__ = ("count", "heap", "share")

    def __init__(self) -> None:
        #: Share of a load that was in the queue from the beginning.
        self.share = 0.0
        self.heap: list[tuple[float, int, RestoreLoad]] = []
        self.count = 0


class Reader:
    """The restore consumer of one thread."""

    __slots__ = ("_at_ms", "_speed", "_version", "machine", "queues")

    def __init__(self, machine: _Machine) -> None:
        self.machine = machine
        self.queues = (_Queue(), _Queue())  # standbys and warm-ups; active tasks
        self._at_ms = 0
        self._speed = 0.0
        self._version = 0

    @property
    def is_busy(self) -> bool:
        return bool(self.queues[0].count or self.queues[1].count)

    def share(self, now_ms: int, *, is_active: bool) -> float:
        queue = self.queues[is_active]
        return queue.share + (self._gain(now_ms) if self._working() is queue else 0.0)

    def settle(self, now_ms: int, speed: float) -> None:
        """Record the progress so far, and continue at ``speed`` of a thread alone."""
        working = self._working()
        if working is not None:
            working.share += self._gain(now_ms)
        self._at_ms, self._speed = now_ms, speed
        self._version += 1

    def next_end_ms(self) -> int | None:
        working = self._working()
        if working is None or self._speed <= 0:
            return None
        while working.heap and working.heap[0][2].is_over:
            heapq.heappop(working.heap)
        left = working.heap[0][0] - working.share
        return self._at_ms + max(0, math.ceil(left * working.count / self._speed))

    @property
    def version(self) -> int:
        return self._version

    def _working(self) -> _Queue | None:
        passive, active = self.queues
        return active if active.count else passive if passive.count else None

    def _gain(self, now_ms: int) -> float:
        working = self._working()
        return 0.0 if working is None else (now_ms - self._at_ms) * self._speed / working.count


class _Machine:
    """Restore capacity of one machine, in threads alone; 0 = one for each thread."""

    __slots__ = ("busy", "limit")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.busy: dict[Reader, None] = {}

    def speed(self) -> float:
        return 1.0 if not self.limit or not self.busy else min(1.0, self.limit / len(self.busy))


class Restoring:
    """All loads of a group.

    Args:
        machine_limit: Capacity of a machine, in threads alone; 0 = one for each thread.
    """

    def __init__(self, clock: VirtualClock, machine_limit: float) -> None:
        self._clock = clock
        self._limit = machine_limit
        self._machines: dict[str, _Machine] = {}
        self._sequence = 0

    def reader(self, machine: str | None) -> Reader:
        if machine is None:
            return Reader(_Machine(0.0))
        return Reader(self._machines.setdefault(machine, _Machine(self._limit)))

    def begin(self, reader: Reader, amount_ms: float, done: Callable[[], None], *, is_active: bool) -> RestoreLoad:
        """Begin a load; ``done`` is called at its end, at the earliest with the clock's next step."""
        now = self._clock.now
        self._settle(reader, now)
        queue = reader.queues[is_active]
        load = RestoreLoad(reader, is_active, amount_ms, queue.share, now, done)
        self._sequence += 1
        heapq.heappush(queue.heap, (queue.share + amount_ms, self._sequence, load))
        queue.count += 1
        reader.machine.busy[reader] = None
        self._plan(reader, now)
        return load

    def give_up(self, load: RestoreLoad) -> None:
        if load.is_over:
            return
        now = self._clock.now
        self._settle(load.reader, now)
        load.reached = load.fraction(now)
        self._remove(load)
        self._plan(load.reader, now)

    def _remove(self, load: RestoreLoad) -> None:
        load.is_over = True
        load.reader.queues[load.is_active].count -= 1
        if not load.reader.is_busy:
            load.reader.machine.busy.pop(load.reader, None)

    def _settle(self, reader: Reader, now: int) -> None:
        for each in self._touched(reader):
            each.settle(now, 0.0)

    def _plan(self, reader: Reader, now: int) -> None:
        for each in self._touched(reader):
            each.settle(now, each.machine.speed())
            end = each.next_end_ms()
            if end is not None:
                self._clock.at(end, _Ending(self, each, each.version))

    def _touched(self, reader: Reader) -> list[Reader]:
        if not reader.machine.limit:
            return [reader]
        return list(dict.fromkeys((*reader.machine.busy, reader)))

    def ended(self, reader: Reader, version: int) -> None:
        """Complete a reader's next load, unless its plan is stale."""
        if reader.version != version:
            return
        now = self._clock.now
        self._settle(reader, now)
        complete = []
        for queue in reader.queues:
            while queue.heap and (queue.heap[0][2].is_over or queue.heap[0][0] <= queue.share + _ROUNDING_MS):
                load = heapq.heappop(queue.heap)[2]
                if not load.is_over:
                    self._remove(load)
                    complete.append(load)
        self._plan(reader, now)
        for load in complete:
            load.done()


#: Shares are sums of many fractions.
_ROUNDING_MS = 1e-6


@attrs.frozen(eq=False)
class _Ending:
    restoring: Restoring
    reader: Reader
    version: int

    def __call__(self) -> None:
        self.restoring.ended(self.reader, self.version)
