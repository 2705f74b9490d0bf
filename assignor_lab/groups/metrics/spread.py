"""Spread: replicas of a task that can fail together.

A *replica* of a task is its active or one of its standbys.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.groups.metrics.definition import MetricDefinition, derived, metric
from assignor_lab.groups.metrics.processes import GroupProcesses, OnProcesses, stateful_tasks

__all__ = ["BY_TAGS", "GROUP", "has_spreading_tags", "replicas_in_one_rack"]

GROUP = "spread"


@metric(
    GROUP,
    "share",
    "higher",
    "Subtracted already: the number of replicas, and the values that the clients have, limit the spread.",
)
def tag_values_achieved(placement: OnProcesses) -> float | None:
    """Share of the possible spread of a task's replicas over the values of each tag (zones, clusters), on average.

    For each stateful task and each key of ``rack.aware.assignment.tags``: distinct values among the clients with a
    replica, divided by the possible number, ``min(1 + standbys, distinct values among all clients)``. The mean over
    all pairs with more than one possible value; without such a pair there is no figure.
    """
    found = _tag_shares(placement)
    return sum([share for _, _, share, _ in found]) / len(found) if found else None


@metric(GROUP, "share", "higher", "Subtracted already, as in tag_values_achieved.")
def tag_values_achieved_worst_key(placement: OnProcesses) -> float | None:
    """The same for the tag with the worst spread: the smallest mean over the tasks among the tag keys."""
    found = _tag_shares(placement)
    by_key: dict[str, list[float]] = {key: [] for _, key, _, _ in found}
    for _, key, share, _ in found:
        by_key[key].append(share)
    return min((sum(shares) / len(shares) for shares in by_key.values()), default=None)


@metric(GROUP, "tasks", "lower", "Subtracted already: only tags with more than one value within reach count.")
def replicas_all_on_one_value(placement: OnProcesses) -> float | None:
    """Tasks whose replicas all share one value of some tag, so that one failing zone takes all of them.

    Tasks with at least two replicas of which all lie on one value of at least one of the keys of
    ``rack.aware.assignment.tags``, although two or more values were within reach.
    """
    found = _tag_shares(placement)
    return float(len({task for task, _, _, on_one in found if on_one})) if found else None


@derived
def _tag_shares(placement: OnProcesses) -> list[tuple[int, str, float, bool]]:
    """Task, tag key, share of the possible values, and True if two or more replicas lie on one value."""
    tasks, replicas = stateful_tasks(placement.state.topology), placement.replicas
    shares = []
    for key, values, achievable in _spreading_tags(placement.state):
        for task in tasks:
            found = set(map(values.__getitem__, replicas[task]))
            found.discard(None)
            distinct = len(found)
            share = distinct / achievable if distinct < achievable else 1.0
            shares.append((task, key, share, distinct == 1 and len(replicas[task]) > 1))
    return shares


def has_spreading_tags(placement: OnProcesses) -> bool:
    """True if replicas can reach several values of a tag."""
    return bool(_spreading_tags(placement.state))


@derived
def _spreading_tags(state: GroupProcesses) -> list[tuple[str, Sequence[str | None], int]]:
    if not state.standbys_wanted:
        return []
    found = []
    for key, values in state.tags.items():
        achievable = min(1 + state.standbys_wanted, len(set(values) - {None}))
        if achievable > 1:
            found.append((key, values, achievable))
    return found


@metric(GROUP, "tasks", "lower", "All tasks with standbys, where all clients are in one rack: then there is no figure.")
def replicas_in_one_rack(placement: OnProcesses) -> float | None:
    """Tasks whose active and standbys are all in one rack, so that losing the rack loses all of them.

    Stateful tasks with at least two replicas. No figure if a client's rack is unknown, there is one rack only, or
    no standbys are configured.
    """
    racks = placement.state.racks
    if racks is None or len(set(racks)) < 2 or not placement.state.standbys_wanted:
        return None
    count = 0
    for replicas, standbys in zip(placement.replicas, placement.standbys, strict=True):
        if standbys and len(replicas) > 1:
            count += len(set(map(racks.__getitem__, replicas))) == 1
    return float(count)


BY_TAGS: tuple[MetricDefinition[OnProcesses], ...] = (
    tag_values_achieved,
    tag_values_achieved_worst_key,
    replicas_all_on_one_value,
)
