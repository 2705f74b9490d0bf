"""Conversion of an assignor's answer to the leader's messages to all members.

Kafka: ``StreamsPartitionAssignor`` after the call of the task assignor. Tasks are spread over consumers, moving ones
are held back, and all members receive the hosts for queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api import (
    ApplicationMetadata,
    HostInfo,
    IllegalAssignmentStateError,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
)
from assignment_api.java import iteration_order, string_hash, topic_partition_hash
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.leader.revocation import TopicPartition, held_back_tasks, temporary_standbys
from assignor_lab.kafka.leader.threads import ConsumerTasks, spread_over_consumers
from assignor_lab.kafka.wire import LATEST_SUPPORTED_VERSION, NO_REBALANCE, AssignmentInfo

__all__ = ["MemberMessage", "member_messages"]


@attrs.frozen
class MemberMessage:
    """Message to one member.

    Args:
        partitions: Its partitions, sorted by topic and number.
        info: Data of Streams; its active tasks are parallel to ``partitions``.
        held_back: Active tasks that it will get in the next rebalance, which it must request at once.
    """

    partitions: tuple[TopicPartition, ...]
    info: AssignmentInfo
    held_back: tuple[TaskId, ...]


@attrs.frozen
class _Group:
    partitions_of: Mapping[TaskId, tuple[TopicPartition, ...]]
    stateful: frozenset[TaskId]
    owned_by_anybody: frozenset[TopicPartition]
    shared: AssignmentInfo


def member_messages(
    application: ApplicationMetadata,
    assignment: TaskAssignment,
    owned: Mapping[str, Sequence[TopicPartition]],
    *,
    sorted_sets: bool,
    version: int = LATEST_SUPPORTED_VERSION,
    commonly_supported_version: int = LATEST_SUPPORTED_VERSION,
) -> dict[str, MemberMessage]:
    """The leader's message to each consumer of ``application`` for ``assignment``.

    Args:
        assignment: Its answer. A deadline in it goes to the first consumer of its client, unless that one or an earlier
            one has to rebalance at once.
        owned: Consumer to its previous partitions, in the leader's order of members.
        sorted_sets: As for :func:`~assignor_lab.kafka.leader.threads.spread_over_consumers`.
        version: The oldest version that a member uses.
        commonly_supported_version: The newest version that all members know.

    Returns:
        An entry for each consumer; clients in the order of the application, their consumers sorted.

    Raises:
        IllegalAssignmentStateError: if partitions of an assigned task are unknown.
        LagsNotComputedError: if the lags are unknown.
        TaskAssignmentError: if the tasks cannot be spread evenly.
    """
    shown = application.for_next_assignor()
    shown.compute_task_lags()
    answers = {client.process_id: client for client in assignment.assignments}
    partitions_of = _source_partitions(shown)
    active_hosts, standby_hosts = _hosts(shown, answers, partitions_of)
    group = _Group(
        partitions_of,
        frozenset(task for task, info in shown.task_infos().items() if info.is_logged),
        frozenset(partition for partitions in owned.values() for partition in partitions),
        AssignmentInfo(
            version,
            commonly_supported_version,
            partitions_by_host=active_hosts,
            standby_partitions_by_host=standby_hosts,
        ),
    )
    messages: dict[str, MemberMessage] = {}
    for process, state in shown.streams_client_states().items():
        answer = answers.get(process) or StreamsClientAssignment(process)
        spread = spread_over_consumers(state, answer, sorted_sets=sorted_sets)
        messages.update(_client_messages(group, state, answer, spread, owned))
    return messages


def _client_messages(
    group: _Group,
    state: StreamsClientState,
    answer: StreamsClientAssignment,
    spread: Mapping[str, ConsumerTasks],
    owned: Mapping[str, Sequence[TopicPartition]],
) -> dict[str, MemberMessage]:
    # Of two consumers of one client that claim a partition, the later one in the leader's order counts.
    owner_in_client = {
        partition: consumer for consumer, partitions in owned.items() if consumer in spread for partition in partitions
    }
    previous_standbys = frozenset(state.previous_standby_tasks)
    deadline = answer.followup_rebalance_deadline_ms
    messages: dict[str, MemberMessage] = {}
    for consumer, tasks in spread.items():
        held_back = held_back_tasks(
            consumer, tasks.active, group.partitions_of, owner_in_client, group.owned_by_anybody
        )
        given = sorted(
            ((partition, task) for task in tasks.active if task not in held_back for partition in _of(group, task)),
            key=lambda pair: _partition_key(pair[0]),
        )
        standbys = (*tasks.standby, *temporary_standbys(held_back, group.stateful, previous_standbys))
        next_rebalance_ms = 0 if held_back else NO_REBALANCE if deadline is None else deadline
        # Only one member of a client must probe, and none if an earlier one rebalances at once.
        deadline = None
        info = attrs.evolve(
            group.shared,
            active_tasks=tuple(task for _, task in given),
            standby_tasks={task: _of(group, task) for task in standbys},
            next_rebalance_ms=next_rebalance_ms,
        )
        messages[consumer] = MemberMessage(tuple(partition for partition, _ in given), info, held_back)
    return messages


def _of(group: _Group, task: TaskId) -> tuple[TopicPartition, ...]:
    return group.partitions_of[task]


_last: tuple[Mapping[TaskId, TaskInfo], Mapping[TaskId, tuple[TopicPartition, ...]]] | None = None


def _source_partitions(application: ApplicationMetadata) -> Mapping[TaskId, tuple[TopicPartition, ...]]:
    global _last  # noqa: PLW0603 - a memory of one: a group's decisions come one after another about the same tasks
    infos, last = application.task_infos(), _last
    if last is None or last[0] is not infos:
        last = _last = (infos, _found_partitions(infos))
    return last[1]


def _found_partitions(infos: Mapping[TaskId, TaskInfo]) -> dict[TaskId, tuple[TopicPartition, ...]]:
    found: dict[TaskId, tuple[TopicPartition, ...]] = {}
    topics: dict[tuple[str | None, int], set[str]] = {}
    for task, info in infos.items():
        topics.setdefault((task.topology_name, task.subtopology), set()).update(
            partition.topic for partition in info.source_partitions()
        )
    for task, info in infos.items():
        if info.topic_partitions is None:
            raise IllegalAssignmentStateError(
                f"partitions of task {task} are unknown, so no consumer can read them: give the topology"
            )
        listed = [(partition.topic, partition.partition) for partition in info.source_partitions()]
        if len(listed) > 1:  # most tasks read one partition and need no order
            # Kafka: PartitionGrouper creates a set with the size of the sub-topology's set of topics, filled from that.
            names = sorted(key[0] for key in listed)
            inserted = iteration_order(names, [string_hash(name) for name in names])
            listed.sort(key=lambda key: inserted.index(key[0]))
            size = len(topics[task.topology_name, task.subtopology])
            listed = iteration_order(listed, [topic_partition_hash(*key) for key in listed], size, _partition_key)
        found[task] = tuple(listed)
    return found


def _hosts(
    application: ApplicationMetadata,
    answers: Mapping[ProcessID, StreamsClientAssignment],
    partitions_of: Mapping[TaskId, tuple[TopicPartition, ...]],
) -> tuple[dict[HostInfo, tuple[TopicPartition, ...]], dict[HostInfo, tuple[TopicPartition, ...]]]:
    """Hosts for queries after all moves; of two clients with one end point the later one counts."""
    active: dict[HostInfo, tuple[TopicPartition, ...]] = {}
    standby: dict[HostInfo, tuple[TopicPartition, ...]] = {}
    for process, state in application.streams_client_states().items():
        if state.host_info is not None:
            answer = answers.get(process) or StreamsClientAssignment(process)
            active[state.host_info] = _sources(answer.active_tasks(), partitions_of)
            standby[state.host_info] = _sources(answer.standby_tasks(), partitions_of)
    return active, standby


def _sources(
    tasks: Iterable[TaskId], partitions_of: Mapping[TaskId, tuple[TopicPartition, ...]]
) -> tuple[TopicPartition, ...]:
    ordered = sorted(tasks, key=TaskId.sort_key)
    return tuple(partition for task in ordered for partition in partitions_of[task])


def _partition_key(partition: TopicPartition) -> tuple[bytes, int]:
    return utf16_key(partition[0]), partition[1]
