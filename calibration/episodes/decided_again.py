"""Recorded targets of a streams group, each computed again from its broker's state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import attrs

from assignment_api import TaskInfo
from assignment_api.group import AssignmentConfigs, GroupAssignment, GroupSpec, MemberMetadata, TopologyDescriber
from assignor_lab.capture.timelines.timeline import RecordedTimeline
from assignor_lab.kafka.streams_group.group import StreamsGroupMember
from assignor_lab.kafka.streams_group.member_table import MemberTable
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, TasksByRole
from assignor_lab.simulation.streams.streams_protocol.targets import Targets

__all__ = ["DecidedAgain", "RepeatedDecision"]

_Ask = Callable[[GroupSpec, TopologyDescriber], GroupAssignment]


@attrs.frozen
class RepeatedDecision:
    """A recorded target, and the assignor's input.

    Args:
        members: The members in the broker's order.
        before: Member to its previous target; new ones had none.
        target: Member to its target.
    """

    epoch: int
    members: tuple[str, ...]
    before: Mapping[str, TasksByRole]
    target: Mapping[str, TasksByRole]


class DecidedAgain:
    """The targets of a recording, by the rules of a broker of 4.3, which passes the previous target to assignors.

    Args:
        standbys: Standbys of each stateful task.
    """

    def __init__(self, timeline: RecordedTimeline, tasks: Sequence[TaskInfo], standbys: int, ask: _Ask) -> None:
        self._tasks, self._standbys, self._ask = tuple(tasks), standbys, ask
        self.decisions: tuple[RepeatedDecision, ...] = tuple(self._decisions(timeline))

    @property
    def tasks(self) -> int:
        return len(self._tasks)

    def ask(self, decision: RepeatedDecision, process: Mapping[str, str]) -> Mapping[str, TasksByRole]:
        """Member to the assignor's target under these processes of the members.

        Raises:
            LeaderFailedError: if it has no answer.
        """
        targets = Targets(self._tasks, AssignmentConfigs(self._standbys, ()), self._ask)
        shown = (StreamsGroupMember(member, decision.before.get(member, NO_TASKS)) for member in decision.members)
        return targets.of(shown, {each: MemberMetadata(process[each], None, None, {}) for each in decision.members}, {})

    def _decisions(self, timeline: RecordedTimeline) -> Iterator[RepeatedDecision]:
        number = {str(task.id): place for place, task in enumerate(self._tasks)}
        joined = {member: place for place, member in enumerate(dict.fromkeys(each.member for each in timeline.members))}
        records, place = list(_records(timeline)), 0
        table = MemberTable()
        before: Mapping[str, TasksByRole] = {}
        for recorded in timeline.targets:
            while place < len(records) and records[place].time_ms < recorded.time_ms:
                records[place].into(table)
                place += 1
            for record in islice(records, place, None):
                # Within one millisecond: a member in the target left after it; a joined member came with it.
                if record.time_ms > recorded.time_ms:
                    break
                if not record.is_there and record.member not in recorded.tasks:
                    record.into(table)
            there = [member for member in table if member in recorded.tasks]
            new = sorted(recorded.tasks.keys() - there, key=lambda each: (joined.get(each, len(joined)), each))
            target = {
                member: TasksByRole(*(frozenset(number[task] for task in role if task in number) for role in roles))
                for member, roles in recorded.tasks.items()
            }
            yield RepeatedDecision(recorded.epoch, (*there, *new), before, target)
            before = target


@attrs.frozen
class _Record:
    """The recorded addition or removal of a member."""

    time_ms: int
    member: str
    is_there: bool

    def into(self, table: MemberTable) -> None:
        (table.write_down if self.is_there else table.remove)(self.member)


def _records(timeline: RecordedTimeline) -> Iterator[_Record]:
    for each in timeline.members:
        if each.state or each.event != "joins":
            yield _Record(each.time_ms, each.member, is_there=bool(each.state))
