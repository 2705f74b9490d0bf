"""Input of broker-side assignors: members with their subscriptions and previous targets, by topic id."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import attrs

from assignment_api.consumer.assignment import NO_PARTITIONS, PartitionsByTopic, partitions_by_topic, texts
from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.java.hash_table import iteration_order
from assignment_api.java.hashing import string_hash
from assignment_api.java.jdk import DEFAULT_JDK
from assignment_api.streams.ids import utf16_key

__all__ = ["SubscribedGroup", "SubscribedMember", "SubscribedTopic", "topic_id_halves"]

_NO_REGEXES: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def topic_id_halves(topic_id: str) -> tuple[int, int]:
    """The most and the least significant 64 bits of a topic id, signed: Kafka orders ids by them.

    Raises:
        IllegalAssignmentArgumentError: if the text is no topic id in Kafka's base64 form.
    """
    try:
        number = base64.urlsafe_b64decode(topic_id + "==")
    except (binascii.Error, ValueError):
        number = b""
    if len(number) != 16:
        raise IllegalAssignmentArgumentError(f"{topic_id!r:.80} is no topic id: expected 22 characters of base64")
    return int.from_bytes(number[:8], signed=True), int.from_bytes(number[8:], signed=True)


@attrs.frozen
class SubscribedTopic:
    """A topic of the cluster.

    Args:
        id: In Kafka's base64 form.
        partitions: ``None``: the name resolves, and the metadata are missing.
    """

    id: str
    name: str
    partitions: int | None


@attrs.frozen
class SubscribedMember:
    """A member from the view of the coordinator. Kafka: ``MemberSubscription`` and ``MemberAssignment``.

    Args:
        topics: Subscribed names, as listed.
        regex: Subscribed regular expression; only in consumer groups.
        assigned: Previous *target* by topic id, in the order of Kafka's record, not sorted.
    """

    topics: tuple[str, ...] = attrs.field(converter=texts)
    regex: str | None = None
    instance_id: str | None = None
    rack_id: str | None = None
    assigned: PartitionsByTopic = attrs.field(default=NO_PARTITIONS, converter=partitions_by_topic)


def _members(members: Mapping[str, SubscribedMember]) -> Mapping[str, SubscribedMember]:
    return members if isinstance(members, MappingProxyType) else MappingProxyType(dict(members))


def _topics(topics: Mapping[str, SubscribedTopic]) -> Mapping[str, SubscribedTopic]:
    return topics if isinstance(topics, MappingProxyType) else MappingProxyType(dict(topics))


def _regexes(regexes: Mapping[str, Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({regex: tuple(names) for regex, names in regexes.items()})


def _assignable(assignable: Mapping[str, Sequence[int]] | None) -> PartitionsByTopic | None:
    return None if assignable is None else partitions_by_topic(assignable)


@attrs.frozen
class SubscribedGroup:
    """Input of a broker-side assignor. Kafka: ``GroupSpec`` and ``SubscribedTopicDescriber``.

    Args:
        topics: By topic id.
        members: By member id, in the order in which they enter the coordinator's hash map: answers depend on it.
        regexes: Resolved expressions, with topics in the order of the record. An expression that is missing is not
            resolved yet.
        assignable: Share groups: topic id to initialised partitions; ``None``: all.
    """

    topics: Mapping[str, SubscribedTopic] = attrs.field(converter=_topics)
    members: Mapping[str, SubscribedMember] = attrs.field(converter=_members)
    regexes: Mapping[str, tuple[str, ...]] = attrs.field(default=_NO_REGEXES, converter=_regexes)
    assignable: PartitionsByTopic | None = attrs.field(default=None, converter=_assignable)
    _names: dict[tuple[tuple[str, ...], str | None], tuple[str, ...]] = attrs.field(
        factory=dict, init=False, eq=False, repr=False
    )
    _ids: dict[str, str] = attrs.field(factory=dict, init=False, eq=False, repr=False)

    def subscribed_names(self, member: SubscribedMember) -> tuple[str, ...]:
        """Subscribed names in the iteration order of Kafka's set, names without a topic included.

        Their number is the ``size()`` of the set from which Kafka computes capacities. Names and a resolved expression:
        the larger set first, then the rest of the smaller one (``UnionSet``).
        """
        key = (member.topics, member.regex)
        if key not in self._names:
            listed, resolved = _set_order(member.topics), _set_order(self.regexes.get(member.regex or "", ()))
            large, small = (listed, resolved) if len(listed) > len(resolved) else (resolved, listed)
            self._names[key] = tuple(dict.fromkeys((*large, *small)))
        return self._names[key]

    def subscribed_topic_ids(self, member: SubscribedMember) -> tuple[str, ...]:
        """Ids of the subscribed topics that exist, in the order of :meth:`subscribed_names`. Kafka: ``TopicIds``."""
        if not self._ids:
            self._ids.update({topic.name: topic.id for topic in self.topics.values()})
        return tuple([self._ids[name] for name in self.subscribed_names(member) if name in self._ids])

    def is_homogeneous(self) -> bool:
        """True if all members subscribe alike. Kafka: ``SubscriptionType``.

        Without expressions each subscribed name, also an unknown one, must have all members. With expressions all
        members must have one and the same, and no names.
        """
        members = self.members.values()
        if any(member.regex for member in members):
            return len({member.regex for member in members}) == 1 and not any(member.topics for member in members)
        return len({frozenset(member.topics) for member in members}) <= 1


def _set_order(names: Sequence[str]) -> list[str]:
    distinct = list(dict.fromkeys(names))
    # Java sizes the table by the list, repetitions included.
    capacity = DEFAULT_JDK.set_copy_capacity(len(names))
    return iteration_order(distinct, list(map(string_hash, distinct)), capacity, utf16_key)
