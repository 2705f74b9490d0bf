"""Instances and their threads, as far as they are the same under every protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignment_api.streams import ProcessID
from assignor_lab.simulation.clock import VirtualClock
from assignor_lab.simulation.streams.episode import InstanceSettings
from assignor_lab.simulation.streams.restoring import Reader
from assignor_lab.simulation.streams.stores import Store

__all__ = ["Instance", "Thread", "deferred"]


@attrs.define(eq=False)
class Thread:
    """A stream thread with its consumer.

    Args:
        instance: Whose it is.
        number: From 1.
        key: Number of the thread in the whole simulation; a thread of a new process has another one.
        reader: Its restore consumer.
        active: Active tasks that it was given.
        standby: Standbys and warm-ups that it was given.
        running: Active tasks that it works on.
        unfetched: Active tasks for whose input its consumer has no position yet.
        had_tasks: It was given active tasks before.
        begun: Task that it works on to when it began to, in milliseconds.
        stalled_until_ms: Until when it does nothing (:mod:`assignor_lab.simulation.streams.stalls`); ``None``: it is
            free.
        held: Tasks whose state stood still with the process.
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
    begun: dict[int, int] = attrs.field(factory=dict)
    stalled_until_ms: int | None = None
    held: set[int] = attrs.field(factory=set)

    @property
    def consumer(self) -> str:
        """Client id of its consumer."""
        return f"{self.instance.name}-StreamThread-{self.number}-consumer"


@attrs.define(eq=False)
class Instance:
    """An instance of the application: a process while it is up, and a disk all the time.

    Args:
        name: Its name.
        process_id: Its process id, which lies on its disk.
        settings: What is configured for it.
        stores: Task to its directory.
        threads: Of the running process; empty while it is down.
        is_up: Its process runs and has not been asked to end.
        is_silent: Its process stands still.
        started_ms: When its process was started last.
        disks_lost: How many state directories it has lost.
        ends_ms: When a process that was asked to end has ended.
        leaves_ms: What its threads take to leave after it was asked to end, thread 1 first; ``None``: as long as any.
    """

    name: str
    process_id: ProcessID
    settings: InstanceSettings
    stores: dict[int, Store] = attrs.field(factory=dict)
    threads: list[Thread] = attrs.field(factory=list)
    is_up: bool = False
    is_silent: bool = False
    started_ms: int = 0
    disks_lost: int = 0
    ends_ms: int = 0
    leaves_ms: Sequence[int | None] = ()


def deferred(clock: VirtualClock, thread: Thread, action: Callable[[], None]) -> bool:
    """Whether a living thread is stalled: what it would do comes when it is free."""
    if thread.stalled_until_ms is None or thread not in thread.instance.threads:
        return False
    clock.at(thread.stalled_until_ms, action)
    return True
