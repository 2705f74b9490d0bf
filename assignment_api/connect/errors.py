"""Errors of a Connect group and its assignment."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError, ConfigError

__all__ = [
    "ConnectAssignorError",
    "ConnectConfigError",
    "ConnectorTaskIdFormatError",
    "InvalidConnectGroupError",
    "UnsupportedConnectProtocolError",
]


class ConnectorTaskIdFormatError(AssignorLabError):
    """A text is no id of a connector's task."""

    java_type = "IllegalArgumentException"


class ConnectConfigError(ConfigError):
    """A configuration value of a worker or a Connect assignor is invalid."""


class InvalidConnectGroupError(AssignorLabError):
    """An impossible group: no worker, a duplicate member id, a negative number of tasks."""

    java_type = "IllegalArgumentException"


class UnsupportedConnectProtocolError(AssignorLabError):
    """The group's protocol lacks information that the assignor needs."""

    java_type = "ConnectException"


class ConnectAssignorError(AssignorLabError):
    """An assignor cannot place the jobs; the rebalance fails. Kafka: ``ConnectException``."""

    java_type = "ConnectException"
