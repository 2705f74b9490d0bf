"""Files of frames: the layout of the logs, and the difference of a torn end and damage.

A file is the line ``assignor-log 1`` and frames after it. A frame is 12 bytes of head and a payload: its size, the
CRC-32 of the payload, and the CRC-32 of these 8 bytes, each four bytes, big-endian. A frame is there as a whole or not
at all: an incomplete last frame, left by a crash, is cut off when the file is opened.
"""

from __future__ import annotations

import logging
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from assignor_lab.documents.durable import replacing, sync
from connect_workers.storage.errors import LogCorruptError

__all__ = ["MAGIC", "FrameFile", "frame_of"]

_logger = logging.getLogger(__name__)

#: First bytes of every log file.
MAGIC = b"assignor-log 1\n"

_HEAD = struct.Struct(">III")
_SIZES = struct.Struct(">II")


def frame_of(payload: bytes) -> bytes:
    sizes = _SIZES.pack(len(payload), zlib.crc32(payload))
    return sizes + struct.pack(">I", zlib.crc32(sizes)) + payload


class FrameFile:
    """A file of frames, open for reading and appending.

    After a failure the file goes on where it was: bytes on disk stay untouched, and the failed part is written anew
    or cut off before anything follows it. Appending is for one thread at a time, and so is :meth:`sync`; the two may
    run side by side.

    Args:
        path: The file, made if it is not there, for its owner alone.
        take: Called with place and payload of each existing frame, in order.

    Raises:
        LogCorruptError: if good frames follow bad bytes, or the file is none of ours.
        OSError: if it cannot be read or written.
    """

    def __init__(self, path: Path, take: Callable[[int, bytes], None]) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            #: Where the next frame begins, and up to where everything is on disk.
            self.size = self.synced = self._opened(take)
        except BaseException:
            os.close(self._file)
            raise
        #: Whether the system has given up a write since ``synced``, and whether it keeps the file's name.
        self._given_up = False
        self._name_kept = True

    def _opened(self, take: Callable[[int, bytes], None]) -> int:
        with self.path.open("rb") as file:
            good = _read_all(self.path, file, take)
        torn = self.path.stat().st_size - good
        if torn > 0:
            _logger.warning("%s: %d bytes of an unfinished write cut off", self.path, torn)
        os.ftruncate(self._file, good)
        if good == 0:
            _write_at(self._file, MAGIC, 0)
            good = len(MAGIC)
        os.fsync(self._file)
        sync(self.path.parent)
        return good

    def append(self, payload: bytes) -> int:
        """Writes a frame, which is on disk after the next :meth:`sync`, and returns its place.

        Raises:
            OSError: if that failed; there is no frame then.
        """
        frame, place = frame_of(payload), self.size
        # Part of a frame that could not be written is written over.
        _write_at(self._file, frame, place)
        self.size += len(frame)
        return place

    def sync(self) -> None:
        """Returns when everything appended before the call is on disk.

        Raises:
            OSError: if that failed; another call tries again.
        """
        upto = self.size
        if upto == self.synced:
            return
        if self._given_up:
            # Linux takes pages that it could not write for clean: they have to be made dirty again.
            _write_at(self._file, os.pread(self._file, upto - self.synced, self.synced), self.synced)
        try:
            os.fsync(self._file)
            if not self._name_kept:
                sync(self.path.parent)
        except OSError:
            self._given_up = True
            raise
        self._given_up, self._name_kept, self.synced = False, True, upto

    def cut_back(self) -> None:
        """Removes bytes that may not be on disk, so that no crash can bring them back.

        Raises:
            OSError: if that failed; nothing may be appended before it has worked.
        """
        if self.size == self.synced and not self._given_up:
            return
        os.ftruncate(self._file, self.synced)
        os.fsync(self._file)
        self.size, self._given_up = self.synced, False

    def read(self, place: int, end: int) -> bytes:
        """Payload of the frame from ``place`` to ``end``.

        Raises:
            LogCorruptError: if it has changed since it was written.
            OSError: if it cannot be read.
        """
        payload = _payload_at(os.pread(self._file, end - place, place), 0)
        if payload is None or len(payload) != end - place - _HEAD.size:
            raise LogCorruptError(f"{self.path}: the frame at byte {place} has changed since it was written")
        return payload

    def replace(self, payloads: Iterable[bytes]) -> None:
        """Puts a new file with these frames, on disk, in the place of this one; everything has been synced before.

        Raises:
            OSError: if that failed; the old file goes on.
        """
        new = -1
        try:
            with replacing(self.path) as part:
                part.write_bytes(MAGIC + b"".join(map(frame_of, payloads)))
                new = os.open(part, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            if new < 0:
                raise
            if not os.path.samestat(os.fstat(new), self.path.stat()):
                os.close(new)
                raise
            # It has the name, and a loss of power could still take that away: the next sync is of the folder, too.
            self._name_kept = False
        os.close(self._file)
        self._file, self._given_up = new, False
        self.size = self.synced = os.fstat(new).st_size

    def close(self) -> None:
        os.close(self._file)
        self._file = -1


def _read_all(path: Path, file: BinaryIO, take: Callable[[int, bytes], None]) -> int:
    """Gives all frames to ``take``, and returns where the last good one ends; 0: the file has not been begun."""
    magic = file.read(len(MAGIC))
    if magic != MAGIC:
        if MAGIC.startswith(magic) or not (magic + file.read()).strip(b"\0"):
            return 0
        raise LogCorruptError(f"{path}: not a log of this project: move it away, or name another data directory")
    good = len(MAGIC)
    for place, payload in _frames_in(file):
        take(place, payload)
        good = place + _HEAD.size + len(payload)
    file.seek(good)
    _check_nothing_follows(path, good, file.read())
    return good


def _frames_in(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Place and payload of each frame up to the first that is none."""
    place = len(MAGIC)
    while len(head := file.read(_HEAD.size)) == _HEAD.size:
        payload = _payload(head, file.read)
        if payload is None:
            return
        yield place, payload
        place += _HEAD.size + len(payload)


def _payload(head: bytes, read: Callable[[int], bytes]) -> bytes | None:
    size, checksum, head_checksum = _HEAD.unpack(head)
    if zlib.crc32(head[: _SIZES.size]) != head_checksum:
        return None
    payload = read(size)
    return payload if len(payload) == size and zlib.crc32(payload) == checksum else None


def _payload_at(data: bytes, place: int) -> bytes | None:
    start = place + _HEAD.size
    head = data[place:start]
    return _payload(head, lambda size: data[start : start + size]) if len(head) == _HEAD.size else None


def _check_nothing_follows(path: Path, good: int, data: bytes) -> None:
    """Checks that no good frame follows: a crash damages only the end."""
    for later in range(1, len(data) - _HEAD.size):
        # An all-zero head has the wrong checksum, so that zeros at the end cost one step each and nothing more.
        if _payload_at(data, later) is not None:
            raise LogCorruptError(
                f"{path}: bytes {good} to {good + later} are damaged, and good records follow: restore the file from a "
                "copy, or cut it off at the first of these bytes, which loses those records"
            )


def _write_at(file: int, data: bytes, place: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, place)
        view, place = view[written:], place + written
