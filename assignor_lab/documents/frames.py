"""Frames between Python and Java: the length in four bytes, big-endian, then JSON of that length with a line end.

The Java side is ``java/shared/assignorlab/wire/Frames.java``. Readers set time limits and check the content.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["LENGTH_BYTES", "FramingError", "framed", "length_in"]

LENGTH_BYTES = 4


class FramingError(Exception):
    """The bytes are no frame; the text has the announced or found bytes."""


def framed(document: Any) -> bytes:
    # ASCII only: lone surrogates in names have no UTF-8.
    content = json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def length_in(head: bytes, most_bytes: int) -> int:
    """The length in a frame's first ``LENGTH_BYTES``.

    Raises:
        FramingError: if it is 0 or more than ``most_bytes``.
    """
    length = int.from_bytes(head, "big")
    if not 0 < length <= most_bytes:
        raise FramingError(f"a frame of {length:,} bytes was announced, and 1 to {most_bytes:,} are read")
    return length
