"""Metrics of consumer groups and share groups: plain functions of one placement.

Docs: "Metrics", section "Consumer groups".
"""

from __future__ import annotations

from collections import Counter

from assignor_lab.groups.consumer.placement import PartitionPlacement, placement_of
from assignor_lab.groups.metrics.definition import MetricDefinition, derived, metric, plugins_of
from assignor_lab.groups.metrics.life_cycle import LIFE_CYCLE
from assignor_lab.groups.prices import BYTES_OF_GIB, Prices, default_prices

__all__ = ["CONSUMER_METRICS", "METRICS_BY_KIND", "priced_consumer_metrics"]

_WHOLE = "One partition, where the partitions do not divide evenly among the members."
_NOT_NEAR = "Partitions none of whose replicas is in any member's rack."

# --- movement -------------------------------------------------------------------------------------


@metric("movement", "partitions", "lower", "Partitions whose member is gone are not counted; a new member needs some.")
def partitions_moved(placement: PartitionPlacement) -> float | None:
    """Partitions that leave a member which is still there.

    None if no member reports what it held. A partition that waits for its revocation counts.
    """
    state = placement.state
    if not state.has_past:
        return None
    return float(
        sum(
            bool(before) and not set(before).intersection(owners)
            for before, owners in zip(state.before, placement.owners, strict=True)
        )
    )


@metric("movement", "partitions", "lower", "The partitions that move.")
def partitions_revoked(placement: PartitionPlacement) -> float | None:
    """Partitions that members give up during the rebalance: all of them under the eager protocol."""
    if not placement.state.has_past:
        return None
    return float(sum(len(before) for before in _revoked(placement)))


@metric("movement", "partitions", "lower", "None: cooperative members keep them.")
def partitions_revoked_and_returned(placement: PartitionPlacement) -> float | None:
    """Partitions that members give up although they get them back: the cost of the eager protocol."""
    if not placement.state.has_past:
        return None
    pairs = zip(_revoked(placement), placement.owners, strict=True)
    return float(sum(len(set(given).intersection(owners)) for given, owners in pairs))


@derived
def _revoked(placement: PartitionPlacement) -> list[list[int]]:
    """For each partition, the members that give it up."""
    if placement.stops_all:
        return [list(before) for before in placement.state.before]
    return [
        [member for member in before if member not in owners]
        for before, owners in zip(placement.state.before, placement.owners, strict=True)
    ]


@metric("movement", "partitions", "lower", "Partitions that change their owner wait for one more rebalance.")
def partitions_waiting(placement: PartitionPlacement) -> float:
    """Partitions without a member in this round, because their former one must give them up first."""
    return float(sum(map(placement.waits, range(placement.state.partitions))))


# --- balance --------------------------------------------------------------------------------------


@metric("balance", "partitions", "lower", _WHOLE)
def partitions_per_member_range(placement: PartitionPlacement) -> float | None:
    """Most partitions of a member less fewest, over the members with a subscription."""
    sizes = _sizes(placement)
    return float(max(sizes) - min(sizes)) if sizes else None


