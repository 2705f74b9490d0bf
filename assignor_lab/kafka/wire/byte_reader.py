"""Reader of big-endian numbers in bytes, with its position."""

from __future__ import annotations

import struct
from collections.abc import Callable

from assignor_lab.kafka.wire.errors import WireError

__all__ = ["ByteReader"]

_INT_16, _UINT_16, _INT_32, _INT_64 = (struct.Struct(f">{code}") for code in "hHiq")


class ByteReader:
    """A position in some bytes."""

    __slots__ = ("_data", "_too_short", "position")

    def __init__(self, data: bytes, too_short: Callable[[str, int], WireError]) -> None:
        self._data = data
        self._too_short = too_short
        self.position = 0

    def __len__(self) -> int:
        return len(self._data)

    @property
    def remaining(self) -> int:
        return len(self._data) - self.position

    def int8(self) -> int:
        byte = self.take(1)[0]
        return byte - 256 if byte > 127 else byte

    def int16(self) -> int:
        return self._number(_INT_16)

    def uint16(self) -> int:
        return self._number(_UINT_16)

    def int32(self) -> int:
        return self._number(_INT_32)

    def int64(self) -> int:
        return self._number(_INT_64)

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes.

        Raises:
            WireError: of the kind from ``too_short``, if there are fewer.
        """
        start = self.position
        if size > len(self._data) - start:
            raise self._too_short(f"{size} bytes expected here, {len(self._data) - start} left", start)
        self.position = start + size
        return self._data[start : start + size]

    def _number(self, shape: struct.Struct) -> int:
        return int(shape.unpack(self.take(shape.size))[0])
