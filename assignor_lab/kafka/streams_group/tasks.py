"""Tasks of one member of a streams group by role, and where the group's tasks are now."""

from __future__ import annotations

import attrs

__all__ = ["NO_TASKS", "Holders", "Tasks"]

_NONE: frozenset[int] = frozenset()


@attrs.frozen
class Tasks:
    """Tasks by role. A task is a number that the caller gives it.

    Args:
        active: Active tasks.
        standby: Standbys.
        warmup: Warm-ups; no released version hands any out.
    """

    active: frozenset[int] = _NONE
    standby: frozenset[int] = _NONE
    warmup: frozenset[int] = _NONE

    def __bool__(self) -> bool:
        return bool(self.active or self.standby or self.warmup)

    def __and__(self, other: Tasks) -> Tasks:
        return Tasks(self.active & other.active, self.standby & other.standby, self.warmup & other.warmup)

    def __sub__(self, other: Tasks) -> Tasks:
        return Tasks(self.active - other.active, self.standby - other.standby, self.warmup - other.warmup)

    def __or__(self, other: Tasks) -> Tasks:
        return Tasks(self.active | other.active, self.standby | other.standby, self.warmup | other.warmup)


NO_TASKS = Tasks()


class Holders:
    """Who holds which task, given back or not yet: members, and their processes."""

    __slots__ = ("_active", "_process", "_standby", "_warmup")

    def __init__(self) -> None:
        self._process: dict[str, str] = {}
        self._active: dict[int, set[str]] = {}
        self._standby: dict[tuple[str, int], set[str]] = {}
        self._warmup: dict[tuple[str, int], set[str]] = {}

    def add(self, member: str, process: str, tasks: Tasks) -> None:
        """A member holds these tasks, too."""
        self._process[member] = process
        for task in tasks.active:
            self._active.setdefault(task, set()).add(member)
        for task in tasks.standby:
            self._standby.setdefault((process, task), set()).add(member)
        for task in tasks.warmup:
            self._warmup.setdefault((process, task), set()).add(member)

    def remove(self, member: str, process: str, tasks: Tasks) -> None:
        """A member does not hold these tasks any more."""
        for task in tasks.active:
            self._active[task].discard(member)
        for task in tasks.standby:
            self._standby[process, task].discard(member)
        for task in tasks.warmup:
            self._warmup[process, task].discard(member)

    def active(self, task: int) -> set[str]:
        """Members of any process that hold a task as active."""
        return self._active.get(task, _NOBODY)

    def is_of(self, member: str, process: str) -> bool:
        """Whether a member is one of a process."""
        return self._process.get(member) == process

    def standby(self, process: str, task: int) -> set[str]:
        """Members of a process that hold a standby of a task."""
        return self._standby.get((process, task), _NOBODY)

    def warmup(self, process: str, task: int) -> set[str]:
        """Members of a process that hold a warm-up of a task."""
        return self._warmup.get((process, task), _NOBODY)


_NOBODY: set[str] = set()
