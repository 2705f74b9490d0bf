"""A state and an answer with partitions and members as small integers, for the metrics and the pictures.

Partitions are those of topics with a subscriber. Time and memory are linear in partitions, members and subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api.consumer import ConsumerSubscription, PartitionsByTopic, SubscribedGroup
from assignor_lab.documents.shapes import INT_MAX
from assignor_lab.groups.consumer.assignor_calls import PartitionGroup
from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionState
from assignor_lab.kafka.wire.consumer import decode_cooperative_user_data, decode_sticky_user_data

__all__ = ["PartitionPlacement", "PartitionsBefore", "placement_of", "state_of"]


@attrs.frozen(eq=False)
class PartitionsBefore:
    """A group before an answer.

    Args:
        members: Ids, in the order of the input.
        keys: Of the topics, as in answers: names client side, ids broker side; in the order of the input.
        names: Of the topics.
        sizes: Partitions of each topic.
        topic_of: Topic of each partition.
        first: Number of each topic's partition 0.
        subscribers: Members of each topic.
        before: For each partition, the present members that held it, by the latest generation.
        rack: Of each member, or ``None``.
        racks: Of each partition; ``None`` if unknown.
        rates: Input of each partition in bytes/s; ``None`` if unknown.
        has_past: True if a member reports what it held.
        is_shared: True if a partition may have several members.
    """

    group: PartitionGroup
    members: Sequence[str]
    member_number: Mapping[str, int]
    keys: Sequence[str]
    names: Sequence[str]
    sizes: Sequence[int]
    topic_of: Sequence[int]
    first: Mapping[str, int]
    subscribers: Sequence[frozenset[int]]
    before: Sequence[Sequence[int]]
    rack: Sequence[str | None]
    racks: Sequence[frozenset[str]] | None
    rates: Sequence[float] | None
    has_past: bool
    is_shared: bool
    memory: dict[object, object] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def partitions(self) -> int:
        return len(self.topic_of)

    def every_name(self) -> list[str]:
        return [f"{name}-{number}" for name, size in zip(self.names, self.sizes, strict=True) for number in range(size)]

    def numbers(self, held: PartitionsByTopic) -> list[int]:
        """Numbers of the partitions that exist and have a subscriber."""
        found: list[int] = []
        sizes = dict(zip(self.keys, self.sizes, strict=True))
        for key, partitions in held.items():
            size, first = sizes.get(key, 0), self.first.get(key, 0)
            found += [first + each for each in partitions if 0 <= each < size]
        return found


@attrs.frozen(eq=False)
class PartitionPlacement:
    """The owners of partitions after an answer.

    Args:
        owners: For each partition, its members, each once.
        held: Partitions of each member.
        not_subscribed: Partitions with an owner that does not subscribe the topic.
    """

    state: PartitionsBefore
    owners: Sequence[Sequence[int]]
    held: Sequence[int]
    not_subscribed: int
    stops_all: bool
    memory: dict[object, object] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def any_waits(self) -> bool:
        return any(map(self.waits, range(self.state.partitions)))

    def waits(self, partition: int) -> bool:
        """True if no member gets a partition now because a present one must give it up first."""
        return not self.owners[partition] and not self.stops_all and bool(self.state.before[partition])


_last_state: tuple[PartitionGroup, PartitionsBefore] | None = None
_last_placement: tuple[AppliedAssignment, PartitionPlacement] | None = None


def state_of(state: PartitionState) -> PartitionsBefore:
    """The dense view of a group; the latest one is kept."""
    global _last_state  # noqa: PLW0603 - a memory of one: metrics of the same state follow one another
    known = _last_state
    if known is None or known[0] is not state.group:
        known = _last_state = state.group, _new_state(state)
    return known[1]


def placement_of(state: PartitionState, answer: AppliedAssignment) -> PartitionPlacement:
    """The dense view of an answer; the latest one is kept. Unknown members and partitions are left out."""
    global _last_placement  # noqa: PLW0603 - as above
    known, before = _last_placement, state_of(state)
    if known is None or known[0] is not answer or known[1].state is not before:
        known = _last_placement = answer, _new_placement(before, answer)
    return known[1]


def _new_placement(before: PartitionsBefore, answer: AppliedAssignment) -> PartitionPlacement:
    owners: list[list[int]] = [[] for _ in range(before.partitions)]
    held = [0] * len(before.members)
    not_subscribed = 0
    for member, partitions in answer.assignment.members.items():
        number = before.member_number.get(member)
        if number is None:
            continue
        for partition in dict.fromkeys(before.numbers(partitions)):
            owners[partition].append(number)
            held[number] += 1
            not_subscribed += number not in before.subscribers[before.topic_of[partition]]
    return PartitionPlacement(before, owners, held, not_subscribed, answer.stops_all)


def _new_state(state: PartitionState) -> PartitionsBefore:
    group: PartitionGroup = state.group
    members = list(group.members)
    number = {member: each for each, member in enumerate(members)}
    subscribers: dict[str, set[int]] = {}
    for each, listed in enumerate(_subscribed(group)):
        for key in listed:
            subscribers.setdefault(key, set()).add(each)
    keys = [key for key, topic in group.topics.items() if key in subscribers and topic.partitions]
    topics = [group.topics[key] for key in keys]
    sizes = [topic.partitions or 0 for topic in topics]
    first: dict[str, int] = {}
    total = 0
    for key, size in zip(keys, sizes, strict=True):
        first[key] = total
        total += size
    rates = state.input_bytes_per_s
    made = PartitionsBefore(
        group,
        members,
        number,
        keys,
        [topic.name for topic in topics],
        sizes,
        [topic for topic, size in enumerate(sizes) for _ in range(size)],
        first,
        [frozenset(subscribers[key]) for key in keys],
        [[] for _ in range(total)],
        [held.rack_id or None for held in group.members.values()],
        _racks(group, keys),
        None
        if rates is None
        else [
            rates.get(topic.name, {}).get(each, 0.0)
            for topic, size in zip(topics, sizes, strict=True)
            for each in range(size)
        ],
        has_past=any(held for held, _ in _claims(state)),
        is_shared=state.is_shared,
    )
    return attrs.evolve(made, before=_before(made, state))


def _subscribed(group: PartitionGroup) -> list[tuple[str, ...]]:
    """Keys of the topics of each member."""
    if isinstance(group, SubscribedGroup):
        return [group.subscribed_topic_ids(member) for member in group.members.values()]
    return [member.topics for member in group.members.values()]


def _racks(group: PartitionGroup, keys: Iterable[str]) -> list[frozenset[str]] | None:
    if isinstance(group, SubscribedGroup):
        return None
    found: list[frozenset[str]] = []
    for key in keys:
        racks = group.topics[key].racks
        if racks is None or not all(any(each) for each in racks):
            return None
        found += [frozenset(rack for rack in each if rack) for each in racks]
    return found


def _claims(state: PartitionState) -> list[tuple[PartitionsByTopic, int]]:
    """What each member held, and the generation."""
    group: PartitionGroup = state.group
    if isinstance(group, SubscribedGroup):
        return [(member.assigned, 0) for member in group.members.values()]
    return [
        (state.ran[identity], INT_MAX) if identity in state.ran else _claim(member)
        for identity, member in group.members.items()
    ]


def _claim(member: ConsumerSubscription) -> tuple[PartitionsByTopic, int]:
    """What a consumer held, and the generation: its owned partitions, else its sticky user data."""
    if member.owned:
        generation = member.generation
        if generation is None:
            generation = decode_cooperative_user_data(member.user_data)
        return member.owned, -1 if generation is None else generation
    data = decode_sticky_user_data(member.user_data)
    held: dict[str, list[int]] = {}
    for topic, partition in data.partitions:
        held.setdefault(topic, []).append(partition)
    return {
        topic: tuple(numbers) for topic, numbers in held.items()
    }, -1 if data.generation is None else data.generation


def _before(made: PartitionsBefore, state: PartitionState) -> list[list[int]]:
    """Several members claim a partition: those of the latest generation held it."""
    found: list[list[int]] = [[] for _ in range(made.partitions)]
    latest = [-2] * made.partitions
    for number, (held, generation) in enumerate(_claims(state)):
        for partition in dict.fromkeys(made.numbers(held)):
            if generation > latest[partition]:
                latest[partition], found[partition] = generation, [number]
            elif generation == latest[partition]:
                found[partition].append(number)
    return found