@metric("balance", "partitions", "lower", "None: an even share is rounded up to whole partitions.")
def partitions_above_even_share(placement: PartitionPlacement) -> float | None:
    """Partitions of the busiest member above an even share of them, over the members with a subscription."""
    sizes = _sizes(placement)
    return float(max(sizes) + (-sum(sizes) // len(sizes))) if sizes else None


@metric("balance", "partitions", "lower", _WHOLE)
def topic_partitions_per_member_range(placement: PartitionPlacement) -> float | None:
    """Most partitions of a topic on one of its subscribers less fewest, for the most uneven topic."""
    state, counts = placement.state, Counter[tuple[int, int]]()
    for partition, owners in enumerate(placement.owners):
        for member in owners:
            counts[state.topic_of[partition], member] += 1
    ranges = [
        max(own) - min(own)
        for topic, members in enumerate(state.subscribers)
        for own in [[counts[topic, member] for member in members]]
    ]
    return float(max(ranges)) if ranges else None


@metric("balance", "members", "lower", "Members beyond the number of partitions.")
def idle_members(placement: PartitionPlacement) -> float:
    """Members with a subscription and no partition."""
    return float(_sizes(placement).count(0))


@derived
def _sizes(placement: PartitionPlacement) -> list[int]:
    subscribed = frozenset[int]().union(*placement.state.subscribers)
    return [placement.held[member] for member in sorted(subscribed)]


@metric(
    "balance", "share", "lower", "A partition cannot be divided: the owner of the busiest one has at least its input."
)
def partition_input_above_even_share(placement: PartitionPlacement) -> float | None:
    """How far the member that reads most is above the mean bytes of the members, as a share of the mean."""
    rates = placement.state.rates
    if rates is None or not _sizes(placement) or not sum(rates):
        return None
    read = [0.0] * len(placement.state.members)
    for partition, owners in enumerate(placement.owners):
        for member in owners:
            read[member] += rates[partition] / len(owners)
    return max(read) * len(_sizes(placement)) / sum(rates) - 1


# --- co-partitioning and racks --------------------------------------------------------------------


@metric("spread", "partitions", "lower", "None, if members subscribe the topics together.")
def co_partitions_split(placement: PartitionPlacement) -> float:
    """Partition numbers of topics with the same size and subscribers that different members read: joins break.

    A number counts once for each group of such topics.
    """
    state = placement.state
    alike: dict[tuple[int, frozenset[int]], list[int]] = {}
    for topic, size in enumerate(state.sizes):
        alike.setdefault((size, state.subscribers[topic]), []).append(state.first[state.keys[topic]])
    return float(
        sum(
            len({tuple(placement.owners[first + number]) for first in together}) > 1
            for (size, _), together in alike.items()
            if len(together) > 1
            for number in range(size)
        )
    )


@derived
def _crossed(placement: PartitionPlacement) -> list[tuple[int, int]] | None:
    """Partition and member of each read from another rack; ``None`` if racks are unknown."""
    state = placement.state
    racks = state.racks
    if racks is None or not all(state.rack):
        return None
    return [
        (partition, member)
        for partition, owners in enumerate(placement.owners)
        for member in owners
        if state.rack[member] not in racks[partition]
    ]


@metric("spread", "partitions", "lower", _NOT_NEAR)
def partition_racks_crossed(placement: PartitionPlacement) -> float | None:
    """Partitions that are read from another rack; each costs money if racks are cloud zones."""
    crossed = _crossed(placement)
    return None if crossed is None else float(len(crossed))


@metric("spread", "bytes/s", "lower", _NOT_NEAR)
def partition_cross_zone_bytes_per_s(placement: PartitionPlacement) -> float | None:
    """Bytes that members read from another rack (zone) in a second."""
    rates, crossed = placement.state.rates, _crossed(placement)
    return None if rates is None or crossed is None else sum((rates[partition] for partition, _ in crossed), 0.0)


def priced_consumer_metrics(prices: Prices) -> MetricDefinition[PartitionPlacement]:
    def for_a_month(placement: PartitionPlacement) -> float | None:
        """``partition_cross_zone_bytes_per_s``, for the hours of a month, at the price of a GiB between zones."""
        rate = partition_cross_zone_bytes_per_s.figure(placement)
        if rate is None:
            return None
        return rate * prices.hours_per_month * 3_600 / BYTES_OF_GIB * prices.cross_zone_dollars_per_gib

    return MetricDefinition(
        for_a_month,
        "partition_cross_zone_dollars_per_month",
        "spread",
        "dollars/month",
        "lower",
        "Monthly price of the input that members read from brokers in other racks (zones).",
        _NOT_NEAR,
    )


# --- coverage -------------------------------------------------------------------------------------


@metric("coverage", "partitions", "lower", "None.")
def partitions_not_assigned(placement: PartitionPlacement) -> float:
    """Subscribed partitions that no member reads, and for which none waits."""
    return float(
        sum(not owners and not placement.waits(partition) for partition, owners in enumerate(placement.owners))
    )


@metric("coverage", "partitions", "lower", "None.")
def partitions_with_two_owners(placement: PartitionPlacement) -> float:
    """Partitions that several members read, so that records are processed twice; 0 for share groups."""
    return 0.0 if placement.state.is_shared else float(sum(len(owners) > 1 for owners in placement.owners))


@metric("coverage", "partitions", "lower", "None.")
def partitions_not_subscribed(placement: PartitionPlacement) -> float:
    """Partitions of a member that does not subscribe their topic: it joins again."""
    return float(placement.not_subscribed)


CONSUMER_METRICS: tuple[MetricDefinition[PartitionPlacement], ...] = (
    partitions_moved,
    partitions_revoked,
    partitions_revoked_and_returned,
    partitions_waiting,
    partitions_per_member_range,
    partitions_above_even_share,
    topic_partitions_per_member_range,
    idle_members,
    partition_input_above_even_share,
    co_partitions_split,
    partition_racks_crossed,
    partition_cross_zone_bytes_per_s,
    priced_consumer_metrics(default_prices()),
    partitions_not_assigned,
    partitions_with_two_owners,
    partitions_not_subscribed,
    *LIFE_CYCLE,
)

METRICS_BY_KIND = {
    "consumer": plugins_of(CONSUMER_METRICS, placement_of, "consumer"),
    "consumer-group": plugins_of(CONSUMER_METRICS, placement_of, "consumer-group"),
    "share-group": plugins_of(CONSUMER_METRICS, placement_of, "share-group"),
}
