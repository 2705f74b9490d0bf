"""The OpenAPI document, made from the same table as the routes."""

from __future__ import annotations

import http
import re
from collections.abc import Iterable
from typing import Any

from assignor_lab.http.guard import WRITES
from connect_workers.rest.calls import Parameter, RestOperation
from connect_workers.rest.routes.schemas import SCHEMAS, SEGMENT

__all__ = ["openapi_document"]

_SEGMENTS: dict[str, dict[str, Any]] = {
    "connector": {"description": "Name of a connector.", "schema": SEGMENT},
    "logger": {"description": "Name of a logger, or `root`.", "schema": SEGMENT},
    "plugin": {
        "description": "Class of a plugin, or the part of its name that configurations need.",
        "schema": SEGMENT,
    },
    "task": {
        "description": "Number of a task.",
        "schema": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
    },
}

#: Answers of every operation: a refused path, host, origin or type, and an unexpected failure.
_ALWAYS = (400, 403, 406, 500)
_FOR_WRITES = (408, 413, 415)


def openapi_document(operations: Iterable[RestOperation], version: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kafka Connect REST interface of Assignor Lab",
            "version": version,
            "description": "One worker of a Connect cluster; requests for another worker are forwarded.",
        },
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }


def _operation(operation: RestOperation) -> dict[str, Any]:
    document: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": operation.handle.__name__,
        "tags": [operation.tag],
        "parameters": [
            *(_segment(name) for name in re.findall(r"\{(\w+)\}", operation.path)),
            *(_query(parameter) for parameter in operation.parameters),
        ],
        "responses": _responses(operation),
    }
    if operation.body is not None:
        document["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{operation.body}"}}},
        }
    return document


def _segment(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, **_SEGMENTS[name]}


def _query(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": False,
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _responses(operation: RestOperation) -> dict[str, Any]:
    shared = (*_ALWAYS, *(_FOR_WRITES if operation.method in WRITES else ()), *((415,) if operation.reads_json else ()))
    # A name in the path may turn out not to be one.
    if "{" in operation.path:
        shared = (*shared, 404)
    answers = dict.fromkeys(shared, "Error") | dict(operation.answers)
    return {str(status): _response(status, answers[status], operation) for status in sorted(answers)}


def _response(status: int, schema: str | None, operation: RestOperation) -> dict[str, Any]:
    response: dict[str, Any] = {"description": http.HTTPStatus(status).phrase}
    if schema is not None:
        # The parameter of a content type is no part of it.
        kind = "application/json" if schema == "Error" else operation.content_type.partition(";")[0]
        response["content"] = {kind: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    if status == 201:
        response["headers"] = {
            "Location": {
                "description": "Where the connector is to be found.",
                "required": True,
                "schema": {"type": "string", "format": "uri"},
            }
        }
    return response
