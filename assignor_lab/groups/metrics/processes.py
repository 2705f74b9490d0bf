"""Tasks on processes: what the shared metrics read of a state and an answer, with both as small integers.

Tasks and processes are numbered. Each kind of group has views of its own that offer at least this much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assignor_lab.groups.metrics.definition import derived

__all__ = ["OnProcesses", "Processes", "Tasks", "stateful_tasks"]


class Tasks(Protocol):
    """The tasks of a group."""

    @property
    def stateful(self) -> Sequence[bool]:
        """For each task, whether it is stateful and logged."""

    @property
    def subtopology(self) -> Sequence[int]:
        """For each task, the number of its sub-topology."""

    @property
    def subtopologies(self) -> int:
        """How many sub-topologies there are."""

    @property
    def memory(self) -> dict[Any, Any]:
        """What was derived of it, by who derived it."""


class Processes(Protocol):
    """The processes of a group before an answer."""

    @property
    def topology(self) -> Tasks:
        """The tasks."""

    @property
    def threads(self) -> Sequence[int]:
        """Members (threads) of each process, at least 1."""

    @property
    def members(self) -> int:
        """Members of the group."""

    @property
    def racks(self) -> Sequence[str] | None:
        """Rack of each process; ``None`` where the rack of any is unknown."""

    @property
    def tags(self) -> Mapping[str, Sequence[str | None]]:
        """Key of each tag over which replicas are to be spread, to its value on each process."""

    @property
    def previous_active(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that ran it before; one in a healthy group."""

    @property
    def previous_standby(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that had a standby of it before."""

    @property
    def previous_copies(self) -> Sequence[Sequence[int]]:
        """For each task, the processes that had a copy of its state before, its runners or not."""

    @property
    def standbys_wanted(self) -> int:
        """Standbys of a stateful task that configuration asks for and the number of processes allows."""

    @property
    def memory(self) -> dict[Any, Any]:
        """What was derived of it, by who derived it."""


class OnProcesses(Protocol):
    """Who runs what, by process. Warm-ups count as standbys."""

    @property
    def state(self) -> Processes:
        """The state that was answered."""

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
    def active(self) -> Sequence[int]:
        """Active tasks of each process."""

    @property
    def stateful(self) -> Sequence[int]:
        """Stateful active tasks of each process."""

    @property
    def standby(self) -> Sequence[int]:
        """Standby tasks of each process."""

    @property
    def memory(self) -> dict[Any, Any]:
        """What was derived of it, by who derived it."""


@derived
def stateful_tasks(topology: Tasks) -> list[int]:
    """The tasks that are stateful and logged, ascending."""
    return [task for task, stateful in enumerate(topology.stateful) if stateful]
