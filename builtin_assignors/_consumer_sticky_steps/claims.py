"""Former owners of partitions, from the reports of all members, and the partitions that several members claim.

Partitions are numbers (:mod:`builtin_assignors._consumer_steps.numbering`). A reported partition of a known topic that
does not exist gets a further number behind them. Kafka: ``AbstractStickyAssignor.allSubscriptionsEqual``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from builtin_assignors._consumer_steps import NumberedGroup
from builtin_assignors._consumer_sticky_steps.reports import NO_GENERATION, MemberReport

__all__ = ["Claims", "claims_of"]


@attrs.define(eq=False)
class Claims:
    """The claims on partitions.

    Args:
        topic_of: Topic of each partition, those that do not exist included.
        number_of: Partition within its topic, likewise.
        owned: For each member, its partitions, in the order of its report.
        claimed_twice: Partitions that members of one generation claim.
        subscribe_alike: True if Kafka takes the subscriptions as equal.
        max_generation: Highest generation that the assignor has seen.
    """

    topic_of: list[int]
    number_of: list[int]
    extra: dict[tuple[int, int], int] = attrs.field(factory=dict)
    owned: list[list[int]] = attrs.field(factory=list)
    claimed_twice: set[int] = attrs.field(factory=set)
    subscribe_alike: bool = True
    max_generation: int = NO_GENERATION

    def numbers(self, group: NumberedGroup, report: MemberReport) -> Iterator[int]:
        """Numbers of the reported partitions of known topics, in order."""
        for name, partitions in report.owned:
            topic = group.number.get(name)
            if topic is None:
                continue
            first, size = group.first[topic], group.sizes[topic]
            for partition in partitions:
                yield first + partition if 0 <= partition < size else self._missing(topic, partition)

    def _missing(self, topic: int, partition: int) -> int:
        number = self.extra.get((topic, partition))
        if number is None:
            number = self.extra[topic, partition] = len(self.topic_of)
            self.topic_of.append(topic)
            self.number_of.append(partition)
        return number


def claims_of(group: NumberedGroup, reports: Sequence[MemberReport]) -> Claims:
    """The claims, member by member in hash order."""
    topic_of: list[int] = []
    number_of: list[int] = []
    for topic, size in enumerate(group.sizes):
        topic_of += [topic] * size
        number_of += range(size)
    claims = Claims(topic_of, number_of, owned=[[] for _ in reports])
    highest = group.group.max_generation
    claims.max_generation = NO_GENERATION if highest is None else highest
    generations = [
        NO_GENERATION if member.generation is None or member.generation < 0 else member.generation
        for member in group.group.members.values()
    ]
    members = list(group.group.members.values())
    base: frozenset[str] = frozenset()
    #: Lists that are known to equal the base.
    alike: set[tuple[str, ...]] = set()
    owner: dict[int, int] = {}
    owned = claims.owned
    for member in group.order:
        topics = members[member].topics
        if not base:
            # Members without a subscription pass here, and the list itself is not compared.
            base = frozenset(topics)
        elif claims.subscribe_alike and topics not in alike:
            claims.subscribe_alike = len(topics) == len(base) and base.issuperset(topics)
            alike.add(topics)
        report = reports[member]
        generation = NO_GENERATION if report.generation is None else report.generation
        claims.max_generation = max(claims.max_generation, generation)
        own = owned[member]
        for partition in claims.numbers(group, report):
            other = owner.get(partition)
            if other is None:
                own.append(partition)
                owner[partition] = member
                continue
            # Kafka compares with the generation of the other's subscription, not of its user data.
            others = generations[other]
            if generation == others:
                claims.claimed_twice.add(partition)
                _remove(owned[other], partition)
                owner[partition] = member
            elif generation > others:
                own.append(partition)
                _remove(owned[other], partition)
                owner[partition] = member
    return claims


def _remove(partitions: list[int], partition: int) -> None:
    if partition in partitions:
        partitions.remove(partition)
