"""Answers of assignors for consumer groups and share groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

__all__ = ["NO_PARTITIONS", "PartitionAssignment", "PartitionsByTopic", "partitions_by_topic", "texts"]

#: Topic to partitions. Order and repetitions are Kafka's own and part of the value. Client side the key is the name of
#: the topic, broker side its id.
PartitionsByTopic = Mapping[str, tuple[int, ...]]

#: No partition at all.
NO_PARTITIONS: PartitionsByTopic = MappingProxyType({})


def partitions_by_topic(partitions: Mapping[str, Iterable[int]]) -> PartitionsByTopic:
    """Read-only, in the given order."""
    if isinstance(partitions, MappingProxyType):
        return partitions
    return MappingProxyType({topic: tuple(numbers) for topic, numbers in partitions.items()})


def texts(listed: Iterable[str]) -> tuple[str, ...]:
    """A tuple, the same one if it is one."""
    return tuple(listed)


def _members(members: Mapping[str, Mapping[str, Iterable[int]]]) -> Mapping[str, PartitionsByTopic]:
    if isinstance(members, MappingProxyType):
        return members
    return MappingProxyType({member: partitions_by_topic(held) for member, held in members.items()})


@attrs.frozen
class PartitionAssignment:
    """The answer of an assignor: member id to its partitions; missing members get nothing.

    Kafka: ``ConsumerPartitionAssignor.GroupAssignment``; broker side ``GroupAssignment`` of
    ``coordinator.group.api.assignor``. Topics and partitions are in Kafka's order: client side that of the assignment's
    bytes, broker side the iteration order of its maps and sets, which is the order of the next previous target.
    """

    members: Mapping[str, PartitionsByTopic] = attrs.field(converter=_members)

    def _repr_html_(self) -> str:
        from assignment_api.notebook import names_text, table

        rows = (
            [
                member,
                sum(map(len, held.values())),
                names_text(
                    (f"{topic}-{number}" for topic, numbers in held.items() for number in numbers),
                    sum(map(len, held.values())),
                ),
            ]
            for member, held in self.members.items()
        )
        title = "Answer: the partitions of each member"
        return f"<div>{table(title, ['member', 'partitions', 'names'], rows, len(self.members))}</div>"
