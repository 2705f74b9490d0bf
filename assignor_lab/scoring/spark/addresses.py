"""Masters and servers of Spark: their forms, a check of their ports, and their form in messages."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

from assignment_api import AssignorLabError

__all__ = [
    "DEFAULT_MASTER",
    "SparkAddressError",
    "check_address",
    "is_here",
    "is_local",
    "is_this_machine",
    "shown_address",
    "with_tries",
]

DEFAULT_MASTER = "local[*]"
#: Forms of a Spark master.
_MASTER = re.compile(r"local(\[[^\]]+\])?\Z|local-cluster\[|yarn\Z|(spark|k8s)://.")
_LOCAL = re.compile(r"local(\[(?P<cores>\*|\d+)\])?\Z")
#: A single server with a port to check; Spark checks lists of masters.
_SERVER = re.compile(r"(spark|sc)://(?P<host>\[[0-9a-fA-F:]+\]|[^:/;,\[\]]+)(:(?P<port>\d{1,5}))?(/.*)?\Z", re.DOTALL)
CONNECT_PORT = 15002
#: Seconds for a connection to a server.
PATIENCE_SECONDS = 15.0
#: Tries of a task on one machine; on a cluster Spark itself repeats tasks.
TRIES = 4


class SparkAddressError(AssignorLabError):
    """Spark's master or the address of a Spark Connect server is malformed, or does not respond."""


def is_here(master: str) -> bool:
    return master.startswith("local")


def is_local(master: str) -> bool:
    """True if the work is done in one process of this machine: ``local``, ``local[2]``, ``local[*]``."""
    return _LOCAL.match(master) is not None


def is_this_machine(master: str) -> bool:
    """True if no other machine has to reach this one: the work or the server is on this machine."""
    return is_here(master) or urlsplit(master).hostname in ("127.0.0.1", "localhost", "::1")


def with_tries(master: str) -> str:
    """A local master that repeats failed tasks, as a cluster does: a worker may be killed for lack of memory."""
    match = _LOCAL.match(master)
    return master if match is None else f"local[{match['cores'] or 1},{TRIES}]"


def check_address(master: str | None, remote: str | None) -> None:
    """Checks the form of a master or a server, and its port.

    Raises:
        SparkAddressError: if the form is wrong, or nothing responds.
    """
    if master is not None and not _MASTER.match(master):
        raise SparkAddressError(
            f"{master!r:.80} is no master of Spark: give local, local[2], local[*], spark://host:port, yarn or k8s://..."
        )
    if remote is not None and not remote.startswith("sc://") and not _LOCAL.match(remote):
        # Not quoted, because the text may contain a token.
        raise SparkAddressError("the address of a Spark Connect server has the form sc://host:port")
    for address in (master, remote):
        if address is not None and (match := _SERVER.match(address)) is not None:
            _check_answers(match["host"], int(match["port"] or CONNECT_PORT))


def _check_answers(host: str, port: int) -> None:
    try:
        socket.create_connection((host.strip("[]"), port), timeout=PATIENCE_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise SparkAddressError(f"no server responds at {host}:{port} ({error}): is Spark running there?") from error


def shown_address(remote: str) -> str:
    """A Spark Connect address without possible secrets: ``sc://host:port`` only."""
    parts = urlsplit(remote)
    return (
        f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}" if parts.scheme else remote
    )
