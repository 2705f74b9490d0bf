"""Small consumer groups, drawn from a seed and made smaller step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

import attrs

from assignment_api.consumer import ConsumerGroupState, ConsumerSubscription, ConsumerTopic
from assignor_lab.clients.leader import Reporting
from assignor_lab.kafka.wire.consumer import StickyUserData, encode_cooperative_user_data, encode_sticky_user_data

__all__ = ["GroupSketch", "MemberSketch", "drawn_sketch", "smaller_sketches"]

_TOPICS = ("a", "b", "c")
_GENERATION = 5


@attrs.frozen
class MemberSketch:
    """A member.

    Args:
        held: Topic to its former partitions.
        generation: Of ``held``.
    """

    id: str
    instance_id: str | None
    topics: tuple[str, ...]
    held: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    generation: int = _GENERATION


@attrs.frozen
class GroupSketch:
    """Topic to the number of its partitions, and the members in the order of the JoinGroup response."""

    topics: Mapping[str, int]
    members: tuple[MemberSketch, ...]

    def group(self, strategy: str, reporting: Reporting) -> ConsumerGroupState:
        """The leader's input; former partitions as members of ``strategy`` report them."""
        return ConsumerGroupState(
            {name: ConsumerTopic(name, partitions) for name, partitions in self.topics.items()},
            {member.id: _subscription(member, strategy, reporting) for member in self.members},
        )

    def document(self, strategy: str, reporting: Reporting, scenario_id: str) -> dict[str, object]:
        """The same as a scenario."""
        group = self.group(strategy, reporting)
        return {
            "format": 1,
            "kind": "consumer",
            "id": scenario_id,
            "topics": [
                {"name": name, "partitions": partitions, "racks": None} for name, partitions in self.topics.items()
            ],
            "members": [
                {
                    "id": member,
                    "client_id": None,
                    "instance_id": held.instance_id,
                    "rack": None,
                    "topics": list(held.topics),
                    "owned": {topic: list(numbers) for topic, numbers in held.owned.items()},
                    "generation": held.generation,
                    "user_data": None if held.user_data is None else held.user_data.hex(),
                }
                for member, held in group.members.items()
            ],
        }


def _subscription(member: MemberSketch, strategy: str, reporting: Reporting) -> ConsumerSubscription:
    user_data: bytes | None = None
    generation: int | None = None
    owned: Mapping[str, tuple[int, ...]] = {}
    if strategy == "sticky" and member.held:
        partitions = tuple([(topic, number) for topic, numbers in member.held.items() for number in numbers])
        user_data = reporting.user_data_prefix + encode_sticky_user_data(
            StickyUserData(partitions, member.generation, 1)
        )
    elif strategy == "cooperative-sticky":
        owned = member.held
        if member.held and reporting.has_generation:
            generation = member.generation
            user_data = encode_cooperative_user_data(member.generation)
    return ConsumerSubscription(member.topics, owned, generation, user_data, None, member.instance_id)


def drawn_sketch(seed: int, number: int) -> GroupSketch:
    """The same for the same seed, independent of the other numbers.

    Half of the groups have former owners, mostly as an even round left them; then members or partitions came or left.
    """
    chance = Random(f"clients/{seed}/{number}")  # noqa: S311 - no secret
    topics = {name: chance.randint(1, chance.choice((3, 8, 12))) for name in _TOPICS[: chance.choice((1, 1, 2, 2, 3))]}
    count = chance.randint(1, chance.choice((3, 5, 8)))
    statics = chance.choice((0.0, 0.0, 0.5, 1.0))
    takes_all = chance.random() < 0.6
    members = []
    for place in range(count):
        listed = [name for name in topics if takes_all or chance.random() < 0.6] or [chance.choice([*topics])]
        instance = f"i{place}" if chance.random() < statics else None
        members.append(MemberSketch(f"m{chance.getrandbits(24):06x}", instance, tuple(listed)))
    chance.shuffle(members)
    sketch = GroupSketch(topics, tuple(members))
    return _with_past(chance, sketch) if chance.random() < 0.5 else sketch


