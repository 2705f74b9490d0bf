"""Random consumer groups and share groups, as the group's leader or the coordinator passes them to its assignor."""

from __future__ import annotations

import base64
import copy
import uuid
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import attrs

from assignor_lab.kafka.wire.consumer import StickyUserData, encode_cooperative_user_data, encode_sticky_user_data
from parity.oddities import colliding_process_ids

__all__ = ["PLAIN_ASSIGNORS", "draw_plain_group", "next_plain_group"]

#: Assignors by kind; histories live by one of the second tuple.
PLAIN_ASSIGNORS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "consumer": (
        ("consumer_range", "consumer_roundrobin", "consumer_sticky", "consumer_cooperative_sticky"),
        ("consumer_sticky", "consumer_cooperative_sticky", "consumer_cooperative_sticky"),
    ),
    "consumer-group": (("consumer_group_uniform", "consumer_group_range"), ("consumer_group_uniform",)),
    "share-group": (("share_simple",), ("share_simple",)),
}
_LEADER = "consumer"
_COORDINATOR = "consumer-group"
_SHARE = "share-group"

#: Some have one hash code, some sort differently as code units and as characters.
_ODD_IDS = ("Aa", "BB", "AaAa", "BBBB", "AaBB", "BBAa", "élan", "\uff5e", "\U0001f600", "m-9", "m-10", "z")
_TOPICS = ("t0", "t1", "t10", "t2", "orders", "orders-2", "a.b_0", "Aa", "BB", "topic-with-a-long-name")
_UNKNOWN_TOPICS = ("gone", "later")
_RACKS = ("r1", "r2", "r3", "r4")


def draw_plain_group(chance: Random, kind: str, scenario_id: str) -> dict[str, Any]:
    """A document of ``kind``; former partitions may be in any disorder."""
    topics = _topics(chance, kind)
    document: dict[str, Any] = {"format": 1, "kind": kind, "id": scenario_id, "topics": topics}
    taste = _Taste.drawn(chance, [topic["name"] for topic in topics])
    document["members"] = [_member(chance, kind, name, taste) for name in _ids(chance, _count(chance, kind))]
    if kind == _COORDINATOR and chance.random() < 0.2:
        _give_regexes(chance, document)
    if document["members"] and chance.random() < 0.75:
        _give_past(chance, document)
    if kind == _LEADER and chance.random() < 0.1:
        document["max_generation"] = chance.randint(0, 8)
    if kind == _SHARE:
        document["assignable"] = _initialised(chance, topics) if chance.random() < 0.5 else None
    return document


def _count(chance: Random, kind: str) -> int:
    if chance.random() < 0.01:
        return 0
    if chance.random() < 0.02:
        return chance.choice((16, 32, 64, chance.randint(20, 60 if kind == _LEADER else 200)))
    return chance.randint(1, chance.choice((3, 6, 14)))


# --- topics ---------------------------------------------------------------------------------------


def _topics(chance: Random, kind: str) -> list[dict[str, Any]]:
    names = chance.sample(_TOPICS, chance.choice((0, 1, 1, 2, 2, 3, 3, 4, 6)) if chance.random() < 0.97 else 10)
    ids = _topic_ids(chance, len(names), kind)
    # Sets of many partitions of one slot need large topics.
    most = chance.choice((2, 5, 12, 12, 24)) if chance.random() < 0.97 else 130 if kind == _LEADER else 900
    has_racks = kind == _LEADER and chance.random() < 0.35
    racks = _RACKS[: chance.choice((1, 2, 3, 3, 4))]
    replicas = chance.choice((1, 2, 2, 3))
    topics = []
    equal = chance.randint(1, most) if chance.random() < 0.3 else None
    for name, topic_id in zip(names, ids, strict=True):
        partitions = equal or chance.randint(0 if chance.random() < 0.1 else 1, most)
        if kind == _LEADER:
            listed = [_replica_racks(chance, racks, replicas) for _ in range(partitions)]
            topics.append({"name": name, "partitions": partitions, "racks": listed if has_racks else None})
        else:
            known = partitions if chance.random() < 0.995 else None
            topics.append({"id": topic_id, "name": name, "partitions": known})
    return topics


