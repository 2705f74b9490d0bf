"""Clients of a described group, with their reported tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.ids import utf16_key
from assignor_lab.capture.recorded.broker_answers import MemberAnswer, TopicPartition
from assignor_lab.kafka.wire import RUNNING_ACTIVE

__all__ = ["client_document", "sorted_tasks"]


def client_document(
    process: ProcessID,
    members: Iterable[MemberAnswer],
    owners: Mapping[TopicPartition, TaskId],
    lags: Mapping[TaskId, int] | None,
) -> dict[str, Any]:
    """Members sorted by id; at least one has a subscription."""
    listed = list(members)
    subscriptions = {member.member_id: member.subscription for member in listed if member.subscription is not None}
    # The leader used the first member; members of one process send the same data.
    first = next(iter(subscriptions.values()))
    active: dict[TaskId, None] = {}
    reported: dict[TaskId, None] = {}
    for subscription in subscriptions.values():
        active.update((owners[partition], None) for partition in subscription.owned_partitions if partition in owners)
        for task, offset_sum in subscription.info.task_offset_sums.items():
            (active if offset_sum == RUNNING_ACTIVE else reported)[task] = None
    return {
        "process_id": str(process),
        "rack": first.rack,
        "tags": dict(sorted(first.info.client_tags.items(), key=lambda tag: utf16_key(tag[0]))),
        "host": first.info.user_end_point,
        "threads": len(listed),
        "consumers": list(subscriptions),
        "previous_active": sorted_tasks(active),
        "previous_standby": sorted_tasks(task for task in reported if task not in active),
        "lags": None if lags is None else {str(task): lags[task] for task in sorted(lags, key=TaskId.sort_key)},
        "previous_by_consumer": {
            name: sorted_tasks(spoken.info.task_offset_sums) for name, spoken in subscriptions.items()
        },
        **_identities(member for member in listed if member.member_id in subscriptions),
    }


def _identities(members: Iterable[MemberAnswer]) -> dict[str, Any]:
    """Empty if each member is dynamic and its id begins with its client id."""
    listed = list(members)
    if all(each.instance_id is None and each.member_id.startswith(f"{each.client_id}-") for each in listed):
        return {}
    return {
        "members": {each.member_id: {"client_id": each.client_id, "instance_id": each.instance_id} for each in listed}
    }


def sorted_tasks(tasks: Iterable[TaskId]) -> list[str]:
    """Kafka's order, each once: an assignment lists a task for each of its partitions."""
    return [str(task) for task in sorted(set(tasks), key=TaskId.sort_key)]