def _with_past(chance: Random, sketch: GroupSketch) -> GroupSketch:
    held: dict[str, dict[str, list[int]]] = {member.id: {} for member in sketch.members}
    style = chance.choice(("even", "even", "even", "drawn"))
    turn = 0
    for topic, partitions in sketch.topics.items():
        owners = [member.id for member in sketch.members if topic in member.topics]
        for number in range(partitions):
            if owners:
                owner = owners[turn % len(owners)] if style == "even" else chance.choice(owners)
                held[owner].setdefault(topic, []).append(number)
                turn += 1
    members = [
        attrs.evolve(member, held={topic: tuple(numbers) for topic, numbers in held[member.id].items()})
        for member in sketch.members
    ]
    topics = dict(sketch.topics)
    event = chance.choice(("join", "leave", "grow", "late", "drop", "nothing"))
    if event == "join":
        members.insert(
            chance.randint(0, len(members)),
            MemberSketch(f"m{chance.getrandbits(24):06x}", None, chance.choice(members).topics),
        )
    elif event == "leave" and len(members) > 1:
        members.remove(chance.choice(members))
    elif event == "grow":
        topics[chance.choice([*topics])] += chance.randint(1, 4)
    elif event == "late":
        # A member that missed a generation still claims its former partitions, which another one has now.
        late = members.pop(chance.randrange(len(members)))
        others = [member for member in members if set(late.held) <= set(member.topics)]
        if others:
            other = chance.choice(others)
            both = {topic: (*other.held.get(topic, ()), *late.held.get(topic, ())) for topic in late.held}
            members[members.index(other)] = attrs.evolve(other, held={**other.held, **both})
        members.insert(chance.randint(0, len(members)), attrs.evolve(late, generation=_GENERATION - 1))
    elif event == "drop" and len(topics) > 1:
        del topics[chance.choice([*topics])]
    return GroupSketch(topics, tuple(members))


def smaller_sketches(sketch: GroupSketch) -> Iterator[GroupSketch]:
    """Sketches with one part less, the largest parts first."""
    for member in sketch.members:
        yield attrs.evolve(sketch, members=tuple([each for each in sketch.members if each is not member]))
    for topic in sketch.topics:
        yield _without_topic(sketch, topic)
    for topic, partitions in sketch.topics.items():
        for fewer in sorted({1, partitions // 2, partitions - 1} - {0, partitions}):
            yield _with_fewer(sketch, topic, fewer)
    for member in sketch.members:
        if member.held:
            yield _evolved(sketch, member, attrs.evolve(member, held={}))
            for topic, numbers in member.held.items():
                for number in numbers:
                    left = tuple([each for each in numbers if each != number])
                    kept = {**member.held, topic: left} if left else _without(member.held, topic)
                    yield _evolved(sketch, member, attrs.evolve(member, held=kept))
        if member.generation != _GENERATION:
            yield _evolved(sketch, member, attrs.evolve(member, generation=_GENERATION))
        if member.instance_id is not None:
            yield _evolved(sketch, member, attrs.evolve(member, instance_id=None))
        for topic in member.topics if len(member.topics) > 1 else ():
            listed = tuple([each for each in member.topics if each != topic])
            yield _evolved(sketch, member, attrs.evolve(member, topics=listed, held=_without(member.held, topic)))


def _without(held: Mapping[str, tuple[int, ...]], topic: str) -> dict[str, tuple[int, ...]]:
    return {name: numbers for name, numbers in held.items() if name != topic}


def _evolved(sketch: GroupSketch, member: MemberSketch, changed: MemberSketch) -> GroupSketch:
    return attrs.evolve(sketch, members=tuple([changed if each is member else each for each in sketch.members]))


def _without_topic(sketch: GroupSketch, topic: str) -> GroupSketch:
    members = [
        attrs.evolve(
            member,
            topics=tuple([each for each in member.topics if each != topic]),
            held=_without(member.held, topic),
        )
        for member in sketch.members
    ]
    return GroupSketch({name: count for name, count in sketch.topics.items() if name != topic}, tuple(members))


def _with_fewer(sketch: GroupSketch, topic: str, partitions: int) -> GroupSketch:
    members = []
    for member in sketch.members:
        kept = tuple([number for number in member.held.get(topic, ()) if number < partitions])
        held = {**member.held, topic: kept} if kept else _without(member.held, topic)
        members.append(attrs.evolve(member, held=held))
    return GroupSketch({**sketch.topics, topic: partitions}, tuple(members))
