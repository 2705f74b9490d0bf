"""Random Streams groups under the brokers' protocol: what the coordinator would give to its assignor."""

from __future__ import annotations

import copy
import uuid
from random import Random
from typing import Any

__all__ = ["draw_streams_group", "next_streams_group"]

#: Some have one hash code, some sort differently as code units and as characters.
_ODD_NAMES = ("Aa", "BB", "AaAa", "BBBB", "AaBB", "BBAa", "élan", "\uff5e", "\U0001f600", "", "m-9", "m-10")
_SUBTOPOLOGIES = ("0", "1", "2", "3", "10", "11", "a", "\uff5e", "\U0001f600")
_ROLES = ("active", "standby", "warmup")


def draw_streams_group(chance: Random, scenario_id: str) -> dict[str, Any]:
    """A document of kind ``streams-group``; what members had is in any state of disorder."""
    most = 12 if chance.random() < 0.95 else 150
    subtopologies = [
        {"id": key, "tasks": chance.randint(1, chance.choice((3, 8, 20))), "stateful": chance.random() < 0.7}
        for key in chance.sample(_SUBTOPOLOGIES, chance.randint(0, 4))
    ]
    names = _names(chance, chance.randint(1 if chance.random() < 0.98 else 0, most))
    processes = [_process(chance) for _ in range(max(1, chance.randint(1, len(names) or 1)))]
    config = {} if chance.random() < 0.1 else {"num.standby.replicas": chance.choice((0, 0, 1, 1, 1, 2, 2, 3, 6))}
    document = {
        "format": 1,
        "kind": "streams-group",
        "id": scenario_id,
        "config": config,
        "subtopologies": subtopologies,
        "members": [_member(chance, name, chance.choice(processes)) for name in names],
    }
    if chance.random() < 0.8:
        _deal(chance, document)
    return document


def next_streams_group(chance: Random, document: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """The group once everybody has what was answered, and something has happened since."""
    following = copy.deepcopy(document)
    for member in following["members"]:
        for role in _ROLES:
            member[role] = members[member["id"]][role]
    if following["members"] and chance.random() < 0.4:
        following["members"].remove(chance.choice(following["members"]))
    if chance.random() < 0.5:
        process = chance.choice(following["members"])["process_id"] if following["members"] else _process(chance)
        following["members"].append(
            _member(chance, f"joined-{chance.getrandbits(64):x}", chance.choice((process, _process(chance))))
        )
    if following["subtopologies"] and chance.random() < 0.3:
        changed = chance.choice(following["subtopologies"])
        changed["tasks"] = chance.randint(1, 12)
        changed["stateful"] = chance.random() < 0.7
    if chance.random() < 0.3:
        following["config"] = {"num.standby.replicas": chance.randint(0, 3)}
    return following


def _names(chance: Random, count: int) -> list[str]:
    style = chance.random()
    if style < 0.2:
        # All in one slot of a hash map: `Aa` and `BB` are interchangeable.
        names = list(dict.fromkeys("".join(chance.choice(("Aa", "BB")) for _ in range(6)) for _ in range(count)))
    elif style < 0.4:
        names = chance.sample(_ODD_NAMES, min(count, len(_ODD_NAMES)))
    elif style < 0.6:
        names = [f"m{number}" for number in range(count)]
    else:
        names = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(count)]
    chance.shuffle(names)
    return names


def _process(chance: Random) -> str:
    odd = chance.random() < 0.2
    return chance.choice(_ODD_NAMES) if odd else str(uuid.UUID(int=chance.getrandbits(128)))


def _member(chance: Random, name: str, process: str) -> dict[str, Any]:
    return {
        "id": name,
        "instance_id": None,
        "rack": chance.choice((None, "r1")),
        "process_id": process,
        "tags": chance.choice(({}, {"zone": "a"})),
        **{role: {} for role in _ROLES},
        "task_offsets": {},
        "task_end_offsets": {},
    }


def _deal(chance: Random, document: dict[str, Any]) -> None:
    """Tasks to members: mostly one owner and some standbys each, at times none, several, or a task of the past."""
    members = document["members"]
    if not members:
        return
    tasks = [(each["id"], number) for each in document["subtopologies"] for number in range(each["tasks"])]
    tasks += [("gone", number) for number in range(chance.choice((0, 0, 3)))]
    tasks += [(each["id"], each["tasks"]) for each in document["subtopologies"] if chance.random() < 0.2]
    share = chance.choice((0.3, 0.9, 0.9, 1.0))
    for subtopology, number in tasks:
        if chance.random() < share:
            owners = 2 if chance.random() < 0.05 else 1
            for member in chance.sample(members, min(owners, len(members))):
                member["active"].setdefault(subtopology, []).append(number)
        for member in chance.sample(members, min(chance.choice((0, 1, 1, 2, 4)), len(members))):
            member["standby"].setdefault(subtopology, []).append(number)
