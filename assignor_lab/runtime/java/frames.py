"""Frames between Python and Java: four bytes, the length, big-endian; then so many bytes of JSON that end a line.

The Java side is ``java/shared/assignorlab/wire/Frames.java``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

__all__ = ["LENGTH_BYTES", "MOST_BYTES", "FrameError", "packed", "read"]

LENGTH_BYTES = 4
#: Longest frame that is read.
MOST_BYTES = 1 << 30


class FrameError(Exception):
    """What came is no frame."""


def packed(document: Mapping[str, Any]) -> bytes:
    """A document as a frame."""
    # Escaped throughout: lone surrogates in names have no UTF-8.
    content = json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def read(stream: IO[bytes], most: int = MOST_BYTES) -> dict[str, Any] | None:
    """The document of the next frame; ``None`` where the stream ends before it or in it.

    Raises:
        FrameError: if what comes is no frame, or longer than ``most`` bytes.
    """
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "big")
    if not 0 < length <= most:
        raise FrameError(f"a frame of {length:,} bytes")
    content = stream.read(length)
    if len(content) < length:
        return None
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FrameError("a frame without JSON") from error
    if not isinstance(document, dict):
        raise FrameError("a frame without an object")
    return document
