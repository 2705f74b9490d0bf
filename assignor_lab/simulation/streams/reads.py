"""Threads' reads from changelogs: restored state, and records that copies follow."""

from __future__ import annotations

import attrs

from assignor_lab.simulation.streams.stores import TaskStore

__all__ = ["Reads", "StateRead", "Takeover"]


@attrs.frozen
class StateRead:
    """State that was read from a changelog.

    Args:
        is_active: An active task waited for it.
        follows: Written by others while a copy followed; otherwise missing before.
    """

    task: int
    instance: str
    begun_ms: int
    size: float
    is_active: bool
    follows: bool = False


@attrs.frozen
class Takeover:
    """A task with state that moved to an instance as active.

    Args:
        lag: Records that its copy lacked; all of them without a copy.
    """

    task: int
    instance: str
    at_ms: int
    lag: float


class Reads:
    """All reads of a group so far."""

    def __init__(self) -> None:
        self.all: list[StateRead] = []

    def settle(self, store: TaskStore, instance: str, now_ms: int) -> None:
        """Record a store's read since it began to load or to follow; a following copy begins a new one."""
        position = store.position(now_ms)
        if store.load is not None:
            size = (position - store.from_offset) * store.record_bytes
            self.all.append(StateRead(store.task, instance, store.load.begun_ms, size, store.load.is_active))
        if store.copies_from is not None:
            begun_ms, offset = store.copies_from
            size = (position - offset) * store.record_bytes
            if size > 0:
                self.all.append(StateRead(store.task, instance, begun_ms, size, is_active=False, follows=True))
            store.copies_from = None

    def restored(self, *, before_processing: bool = False) -> float:
        """All restored bytes, or those that an active task waited for."""
        return sum(read.size for read in self.all if not read.follows and (read.is_active or not before_processing))
