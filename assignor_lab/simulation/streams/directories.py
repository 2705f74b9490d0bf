"""Task directories of an instance: locks, reports of threads, and deletion by the cleaner."""

from __future__ import annotations

from assignor_lab.simulation.streams.instances import Instance, Thread
from assignor_lab.simulation.streams.stores import TaskStore

__all__ = ["delete_if_due", "lock_unused", "reported_offsets", "unlock"]


def lock_unused(thread: Thread, now_ms: int, cleanup_delay_ms: int) -> None:
    for store in list(thread.instance.stores.values()):
        unused = not store.is_open and store.locked_by is None
        if unused and not delete_if_due(thread.instance, store, now_ms, cleanup_delay_ms):
            store.locked_by = thread.key


def unlock(thread: Thread, now_ms: int) -> None:
    for store in thread.instance.stores.values():
        if store.locked_by == thread.key:
            store.locked_by, store.unlocked_ms = None, now_ms


def reported_offsets(thread: Thread, now_ms: int) -> dict[int, int | None]:
    """Offsets of open, locked, and assigned but unopened tasks with state; ``None`` for a running active task.

    Before its initialisation, a task has the offsets of its checkpoint file, which lacks stores in memory (Kafka:
    ``TaskManager.taskOffsetSums``).
    """
    found: dict[int, int | None] = {}
    for task, store in sorted(thread.instance.stores.items()):
        own = thread.key in (store.thread, store.locked_by)
        if own or (not store.is_open and (task in thread.active or task in thread.standby)):
            on_disk = 1 - store.log.changelog.in_memory_share
            if not store.is_created or task in thread.running:
                found[task] = None if task in thread.running else int(store.position(now_ms) + store.remembered)
            elif on_disk:
                found[task] = int(store.position(now_ms) * on_disk)
    return found


def delete_if_due(instance: Instance, store: TaskStore, now_ms: int, cleanup_delay_ms: int) -> bool:
    """Delete an unused directory if the cleaner is due, once in each delay; returns whether it did.

    In 4.3 the age counts from the creation: stores keep their offsets themselves, so no file next to them changes
    (Kafka: ``StateDirectory.cleanRemovedTasks``; tried with 4.3.1). From 4.4 on, closing a task modifies its directory.
    """
    if not cleanup_delay_ms or store.is_open or store.locked_by is not None:
        return False
    begin = instance.started_ms
    may = max(store.modified_ms + cleanup_delay_ms, store.since_ms, begin + 1)
    if now_ms < begin + -(-(may - begin) // cleanup_delay_ms) * cleanup_delay_ms:
        return False
    del instance.stores[store.task]
    return True
