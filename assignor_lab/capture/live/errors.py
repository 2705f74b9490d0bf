"""Errors of asking a running Kafka, each with what to do."""

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
    """A running Kafka cannot be asked, or does not answer as expected."""


class AccessSettingsError(LiveClusterError):
    """A file of client settings cannot be used as it is."""


class UnreachableBrokersError(LiveClusterError):
    """None of the given addresses answers as a Kafka broker."""


class NotAuthorizedError(LiveClusterError):
    """The brokers refuse who asks, or what is asked."""


class TooOldBrokerError(LiveClusterError):
    """The brokers do not know a request that is needed."""


class GroupUnusableError(LiveClusterError):
    """A group is not there, is of no kind that is known here, or is in no state that tells anything."""
