"""Consistency of a streams group's history with one real group, which no single document shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = ["contradictions"]

#: Fixed properties of a member.
LASTING = ("instance_id", "process_id", "rack", "tags")
ROLES = ("active", "standby", "warmup")


def contradictions(rounds: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences about impossible changes, empty for a good history."""
    found = [f"{document['id']}: {fault}" for document in rounds for fault in _of_a_state(document)]
    for before, after in pairwise(rounds):
        found += [f"{after['id']}: {fault}" for fault in _between(before, after)]
    return found


def _of_a_state(document: Mapping[str, Any]) -> Iterator[str]:
    members = document["members"]
    if not members:
        yield "nobody is there"
    ids = [member["id"] for member in members]
    if len(set(ids)) != len(ids):
        yield "two members have one id"
    instances = [member["instance_id"] for member in members]
    if any(instances) and (not all(instances) or len(set(instances)) != len(instances)):
        yield "some members are static, or two have one instance id"
    subtopologies = {each["id"]: each for each in document["subtopologies"]}
    if len(subtopologies) != len(document["subtopologies"]) or any(
        not each["tasks"] for each in subtopologies.values()
    ):
        yield "a sub-topology twice, or without tasks"
    by_process: dict[str, list[Mapping[str, Any]]] = {}
    for member in members:
        by_process.setdefault(member["process_id"], []).append(member)
    for process, of_process in by_process.items():
        if any(member[key] != of_process[0][key] for member in of_process for key in ("rack", "tags")):
            yield f"members of {process} differ in rack or tags"
        reported = [task for member in of_process for task in _offsets(member, "task_offsets")]
        if len(set(reported)) != len(reported):
            yield f"two members of {process} report one task"
    for member in members:
        yield from _of_offsets(member, subtopologies)


def _of_offsets(member: Mapping[str, Any], subtopologies: Mapping[str, Any]) -> Iterator[str]:
    offsets, ends = (_offsets(member, key) for key in ("task_offsets", "task_end_offsets"))
    if offsets.keys() != ends.keys():
        yield f"{member['id']} reports offsets and end offsets of different tasks"
    for (key, partition), offset in offsets.items():
        if not 0 <= offset <= ends[key, partition]:
            yield f"{member['id']} has more of {key}_{partition} than there is"
        subtopology = subtopologies.get(key)
        if subtopology is None or not subtopology["stateful"] or int(partition) >= subtopology["tasks"]:
            yield f"{member['id']} reports {key}_{partition}, which has no state"


def _offsets(member: Mapping[str, Any], key: str) -> dict[tuple[str, str], int]:
    return {(sub, part): offset for sub, offsets in member[key].items() for part, offset in offsets.items()}


def _between(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    earlier = {member["id"]: member for member in before["members"]}
    for member in after["members"]:
        known = earlier.get(member["id"])
        if known is not None and any(known[key] != member[key] for key in LASTING):
            yield f"{member['id']} is another one than before"
    gone = {member["instance_id"] for member in before["members"]} - {None}
    for member in after["members"]:
        inherits = member["instance_id"] in gone
        if member["id"] not in earlier and not inherits and any(member[role] for role in ROLES):
            yield f"{member['id']} is new and has a target"
    ends: dict[tuple[str, str], int] = {}
    for document in (before, after):
        grown = {
            task: end for member in document["members"] for task, end in _offsets(member, "task_end_offsets").items()
        }
        for task, end in grown.items():
            if end < ends.get(task, 0):
                yield f"{task} ends before it did"
        ends |= grown
