"""Cost of an answer: restored bytes, bytes across zones, the wait for them, and dollars.

Bytes come from the scenario's ``workload``, prices from :mod:`assignor_lab.groups.prices`. A value that the scenario
lacks gives no figure.
"""

from __future__ import annotations

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.definition import MetricDefinition, derived, metric, plugins_of
from assignor_lab.groups.metrics.movement import restored_from_nothing
from assignor_lab.groups.prices import BYTES_OF_GIB, Prices, default_prices
from assignor_lab.groups.streams.metrics.crossings import crossings_of, partitions_of
from assignor_lab.groups.streams.metrics.weights import has_weights, weights_of
from assignor_lab.groups.streams.placement import StreamsPlacement, StreamsState, placement_of

__all__ = ["COST_METRICS", "priced_metrics"]

GROUP = "cost"
_NOWHERE_NEAR = "Partitions none of whose replicas is in any client's rack."


@metric(GROUP, "bytes", "lower", "Replicas beyond the number of processes that have state.")
def restored_bytes(placement: StreamsPlacement) -> float | None:
    """Bytes of state that have to be restored from the changelogs, by actives, standbys and warm-ups.

    ``state_bytes`` of each of ``replicas_placed_without_state``, without the missing part of existing copies, which the
    scenario gives in offsets.
    """
    state_bytes = _state_bytes(placement.state)
    return (
        None
        if state_bytes is None
        else sum((state_bytes[task] for task, _, _ in restored_from_nothing(placement)), 0.0)
    )


@metric(GROUP, "bytes", "lower", "Tasks of which no process of the group has any state.")
def restored_bytes_before_processing(placement: StreamsPlacement) -> float | None:
    """Bytes of state that have to be restored before the tasks can work: those of actives alone."""
    state_bytes = _state_bytes(placement.state)
    if state_bytes is None:
        return None
    return sum((state_bytes[task] for task, _, is_active in restored_from_nothing(placement) if is_active), 0.0)


@metric(GROUP, "s", "lower", "Tasks of which no process of the group has any state.")
def longest_restore_seconds(placement: StreamsPlacement) -> float | None:
    """Time that the slowest task cannot work because its whole state is restored first.

    The largest ``state_bytes`` of ``actives_placed_without_state`` over ``restore_bytes_per_s``.
    """
    state_bytes, weights = _state_bytes(placement.state), weights_of(placement.state)
    if state_bytes is None or weights is None or not weights.restore_bytes_per_s:
        return None
    waits = [state_bytes[task] for task, _, is_active in restored_from_nothing(placement) if is_active]
    return max(waits, default=0.0) / weights.restore_bytes_per_s


@metric(GROUP, "bytes", "lower", _NOWHERE_NEAR)
def cross_zone_restored_bytes(placement: StreamsPlacement) -> float | None:
    """Bytes of ``restored_bytes`` that come from another rack (zone).

    The state of a task is assumed to lie evenly on its changelog partitions.
    """
    return _cross_zone_restored(placement)


@metric(GROUP, "bytes/s", "lower", _NOWHERE_NEAR)
def cross_zone_bytes_per_s(placement: StreamsPlacement) -> float | None:
    """Bytes that active tasks read from another rack (zone) in a second.

    ``input_bytes_per_s`` of each task, assumed to lie evenly on its source partitions, without the reads of standbys:
    the scenario has no write rates of changelogs.
    """
    return _cross_zone_input(placement)


@derived
def _cross_zone_restored(placement: StreamsPlacement) -> float | None:
    state_bytes, crossings = _state_bytes(placement.state), crossings_of(placement.state)
    if state_bytes is None or crossings is None:
        return None
    partitions, total = partitions_of(placement.state.topology)[1], 0.0
    for task, client, _ in restored_from_nothing(placement):
        crossed = crossings[1][client][task]
        if crossed is None:
            return None
        total += state_bytes[task] * crossed / partitions[task]
    return total


@derived
def _cross_zone_input(placement: StreamsPlacement) -> float | None:
    weights, crossings = weights_of(placement.state), crossings_of(placement.state)
    if weights is None or weights.input_bytes_per_s is None or crossings is None:
        return None
    partitions, total = partitions_of(placement.state.topology)[0], 0.0
    for task, owner in enumerate(placement.owner):
        if owner >= 0:
            crossed = crossings[0][owner][task]
            if crossed is None:
                return None
            total += weights.input_bytes_per_s[task] * crossed / partitions[task]
    return total


def _state_bytes(state: StreamsState) -> list[float] | None:
    weights = weights_of(state)
    return None if weights is None else weights.state_bytes


def priced_metrics(prices: Prices) -> tuple[MetricPlugin, ...]:
    def for_a_month(placement: StreamsPlacement) -> float | None:
        """``cross_zone_bytes_per_s``, for the hours of a month, at the price of a GiB between zones.

        A client is assumed to read from a broker in its own rack if one has a replica, which requires readable
        followers (KIP-392). Without them it pays for every leader in another rack, and so more than this.
        """
        rate = _cross_zone_input(placement)
        if rate is None:
            return None
        return rate * prices.hours_per_month * 3_600 / BYTES_OF_GIB * prices.cross_zone_dollars_per_gib

    def once(placement: StreamsPlacement) -> float | None:
        """``cross_zone_restored_bytes`` at the price of a GiB between zones."""
        restored = _cross_zone_restored(placement)
        return None if restored is None else restored / BYTES_OF_GIB * prices.cross_zone_dollars_per_gib

    in_dollars = (
        MetricDefinition(
            for_a_month,
            "cross_zone_dollars_per_month",
            GROUP,
            "dollars/month",
            "lower",
            "Monthly price of the input that active tasks read from brokers in other racks (zones).",
            _NOWHERE_NEAR,
        ),
        MetricDefinition(
            once,
            "movement_dollars",
            GROUP,
            "dollars",
            "lower",
            "One-time price of the state that this answer restores from brokers in other racks (zones).",
            _NOWHERE_NEAR,
        ),
    )
    return plugins_of(in_dollars, placement_of, "streams", has_weights)


COST_METRICS: tuple[MetricPlugin, ...] = (
    *plugins_of(
        (
            restored_bytes,
            restored_bytes_before_processing,
            longest_restore_seconds,
            cross_zone_restored_bytes,
            cross_zone_bytes_per_s,
        ),
        placement_of,
        "streams",
        has_weights,
    ),
    *priced_metrics(default_prices()),
)
