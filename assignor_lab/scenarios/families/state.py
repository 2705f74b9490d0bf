"""The state of a generated group between two rounds: who owns what, what is on which disk, and how far behind.

The model, which is the same for every assignor:

* An active task that has the whole state processes; it reports lag -2. One that has not restores first, at the group's
  rate, and reports how far behind it is.
* A standby or warm-up copies at the same rate, and stays a second or less behind once it has caught up.
* What a running instance no longer has stays on its disk for ten minutes (Kafka's ``state.cleanup.delay.ms``), then it
  is deleted; the disk of an instance that is away stays as it is. Meanwhile the others write on.
* A task that a client has nothing of lags by the whole changelog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.streams import TaskAssignment
from assignor_lab.scenarios.families.events import Session, Step
from assignor_lab.scenarios.families.shape import Group

__all__ = ["GroupState", "StoredState"]

_CLEANUP_DELAY_MS = 600_000
_RUNNING = -2


@attrs.define
class _StoredTask:
    """State of one task on one disk.

    Args:
        position: Offsets that it holds of the task's changelogs.
        reporter: Which of the instance's consumers reports it.
        unused_ms: How long nobody has used it.
        is_running: It belongs to an active task that processes.
    """

    position: int
    reporter: int
    unused_ms: int = 0
    is_running: bool = False


@attrs.frozen
class StoredState:
    """State of one task on one disk, as it is reported.

    Args:
        reporter: Which of the instance's consumers reports it.
        offset: Sum of the offsets that it holds of the task's changelogs.
        end: Sum of their end offsets.
    """

    reporter: int
    offset: int
    end: int


@attrs.define
class _Owned:
    """Tasks (by index) that a session was given."""

    active: list[int] = attrs.field(factory=list)
    standby: list[int] = attrs.field(factory=list)


class GroupState:
    """What the members of a group hold; changed from round to round.

    Args:
        group: What does not change.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._index = {task["id"]: index for index, task in enumerate(group.tasks)}
        self._all_logged = [index for index, task in enumerate(group.tasks) if task["logged"]]
        self._ends = {index: group.first_end(index) for index in self._all_logged}
        self._logged = self._all_logged
        self._hidden: frozenset[int] = frozenset()
        self._disks: dict[str, dict[int, _StoredTask]] = {}
        self._owned: dict[Session, _Owned] = {}

    def give(self, members: tuple[Session, ...], answer: TaskAssignment | None) -> None:
        """Hands out an answer; without one everybody keeps what it had.

        Clients and tasks that the group does not have are passed over, as are standbys of tasks that log nothing.
        """
        if answer is None:
            return
        sessions = {session.process_id: session for session in members}
        self._owned = {session: _Owned() for session in members}
        for client in answer.assignments:
            session = sessions.get(str(client.process_id))
            if session is not None:
                self.own(session, client.active_tasks(), client.standby_tasks())

    def own(self, session: Session, active: Iterable[object], standby: Iterable[object]) -> None:
        """Has ``session`` run and copy these tasks, by their texts, from now on."""
        self._owned[session] = _Owned(
            self._known(active), [index for index in self._known(standby) if index in self._ends]
        )

    def _known(self, tasks: Iterable[object]) -> list[int]:
        return sorted({self._index[str(task)] for task in tasks if str(task) in self._index})

    def advance(self, step: Step) -> None:
        """Lets the time up to ``step`` pass, then takes out who is no member of it."""
        for index in self._all_logged:
            self._ends[index] += step.written[index]
        for session, owned in self._owned.items():
            self._run(session, owned, step)
        members = set(step.members)
        self._owned = {session: owned for session, owned in self._owned.items() if session in members}
        for session in step.members:
            if session not in self._owned:
                self._start(session)
        if step.hidden != self._hidden:
            self._hide(step.hidden)

    def _hide(self, hidden: frozenset[int]) -> None:
        """Other sub-topologies are there from now on; what is left of those that are not is deleted."""
        self._hidden = hidden
        shown = [subtopology.number not in hidden for subtopology in self._group.subtopology_of]
        self._logged = [index for index in self._all_logged if shown[index]]
        for owned in self._owned.values():
            owned.active = [index for index in owned.active if shown[index]]
            owned.standby = [index for index in owned.standby if shown[index]]
        for disk in self._disks.values():
            for index in [index for index in disk if not shown[index]]:
                del disk[index]

    def _run(self, session: Session, owned: _Owned, step: Step) -> None:
        disk = self._disks.setdefault(session.process_id, {})
        progress = self._group.restore_per_s * step.elapsed_ms // 1_000
        used = {index: None for index in (*owned.active, *owned.standby) if index in self._ends}
        for index in used:
            if index not in disk:
                disk[index] = _StoredTask(position=0, reporter=_least_busy(disk, len(session.consumers)))
        for index in owned.active:
            if index in used:
                stored = disk[index]
                restored = stored.position + progress >= self._ends[index]
                stored.is_running = stored.is_running or restored
                stored.position = self._ends[index] if stored.is_running else stored.position + progress
        for index in owned.standby:
            stored = disk[index]
            stored.is_running = False
            reachable = max(self._ends[index] - step.trailing[index], 0)
            stored.position = max(stored.position, min(reachable, stored.position + progress))
        for index in [index for index in disk if index not in used]:
            stored = disk[index]
            stored.is_running = False
            stored.unused_ms += step.elapsed_ms
            if stored.unused_ms > _CLEANUP_DELAY_MS:
                del disk[index]
        for index in used:
            disk[index].unused_ms = 0

    def _start(self, session: Session) -> None:
        self._owned[session] = _Owned()
        for stored in self._disks.get(session.process_id, {}).values():
            stored.is_running = False
            stored.unused_ms = 0
            stored.reporter %= len(session.consumers)

    def stored(self, session: Session) -> dict[str, StoredState]:
        """Task to what lies of it on the disk of a member, by task in the group's order."""
        disk = self._disks.get(session.process_id, {})
        return {
            self._id(index): StoredState(disk[index].reporter, disk[index].position, self._ends[index])
            for index in sorted(disk)
        }

    def client_document(self, session: Session) -> dict[str, Any]:
        """What the leader knows of a member: an entry of ``clients``."""
        owned = self._owned[session]
        disk = self._disks.get(session.process_id, {})
        active = dict.fromkeys(owned.active)
        reported: dict[str, list[str]] = {consumer: [] for consumer in session.consumers}
        for index in sorted(disk):
            reported[session.consumers[disk[index].reporter]].append(self._id(index))
        return {
            "process_id": session.process_id,
            "rack": session.machine.rack,
            "tags": dict(session.machine.tags),
            "host": session.machine.host,
            "threads": session.machine.threads,
            "consumers": list(session.consumers),
            "previous_active": [self._id(index) for index in active],
            "previous_standby": [self._id(index) for index in sorted(disk) if index not in active],
            "lags": {self._id(index): self._lag(disk, index) for index in self._logged},
            "previous_by_consumer": reported,
        }

    def _id(self, index: int) -> str:
        return self._group.tasks[index]["id"]  # type: ignore[no-any-return]

    def _lag(self, disk: Mapping[int, _StoredTask], index: int) -> int:
        stored = disk.get(index)
        if stored is None:
            return self._ends[index]
        return _RUNNING if stored.is_running else max(self._ends[index] - stored.position, 0)


def _least_busy(disk: Mapping[int, _StoredTask], consumers: int) -> int:
    load = [0] * consumers
    for stored in disk.values():
        load[stored.reporter] += 1
    return load.index(min(load))
