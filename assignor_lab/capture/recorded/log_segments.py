"""Records about groups in copies of the coordinators' log segments.

Needs the extra ``kafka``.

Unreadable parts are counted and skipped: a batch with a wrong checksum, the rest of a file after an invalid header,
half a batch at the end. Other records are skipped by the first bytes of their keys. The checksum of a batch, which
costs more than all the rest, is checked only if a record is taken from it. Memory is bounded by the largest batch
(:data:`MOST_BYTES`).

Source: Kafka's documentation, "Record batch"; the checksum is CRC-32C of the bytes after it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import attrs

from assignment_api.input_files import open_input
from assignor_lab.capture.recorded.batch_compression import BatchCompressionError, decompressed
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.capture.recorded.group_records import GROUP_RECORD_TYPES
from assignor_lab.documents.errors import DocumentFormatError

__all__ = ["MOST_BYTES", "Segment", "SegmentFault", "find_segments", "read_segment"]

#: The longest batch, also after decompression.
MOST_BYTES = 64 * 1024 * 1024

#: Base offset, length of the rest, epoch of the leader, magic, checksum.
_HEAD = struct.Struct(">qiibI")
#: Attributes, last offset delta, first and latest timestamp, producer's id, epoch and sequence, number of records.
_BODY = struct.Struct(">hiqqqhii")
_LENGTH_AT, _COUNTED_FROM = 8, 12
_MAGIC = 2
_COMPRESSION, _IS_APPEND_TIME, _IS_CONTROL = 0x07, 0x08, 0x20
_FOLDER = re.compile(r"__consumer_offsets-([0-9]{1,9})\Z")
_NAME = re.compile(r"[0-9]{20}\.log\Z")


@attrs.frozen(order=True)
class Segment:
    """A segment's file."""

    partition: int
    name: str
    path: Path


@attrs.frozen
class SegmentFault:
    """An unreadable part of a segment."""

    path: Path
    byte: int
    length: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.length:,} bytes at byte {self.byte:,} are passed over: {self.reason}"


def find_segments(paths: Iterable[Path]) -> list[Segment]:
    """Paths: files, or folders such as ``__consumer_offsets-12``. The result is by partition and offset."""
    found = set()
    for path in paths:
        files = sorted(each for each in path.glob("*.log") if _NAME.match(each.name)) if path.is_dir() else [path]
        if not files:
            raise DocumentFormatError(
                str(path), None, "", "has no segment: name a partition's folder, __consumer_offsets-N, or files *.log"
            )
        for file in files:
            folder = _FOLDER.match(file.resolve().parent.name)
            _check_beginning(file)
            found.add(Segment(int(folder[1]) if folder else 0, file.name, file))
    return sorted(found)


def _check_beginning(file: Path) -> None:
    try:
        with open_input(file) as stream:
            head = stream.read(_HEAD.size)
    except OSError as error:
        raise DocumentFormatError(str(file), None, "", f"cannot be read: {error.strerror or error}") from error
    if not head.strip(b"\0"):
        return
    if len(head) < _HEAD.size or _HEAD.unpack(head)[3] != _MAGIC:
        raise DocumentFormatError(
            str(file), None, "", "is no log segment of Kafka 0.11 or later: name files *.log of __consumer_offsets"
        )


def read_segment(file: Path, on_fault: Callable[[SegmentFault], None]) -> Iterator[Sequence[GroupRecord]]:
    """A sequence for each batch, which may be empty."""
    try:
        size = file.stat().st_size
        with open_input(file) as stream:
            yield from _batches(file, stream, size, on_fault)
    except OSError as error:
        raise DocumentFormatError(str(file), None, "", f"cannot be read: {error.strerror or error}") from error


def _batches(
    file: Path, stream: BinaryIO, size: int, on_fault: Callable[[SegmentFault], None]
) -> Iterator[Sequence[GroupRecord]]:
    position = 0
    while position < size:
        head = stream.read(_HEAD.size)
        if not head.strip(b"\0"):
            # Segments can be longer than their content (log.preallocate).
            return
        if len(head) < _HEAD.size:
            on_fault(SegmentFault(file, position, size - position, "a batch is cut off"))
            return
        base, length, _, magic, checksum = _HEAD.unpack(head)
        end = position + _COUNTED_FROM + length
        why = _why_no_batch(base, length, magic)
        if why is None and end > size:
            why = "a batch is cut off"
        if why is not None:
            on_fault(SegmentFault(file, position, size - position, why))
            return
        content = stream.read(end - position - _HEAD.size)
        try:
            yield _of_batch(base, content, checksum)
        except _GarbledBatchError as error:
            on_fault(SegmentFault(file, position, end - position, str(error)))
            yield ()
        position = end


def _why_no_batch(base: int, length: int, magic: int) -> str | None:
    if magic != _MAGIC:
        return "the bytes are no record batch of format 2"
    if base < 0 or length < _HEAD.size - _COUNTED_FROM + _BODY.size:
        return "the bytes are no record batch"
    if length > MOST_BYTES:
        return f"a batch claims {length:,} bytes"
    return None


class _GarbledBatchError(Exception):
    """A batch cannot be read."""


def _of_batch(base: int, content: bytes, checksum: int) -> Sequence[GroupRecord]:
    attributes, _, first_ms, latest_ms, _, _, _, count = _BODY.unpack_from(content)
    if attributes & _IS_CONTROL:
        return ()
    records: Sequence[GroupRecord] = ()
    why = ""
    try:
        data, position = content, _BODY.size
        if attributes & _COMPRESSION:
            data, position = decompressed(attributes & _COMPRESSION, content[_BODY.size :], MOST_BYTES), 0
        records = _about_groups(data, position, count, base, first_ms)
    except BatchCompressionError as error:
        why = str(error)
    except (IndexError, ValueError) as error:
        why = f"its records are garbled ({error})"
    if why or records:
        from kafka.record.util import calc_crc32c

        if calc_crc32c(content) != checksum:
            raise _GarbledBatchError("the checksum of a batch is wrong")
    if why:
        raise _GarbledBatchError(why)
    if attributes & _IS_APPEND_TIME:
        return [attrs.evolve(each, time_ms=latest_ms) for each in records]
    return records


def _about_groups(data: bytes, position: int, count: int, base: int, first_ms: int) -> list[GroupRecord]:
    found = []
    for _ in range(count):
        length, position = _varint(data, position)
        end = position + length
        if length < 0 or end > len(data):
            raise ValueError(f"a record claims {length:,} bytes")
        # A byte of attributes, unused so far.
        since_ms, position = _varint(data, position + 1)
        delta, position = _varint(data, position)
        key_length, position = _varint(data, position)
        if key_length >= 2 and (data[position] << 8 | data[position + 1]) in GROUP_RECORD_TYPES:
            key_end = position + key_length
            value_length, position = _varint(data, key_end)
            if position + max(value_length, 0) > end:
                raise ValueError(f"a value claims {value_length:,} bytes")
            value = data[position : position + value_length] if value_length >= 0 else None
            found.append(GroupRecord(base + delta, first_ms + since_ms, data[key_end - key_length : key_end], value))
        position = end
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Kafka: ``ByteUtils#readVarlong``."""
    byte = data[position]
    position += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position
    value, shift = byte & 0x7F, 7
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than ten bytes")
