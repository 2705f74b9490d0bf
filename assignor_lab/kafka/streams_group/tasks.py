"""Tasks of one member of a streams group by role, and the present holders of the group's tasks."""

from __future__ import annotations

import attrs

__all__ = ["NO_TASKS", "Holders", "TasksByRole"]

_NONE: frozenset[int] = frozenset()


@attrs.frozen
class TasksByRole:
    """Tasks by role.

    A task is a number from the caller.
    """

    active: frozenset[int] = _NONE
    standby: frozenset[int] = _NONE
    warmup: frozenset[int] = _NONE

    def __bool__(self) -> bool:
        return bool(self.active or self.standby or self.warmup)

    def __and__(self, other: TasksByRole) -> TasksByRole:
        return TasksByRole(self.active & other.active, self.standby & other.standby, self.warmup & other.warmup)

    def __sub__(self, other: TasksByRole) -> TasksByRole:
        return TasksByRole(self.active - other.active, self.standby - other.standby, self.warmup - other.warmup)

    def __or__(self, other: TasksByRole) -> TasksByRole:
        return TasksByRole(self.active | other.active, self.standby | other.standby, self.warmup | other.warmup)


NO_TASKS = TasksByRole()


class Holders:
    """Holders of each task, including tasks to revoke: members, and their processes."""

    __slots__ = ("_active", "_process", "_standby", "_warmup")

    def __init__(self) -> None:
        self._process: dict[str, str] = {}
        self._active: dict[int, set[str]] = {}
        self._standby: dict[tuple[str, int], set[str]] = {}
        self._warmup: dict[tuple[str, int], set[str]] = {}

    def add(self, member: str, process: str, tasks: TasksByRole) -> None:
        self._process[member] = process
        for task in tasks.active:
            self._active.setdefault(task, set()).add(member)
        for task in tasks.standby:
            self._standby.setdefault((process, task), set()).add(member)
        for task in tasks.warmup:
            self._warmup.setdefault((process, task), set()).add(member)

    def remove(self, member: str, process: str, tasks: TasksByRole) -> None:
        for task in tasks.active:
            self._active[task].discard(member)
        for task in tasks.standby:
            self._standby[process, task].discard(member)
        for task in tasks.warmup:
            self._warmup[process, task].discard(member)

    def active(self, task: int) -> set[str]:
        return self._active.get(task, _NOBODY)

    def is_of(self, member: str, process: str) -> bool:
        return self._process.get(member) == process

    def standby(self, process: str, task: int) -> set[str]:
        return self._standby.get((process, task), _NOBODY)

    def warmup(self, process: str, task: int) -> set[str]:
        return self._warmup.get((process, task), _NOBODY)


_NOBODY: set[str] = set()
