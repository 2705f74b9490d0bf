"""Coverage in groups whose leader assigns: tasks and standbys that the answer leaves out.

An answer that leaves tasks out looks balanced without it.
"""

from __future__ import annotations

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.metrics.coverage import GROUP, tasks_not_assigned
from assignor_lab.groups.metrics.definition import metric, plugins_of
from assignor_lab.groups.metrics.processes import stateful_tasks
from assignor_lab.groups.streams.placement import StreamsPlacement, placement_of, standby_counts

__all__ = ["COVERAGE_METRICS"]


@metric(GROUP, "standbys", "lower", "Subtracted already: no more standbys than there are other processes.")
def standbys_missing(placement: StreamsPlacement) -> float:
    """Standbys that are configured and not placed, so that a failing process takes longer to replace.

    For each stateful task ``min(num.standby.replicas, clients - 1)`` less its standbys; never negative.
    """
    wanted = placement.state.standbys_wanted
    if not wanted:
        return 0.0
    given = standby_counts(placement)
    tasks = stateful_tasks(placement.state.topology)
    return float(sum([wanted - given[task] for task in tasks if given[task] < wanted]))


@metric(GROUP, "standbys", "none", "Moving a task with state without a break needs at least one.")
def warmups_in_flight(placement: StreamsPlacement) -> float:
    """Standbys beyond the configured number, which warm up before their task moves.

    For each task its standbys less ``num.standby.replicas``; never negative.
    """
    configured = max(placement.state.application.assignment_configs().num_standby_replicas, 0)
    return float(sum([number - configured for number in standby_counts(placement) if number > configured]))


COVERAGE_METRICS: tuple[MetricPlugin, ...] = plugins_of(
    (tasks_not_assigned, standbys_missing, warmups_in_flight), placement_of, "streams"
)
