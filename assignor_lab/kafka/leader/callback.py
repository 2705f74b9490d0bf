"""The callback ``on_assignment_computed``: subscription and assignment, consumer by consumer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from assignment_api import (
    ApplicationMetadata,
    AssignmentError,
    GroupAssignment,
    GroupSubscription,
    MemberAssignment,
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

#: Errors after which Kafka's leader does not process the answer any further (Kafka: ``StreamsPartitionAssignor``).
_UNUSABLE = {AssignmentError.UNKNOWN_PROCESS_ID, AssignmentError.UNKNOWN_TASK_ID}


def observes(assignor: TaskAssignor) -> bool:
    """Whether ``assignor`` has a callback of its own, so that it is worth while to prepare what it is shown."""
    return type(assignor).on_assignment_computed is not TaskAssignor.on_assignment_computed


def tell(
    assignor: TaskAssignor, application: ApplicationMetadata, assignment: TaskAssignment, error: AssignmentError
) -> None:
    """Calls ``on_assignment_computed``; what it raises passes through, as it fails the rebalance in Kafka.

    Partitions are those of the tasks that each consumer is to run, before any is held back because another consumer
    still has to revoke it. Clients without known consumers, and tasks without known partitions, are left out.
    """
    shown = application.for_next_assignor()
    has_lags = shown.compute_task_lags()
    infos = shown.task_infos()
    states = shown.streams_client_states()
    subscription = GroupSubscription(_by_consumer(_subscriptions(states.values(), infos)))
    members: dict[str, MemberAssignment] = {}
    if has_lags and error not in _UNUSABLE:
        for client in assignment.assignments:
            spread = spread_over_consumers(states[client.process_id], client, sorted_sets=False)
            for consumer, tasks in spread.items():
                members[consumer] = MemberAssignment(_partitions(tasks.active, infos))
    assignor.on_assignment_computed(GroupAssignment(_by_consumer(members)), subscription, error)


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
