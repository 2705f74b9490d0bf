"""The state of a generated group between two rounds: owners, disks, and lags.

The model is the same for every assignor:

* An active task with complete state processes and reports lag -2. Without it, the task restores first, at the group's
  rate, and reports its lag.
* A standby or warm-up copies at the same rate, and is at most a second behind once it has caught up.
* A task that a running instance has lost stays on its disk for ten minutes (Kafka's ``state.cleanup.delay.ms``), then
  it is deleted. The disk of an absent instance stays unchanged. Meanwhile the others write on.
* Without any state of a task, a client lags by the whole changelog.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignor_lab.scenarios.families.events import DrawnStep, Session
from assignor_lab.scenarios.families.shape import GroupShape

__all__ = ["FamilyState", "MemberTasks", "StoredState"]

_CLEANUP_DELAY_MS = 600_000
_RUNNING = -2


@attrs.define(eq=False)
class _Disk:
    """State of tasks on one disk.

    Args:
        positions: Held offsets of each task's changelogs; at most their ends.
        reporters: The instance's consumer that reports each task.
        running: Tasks with a processing active task: they are at the ends of the changelogs.
        unused_ms: Unused tasks, with the time since their last use.
    """

    positions: dict[int, int] = attrs.field(factory=dict)
    reporters: dict[int, int] = attrs.field(factory=dict)
    running: set[int] = attrs.field(factory=set)
    unused_ms: dict[int, int] = attrs.field(factory=dict)

    def delete(self, tasks: Iterable[int]) -> None:
        for index in tasks:
            del self.positions[index], self.reporters[index]
            self.running.discard(index)
            self.unused_ms.pop(index, None)

    def create(self, tasks: Iterable[int], consumers: int) -> None:
        """Creates empty state of missing tasks; the consumer with the fewest reports reports each."""
        load = [0] * consumers
        for reporter in self.reporters.values():
            load[reporter] += 1
        for index in tasks:
            if index not in self.positions:
                reporter = load.index(min(load))
                load[reporter] += 1
                self.positions[index], self.reporters[index] = 0, reporter

    def start(self, consumers: int) -> None:
        self.running.clear()
        self.unused_ms.clear()
        self.reporters = {index: reporter % consumers for index, reporter in self.reporters.items()}


@attrs.frozen
class StoredState:
    """State of one task on one disk, as reported.

    Args:
        reporter: The instance's consumer that reports it.
        offset: Sum of the held offsets of the task's changelogs.
        end: Sum of their end offsets.
    """

    reporter: int
    offset: int
    end: int


@attrs.frozen(eq=False)
class MemberTasks:
    """A member's tasks at the time of the leader's decision. Tasks are indices, ascending.

    Args:
        active: Its running tasks.
        stored: Further tasks with state on its disk.
        reported: For each of its consumers, the tasks on its disk that this one reports.
        lags: Lag of each task with a changelog now, in the order of :attr:`FamilyState.logged`.
    """

    session: Session
    active: list[int]
    stored: list[int]
    reported: list[list[int]]
    lags: list[int]


@attrs.define
class _Owned:
    active: list[int] = attrs.field(factory=list)
    standby: list[int] = attrs.field(factory=list)


class FamilyState:
    """Tasks of the members of a group; changed from round to round."""

    def __init__(self, group: GroupShape) -> None:
        self._group = group
        self._all_logged = [index for index, task in enumerate(group.tasks) if task.logged]
        self._ends = {index: group.first_end(index) for index in self._all_logged}
        self.logged = self._all_logged
        self._hidden: frozenset[int] = frozenset()
        self._disks: dict[str, _Disk] = {}
        self._owned: dict[Session, _Owned] = {}

    def nobody_owns(self, members: tuple[Session, ...]) -> None:
        """Removes all owners; from now on only ``members`` can own tasks."""
        self._owned = {session: _Owned() for session in members}

    def own(self, session: Session, active: Iterable[int], standby: Iterable[int]) -> None:
        """Assigns these tasks to ``session``; standbys of tasks without changelog are ignored."""
        self._owned[session] = _Owned(sorted(set(active)), sorted(self._ends.keys() & standby))

    def advance(self, step: DrawnStep) -> None:
        """Advances the time to ``step``, then removes its absent members."""
        ends, written = self._ends, step.written
        for index in self._all_logged:
            ends[index] += written[index]
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
        self._hidden = hidden
        shown = [subtopology.number not in hidden for subtopology in self._group.subtopology_of]
        self.logged = [index for index in self._all_logged if shown[index]]
        for owned in self._owned.values():
            owned.active = [index for index in owned.active if shown[index]]
            owned.standby = [index for index in owned.standby if shown[index]]
        for disk in self._disks.values():
            disk.delete([index for index in disk.positions if not shown[index]])

    def _run(self, session: Session, owned: _Owned, step: DrawnStep) -> None:
        disk, ends = self._disks.get(session.process_id), self._ends
        if disk is None:
            disk = self._disks[session.process_id] = _Disk()
        progress, trailing = self._group.restore_per_s * step.elapsed_ms // 1_000, step.trailing
        logged = [index for index in owned.active if index in ends]
        used = {*logged, *owned.standby}
        positions, running = disk.positions, disk.running
        if not used <= positions.keys():
            disk.create((*logged, *owned.standby), len(session.consumers))
        running.intersection_update(logged)
        if len(running) < len(logged):
            for index in logged:
                if index not in running:
                    positions[index] += progress
                    if positions[index] >= ends[index]:
                        running.add(index)
        for index in running:
            positions[index] = ends[index]
        for index in owned.standby:
            held, reachable = positions[index], ends[index] - trailing[index]
            if reachable > held:
                reached = held + progress
                positions[index] = min(reachable, reached)
        unused = disk.unused_ms
        disk.unused_ms = {index: unused.get(index, 0) + step.elapsed_ms for index in positions.keys() - used}
        if disk.unused_ms:
            disk.delete([index for index, unused_ms in disk.unused_ms.items() if unused_ms > _CLEANUP_DELAY_MS])

    def _start(self, session: Session) -> None:
        self._owned[session] = _Owned()
        disk = self._disks.get(session.process_id)
        if disk is not None:
            disk.start(len(session.consumers))

    def stored(self, session: Session) -> dict[str, StoredState]:
        """Task to its state on the disk of a member, by task in the group's order."""
        disk, tasks = self._disks.get(session.process_id, _EMPTY), self._group.tasks
        return {
            tasks[index].id: StoredState(disk.reporters[index], disk.positions[index], self._ends[index])
            for index in sorted(disk.positions)
        }

    def held(self, session: Session) -> MemberTasks:
        owned, disk = self._owned[session], self._disks.get(session.process_id, _EMPTY)
        on_disk, reporters = sorted(disk.positions), disk.reporters
        reported: list[list[int]] = [[] for _ in session.consumers]
        for index in on_disk:
            reported[reporters[index]].append(index)
        lags = self._ends.copy()
        for index, position in disk.positions.items():
            lags[index] -= position
        lags.update(dict.fromkeys(disk.running, _RUNNING))
        active = set(owned.active)
        return MemberTasks(
            session,
            owned.active,
            [index for index in on_disk if index not in active],
            reported,
            # The ends are in the order of all logged tasks.
            list(lags.values()) if self.logged is self._all_logged else [lags[index] for index in self.logged],
        )


#: The disk of a session that has never run.
_EMPTY = _Disk()
