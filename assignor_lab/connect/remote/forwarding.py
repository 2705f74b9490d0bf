"""Causes of requests that a worker could not forward to the leader or the owner, by the form of its message.

Kafka: ``connect.runtime.rest.RestClient``.
"""

from __future__ import annotations

import re

__all__ = ["forwarding_cause", "is_unforwarded"]

_SERVER_ERROR = 500
#: Start of the message of a worker that cannot reach the owner or the leader.
_NOT_FORWARDED = "IO Error trying to forward REST request"
_SHARED_GROUP = (
    "a worker of another Connect cluster with the same group.id may lead the group: compare group.id, "
    "config.storage.topic and bootstrap.servers of all workers"
)
_ADDRESS = "set rest.advertised.host.name and rest.advertised.port of each worker to an address that the others reach"

#: In this order: a message of a proxy may hold the words of a later form.
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"Unrecognized token|upstream |was expecting|Unexpected character|JsonParse|<html|<!DOCTYPE", re.IGNORECASE
        ),
        "a proxy or service mesh between the workers answered in place of Connect: let the workers' REST port bypass "
        f"it, or permit traffic between workers; or {_SHARED_GROUP}",
    ),
    (
        re.compile(
            r"UnknownHost|UnresolvedAddress|nodename nor servname|Name or service not known|name resolution|"
            r"No such host",
            re.IGNORECASE,
        ),
        f"the host name that the leader or owner advertises is unknown there (DNS): {_ADDRESS}",
    ),
    (
        re.compile(r"null:-1|Invalid URI|URISyntax|Illegal character|no host|//null", re.IGNORECASE),
        f"the leader or owner advertises no address: {_ADDRESS}",
    ),
    (
        re.compile(r"SSL|PKIX|certificate|handshake", re.IGNORECASE),
        "the workers do not accept each other's certificates, or one of them speaks no TLS: compare listeners, "
        "rest.advertised.listener and listeners.https.* of all workers",
    ),
    (
        re.compile(r"time(?:d)?[ -]?out", re.IGNORECASE),
        "the advertised address of the leader or owner takes no connection in time: a firewall or network policy is "
        f"between the workers, or {_SHARED_GROUP}",
    ),
    (
        re.compile(
            r"refused|ConnectException|NoRouteToHost|unreachable|ClosedChannel|EOFException|reset", re.IGNORECASE
        ),
        "no worker listens at the address that the leader or owner advertises: it has just ended (the group notices it "
        f"after the session timeout), or the address is wrong: {_ADDRESS}",
    ),
)


def is_unforwarded(status: int, message: str) -> bool:
    return status == _SERVER_ERROR and message.startswith(_NOT_FORWARDED)


def forwarding_cause(message: str) -> str:
    """The probable cause, with its remedy."""
    found = next((cause for form, cause in _FORMS if form.search(message.partition(_NOT_FORWARDED)[2])), None)
    return found or (
        f"the worker cannot reach the leader or owner at its advertised address: {_ADDRESS}; check DNS, firewalls and "
        f"proxies; or {_SHARED_GROUP}"
    )
