"""Recorded targets of a streams group, each asked for again from the state in which its broker computed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from assignment_api import TaskInfo
from assignment_api.group import AssignmentConfigs, GroupAssignment, GroupSpec, MemberMetadata, TopologyDescriber
from assignor_lab.capture.episodes.timeline import RecordedTarget, Timeline
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
        records = list(_records(timeline))
        joined = list(dict.fromkeys(each.member for each in timeline.members))
        before: Mapping[str, Tasks] = {}
        for recorded in timeline.targets:
            target = {
                member: Tasks(*(frozenset(number[task] for task in role if task in number) for role in roles))
                for member, roles in recorded.tasks.items()
            }
            yield Decision(recorded.epoch, tuple(_in_order(recorded, records, joined)), before, target)
            before = target


def _records(timeline: Timeline) -> Iterator[tuple[int, str, bool]]:
    """When a member was written down for the first time, or removed: moment, member, whether it is there then."""
    known: set[str] = set()
    for each in timeline.members:
        if each.state and each.member not in known:
            known.add(each.member)
            yield each.time_ms, each.member, True
        elif not each.state and each.event != "joins":
            known.discard(each.member)
            yield each.time_ms, each.member, False


def _in_order(
    recorded: RecordedTarget, records: Sequence[tuple[int, str, bool]], joined: Sequence[str]
) -> Iterator[str]:
    """The members as the broker goes through them: whoever joins with the request that computes comes last."""
    table = MemberTable()
    for moment, member, is_there in records:
        if is_there and moment < recorded.time_ms:
            table.add(member)
        elif not is_there and moment <= recorded.time_ms and member not in recorded.tasks:
            table.remove(member)
    there = dict.fromkeys(table)
    yield from (each for each in there if each in recorded.tasks)
    yield from sorted(set(recorded.tasks) - set(there), key=lambda each: (_place(joined, each), each))


def _place(joined: Sequence[str], member: str) -> int:
    return joined.index(member) if member in joined else len(joined)
