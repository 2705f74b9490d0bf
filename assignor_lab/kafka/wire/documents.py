"""JSON form of messages, also used in the golden wire vectors: every field, maps and sets in Java's order.

Reading a document keeps its order, in which Java's maps and sets are filled before encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assignment_api.streams import HostInfo, ProcessID, TaskId
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.assignment_info import AssignmentInfo, Partition
from assignor_lab.kafka.wire.subscription_info import SubscriptionInfo

__all__ = ["assignment_document", "assignment_of_document", "subscription_document", "subscription_of_document"]


def subscription_document(info: SubscriptionInfo) -> dict[str, Any]:
    return {
        "version": info.version,
        "latest_supported_version": info.latest_supported_version,
        "process_id": str(info.process_id),
        "user_end_point": info.user_end_point,
        "task_offset_sums": {str(task): info.task_offset_sums[task] for task in _sorted_tasks(info.task_offset_sums)},
        "unique_field": info.unique_field,
        "error_code": info.error_code,
        "client_tags": {key: info.client_tags[key] for key in sorted(info.client_tags, key=utf16_key)},
    }


def subscription_of_document(document: Mapping[str, Any]) -> SubscriptionInfo:
    """The subscription in a document; its shape must have been checked.

    Raises:
        TaskIdFormatError, ProcessIdFormatError: if an id in it is invalid.
    """
    return SubscriptionInfo(
        document["version"],
        document["latest_supported_version"],
        ProcessID.parse(document["process_id"]),
        document["user_end_point"],
        {TaskId.parse(task): offset_sum for task, offset_sum in document["task_offset_sums"].items()},
        document["unique_field"],
        document["error_code"],
        dict(document["client_tags"]),
    )


def assignment_document(info: AssignmentInfo) -> dict[str, Any]:
    return {
        "version": info.version,
        "commonly_supported_version": info.commonly_supported_version,
        "active_tasks": [str(task) for task in info.active_tasks],
        "standby_tasks": {
            str(task): _partition_lists(info.standby_tasks[task]) for task in _sorted_tasks(info.standby_tasks)
        },
        "partitions_by_host": _host_lists(info.partitions_by_host),
        "standby_partitions_by_host": _host_lists(info.standby_partitions_by_host),
        "error_code": info.error_code,
        "next_rebalance_ms": info.next_rebalance_ms,
    }


def assignment_of_document(document: Mapping[str, Any]) -> AssignmentInfo:
    """The assignment in a document; its shape must have been checked.

    Raises:
        TaskIdFormatError: if an id in it is invalid.
    """
    return AssignmentInfo(
        document["version"],
        document["commonly_supported_version"],
        [TaskId.parse(task) for task in document["active_tasks"]],
        {TaskId.parse(task): _partitions(listed) for task, listed in document["standby_tasks"].items()},
        _hosts(document["partitions_by_host"]),
        _hosts(document["standby_partitions_by_host"]),
        document["error_code"],
        document["next_rebalance_ms"],
    )


def _sorted_tasks(tasks: Iterable[TaskId]) -> list[TaskId]:
    return sorted(tasks, key=TaskId.sort_key)


def _partition_lists(partitions: Iterable[Partition]) -> list[list[Any]]:
    return [list(partition) for partition in sorted(partitions, key=lambda it: (utf16_key(it[0] or ""), it[1]))]


def _host_lists(hosts: Mapping[HostInfo, tuple[Partition, ...]]) -> list[list[Any]]:
    ordered = sorted(hosts, key=lambda host: (utf16_key(host.host), host.port))
    return [[host.host, host.port, _partition_lists(hosts[host])] for host in ordered]


def _partitions(listed: Iterable[Iterable[Any]]) -> tuple[Partition, ...]:
    return tuple(dict.fromkeys((topic, number) for topic, number in listed))


def _hosts(listed: Iterable[Iterable[Any]]) -> dict[HostInfo, tuple[Partition, ...]]:
    return {HostInfo(host, port): _partitions(partitions) for host, port, partitions in listed}
