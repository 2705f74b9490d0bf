"""The ``tasks`` of documents of kind ``streams``: their shape, their consistency, and their values."""

from __future__ import annotations

from typing import Any

from assignment_api.streams import TaskId, TaskInfo, TaskTopicPartition
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import Check, Mismatch, boolean, count, list_of, nullable, record, text
from assignor_lab.scenarios.formats.ids import TaskIds, refuse_repeated

__all__ = ["tasks_reader"]


def tasks_reader(ids: TaskIds) -> Check[tuple[TaskInfo, ...]]:
    """The check for all tasks of an application, which returns their values."""
    task_list = list_of(_task_reader(ids))

    def read(value: Any) -> tuple[TaskInfo, ...]:
        tasks = task_list(value)
        refuse_repeated([task.id for task in tasks], "task")
        _refuse_contradicting_racks(tasks)
        return tuple(tasks)

    return read


_partition_shape = record(
    {
        "topic": text,
        "partition": count,
        "source": boolean,
        "changelog": boolean,
        "racks": nullable(list_of(text)),
    }
)


def _partition(value: Any) -> TaskTopicPartition:
    fields = _partition_shape(value)
    if not fields["source"] and not fields["changelog"]:
        raise Mismatch("neither a source nor a changelog: set one of the two, or leave the partition out")
    racks = fields["racks"]
    return TaskTopicPartition(
        topic=fields["topic"],
        partition=fields["partition"],
        is_source=fields["source"],
        is_changelog=fields["changelog"],
        rack_ids=None if racks is None else tuple(racks),
    )


def _task_reader(ids: TaskIds) -> Check[TaskInfo]:
    shape = record(
        {
            "id": ids.one,
            "stateful": boolean,
            "logged": boolean,
            "stores": nullable(list_of(text)),
            "partitions": nullable(list_of(_partition)),
        }
    )

    def read(value: Any) -> TaskInfo:
        fields = shape(value)
        stores: list[str] | None = fields["stores"]
        partitions: list[TaskTopicPartition] | None = fields["partitions"]
        if stores is not None and fields["stateful"] != bool(stores):
            raise _disagreement("stateful", fields["stateful"], "stores", f"there are {len(stores)} stores")
        if partitions is not None:
            _check_partitions(partitions, logged=fields["logged"])
        return TaskInfo(
            id=fields["id"],
            is_stateful=fields["stateful"],
            is_logged=fields["logged"],
            state_store_names=None if stores is None else tuple(stores),
            topic_partitions=None if partitions is None else tuple(partitions),
        )

    return read


def _check_partitions(partitions: list[TaskTopicPartition], *, logged: bool) -> None:
    if not any(partition.is_source for partition in partitions):
        raise Mismatch(
            "no source partition: every task reads one; add it, or give null where the partitions are unknown",
            "partitions",
        )
    changelogs = sum(partition.is_changelog for partition in partitions)
    if logged != bool(changelogs):
        raise _disagreement("logged", logged, "partitions", f"there are {changelogs} changelogs among the partitions")
    seen: set[tuple[str, int]] = set()
    for index, partition in enumerate(partitions):
        if (partition.topic, partition.partition) in seen:
            raise Mismatch(
                f"partition {partition.partition} of {printable(partition.topic)} occurs twice in the task: one entry "
                "may be source and changelog at once",
                "partitions",
                index,
            )
        seen.add((partition.topic, partition.partition))


def _disagreement(flag: str, value: bool, other: str, fact: str) -> Mismatch:  # noqa: FBT001 - it is data
    return Mismatch(f"{str(value).lower()}, but {fact}: correct {flag} or {other}", flag)


def _refuse_contradicting_racks(tasks: list[TaskInfo]) -> None:
    seen: dict[tuple[str, int], tuple[TaskId, frozenset[str]]] = {}
    for task_index, task in enumerate(tasks):
        for index, partition in enumerate(task.topic_partitions or ()):
            # Unknown is written as null or as []; racks have no order.
            racks = frozenset(partition.rack_ids or ())
            other, known = seen.setdefault((partition.topic, partition.partition), (task.id, racks))
            if known != racks:
                raise Mismatch(
                    f"partition {partition.partition} of {printable(partition.topic)} has other racks here than in "
                    f"task {other}: a partition has one set of replicas",
                    task_index,
                    "partitions",
                    index,
                    "racks",
                )
