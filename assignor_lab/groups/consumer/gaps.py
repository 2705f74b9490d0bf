"""Gaps of an answer to a consumer group: members are processes of one thread."""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.optimum import Problem
from assignor_lab.groups.consumer.placement import PartitionsBefore, placement_of
from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionState
from assignor_lab.groups.metrics.gaps import Gaps, gap_metrics, gaps_by_kind

__all__ = ["GAP_METRICS", "gaps_of"]


def gaps_of(state: PartitionState, answer: AppliedAssignment) -> Gaps | None:
    """The gaps, keyed by goal; ``None`` if a partition has no member, or subscriptions differ."""
    placement = placement_of(state, answer)
    known = placement.state
    everyone = frozenset(range(len(known.members)))
    if known.is_shared or any(members != everyone for members in known.subscribers):
        return None
    if any(len(owners) != 1 for owners in placement.owners):
        return None
    before = [tuple(members) for members in known.before]
    names = list(dict.fromkeys(rack for rack in known.rack if rack is not None))
    rack = None if known.racks is None or not all(known.rack) else [names.index(each or "") for each in known.rack]
    problem = Problem(
        [1] * len(known.members),
        before,
        [()] * len(before),
        rack=rack,
        far={} if rack is None else {"partitions": _far(known, names)},
    )
    kind = "consumer" if known.racks is not None else "consumer-group"
    return gaps_by_kind(problem, [owners[0] for owners in placement.owners], kind)


def _far(known: PartitionsBefore, names: Sequence[str]) -> list[tuple[float, ...]]:
    rows = {racks: tuple(float(name not in racks) for name in names) for racks in set(known.racks or ())}
    return [rows[racks] for racks in known.racks or ()]


GAP_METRICS = {
    "consumer": gap_metrics("consumer", gaps_of),
    "consumer-group": gap_metrics("consumer-group", gaps_of),
    "share-group": (),
}
