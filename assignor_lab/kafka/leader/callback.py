"""Callback ``on_assignment_computed``: subscription and assignment of each consumer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from assignment_api import (
    ApplicationMetadata,
    AssignmentError,
    ConsumerAssignment,
    ConsumerAssignments,
    GroupSubscription,
    MemberSubscription,
    StreamsClientState,
    TaskAssignment,
    TaskAssignor,
    TaskId,
    TaskInfo,
    TopicPartition,
)
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.leader.threads import spread_over_consumers

__all__ = ["observes", "tell"]

T = TypeVar("T")

#: Errors after which Kafka's leader stops processing the answer (Kafka: ``StreamsPartitionAssignor``).
_UNUSABLE = {AssignmentError.UNKNOWN_PROCESS_ID, AssignmentError.UNKNOWN_TASK_ID}


def observes(assignor: TaskAssignor) -> bool:
    """True if ``assignor`` overrides the callback, so that its arguments are needed."""
    return type(assignor).on_assignment_computed is not TaskAssignor.on_assignment_computed


def tell(
    assignor: TaskAssignor, application: ApplicationMetadata, assignment: TaskAssignment, error: AssignmentError
) -> None:
    """Call ``on_assignment_computed``; its errors pass through, as they fail the rebalance in Kafka.

    Partitions are those of each consumer's tasks, including tasks held back until another consumer revokes them.
    Clients without known consumers, and tasks without known partitions, are left out.
    """
    shown = application.for_next_assignor()
    has_lags = shown.compute_task_lags()
    infos = shown.task_infos()
    states = shown.streams_client_states()
    subscription = GroupSubscription(_by_consumer(_subscriptions(states.values(), infos)))
    members: dict[str, ConsumerAssignment] = {}
    if has_lags and error not in _UNUSABLE:
        for client in assignment.assignments:
            spread = spread_over_consumers(states[client.process_id], client, sorted_sets=False)
            for consumer, tasks in spread.items():
                members[consumer] = ConsumerAssignment(_partitions(tasks.active, infos))
    assignor.on_assignment_computed(ConsumerAssignments(_by_consumer(members)), subscription, error)


def _subscriptions(
    clients: Iterable[StreamsClientState], infos: Mapping[TaskId, TaskInfo]
) -> dict[str, MemberSubscription]:
    return {
        consumer: MemberSubscription(
            _partitions(
                [task for task in client.previous_tasks_of(consumer) if task in client.previous_active_tasks], infos
            ),
            rack_id=client.rack_id,
        )
        for client in clients
        for consumer in client.consumers
    }


def _partitions(tasks: Iterable[TaskId], infos: Mapping[TaskId, TaskInfo]) -> tuple[TopicPartition, ...]:
    known = [infos[task] for task in tasks if task in infos]
    partitions = {
        TopicPartition(source.topic, source.partition) for info in known for source in info.source_partitions()
    }
    return tuple(sorted(partitions, key=lambda partition: (utf16_key(partition.topic), partition.partition)))


def _by_consumer(members: Mapping[str, T]) -> dict[str, T]:
    return {consumer: members[consumer] for consumer in sorted(members, key=utf16_key)}
