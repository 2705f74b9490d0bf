"""Primitive types of Connect's messages, to and from bytes, big-endian (Kafka: ``ConnectProtocol``)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.kafka.wire.byte_reader import ByteReader
from assignor_lab.kafka.wire.connect.errors import ConnectSchemaError
from assignor_lab.kafka.wire.texts import decode_utf8, encode_utf8

__all__ = [
    "CONNECTOR_INSTANCE",
    "FieldReader",
    "JobLists",
    "int16_bytes",
    "int32_bytes",
    "int64_bytes",
    "jobs_bytes",
    "nullable_bytes",
    "string_bytes",
]

#: Number of the connector instance itself in lists of tasks.
CONNECTOR_INSTANCE = -1

_MAX_STRING_BYTES = 2**15 - 1
_INT_16, _INT_32, _INT_64 = (struct.Struct(f">{code}") for code in "hiq")


@attrs.frozen
class JobLists:
    """Connector instances and tasks in the bytes: in their order, with duplicates."""

    connectors: tuple[str, ...] = ()
    tasks: tuple[ConnectorTaskId, ...] = ()


class FieldReader:
    """Reads fields one after another; each error names the field and the byte."""

    __slots__ = ("_base", "_field", "_path", "_reader")

    def __init__(self, data: bytes, base: int = 0, path: str = "") -> None:
        self._reader = ByteReader(data, self._error)
        self._base = base
        self._path = path
        self._field = ""

    @property
    def remaining(self) -> int:
        return self._reader.remaining

    @property
    def position(self) -> int:
        """Index of the next byte in the whole message."""
        return self._base + self._reader.position

    def int16(self, field: str) -> int:
        self._field = field
        return self._reader.int16()

    def int32(self, field: str) -> int:
        self._field = field
        return self._reader.int32()

    def int64(self, field: str) -> int:
        self._field = field
        return self._reader.int64()

    def string(self, field: str) -> str:
        """A text; malformed UTF-8 is replaced as in Java."""
        start = self._reader.position
        size = self.int16(field)
        if size < 0:
            raise self._error(f"a text of {size} bytes", start)
        return decode_utf8(self._reader.take(size))

    def nullable_message(self, field: str) -> FieldReader | None:
        """A reader of the nested message, or ``None`` for null (any negative size)."""
        size = self.int32(field)
        if size < 0:
            return None
        start = self._reader.position
        return FieldReader(self._reader.take(size), self._base + start, f"{self._path}{field} > ")

    def nullable_jobs(self, field: str) -> JobLists | None:
        """Connector instances and tasks in the order of the bytes, or ``None`` for null (any negative count).

        Counts are checked against the remaining bytes: time and memory are linear in them.
        """
        start = self._reader.position
        count = self.int32(field)
        if count < 0:
            return None
        self._check_count(count, start)
        connectors: list[str] = []
        tasks: list[ConnectorTaskId] = []
        for _ in range(count):
            connector = self.string(field)
            for number in self._int32_array(field):
                if number == CONNECTOR_INSTANCE:
                    connectors.append(connector)
                else:
                    tasks.append(ConnectorTaskId(connector, number))
        return JobLists(tuple(connectors), tuple(tasks))

    def _int32_array(self, field: str) -> Sequence[int]:
        start = self._reader.position
        count = self.int32(field)
        if count < 0:
            raise self._error(f"a list of {count} numbers", start)
        return struct.unpack(f">{count}i", self._reader.take(4 * count))

    def _check_count(self, count: int, start: int) -> None:
        if count > self._reader.remaining:
            raise self._error(f"a list of {count}, {self._reader.remaining} bytes left", start)

    def _error(self, reason: str, position: int) -> ConnectSchemaError:
        return ConnectSchemaError(f"field {self._path}{self._field}: {reason}", self._base + position)


def int16_bytes(field: str, number: int) -> bytes:
    """Two bytes.

    Raises:
        ConnectSchemaError: if the number does not fit; the same for the other sizes.
    """
    return _packed(_INT_16, field, number)


def int32_bytes(field: str, number: int) -> bytes:
    return _packed(_INT_32, field, number)


def int64_bytes(field: str, number: int) -> bytes:
    return _packed(_INT_64, field, number)


def string_bytes(field: str, text: str) -> bytes:
    """Size and UTF-8 of a text; half of a surrogate pair becomes a question mark, as in Java.

    Raises:
        ConnectSchemaError: if it takes more than 32,767 bytes.
    """
    encoded = encode_utf8(text)
    if len(encoded) > _MAX_STRING_BYTES:
        raise ConnectSchemaError(f"field {field}: a text of {len(encoded)} bytes, {_MAX_STRING_BYTES} are possible")
    return _INT_16.pack(len(encoded)) + encoded


def nullable_bytes(data: bytes | None) -> bytes:
    """Size and bytes, or -1 for null."""
    return _INT_32.pack(-1) if data is None else _INT_32.pack(len(data)) + data


def jobs_bytes(field: str, connectors: Iterable[str], tasks: Iterable[ConnectorTaskId]) -> bytes:
    """A list with an entry for each connector, in the order of its first appearance in connectors and then tasks."""
    by_connector: dict[str, list[int]] = {connector: [CONNECTOR_INSTANCE] for connector in connectors}
    for task in tasks:
        by_connector.setdefault(task.connector, []).append(task.task)
    parts = [int32_bytes(field, len(by_connector))]
    for connector, numbers in by_connector.items():
        parts.append(string_bytes(field, connector))
        parts.append(int32_bytes(field, len(numbers)))
        parts.extend(int32_bytes(field, number) for number in numbers)
    return b"".join(parts)


def _packed(shape: struct.Struct, field: str, number: int) -> bytes:
    try:
        return shape.pack(number)
    except struct.error:
        raise ConnectSchemaError(f"field {field}: {number} does not fit into {shape.size} bytes") from None
