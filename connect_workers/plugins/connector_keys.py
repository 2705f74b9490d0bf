"""Keys that every connector's configuration may have, and how a configuration is checked as a whole.

Kafka: ``AbstractHerder.validateConnectorConfig``.

Names, types, defaults and groups are Kafka 4.3.1's; the texts are ours. Records are JSON from end to end here, so
Kafka's own converters are accepted and change nothing; transformations and predicates do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connectors import (
    REQUIRED,
    CheckedValue,
    ConfigDef,
    ConfigKey,
    ConfigType,
    Importance,
    Width,
    at_least,
    one_of,
)
from assignment_api.connectors.definitions import value_text

__all__ = ["CONVERTERS", "HEADER_CONVERTERS", "common_keys", "definition_json", "value_json"]

_CONVERTERS_PACKAGE = "org.apache.kafka.connect.converters."

#: Kafka's own converters.
CONVERTERS = (
    *(_CONVERTERS_PACKAGE + f"{kind}Converter" for kind in ("ByteArray", "Boolean", "Double", "Float", "Integer")),
    *(_CONVERTERS_PACKAGE + f"{kind}Converter" for kind in ("Long", "Short")),
    "org.apache.kafka.connect.json.JsonConverter",
    "org.apache.kafka.connect.storage.StringConverter",
)
HEADER_CONVERTERS = (*CONVERTERS, "org.apache.kafka.connect.storage.SimpleHeaderConverter")

_HIGH, _MEDIUM, _LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_STRING, _LIST, _LONG, _BOOLEAN = ConfigType.STRING, ConfigType.LIST, ConfigType.LONG, ConfigType.BOOLEAN


def common_keys(version: str | None, *, sink: bool) -> ConfigDef:
    return ConfigDef((*_common(version), *_errors(), *(_sink() if sink else _source())))


def _converter(subject: str, order: int, known: tuple[str, ...]) -> tuple[ConfigKey, ConfigKey]:
    title = subject.replace(".", " ").capitalize()

    def check(value: Any) -> str | None:
        simple = {name.rpartition(".")[2] for name in known}
        if value is None or value in known or value in simple or f"{value}Converter" in simple:
            return None
        return f"Class {value} could not be found."

    return (
        ConfigKey(
            subject, ConfigType.CLASS, "Converter, for configurations written for Kafka: records are JSON here, and it "
            "changes nothing.", None, _LOW, check, "Common", order, Width.SHORT, f"{title} class", recommended=known,
        ),
        ConfigKey(
            f"{subject}.plugin.version", _STRING, "Version of that converter.", None, _LOW, None, "Common", order + 1,
            Width.SHORT, f"{title} version",
        ),
    )  # fmt: skip


def _none_exist(kind: str) -> Any:
    def check(value: Any) -> str | None:
        return f"{kind} do not exist on these workers" if value else None

    return check


def _name(value: Any) -> str | None:
    if value is None or not value.strip():
        return "String may not be empty"
    controls = [ord(char) for char in value if ord(char) < 32 or 127 <= ord(char) < 160]
    if controls:
        numbers = ", ".join(map(str, controls))
        return f"String may not contain control sequences but had the following ASCII chars: {numbers}"
    return None


def _common(version: str | None) -> tuple[ConfigKey, ...]:
    return (
        ConfigKey(
            "name", _STRING, "Name of the connector, once in a cluster.", REQUIRED, _HIGH, _name, "Common", 1,
            Width.MEDIUM, "Connector name",
        ),
        ConfigKey(
            "connector.class", _STRING, "Class of the connector, or its plugin's name: one that is listed.", REQUIRED,
            _HIGH, None, "Common", 2, Width.LONG, "Connector class",
        ),
        ConfigKey(
            "connector.plugin.version", _STRING, "Version of the connector: the one that is installed.", version,
            _MEDIUM, _only(version), "Common", 3, Width.MEDIUM, "Connector version",
            recommended=() if version is None else (version,),
        ),
        ConfigKey(
            "tasks.max", ConfigType.INT, "Most tasks that the connector may have.", 1, _HIGH, at_least(1), "Common", 4,
            Width.SHORT, "Tasks max",
        ),
        ConfigKey(
            "tasks.max.enforce", _BOOLEAN, "Whether a connector that makes more tasks than that fails.", True, _LOW,
            None, "Common", 5, Width.SHORT, "Enforce tasks max",
        ),
        *_converter("key.converter", 6, CONVERTERS),
        *_converter("value.converter", 8, CONVERTERS),
        *_converter("header.converter", 10, HEADER_CONVERTERS),
        ConfigKey(
            "transforms", _LIST, "Transformations; there are none here.", (), _LOW, _none_exist("Transformations"),
            "Transforms", 12, Width.LONG, "Transforms",
        ),
        ConfigKey(
            "predicates", _LIST, "Predicates; there are none here.", (), _LOW, _none_exist("Predicates"),
            "Predicates", 13, Width.LONG, "Predicates",
        ),
        ConfigKey(
            "config.action.reload", _STRING, "For configuration providers, which do not exist here.", "restart", _LOW,
            one_of("none", "restart"), "Common", 14, Width.MEDIUM, "Reload Action",
        ),
    )  # fmt: skip


def _only(version: str | None) -> Any:
    def check(value: Any) -> str | None:
        if value in (None, version, "latest"):
            return None
        return f"only version {version} is installed"

    return check


def _errors() -> tuple[ConfigKey, ...]:
    group = "Error Handling"
    return (
        ConfigKey(
            "errors.retry.timeout", _LONG, "Accepted, and without effect: nothing is converted here.", 0, _MEDIUM,
            None, group, 1, Width.MEDIUM, "Retry Timeout for Errors",
        ),
        ConfigKey(
            "errors.retry.delay.max.ms", _LONG, "Accepted, and without effect.", 60_000, _MEDIUM, None, group, 2,
            Width.MEDIUM, "Maximum Delay Between Retries for Errors",
        ),
        ConfigKey(
            "errors.tolerance", _STRING, "Accepted, and without effect: a task fails with its first error.", "none",
            _MEDIUM, one_of("none", "all"), group, 3, Width.SHORT, "Error Tolerance",
        ),
        ConfigKey(
            "errors.log.enable", _BOOLEAN, "Accepted, and without effect.", False, _MEDIUM, None, group, 4,
            Width.SHORT, "Log Errors",
        ),
        ConfigKey(
            "errors.log.include.messages", _BOOLEAN, "Accepted, and without effect.", False, _MEDIUM, None, group, 5,
            Width.SHORT, "Log Error Details",
        ),
    )  # fmt: skip


def _source() -> tuple[ConfigKey, ...]:
    once = "Exactly Once Support"
    return (
        ConfigKey(
            "topic.creation.groups", _LIST, "Accepted, and without effect: topics are made when they are written to.",
            (), _LOW, None, "Topic Creation", 1, Width.LONG, "Topic Creation Groups",
        ),
        ConfigKey(
            "exactly.once.support", _STRING, "Sources are at least once here: required is refused.", "requested",
            _MEDIUM, _not_required, once, 1, Width.SHORT, "Exactly once support",
        ),
        ConfigKey(
            "transaction.boundary", _STRING, "Accepted, and without effect.", "poll", _MEDIUM,
            one_of("poll", "interval", "connector"), once, 2, Width.SHORT, "Transaction Boundary",
        ),
        ConfigKey(
            "transaction.boundary.interval.ms", _LONG, "Accepted, and without effect.", None, _LOW, None, once, 4,
            Width.SHORT, "Transaction boundary interval",
        ),
        ConfigKey(
            "offsets.storage.topic", _STRING, "Accepted, and without effect: there is one offset log.", None, _LOW,
            None, "offsets.topic", 1, Width.LONG, "Offsets topic",
        ),
    )  # fmt: skip


def _not_required(value: Any) -> str | None:
    problem = one_of("requested", "required")(value)
    if problem is None and value.lower() == "required":
        return "sources are at least once on these workers"
    return problem


def _sink() -> tuple[ConfigKey, ...]:
    return (
        ConfigKey(
            "topics", _LIST, "Topics to read, with commas between them.", (), _HIGH, None, "Common", 4, Width.LONG,
            "Topics",
        ),
        ConfigKey(
            "topics.regex", _STRING, "Expression that the whole name of a topic has to match.", "", _HIGH, None,
            "Common", 4, Width.LONG, "Topics regex",
        ),
        ConfigKey(
            "errors.deadletterqueue.topic.name", _STRING, "Accepted, and without effect.", "", _MEDIUM, None,
            "Error Handling", 6, Width.MEDIUM, "Dead Letter Queue Topic Name",
        ),
        ConfigKey(
            "errors.deadletterqueue.topic.replication.factor", ConfigType.SHORT, "Accepted, and without effect.", 3,
            _MEDIUM, None, "Error Handling", 7, Width.MEDIUM, "Dead Letter Queue Topic Replication Factor",
        ),
        ConfigKey(
            "errors.deadletterqueue.context.headers.enable", _BOOLEAN, "Accepted, and without effect.", False, _MEDIUM,
            None, "Error Handling", 8, Width.MEDIUM, "Enable Error Context Headers",
        ),
    )  # fmt: skip


def definition_json(key: ConfigKey) -> Mapping[str, Any]:
    return {
        "name": key.name,
        "type": key.type.value,
        "required": key.default is REQUIRED,
        "default_value": None if key.default is REQUIRED else value_text(key.default),
        "importance": key.importance.value,
        "documentation": key.documentation,
        "group": key.group,
        "order_in_group": key.order_in_group,
        "width": key.width.value,
        "display_name": key.display_name or key.name,
        "dependents": list(key.dependents),
    }


def value_json(value: CheckedValue) -> Mapping[str, Any]:
    hidden = value.key.type is ConfigType.PASSWORD and value.value is not None
    return {
        "name": value.key.name,
        "value": "[hidden]" if hidden else value.text(),
        "recommended_values": list(value.key.recommended),
        "errors": list(value.errors),
        "visible": True,
    }
