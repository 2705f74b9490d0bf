"""Answers of an assignor of a Streams group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from assignment_api.group.tasks import NO_TASKS, TasksBySubtopology, tasks_by_subtopology

__all__ = ["GroupAssignment", "MemberAssignment"]


@attrs.frozen(init=False)
class MemberAssignment:
    """The target of one member: sub-topology to partitions. Kafka: ``MemberAssignment``.

    Args:
        warmup_tasks: Empty since Kafka 4.4: the coordinator is to add them.
    """

    active_tasks: TasksBySubtopology
    standby_tasks: TasksBySubtopology
    warmup_tasks: TasksBySubtopology

    def __init__(
        self,
        active_tasks: Mapping[str, Iterable[int]] = NO_TASKS,
        standby_tasks: Mapping[str, Iterable[int]] = NO_TASKS,
        warmup_tasks: Mapping[str, Iterable[int]] = NO_TASKS,
    ) -> None:
        # Twice as fast as the code of attrs.
        _set_active(self, active_tasks if type(active_tasks) is _Ordered else tasks_by_subtopology(active_tasks))
        _set_standby(self, standby_tasks if type(standby_tasks) is _Ordered else tasks_by_subtopology(standby_tasks))
        _set_warmup(self, warmup_tasks if type(warmup_tasks) is _Ordered else tasks_by_subtopology(warmup_tasks))


_Ordered = MappingProxyType
_set_active, _set_standby, _set_warmup = (
    vars(MemberAssignment)[name].__set__ for name in ("active_tasks", "standby_tasks", "warmup_tasks")
)


def _members(members: Mapping[str, MemberAssignment]) -> Mapping[str, MemberAssignment]:
    return members if isinstance(members, MappingProxyType) else MappingProxyType(dict(members))


@attrs.frozen
class GroupAssignment:
    """The target of the group, by member id; missing members get nothing. Kafka: ``GroupAssignment``."""

    members: Mapping[str, MemberAssignment] = attrs.field(converter=_members)

    def _repr_html_(self) -> str:
        from assignment_api.group.shown import names_of
        from assignment_api.notebook import names_text, table

        rows = (
            [
                member,
                *(
                    names_text(names_of(tasks), sum(map(len, tasks.values())))
                    for tasks in (target.active_tasks, target.standby_tasks, target.warmup_tasks)
                ),
            ]
            for member, target in self.members.items()
        )
        columns = ["member", "active tasks", "standby tasks", "warm-up tasks"]
        return f"<div>{table('Answer: the target of each member', columns, rows, len(self.members))}</div>"
