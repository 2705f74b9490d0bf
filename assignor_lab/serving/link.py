"""The connection between a Java application and this process: frames with limits of time and size.

The other end can only cost a bounded time, and memory for bytes that it has really sent.
"""

from __future__ import annotations

import os
import select
from time import monotonic
from typing import Any

from assignor_lab.documents.frames import LENGTH_BYTES, FramingError, framed, length_in
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Mismatch
from assignor_lab.serving.errors import PeerError

__all__ = ["FRAME_SECONDS", "MAX_FRAME_BYTES", "DescriptorLink"]

#: Longest frame: the longest line of a scenario file.
MAX_FRAME_BYTES = 64 * 2**20
#: Seconds for the rest of a frame after its first byte, in both directions.
FRAME_SECONDS = 10.0
_BLOCK = 65_536


class DescriptorLink:
    """Two descriptors, made non-blocking: input and output."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        for descriptor in (source, target):
            os.set_blocking(descriptor, False)

    def waits(self, seconds: float | None, stopped: int | None = None) -> bool:
        """Waits for the first byte of a frame, or for the end of the connection.

        Args:
            seconds: Longest wait; ``None``: unlimited.
        """
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        if stopped is not None:
            poll.register(stopped, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(None if seconds is None else seconds * 1_000)]
        return self._source in ready

    def receive(self, most_bytes: int = MAX_FRAME_BYTES, seconds: float = FRAME_SECONDS) -> Any:
        """The next frame's document; ``None`` if the other end has closed the connection between two frames.

        Raises:
            PeerError: if it is too long, no JSON, incomplete, or too slow.
        """
        end = monotonic() + seconds
        head = self._read(LENGTH_BYTES, end)
        if head is None:
            return None
        try:
            length = length_in(head, most_bytes)
        except FramingError as error:
            raise PeerError(str(error)) from None
        content = self._read(length, end)
        if content is None:
            raise PeerError("the connection was closed in the middle of a frame")
        try:
            return parse_json(content)
        except Mismatch as error:
            raise PeerError(f"a frame holds no JSON: {error}") from None

    def send(self, document: Any, seconds: float = FRAME_SECONDS) -> None:
        """Sends a document.

        Raises:
            PeerError: if the other end is gone, or too slow.
        """
        end = monotonic() + seconds
        rest = memoryview(framed(document))
        while rest:
            try:
                rest = rest[os.write(self._target, rest) :]
            except BlockingIOError:
                self._wait(self._target, select.POLLOUT, end)
            except OSError as error:
                raise PeerError(f"the connection was closed: {error.strerror}") from None

    def _read(self, count: int, end: float) -> bytes | None:
        received = bytearray()
        while len(received) < count:
            try:
                part = os.read(self._source, min(_BLOCK, count - len(received)))
            except BlockingIOError:
                self._wait(self._source, select.POLLIN, end)
                continue
            except OSError as error:
                raise PeerError(f"the connection was closed: {error.strerror}") from None
            if not part:
                if received:
                    raise PeerError("the connection was closed in the middle of a frame")
                return None
            received += part
        return bytes(received)

    def _wait(self, descriptor: int, event: int, end: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = end - monotonic()
        if left <= 0 or not poll.poll(left * 1_000):
            raise PeerError("a frame did not get through in time")
