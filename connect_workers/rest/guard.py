"""Checks of a request's content type and body.

Connect has no such checks. With them a page of another origin cannot send JSON without our leave.
"""

from __future__ import annotations

import asyncio
import re

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from assignor_lab.http.guard import CLOSE
from connect_workers.rest.answers import RestError
from connect_workers.rest.settings import RestSettings

__all__ = ["check_content_type", "check_takes_json", "read_body"]

#: A body that is too long is read on for a while: a client that is still sending may never see our answer.
_DRAINED = 8
_JSON = "application/json"
#: Compatible with it as far as there is nothing to be read.
_WILDCARDS = ("*/*", "application/*")
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\A\s*{_WORD}/{_WORD}\s*(;.*)?\Z")


def check_content_type(scope: Scope) -> None:
    """Refuses a malformed content type.

    Raises:
        RestError: with status 400.
    """
    content_type = Headers(scope=scope).get("content-type")
    if content_type is not None and not _MEDIA_TYPE.match(content_type):
        raise RestError(400, "HTTP 400 Bad Request: the content type is none")


def check_takes_json(request: Request) -> None:
    """Refuses a content type other than JSON, as Jersey does with and without a body.

    Raises:
        RestError: with status 415.
    """
    if _said_type(request) not in (None, *_WILDCARDS, _JSON):
        raise RestError(415, "HTTP 415 Unsupported Media Type", typed=False)


def _said_type(request: Request) -> str | None:
    content_type: str | None = request.headers.get("content-type")
    return None if content_type is None else content_type.partition(";")[0].strip().lower()


async def read_body(request: Request, settings: RestSettings) -> bytes:
    """The whole body.

    Raises:
        RestError: with status 413 if it is too long, 408 if it takes too long or breaks off, 415 if its
            content type is not JSON.
    """
    try:
        async with asyncio.timeout(settings.body_timeout_s):
            body = await _within_bound(request, settings.max_body_bytes)
    except (TimeoutError, ClientDisconnect) as error:
        raise RestError(408, "HTTP 408 Request Timeout", headers=CLOSE) from error
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
    return RestError(413, "HTTP 413 Request Entity Too Large", headers=CLOSE)
