"""Input of a broker-side assignor."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.group.errors import GroupConfigError
from assignment_api.group.members import GroupMember

__all__ = ["AssignmentConfigs", "GroupSpec"]

NUM_STANDBY_REPLICAS = "num.standby.replicas"
RACK_AWARE_ASSIGNMENT_TAGS = "rack.aware.assignment.tags"

_INTEGER = re.compile(r"[+-]?[0-9]{1,11}\Z")
_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def _standbys(value: object) -> int:
    number: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and _INTEGER.match(value):
        number = int(value)
    if number is None or not _INT_MIN <= number <= _INT_MAX:
        raise GroupConfigError(
            f"{NUM_STANDBY_REPLICAS}: {value!r:.80} is no number of 32 bits: give the number of standbys of each task"
        )
    return number


def _tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        # As Java: items are not trimmed, empty ones at the end are dropped.
        listed = value.split(",")
        while listed and not listed[-1]:
            del listed[-1]
        return tuple(listed)
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise GroupConfigError(
        f"{RACK_AWARE_ASSIGNMENT_TAGS}: {value!r:.80} is no list: give keys of client tags with commas between them"
    )


@attrs.frozen
class AssignmentConfigs:
    """Assignment configuration of a group.

    Args:
        num_standby_replicas: ``streams.num.standby.replicas``, per stateful task; negative: none.
        rack_aware_assignment_tags: ``streams.rack.aware.assignment.tags``, since Kafka 4.4, unused by Kafka's
            assignors.

    Raises:
        GroupConfigError: if the first is no 32-bit number, or the second no list of texts.
    """

    num_standby_replicas: int = attrs.field(default=0, converter=_standbys)
    rack_aware_assignment_tags: tuple[str, ...] = attrs.field(default=(), converter=_tags)

    @classmethod
    def from_mapping(cls, configs: Mapping[str, Any]) -> AssignmentConfigs:
        """Read the coordinator's configuration of a group.

        An empty map: no standbys, no tags. As in Kafka, another map needs ``num.standby.replicas``. Tags: list, or text
        with commas.

        Raises:
            GroupConfigError: if the number is missing or invalid, or the tags are no list.
        """
        if not configs:
            return cls()
        return cls(configs.get(NUM_STANDBY_REPLICAS), configs.get(RACK_AWARE_ASSIGNMENT_TAGS, ()))


def _members(members: Mapping[str, GroupMember]) -> Mapping[str, GroupMember]:
    return members if isinstance(members, MappingProxyType) else MappingProxyType(dict(members))


@attrs.frozen
class GroupSpec:
    """Members and configuration. Kafka: ``GroupSpec``.

    Args:
        members: By id, in the order in which the coordinator filled its hash map: it matters if hashes collide.
    """

    members: Mapping[str, GroupMember] = attrs.field(converter=_members)
    configs: AssignmentConfigs = attrs.field(factory=AssignmentConfigs)

    def _repr_html_(self) -> str:
        from assignment_api.group.shown import names_of
        from assignment_api.notebook import names_text, table

        rows = (
            [
                member,
                held.metadata.process_id,
                held.metadata.rack_id,
                *(
                    names_text(names_of(tasks), sum(map(len, tasks.values())))
                    for tasks in (held.state.active_tasks, held.state.standby_tasks, held.state.warmup_tasks)
                ),
            ]
            for member, held in self.members.items()
        )
        columns = ["member", "process", "rack", "active tasks", "standby tasks", "warm-up tasks"]
        title = "Group: 1 member" if len(self.members) == 1 else f"Group: {len(self.members)} members"
        return f"<div>{table(title, columns, rows, len(self.members))}</div>"
