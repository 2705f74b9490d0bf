"""Errors of remote clusters."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = [
    "AccessError",
    "ConnectRefusedError",
    "ConnectUrlError",
    "NotConnectError",
    "NotForwardedError",
    "RemoteClusterError",
    "UnreachableClusterError",
]


class RemoteClusterError(AssignorLabError):
    """A cluster does not answer, or its answer is not usable."""


class ConnectUrlError(RemoteClusterError):
    """A text is no URL of a worker; it is not repeated if it may hold a password."""


class AccessError(RemoteClusterError):
    """Credentials are incomplete, or the file of certificates is not usable."""


class UnreachableClusterError(RemoteClusterError):
    """No URL answers in time."""


class NotConnectError(RemoteClusterError):
    """The answer does not come from Kafka Connect."""


class ConnectRefusedError(RemoteClusterError):
    """Connect answers with an error."""

    def __init__(self, request: str, status: int, message: str) -> None:
        self.request = request
        self.status = status
        self.message = message
        super().__init__(f"{request}: {status} {message}{_REMEDIES.get(status, '')}".rstrip())


class NotForwardedError(RemoteClusterError):
    """No worker could forward a request to the leader or owner."""

    def __init__(self, refused: ConnectRefusedError, attempts: int, cause: str) -> None:
        message, times = " ".join(refused.message.split()), f"{attempts} attempt{'s' if attempts > 1 else ''}"
        super().__init__(
            f"{refused.request}: {refused.status} {message} ({times}): the worker that got the "
            f"request cannot forward it: {cause}"
        )


_REMEDIES = {
    401: ": give a user's name and password as ASSIGNOR_CONNECT_USERNAME and ASSIGNOR_CONNECT_PASSWORD",
    403: ": this user may not do that",
    409: ": the cluster rebalances; try again",
}
