"""Members of a Streams group from the view of the coordinator."""

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
    """Facts about a member that change only when it joins again.

    Args:
        process_id: Its process; any text. Members of one process share its state directory.
        instance_id: ``group.instance.id``, or ``None``. Kafka 4.3 refuses members with one.
        rack_id: ``client.rack``, or ``None``.
        client_tags: ``client.tag.<key>`` to value, in the order of the input.
    """

    process_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_tags: Mapping[str, str] = attrs.field(default=_NOTHING, converter=_tags)


@attrs.frozen
class MemberAssignmentState:
    """Tasks and offsets of a member.

    All are ordered and read-only.

    Kafka 4.3 passes the member's previous *target* as its tasks. From 4.4 on they are its present tasks: without tasks
    that it must still give back, and without promised ones that it has not received. Tasks that the topology no longer
    has may be among them.

    Args:
        warmup_tasks: Its warm-up tasks. Kafka 4.3 and 4.4 never assign any.
        task_offsets: Task to the sum of its changelog offsets in the member's last report: any 64-bit number, also for
            tasks that it does not run, or that the topology does not have. Kafka 4.3 never fills it.
        task_end_offsets: Task to the sum of the changelogs' end offsets. Kafka 4.3 never fills it.
    """

    active_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    standby_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    warmup_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    task_offsets: Mapping[TaskId, int] = attrs.field(default=_NO_OFFSETS, converter=_offsets)
    task_end_offsets: Mapping[TaskId, int] = attrs.field(default=_NO_OFFSETS, converter=_offsets)


@attrs.frozen
class GroupMember:
    """One member: its facts, and its previous tasks (Kafka 4.3: both in one ``AssignmentMemberSpec``)."""

    metadata: MemberMetadata
    state: MemberAssignmentState = attrs.field(factory=MemberAssignmentState)
