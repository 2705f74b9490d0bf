"""Input of one decision of the coordinator, in dense numbers (Kafka: ``GroupSpec``, ``SubscribedTopicDescriber``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import attrs

from assignment_api.consumer import (
    NO_PARTITIONS,
    PartitionAssignment,
    PartitionAssignorError,
    PartitionsByTopic,
    SubscribedGroup,
    topic_id_halves,
)
from assignment_api.java import DEFAULT_JDK, iteration_order, string_hash, uuid_hash
from assignment_api.streams.ids import utf16_key
from builtin_assignors._broker_consumer_steps.tables import IntegerSet, Previous, TopicKeys

__all__ = ["BrokerProblem", "Target", "Targets", "decided", "partitions_of"]

#: A member's topics with their partitions.
Target = Iterable[tuple[int, Sequence[int]]]
#: The target of each member, in the order of the problem.
Targets = Sequence[Target]

NO_METADATA = -1


@attrs.frozen
class BrokerProblem:
    """A group with its topics and members numbered.

    Args:
        ids: Member ids in the iteration order of the coordinator's map: the numbers of the members.
        instance_ids: ``group.instance.id`` by member.
        topic_ids: Subscribed and previous topics, by number.
        partitions: By topic; -1 without metadata.
        subscriptions: By member: existing topics in the iteration order of Kafka's set.
        subscribed_sizes: By member: subscribed names, those without a topic included.
        assigned: By member: the previous target as recorded.
        is_homogeneous: All members subscribe alike.
        assignable: Share groups: by topic, the initialised partitions; ``None``: all.
    """

    ids: Sequence[str]
    instance_ids: Sequence[str | None]
    topic_ids: Sequence[str]
    keys: TopicKeys
    partitions: Sequence[int]
    subscriptions: Sequence[Sequence[int]]
    subscribed_sizes: Sequence[int]
    assigned: Sequence[PartitionsByTopic]
    is_homogeneous: bool
    assignable: Mapping[int, frozenset[int]] | None

    def previous(self) -> list[Previous]:
        """By member: the previous target in the order of Kafka's map and sets."""
        numbers = {topic: number for number, topic in enumerate(self.topic_ids)}
        return [_previous(assigned, numbers, self.keys) for assigned in self.assigned]


def partitions_of(problem: BrokerProblem, topic: int, message: str) -> int:
    """Number of the topic's partitions.

    Raises:
        PartitionAssignorError: without metadata; the message is Kafka's, with the topic's id for ``{topic}``.
    """
    count = problem.partitions[topic]
    if count == NO_METADATA:
        raise PartitionAssignorError(message.format(topic=problem.topic_ids[topic]))
    return count


def decided(group: SubscribedGroup, assigned: Callable[[BrokerProblem], Targets | None]) -> PartitionAssignment:
    """The answer of an algorithm to a group.

    Args:
        assigned: Returns ``None`` if no member gets anything.
    """
    answer = dict.fromkeys(group.members, NO_PARTITIONS)
    if answer:
        problem = _problem(group)
        names = problem.topic_ids
        for member, target in zip(problem.ids, assigned(problem) or (), strict=False):
            answer[member] = MappingProxyType({names[topic]: tuple(partitions) for topic, partitions in target})
    return PartitionAssignment(MappingProxyType(answer))


def _problem(group: SubscribedGroup) -> BrokerProblem:
    listed = list(group.members)
    ids = iteration_order(listed, list(map(string_hash, listed)), sort_key=utf16_key)
    members = [group.members[member] for member in ids]
    numbers = {topic: number for number, topic in enumerate(group.topics)}
    for member in members:
        if not member.assigned.keys() <= numbers.keys():
            for topic in member.assigned:
                numbers.setdefault(topic, len(numbers))
    halves = [topic_id_halves(topic) for topic in numbers]
    keys = TopicKeys([uuid_hash(*each) for each in halves], halves)
    counts = [topic.partitions for topic in group.topics.values()]
    subscribed: dict[tuple[tuple[str, ...], str | None], tuple[list[int], int]] = {}
    for member in members:
        key = (member.topics, member.regex)
        if key not in subscribed:
            existing = [numbers[topic] for topic in group.subscribed_topic_ids(member)]
            subscribed[key] = existing, len(group.subscribed_names(member))
    subscriptions = [subscribed[member.topics, member.regex] for member in members]
    return BrokerProblem(
        ids,
        [member.instance_id for member in members],
        list(numbers),
        keys,
        [NO_METADATA if count is None else count for count in counts] + [NO_METADATA] * (len(numbers) - len(counts)),
        [topics for topics, _ in subscriptions],
        [size for _, size in subscriptions],
        [member.assigned for member in members],
        group.is_homogeneous(),
        None
        if group.assignable is None
        else {numbers[topic]: frozenset(each) for topic, each in group.assignable.items() if topic in numbers},
    )


def _previous(assigned: PartitionsByTopic, numbers: Mapping[str, int], keys: TopicKeys) -> Previous:
    if not assigned:
        return ()
    held = {numbers[topic]: partitions for topic, partitions in assigned.items()}
    topics = [*held]
    if len(topics) > 1:
        hashes = [keys.hashes[topic] for topic in topics]
        topics = iteration_order(topics, hashes, sort_key=keys.sort_keys.__getitem__)
    return [(topic, _set_order(held[topic])) for topic in topics]


def _set_order(partitions: Sequence[int]) -> Sequence[int]:
    if len(partitions) <= 1:
        return partitions
    # Java sizes the table by the list, repetitions included.
    return IntegerSet(DEFAULT_JDK.set_copy_capacity(len(partitions)), partitions).in_order()
