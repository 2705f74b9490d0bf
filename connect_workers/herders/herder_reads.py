"""Answers that every worker gives from memory, in any stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.herder.config_log.reader import ConfigSnapshot
from assignor_lab.kafka.herder.statuses import ConnectorStatus, InstanceStatus
from assignor_lab.kafka.version import KAFKA_COMMIT, KAFKA_VERSION
from connect_workers.contract import (
    BadRequestError,
    ConnectorInfo,
    LoggerLevel,
    NotFoundError,
    PluginInfo,
    ServerInfo,
    TaskConfig,
    UnhealthyError,
    Validation,
)
from connect_workers.logger_levels import LoggerLevels
from connect_workers.logs.cluster_logs import ClusterLogs
from connect_workers.plugins.connector_plugins import ConnectorPlugins

__all__ = ["HerderReads", "check_valid"]


class HerderReads:
    """The part of a herder that distributed and standalone workers have in common."""

    def __init__(self, logs: ClusterLogs, plugins: ConnectorPlugins, levels: LoggerLevels) -> None:
        self._logs, self._plugins, self._levels = logs, plugins, levels

    def _fresh(self) -> ConfigSnapshot:
        raise NotImplementedError

    async def _come_round(self) -> None:
        raise NotImplementedError

    def server_info(self) -> ServerInfo:
        return ServerInfo(KAFKA_VERSION, KAFKA_COMMIT, self._logs.cluster_id)

    def connectors(self) -> Sequence[str]:
        return list(self._fresh().connectors)

    def known_connector(self, name: str) -> ConnectorInfo:
        """A connector as configured, as far as this worker has read."""
        return self._info(self._fresh(), name)

    def connector_status(self, name: str) -> ConnectorStatus:
        status = self._logs.statuses.connector(name)
        if status is None:
            raise NotFoundError(f"No status found for connector {name}")
        tasks = sorted(self._logs.statuses.tasks(name).items())
        return ConnectorStatus(
            name,
            status.instance(),
            [task.instance(number) for number, task in tasks],
            self._plugins.type_of(self._fresh().connectors.get(name, {})),
        )

    def task_status(self, task: ConnectorTaskId) -> InstanceStatus:
        status = self._logs.statuses.status(task)
        if status is None:
            raise NotFoundError(f"No status found for task {task}")
        return status.instance(task.task)

    def active_topics(self, name: str) -> Sequence[str]:
        return self._logs.statuses.topics(name)

    def plugins(self, *, connectors_only: bool = True) -> Sequence[PluginInfo]:
        return self._plugins.listed(connectors_only=connectors_only)

    def plugin_config(self, name: str, version: str | None = None) -> Sequence[Mapping[str, Any]]:
        return self._plugins.definitions(name, version)

    def loggers(self) -> Mapping[str, LoggerLevel]:
        return self._levels.all()

    def logger(self, name: str) -> LoggerLevel:
        return self._levels.one(name)

    async def set_logger_level(self, name: str, level: str) -> Sequence[str]:
        return self._levels.set(name, level)

    async def health(self) -> None:
        """Returns after one turn of the herder's loop.

        Raises:
            UnhealthyError: if a log cannot be written. Kafka's worker then reports that it waits for its status topic.
        """
        failures = self._logs.failures()
        if failures:
            raise UnhealthyError("; ".join(map(str, failures)))
        await self._come_round()

    # --- for the subclasses ---------------------------------------------------------------------------

    def _info(self, snapshot: ConfigSnapshot, name: str) -> ConnectorInfo:
        config = snapshot.connectors.get(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return ConnectorInfo(name, config, snapshot.tasks(name), self._plugins.type_of(config))

    def _task_configs(self, snapshot: ConfigSnapshot, name: str) -> list[TaskConfig]:
        if name not in snapshot.connectors:
            raise NotFoundError(f"Connector {name} not found")
        return [TaskConfig(task, snapshot.task_configs_by_id.get(task, {})) for task in snapshot.tasks(name)]


def check_valid(validation: Validation) -> None:
    """Passes only a configuration without errors.

    Raises:
        BadRequestError: with all errors, in Connect's words (Kafka: ``AbstractHerder.validateConnectorConfig``).
    """
    if not validation.error_count:
        return
    errors = [error for each in validation.configs for error in each["value"]["errors"]]
    lines = "\n".join(errors)
    raise BadRequestError(
        f"Connector configuration is invalid and contains the following {len(errors)} error(s):\n{lines}\n"
        "You can also find the above list of errors at the endpoint "
        "`/connector-plugins/{connectorType}/config/validate`"
    )
