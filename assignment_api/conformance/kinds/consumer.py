"""Plain consumer groups of both protocols, and share groups."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind, Trouble, World
from assignment_api.conformance.subject import Answering
from assignment_api.consumer.assignment import PartitionAssignment
from assignment_api.consumer.errors import PartitionAssignorError
from assignment_api.consumer.group_state import ConsumerGroupState, ConsumerSubscription, ConsumerTopic
from assignment_api.consumer.subscribed_group import SubscribedGroup, SubscribedMember, SubscribedTopic

__all__ = ["CONSUMER", "CONSUMER_GROUP", "SHARE_GROUP"]

State = ConsumerGroupState | SubscribedGroup
Held = dict[int, list[int]]

_MOST_MEMBERS, _MOST_PARTITIONS = 10, 14
#: In another order than their numbers.
_NAMES = ("orders", "joins", "counts", "audit")
#: A member with this number does not subscribe one of the topics.
_SELECTIVE = 3


def _name(topic: int) -> str:
    return f"{_NAMES[topic % len(_NAMES)]}-{topic}"


def _topic_id(topic: int) -> str:
    return base64.urlsafe_b64encode((topic * 7_919 + 1).to_bytes(16)).decode().rstrip("=")


@attrs.define(eq=False)
class _Consumer:
    number: int
    sort: int
    held: Held = attrs.field(factory=dict)
    generation: int = -1
    claims: tuple[int, int] | None = None

    @property
    def id(self) -> str:
        return f"m{self.number}"

    def topics(self, count: int) -> list[int]:
        left_out = self.number % count if self.sort == _SELECTIVE and count > 1 else -1
        return [topic for topic in range(count) if topic != left_out]


class _ConsumerWorld(World[Any]):
    """Members report their partitions as fields and as sticky user data; a broker knows their target."""

    bound = 6

    def __init__(self, history: History, capabilities: Capabilities, *, is_client_side: bool) -> None:
        self._is_client_side = is_client_side
        self._racks = history.racks if capabilities.racks else 0
        self._may_be_empty = capabilities.empty
        self._counts = [count for count, _ in history.tasks]
        self._generation = 0
        self._members: list[_Consumer] = []
        self._away: list[int] = []
        self._next = 0
        for sort in history.members:
            self._add(sort)

    def configs(self) -> Mapping[str, Any]:
        return {}

    def state(self) -> State:
        count = len(self._counts)
        if self._is_client_side:
            topics = {
                _name(each): ConsumerTopic(_name(each), self._counts[each], self._of_racks(each))
                for each in range(count)
            }
            members = {each.id: self._subscription(each) for each in self._members}
            return ConsumerGroupState(topics, members)
        by_id = {
            _topic_id(each): SubscribedTopic(_topic_id(each), _name(each), self._counts[each]) for each in range(count)
        }
        return SubscribedGroup(
            by_id,
            {
                each.id: SubscribedMember(
                    tuple(map(_name, each.topics(count))),
                    assigned={_topic_id(topic): tuple(numbers) for topic, numbers in each.held.items()},
                )
                for each in self._members
            },
        )

    def _of_racks(self, topic: int) -> tuple[tuple[str, ...], ...] | None:
        if not self._racks:
            return None
        return tuple((f"rack-{(topic + number) % self._racks}",) for number in range(self._counts[topic]))

    def _subscription(self, member: _Consumer) -> ConsumerSubscription:
        held = {topic: list(numbers) for topic, numbers in member.held.items()}
        if member.claims is not None:
            held.setdefault(member.claims[0], []).append(member.claims[1])
        owned = {_name(topic): tuple(numbers) for topic, numbers in held.items()}
        return ConsumerSubscription(
            tuple(map(_name, member.topics(len(self._counts)))),
            owned,
            member.generation if member.generation >= 0 else None,
            _sticky_user_data(owned, member.generation) if owned else None,
            f"rack-{member.number % self._racks}" if self._racks else None,
        )

    def happens(self, event: Event) -> None:
        happening = getattr(self, f"_{event.type}")
        happening(event)

    def carry_out(self, state: State, answer: PartitionAssignment) -> None:
        self._generation += 1
        number = {(_name if self._is_client_side else _topic_id)(each): each for each in range(len(self._counts))}
        for member in self._members:
            held = answer.members.get(member.id, {})
            member.held = {number[topic]: list(numbers) for topic, numbers in held.items() if topic in number}
            member.generation, member.claims = self._generation, None

    def add_members(self, count: int) -> None:
        """More members than a history has."""
        self._members += [_Consumer(number, 0) for number in range(count)]

    def grown_to(self, partitions: int) -> State:
        """The state with so many partitions of one topic, all but the last member holding some."""
        self._counts = [partitions]
        holders = self._members[:-1]
        for number in range(partitions):
            holders[number % len(holders)].held.setdefault(0, []).append(number)
        for member in holders:
            member.generation = 1
        return self.state()

    def rest(self) -> None:
        """Nothing to do: consumers have no state."""

    def _nothing(self, event: Event) -> None: ...

    def _join(self, event: Event) -> None:
        self._add(event.size % (_SELECTIVE + 1))

    def _leave(self, event: Event) -> None:
        if len(self._members) > (not self._may_be_empty):
            self._away.append(self._members.pop(event.which % len(self._members)).sort)

    def _lose(self, event: Event) -> None:
        if len(self._members) > 1:
            del self._members[event.which % len(self._members)]

    def _return(self, event: Event) -> None:
        if self._away:
            self._add(self._away.pop(event.which % len(self._away)))

    def _more(self, event: Event) -> None:
        if self._counts:
            which = event.which % len(self._counts)
            self._counts[which] = min(self._counts[which] + 1, _MOST_PARTITIONS)

    def _both(self, event: Event) -> None:
        """A member that missed a generation still claims a partition of another one."""
        if len(self._members) > 1 and self._is_client_side:
            member = self._members[event.which % len(self._members)]
            others = [
                (topic, number)
                for each in self._members
                if each is not member
                for topic, numbers in each.held.items()
                for number in numbers
                if topic in member.topics(len(self._counts))
            ]
            if others:
                member.claims = others[event.size % len(others)]
                member.generation = max(member.generation - 1, -1)

    def _forget(self, event: Event) -> None:
        if self._members and self._is_client_side:
            member = self._members[event.which % len(self._members)]
            member.held, member.generation = {}, -1

    def _add(self, sort: int) -> None:
        if len(self._members) < _MOST_MEMBERS:
            self._members.append(_Consumer(self._next, sort))
            self._next += 1


def _sticky_user_data(owned: Mapping[str, Sequence[int]], generation: int) -> bytes:
    parts = [struct.pack(">i", len(owned))]
    for topic, numbers in owned.items():
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(numbers)}i", len(name), name, len(numbers), *numbers))
    return b"".join(parts) + struct.pack(">i", generation)


def _fingerprint(state: State) -> Mapping[str, object]:
    return {
        "the members": tuple(state.members),
        "the topics": repr(state.topics),
        **{f"member {name}": repr(member) for name, member in state.members.items()},
    }


def _badly_typed(answer: object) -> str | None:
    if not isinstance(answer, PartitionAssignment):
        return f"the answer is {type(answer).__name__}, expected PartitionAssignment"
    # An author's answer may contain anything.
    members: dict[Any, Any] = dict(answer.members)
    for member, held in members.items():
        if not isinstance(member, str) or not isinstance(held, Mapping):
            return f"the partitions of {member!r:.80} are {type(held).__name__}, expected a mapping"
        for topic, numbers in held.items():
            if not isinstance(topic, str) or not all(type(each) is int for each in numbers):
                return f"{member} holds {topic!r:.40}: {numbers!r:.80}, expected whole numbers"
    return None


def _subscribed(state: State) -> dict[str, set[str]]:
    """Member to the keys of its topics."""
    if isinstance(state, SubscribedGroup):
        return {name: set(state.subscribed_topic_ids(member)) for name, member in state.members.items()}
    return {name: set(member.topics) & state.topics.keys() for name, member in state.members.items()}


def _before(state: State) -> set[tuple[str, int]]:
    held = [
        member.assigned if isinstance(member, SubscribedMember) else member.owned for member in state.members.values()
    ]
    return {(topic, number) for each in held for topic, numbers in each.items() for number in numbers}


class _ConsumerKind(Kind[Any]):
    events = ("nothing", "join", "leave", "lose", "return", "more", "both", "forget")
    sorts = 0
    answering = Answering(
        call=lambda assignor, state: assignor.assign(state),
        fingerprint=_fingerprint,
        shown=lambda state: state,
        badly_typed=_badly_typed,
        has_members=lambda state: bool(state.members),
        refusals=(PartitionAssignorError,),
    )

    def __init__(self, name: str, *, is_client_side: bool = False, is_shared: bool = False) -> None:
        self.name = name
        self._is_client_side, self._is_shared = is_client_side, is_shared
        # Kafka's round robin and sticky assignors refuse empty groups.
        self.may_be_empty = not is_client_side

    def world(self, history: History, capabilities: Capabilities) -> World[Any]:
        return _ConsumerWorld(history, capabilities, is_client_side=self._is_client_side)

    def troubles(self, state: State, answer: PartitionAssignment) -> Iterator[Trouble]:
        subscribed = _subscribed(state)
        for member, held in answer.members.items():
            if member not in state.members:
                yield "accepted", f"the group has no member {member!r:.80}"
                return
            for topic, numbers in held.items():
                if topic not in subscribed[member]:
                    yield "accepted", f"{member} does not subscribe topic {topic!r:.80}: it would join again"
                    return
                size = state.topics[topic].partitions or 0
                if any(not 0 <= each < size for each in numbers):
                    yield (
                        "accepted",
                        f"topic {topic!r:.80} has {size} partitions, and {member} got {list(numbers)!r:.80}",
                    )
                    return
        owners = self._owners(state, answer)
        waiting = _before(state) if self._is_client_side else set()
        for (topic, number), members in owners.items():
            if not members and (topic, number) not in waiting:
                yield "nothing lost", f"partition {topic}-{number} has no member"
            if len(members) > 1 and not self._is_shared:
                yield "nothing lost", f"partition {topic}-{number} is with {' and '.join(members)}"

    def _owners(self, state: State, answer: PartitionAssignment) -> dict[tuple[str, int], list[str]]:
        wanted = set[str]().union(*_subscribed(state).values())
        owners: dict[tuple[str, int], list[str]] = {
            (topic, number): []
            for topic, known in state.topics.items()
            if topic in wanted
            for number in range(known.partitions or 0)
        }
        for member, held in answer.members.items():
            for topic, numbers in held.items():
                for number in dict.fromkeys(numbers):
                    owners.setdefault((topic, number), []).append(member)
        return owners

    def placement(self, state: State, answer: PartitionAssignment) -> Any:
        return {
            member: [sorted(f"{topic}-{number}" for topic, numbers in held.items() for number in numbers)]
            for member, held in sorted(answer.members.items())
            if any(held.values())
        }

    def asks_again(self, state: State, answer: PartitionAssignment) -> bool:
        """A member that loses partitions under the cooperative protocol joins again at once."""
        if not self._is_client_side:
            return False
        before = _before(state)
        return any(not members and each in before for each, members in self._owners(state, answer).items())

    def threads(self, state: State) -> Mapping[str, int]:
        return dict.fromkeys(state.members, 1)

    def turned(self, state: State) -> State:
        members: Any = dict(reversed([*state.members.items()]))
        topics: Any = dict(reversed([*state.topics.items()]))
        return attrs.evolve(state, members=members, topics=topics)

    def documents(self, states: Sequence[State], name: str) -> list[dict[str, Any]]:
        return [_document(state, self.name, f"{name}-{number}") for number, state in enumerate(states)]

    def sized(self, number: int, capabilities: Capabilities) -> State:
        world = _ConsumerWorld(History(self.name, ((0, 0),), ()), capabilities, is_client_side=self._is_client_side)
        world.add_members(max(number // 8, 2))
        return world.grown_to(number)


def _document(state: State, kind: str, name: str) -> dict[str, Any]:
    common = {"format": 1, "kind": kind, "id": name}
    if isinstance(state, SubscribedGroup):
        return {
            **common,
            "topics": [
                {"id": key, "name": topic.name, "partitions": topic.partitions} for key, topic in state.topics.items()
            ],
            **({"assignable": None} if kind == "share-group" else {}),
            "members": [
                {
                    **_described(key, member.instance_id, member.rack_id, member.topics),
                    **({} if kind == "share-group" else {"regex": member.regex}),
                    "assigned": {topic: list(numbers) for topic, numbers in member.assigned.items()},
                }
                for key, member in state.members.items()
            ],
        }
    return {
        **common,
        "topics": [
            {
                "name": key,
                "partitions": topic.partitions,
                "racks": None if topic.racks is None else [list(racks) for racks in topic.racks],
            }
            for key, topic in state.topics.items()
        ],
        "members": [
            {
                **_described(key, member.instance_id, member.rack_id, member.topics),
                "owned": {topic: list(numbers) for topic, numbers in member.owned.items()},
                "generation": member.generation,
                "user_data": None if member.user_data is None else member.user_data.hex(),
            }
            for key, member in state.members.items()
        ],
    }


def _described(key: str, instance_id: str | None, rack: str | None, topics: Sequence[str]) -> dict[str, Any]:
    return {"id": key, "client_id": None, "instance_id": instance_id, "rack": rack, "topics": list(topics)}


CONSUMER = _ConsumerKind("consumer", is_client_side=True)
CONSUMER_GROUP = _ConsumerKind("consumer-group")
SHARE_GROUP = _ConsumerKind("share-group", is_shared=True)
