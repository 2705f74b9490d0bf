"""Spread in a classic group: the shared figures, and reads across racks."""

from __future__ import annotations

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.definition import derived, metric, plugins_of
from assignor_lab.groups.metrics.spread import BY_TAGS, GROUP, has_spreading_tags, replicas_in_one_rack
from assignor_lab.groups.streams.metrics.crossings import crossings_of
from assignor_lab.groups.streams.placement import StreamsPlacement, placement_of

__all__ = ["SPREAD_METRICS"]

#: Cost of a partition that is read across racks if none is configured: Kafka's default for tasks with state.
DEFAULT_TRAFFIC_COST = 10
#: The same for tasks without state, which is fixed in Kafka.
STATELESS_TRAFFIC_COST = 1


@metric(GROUP, "partitions", "lower", "Partitions none of whose replicas is in any client's rack.")
def racks_crossed(placement: StreamsPlacement) -> float | None:
    """Partitions that are read from another rack; each costs money if racks are cloud zones.

    Source partitions of actives and changelog partitions of standbys without a replica in the rack of the client that
    reads them. No figure if the rack of a client, or the racks of such a partition, are unknown.
    """
    crossings = _crossings(placement)
    return None if crossings is None else float(sum(crossings))


@metric(GROUP, "cost", "lower", "Partitions none of whose replicas is in any client's rack.")
def rack_traffic_cost(placement: StreamsPlacement) -> float | None:
    """Cost of reads across racks, with the weights of Kafka's rack-aware assignment.

    As ``racks_crossed``, with ``rack.aware.assignment.traffic_cost`` (10 if it is not configured) for tasks with
    state and 1 for tasks without (Kafka: ``RackAwareTaskAssignor``); the cost of moving a task is not included.
    """
    configured = placement.state.application.assignment_configs().rack_aware_traffic_cost
    cost = DEFAULT_TRAFFIC_COST if configured is None else configured
    crossings = _crossings(placement)
    return None if crossings is None else float(cost * crossings[0] + STATELESS_TRAFFIC_COST * crossings[1])


@derived
def _crossings(placement: StreamsPlacement) -> tuple[int, int] | None:
    state = placement.state
    known = crossings_of(state)
    if known is None:
        return None
    sources, changelogs = known
    with_state = without = 0
    for task, (owner, standbys, stateful) in enumerate(
        zip(placement.owner, placement.standbys, state.stateful, strict=True)
    ):
        crossed = sources[owner][task] if owner >= 0 else 0
        for client in standbys:
            more = changelogs[client][task]
            crossed = None if crossed is None or more is None else crossed + more
        if crossed is None:
            return None
        if stateful:
            with_state += crossed
        else:
            without += crossed
    return with_state, without


def _has_crossings(placement: StreamsPlacement) -> bool:
    return crossings_of(placement.state) is not None


SPREAD_METRICS: tuple[MetricPlugin, ...] = (
    *plugins_of(BY_TAGS, placement_of, "streams", has_spreading_tags),
    *plugins_of((racks_crossed, rack_traffic_cost), placement_of, "streams", _has_crossings),
    *plugins_of((replicas_in_one_rack,), placement_of, "streams"),
)
