"""Base URLs of workers, from users."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

import attrs

from assignor_lab.connect.remote.errors import ConnectUrlError

__all__ = ["ConnectUrl", "parse_url", "parse_worker_id", "path_of", "without_address"]

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"\A(?:[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45})\Z")
_WORKER_ID = re.compile(
    r"\A(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9._-]{1,253})):(?P<port>[0-9]{1,5})\Z"
)


@attrs.frozen
class ConnectUrl:
    """The address of a worker's REST interface.

    Args:
        prefix: Path before Connect's own, behind a proxy; no slash at its end.
    """

    scheme: str
    host: str
    port: int
    prefix: str = ""

    def __str__(self) -> str:
        """Never holds credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"


def parse_url(text: str) -> ConnectUrl:
    if "@" in text:
        raise ConnectUrlError(
            "a URL of a worker must not hold a user's name or password, they would be seen in lists of processes and "
            "in logs: give them as ASSIGNOR_CONNECT_USERNAME and ASSIGNOR_CONNECT_PASSWORD"
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ConnectUrlError(f"{text!r:.200} is no URL ({error}): give one such as http://connect-1:8083") from None
    host = parts.hostname or ""
    if parts.scheme not in _DEFAULT_PORTS or not _HOST.match(host) or not text.isprintable():
        raise ConnectUrlError(f"{text!r:.200} is no URL of a worker: give one such as http://connect-1:8083")
    if parts.query or parts.fragment or "\\" in text:
        raise ConnectUrlError(f"{text!r:.200}: give the worker's base URL, without a query or fragment")
    prefix = quote(parts.path.rstrip("/"), safe="/%-._~")
    return ConnectUrl(parts.scheme, host, _DEFAULT_PORTS[parts.scheme] if port is None else port, prefix)


def parse_worker_id(text: str) -> tuple[str, int] | None:
    """``None`` if it is not usable for a request."""
    match = _WORKER_ID.match(text)
    if match is None or not 0 < int(match["port"]) < 65_536:
        return None
    return match["six"] or match["host"], int(match["port"])


def without_address(worker_id: str) -> str:
    """Reason for which other workers cannot reach the id's address, or empty."""
    host, _, port = worker_id.rpartition(":")
    if host.strip("[]").lower() in ("", "null", "none", "0.0.0.0", "::", "*") or worker_id == "null":  # noqa: S104
        return "it advertises no host"
    if port.lstrip("-").isdigit() and parse_worker_id(worker_id) is None and not 0 < int(port) < 65_536:
        return "it advertises no port"
    return ""


def path_of(*segments: str | int) -> str:
    """Each name stays one segment; a name of dots alone is refused, since no client can put it into a path."""
    quoted = []
    for segment in segments:
        if str(segment) in (".", "..", ""):
            raise ConnectUrlError(f"{segment!r} cannot be part of a path: Connect has no way to name such a connector")
        quoted.append(quote(str(segment), safe=""))
    return "/" + "/".join(quoted)
