"""What Connect's answers say, of any release: unknown keys are passed over, the known ones checked (reference 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from assignment_api.connect import ConnectorTaskId
from assignor_lab.connect.herders.herder import ConnectorInfo, ConnectorStatus, InstanceStatus, ServerInfo
from assignor_lab.connect.remote.errors import NotConnectError
from assignor_lab.documents.errors import key_path
from assignor_lab.documents.shapes import INT_MAX, Check, Mismatch, list_of, map_of, nullable, text, whole

__all__ = ["read_expanded", "read_info", "read_names", "read_server", "read_status"]

T = TypeVar("T")

_task_number = whole(0, INT_MAX)
_names = list_of(text)
_config = map_of(text, nullable(text))


def read_status(value: Any, what: str = "a connector's status") -> ConnectorStatus:
    """Reads ``GET /connectors/{c}/status``, and the plan of a restart (reference 7.3).

    Args:
        value: The answer's JSON.
        what: Whose answer it is, for messages.

    Raises:
        NotConnectError: if it is none.
    """
    return _read(what, value, _status)


def read_info(value: Any, what: str = "a connector's description") -> ConnectorInfo:
    """Reads ``GET /connectors/{c}``; what its configuration holds is not looked at. Raises as ``read_status``."""
    return _read(what, value, _info)


def read_server(value: Any, what: str) -> ServerInfo:
    """Reads ``GET /``; releases before 2.0 know no cluster. Raises as ``read_status``."""
    return _read(what, value, _server)


def read_names(value: Any, what: str) -> list[str]:
    """Reads ``GET /connectors``. Raises as ``read_status``."""
    return _read(what, value, _names)


def read_expanded(value: Any, what: str) -> dict[str, tuple[ConnectorStatus | None, ConnectorInfo | None]] | None:
    """Reads ``GET /connectors?expand=status&expand=info``: name to both.

    Returns:
        ``None`` for the plain list of names that releases before 2.3 answer.

    Raises:
        NotConnectError: as for ``read_status``.
    """
    if isinstance(value, list):
        return None
    return _read(what, value, map_of(text, _expanded))


def _read(what: str, value: Any, check: Check[T]) -> T:
    try:
        return check(value)
    except Mismatch as mismatch:
        place = f", {key_path(mismatch.path)}" if mismatch.path else ""
        raise NotConnectError(
            f"{what}{place}: {mismatch.reason.partition(';')[0]}: is this the REST interface of Kafka Connect?"
        ) from None


def _object(value: Any) -> Mapping[str, Any]:
    if type(value) is not dict:
        raise Mismatch("expected an object")
    return value


def _field(fields: Mapping[str, Any], key: str, check: Check[T]) -> T:
    if key not in fields:
        raise Mismatch("is missing", key)
    try:
        return check(fields[key])
    except Mismatch as mismatch:
        raise mismatch.inside(key) from None


def _status(value: Any) -> ConnectorStatus:
    fields = _object(value)
    connector = _field(fields, "connector", _instance)
    tasks = _field(fields, "tasks", list_of(_task))
    # Releases before 2.0 name no type.
    return ConnectorStatus(_field(fields, "name", text), connector, tasks, str(fields.get("type", "unknown")))


def _instance(value: Any, number: int | None = None) -> InstanceStatus:
    fields = _object(value)
    trace = fields.get("trace")
    version = fields.get("version")
    return InstanceStatus(
        _field(fields, "state", text),
        _field(fields, "worker_id", text),
        version if isinstance(version, str) else None,
        trace if isinstance(trace, str) and trace else None,
        number,
    )


def _task(value: Any) -> InstanceStatus:
    return _instance(value, _field(_object(value), "id", _task_number))


def _info(value: Any) -> ConnectorInfo:
    fields = _object(value)
    return ConnectorInfo(
        _field(fields, "name", text),
        _field(fields, "config", _config),
        _field(fields, "tasks", list_of(_task_id)),
        str(fields.get("type", "unknown")),
    )


def _task_id(value: Any) -> ConnectorTaskId:
    fields = _object(value)
    return ConnectorTaskId(_field(fields, "connector", text), _field(fields, "task", _task_number))


def _expanded(value: Any) -> tuple[ConnectorStatus | None, ConnectorInfo | None]:
    fields = _object(value)
    return (
        None if fields.get("status") is None else _field(fields, "status", _status),
        None if fields.get("info") is None else _field(fields, "info", _info),
    )


def _server(value: Any) -> ServerInfo:
    fields = _object(value)
    return ServerInfo(
        _field(fields, "version", text), str(fields.get("commit", "")), str(fields.get("kafka_cluster_id") or "")
    )
