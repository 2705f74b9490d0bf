"""Answers of Connect, of any release: unknown keys are skipped, the known ones checked.

Kafka: ``connect.runtime.rest``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from assignment_api.connect import ConnectorTaskId
from assignor_lab.connect.remote.errors import NotConnectError
from assignor_lab.documents.errors import key_path
from assignor_lab.documents.shapes import (
    INT_MAX,
    Check,
    Mismatch,
    any_value,
    list_of,
    map_of,
    nullable,
    open_record,
    text,
    whole,
)
from assignor_lab.kafka.herder.descriptions import ConnectorInfo, ServerInfo
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus

__all__ = ["read_expanded", "read_info", "read_names", "read_server", "read_status"]

T = TypeVar("T")

_task_number = whole(0, INT_MAX)
_names = list_of(text)
_config = map_of(text, nullable(text))


def read_status(value: Any, subject: str = "a connector's status") -> ConnectorStatus:
    """Reads a status, and the plan of a restart (Kafka: ``RestartPlan``)."""
    return _read(subject, value, _status)


def read_info(value: Any, subject: str = "a connector's description") -> ConnectorInfo:
    """Without the connector's configuration."""
    return _read(subject, value, _info)


def read_server(value: Any, subject: str) -> ServerInfo:
    """Releases before 2.0 report no cluster."""
    return _read(subject, value, _server)


def read_names(value: Any, subject: str) -> list[str]:
    return _read(subject, value, _names)


def read_expanded(value: Any, subject: str) -> dict[str, tuple[ConnectorStatus | None, ConnectorInfo | None]] | None:
    """Name to both; ``None`` for the plain list of names of releases before 2.3."""
    if isinstance(value, list):
        return None
    return _read(subject, value, map_of(text, _expanded))


def _read(subject: str, value: Any, check: Check[T]) -> T:
    try:
        return check(value)
    except Mismatch as mismatch:
        place = f", {key_path(mismatch.path)}" if mismatch.path else ""
        raise NotConnectError(
            f"{subject}{place}: {mismatch.reason.partition(';')[0]}: is this the REST interface of Kafka Connect?"
        ) from None


def _of(value: Any, kind: type[T]) -> T | None:
    """For keys that differ between releases or are only displayed."""
    return value if type(value) is kind else None


_INSTANCE = open_record({"state": text, "worker_id": text}, {"version": any_value, "trace": any_value})
_TASK = open_record({"id": _task_number})
_TASK_ID = open_record({"connector": text, "task": _task_number})


def _instance(value: Any, number: int | None = None) -> InstanceStatus:
    fields = _INSTANCE(value)
    return InstanceStatus(
        fields["state"],
        fields["worker_id"],
        _of(fields.get("version"), str),
        _of(fields.get("trace"), str) or None,
        number,
    )


def _task(value: Any) -> InstanceStatus:
    return _instance(value, _TASK(value)["id"])


def _task_id(value: Any) -> ConnectorTaskId:
    fields = _TASK_ID(value)
    return ConnectorTaskId(fields["connector"], fields["task"])


# Releases before 2.0 name no type.
_STATUS = open_record({"name": text, "connector": _instance, "tasks": list_of(_task)}, {"type": any_value})
_INFO = open_record({"name": text, "config": _config, "tasks": list_of(_task_id)}, {"type": any_value})


def _status(value: Any) -> ConnectorStatus:
    fields = _STATUS(value)
    return ConnectorStatus(fields["name"], fields["connector"], fields["tasks"], str(fields.get("type", "unknown")))


def _info(value: Any) -> ConnectorInfo:
    fields = _INFO(value)
    return ConnectorInfo(fields["name"], fields["config"], fields["tasks"], str(fields.get("type", "unknown")))


_EXPANDED = open_record({}, {"status": nullable(_status), "info": nullable(_info)})
_SERVER = open_record({"version": text}, {"commit": any_value, "kafka_cluster_id": any_value})


def _expanded(value: Any) -> tuple[ConnectorStatus | None, ConnectorInfo | None]:
    fields = _EXPANDED(value)
    return fields.get("status"), fields.get("info")


def _server(value: Any) -> ServerInfo:
    fields = _SERVER(value)
    return ServerInfo(fields["version"], str(fields.get("commit", "")), str(fields.get("kafka_cluster_id") or ""))
