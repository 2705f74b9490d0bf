"""The guard of the REST interface: what a request has to be before anything looks at what it asks for.

Connect has no such checks. They keep pages of other origins out: a page can make a browser send requests here, but it
cannot forge ``Host``, ``Origin`` and ``Sec-Fetch-Site``, nor send JSON without our leave.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import urllib.parse

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from assignor_lab.connect.rest.answers import RestError
from assignor_lab.connect.rest.settings import RestSettings

__all__ = ["WRITES", "check_content_type", "check_head", "check_origin", "check_takes_json", "read_body"]

#: A body that is too long is read on for a while: a client that is still sending may never see our answer.
_DRAINED = 8
#: Methods that change something.
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_CLOSE = {"Connection": "close"}
_JSON = "application/json"
#: Compatible with it as far as there is nothing to be read.
_WILDCARDS = ("*/*", "application/*")
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\A\s*{_WORD}/{_WORD}\s*(;.*)?\Z")


def check_head(scope: Scope, settings: RestSettings) -> None:
    """Refuses a head that is too long; the server's own bound is for heads that come in pieces.

    Raises:
        RestError: with status 414 or 431; 400 if it has two lengths of the body.
    """
    target = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if target > settings.max_header_bytes:
        raise RestError(414, "HTTP 414 URI Too Long")
    if target + sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > settings.max_header_bytes:
        raise RestError(431, "HTTP 431 Request Header Fields Too Large")
    names = {name for name, _ in scope["headers"]}
    if b"content-length" in names and b"transfer-encoding" in names:
        # Servers that differ in which of the two counts see different requests in one connection (RFC 9112, 6.1).
        raise RestError(400, "HTTP 400 Bad Request: Content-Length and Transfer-Encoding", headers=_CLOSE)


def check_origin(scope: Scope, settings: RestSettings) -> None:
    """Refuses what a page of another origin has sent.

    Raises:
        RestError: with status 403: a ``Host`` that is not ours (DNS rebinding), a change asked for across origins;
            400: no ``Host``, or two.
    """
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or not hosts[0]:
        raise RestError(400, "HTTP 400 Bad Request: exactly one Host header is needed", typed=False)
    if not _host_allowed(hosts[0], scope, settings):
        raise RestError(
            403,
            f"Host {hosts[0]!r:.80} is none of this worker's names; if it should be one, name it as an allowed host",
        )
    if scope["method"] in WRITES:
        _check_same_origin(headers, f"{scope['scheme']}://{hosts[0]}".lower(), settings)


def _host_allowed(host: str, scope: Scope, settings: RestSettings) -> bool:
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


def _check_same_origin(headers: Headers, own: str, settings: RestSettings) -> None:
    allowed = {own, *(each.lower().rstrip("/") for each in settings.allowed_origins)}
    origins = headers.getlist("origin")
    foreign = [origin for origin in origins if origin.lower() not in allowed]
    # A browser that leaves Origin out still says where the page is from; "none" is the user's own doing.
    sites = {site.lower() for site in headers.getlist("sec-fetch-site")} - {"same-origin", "none"}
    if foreign or (sites and not origins):
        raise RestError(403, "Pages of other origins may not change anything here")


def check_content_type(scope: Scope) -> None:
    """Refuses a content type that is none, whatever is asked for.

    Raises:
        RestError: with status 400.
    """
    said = Headers(scope=scope).get("content-type")
    if said is not None and not _MEDIA_TYPE.match(said):
        raise RestError(400, "HTTP 400 Bad Request: the content type is none")


def check_takes_json(request: Request) -> None:
    """Refuses what says that it brings something else than JSON, as Jersey does whether there is a body or not.

    Raises:
        RestError: with status 415.
    """
    if _said_type(request) not in (None, *_WILDCARDS, _JSON):
        raise RestError(415, "HTTP 415 Unsupported Media Type", typed=False)


def _said_type(request: Request) -> str | None:
    said: str | None = request.headers.get("content-type")
    return None if said is None else said.partition(";")[0].strip().lower()


async def read_body(request: Request, settings: RestSettings) -> bytes:
    """The whole body.

    Raises:
        RestError: with status 413 if it is too long, 408 if it takes too long or breaks off, 415 if there is one that
            does not say that it is JSON.
    """
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            body = await _within_bound(request, settings.max_body_bytes)
    except (TimeoutError, ClientDisconnect) as error:
        raise RestError(408, "HTTP 408 Request Timeout", headers=_CLOSE) from error
    if body and _said_type(request) != _JSON:
        raise RestError(415, "HTTP 415 Unsupported Media Type")
    return body


async def _within_bound(request: Request, bound: int) -> bytes:
    parts = bytearray()
    length = 0
    async for part in request.stream():
        length += len(part)
        if length <= bound:
            parts += part
        elif length > _DRAINED * bound:
            raise _too_long()
    if length > bound:
        raise _too_long()
    return bytes(parts)


def _too_long() -> RestError:
    return RestError(413, "HTTP 413 Request Entity Too Large", headers=_CLOSE)
