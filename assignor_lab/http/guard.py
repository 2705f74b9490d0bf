"""Checks of a request's head before any part of it is used.

They keep pages of other origins out: a page can make a browser send requests here, but it cannot forge ``Host``,
``Origin`` and ``Sec-Fetch-Site``.
"""

from __future__ import annotations

import ipaddress
import urllib.parse

from starlette.datastructures import Headers
from starlette.types import Scope

from assignor_lab.http.errors import HttpError
from assignor_lab.http.settings import HttpSettings

__all__ = ["CLOSE", "WRITES", "check_head", "check_origin"]

#: Methods that change something.
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
#: Header of an answer after which the connection is closed.
CLOSE = {"Connection": "close"}


def check_head(scope: Scope, settings: HttpSettings) -> None:
    """Refuses a head that is too long; the server's own bound is for heads that come in pieces.

    Raises:
        HttpError: with status 414 or 431; 400 if it has two lengths of the body.
    """
    target = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if target > settings.max_header_bytes:
        raise HttpError(414, "HTTP 414 URI Too Long")
    if target + sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > settings.max_header_bytes:
        raise HttpError(431, "HTTP 431 Request Header Fields Too Large")
    names = {name for name, _ in scope["headers"]}
    if b"content-length" in names and b"transfer-encoding" in names:
        # Servers that differ in which of the two counts see different requests in one connection (RFC 9112, 6.1).
        raise HttpError(400, "HTTP 400 Bad Request: Content-Length and Transfer-Encoding", headers=CLOSE)


def check_origin(scope: Scope, settings: HttpSettings) -> None:
    """Refuses requests that a page of another origin has sent.

    Raises:
        HttpError: with status 403: a ``Host`` that is not ours (DNS rebinding), a change requested across origins;
            400: no ``Host``, or two.
    """
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not hosts[0]:
        raise HttpError(400, "HTTP 400 Bad Request: exactly one Host header is needed", typed=False)
    if not _host_allowed(hosts[0], scope, settings):
        raise HttpError(
            403,
            f"Host {hosts[0]!r:.80} is none of this worker's names; if it should be one, name it as an allowed host",
        )
    if scope["method"] in WRITES:
        _check_same_origin(headers, f"{scope['scheme']}://{hosts[0]}".lower(), settings)


def _host_allowed(host: str, scope: Scope, settings: HttpSettings) -> bool:
    name = _host_name(host)
    if name is None:
        return False
    bound = (scope.get("server") or ("",))[0]
    if name == "localhost" or name == str(bound).lower() or name in {each.lower() for each in settings.allowed_hosts}:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str | None:
    """The name without port and brackets, in lower case; ``None`` if it is not one."""
    try:
        parts = urllib.parse.urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return parts.hostname.rstrip(".") if parts.hostname else None


def _check_same_origin(headers: Headers, own: str, settings: HttpSettings) -> None:
    allowed = {own, *(each.lower().rstrip("/") for each in settings.allowed_origins)}
    origins = headers.getlist("origin")
    foreign = [origin for origin in origins if origin.lower() not in allowed]
    # A browser that leaves out Origin still sends the page's site. "none" means that the user opened the address.
    sites = {site.lower() for site in headers.getlist("sec-fetch-site")} - {"same-origin", "none"}
    if foreign or (sites and not origins):
        raise HttpError(403, "Pages of other origins may not change anything here")
