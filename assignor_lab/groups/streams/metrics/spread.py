"""Spread: whether the replicas of a task can fail together, and what crosses racks.

A *replica* of a task is its active or one of its standbys.
"""

from __future__ import annotations

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams.metrics.crossings import crossings_of
from assignor_lab.groups.streams.metrics.definition import metric
from assignor_lab.groups.streams.placement import Placement, State, derived

__all__ = ["SPREAD_METRICS"]

GROUP = "spread"

#: Cost of a partition that is read across racks where none is configured: Kafka's default for tasks with state.
DEFAULT_TRAFFIC_COST = 10
#: The same for tasks without state, which Kafka does not let anybody configure.
STATELESS_TRAFFIC_COST = 1


@metric(
    GROUP,
    "share",
    "higher",
    "Subtracted already: no more values can be reached than there are replicas asked for, or values among the clients.",
)
def tag_values_achieved(placement: Placement) -> float | None:
    """Share of the possible spread of a task's replicas over the values of each tag (zones, clusters), on average.

    For each stateful task and each key of ``rack.aware.assignment.tags``: distinct values among the clients with a
    replica, divided by what can be reached, ``min(1 + standbys, distinct values among all clients)``. The mean over
    all pairs in which more than one value can be reached; without such a pair there is no figure.
    """
    shares = [share for _, _, share, _ in _tag_shares(placement)]
    return sum(shares) / len(shares) if shares else None


@metric(GROUP, "share", "higher", "Subtracted already, as in tag_values_achieved.")
def tag_values_achieved_worst_key(placement: Placement) -> float | None:
    """The same for the tag with the worst spread: the smallest mean over the tasks among the tag keys."""
    by_key: dict[str, list[float]] = {}
    for _, key, share, _ in _tag_shares(placement):
        by_key.setdefault(key, []).append(share)
    return min((sum(shares) / len(shares) for shares in by_key.values()), default=None)


@metric(GROUP, "tasks", "lower", "Subtracted already: only tags with more than one value within reach count.")
def replicas_all_on_one_value(placement: Placement) -> float | None:
    """Tasks whose replicas all share one value of some tag, so that one failing zone takes all of them.

    Tasks with at least two replicas of which all lie on one value of at least one of the keys of
    ``rack.aware.assignment.tags``, although two or more values were within reach.
    """
    tasks: dict[int, bool] = {}
    for task, _, _, on_one in _tag_shares(placement):
        tasks[task] = tasks.get(task, False) or on_one
    return float(sum(tasks.values())) if tasks else None


@derived
def _tag_shares(placement: Placement) -> list[tuple[int, str, float, bool]]:
    """Task, tag key, share of the possible values reached, and whether two or more replicas lie on one value."""
    stateful = placement.state.stateful
    shares = []
    for key, values, achievable in _spreading_tags(placement.state):
        for task, replicas in enumerate(placement.replicas):
            if stateful[task]:
                distinct = len({values[client] for client in replicas} - {None})
                on_one = distinct == 1 and len(replicas) > 1
                shares.append((task, key, min(distinct / achievable, 1.0), on_one))
    return shares


@derived
def _spreading_tags(state: State) -> list[tuple[str, list[str | None], int]]:
    """The tags of which replicas can reach several values: key, value of each client, and how many can be reached."""
    configured = state.application.assignment_configs().rack_aware_assignment_tags
    if not configured or not state.standbys_wanted:
        return []
    clients = state.application.streams_client_states().values()
    found = []
    for key in configured:
        values = [client.client_tags.get(key) for client in clients]
        achievable = min(1 + state.standbys_wanted, len(set(values) - {None}))
        if achievable > 1:
            found.append((key, values, achievable))
    return found


@metric(GROUP, "partitions", "lower", "Partitions none of whose replicas is in any client's rack.")
def racks_crossed(placement: Placement) -> float | None:
    """Partitions that are read from another rack, each of which is paid for where zones are.

    Source partitions of actives and changelog partitions of standbys without a replica in the rack of the client that
    reads them. No figure where the rack of a client, or the racks of such a partition, are unknown.
    """
    crossings = _crossings(placement)
    return None if crossings is None else float(sum(crossings))


@metric(GROUP, "cost", "lower", "Partitions none of whose replicas is in any client's rack.")
def rack_traffic_cost(placement: Placement) -> float | None:
    """Cost of what is read across racks, with the weights of Kafka's rack-aware assignment.

    As ``racks_crossed``, with ``rack.aware.assignment.traffic_cost`` (10 where it is not configured) for tasks with
    state and 1 for tasks without (reference 3.2); the cost of moving a task is not part of it.
    """
    configured = placement.state.application.assignment_configs().rack_aware_traffic_cost
    cost = DEFAULT_TRAFFIC_COST if configured is None else configured
    crossings = _crossings(placement)
    return None if crossings is None else float(cost * crossings[0] + STATELESS_TRAFFIC_COST * crossings[1])


@derived
def _crossings(placement: Placement) -> tuple[int, int] | None:
    """Partitions read from another rack by tasks with state, and by those without; ``None``: unknown."""
    state = placement.state
    known = crossings_of(state)
    if known is None:
        return None
    sources, changelogs = known
    counts = [0, 0]
    for task, stateful in enumerate(state.stateful):
        owner = placement.owner[task]
        crossed = [changelogs[client][task] for client in placement.standbys[task]]
        if owner >= 0:
            crossed.append(sources[owner][task])
        for number in crossed:
            if number is None:
                return None
            counts[not stateful] += number
    return counts[0], counts[1]


@metric(GROUP, "tasks", "lower", "All tasks with standbys, where all clients are in one rack: then there is no figure.")
def replicas_in_one_rack(placement: Placement) -> float | None:
    """Tasks whose active and standbys are all in one rack, so that losing the rack loses all of them.

    Stateful tasks with at least two replicas. No figure where a client's rack is unknown, there is one rack only, or
    no standbys are asked for.
    """
    racks = placement.state.racks
    if racks is None or len(set(racks)) < 2 or not placement.state.standbys_wanted:
        return None
    count = 0
    for replicas, standbys in zip(placement.replicas, placement.standbys, strict=True):
        if standbys:
            count += len(replicas) > 1 and len({racks[client] for client in replicas}) == 1
    return float(count)


SPREAD_METRICS: tuple[MetricPlugin, ...] = (
    tag_values_achieved,
    tag_values_achieved_worst_key,
    replicas_all_on_one_value,
    racks_crossed,
    rack_traffic_cost,
    replicas_in_one_rack,
)
