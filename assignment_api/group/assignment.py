"""What an assignor of a Streams group answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from assignment_api.group.tasks import NO_TASKS, TasksBySubtopology, tasks_by_subtopology

__all__ = ["GroupAssignment", "MemberAssignment"]


@attrs.frozen
class MemberAssignment:
    """The target of one member. Kafka: ``MemberAssignment``.

    Args:
        active_tasks: Sub-topology to partitions.
        standby_tasks: Likewise.
        warmup_tasks: Likewise. Since Kafka 4.4 an assignor there cannot give any: the coordinator is to add them.
    """

    active_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    standby_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)
    warmup_tasks: TasksBySubtopology = attrs.field(default=NO_TASKS, converter=tasks_by_subtopology)


def _members(members: Mapping[str, MemberAssignment]) -> Mapping[str, MemberAssignment]:
    return members if isinstance(members, MappingProxyType) else MappingProxyType(dict(members))


@attrs.frozen
class GroupAssignment:
    """The target of the whole group. Kafka: ``GroupAssignment``.

    Args:
        members: Member id to target; a member that is not there gets nothing.
    """

    members: Mapping[str, MemberAssignment] = attrs.field(converter=_members)
