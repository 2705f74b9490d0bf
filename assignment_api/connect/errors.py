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
    """A configuration value of a worker, or of an assignor for Connect, is invalid."""


class InvalidConnectGroupError(AssignorLabError):
    """An impossible group: no worker, a duplicate member id, a negative number of tasks."""

    java_type = "IllegalArgumentException"


class UnsupportedConnectProtocolError(AssignorLabError):
    """The group's protocol does not carry the information that the assignor needs."""

    java_type = "ConnectException"


class ConnectAssignorError(AssignorLabError):
    """Raised by an assignor that cannot place the jobs of a group; the rebalance fails.

    Kafka: ``ConnectException``.
    """

    java_type = "ConnectException"
