"""The subscription and the assignment of plain consumers, versions 0 to 3 (Kafka: ``ConsumerProtocol``).

A newer version is read as version 3, and bytes behind the last field are ignored. Repetitions and the order of the
bytes are kept.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from itertools import chain

import attrs

from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.byte_reader import ByteReader
from assignor_lab.kafka.wire.errors import WireError
from assignor_lab.kafka.wire.texts import decode_utf8, encode_utf8

__all__ = [
    "LATEST_CONSUMER_VERSION",
    "ConsumerAssignmentMessage",
    "ConsumerFieldError",
    "ConsumerSchemaError",
    "ConsumerSubscriptionMessage",
    "TopicPartitions",
    "UserDataTooLongError",
    "decode_consumer_assignment",
    "decode_consumer_subscription",
    "encode_consumer_assignment",
    "encode_consumer_subscription",
    "partition_lists",
]

LATEST_CONSUMER_VERSION = 3
_MAX_STRING_BYTES = 2**15 - 1
_INT_16, _INT_32 = struct.Struct(">h"), struct.Struct(">i")

#: Topic and partition, one by one.
TopicPartitions = tuple[tuple[str, int], ...]


class ConsumerSchemaError(WireError):
    """The bytes end within a number, or the version is below 0. Kafka: ``SchemaException``."""

    java_type = "org.apache.kafka.common.protocol.types.SchemaException"


class ConsumerFieldError(WireError):
    """A text, list or field has an impossible length. Kafka 4.3.1: ``RuntimeException``, 4.4: ``SchemaException``."""

    java_type = "java.lang.RuntimeException"


class UserDataTooLongError(WireError):
    """User data are longer than the message. Kafka 4.3.1: ``IllegalArgumentException``, 4.4: ``SchemaException``."""

    java_type = "java.lang.IllegalArgumentException"


@attrs.frozen
class ConsumerSubscriptionMessage:
    """A subscription with the content of its bytes.

    Args:
        owned: From version 1.
        generation: From version 2; ``None``: none.
        rack: From version 3; ``None``: none, or empty.
    """

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None = None
    owned: TopicPartitions = ()
    generation: int | None = None
    rack: str | None = None


@attrs.frozen
class ConsumerAssignmentMessage:
    """An assignment with the content of its bytes."""

    version: int
    partitions: TopicPartitions = ()
    user_data: bytes | None = None


def decode_consumer_subscription(data: bytes) -> ConsumerSubscriptionMessage:
    """Read a subscription.

    Raises:
        WireError: a subclass, if Kafka refuses the bytes.
    """
    reader = _Reader(data)
    version = reader.version()
    topics = tuple([reader.string("topics") for _ in range(reader.count("topics"))])
    user_data = reader.user_data()
    owned = reader.partitions("owned_partitions") if version >= 1 else ()
    generation = reader.int32() if version >= 2 else -1
    rack = reader.nullable_string("rack_id") if version >= 3 else None
    return ConsumerSubscriptionMessage(
        version, topics, user_data, owned, generation if generation >= 0 else None, rack or None
    )


def encode_consumer_subscription(message: ConsumerSubscriptionMessage) -> bytes:
    """Write a subscription as Kafka does: topics sorted, partitions sorted and grouped; fields of its version alone.

    Raises:
        WireError: a subclass, if the version or a value has no bytes.
    """
    topics = sorted(message.topics, key=utf16_key)
    parts = [_version_bytes(message.version), _INT_32.pack(len(topics)), *map(_string_bytes, topics)]
    parts.append(_nullable_bytes(message.user_data))
    if message.version >= 1:
        owned = sorted(message.owned, key=lambda each: (utf16_key(each[0]), each[1]))
        parts.append(partition_lists(owned))
    if message.version >= 2:
        parts.append(_int_bytes(-1 if message.generation is None else message.generation))
    if message.version >= 3:
        parts.append(_INT_16.pack(-1) if message.rack is None else _string_bytes(message.rack))
    return b"".join(parts)


def decode_consumer_assignment(data: bytes) -> ConsumerAssignmentMessage:
    """Read an assignment; raises as :func:`decode_consumer_subscription`."""
    reader = _Reader(data)
    return ConsumerAssignmentMessage(reader.version(), reader.partitions("assigned_partitions"), reader.user_data())


def encode_consumer_assignment(message: ConsumerAssignmentMessage) -> bytes:
    """Write an assignment: topics by their first appearance; raises as :func:`encode_consumer_subscription`."""
    return b"".join(
        (_version_bytes(message.version), partition_lists(message.partitions), _nullable_bytes(message.user_data))
    )


def partition_lists(partitions: Iterable[tuple[str, int]], topics: Sequence[str] | None = None) -> bytes:
    """Partitions grouped by topic, in the order of their first appearance or of ``topics``."""
    by_topic: dict[str, list[int]] = {topic: [] for topic in topics or ()}
    for topic, partition in partitions:
        by_topic.setdefault(topic, []).append(partition)
    parts = [_INT_32.pack(len(by_topic))]
    for topic, numbers in by_topic.items():
        parts += [_string_bytes(topic), _INT_32.pack(len(numbers)), *map(_int_bytes, numbers)]
    return b"".join(parts)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._reader = ByteReader(data, ConsumerSchemaError)

    def version(self) -> int:
        """The version as it is read: at most the latest."""
        version = self._reader.int16()
        if version < 0:
            raise ConsumerSchemaError(f"version {version}: the first one is 0", 0)
        return min(version, LATEST_CONSUMER_VERSION)

    def int32(self) -> int:
        return self._reader.int32()

    def count(self, field: str) -> int:
        start = self._reader.position
        count = self._reader.int32()
        if not 0 <= count <= self._reader.remaining:
            raise ConsumerFieldError(f"field {field}: a list of {count}, {self._reader.remaining} bytes left", start)
        return count

    def string(self, field: str) -> str:
        found = self.nullable_string(field)
        if found is None:
            raise ConsumerFieldError(f"field {field}: a text is null", self._reader.position)
        return found

    def nullable_string(self, field: str) -> str | None:
        start = self._reader.position
        size = self._reader.int16()
        if size < 0:
            return None
        if size > self._reader.remaining:
            raise ConsumerFieldError(f"field {field}: a text of {size}, {self._reader.remaining} bytes left", start)
        return decode_utf8(self._reader.take(size))

    def user_data(self) -> bytes | None:
        start = self._reader.position
        size = self._reader.int32()
        if size < 0:
            return None
        if size > self._reader.remaining:
            raise UserDataTooLongError(f"field user_data: {size} bytes, {self._reader.remaining} left", start)
        return self._reader.take(size)

    def partitions(self, field: str) -> TopicPartitions:
        """Topic and partition, one by one; time and memory are linear in the bytes."""
        found: list[Iterable[tuple[str, int]]] = []
        for _ in range(self.count(field)):
            topic = self.string(field)
            numbers = struct.unpack(f">{(count := self.count(field))}i", self._reader.take(4 * count))
            found.append([(topic, number) for number in numbers])
        return tuple(chain.from_iterable(found))


def _version_bytes(version: int) -> bytes:
    if not 0 <= version <= LATEST_CONSUMER_VERSION:
        raise ConsumerSchemaError(f"version {version}: Kafka writes 0 to {LATEST_CONSUMER_VERSION}")
    return _INT_16.pack(version)


def _string_bytes(text: str) -> bytes:
    encoded = encode_utf8(text)
    if len(encoded) > _MAX_STRING_BYTES:
        raise ConsumerFieldError(f"a text of {len(encoded)} bytes, {_MAX_STRING_BYTES} are possible")
    return _INT_16.pack(len(encoded)) + encoded


def _nullable_bytes(data: bytes | None) -> bytes:
    return _INT_32.pack(-1) if data is None else _INT_32.pack(len(data)) + data


def _int_bytes(number: int) -> bytes:
    try:
        return _INT_32.pack(number)
    except struct.error:
        raise ConsumerFieldError(f"{number} does not fit into 4 bytes") from None
