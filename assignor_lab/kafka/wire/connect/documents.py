"""JSON form of Connect's messages, also used in the golden wire vectors. Lists keep the order of the bytes.

A task with a negative number, which only hostile bytes have, reads as a task of another connector in text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connect import ConnectorTaskId, ConnectorTaskIdFormatError, StaticJobs
from assignor_lab.documents.errors import printable
from assignor_lab.documents.shapes import (
    INT_MAX,
    LONG_MAX,
    LONG_MIN,
    Check,
    Mismatch,
    list_of,
    nullable,
    record,
    text,
    whole,
)
from assignor_lab.kafka.wire.connect.assignment import AssignmentMessage
from assignor_lab.kafka.wire.connect.subscription import SubscriptionMessage

__all__ = [
    "check_connect_assignment",
    "check_connect_subscription",
    "connect_assignment_document",
    "connect_assignment_of_document",
    "connect_subscription_document",
    "connect_subscription_of_document",
]

Document = dict[str, Any]


def connect_assignment_document(message: AssignmentMessage) -> Document:
    return {
        "version": message.version,
        "error": message.error,
        "leader": message.leader,
        "leader_url": message.leader_url,
        "config_offset": message.config_offset,
        "connectors": list(message.connectors),
        "tasks": [str(task) for task in message.tasks],
        "revoked_connectors": list(message.revoked_connectors),
        "revoked_tasks": [str(task) for task in message.revoked_tasks],
        "delay_ms": message.delay_ms,
    }


def connect_assignment_of_document(document: Mapping[str, Any]) -> AssignmentMessage:
    """The assignment in a document; its shape must have been checked.

    Raises:
        ConnectorTaskIdFormatError: if an id in it is invalid.
    """
    return AssignmentMessage(
        document["version"],
        document["error"],
        document["leader"],
        document["leader_url"],
        document["config_offset"],
        tuple(document["connectors"]),
        tuple(ConnectorTaskId.parse(task) for task in document["tasks"]),
        tuple(document["revoked_connectors"]),
        tuple(ConnectorTaskId.parse(task) for task in document["revoked_tasks"]),
        document["delay_ms"],
    )


def connect_subscription_document(message: SubscriptionMessage) -> Document:
    """The JSON form of a subscription; ``static`` is present only if the bytes have that field."""
    document: Document = {
        "version": message.version,
        "url": message.url,
        "config_offset": message.config_offset,
        "assignment": None if message.assignment is None else connect_assignment_document(message.assignment),
    }
    if message.static is not None:
        connectors, tasks = message.static.connectors, message.static.tasks
        document["static"] = {
            "connectors": None if connectors is None else list(connectors),
            "tasks": None if tasks is None else [str(task) for task in tasks],
        }
    return document


def connect_subscription_of_document(document: Mapping[str, Any]) -> SubscriptionMessage:
    """The subscription in a document; its shape must have been checked.

    Raises:
        ConnectorTaskIdFormatError: if an id in it is invalid.
    """
    assignment, static = document["assignment"], document.get("static")
    return SubscriptionMessage(
        document["version"],
        document["url"],
        document["config_offset"],
        None if assignment is None else connect_assignment_of_document(assignment),
        None if static is None else _static_of_document(static),
    )


def _static_of_document(static: Mapping[str, Any]) -> StaticJobs:
    tasks = static["tasks"]
    return StaticJobs(static["connectors"], None if tasks is None else [ConnectorTaskId.parse(task) for task in tasks])


# --- shapes ---------------------------------------------------------------------------------------


def _task_id(value: Any) -> str:
    try:
        ConnectorTaskId.parse(text(value))
    except ConnectorTaskIdFormatError:
        raise Mismatch(f'"{printable(value)}" is no task id: expected one such as "files-0"') from None
    return str(value)


_INT_16 = whole(-(2**15), 2**15 - 1)
_LONG = whole(LONG_MIN, LONG_MAX)
_NAMES, _TASKS = list_of(text), list_of(_task_id)

check_connect_assignment: Check[Document] = record(
    {
        "version": _INT_16,
        "error": _INT_16,
        "leader": text,
        "leader_url": text,
        "config_offset": _LONG,
        "connectors": _NAMES,
        "tasks": _TASKS,
        "revoked_connectors": _NAMES,
        "revoked_tasks": _TASKS,
        "delay_ms": whole(-(2**31), INT_MAX),
    }
)
check_connect_subscription: Check[Document] = record(
    {
        "version": _INT_16,
        "url": text,
        "config_offset": _LONG,
        "assignment": nullable(check_connect_assignment),
    },
    {"static": nullable(record({"connectors": nullable(_NAMES), "tasks": nullable(_TASKS)}))},
)
