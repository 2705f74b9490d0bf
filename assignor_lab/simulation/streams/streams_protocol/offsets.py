"""Offsets in the reports of streams group members, from Kafka 4.4 on."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from assignor_lab.kafka.streams_group.warmups import NOT_STARTED
from assignor_lab.simulation.streams.directories import delete_if_due
from assignor_lab.simulation.streams.instances import Thread

__all__ = ["Reported", "reported"]


@attrs.frozen
class Reported:
    """A member's last report.

    Args:
        ends: Restoring task or copy to the sum of its changelogs' ends.
    """

    offsets: dict[int, int] = attrs.field(factory=dict)
    ends: dict[int, int] = attrs.field(factory=dict)


def reported(
    thread: Thread, stateful: frozenset[int], end: Callable[[int], int], now_ms: int, cleanup_ms: int
) -> Reported:
    """The report of a thread's member, without processed tasks.

    Restoring tasks and copies come with the changelogs' ends. The process's first thread reports unopened directories
    on its disk, without an end.

    Args:
        cleanup_ms: ``state.cleanup.delay.ms``.
    """
    instance = thread.instance
    found = Reported()
    for task in sorted((thread.active - thread.running | thread.standby) & stateful):
        store = instance.stores.get(task)
        is_open = store is not None and store.thread == thread.key
        found.offsets[task] = int(store.position(now_ms)) if is_open and store is not None else NOT_STARTED
        found.ends[task] = end(task)
    if thread is instance.threads[0]:
        given = set[int]().union(*(each.active | each.standby for each in instance.threads))
        for task in sorted(instance.stores.keys() - given):
            store = instance.stores[task]
            if not store.is_open and not delete_if_due(instance, store, now_ms, cleanup_ms):
                found.offsets[task] = int(store.position(now_ms))
    return found
