"""Parts of checked documents of kind ``streams`` and ``streams-group`` as values, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs

from assignor_lab.documents.values import plain_document
from assignor_lab.scenarios.state_parts import (
    MemberNames,
    StateClient,
    StateMember,
    StatePartition,
    StateStart,
    StateTask,
)

__all__ = [
    "part_document", "state_clients", "state_members", "state_starts", "state_tasks",
    "with_client_racks", "with_partition_racks", "with_start_racks",
]  # fmt: skip


def state_clients(document: Mapping[str, Any]) -> tuple[StateClient, ...]:
    return tuple(
        StateClient(**{**each, "members": {name: MemberNames(**known) for name, known in each["members"].items()}})
        if "members" in each
        else StateClient(**each)
        for each in document["clients"]
    )


def part_document(part: StateClient | StateTask) -> dict[str, Any]:
    document: dict[str, Any] = plain_document(part)
    if isinstance(part, StateClient) and not part.members:
        del document["members"]
    return document


def state_members(document: Mapping[str, Any]) -> tuple[StateMember, ...]:
    return tuple(StateMember(**each) for each in document["members"])


def state_tasks(document: Mapping[str, Any]) -> tuple[StateTask, ...]:
    return tuple(
        StateTask(**each)
        if each["partitions"] is None
        else StateTask(**{**each, "partitions": [StatePartition(**of) for of in each["partitions"]]})
        for each in document["tasks"]
    )


def state_starts(document: Mapping[str, Any]) -> tuple[StateStart, ...]:
    names = [field.name for field in attrs.fields(StateStart)]
    starts = (each for each in document["events"] if each.get("type") == "start")
    return tuple(StateStart(**{key: each[key] for key in names if key in each}) for each in starts)


def with_client_racks(
    document: Mapping[str, Any], key: Literal["clients", "members"], racks: Iterable[str | None]
) -> dict[str, Any]:
    """The document with the rack of each client."""
    return {**document, key: [{**each, "rack": rack} for each, rack in zip(document[key], racks, strict=True)]}


def with_start_racks(document: Mapping[str, Any], racks: Iterable[str | None]) -> dict[str, Any]:
    """The document of an episode with the rack of each start; ``None``: the start stays as it is."""
    following = iter(racks)
    events = [
        each if each.get("type") != "start" or (rack := next(following)) is None else {**each, "rack": rack}
        for each in document["events"]
    ]
    return {**document, "events": events}


def with_partition_racks(document: Mapping[str, Any], tasks: Iterable[StateTask]) -> dict[str, Any]:
    """The document with the racks of the partitions of its tasks."""
    filled = [
        each if task.partitions is None else {**each, "partitions": _with_racks(each["partitions"], task.partitions)}
        for each, task in zip(document["tasks"], tasks, strict=True)
    ]
    return {**document, "tasks": filled}


def _with_racks(given: Iterable[Mapping[str, Any]], partitions: Iterable[StatePartition]) -> list[dict[str, Any]]:
    return [{**each, "racks": plain_document(of.racks)} for each, of in zip(given, partitions, strict=True)]
