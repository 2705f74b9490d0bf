"""Families of plain consumer groups and share groups: events come from the seed, placements from the answers.

A calm round follows each event: the second rebalance of a cooperative group, in which revoked partitions get their new
owner. Members report what they held as owned partitions and as user data of the sticky assignors.
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.consumer import PartitionAssignment
from assignor_lab.kafka.wire.consumer import StickyUserData, encode_sticky_user_data
from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
from assignor_lab.scenarios.families.streams_history import in_order

__all__ = ["ConsumerGroupHistory", "drawn"]

_MEMBERS = ((15, (1, 2)), (40, (3, 6)), (25, (7, 12)), (15, (13, 30)), (5, (31, 80)))
_TOPICS = ((35, (1, 1)), (35, (2, 3)), (22, (4, 8)), (8, (9, 25)))
_PARTITIONS = ((10, 1), (15, 3), (25, 6), (25, 12), (15, 24), (8, 48), (2, 100))
_RACKS = ("zone-a", "zone-b", "zone-c")
MAX_MEMBERS = 150


@attrs.frozen
class _Member:
    """A member; ``before`` is the id of the static member whose place it takes."""

    id: str
    client_id: str
    topics: tuple[str, ...]
    instance_id: str | None = None
    rack: str | None = None
    before: str | None = None


@attrs.define
class _Group:
    """Members and topics while the rounds are drawn.

    Args:
        topics: Name to number of partitions.
        ids: Name to topic id.
        unequal: Percentage of members that subscribe some of the topics only.
        static: True if members have a ``group.instance.id``.
        racks: Number of racks; 0: unknown.
    """

    draws: Draws
    unequal: int
    static: bool
    racks: int
    topics: dict[str, int] = attrs.field(factory=dict)
    ids: dict[str, str] = attrs.field(factory=dict)
    members: list[_Member] = attrs.field(factory=list)
    clients: int = 0

    def add_topic(self) -> None:
        name = f"topic-{len(self.topics):02d}"
        self.topics[name] = self.draws.weighted(_PARTITIONS)
        self.ids[name] = _topic_id(self.draws.uuid())

    def join(self, leaver: _Member | None = None) -> None:
        if len(self.members) >= MAX_MEMBERS:
            return
        if leaver is None:
            client = f"app-{self.clients}"
            self.clients += 1
            topics = list(self.topics)
            if self.draws.percent(self.unequal) and len(topics) > 1:
                topics = sorted(self.draws.sample(topics, self.draws.between(1, len(topics))))
            rack = _RACKS[self.draws.below(self.racks)] if self.racks else None
            leaver = _Member("", client, tuple(topics), client if self.static else None, rack)
        taken = leaver.id if leaver.instance_id is not None and leaver.id else None
        self.members.append(attrs.evolve(leaver, id=f"{leaver.client_id}-{self.draws.uuid()}", before=taken))

    def take_out(self) -> _Member:
        return self.members.pop(self.draws.below(len(self.members)))


Event = Callable[[_Group], None]


def _join(group: _Group) -> None:
    for _ in range(group.draws.between(1, max(len(group.members) // 2, 1))):
        group.join()


def _leave(group: _Group) -> None:
    for _ in range(group.draws.between(1, max(len(group.members) // 3, 1))):
        if len(group.members) > 1:
            group.take_out()


def _restart(group: _Group) -> None:
    """A member returns with a new id; a static one takes its old place."""
    group.join(group.take_out())


def _roll(group: _Group) -> None:
    """The oldest third of the members restarts."""
    for _ in range(max(len(group.members) // 3, 1)):
        group.join(group.members.pop(0))


def _grow(group: _Group) -> None:
    topic = group.draws.pick(sorted(group.topics))
    group.topics[topic] += group.draws.between(1, group.topics[topic])


def _new_topic(group: _Group) -> None:
    """A topic that matches the pattern of all members."""
    group.add_topic()
    name = list(group.topics)[-1]
    group.members = [attrs.evolve(member, topics=(*member.topics, name)) for member in group.members]


_ANYTHING: Sequence[tuple[int, Event]] = (
    (30, _join),
    (25, _leave),
    (20, _restart),
    (15, _grow),
    (10, _new_topic),
)


@attrs.frozen
class _Round:
    members: tuple[_Member, ...]
    topics: Mapping[str, int]


@attrs.frozen
class _Blueprint:
    """Percentages: members with part of the topics, groups with static members, groups with racks."""

    unequal: int = 0
    static: int = 20
    racks: int = 20


class ConsumerGroupHistory:
    """One group over its rebalances, for one assignor.

    Args:
        kind: ``consumer``, ``consumer-group`` or ``share-group``.
        family: Name of the family, a part of the ids and of the seed.
    """

    def __init__(
        self,
        kind: str,
        family: str,
        seed: int,
        events: Sequence[tuple[int, Event]],
        blueprint: _Blueprint,
        rounds: int,
    ) -> None:
        self._kind, self._name = kind, f"{family}-{seed}"
        draws = Draws(family, seed)
        racks = draws.between(2, len(_RACKS)) if draws.percent(blueprint.racks) else 0
        group = _Group(draws, blueprint.unequal, draws.percent(blueprint.static), racks)
        for _ in range(draws.between(*draws.weighted(_TOPICS))):
            group.add_topic()
        for _ in range(draws.between(*draws.weighted(_MEMBERS))):
            group.join()
        self._rounds: list[_Round] = []
        for number in range(rounds):
            if number >= 2 and number % 2 == 0:
                draws.weighted(events)(group)
            self._rounds.append(_Round(tuple(group.members), dict(group.topics)))
        self._group = group
        self._held: dict[str, Mapping[str, Sequence[int]]] = {}
        self._next = 0

    def round(self, number: int, previous: PartitionAssignment | None) -> Mapping[str, Any]:
        """The document of a round.

        Args:
            previous: The answer of the round before; ``None`` without an answer: then every member keeps its
                partitions.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        in_order(self._name, number, self._next, len(self._rounds))
        self._next += 1
        if previous is not None:
            self._held = {member: dict(held) for member, held in previous.members.items()}
        drawn = self._rounds[number]
        is_client_side = self._kind == "consumer"
        describe = self._consumer if is_client_side else self._subscribed
        document: dict[str, Any] = {
            "format": 1,
            "kind": self._kind,
            "id": f"{self._name}-round-{number}",
            "topics": [
                self._client_topic(name, size)
                if is_client_side
                else {"id": self._group.ids[name], "name": name, "partitions": size}
                for name, size in drawn.topics.items()
            ],
            "members": [
                {
                    "id": member.id,
                    "client_id": member.client_id,
                    "instance_id": member.instance_id,
                    "rack": member.rack,
                    "topics": list(member.topics),
                    **describe(member, number),
                }
                for member in drawn.members
            ],
        }
        return document | {"assignable": None} if self._kind == "share-group" else document

    def _client_topic(self, name: str, size: int) -> dict[str, Any]:
        count = self._group.racks
        racks = [[_RACKS[(each + copy) % count] for copy in range(min(2, count))] for each in range(size)]
        return {"name": name, "partitions": size, "racks": racks if count else None}

    def _consumer(self, member: _Member, generation: int) -> dict[str, Any]:
        held = self._held.get(member.id)
        if held is None:
            return {"owned": {}, "generation": None, "user_data": None}
        partitions = tuple((topic, each) for topic, numbers in held.items() for each in numbers)
        data = encode_sticky_user_data(StickyUserData(partitions, generation))
        owned = {topic: list(numbers) for topic, numbers in held.items()}
        return {"owned": owned, "generation": generation, "user_data": data.hex()}

    def _subscribed(self, member: _Member, _generation: int) -> dict[str, Any]:
        # A static member that returns has its predecessor's target.
        held = self._held.get(member.id, self._held.get(member.before or "", {}))
        assigned = {topic: list(numbers) for topic, numbers in held.items()}
        return {"assigned": assigned} if self._kind == "share-group" else {"regex": None, "assigned": assigned}


def _topic_id(text: str) -> str:
    return urlsafe_b64encode(uuid.UUID(text).bytes).decode().rstrip("=")


_FAMILIES: Mapping[str, tuple[Sequence[tuple[int, Event]], _Blueprint]] = {
    "consumer_histories": (_ANYTHING, _Blueprint()),
    "consumer_scale_out": (((1, _join),), _Blueprint()),
    "consumer_rolling_restart": (((1, _roll),), _Blueprint(static=50)),
    "consumer_unequal_subscriptions": (_ANYTHING, _Blueprint(unequal=50)),
    "consumer_racks": (_ANYTHING, _Blueprint(racks=100)),
    "consumer_group_histories": (_ANYTHING, _Blueprint(unequal=15)),
    "consumer_group_rolling_restart": (((1, _roll),), _Blueprint(static=50)),
    "share_group_histories": (_ANYTHING, _Blueprint(unequal=15, static=0)),
}


def drawn(name: str, kind: str, rounds: int) -> DrawnFamily:
    """The family of that name."""
    events, blueprint = _FAMILIES[name]
    return DrawnFamily(lambda seed: ConsumerGroupHistory(kind, name, seed, events, blueprint, rounds))
