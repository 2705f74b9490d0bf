"""Members from the view of the coordinator."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from assignment_api.group.tasks import NO_TASKS, TaskId, TasksBySubtopology, tasks_by_subtopology

__all__ = ["GroupMember", "MemberAssignmentState", "MemberMetadata"]

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_OFFSETS: Mapping[TaskId, int] = MappingProxyType({})


def _tags(tags: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(tags)) if tags else _NOTHING


def _offsets(offsets: Mapping[TaskId, int]) -> Mapping[TaskId, int]:
    return MappingProxyType(dict(offsets)) if offsets else _NO_OFFSETS


@attrs.frozen
class MemberMetadata:
    """Facts that change only when the member joins again.

    Args:
        process_id: Any text; members of one process share its state directory.
        instance_id: ``group.instance.id``; Kafka 4.3 refuses such members.
        rack_id: ``client.rack``, or ``None``.
        client_tags: ``client.tag.<key>`` to value, in the order of the input.
    """

    process_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_tags: Mapping[str, str] = attrs.field(default=_NOTHING, converter=_tags)


@attrs.frozen
class MemberAssignmentState:
    """Ordered, read-only tasks and offsets of a member.

    Kafka 4.3 passes the previous *target* as tasks. From 4.4 on they are those now present, without tasks to give back
    or not yet received. Vanished tasks may be among them.

    Args:
        warmup_tasks: Kafka 4.3 and 4.4 assign none.
        task_offsets: Task to the last reported sum of changelog offsets: any 64-bit number, also for foreign or
            vanished tasks. Kafka 4.3: empty.
        task_end_offsets: Task to the sum of end offsets. Kafka 4.3: empty.
    """

    active_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    standby_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    warmup_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    task_offsets: Mapping[TaskId, int] = attrs.field(default=_NO_OFFSETS, converter=_offsets)
    task_end_offsets: Mapping[TaskId, int] = attrs.field(default=_NO_OFFSETS, converter=_offsets)


@attrs.frozen
class GroupMember:
    """Facts and previous tasks (Kafka 4.3: both in one ``AssignmentMemberSpec``)."""

    metadata: MemberMetadata
    state: MemberAssignmentState = attrs.field(factory=MemberAssignmentState)
