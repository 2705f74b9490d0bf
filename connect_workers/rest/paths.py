"""Paths as received; ambiguous ones are refused."""

from __future__ import annotations

import re
import urllib.parse

from connect_workers.rest.answers import RestError

__all__ = ["checked_path", "connector_path"]

_BAD_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_ODD = re.compile(rb"[^!-~]|[\\;<>\"`{}|^]")


def checked_path(raw: bytes) -> str:
    """The path to route by, still percent-encoded, without the slash at its end.

    Jetty refuses the same paths, with an HTML page; a name with an encoded slash is refused there, and taken here.

    Raises:
        RestError: with status 400: dots that lead elsewhere, empty parts, control characters, bytes that are not
            UTF-8, parts that are not percent-encoded in order.
    """
    if raw == b"*":
        raise RestError(404, "HTTP 404 Not Found", typed=False)
    if not raw.startswith(b"/"):
        raise _refusal("a host of its own")
    if _BAD_PERCENT.search(raw):
        raise _refusal("a percent sign that is not followed by two hexadecimal digits")
    if _ODD.search(raw):
        raise _refusal("a character that has to be percent-encoded")
    segments = raw[1:].split(b"/")
    if segments and segments[-1] == b"":
        segments.pop()
    for segment in segments:
        _check_segment(segment)
    return "/" + b"/".join(segments).decode("ascii")


def _check_segment(segment: bytes) -> None:
    if not segment:
        raise _refusal("an empty part between two slashes")
    try:
        text = urllib.parse.unquote_to_bytes(segment).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal("bytes that are not UTF-8") from error
    if text in (".", ".."):
        raise _refusal("a part of dots only")
    if any(part in (".", "..") for part in re.split(r"[/\\]", text)):
        raise _refusal("dots that lead elsewhere")
    if any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in text):
        raise _refusal("a control character")


def _refusal(fault: str) -> RestError:
    return RestError(400, f"HTTP 400 Bad Request: the path has {fault}")


def connector_path(connector: str, *rest: str) -> str:
    return "/".join(["/connectors", *(urllib.parse.quote(part, safe="") for part in (connector, *rest))])
