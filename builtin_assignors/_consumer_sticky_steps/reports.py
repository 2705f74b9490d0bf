"""Partitions and generation that a member reports to the sticky assignors.

Kafka: ``StickyAssignor.memberData`` and ``CooperativeStickyAssignor.memberData``. User data that cannot be read count
as no partition and generation -1.
"""

from __future__ import annotations

import struct

import attrs

from assignment_api.consumer import ConsumerSubscription

__all__ = ["NO_GENERATION", "MemberReport", "cooperative_report", "sticky_report"]

#: Kafka's generation of a member that reports none.
NO_GENERATION = -1

_INT, _SHORT = struct.Struct(">i"), struct.Struct(">h")


@attrs.frozen
class MemberReport:
    """The partitions of a member, by topic in the order of the report.

    Args:
        generation: ``None`` if it reports none.
    """

    owned: tuple[tuple[str, tuple[int, ...]], ...]
    generation: int | None


def cooperative_report(member: ConsumerSubscription) -> MemberReport:
    """Fields of the subscription, or its fields with the generation of the user data."""
    owned = tuple(member.owned.items())
    if member.generation is not None and member.generation >= 0:
        return MemberReport(owned, member.generation)
    if member.user_data is None:
        return MemberReport(owned, None)
    readable = len(member.user_data) >= _INT.size
    return MemberReport(owned, _INT.unpack_from(member.user_data)[0] if readable else NO_GENERATION)


def sticky_report(member: ConsumerSubscription) -> MemberReport:
    """User data alone: version 1 has a generation, version 0 has none."""
    data = member.user_data
    if not data:
        return MemberReport((), None)
    for has_generation in (True, False):
        try:
            return _read(data, has_generation=has_generation)
        except struct.error:
            continue
    return MemberReport((), NO_GENERATION)


def _read(data: bytes, *, has_generation: bool) -> MemberReport:
    topics, position = _length(data, 0), _INT.size
    owned: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(topics):
        (size,) = _SHORT.unpack_from(data, position)
        position += _SHORT.size
        if not 0 <= size <= len(data) - position:
            raise struct.error("a text without an end")
        name = data[position : position + size].decode("utf-8", "replace")
        position += size
        count = _length(data, position)
        position += _INT.size
        owned.append((name, struct.unpack_from(f">{count}i", data, position)))
        position += _INT.size * count
    generation = _INT.unpack_from(data, position)[0] if has_generation else None
    return MemberReport(tuple(owned), generation)


def _length(data: bytes, position: int) -> int:
    (length,) = _INT.unpack_from(data, position)
    # Kafka refuses more items than there are bytes.
    if not 0 <= length <= len(data) - position - _INT.size:
        raise struct.error("an array without an end")
    return int(length)
