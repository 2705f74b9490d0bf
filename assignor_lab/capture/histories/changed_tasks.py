"""Events of a history whose tasks change: another topology, a deleted topic, or more partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignor_lab.capture.histories.moments import STREAMS, DecisionMoment
from assignor_lab.capture.histories.presence import Happened, prepared_ms
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["changed_tasks", "tasks_of_subtopologies"]


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
    sets = [_tasks(moment, protocol) for moment in moments]
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
            found.append(Happened(at_ms, "metadata_changes", "", {}))
    return found


def _event(at_ms: int, tasks: frozenset[str]) -> Happened:
    return Happened(at_ms, "tasks", "", {"tasks": sorted(tasks)})


def _tasks(moment: DecisionMoment, protocol: str) -> frozenset[str]:
    tasks = tasks_of_subtopologies([moment.document]) if protocol == STREAMS else moment.document["tasks"]
    return frozenset(task["id"] for task in tasks)


def tasks_of_subtopologies(documents: Any) -> list[dict[str, Any]]:
    """In the form of a classic state; stores and partitions are unknown."""
    sizes: dict[str, tuple[int, bool]] = {}
    for document in documents:
        for each in document["subtopologies"]:
            before = sizes.get(each["id"], (0, False))
            sizes[each["id"]] = max(before[0], each["tasks"]), before[1] or each["stateful"]
    return [
        {
            "id": f"{name}_{number}", "stateful": is_stateful, "logged": is_stateful, "stores": None,
            "partitions": None,
        }
        for name, (count, is_stateful) in sizes.items()
        for number in range(count)
    ]  # fmt: skip
