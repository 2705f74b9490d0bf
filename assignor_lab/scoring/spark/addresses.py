"""Masters and servers of Spark: their forms, whether anybody answers there, and how they are shown."""

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
#: What Spark takes as its master.
_MASTER = re.compile(r"local(\[[^\]]+\])?\Z|local-cluster\[|yarn\Z|(spark|k8s)://.")
_LOCAL = re.compile(r"local(\[(?P<cores>\*|\d+)\])?\Z")
#: One server whose port can be tried; a list of masters is left to Spark.
_SERVER = re.compile(r"(spark|sc)://(?P<host>\[[0-9a-fA-F:]+\]|[^:/;,\[\]]+)(:(?P<port>\d{1,5}))?(/.*)?\Z", re.DOTALL)
CONNECT_PORT = 15002
#: Seconds within which a server must take a connection.
PATIENCE_SECONDS = 15.0
#: How often a piece of work is tried on one machine; on a cluster Spark itself does so.
TRIES = 4


class SparkAddressError(AssignorLabError):
    """What was given as Spark's master, or as the address of a Spark Connect server, is none, or nobody answers."""


def is_here(master: str) -> bool:
    """Whether the work is done on this machine."""
    return master.startswith("local")


def is_local(master: str) -> bool:
    """Whether the work is done in one process of this machine: ``local``, ``local[2]``, ``local[*]``."""
    return _LOCAL.match(master) is not None


def is_this_machine(master: str) -> bool:
    """Whether nobody else has to reach us: it is done here, or by a server whose address is this machine's own."""
    return is_here(master) or urlsplit(master).hostname in ("127.0.0.1", "localhost", "::1")


def with_tries(master: str) -> str:
    """A master on this machine that tries again, as a cluster does: a worker may be killed for want of memory."""
    match = _LOCAL.match(master)
    return master if match is None else f"local[{match['cores'] or 1},{TRIES}]"


def check_address(master: str | None, remote: str | None) -> None:
    """Sees to it that a master or a server has the form of one, and that somebody takes connections there.

    Raises:
        SparkAddressError: if not.
    """
    if master is not None and not _MASTER.match(master):
        raise SparkAddressError(
            f"{master!r:.80} is no master of Spark: give local, local[2], local[*], spark://host:port, yarn or k8s://..."
        )
    if remote is not None and not remote.startswith("sc://") and not _LOCAL.match(remote):
        # Not quoted: what was meant as an address may hold a token.
        raise SparkAddressError("the address of a Spark Connect server has the form sc://host:port")
    for address in (master, remote):
        if address is not None and (match := _SERVER.match(address)) is not None:
            _check_answers(match["host"], int(match["port"] or CONNECT_PORT))


def _check_answers(host: str, port: int) -> None:
    """Spark itself would try for minutes."""
    try:
        socket.create_connection((host.strip("[]"), port), timeout=PATIENCE_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise SparkAddressError(f"nobody answers at {host}:{port} ({error}): is Spark running there?") from error


def shown_address(remote: str) -> str:
    """A Spark Connect address without what may be secret in it: ``sc://host:port`` alone."""
    parts = urlsplit(remote)
    return (
        f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}" if parts.scheme else remote
    )
