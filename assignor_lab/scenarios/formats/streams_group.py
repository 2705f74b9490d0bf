"""Documents of kind ``streams-group`` (KIP-1071): their shape, and their values of the SPI.

As for ``streams``: documents outside the format are refused here. Values that a coordinator would refuse (more standbys
than a 32-bit number holds) or skip (previous tasks that the topology no longer has) pass.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assignment_api.group import GroupMember, MemberAssignmentState, MemberMetadata, Subtopology, TaskId
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import (
    INT_MAX,
    LONG_MAX,
    LONG_MIN,
    Check,
    Mismatch,
    boolean,
    count,
    list_of,
    map_of,
    nullable,
    number,
    one_of,
    record,
    text,
    whole,
)
from assignor_lab.scenarios.scenario import GroupContent
from assignor_lab.scenarios.settings import check_settings

__all__ = ["MAX_TASKS", "read_streams_group"]

#: Most tasks of one scenario: a document has only their number, so a short line could request billions.
MAX_TASKS = 1_000_000

_PARTITION = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")

_subtopology = record({"id": text, "tasks": count, "stateful": boolean})
_offset = whole(LONG_MIN, LONG_MAX)


def _partition_numbers(value: Any) -> list[int]:
    numbers = _list_of_counts(value)
    if len(set(numbers)) != len(numbers):
        twice = next(index for index, number in enumerate(numbers) if number in numbers[:index])
        raise Mismatch(f"partition {numbers[twice]} occurs twice: remove one of the two", twice)
    return numbers


_list_of_counts = list_of(count)


def _partition_text(value: Any) -> int:
    digits = text(value)
    if not _PARTITION.match(digits) or int(digits) > INT_MAX:
        raise Mismatch(f'"{printable(digits)}" is no partition: expected a whole number from 0, such as "3"')
    return int(digits)


_tasks = map_of(text, _partition_numbers)
_offsets = map_of(text, map_of(_partition_text, _offset))
_member_shape = record(
    {
        "id": text,
        "instance_id": nullable(text),
        "rack": nullable(text),
        "process_id": text,
        "tags": map_of(text, text),
        "active": _tasks,
        "standby": _tasks,
        "warmup": _tasks,
        "task_offsets": _offsets,
        "task_end_offsets": _offsets,
    },
    {"client_id": nullable(text)},
)


def _member(value: Any) -> tuple[str, GroupMember]:
    fields = _member_shape(value)
    metadata = MemberMetadata(fields["process_id"], fields["instance_id"], fields["rack"], fields["tags"])
    state = MemberAssignmentState(
        fields["active"],
        fields["standby"],
        fields["warmup"],
        _by_task(fields["task_offsets"]),
        _by_task(fields["task_end_offsets"]),
    )
    return fields["id"], GroupMember(metadata, state)


def _by_task(offsets: Mapping[str, Mapping[str, int]]) -> dict[TaskId, int]:
    return {
        TaskId(subtopology, int(partition)): offset
        for subtopology, of_partition in offsets.items()
        for partition, offset in of_partition.items()
    }


_workload_of_task = record(
    {}, {"state_bytes": number, "state_records": number, "input_bytes_per_s": number, "weight": number}
)


def _check_events(value: Any) -> Any:
    from assignor_lab.scenarios.formats.events import check_events  # few files have events

    return check_events(value)


_document_shape: Check[dict[str, Any]] = record(
    {
        "format": whole(1, 1),
        "kind": one_of("streams-group"),
        "id": text,
        # Kafka checks the range; the limit keeps numbers of thousands of digits out.
        "config": record(
            {},
            {"num.standby.replicas": whole(-(2**127), 2**127 - 1), "rack.aware.assignment.tags": list_of(text)},
        ),
        "subtopologies": list_of(_subtopology),
        "members": list_of(_member),
    },
    {
        "settings": check_settings,
        "workload": record({}, {"tasks": map_of(text, _workload_of_task), "restore_bytes_per_s": number}),
        "observed": record({"members": map_of(text, record({"active": _tasks, "standby": _tasks, "warmup": _tasks}))}),
        "source": record(
            {},
            {
                "file": text,
                "line": count,
                "time_ms": whole(0, LONG_MAX),
                "group": text,
                "generation": count,
                "prepared_ms": whole(0, LONG_MAX),
                "reason": text,
                "client_ids": map_of(text, text),
                "current": list_of(record({"time_ms": whole(LONG_MIN, LONG_MAX), "member": text, "active": _tasks})),
                "events": _check_events,
                "hosts": map_of(text, text),
                "done": list_of(
                    record(
                        {"time_ms": whole(LONG_MIN, LONG_MAX), "type": text, "client": text},
                        {"tasks": list_of(text)},
                    )
                ),
            },
        ),
        "assumptions": list_of(text),
    },
)


def read_streams_group(document: Mapping[str, Any]) -> GroupContent:
    """Checks a document of kind ``streams-group`` and turns it into values.

    A sub-topology that occurs twice is no fault: the last entry counts, as in the coordinator's map.

    Raises:
        Mismatch: if it is not in the format.
    """
    content = _document_shape(document)
    subtopologies = [Subtopology(each["id"], each["tasks"], each["stateful"]) for each in content["subtopologies"]]
    tasks = 0
    for index, subtopology in enumerate(subtopologies):
        tasks += subtopology.num_tasks
        if tasks > MAX_TASKS:
            raise Mismatch(
                f"more than {MAX_TASKS:,} tasks in all: this is the limit of one scenario",
                *("subtopologies", index, "tasks"),
            )
    members: dict[str, GroupMember] = {}
    for index, (member_id, member) in enumerate(content["members"]):
        if member_id in members:
            raise Mismatch(f"member {printable(member_id)} occurs twice: remove one of the two", "members", index, "id")
        members[member_id] = member
    return GroupContent(document["config"], members, tuple(subtopologies))
