"""Events of a history whose tasks change: another topology, a deleted topic, or more partitions."""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.capture.edges.happened import Happened
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.presence import prepared_ms
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["changed_tasks"]


def changed_tasks(
    moments: Sequence[DecisionMoment],
    happened: Sequence[Happened],
    protocol: str,
    timings: StreamsTimings,
    first_ms: int,
    *,
    begins_empty: bool,
) -> list[Happened]:
    """The ``tasks`` events of a history; none if all decisions have the same tasks.

    A new topology comes with a new process, so a change counts from the first start since the previous decision, or
    else from the rebalance that the changed topics caused (``metadata_changes``). The internal topics of a new group
    (``begins_empty``) can be missing at first.
    """
    first = 1 if begins_empty else 0
    sets = [frozenset(moment.input.tasks) for moment in moments]
    changes = [place for place in range(first + 1, len(sets)) if sets[place] != sets[place - 1]]
    if not changes:
        return []
    at_first = sets[first]
    found = [] if at_first >= frozenset().union(*sets[first:]) else [_event(first_ms, at_first)]
    for place in changes:
        earlier, now = moments[place - 1].time_ms, moments[place].time_ms
        start = next(
            (each.time_ms for each in happened if each.type == "start" and earlier < each.time_ms <= now), None
        )
        at_ms = prepared_ms(moments, place, protocol, timings) if start is None else start
        found.append(_event(at_ms, sets[place]))
        if start is None:
            found.append(Happened(at_ms, "metadata_changes", ""))
    return found


def _event(at_ms: int, tasks: frozenset[str]) -> Happened:
    return Happened(at_ms, "tasks", "", tasks=tuple(sorted(tasks)))
