"""Tasks on processes: the input of the shared metrics, a state and an answer as small integers.

Tasks and processes are numbered. Each kind of group has its own views, which offer at least this much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assignor_lab.groups.metrics.definition import derived

__all__ = ["OnProcesses", "GroupProcesses", "MeasuredTasks", "stateful_tasks"]


class MeasuredTasks(Protocol):
    """The tasks of a group."""

    @property
    def stateful(self) -> Sequence[bool]: ...

    @property
    def subtopology(self) -> Sequence[int]: ...

    @property
    def subtopologies(self) -> int: ...

    @property
    def memory(self) -> dict[Any, Any]: ...


class GroupProcesses(Protocol):
    """The processes of a group before an answer."""

    @property
    def topology(self) -> MeasuredTasks: ...

    @property
    def threads(self) -> Sequence[int]:
        """Members (threads) of each process, at least 1."""

    @property
    def members(self) -> int: ...

    @property
    def racks(self) -> Sequence[str] | None:
        """Rack of each process; ``None`` if any is unknown."""

    @property
    def tags(self) -> Mapping[str, Sequence[str | None]]:
        """Key of each tag over which replicas should be spread, to its value on each process."""

    @property
    def previous_active(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that ran it before; one in a healthy group."""

    @property
    def previous_standby(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that had a standby of it before."""

    @property
    def previous_copies(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that had a copy of its state before, its runners included."""

    @property
    def standbys_wanted(self) -> int:
        """Standbys of a stateful task, by configuration and number of processes."""

    @property
    def memory(self) -> dict[Any, Any]: ...


class OnProcesses(Protocol):
    """The tasks of each process. Warm-ups count as standbys."""

    @property
    def state(self) -> GroupProcesses: ...

    @property
    def owner(self) -> Sequence[int]:
        """For each task, the process that runs it, or -1."""

    @property
    def standbys(self) -> Sequence[Sequence[int]]:
        """For each task, the processes with a standby of it."""

    @property
    def replicas(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that hold it in any role, its owner first."""

    @property
    def active(self) -> Sequence[int]: ...

    @property
    def stateful(self) -> Sequence[int]: ...

    @property
    def standby(self) -> Sequence[int]: ...

    @property
    def memory(self) -> dict[Any, Any]: ...


@derived
def stateful_tasks(topology: MeasuredTasks) -> list[int]:
    """The tasks that are stateful and logged, ascending."""
    return [task for task, stateful in enumerate(topology.stateful) if stateful]
