"""The state of a Streams group as an assignor gets it."""

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


@attrs.frozen
class AssignmentConfigs:
    """Configuration of the assignment of one group.

    Args:
        num_standby_replicas: Standbys asked for per stateful task (``streams.num.standby.replicas`` of the group).
            A negative number places none.

    Raises:
        GroupConfigError: if it is no number of 32 bits.
    """

    num_standby_replicas: int = attrs.field(default=0, converter=_standbys)

    @classmethod
    def from_mapping(cls, configs: Mapping[str, Any]) -> AssignmentConfigs:
        """Reads what the coordinator hands to an assignor as ``assignmentConfigs``.

        An empty map means no standbys. A map with other keys but without ``num.standby.replicas`` is an error, as in
        Kafka 4.3.1.

        Raises:
            GroupConfigError: if the number is missing or is none.
        """
        return cls(configs.get(NUM_STANDBY_REPLICAS)) if configs else cls()


def _members(members: Mapping[str, GroupMember]) -> Mapping[str, GroupMember]:
    return members if isinstance(members, MappingProxyType) else MappingProxyType(dict(members))


@attrs.frozen
class GroupSpec:
    """Input of an assignment: all members and the configuration. Kafka: ``GroupSpec``.

    Args:
        members: Member id to member. The order is that in which the coordinator filled its hash map, and is part of
            the input: an exact answer depends on it where hashes collide.
        configs: Configuration of the assignment.
    """

    members: Mapping[str, GroupMember] = attrs.field(converter=_members)
    configs: AssignmentConfigs = attrs.field(factory=AssignmentConfigs)
