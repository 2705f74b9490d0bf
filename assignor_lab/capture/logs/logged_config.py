"""The configuration that an instance logs when it starts: ``StreamsConfig values:``, a line for each key.

A log that reaches back to the start of its instance so tells what ``--config`` would have to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.errors import ConfigError
from assignment_api.plugins.keys import read_value
from assignment_api.streams.configs import ASSIGNMENT_KEYS, RACK_AWARE_ASSIGNMENT_TAGS
from assignor_lab.capture.logs.messages import Kind
from assignor_lab.capture.logs.records import LogRecord

__all__ = ["LoggedConfig", "LoggedConfigs"]

_APPLICATION, _CLIENT = "application.id", "client.id"
_OPTIMIZATION = "topology.optimization"
#: Settings of time and membership of a Streams configuration; those of its consumers stand in ``ConsumerConfig``.
_SETTINGS = ("processing.guarantee", "commit.interval.ms", "state.cleanup.delay.ms", "dsl.store.suppliers.class")
_ENTRY = re.compile(
    r"(?<![\w.])("
    + "|".join(map(re.escape, (*ASSIGNMENT_KEYS, *_SETTINGS, _APPLICATION, _CLIENT, _OPTIMIZATION)))
    + r") = ([^\r\n\\]*)"
)


@attrs.frozen
class LoggedConfig:
    """What one instance has logged of its configuration.

    Args:
        file: The file's name as it was given.
        line: Line of the message.
        application: ``application.id``, which is the consumer group.
        client: ``client.id``, with which the names of the instance's threads begin; empty if not configured.
        values: Keys of assignment to values in their types; a value that Kafka would refuse is left out.
        optimization: ``topology.optimization``, or ``None``: not logged.
        settings: Settings of time and membership; the consumers' are not logged with them.
    """

    file: str
    line: int
    application: str
    client: str
    values: Mapping[str, Any]
    optimization: str | None = None
    settings: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.define
class LoggedConfigs:
    """The configurations seen so far, of all instances."""

    #: (application, client id) to the latest one.
    _seen: dict[tuple[str, str], LoggedConfig] = attrs.field(init=False, factory=dict)

    def take(self, record: LogRecord) -> None:
        """Adds a message of kind ``STREAMS_CONFIG``; one without the application's id is of no use."""
        config = _read(record)
        if config.application:
            # The latest one stands last.
            self._seen.pop((config.application, config.client), None)
            self._seen[config.application, config.client] = config

    def of_leader(self, group: str | None, thread: str | None) -> LoggedConfig | None:
        """The configuration of the instance that led, or of another instance of the group; ``None`` if unknown."""
        of_group = [config for config in self._seen.values() if config.application == group]
        own = [config for config in of_group if thread and config.client and thread.startswith(f"{config.client}-")]
        return (own or of_group)[-1] if of_group else None


def _read(record: LogRecord) -> LoggedConfig:
    entries = {found[1]: found[2].strip() for found in _ENTRY.finditer(record.text, len(Kind.STREAMS_CONFIG.value))}
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
