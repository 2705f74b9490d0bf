"""JSON schemas of requests and answers. An answer has these fields and no others."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMAS", "SEGMENT"]

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NULLABLE_TEXT: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_STATE: Schema = {
    "type": "string",
    "enum": ["UNASSIGNED", "RUNNING", "PAUSED", "FAILED", "DESTROYED", "RESTARTING", "STOPPED"],
}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _any_case(*words: str) -> str:
    """A pattern for words in any case; JSON schemas have no flag for it."""
    spelled = ("".join(f"[{letter.upper()}{letter}]" for letter in word) for word in words)
    return f"^({'|'.join(spelled)})$"


#: Values of a sent configuration: every scalar becomes a text.
_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_CONTROL = r"\u0000-\u001f\u007f-\u009f"
#: A name in a path: neither dots alone nor control characters (Kafka: ``connect.runtime.rest``).
SEGMENT: Schema = {"type": "string", "pattern": rf"^(?!\.{{1,2}}$)[^{_CONTROL}]+$"}

_NAME = rf"^[^{_CONTROL}]*[^{_CONTROL}\u0020][^{_CONTROL}]*$"

_INSTANCE: dict[str, Schema] = {"state": _STATE, "worker_id": _TEXT}
#: Left out where the plugin knows none, null where the status record has none.
_VERSION_AND_TRACE: dict[str, Schema] = {"version": _NULLABLE_TEXT, "trace": _TEXT}
_TASK_ID = _object({"connector": _TEXT, "task": _COUNT})

_DEFINITION = _object(
    {
        "name": _TEXT,
        "type": _TEXT,
        "required": {"type": "boolean"},
        "default_value": _NULLABLE_TEXT,
        "importance": _TEXT,
        "documentation": _TEXT,
        "group": _NULLABLE_TEXT,
        "order_in_group": {"type": "integer"},
        "width": _TEXT,
        "display_name": _TEXT,
        "dependents": _list(_TEXT),
    }
)

_EXAMPLE = {"connector.class": "GeneratorSource", "topic": "numbers", "tasks.max": "2"}
_OFFSET = _object({"partition": {"type": "object"}, "offset": {"type": ["object", "null"]}})

SCHEMAS: dict[str, Schema] = {
    "ActiveTopics": _map(_object({"topics": _list(_TEXT)})),
    "Config": _map(_NULLABLE_TEXT),
    "ConnectorInfo": _object(
        {
            "name": _TEXT,
            "config": _ref("Config"),
            "tasks": _list(_TASK_ID),
            "type": {"type": "string", "enum": ["source", "sink", "unknown"]},
        }
    ),
    "ConnectorList": {
        "oneOf": [
            _list(_TEXT),
            _map(_object({}, {"status": _ref("ConnectorStatus"), "info": _ref("ConnectorInfo")})),
        ]
    },
    "ConnectorStatus": _object(
        {
            "name": _TEXT,
            "connector": _object(_INSTANCE, _VERSION_AND_TRACE),
            "tasks": _list(_ref("TaskStatus")),
            "type": {"type": "string", "enum": ["source", "sink", "unknown"]},
        }
    ),
    "ConfigToSet": {
        "type": "object",
        "properties": {"connector.class": _TEXT},
        "required": ["connector.class"],
        "additionalProperties": _SCALAR,
        "examples": [_EXAMPLE],
    },
    "ConfigToCheck": _map(_SCALAR),
    "ConfigToPatch": _map(_SCALAR),
    "CreateConnector": {
        **_object(
            {
                "name": {"anyOf": [{"type": "string", "pattern": _NAME}, {"type": ["number", "boolean"]}]},
                "config": _ref("ConfigToSet"),
            },
            {
                "initial_state": {
                    "anyOf": [
                        {"type": "string", "pattern": _any_case("running", "paused", "stopped")},
                        {"type": "null"},
                    ]
                }
            },
        ),
        "examples": [{"name": "numbers", "config": _EXAMPLE}],
    },
    "Definitions": _list(_DEFINITION),
    "Error": _object({"error_code": {"type": "integer"}, "message": _NULLABLE_TEXT}),
    "Health": _object({"status": {"type": "string", "enum": ["healthy", "starting", "unhealthy"]}, "message": _TEXT}),
    "LevelChange": {
        "type": "object",
        "properties": {
            "level": {
                "type": "string",
                "pattern": _any_case("off", "fatal", "error", "warn", "info", "debug", "trace", "all"),
            }
        },
        "required": ["level"],
        "additionalProperties": _SCALAR,
    },
    "Logger": _object({"level": _TEXT, "last_modified": {"type": ["integer", "null"]}}),
    "LoggerNames": _list(_TEXT),
    "Loggers": _map(_ref("Logger")),
    "Message": _object({"message": _TEXT}),
    "Metrics": _TEXT,
    "Offsets": _object({"offsets": _list(_OFFSET)}),
    "OffsetsToSet": _object(
        {
            "offsets": {
                "type": "array",
                "minItems": 1,
                "items": {**_OFFSET, "required": ["partition"]},
            }
        }
    ),
    "OpenApi": {"type": "object", "required": ["openapi", "info", "paths"]},
    "Plugins": _list(_object({"class": _TEXT, "type": _TEXT}, {"version": _TEXT})),
    "ServerInfo": _object({"version": _TEXT, "commit": _TEXT, "kafka_cluster_id": _TEXT}),
    "TaskConfigMaps": _list(_map(_SCALAR)),
    "TaskConfigs": _list(_object({"id": _TASK_ID, "config": _ref("Config")})),
    "TaskStatus": _object({"id": {"type": "integer"}, **_INSTANCE}, _VERSION_AND_TRACE),
    "Validation": _object(
        {
            "name": _TEXT,
            "error_count": _COUNT,
            "groups": _list(_TEXT),
            "configs": _list(
                _object(
                    {
                        "definition": _DEFINITION,
                        "value": _object(
                            {
                                "name": _TEXT,
                                "value": _NULLABLE_TEXT,
                                "recommended_values": _list(_NULLABLE_TEXT),
                                "errors": _list(_TEXT),
                                "visible": {"type": "boolean"},
                            }
                        ),
                    }
                )
            ),
        }
    ),
}
