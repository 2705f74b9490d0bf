"""The ``tasks`` of documents of kind ``streams``: their shape, their consistency, and their values."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import Any

import attrs

from assignment_api.streams import TaskId, TaskInfo, TaskTopicPartition
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import INT_MAX, Check, Mismatch, boolean, count, list_of, nullable, record, text
from assignor_lab.scenarios.formats.ids import TaskIds, refuse_repeated

__all__ = ["tasks_reader"]


def tasks_reader(ids: TaskIds) -> Check[tuple[TaskInfo, ...]]:
    """The check for all tasks of an application, which returns their values.

    A large application has a hundred thousand partitions. They are read in one loop, and once more by the checks that
    name a fault if there is one.
    """
    task_list = list_of(_task_reader(ids))

    def read(value: Any) -> tuple[TaskInfo, ...]:
        found = _read_at_once(value, ids)
        if found is not None:
            return found
        tasks = task_list(value)
        refuse_repeated([task.id for task in tasks], "task")
        _refuse_contradicting_racks(tasks)
        return tuple(tasks)

    return read


_task_fields = itemgetter("id", "stateful", "logged", "stores", "partitions")
_partition_fields = itemgetter("topic", "partition", "source", "changelog", "racks")


@attrs.define
class _Parts:
    """Parts of all tasks whose types are checked together, and the known racks of each partition."""

    objects: list[Any] = attrs.field(factory=list)
    lists: list[Any] = attrs.field(factory=list)
    texts: list[Any] = attrs.field(factory=list)
    numbers: list[Any] = attrs.field(factory=list)
    flags: list[Any] = attrs.field(factory=list)
    racks: dict[tuple[str, int], list[str] | None] = attrs.field(factory=dict)

    @property
    def are_in_order(self) -> bool:
        for values, cls in ((self.objects, dict), (self.lists, list), (self.flags, bool), (self.numbers, int)):
            if set(map(type, values)) - {cls}:
                return False
        self.texts.extend(chain.from_iterable(self.lists))
        if set(map(type, self.texts)) - {str} or set(map(len, self.objects)) - {5}:
            return False
        return not self.numbers or (min(self.numbers) >= 0 and max(self.numbers) <= INT_MAX)


def _read_at_once(value: Any, ids: TaskIds) -> tuple[TaskInfo, ...] | None:
    """The tasks, or ``None`` if anything is out of the ordinary."""
    if type(value) is not list:
        return None
    tasks: list[TaskInfo] = []
    parts = _Parts()
    try:
        for each in value:
            name, stateful, logged, stores, given = _task_fields(each)
            partitions = None if given is None else _partitions_at_once(given, parts, logged=logged)
            if (partitions is None and given is not None) or (stores is not None and stateful is not bool(stores)):
                return None
            if stores is not None:
                parts.lists.append(stores)
            parts.flags += (stateful, logged)
            parts.texts.append(name)
            tasks.append(TaskInfo(ids[name], stateful, logged, None if stores is None else tuple(stores), partitions))
        parts.objects += value
        if not parts.are_in_order or len({task.id for task in tasks}) != len(tasks):
            return None
    except (AttributeError, KeyError, TypeError, Mismatch):
        return None
    return tuple(tasks)


def _partitions_at_once(value: Any, parts: _Parts, *, logged: bool) -> tuple[TaskTopicPartition, ...] | None:
    if type(value) is not list:
        return None
    found: list[TaskTopicPartition] = []
    racks, any_source, any_changelog = parts.racks, False, False
    for each in value:
        topic, number, source, changelog, on = _partition_fields(each)
        key = (topic, number)
        if key not in racks:
            racks[key] = on
        elif any((one.topic, one.partition) == key for one in found) or {*(racks[key] or ())} != {*(on or ())}:
            return None
        if source is True:
            any_source = True
        elif changelog is not True:
            return None
        if changelog is True:
            any_changelog = True
        if on is not None:
            parts.lists.append(on)
        parts.texts.append(topic)
        parts.numbers.append(number)
        parts.flags += (source, changelog)
        found.append(TaskTopicPartition(topic, number, source, changelog, None if on is None else tuple(on)))
    parts.objects += value
    return tuple(found) if any_source and any_changelog is logged else None


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
