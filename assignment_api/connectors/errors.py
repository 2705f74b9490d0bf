"""Errors that a connector may raise or receive."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError, ConfigError

__all__ = ["ConnectorConfigError", "ConnectorError", "ConnectorStoppedError", "PathNotAllowedError"]


class ConnectorError(AssignorLabError):
    """A connector or task becomes FAILED, for a reason that a user should read. Kafka: ``ConnectException``.

    Other exceptions have the same effect.
    """

    java_type = "ConnectException"


class ConnectorConfigError(ConfigError):
    """A value of a connector's configuration is invalid. Kafka: ``ConfigException``."""


class ConnectorStoppedError(ConnectorError):
    """A task continued after its worker had abandoned it, without effect."""


class PathNotAllowedError(ConnectorError):
    """A file outside the directory of connectors."""
