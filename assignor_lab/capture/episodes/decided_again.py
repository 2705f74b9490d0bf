"""Recorded targets of a streams group, each asked for again from the state in which its broker computed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import attrs

from assignment_api import TaskInfo
from assignment_api.group import AssignmentConfigs, GroupAssignment, GroupSpec, MemberMetadata, TopologyDescriber
from assignor_lab.capture.episodes.timeline import Timeline
from assignor_lab.kafka.streams_group.group import GroupMember
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Tasks
from assignor_lab.simulation.streams.streams_protocol.targets import Targets

__all__ = ["DecidedAgain", "Decision"]

_Ask = Callable[[GroupSpec, TopologyDescriber], GroupAssignment]


@attrs.frozen
class Decision:
    """A recorded target, and what its broker showed its assignor.

    Args:
        epoch: Its epoch.
        members: The members in the broker's order.
        before: Member to its target before; new ones had none.
        target: Member to its target.
    """

    epoch: int
    members: tuple[str, ...]
    before: Mapping[str, Tasks]
    target: Mapping[str, Tasks]


class DecidedAgain:
    """The targets of a recording, by the rules of a broker of 4.3, which shows assignors the target before.

    Args:
        timeline: The recording.
        tasks: All tasks of the group.
        standbys: Standbys of each stateful task.
        ask: The assignor.
    """

    def __init__(self, timeline: Timeline, tasks: Sequence[TaskInfo], standbys: int, ask: _Ask) -> None:
        self._tasks, self._standbys, self._ask = tuple(tasks), standbys, ask
        self.decisions: tuple[Decision, ...] = tuple(self._decisions(timeline))

    @property
    def tasks(self) -> int:
        """How many tasks the group has."""
        return len(self._tasks)

    def ask(self, decision: Decision, process: Mapping[str, str]) -> Mapping[str, Tasks]:
        """Member to the target that the assignor gives it where each member is of this process.

        Raises:
            LeaderFailedError: if it has no answer.
        """
        targets = Targets(self._tasks, AssignmentConfigs(self._standbys, ()), self._ask)
        shown = (GroupMember(member, decision.before.get(member, NO_TASKS)) for member in decision.members)
        return targets.of(shown, {each: MemberMetadata(process[each], None, None, {}) for each in decision.members}, {})

    def _decisions(self, timeline: Timeline) -> Iterator[Decision]:
        number = {str(task.id): place for place, task in enumerate(self._tasks)}
        joined = {member: place for place, member in enumerate(dict.fromkeys(each.member for each in timeline.members))}
        records, place = list(_records(timeline)), 0
        table = MemberTable()
        before: Mapping[str, Tasks] = {}
        for recorded in timeline.targets:
            while place < len(records) and records[place].time_ms < recorded.time_ms:
                records[place].into(table)
                place += 1
            for record in islice(records, place, None):
                # Of one millisecond: who is in the target left after it, and who joined came with it.
                if record.time_ms > recorded.time_ms:
                    break
                if not record.is_there and record.member not in recorded.tasks:
                    record.into(table)
            there = [member for member in table if member in recorded.tasks]
            new = sorted(recorded.tasks.keys() - there, key=lambda each: (joined.get(each, len(joined)), each))
            target = {
                member: Tasks(*(frozenset(number[task] for task in role if task in number) for role in roles))
                for member, roles in recorded.tasks.items()
            }
            yield Decision(recorded.epoch, (*there, *new), before, target)
            before = target


@attrs.frozen
class _Record:
    """When a member was written down, or removed."""

    time_ms: int
    member: str
    is_there: bool

    def into(self, table: MemberTable) -> None:
        """Has a table know."""
        (table.write_down if self.is_there else table.remove)(self.member)


def _records(timeline: Timeline) -> Iterator[_Record]:
    for each in timeline.members:
        if each.state or each.event != "joins":
            yield _Record(each.time_ms, each.member, is_there=bool(each.state))
