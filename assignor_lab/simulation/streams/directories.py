"""Task directories of an instance: who has locked them, what threads report of them, which the cleaner deletes."""

from __future__ import annotations

from assignor_lab.simulation.streams.instances import Instance, Thread
from assignor_lab.simulation.streams.stores import Store

__all__ = ["delete_if_due", "lock_unused", "reported_offsets", "unlock"]


def lock_unused(thread: Thread, now_ms: int, cleanup_delay_ms: int) -> None:
    """A thread that joins locks what lies on the disk and no thread of its process has open or locked."""
    for store in list(thread.instance.stores.values()):
        unused = not store.is_open and store.locked_by is None
        if unused and not delete_if_due(thread.instance, store, now_ms, cleanup_delay_ms):
            store.locked_by = thread.key


def unlock(thread: Thread, now_ms: int) -> None:
    """A thread that was assigned tasks unlocks what it has locked and does not open."""
    for store in thread.instance.stores.values():
        if store.locked_by == thread.key:
            store.locked_by, store.unlocked_ms = None, now_ms


def reported_offsets(thread: Thread, now_ms: int) -> dict[int, int | None]:
    """What a thread reports of tasks with state: ``None`` for an active task that runs, else the offset.

    It reports what it has open, what it has locked, and what it was given and could not open yet.
    """
    found: dict[int, int | None] = {}
    for task, store in sorted(thread.instance.stores.items()):
        own = thread.key in (store.thread, store.locked_by)
        if own or (not store.is_open and (task in thread.active or task in thread.standby)):
            found[task] = None if task in thread.running else int(store.position(now_ms))
    return found


def delete_if_due(instance: Instance, store: Store, now_ms: int, cleanup_delay_ms: int) -> bool:
    """Whether the cleaner has deleted a directory that nobody uses; it runs once in each delay.

    It goes by when the directory was last modified. Since stores keep their offsets themselves, nothing is written
    beside them, so that this is when it was made (Kafka: ``StateDirectory.cleanRemovedTasks``; tried with 4.3.1).
    """
    if not cleanup_delay_ms or store.is_open or store.locked_by is not None:
        return False
    begin = instance.started_ms
    may = max(store.created_ms + cleanup_delay_ms, store.since_ms, begin + 1)
    if now_ms < begin + -(-(may - begin) // cleanup_delay_ms) * cleanup_delay_ms:
        return False
    del instance.stores[store.task]
    return True
