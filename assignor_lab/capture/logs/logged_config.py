"""The configuration that an instance logs at its start: ``StreamsConfig values:``, a line for each key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.errors import ConfigError
from assignment_api.plugins.keys import read_value
from assignment_api.streams.configs import ASSIGNMENT_KEYS, RACK_AWARE_ASSIGNMENT_TAGS
from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.scenarios.settings import Settings

__all__ = ["LoggedConfig", "LoggedConfigs"]

_APPLICATION, _CLIENT = "application.id", "client.id"
_OPTIMIZATION = "topology.optimization"
#: Those of consumers are in ``ConsumerConfig``.
_SETTINGS = ("processing.guarantee", "commit.interval.ms", "state.cleanup.delay.ms", "dsl.store.suppliers.class")
_ENTRY = re.compile(
    r"(?<![\w.])("
    + "|".join(map(re.escape, (*ASSIGNMENT_KEYS, *_SETTINGS, _APPLICATION, _CLIENT, _OPTIMIZATION)))
    + r") = ([^\r\n\\]*)"
)


@attrs.frozen
class LoggedConfig:
    """Configuration that one instance logged.

    Args:
        application: ``application.id``, which is the consumer group.
        values: Assignment keys; values that Kafka would refuse are left out.
        settings: Time and membership, without those of consumers.
    """

    file: str
    line: int
    application: str
    client: str
    values: Mapping[str, Any]
    optimization: str | None = None
    settings: Settings = attrs.field(factory=dict)


@attrs.define
class LoggedConfigs:
    """The latest configuration of each instance."""

    #: (application, client id) to configuration.
    _seen: dict[tuple[str, str], LoggedConfig] = attrs.field(init=False, factory=dict)

    def take(self, record: LogMessage) -> None:
        config = _read(record)
        if config.application:
            self._seen.pop((config.application, config.client), None)
            self._seen[config.application, config.client] = config

    def of_leader(self, group: str | None, thread: str | None) -> LoggedConfig | None:
        """Of the leader's instance, or of another instance of the group."""
        of_group = [config for config in self._seen.values() if config.application == group]
        own = [config for config in of_group if thread and config.client and thread.startswith(f"{config.client}-")]
        return (own or of_group)[-1] if of_group else None


def _read(record: LogMessage) -> LoggedConfig:
    entries = {
        found[1]: found[2].strip() for found in _ENTRY.finditer(record.text, len(MessageKind.STREAMS_CONFIG.value))
    }
    values: dict[str, Any] = {}
    for key, (_, read) in ASSIGNMENT_KEYS.items():
        if key not in entries:
            continue
        text = entries[key]
        if key == RACK_AWARE_ASSIGNMENT_TAGS:
            text = text.removeprefix("[").removesuffix("]")
        try:
            values[key] = read(key, None if text == "null" else text)
        except ConfigError:
            continue
    return LoggedConfig(
        record.file,
        record.line,
        entries.get(_APPLICATION, ""),
        entries.get(_CLIENT, ""),
        values,
        entries.get(_OPTIMIZATION),
        _settings_in(entries),
    )


def _settings_in(entries: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in _SETTINGS:
        try:
            if entries.get(key, "null") != "null":
                found[key] = read_value(key, entries[key].removeprefix("class "))
        except ConfigError:
            continue
    return found
