"""Errors that a connector may raise or receive."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError, ConfigError

__all__ = ["ConnectorConfigError", "ConnectorError", "ConnectorStoppedError", "PathNotAllowedError"]


class ConnectorError(AssignorLabError):
    """A connector or task cannot continue: it becomes FAILED. Kafka: ``ConnectException``.

    Any other exception of a connector has the same effect; this one is for reasons that a user should read.
    """

    java_type = "ConnectException"


class ConnectorConfigError(ConfigError):
    """A value of a connector's configuration is invalid. Kafka: ``ConfigException``."""


class ConnectorStoppedError(ConnectorError):
    """A task continued after its worker had abandoned it: its actions have no effect."""


class PathNotAllowedError(ConnectorError):
    """A file outside the directory to which connectors are confined."""
