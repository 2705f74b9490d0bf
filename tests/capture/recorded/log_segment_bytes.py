"""Log segments of the coordinators' topic, built byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import pyarrow as pa
from kafka.record.util import calc_crc32c, encode_varint

from assignor_lab.capture.recorded.group_history import GroupRecord

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def record_key(kind: int, *texts: str) -> bytes:
    return struct.pack(">h", kind) + b"".join(struct.pack(">h", len(text)) + text.encode() for text in texts)


def offset_commit(group: str, number: int) -> tuple[bytes, bytes]:
    key = record_key(1, group, "some-topic") + struct.pack(">i", number % 100)
    return key, struct.pack(">hqih", 3, number, -1, 0) + struct.pack(">q", 1_700_000_000_000 + number)


def batch(
    records: Iterable[GroupRecord],
    codec: str = "none",
    *,
    attributes: int = 0,
    latest_ms: int | None = None,
    is_sealed: bool = True,
) -> bytes:
    """One record batch with the records' offsets and times; its checksum is 0 unless it is sealed."""
    listed = list(records)
    base, first_ms = listed[0].offset, listed[0].time_ms
    content = b"".join(_record(each, base, first_ms) for each in listed)
    body = struct.pack(
        ">hiqqqhii", CODECS[codec] | attributes, listed[-1].offset - base, first_ms,
        max(each.time_ms for each in listed) if latest_ms is None else latest_ms, -1, -1, -1, len(listed),
    ) + compressed(content, codec)  # fmt: skip
    return struct.pack(">qiibI", base, 9 + len(body), 0, 2, calc_crc32c(body) if is_sealed else 0) + body


def _record(each: GroupRecord, base: int, first_ms: int) -> bytes:
    value = b"" if each.value is None else each.value
    body = bytearray(b"\0")
    encode_varint(each.time_ms - first_ms, body.append)
    encode_varint(each.offset - base, body.append)
    encode_varint(len(each.key), body.append)
    body += each.key
    encode_varint(-1 if each.value is None else len(value), body.append)
    body += value
    encode_varint(0, body.append)
    length = bytearray()
    encode_varint(len(body), length.append)
    return bytes(length + body)


def compressed(content: bytes, codec: str) -> bytes:
    if codec == "none":
        return content
    if codec == "snappy":
        half = len(content) // 2
        blocks = [pa.compress(part, "snappy", asbytes=True) for part in (content[:half], content[half:])]
        framed = b"".join(struct.pack(">i", len(block)) + block for block in blocks)
        return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + framed
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return bytes(sink.getvalue())
