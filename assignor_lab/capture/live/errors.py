"""Errors of a running Kafka, each with a remedy."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = [
    "AccessSettingsError",
    "GroupUnusableError",
    "LiveClusterError",
    "NotAuthorizedError",
    "TooOldBrokerError",
    "UnreachableBrokersError",
]


class LiveClusterError(AssignorLabError):
    """A running Kafka is unavailable, or responds unexpectedly."""


class AccessSettingsError(LiveClusterError):
    """A file of client settings is unusable."""


class UnreachableBrokersError(LiveClusterError):
    """No given address responds as a Kafka broker."""


class NotAuthorizedError(LiveClusterError):
    """Authentication or authorization failed."""


class TooOldBrokerError(LiveClusterError):
    """The brokers lack a required request."""


class GroupUnusableError(LiveClusterError):
    """A group does not exist, is of an unsupported kind, or has no usable decision."""
