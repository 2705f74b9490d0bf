"""Restoring: how threads read state back, and how far each task has come.

A thread restores its active tasks at once, each with an equal share of its rate; standbys and warm-ups of the thread
wait until none is left. Threads of one machine may share what the machine can do.

Amounts are milliseconds of one thread alone. Progress is never stepped: a thread keeps what each of its loads has
got so far as one figure, so that a load costs what its beginning and its end cost.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import attrs

from assignor_lab.simulation.clock import VirtualClock

__all__ = ["Load", "Reader", "Restoring"]


@attrs.define(eq=False)
class Load:
    """One task's state on its way to one thread.

    Args:
        reader: The thread's reader.
        is_active: For an active task, before which standbys wait.
        amount_ms: What it takes a thread alone.
        from_share: What the reader's loads had got when this one began.
        begun_ms: When it began.
        done: Called when it is complete.
        is_over: It is complete, or was given up.
        reached: Which part of it was there then.
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
        """Which part of it is there, from 0 to 1."""
        if self.is_over:
            return self.reached
        if self.amount_ms <= 0:
            return 1.0
        got = self.reader.share(now_ms, is_active=self.is_active) - self.from_share
        return min(1.0, max(0.0, got / self.amount_ms))


class _Queue:
    """Loads of one thread that share its rate: active ones, or the others."""

    __slots__ = ("count", "heap", "share")

    def __init__(self) -> None:
        #: What each load of the queue would have got had it been there from the beginning.
        self.share = 0.0
        self.heap: list[tuple[float, int, Load]] = []
        self.count = 0


class Reader:
    """The restore consumer of one thread.

    Args:
        machine: What it shares with others.
    """

    __slots__ = ("_at_ms", "_speed", "_version", "machine", "queues")

    def __init__(self, machine: _Machine) -> None:
        self.machine = machine
        self.queues = (_Queue(), _Queue())  # standbys and warm-ups; active tasks
        self._at_ms = 0
        self._speed = 0.0
        self._version = 0

    @property
    def is_busy(self) -> bool:
        """Whether anything is being loaded."""
        return bool(self.queues[0].count or self.queues[1].count)

    def share(self, now_ms: int, *, is_active: bool) -> float:
        """What each load of a queue has got by now."""
        queue = self.queues[is_active]
        return queue.share + (self._gain(now_ms) if self._working() is queue else 0.0)

    def settle(self, now_ms: int, speed: float) -> None:
        """Writes down what was done so far, and goes on with ``speed`` of a thread alone."""
        working = self._working()
        if working is not None:
            working.share += self._gain(now_ms)
        self._at_ms, self._speed = now_ms, speed
        self._version += 1

    def next_end_ms(self) -> int | None:
        """When the next load is complete, if nothing changes."""
        working = self._working()
        if working is None or self._speed <= 0:
            return None
        while working.heap and working.heap[0][2].is_over:
            heapq.heappop(working.heap)
        left = working.heap[0][0] - working.share
        return self._at_ms + max(0, math.ceil(left * working.count / self._speed))

    @property
    def version(self) -> int:
        """Counts changes, so that what was planned before one is known to be stale."""
        return self._version

    def _working(self) -> _Queue | None:
        passive, active = self.queues
        return active if active.count else passive if passive.count else None

    def _gain(self, now_ms: int) -> float:
        working = self._working()
        return 0.0 if working is None else (now_ms - self._at_ms) * self._speed / working.count


class _Machine:
    """What the threads of one machine restore together.

    Args:
        limit: In threads alone; 0 = as much as there are threads.
    """

    __slots__ = ("busy", "limit")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.busy: dict[Reader, None] = {}

    def speed(self) -> float:
        """Speed of each busy reader, in threads alone."""
        return 1.0 if not self.limit or not self.busy else min(1.0, self.limit / len(self.busy))


class Restoring:
    """All loading of a group.

    Args:
        clock: The group's clock.
        machine_limit: What all threads of a machine restore together, in threads alone; 0 = as much as there are.
    """

    def __init__(self, clock: VirtualClock, machine_limit: float) -> None:
        self._clock = clock
        self._limit = machine_limit
        self._machines: dict[str, _Machine] = {}
        self._sequence = 0

    def reader(self, machine: str | None) -> Reader:
        """A reader for a new thread; ``machine`` ``None``: it shares with nobody."""
        if machine is None:
            return Reader(_Machine(0.0))
        return Reader(self._machines.setdefault(machine, _Machine(self._limit)))

    def begin(self, reader: Reader, amount_ms: float, done: Callable[[], None], *, is_active: bool) -> Load:
        """Begins to load; ``done`` is called when it is complete, at the earliest with the clock's next step."""
        now = self._clock.now
        self._settle(reader, now)
        queue = reader.queues[is_active]
        load = Load(reader, is_active, amount_ms, queue.share, now, done)
        self._sequence += 1
        heapq.heappush(queue.heap, (queue.share + amount_ms, self._sequence, load))
        queue.count += 1
        reader.machine.busy[reader] = None
        self._plan(reader, now)
        return load

    def give_up(self, load: Load) -> None:
        """Stops a load that is not complete; ``done`` will not be called."""
        if load.is_over:
            return
        now = self._clock.now
        self._settle(load.reader, now)
        load.reached = load.fraction(now)
        self._remove(load)
        self._plan(load.reader, now)

    def _remove(self, load: Load) -> None:
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
        """The next load of a reader is complete, unless something has changed since that was planned."""
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
    """What the clock calls when a load should be complete."""

    restoring: Restoring
    reader: Reader
    version: int

    def __call__(self) -> None:
        self.restoring.ended(self.reader, self.version)
