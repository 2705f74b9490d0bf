"""Records of the config log: keys and values, as workers write them (Kafka: ``KafkaConfigBackingStore``)."""

from __future__ import annotations

import base64
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from assignor_lab.kafka.herder.restarts import RestartRequest
from assignor_lab.kafka.herder.session_keys import SessionKey

__all__ = [
    "COMMIT",
    "CONNECTOR",
    "FENCING",
    "LOGGER",
    "RESTART",
    "SESSION_KEY",
    "TARGET",
    "TASK",
    "Config",
    "Records",
    "TargetState",
    "connector_records",
    "creation_records",
    "deletion_records",
    "fencing_records",
    "logger_records",
    "restart_records",
    "session_key_records",
    "target_state_records",
    "task_records",
    "without_nulls",
]

#: Prefixes of keys; there is one session key.
TARGET, CONNECTOR, TASK, COMMIT = "target-state-", "connector-", "task-", "commit-"
RESTART, FENCING, SESSION_KEY, LOGGER = "restart-connector-", "tasks-fencing-", "session-key", "logger-cluster-"

Config = Mapping[str, str | None]

Records = list[tuple[str, Any]]


class TargetState(enum.Enum):
    """Intended state of a connector."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


def without_nulls(config: Config) -> dict[str, str]:
    """A configuration as passed to connectors."""
    return {key: value for key, value in config.items() if value is not None}


def connector_records(name: str, config: Config, target: TargetState | None) -> Records:
    before = [] if target is None else target_state_records(name, target)
    return [*before, (CONNECTOR + name, {"properties": dict(config)})]


def creation_records(name: str, config: Config, target: TargetState | None) -> Records:
    """Records of a new connector: a commit of an earlier one of its name never applies, even after compaction."""
    return [(COMMIT + name, None), *connector_records(name, config, target)]


def deletion_records(name: str) -> Records:
    return [(CONNECTOR + name, None), (TARGET + name, None)]


def task_records(name: str, configs: Sequence[Mapping[str, str]]) -> Records:
    """Configurations of all tasks of a connector, and the commit that makes them effective."""
    tasks = [(f"{TASK}{name}-{number}", {"properties": dict(config)}) for number, config in enumerate(configs)]
    return [*tasks, (COMMIT + name, {"tasks": len(configs)})]


def target_state_records(name: str, state: TargetState) -> Records:
    """Target state of a connector; readers before Kafka 3.5 do not support STOPPED."""
    old = TargetState.PAUSED if state is TargetState.STOPPED else state
    return [(TARGET + name, {"state": old.value, "state.v2": state.value})]


def restart_records(request: RestartRequest) -> Records:
    value = {"include-tasks": request.include_tasks, "only-failed": request.only_failed}
    return [(RESTART + request.connector, value)]


def fencing_records(name: str, tasks: int) -> Records:
    return [(FENCING + name, {"task-count": tasks})]


def session_key_records(key: SessionKey) -> Records:
    text = base64.b64encode(key.key).decode()
    return [(SESSION_KEY, {"key": text, "algorithm": key.algorithm, "creation-timestamp": key.created_ms})]


def logger_records(namespace: str, level: str) -> Records:
    return [(LOGGER + namespace, {"level": level})]
