"""Errors that a connector may raise, or is given."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError, ConfigError

__all__ = ["ConnectorConfigError", "ConnectorError", "ConnectorStoppedError", "PathNotAllowedError"]


class ConnectorError(AssignorLabError):
    """A connector or task cannot go on: it becomes FAILED. Kafka: ``ConnectException``.

    Anything else that a connector raises has the same effect; this one is for reasons that a user should read.
    """

    java_type = "ConnectException"


class ConnectorConfigError(ConfigError):
    """A value of a connector's configuration cannot be used. Kafka: ``ConfigException``."""


class ConnectorStoppedError(ConnectorError):
    """A task went on after its worker had given it up: what it does no longer reaches anything."""


class PathNotAllowedError(ConnectorError):
    """A file outside the directory to which connectors are confined."""