def _replica_racks(chance: Random, racks: Sequence[str], replicas: int) -> list[str | None]:
    found: list[str | None] = [*chance.sample(racks, min(replicas, len(racks)))]
    if chance.random() < 0.03:
        found[chance.randrange(len(found))] = None
    return found if chance.random() < 0.98 else []


def _topic_ids(chance: Random, count: int, kind: str) -> list[str]:
    style = chance.random()
    if style < 0.1:
        # Of share groups, partitions with one hash code would be ordered by the identity of Java's objects.
        first = chance.getrandbits(127)
        step = 1 if kind != _SHARE else 1 << 40
        found = [uuid.UUID(int=first + step * number) for number in range(count)]
    elif style < 0.2 and kind != _SHARE:
        found = colliding_process_ids(chance, count)
    else:
        found = [uuid.UUID(int=chance.getrandbits(128)) for _ in range(count)]
    return [base64.urlsafe_b64encode(each.bytes).decode().rstrip("=") for each in found]


# --- members --------------------------------------------------------------------------------------


def _ids(chance: Random, count: int) -> list[str]:
    style = chance.random()
    if style < 0.1:
        # One slot, and more than a plain slot holds: `Aa` and `BB` are interchangeable.
        count = max(count, chance.choice((count, 9, 12, 20, 30)))
        found = ["".join(chance.choice(("Aa", "BB")) for _ in range(6)) for _ in range(count)]
    elif style < 0.2:
        found = chance.sample(_ODD_IDS, min(count, len(_ODD_IDS)))
    elif style < 0.4:
        found = [f"m{number}" for number in range(count)]
    elif style < 0.7:
        found = [f"consumer-app-{number}-{uuid.UUID(int=chance.getrandbits(128))}" for number in range(1, count + 1)]
    else:
        found = [base64.urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("=") for _ in range(count)]
    chance.shuffle(found)
    return list(dict.fromkeys(found))


@attrs.frozen
class _Taste:
    """What the members of a group subscribe."""

    style: str
    names: Sequence[str]

    @classmethod
    def drawn(cls, chance: Random, known: Sequence[str]) -> _Taste:
        names = [*known]
        if chance.random() < 0.12:
            names += chance.sample(_UNKNOWN_TOPICS, chance.randint(1, 2))
        style = chance.choice(("equal", "equal", "equal", "unequal", "unequal", "skewed"))
        if style == "equal" and chance.random() < 0.2:
            names = chance.sample(names, chance.randint(0, len(names)))
        return cls(style, names)

    def topics(self, chance: Random) -> list[str]:
        """The subscription of a member, seldom empty or with a repetition."""
        found = [*self.names]
        if found and self.style == "unequal":
            found = chance.sample(found, chance.randint(1, len(found)))
        elif self.style == "skewed" and chance.random() < 0.3:
            del found[1:]
        if chance.random() < 0.012:
            found = []
        if found and chance.random() < 0.008:
            found.append(chance.choice(found))
        if chance.random() < 0.3:
            chance.shuffle(found)
        return found


def _member(chance: Random, kind: str, name: str, taste: _Taste) -> dict[str, Any]:
    member: dict[str, Any] = {
        "id": name,
        "client_id": "app",
        "instance_id": f"i{chance.randint(0, 30)}" if chance.random() < 0.15 else None,
        "rack": chance.choice((None, "", *_RACKS, *_RACKS, *_RACKS)),
        "topics": taste.topics(chance),
    }
    if kind == _LEADER:
        return {**member, "owned": {}, "generation": None, "user_data": None}
    if kind == _COORDINATOR:
        member["regex"] = None
    return {**member, "assigned": {}}


def _give_regexes(chance: Random, document: dict[str, Any]) -> None:
    """All members or some use expressions, seldom one that is not resolved yet."""
    names = [topic["name"] for topic in document["topics"]]
    regexes = {}
    for regex in chance.sample((".*", "t.*", "o.*"), chance.choice((1, 1, 2))):
        matched = [name for name in names if regex == ".*" or name[0] == regex[0]]
        if chance.random() < 0.1:
            matched.append("gone")
        chance.shuffle(matched)
        regexes[regex] = matched
    document["regexes"] = regexes
    share, also_names = chance.choice((1.0, 1.0, 0.6)), chance.random() < 0.3
    for member in document["members"]:
        if chance.random() < share:
            member["regex"] = chance.choice([*regexes]) if chance.random() < 0.97 else "later.*"
            if not also_names or chance.random() < 0.5:
                member["topics"] = []


