"""Leader of a classic group: from the members' reports to their messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    ProcessID,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)
from assignment_api.java import iteration_order, string_hash, uuid_hash
from assignment_api.streams.client_state import LATEST_OFFSET, UNKNOWN_OFFSET_SUM
from assignment_api.streams.ids import utf16_key
from assignment_api.streams.task_table import TaskTable
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.leader.member_messages import MemberMessage, member_messages
from assignor_lab.simulation.streams.episode import InstanceSettings
from assignor_lab.simulation.streams.instances import Instance
from assignor_lab.simulation.streams.leading import TaskLeader
from assignor_lab.simulation.streams.world import SimulatedWorld

__all__ = ["LeaderDecision", "ClassicLeader", "JoinReport"]


#: The first version of the message with client tags.
_FIRST_WITH_TAGS = 11


@attrs.frozen(eq=False)
class JoinReport:
    """A member's subscription and Streams data at its join.

    Two reports are never equal: a field of Kafka's counts joins.
    """

    instance: Instance
    process_id: ProcessID
    settings: InstanceSettings
    owned: tuple[int, ...]
    offset_sums: Mapping[int, int | None]
    version: int
    thread: int

    @property
    def knows_version(self) -> int:
        """Its newest supported version, present in messages from version 3 on."""
        return self.settings.metadata_version

    @property
    def tags(self) -> Mapping[str, str]:
        return self.settings.tags if self.version >= _FIRST_WITH_TAGS else {}


@attrs.frozen(eq=False)
class LeaderDecision:
    """Decision of a leader."""

    messages: Mapping[str, MemberMessage]
    assignment: TaskAssignment
    instances: Mapping[str, str]


class ClassicLeader:
    """Builds the application and calls the assignor."""

    def __init__(self, world: SimulatedWorld, assignor: TaskLeader) -> None:
        self._world = world
        self._assignor = assignor
        self._configs = AssignmentConfigs.from_mapping(world.episode.config)
        self._infos = list(map(_with_partitions, world.episode.tasks))
        self._partitions = [
            tuple((each.topic, each.partition) for each in info.source_partitions()) for info in self._infos
        ]
        self._take_existing()

    def _take_existing(self) -> None:
        self._existing = self._world.existing
        numbers = sorted(self._existing)
        self._tasks = TaskTable(self._infos[number] for number in numbers)
        self._logged = [number for number in numbers if self._infos[number].is_logged]

    def decide(
        self, members: Mapping[str, JoinReport], leader_id: str, now_ms: int, *, end_offsets_known: bool
    ) -> LeaderDecision:
        if self._existing is not self._world.existing:
            self._take_existing()
        members = self._as_read(members, members[leader_id].knows_version)
        ordered = _in_kafkas_order(members)
        ends = {self._world.tasks[number]: self._world.end_offset(number) for number in self._logged}
        shown = self._application(ordered, members, leader_id, now_ms, ends if end_offsets_known else None)
        answer = self._assignor.assign(shown, members[leader_id].settings.release)
        self._world.remarks.update(dict.fromkeys(answer.assignment.remarks))
        if not end_offsets_known:
            # Without end offsets, lags of tasks that do not run on a client are unknown.
            unknown = dict.fromkeys(ends, UNKNOWN_OFFSET_SUM)
            shown = self._application(ordered, members, leader_id, now_ms, unknown)
        owned = {
            member: [partition for task in members[member].owned for partition in self._partitions[task]]
            for names in ordered.values()
            for member in names
        }
        messages = member_messages(
            shown, answer.assignment, owned, sorted_sets=answer.sorted_sets,
            version=min(report.version for report in members.values()),
            commonly_supported_version=min(report.knows_version for report in members.values()),
        )  # fmt: skip
        instances = {member: report.instance.name for member, report in members.items()}
        return LeaderDecision(messages, answer.assignment, instances)

    def _as_read(self, members: Mapping[str, JoinReport], known_version: int) -> Mapping[str, JoinReport]:
        """The leader's view of the reports: of newer messages only their existence and their members' partitions.

        They form one client with a random process id (version probing).
        """
        if all(report.version <= known_version for report in members.values()):
            return members
        unread = [report.thread for report in members.values() if report.version > known_version]
        self._world.say(
            "coordinator", "unread", f"the leader cannot read the metadata of {plural(len(unread), 'member')}",
            threads=unread,
        )  # fmt: skip
        future = ProcessID(UUID(int=self._world.random.getrandbits(128), version=4))
        return {
            member: report
            if report.version <= known_version
            else attrs.evolve(
                report, process_id=future, offset_sums={},
                settings=attrs.evolve(report.settings, tags={}, host=None),
            )
            for member, report in members.items()
        }  # fmt: skip

    def _application(
        self,
        ordered: Mapping[ProcessID, Sequence[str]],
        members: Mapping[str, JoinReport],
        leader_id: str,
        now_ms: int,
        ends: Mapping[TaskId, int] | None,
    ) -> ApplicationMetadata:
        clients = [self._client(process, names, members, ends) for process, names in ordered.items()]
        return ApplicationMetadata(
            self._configs, self._tasks, clients, now_ms, leader_process_id=members[leader_id].process_id
        )

    def _client(
        self,
        process: ProcessID,
        names: Sequence[str],
        members: Mapping[str, JoinReport],
        ends: Mapping[TaskId, int] | None,
    ) -> StreamsClientState:
        tasks = self._world.tasks
        active: set[TaskId] = set()
        standby: set[TaskId] = set()
        lags = None if ends is None else dict(ends)
        by_consumer: dict[str, tuple[TaskId, ...]] = {}
        for name in names:
            report = members[name]
            active.update(tasks[number] for number in report.owned if number in self._existing)
            offset_sums = {number: sum_ for number, sum_ in report.offset_sums.items() if number in self._existing}
            by_consumer[name] = tuple(tasks[number] for number in offset_sums)
            for number, offset in offset_sums.items():
                task = tasks[number]
                (active if offset is None else standby).add(task)
                if lags is not None and task in lags:
                    lags[task] = _lag(offset, lags[task] if ends is None else ends[task])
        first = members[names[0]]
        return StreamsClientState(
            process_id=process,
            num_stream_threads=len(names),
            consumers=names,
            previous_active_tasks=active,
            previous_standby_tasks=standby - active,
            lags=lags,
            previous_tasks_by_consumer=by_consumer,
            host_info=first.settings.host,
            client_tags=first.tags,
            rack_id=first.settings.rack,
        )


def _lag(offset: int | None, end: int) -> int:
    if offset is None:
        return LATEST_OFFSET
    return end if end < offset else end - offset


def _in_kafkas_order(members: Mapping[str, JoinReport]) -> dict[ProcessID, list[str]]:
    names = list(members)
    grouped: dict[ProcessID, list[str]] = {}
    for name in iteration_order(names, [string_hash(name) for name in names], sort_key=utf16_key):
        grouped.setdefault(members[name].process_id, []).append(name)
    processes = list(grouped)
    hashes = [uuid_hash(*process.sort_key()) for process in processes]
    return {
        process: sorted(grouped[process], key=utf16_key)
        for process in iteration_order(processes, hashes, sort_key=ProcessID.sort_key)
    }


def _with_partitions(info: TaskInfo) -> TaskInfo:
    if info.topic_partitions is not None and info.source_partitions():
        return info
    task = info.id
    known = info.topic_partitions or ()
    if not known and info.is_logged:
        known = (TaskTopicPartition(f"changelog-of-{task}", task.partition, is_source=False, is_changelog=True),)
    source = TaskTopicPartition(f"source-of-{task}", task.partition, is_source=True, is_changelog=False)
    return attrs.evolve(info, topic_partitions=(source, *known))
