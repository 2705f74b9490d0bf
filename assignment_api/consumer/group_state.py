"""Input of client-side assignors: the metadata and the subscriptions that the group's leader has."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from assignment_api.consumer.assignment import NO_PARTITIONS, PartitionsByTopic, partitions_by_topic, texts

__all__ = ["ConsumerGroupState", "ConsumerSubscription", "ConsumerTopic"]

#: Racks of the replicas of each partition; ``None``: a replica without a rack.
Racks = tuple[tuple[str | None, ...], ...]


@attrs.frozen
class ConsumerTopic:
    """A topic of the leader's metadata, with partitions from 0. Kafka: ``Cluster``.

    Args:
        racks: One entry for each partition; ``None``: no rack is known.
    """

    name: str
    partitions: int
    racks: Racks | None = None


@attrs.frozen
class ConsumerSubscription:
    """A member's part of the JoinGroup response. Kafka: ``ConsumerPartitionAssignor.Subscription``.

    Args:
        topics: As listed, also unknown ones and repetitions.
        owned: Partitions that a cooperative member holds now; empty for eager members.
        generation: Generation of ``owned``; ``None``: not reported.
        user_data: Bytes of the assignor itself, such as those of ``StickyAssignor``.
        rack_id: ``client.rack``; empty counts as none.
        instance_id: ``group.instance.id``; makes the member static.
    """

    topics: tuple[str, ...] = attrs.field(converter=texts)
    owned: PartitionsByTopic = attrs.field(default=NO_PARTITIONS, converter=partitions_by_topic)
    generation: int | None = None
    user_data: bytes | None = None
    rack_id: str | None = None
    instance_id: str | None = None


def _topics(topics: Mapping[str, ConsumerTopic]) -> Mapping[str, ConsumerTopic]:
    return topics if isinstance(topics, MappingProxyType) else MappingProxyType(dict(topics))


def _members(members: Mapping[str, ConsumerSubscription]) -> Mapping[str, ConsumerSubscription]:
    return members if isinstance(members, MappingProxyType) else MappingProxyType(dict(members))


@attrs.frozen
class ConsumerGroupState:
    """Input of a ``ConsumerPartitionAssignor``. Kafka: ``Cluster`` and ``GroupSubscription``.

    Args:
        topics: By name. A subscribed topic that is missing is unknown to the leader.
        members: By member id, in the order of the JoinGroup response, which fills Kafka's hash map.
        max_generation: Highest generation that the leader's assignor saw in earlier calls; ``None``: it is new.
    """

    topics: Mapping[str, ConsumerTopic] = attrs.field(converter=_topics)
    members: Mapping[str, ConsumerSubscription] = attrs.field(converter=_members)
    max_generation: int | None = None

    def _repr_html_(self) -> str:
        from assignment_api.notebook import names_text, table

        rows = (
            [
                member,
                held.instance_id,
                held.rack_id,
                names_text(held.topics, len(held.topics)),
                names_text((f"{topic}-{each}" for topic, owned in held.owned.items() for each in owned), 8),
            ]
            for member, held in self.members.items()
        )
        columns = ["member", "instance", "rack", "topics", "owned"]
        title = f"Consumer group: {len(self.members)} members, {len(self.topics)} topics"
        return f"<div>{table(title, columns, rows, len(self.members))}</div>"
