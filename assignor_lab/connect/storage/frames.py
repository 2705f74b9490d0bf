"""Frames: how bytes lie in the log files, and how a torn end is told from damage.

A file is the line ``assignor-log 1`` and frames after it. A frame is 12 bytes of head and a payload: its size, the
CRC-32 of the payload, and the CRC-32 of these 8 bytes, each four bytes, big-endian. A frame is written by one call and
is there as a whole or not at all: what a crash leaves of the last one is cut off.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from assignor_lab.connect.storage.errors import LogCorruptError

__all__ = ["MAGIC", "frame_of", "scan"]

#: First bytes of every log file.
MAGIC = b"assignor-log 1\n"

_HEAD = struct.Struct(">III")
_SIZES = struct.Struct(">II")


def frame_of(payload: bytes) -> bytes:
    """A frame around ``payload``."""
    sizes = _SIZES.pack(len(payload), zlib.crc32(payload))
    return sizes + struct.pack(">I", zlib.crc32(sizes)) + payload


def scan(path: Path, data: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """Frames of a file.

    Args:
        path: The file, for errors.
        data: What is in it.

    Returns:
        Position and payload of each frame, and where the last good one ends; a torn end follows there.

    Raises:
        LogCorruptError: if there are good frames behind bad bytes, or the file is none of ours.
    """
    if not data.startswith(MAGIC):
        if MAGIC.startswith(data) or not data.strip(b"\0"):
            # The crash came while the file was being made.
            return [], 0
        raise LogCorruptError(f"{path}: not a log of this project: move it away, or name another data directory")
    frames = []
    position = len(MAGIC)
    while (payload := _payload_at(data, position)) is not None:
        frames.append((position, payload))
        position += _HEAD.size + len(payload)
    if position < len(data):
        _check_nothing_follows(path, data, position)
    return frames, position


def _payload_at(data: bytes, position: int) -> bytes | None:
    if position + _HEAD.size > len(data):
        return None
    size, checksum, head_checksum = _HEAD.unpack_from(data, position)
    if zlib.crc32(data[position : position + _SIZES.size]) != head_checksum:
        return None
    start = position + _HEAD.size
    payload = data[start : start + size]
    return payload if len(payload) == size and zlib.crc32(payload) == checksum else None


def _check_nothing_follows(path: Path, data: bytes, position: int) -> None:
    """A crash damages the end alone: what was written before it was complete."""
    for later in range(position + 1, len(data) - _HEAD.size):
        # An all-zero head has the wrong checksum, so that zeros at the end cost one step each and nothing more.
        if _payload_at(data, later) is not None:
            raise LogCorruptError(
                f"{path}: bytes {position} to {later} are damaged, and good records follow: restore the file from a "
                "copy; if what is behind them may be lost, cut the file off at the first of these bytes"
            )
