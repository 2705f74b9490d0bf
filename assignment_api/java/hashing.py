"""Java's hash codes: results of ``hashCode()``, signed 32-bit integers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import mul

__all__ = [
    "boolean_hash",
    "host_info_hash",
    "int32",
    "pair_hash",
    "spread",
    "string_hash",
    "subtopology_hash",
    "task_id_hash",
    "topic_partition_hash",
    "unnamed_task_id_hashes",
    "uuid_hash",
]

_MASK_32 = 0xFFFF_FFFF
_MASK_64 = 0xFFFF_FFFF_FFFF_FFFF
_SIGN_32 = 0x8000_0000

_NATIVE_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_BLOCK = 256
_POWERS_OF_31 = tuple(pow(31, exponent, 1 << 32) for exponent in range(_BLOCK + 1))


def int32(number: int) -> int:
    """Wrap around as Java's ``int``."""
    return ((number + _SIGN_32) & _MASK_32) - _SIGN_32


def string_hash(text: str) -> int:
    """``String.hashCode``, over UTF-16 code units."""
    units: bytes | memoryview[int] = (
        text.encode() if text.isascii() else memoryview(text.encode(_NATIVE_UTF_16, "surrogatepass")).cast("H")
    )
    result = 0
    for start in range(0, len(units), _BLOCK):
        block = units[start : start + _BLOCK]
        result = result * _POWERS_OF_31[len(block)] + sum(map(mul, block[::-1], _POWERS_OF_31)) & _MASK_32
    return int32(result)


def uuid_hash(most_significant_bits: int, least_significant_bits: int) -> int:
    """``UUID.hashCode`` and ``ProcessId.hashCode``; halves signed or unsigned."""
    mixed = (most_significant_bits ^ least_significant_bits) & _MASK_64
    return int32(mixed >> 32 ^ mixed)


def task_id_hash(subtopology: int, partition: int, topology_name: str | None = None) -> int:
    """``TaskId.hashCode``; ``(g, p + 31)`` and ``(g + 1, p)`` collide."""
    named = 0 if topology_name is None else string_hash(topology_name)
    return int32(29791 + 961 * subtopology + 31 * partition + named)


def unnamed_task_id_hashes(numbers: Iterable[tuple[int, int]]) -> list[int]:
    """:func:`task_id_hash` of many unnamed tasks (sub-topology, partition), but faster."""
    hashes = [29_791 + 961 * subtopology + 31 * partition for subtopology, partition in numbers]
    if hashes and (max(hashes) >= 1 << 31 or min(hashes) < -(1 << 31)):
        return [int32(code) for code in hashes]
    return hashes


def subtopology_hash(node_group_id: int, topology_name: str | None = None) -> int:
    """Hash of Kafka's ``Subtopology``."""
    return int32(31 * (31 + node_group_id) + (0 if topology_name is None else string_hash(topology_name)))


def topic_partition_hash(topic: str, partition: int) -> int:
    """``TopicPartition.hashCode``."""
    return int32(31 * (31 + partition) + string_hash(topic))


def host_info_hash(host: str, port: int) -> int:
    """``HostInfo.hashCode``."""
    return int32(31 * string_hash(host) + port)


def boolean_hash(*, value: bool) -> int:
    """``Boolean.hashCode``."""
    return 1231 if value else 1237


def pair_hash(first_hash: int, second_hash: int) -> int:
    """Hash of a pair (tag, two tasks) from those of its parts."""
    return int32(31 * (31 + first_hash) + second_hash)


def spread(hash_code: int) -> int:
    """``HashMap``'s spread: upper half mixed into the lower one, *unsigned*."""
    unsigned = hash_code & _MASK_32
    return unsigned ^ unsigned >> 16
