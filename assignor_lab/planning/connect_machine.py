"""Measured durations of Connect workers, drawn for each play of a plan."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

import attrs

from assignor_lab.planning.shipped import shipped_connect_constants
from assignor_lab.simulation.connect.timings import ConnectTimings

__all__ = ["ConnectMachine", "Durations", "shipped_machine"]


def _tuple(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(values)


@attrs.frozen
class Durations:
    """Durations of the workers during one recorded change, in milliseconds.

    Args:
        leave_ms: From the stop of a worker's first task until the worker leaves its group.
        revoke_ms: From the stop of the first revoked task until the worker goes on.
        ready_ms: From a worker's assignment until a new task runs.
        start_percent: Starts of processes, as shares of their median in all recordings.
        answers_ms: From a started worker's first assignment until its REST interface answers.
    """

    leave_ms: tuple[int, ...] = attrs.field(default=(), converter=_tuple)
    revoke_ms: tuple[int, ...] = attrs.field(default=(), converter=_tuple)
    ready_ms: tuple[int, ...] = attrs.field(default=(), converter=_tuple)
    start_percent: tuple[int, ...] = attrs.field(default=(), converter=_tuple)
    answers_ms: tuple[int, ...] = attrs.field(default=(), converter=_tuple)

    def drawn_start(self, start_ms: int, random_numbers: random.Random) -> int:
        """The start of one process, in milliseconds."""
        if not self.start_percent:
            return int(start_ms * random_numbers.uniform(0.85, 1.15))
        return start_ms * random_numbers.choice(self.start_percent) // 100

    def drawn_answer(self, random_numbers: random.Random) -> int:
        return random_numbers.choice(self.answers_ms) if self.answers_ms else 0

    def drawn_timings(self, timings: ConnectTimings, random_numbers: random.Random) -> ConnectTimings:
        """The timings of one play; without durations, the given ones."""
        if not (self.leave_ms and self.revoke_ms and self.ready_ms):
            return timings
        stop_ms = random_numbers.choice(self.revoke_ms)
        return attrs.evolve(
            timings,
            task_stop_ms=stop_ms,
            connector_stop_ms=min(stop_ms, timings.connector_stop_ms),
            worker_stop_ms=max(0, random_numbers.choice(self.leave_ms) - stop_ms),
            task_ready_drawn_ms=self.ready_ms,
        )


@attrs.frozen
class ConnectMachine:
    """Durations of recorded changes. Those of one change stay together: they depend on the load of the machine."""

    changes: tuple[Durations, ...] = ()

    def drawn(self, random_numbers: random.Random) -> Durations:
        """Durations of one change; kinds that it lacks are those of all changes."""
        if not self.changes:
            return Durations()
        chosen = random_numbers.choice(self.changes)
        return Durations(
            **{
                field.name: getattr(chosen, field.name)
                or sorted(value for each in self.changes for value in getattr(each, field.name))
                for field in attrs.fields(Durations)
            }
        )


@cache
def shipped_machine() -> ConnectMachine:
    """The durations of the recordings in this repository."""
    return ConnectMachine(tuple(Durations(**each) for each in shipped_connect_constants()))
