"""Errors of a Connect group and its assignment, each with Kafka's exception for the same fault."""

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
    """A text is not the id of a connector's task."""

    java_type = "IllegalArgumentException"


class ConnectConfigError(ConfigError):
    """A configuration value of a worker, or of an assignor for Connect, cannot be used."""


class InvalidConnectGroupError(AssignorLabError):
    """A group that cannot exist: no worker, a member id twice, a negative number of tasks."""

    java_type = "IllegalArgumentException"


class UnsupportedConnectProtocolError(AssignorLabError):
    """An assignor was asked to lead a group whose protocol does not tell it what it needs to know."""

    java_type = "ConnectException"


class ConnectAssignorError(AssignorLabError):
    """What an assignor raises when it cannot place the jobs of a group; the rebalance fails.

    Kafka: ``ConnectException``.
    """

    java_type = "ConnectException"