# --- the past -------------------------------------------------------------------------------------


def _give_past(chance: Random, document: dict[str, Any]) -> None:
    """Mostly one owner for each partition, at times none or several; seldom partitions of the past."""
    members = document["members"]
    given: dict[str, dict[str, list[int]]] = {member["id"]: {} for member in members}
    places = [
        (_key(document, topic), number) for topic in document["topics"] for number in range(topic["partitions"] or 0)
    ]
    if chance.random() < 0.08:
        places += [
            (_key(document, topic), (topic["partitions"] or 0) + chance.randint(0, 2)) for topic in document["topics"]
        ]
    if chance.random() < 0.15:
        places += [
            (_topic_ids(chance, 1, "")[0] if document["kind"] != _LEADER else "past", number) for number in range(2)
        ]
    style = chance.choice(("dealt", "dealt", "drawn", "blocks", "crowd"))
    share = chance.choice((0.3, 0.9, 1.0, 1.0))
    twice = chance.choice((0.0, 0.0, 0.0, 0.05, 0.3))
    if document["kind"] == _SHARE:
        twice = chance.choice((0.0, 0.2, 0.6))
    owners = [member["id"] for member in members]
    if style == "crowd" or chance.random() < 0.2:
        owners = chance.sample(owners, chance.randint(1, len(owners)))
    for place, (topic, number) in enumerate(places):
        if chance.random() >= share:
            continue
        block = place * len(owners) // len(places)
        first = owners[
            place % len(owners) if style == "dealt" else block if style == "blocks" else chance.randrange(len(owners))
        ]
        for owner in dict.fromkeys([first, *(chance.sample(owners, 1) if chance.random() < twice else ())]):
            given[owner].setdefault(topic, []).append(number)
    for member in members:
        held = given[member["id"]]
        if chance.random() < 0.2:
            held = {topic: chance.sample(numbers, len(numbers)) for topic, numbers in held.items()}
        if document["kind"] == _LEADER:
            _report(chance, member, held, chance.choice((4, 5, 5, 5, 5)))
        else:
            member["assigned"] = held


def _key(document: dict[str, Any], topic: dict[str, Any]) -> str:
    return str(topic["name"] if document["kind"] == _LEADER else topic["id"])


def _report(chance: Random, member: dict[str, Any], held: Mapping[str, list[int]], generation: int) -> None:
    """As an eager member (user data), as a cooperative one (owned), or as neither would."""
    style = chance.random()
    if style < 0.45:
        member["user_data"] = _sticky_user_data(held, generation)
    if 0.4 <= style < 0.95:
        member["owned"] = dict(held)
        if chance.random() < 0.9:
            member["generation"] = generation
        if chance.random() < 0.9:
            member["user_data"] = encode_cooperative_user_data(generation).hex()
    if chance.random() < 0.03:
        member["generation"] = chance.randint(0, 8)
    if chance.random() < 0.02:
        member["user_data"] = chance.choice(("", "00", "0000", "ffffffff", chance.randbytes(9).hex()))
    if held and chance.random() < 0.01:
        topic = chance.choice([*held])
        member["owned"] = {**member["owned"], topic: held[topic] * 2}


def _sticky_user_data(held: Mapping[str, Sequence[int]], generation: int) -> str:
    partitions = tuple([(topic, number) for topic, numbers in held.items() for number in numbers])
    return encode_sticky_user_data(StickyUserData(partitions, generation, 1)).hex()


