"""Bytes to a server and back, for requests that no client library would send."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import attrs


@attrs.frozen
class RawAnswer:
    """A raw answer; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


async def exchange(url: str, request: bytes, *, limit_s: float = 10.0) -> RawAnswer:
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        async with asyncio.timeout(limit_s):
            writer.write(request.replace(b"{H}", f"{host}:{port}".encode()))
            await writer.drain()
            return _read(await reader.read())
    finally:
        writer.close()


def _read(answer: bytes) -> RawAnswer:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return RawAnswer(int(status.split(" ")[1]), headers, body)


def request(method: str, target: str, *headers: str, body: bytes = b"") -> bytes:
    """A request that closes its connection; ``{H}`` becomes the server's host and port."""
    lines = [f"{method} {target} HTTP/1.1", "Host: {H}", "Connection: close", *headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
