"""Answers as Connect sends them: compact JSON in Connect's field order, and one shape for every error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from assignment_api.java import iteration_order, string_hash
from assignor_lab.http.errors import HttpError
from connect_workers import contract as h

__all__ = [
    "RestError",
    "config",
    "connector_info",
    "connector_status",
    "empty_answer",
    "error_answer",
    "json_answer",
    "offset",
    "plugin",
    "task_config",
    "task_status",
    "written_info",
]


class RestError(HttpError, h.HerderError):
    """A request that the REST interface itself refuses, with Connect's status and text.

    Jersey leaves the content type out (``typed``) if it refuses before it has chosen the resource's method.
    """


def json_answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON body; letters stand as they are, and a lone surrogate becomes a question mark, as in Java."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "replace"), status, headers, media_type="application/json")


def empty_answer(status: int) -> Response:
    return Response(status_code=status)


def error_answer(
    status: int, message: str | None, *, typed: bool = True, headers: Mapping[str, str] | None = None
) -> Response:
    """Connect's error body."""
    answer = json_answer({"error_code": status, "message": message}, status, headers)
    if not typed:
        del answer.headers["content-type"]
    return answer


# --- entities, fields in Connect's order ----------------------------------------------------------


def config(entries: Mapping[str, str | None]) -> dict[str, str | None]:
    """A configuration that was read back from the log: Connect has it in a ``HashMap``, filled as it was written."""
    keys = list(entries)
    return {key: entries[key] for key in iteration_order(keys, [string_hash(key) for key in keys])}


def connector_info(info: h.ConnectorInfo) -> dict[str, Any]:
    """``ConnectorInfo`` as it was read back."""
    return {**written_info(info), "config": config(info.config)}


def written_info(info: h.ConnectorInfo) -> dict[str, Any]:
    """``ConnectorInfo`` as the answer to its writer: the configuration as received."""
    return {
        "name": info.name,
        "config": dict(info.config),
        "tasks": [{"connector": task.connector, "task": task.task} for task in info.tasks],
        "type": info.type,
    }


def task_config(each: h.TaskConfig) -> dict[str, Any]:
    return {"id": {"connector": each.task.connector, "task": each.task.task}, "config": config(each.config)}


def connector_status(status: h.ConnectorStatus) -> dict[str, Any]:
    return {
        "name": status.name,
        "connector": _instance(status.connector),
        "tasks": [task_status(task) for task in status.tasks],
        "type": status.type,
    }


def task_status(status: h.InstanceStatus) -> dict[str, Any]:
    return {"id": status.number, **_instance(status)}


def _instance(status: h.InstanceStatus) -> dict[str, Any]:
    fields: dict[str, Any] = {"state": status.state, "worker_id": status.worker_id}
    # Connect leaves out a version that its plugin does not know, and writes null where a status record has none.
    if status.version != "undefined":
        fields["version"] = status.version
    if status.trace:
        fields["trace"] = status.trace
    return fields


def offset(each: h.Offset) -> dict[str, Any]:
    return {
        "partition": dict(each.partition),
        "offset": None if each.offset is None else dict(each.offset),
    }


def plugin(each: h.PluginInfo) -> dict[str, Any]:
    fields = {"class": each.class_name, "type": each.type}
    if each.version is not None and each.version != "undefined":
        fields["version"] = each.version
    return fields
