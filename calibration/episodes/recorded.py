"""The outcome of a recorded experiment, in the form of the simulation's results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.timelines.instances import instance_of
from assignor_lab.capture.timelines.timeline import ProbedAction, RecordedTimeline

__all__ = ["recorded_document"]


def recorded_document(timeline: RecordedTimeline, names: Mapping[str, str], first_ms: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "generations": [
            {
                "t_ms": each.prepared_ms - first_ms,
                "assignment_t_ms": each.assigned_ms - first_ms,
                "generation": each.number,
                "reason": each.reason,
                "members": each.members,
                "followup": each.followup,
                "assigned": _by_instance(each.assigned, names),
            }
            for each in timeline.generations
        ]
    }
    if timeline.kind != "streams-classic":
        document["changes"] = _changes(timeline, first_ms)
    if timeline.probe is not None:
        document["probe"] = [_window(each, first_ms) for each in timeline.probe]
    return document


def _changes(timeline: RecordedTimeline, first_ms: int) -> list[int]:
    had: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    found = []
    for each in timeline.members:
        if not each.event:
            has = (tuple(sorted(each.active)), tuple(sorted(each.standby)))
            if has != had.get(each.member, ((), ())):
                found.append(each.time_ms - first_ms)
            had[each.member] = has
    return found


def _by_instance(
    assigned: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]], names: Mapping[str, str]
) -> dict[str, dict[str, list[str]]]:
    found: dict[str, tuple[set[str], set[str]]] = {}
    for consumer, (active, standby) in assigned.items():
        instance = instance_of(consumer, names)
        if instance is not None:
            held = found.setdefault(instance, (set(), set()))
            held[0].update(active)
            held[1].update(standby)
    return {
        name: {"active": _sorted(active), "standby": _sorted(standby)}
        for name, (active, standby) in sorted(found.items())
    }


def _sorted(tasks: set[str]) -> list[str]:
    return sorted(tasks, key=lambda task: TaskId.parse(task).sort_key())


def _window(window: ProbedAction, first_ms: int) -> dict[str, Any]:
    """One action of a probe: interruptions of a second and more, by task."""
    begin = window.begin_ms - first_ms
    return {
        "t_ms": begin,
        "end_ms": window.end_ms - first_ms,
        "action": window.phase,
        "tasks": {
            task: [[begin + at, length] for at, length in interruptions]
            for task, interruptions in window.interruptions.items()
        },
        "restored_bytes": window.restored.restored_bytes,
        "standby_bytes": window.restored.standby_bytes,
    }
