"""Compression of record batches: gzip by the standard library, the other codecs by pyarrow. Output is bounded.

By default coordinators do not compress (``offsets.topic.compression.codec``).
"""

from __future__ import annotations

import zlib
from typing import Any

__all__ = ["BatchCompressionError", "decompressed"]

_GZIP, _SNAPPY, _LZ4, _ZSTD = 1, 2, 3, 4
_NAMES = {_GZIP: "gzip", _SNAPPY: "snappy", _LZ4: "lz4", _ZSTD: "zstd"}
#: snappy-java: magic, version, compatible version.
_XERIAL = b"\x82SNAPPY\0"
_XERIAL_HEAD = 16


class BatchCompressionError(Exception):
    """A batch cannot be decompressed."""


def decompressed(codec: int, data: bytes, most: int) -> bytes:
    if codec not in _NAMES:
        raise BatchCompressionError(f"it is compressed by codec {codec}, which is not known")
    try:
        found = _gunzipped(data, most) if codec == _GZIP else _by_arrow(codec, data, most)
    except (OSError, EOFError, ValueError, IndexError, MemoryError, zlib.error) as error:
        raise BatchCompressionError(f"its {_NAMES[codec]} is garbled ({error})") from error
    if len(found) > most:
        raise BatchCompressionError(f"decompressed it has more than {most:,} bytes")
    return found


def _gunzipped(data: bytes, most: int) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(data, most + 1)


def _by_arrow(codec: int, data: bytes, most: int) -> bytes:
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise BatchCompressionError(
            f"it is compressed with {_NAMES[codec]}: install the Python package pyarrow, which reads that"
        ) from None
    if codec != _SNAPPY:
        with pa.CompressedInputStream(pa.BufferReader(data), _NAMES[codec]) as stream:
            return bytes(stream.read(most + 1))
    if not data.startswith(_XERIAL):
        return _unsnapped(pa, data, most)
    found, position = bytearray(), _XERIAL_HEAD
    while position < len(data) and len(found) <= most:
        end = position + 4 + int.from_bytes(data[position : position + 4], "big")
        if end > len(data):
            raise ValueError("a block is cut off")
        found += _unsnapped(pa, data[position + 4 : end], most)
        position = end
    return bytes(found)


def _unsnapped(pyarrow: Any, block: bytes, most: int) -> bytes:
    size, shift = 0, 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if size > most:
        raise ValueError(f"a block claims {size:,} bytes")
    return bytes(pyarrow.Codec("snappy").decompress(block, decompressed_size=size, asbytes=True))
