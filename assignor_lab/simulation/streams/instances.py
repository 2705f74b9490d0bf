"""Instances and their threads, independent of the protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignment_api.streams import ProcessID
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.episode import InstanceSettings
from assignor_lab.simulation.streams.restoring import Reader
from assignor_lab.simulation.streams.stores import TaskStore

__all__ = ["Instance", "Thread", "deferred"]


@attrs.define(eq=False)
class Thread:
    """A stream thread with its consumer.

    Args:
        key: Number in the whole simulation; threads of a new process have new ones.
        reader: Its restore consumer.
        is_assigned: It has received an assignment, perhaps an empty one.
        initialised_ms: Time at which all its tasks were initialised.
        begun: Processed task to its start, in milliseconds.
        stalled_until_ms: End of its stall (:mod:`assignor_lab.simulation.streams.stalls`), or ``None``.
        held: Tasks with state suspended with the process.
    """

    instance: Instance
    number: int
    key: int
    reader: Reader
    active: set[int] = attrs.field(factory=set)
    standby: set[int] = attrs.field(factory=set)
    running: set[int] = attrs.field(factory=set)
    unfetched: set[int] = attrs.field(factory=set)
    had_tasks: bool = False
    is_assigned: bool = False
    waits: bool = False
    initialised_ms: int = 0
    begun: dict[int, int] = attrs.field(factory=dict)
    stalled_until_ms: int | None = None
    held: set[int] = attrs.field(factory=set)

    @property
    def consumer(self) -> str:
        return f"{self.instance.name}-StreamThread-{self.number}-consumer"


@attrs.define(eq=False)
class Instance:
    """A process while it is up, and a disk all the time.

    Args:
        is_up: Its process runs and is not ending.
        leaves_ms: From the begin of its end to each thread's leave, thread 1 first; ``None``: the default.
    """

    name: str
    process_id: ProcessID
    settings: InstanceSettings
    stores: dict[int, TaskStore] = attrs.field(factory=dict)
    threads: list[Thread] = attrs.field(factory=list)
    is_up: bool = False
    is_silent: bool = False
    started_ms: int = 0
    disks_lost: int = 0
    ends_ms: int = 0
    leaves_ms: Sequence[int | None] = ()


def deferred(clock: VirtualClock, thread: Thread, action: Callable[[], None]) -> bool:
    if thread.stalled_until_ms is None or thread not in thread.instance.threads:
        return False
    clock.at(thread.stalled_until_ms, action)
    return True
