"""Random groups of the streams protocol: the input from the coordinator to its assignor."""

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
    """A document of kind ``streams-group``; previous tasks may be in any disorder."""
    most = 12 if chance.random() < 0.9 else 150
    subtopologies = [
        {"id": key, "tasks": chance.randint(1, chance.choice((3, 8, 20))), "stateful": chance.random() < 0.7}
        for key in chance.sample(_SUBTOPOLOGIES, chance.randint(0, 4))
    ]
    names = _names(chance, chance.randint(1 if chance.random() < 0.98 else 0, most))
    processes = _processes(chance, max(1, chance.randint(1, len(names) or 1)))
    document = {
        "format": 1,
        "kind": "streams-group",
        "id": scenario_id,
        "config": _config(chance),
        "subtopologies": subtopologies,
        "members": [_member(chance, name, chance.choice(processes)) for name in names],
    }
    if chance.random() < 0.8:
        _deal(chance, document)
    if chance.random() < 0.6:
        _report(chance, document)
    return document


def next_streams_group(chance: Random, document: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    """The group after all members received the answer, and further events."""
    following = copy.deepcopy(document)
    reports = chance.random() < 0.6
    for member in following["members"]:
        given = members[member["id"]]
        if reports:
            _report_held(chance, member, given)
        if chance.random() < 0.9:
            # The other members have not given back or taken over any task yet.
            for role in _ROLES:
                member[role] = given[role]
    if chance.random() < 0.25:
        _restart(chance, following["members"])
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


def _config(chance: Random) -> dict[str, Any]:
    if chance.random() < 0.1:
        return {}
    config: dict[str, Any] = {"num.standby.replicas": chance.choice((0, 0, 1, 1, 1, 2, 2, 3, 6))}
    if chance.random() < 0.15:
        config["rack.aware.assignment.tags"] = chance.choice(([], ["zone"], ["zone", "cluster"]))
    return config


def _names(chance: Random, count: int) -> list[str]:
    style = chance.random()
    if style < 0.2:
        names = _colliding(chance, count)
    elif style < 0.4:
        names = chance.sample(_ODD_NAMES, min(count, len(_ODD_NAMES)))
    elif style < 0.6:
        names = [f"m{number}" for number in range(count)]
    else:
        names = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(count)]
    chance.shuffle(names)
    return names


def _processes(chance: Random, count: int) -> list[str]:
    if chance.random() < 0.1:
        return _colliding(chance, count)
    return [_process(chance) for _ in range(count)]


def _colliding(chance: Random, count: int) -> list[str]:
    """Names in one slot of a hash map: `Aa` and `BB` are interchangeable."""
    return list(dict.fromkeys("".join(chance.choice(("Aa", "BB")) for _ in range(6)) for _ in range(count)))


def _process(chance: Random) -> str:
    odd = chance.random() < 0.2
    return chance.choice(_ODD_NAMES) if odd else str(uuid.UUID(int=chance.getrandbits(128)))


def _member(chance: Random, name: str, process: str) -> dict[str, Any]:
    return {
        "id": name,
        "instance_id": chance.choice((None, None, f"instance-{name}")),
        "rack": chance.choice((None, "r1")),
        "process_id": process,
        "tags": chance.choice(({}, {"zone": "a"})),
        **{role: {} for role in _ROLES},
        "task_offsets": {},
        "task_end_offsets": {},
    }


def _deal(chance: Random, document: dict[str, Any]) -> None:
    """Mostly one owner and some standbys each, at times none, several, or a task of the past."""
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
        if chance.random() < 0.05:
            chance.choice(members)["warmup"].setdefault(subtopology, []).append(number)


# --- offsets --------------------------------------------------------------------------------------

#: Few values make many lags equal; no broker accepts some of them.
_OFFSETS = (0, 1, 5, 5, 5, 100, 100, 1_000, -1, -2, 2**63 - 1, -(2**63))


def _report(chance: Random, document: dict[str, Any]) -> None:
    """For the member's tasks, those of others, those without a member, and lost ones."""
    tasks = [(each["id"], number) for each in document["subtopologies"] for number in range(each["tasks"])]
    tasks += [("gone", 0), *((each["id"], each["tasks"]) for each in document["subtopologies"])]
    share = chance.choice((0.05, 0.3, 0.9))
    for member in document["members"]:
        for subtopology, number in tasks:
            if chance.random() < share:
                _say(chance, member, subtopology, number, chance.choice(_OFFSETS))


def _report_held(chance: Random, member: dict[str, Any], given: dict[str, Any]) -> None:
    """As real members report: their tasks, and for some time previous ones."""
    member["task_offsets"], member["task_end_offsets"] = {}, {}
    for role, most in (("active", 1_000), ("standby", 900)):
        for held, keeps in ((given, 1.0), (member, 0.5)):
            for subtopology, numbers in held[role].items():
                for number in numbers:
                    if chance.random() < keeps:
                        _say(chance, member, subtopology, number, chance.choice((most, most, chance.randint(0, most))))


def _say(chance: Random, member: dict[str, Any], subtopology: str, number: int, offset: int) -> None:
    member["task_offsets"].setdefault(subtopology, {})[str(number)] = offset
    if chance.random() < 0.8:
        member["task_end_offsets"].setdefault(subtopology, {})[str(number)] = chance.randint(0, 2_000)


def _restart(chance: Random, members: list[dict[str, Any]]) -> None:
    """Members come back under new names with only their disks' state."""
    for member in members:
        if chance.random() < 0.8:
            member["id"] = str(uuid.UUID(int=chance.getrandbits(128)))
            for role in _ROLES:
                member[role] = {}
