"""Coverage: missing standbys, and tasks that are placed more than once."""

from __future__ import annotations

from assignor_lab.groups.metrics.coverage import GROUP, tasks_not_assigned
from assignor_lab.groups.metrics.definition import MetricDefinition, metric
from assignor_lab.groups.streams_group.placement import StreamsGroupPlacement

__all__ = ["COVERAGE"]


@metric(GROUP, "standbys", "lower", "Subtracted already: no more standbys than there are other processes.")
def standbys_missing(placement: StreamsGroupPlacement) -> float:
    """Standbys that are configured and not placed, so that a failing process takes longer to replace.

    For each stateful task ``min(num.standby.replicas, processes - 1)`` less the processes with a standby that do not
    run it; never negative. Warm-ups are none.
    """
    state = placement.state
    missing = 0
    if state.standbys_wanted:
        for owner, copies, stateful in zip(placement.owner, placement.copies, state.topology.stateful, strict=True):
            if stateful:
                missing += max(state.standbys_wanted - len(set(copies) - {owner}), 0)
    return float(missing)


@metric(GROUP, "standbys", "none", "Moving a task with state without a break needs at least one.")
def warmups_in_flight(placement: StreamsGroupPlacement) -> float:
    """Standbys beyond the configured number, which warm up before their task moves.

    Here they have their own role: all warm-ups count, and standbys beyond ``num.standby.replicas``.
    """
    configured = placement.state.standbys_configured
    beyond = sum(max(len(copies) - configured, 0) for copies in placement.copies)
    return float(beyond + sum(map(len, placement.warmups)))


@metric(GROUP, "tasks", "lower", "None.")
def tasks_active_twice(placement: StreamsGroupPlacement) -> float:
    """Tasks that several members are to run. Kafka does not notice; all but one of them wait for ever."""
    return float(sum(1 for runners in placement.runners if len(runners) > 1))


@metric(GROUP, "tasks", "lower", "None.")
def tasks_twice_on_process(placement: StreamsGroupPlacement) -> float:
    """Tasks that one process holds more than once: copies that fail together, and that wait for each other."""
    process_of = placement.state.process_of
    twice = 0
    for runners, copies, warmups in zip(placement.runners, placement.copies, placement.warmups, strict=True):
        held = [*(process_of[member] for member in runners), *copies, *warmups]
        twice += len(set(held)) < len(held)
    return float(twice)


COVERAGE: tuple[MetricDefinition[StreamsGroupPlacement], ...] = (
    tasks_not_assigned,
    standbys_missing,
    warmups_in_flight,
    tasks_active_twice,
    tasks_twice_on_process,
)
