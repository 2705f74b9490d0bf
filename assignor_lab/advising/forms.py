"""The forms of a change: properties, values of instances, code, commands for brokers, procedure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.advising.configurations import (
    ASSIGNOR,
    BATCH,
    CLOSE,
    HEARTBEAT,
    LEAVE,
    MEMBERS,
    PROTOCOL,
    SESSION,
    STANDBYS,
    STATIC,
    STREAMS_HEARTBEAT,
    STREAMS_SESSION,
    AdvisedState,
)
from assignor_lab.capture.edges.moments import STREAMS
from assignor_lab.kafka.coordinator.session_timeout import heartbeat_of

__all__ = ["Forms", "forms_of"]

_LEAVING = "streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));"


@attrs.frozen
class Forms:
    """A change, by its form.

    Args:
        properties: Key to value for all instances; ``None``: remove the key.
        instances: Instance to its own properties.
        code: Lines of Java.
        broker: Settings of the group on the brokers.
        procedure: Sentences on deployments.
    """

    properties: Mapping[str, str | None] = attrs.field(factory=dict)
    instances: Mapping[str, Mapping[str, str | None]] = attrs.field(factory=dict)
    code: tuple[str, ...] = ()
    broker: Mapping[str, str] = attrs.field(factory=dict)
    procedure: tuple[str, ...] = ()
    file: str = "application.properties"

    def commands(self, group: str) -> list[str]:
        if not self.broker:
            return []
        settings = ",".join(f"{key}={value}" for key, value in self.broker.items())
        return [
            "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type groups "
            f"--entity-name {_quoted(group)} --add-config {settings}"
        ]

    def lines(self) -> list[str]:
        return [f"-{key}" if value is None else f"+{key}={value}" for key, value in self.properties.items()]


def forms_of(changes: Mapping[str, str], subject: AdvisedState) -> Forms:
    state, timings = subject.state, subject.state.episode.timings
    properties: dict[str, str | None] = {}
    instances: dict[str, dict[str, str | None]] = {}
    broker: dict[str, str] = {}
    code: list[str] = []
    procedure: list[str] = []
    is_streams = changes.get(PROTOCOL, state.episode.protocol) == STREAMS
    for key, value in changes.items():
        if key == MEMBERS:
            instances = {name: {MEMBERS: name if value == STATIC else None} for name in sorted(state.names)}
        elif key == CLOSE:
            if value == LEAVE:
                code.append(_LEAVING)
            else:
                procedure.append("Close without LEAVE_GROUP.")
        elif key == BATCH:
            procedure.append(f"Restart {value} instances at once in a deployment.")
        elif key == PROTOCOL:
            properties[key] = value
            procedure.append(
                "The move to another protocol is offline: stop all instances first (assignor plan SOURCE "
                "upgrade-protocol has its cost)."
            )
        elif key == SESSION:
            properties[key] = value
            beat = heartbeat_of(int(value), timings.heartbeat_interval_ms)
            if beat != timings.heartbeat_interval_ms:
                properties[HEARTBEAT] = str(beat)
        elif key == STREAMS_SESSION:
            broker[key] = value
            beat = heartbeat_of(int(value), timings.streams_heartbeat_interval_ms)
            if beat != timings.streams_heartbeat_interval_ms:
                broker[STREAMS_HEARTBEAT] = str(beat)
        elif key == ASSIGNOR:
            properties[key] = _java_class(subject, value)
        elif key == STANDBYS and is_streams:
            broker[f"streams.{key}"] = value
        else:
            properties[key] = value
    return Forms(properties, instances, tuple(code), broker, tuple(procedure))


def _java_class(subject: AdvisedState, name: str) -> str:
    found: Any = subject.terms.registry.task_assignor(name).plugin
    return str(found.java_classes[0]) if found.java_classes else name


def _quoted(name: str) -> str:
    is_plain = name and all(sign.isascii() and (sign.isalnum() or sign in "._-") for sign in name)
    return name if is_plain else "'" + name.replace("'", "'\\''") + "'"
