"""User data of Kafka's sticky assignors of the consumer, read as these assignors read them: they refuse nothing.

``StickyAssignor``: partitions, from version 1 on with a generation; the bytes have no version, so version 1 is tried
first. ``CooperativeStickyAssignor``: a generation alone. Unreadable data count as no partition and generation -1.
"""

from __future__ import annotations

import struct

import attrs

from assignment_api.java import iteration_order_of_computed, spread, string_hash
from assignment_api.streams.ids import utf16_key
from assignor_lab.kafka.wire.byte_reader import ByteReader
from assignor_lab.kafka.wire.consumer.messages import ConsumerFieldError, TopicPartitions, partition_lists
from assignor_lab.kafka.wire.errors import WireError
from assignor_lab.kafka.wire.texts import decode_utf8

__all__ = [
    "StickyUserData",
    "decode_cooperative_user_data",
    "decode_sticky_user_data",
    "encode_cooperative_user_data",
    "encode_sticky_user_data",
]

_UNREADABLE = -1
_INT_32 = struct.Struct(">i")


@attrs.frozen
class StickyUserData:
    """The content of ``StickyAssignor``'s user data.

    Args:
        generation: ``None`` in version 0, and without data.
        version: ``None`` without data, and if they are unreadable.
    """

    partitions: TopicPartitions = ()
    generation: int | None = None
    version: int | None = None


def decode_sticky_user_data(data: bytes | None) -> StickyUserData:
    if not data:
        return StickyUserData()
    for version in (1, 0):
        try:
            partitions, generation = _read(data, version)
        except WireError:
            continue
        return StickyUserData(partitions, generation, version)
    return StickyUserData(generation=_UNREADABLE)


def encode_sticky_user_data(user_data: StickyUserData) -> bytes:
    """The bytes that Kafka writes: topics in the hash order of their names, and a generation but for version 0.

    Raises:
        ConsumerFieldError: if a value has no bytes.
    """
    topics = list(dict.fromkeys(topic for topic, _ in user_data.partitions))
    number = {topic: each for each, topic in enumerate(topics)}
    order = iteration_order_of_computed(
        [number[topic] for topic, _ in user_data.partitions],
        [spread(string_hash(topic)) for topic in topics],
        sort_key=lambda each: utf16_key(topics[each]),
    )
    data = partition_lists(user_data.partitions, [topics[each] for each in order])
    if user_data.version == 0:
        return data
    return data + encode_cooperative_user_data(_UNREADABLE if user_data.generation is None else user_data.generation)


def decode_cooperative_user_data(data: bytes | None) -> int | None:
    """The generation; ``None`` without user data."""
    if data is None:
        return None
    return int(_INT_32.unpack_from(data)[0]) if len(data) >= _INT_32.size else _UNREADABLE


def encode_cooperative_user_data(generation: int) -> bytes:
    try:
        return _INT_32.pack(generation)
    except struct.error:
        raise ConsumerFieldError(f"generation {generation} does not fit into 4 bytes") from None


def _read(data: bytes, version: int) -> tuple[TopicPartitions, int | None]:
    reader = ByteReader(data, ConsumerFieldError)
    found: list[tuple[str, int]] = []
    for _ in range(_count(reader)):
        size = reader.int16()
        if size < 0:
            raise ConsumerFieldError("a text is null", reader.position)
        topic = decode_utf8(reader.take(size))
        found += [(topic, reader.int32()) for _ in range(_count(reader))]
    return tuple(found), reader.int32() if version else None


def _count(reader: ByteReader) -> int:
    count = reader.int32()
    if not 0 <= count <= reader.remaining:
        raise ConsumerFieldError(f"a list of {count}, {reader.remaining} bytes left", reader.position)
    return count
