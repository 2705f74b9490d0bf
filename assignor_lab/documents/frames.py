"""Frames between Python and Java: four bytes, the length, big-endian; then so many bytes of JSON that end a line.

The Java side is ``java/shared/assignorlab/wire/Frames.java``. How a frame is waited for, and how far what it holds is
believed, is a matter of who reads it.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["LENGTH_BYTES", "FrameError", "framed", "length_in"]

LENGTH_BYTES = 4


class FrameError(Exception):
    """What came is no frame; the text says what was announced or found."""


def framed(document: Any) -> bytes:
    """A document as it travels."""
    # Escaped throughout: lone surrogates in names have no UTF-8.
    content = json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def length_in(head: bytes, most_bytes: int) -> int:
    """The bytes that follow the first ``LENGTH_BYTES`` of a frame.

    Raises:
        FrameError: if there are none, or more than ``most_bytes``.
    """
    length = int.from_bytes(head, "big")
    if not 0 < length <= most_bytes:
        raise FrameError(f"a frame of {length:,} bytes was announced, and 1 to {most_bytes:,} are read")
    return length
