"""Racks of members and partitions, as the sticky assignors use them. Kafka: ``AbstractStickyAssignor.RackInfo``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs

from builtin_assignors._consumer_steps import NumberedGroup

__all__ = ["StickyRacks", "racks_of"]

_NONE: frozenset[str] = frozenset()


@attrs.frozen(eq=False)
class StickyRacks:
    """The racks of a call.

    Args:
        of_member: Rack of each member; all ``None`` if racks are not used.
        of_partition: Racks of each partition that exists; empty if racks are not used.
        near: For each partition, members in one of its racks; empty if no member has a rack.
    """

    of_member: Sequence[str | None]
    of_partition: Sequence[frozenset[str]]
    near: Sequence[int]

    @property
    def are_used(self) -> bool:
        return bool(self.of_partition)

    def mismatch(self, member: int, partition: int) -> bool:
        """True if the member's rack has no replica; a partition that does not exist has none."""
        rack = self.of_member[member]
        return rack is not None and rack not in self.of(partition)

    def of(self, partition: int) -> frozenset[str]:
        return self.of_partition[partition] if partition < len(self.of_partition) else _NONE


def racks_of(group: NumberedGroup) -> StickyRacks:
    members = Counter(rack for rack in group.racks if rack is not None)
    nothing = [None] * len(group.racks)
    if not members:
        return StickyRacks(nothing, (), ())
    partitions = [racks for topic in range(len(group.names)) for racks in group.racks_of(topic)]
    distinct = set(partitions)
    present = _NONE.union(*distinct)
    of_racks = {racks: sum(members[rack] for rack in racks) for racks in distinct}
    near = [of_racks[racks] for racks in partitions]
    if present.isdisjoint(members) or all(racks == present for racks in distinct):
        return StickyRacks(nothing, (), near)
    return StickyRacks(group.racks, partitions, near)
