"""The leader of a simulated classic group: from what members said to what each of them is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from assignor_lab.kafka.leader.member_messages import MemberMessage, member_messages
from assignor_lab.simulation.streams.episode import InstanceSettings
from assignor_lab.simulation.streams.instances import Instance
from assignor_lab.simulation.streams.leading import TaskLeader
from assignor_lab.simulation.streams.world import World

__all__ = ["Decision", "Leader", "Report"]


@attrs.frozen(eq=False)
class Report:
    """What a member says when it joins: its subscription, and what Streams adds to it.

    Two reports are never equal: a field of Kafka's counts joins, so that each of them is something new.

    Args:
        instance: Whose thread it is.
        process_id: Its process.
        settings: What is configured for it.
        owned: Active tasks whose partitions it has.
        offset_sums: Tasks with state to the sum of their offsets; ``None`` for an active task that runs.
    """

    instance: Instance
    process_id: ProcessID
    settings: InstanceSettings
    owned: tuple[int, ...]
    offset_sums: Mapping[int, int | None]


@attrs.frozen(eq=False)
class Decision:
    """What a leader decided.

    Args:
        messages: Member to what it is sent.
        assignment: The assignor's answer.
        clients: Process to the name of its instance.
        instances: Member to the name of its instance.
    """

    messages: Mapping[str, MemberMessage]
    assignment: TaskAssignment
    clients: Mapping[ProcessID, str]
    instances: Mapping[str, str]


class Leader:
    """Puts the application together and asks the assignor.

    Args:
        world: The world.
        assignor: Who answers.
    """

    def __init__(self, world: World, assignor: TaskLeader) -> None:
        self._world = world
        self._assignor = assignor
        self._configs = AssignmentConfigs.from_mapping(world.episode.config)
        self._infos = tuple(map(_with_partitions, world.episode.tasks))
        self._partitions = [
            tuple((each.topic, each.partition) for each in info.source_partitions()) for info in self._infos
        ]
        self._logged = [number for number, info in enumerate(self._infos) if info.is_logged]

    def decide(
        self, members: Mapping[str, Report], leader_id: str, now_ms: int, *, end_offsets_known: bool
    ) -> Decision:
        """The decision of one rebalance.

        Args:
            members: Member to what it said.
            leader_id: Who leads.
            now_ms: The leader's clock.
            end_offsets_known: Whether the end offsets could be fetched.

        Raises:
            LeaderFailedError: if the assignor has no answer.
        """
        ordered = _in_kafkas_order(members)
        ends = {self._world.tasks[number]: self._world.end_offset(number) for number in self._logged}
        shown = self._application(ordered, members, leader_id, now_ms, ends if end_offsets_known else None)
        answer = self._assignor.assign(shown)
        if not end_offsets_known:
            # Without end offsets, whoever does not run a task is at an unknown distance.
            unknown = dict.fromkeys(ends, UNKNOWN_OFFSET_SUM)
            shown = self._application(ordered, members, leader_id, now_ms, unknown)
        owned = {
            member: [partition for task in members[member].owned for partition in self._partitions[task]]
            for names in ordered.values()
            for member in names
        }
        messages = member_messages(shown, answer.assignment, owned, sorted_sets=answer.sorted_sets)
        names = {process: members[of[0]].instance.name for process, of in ordered.items()}
        instances = {member: report.instance.name for member, report in members.items()}
        return Decision(messages, answer.assignment, names, instances)

    def _application(
        self,
        ordered: Mapping[ProcessID, Sequence[str]],
        members: Mapping[str, Report],
        leader_id: str,
        now_ms: int,
        ends: Mapping[TaskId, int] | None,
    ) -> ApplicationMetadata:
        clients = [self._client(process, names, members, ends) for process, names in ordered.items()]
        return ApplicationMetadata(
            self._configs, self._infos, clients, now_ms, leader_process_id=members[leader_id].process_id
        )

    def _client(
        self,
        process: ProcessID,
        names: Sequence[str],
        members: Mapping[str, Report],
        ends: Mapping[TaskId, int] | None,
    ) -> StreamsClientState:
        tasks = self._world.tasks
        active: set[TaskId] = set()
        standby: set[TaskId] = set()
        lags = None if ends is None else dict(ends)
        by_consumer: dict[str, tuple[TaskId, ...]] = {}
        for name in names:
            report = members[name]
            active.update(tasks[number] for number in report.owned)
            by_consumer[name] = tuple(tasks[number] for number in report.offset_sums)
            for number, offset in report.offset_sums.items():
                task = tasks[number]
                (active if offset is None else standby).add(task)
                if lags is not None and task in lags:
                    lags[task] = _lag(offset, lags[task] if ends is None else ends[task])
        settings = members[names[0]].settings
        return StreamsClientState(
            process_id=process,
            num_stream_threads=len(names),
            consumers=names,
            previous_active_tasks=active,
            previous_standby_tasks=standby - active,
            lags=lags,
            previous_tasks_by_consumer=by_consumer,
            host_info=settings.host,
            client_tags=settings.tags,
            rack_id=settings.rack,
        )


def _lag(offset: int | None, end: int) -> int:
    if offset is None:
        return LATEST_OFFSET
    return end if end < offset else end - offset


def _in_kafkas_order(members: Mapping[str, Report]) -> dict[ProcessID, list[str]]:
    """Processes as Kafka's map of clients holds them, each with its members, sorted."""
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
    """A task of which no partition is known has one that nobody else has: it is owned all the same."""
    if info.topic_partitions is not None and info.source_partitions():
        return info
    task = info.id
    known = info.topic_partitions or ()
    if not known and info.is_logged:
        known = (TaskTopicPartition(f"changelog-of-{task}", task.partition, is_source=False, is_changelog=True),)
    source = TaskTopicPartition(f"source-of-{task}", task.partition, is_source=True, is_changelog=False)
    return attrs.evolve(info, topic_partitions=(source, *known))
