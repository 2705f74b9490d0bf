"""Parts of checked documents of kind ``streams`` and ``streams-group`` as values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignor_lab.documents.values import plain_document
from assignor_lab.scenarios.state_parts import MemberNames, StateClient, StateMember, StatePartition, StateTask

__all__ = ["client_document", "state_clients", "state_members", "state_tasks"]


def state_clients(document: Mapping[str, Any]) -> tuple[StateClient, ...]:
    return tuple(
        StateClient(**{**each, "members": {name: MemberNames(**known) for name, known in each["members"].items()}})
        if "members" in each
        else StateClient(**each)
        for each in document["clients"]
    )


def client_document(client: StateClient) -> dict[str, Any]:
    document: dict[str, Any] = plain_document(client)
    return document if client.members else {key: value for key, value in document.items() if key != "members"}


def state_members(document: Mapping[str, Any]) -> tuple[StateMember, ...]:
    return tuple(StateMember(**each) for each in document["members"])


def state_tasks(document: Mapping[str, Any]) -> tuple[StateTask, ...]:
    return tuple(
        StateTask(**each)
        if each["partitions"] is None
        else StateTask(**{**each, "partitions": [StatePartition(**of) for of in each["partitions"]]})
        for each in document["tasks"]
    )
