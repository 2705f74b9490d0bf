"""Errors of a cluster that somebody else runs."""

from __future__ import annotations

from assignment_api.errors import AssignorLabError

__all__ = [
    "AccessError",
    "ConnectRefusedError",
    "ConnectUrlError",
    "NotConnectError",
    "RemoteClusterError",
    "UnreachableClusterError",
]


class RemoteClusterError(AssignorLabError):
    """A cluster cannot be asked, or its answer cannot be used."""


class ConnectUrlError(RemoteClusterError):
    """A text is no URL of a worker; the text itself is not repeated where it may hold a password."""


class AccessError(RemoteClusterError):
    """Credentials are incomplete, or the file of certificates cannot be used."""


class UnreachableClusterError(RemoteClusterError):
    """None of the URLs answers, or the answer does not come in time."""


class NotConnectError(RemoteClusterError):
    """Something answers, but not as Kafka Connect does."""


class ConnectRefusedError(RemoteClusterError):
    """Connect answers with an error.

    Args:
        request: Method and path.
        status: HTTP status.
        message: Connect's own words; empty if there are none.
    """

    def __init__(self, request: str, status: int, message: str) -> None:
        self.request = request
        self.status = status
        self.message = message
        super().__init__(f"{request}: {status} {message}{_REMEDIES.get(status, '')}".rstrip())


_REMEDIES = {
    401: ": give a user's name and password as ASSIGNOR_CONNECT_USERNAME and ASSIGNOR_CONNECT_PASSWORD",
    403: ": this user may not do that",
    409: ": the cluster rebalances; try again",
}