def _initialised(chance: Random, topics: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    share = chance.choice((0.5, 0.9, 1.0))
    found = {
        topic["id"]: [number for number in range(topic["partitions"] or 0) if chance.random() < share]
        for topic in topics
        if chance.random() < 0.9
    }
    return {topic: numbers for topic, numbers in found.items() if numbers}


# --- histories ------------------------------------------------------------------------------------


def next_plain_group(
    chance: Random, document: dict[str, Any], members: Mapping[str, Mapping[str, list[int]]], lives_by: str, number: int
) -> dict[str, Any]:
    """The group after the members took over the answer, and further events.

    A cooperative group in which a member gave something up first meets again without an event: its follow-up.
    """
    following = copy.deepcopy(document)
    gave_up = False
    for member in following["members"]:
        held = {topic: [*numbers] for topic, numbers in members[member["id"]].items()}
        if document["kind"] != _LEADER:
            member["assigned"] = held
            continue
        before = {(topic, each) for topic, numbers in member["owned"].items() for each in numbers}
        gave_up = gave_up or bool(before - {(topic, each) for topic, numbers in held.items() for each in numbers})
        if chance.random() < 0.04:
            # The member missed this round.
            continue
        if lives_by == "consumer_cooperative_sticky":
            member.update(owned=held, generation=number, user_data=encode_cooperative_user_data(number).hex())
        else:
            member.update(owned={}, generation=None, user_data=_sticky_user_data(held, number))
    if document["kind"] == _LEADER:
        following["max_generation"] = number
    if not (lives_by == "consumer_cooperative_sticky" and gave_up and chance.random() < 0.8):
        _happen(chance, following, number)
    return following


def _happen(chance: Random, document: dict[str, Any], number: int) -> None:
    members, topics = document["members"], document["topics"]
    event = chance.choice(
        ("join", "joins", "leave", "leaves", "restart", "grow", "topic", "drop", "resubscribe", "nothing")
    )
    if event in ("join", "joins"):
        for place in range(1 if event == "join" else chance.randint(2, 4)):
            _join(chance, document, f"joined-{number}-{place}-{chance.getrandbits(64):x}")
    elif event in ("leave", "leaves") and members:
        for _ in range(min(len(members), 1 if event == "leave" else chance.randint(1, 3))):
            members.remove(chance.choice(members))
    elif event == "restart" and members:
        _restart(chance, document["kind"], chance.choice(members))
    elif event == "grow" and topics:
        _grow(chance, chance.choice(topics))
    elif event == "topic" and len(topics) < len(_TOPICS):
        _create(chance, document)
    elif event == "drop" and topics:
        topics.remove(chance.choice(topics))
    elif event == "resubscribe" and members:
        names = [topic["name"] for topic in topics]
        chance.choice(members)["topics"] = chance.sample(names, chance.randint(0, len(names)))
    if document["kind"] == _SHARE and document["assignable"] is not None:
        document["assignable"] = _initialised(chance, topics)


def _join(chance: Random, document: dict[str, Any], name: str) -> None:
    members = document["members"]
    taste = _Taste(
        "equal", chance.choice(members)["topics"] if members else [each["name"] for each in document["topics"]]
    )
    joined = _member(chance, document["kind"], name, taste)
    if members and members[0].get("regex"):
        joined.update(topics=[], regex=members[0]["regex"])
    members.insert(chance.randint(0, len(members)), joined)


def _restart(chance: Random, kind: str, member: dict[str, Any]) -> None:
    """A static member keeps its target; another one comes back empty."""
    member["id"] = f"{member['id'][:20]}-{chance.getrandbits(32):x}"
    if kind == _LEADER:
        member.update(owned={}, generation=None, user_data=None)
    elif member["instance_id"] is None:
        member["assigned"] = {}


def _grow(chance: Random, topic: dict[str, Any]) -> None:
    more = chance.randint(1, 6)
    topic["partitions"] = (topic["partitions"] or 0) + more
    if topic.get("racks") is not None:
        topic["racks"] += [_replica_racks(chance, _RACKS[:3], 2) for _ in range(more)]


def _create(chance: Random, document: dict[str, Any]) -> None:
    taken = {topic["name"] for topic in document["topics"]}
    created = chance.choice([name for name in _TOPICS if name not in taken])
    drawn = _topics(chance, document["kind"])
    if drawn:
        document["topics"].append({**drawn[0], "name": created})
        for regex, names in document.get("regexes", {}).items():
            if regex == ".*":
                names.append(created)
        for member in document["members"]:
            if member["topics"] and chance.random() < 0.7:
                member["topics"].append(created)
