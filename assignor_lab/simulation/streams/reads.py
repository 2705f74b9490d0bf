"""What threads read from changelogs: state that comes back, and what copies follow."""

from __future__ import annotations

import attrs

from assignor_lab.simulation.streams.stores import Store

__all__ = ["Reads", "StateRead", "Takeover"]


@attrs.frozen
class StateRead:
    """State that was read from a changelog.

    Args:
        task: Number of the task.
        instance: Who read it.
        begun_ms: When that began, by the group's clock.
        size: Bytes that were read; 0 if those of a record are unknown.
        is_active: For an active task, which waited for it.
        follows: What others wrote while a copy followed them; otherwise what was missing before it did.
    """

    task: int
    instance: str
    begun_ms: int
    size: float
    is_active: bool
    follows: bool = False


@attrs.frozen
class Takeover:
    """A task with state that an instance was given as active, from whatever it had of it.

    Args:
        task: Number of the task.
        instance: Who was given it.
        at_ms: When, by the group's clock.
        lag: Records that its copy lacked then; all of them where it had none.
    """

    task: int
    instance: str
    at_ms: int
    lag: float


class Reads:
    """All reading of a group so far."""

    def __init__(self) -> None:
        self.all: list[StateRead] = []

    def settle(self, store: Store, instance: str, now_ms: int) -> None:
        """Writes down what a store has read since it began to load, or to follow; a copy that follows begins anew."""
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
        """Bytes that came back; those that an active task waited for, or all."""
        return sum(read.size for read in self.all if not read.follows and (read.is_active or not before_processing))
