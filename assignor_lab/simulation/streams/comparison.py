"""Comparison of a simulated episode with its recording, which the simulation never reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["compared_with", "merged_interruptions", "same_placements"]

#: A late probe may see an interruption begin this long after the action.
_GRACE_MS = 500
#: The probe does not report shorter interruptions.
_SHORTEST_MS = 500


def compared_with(
    document: Mapping[str, Any], reads: Sequence[tuple[int, float | None]], recorded: Mapping[str, Any]
) -> dict[str, Any]:
    """The ``compared`` of a result.

    Args:
        recorded: The recorded result: ``generations``, in the streams protocol ``changes`` of members' tasks, and with
            a probe ``probe``.

    Returns:
        ``actions``: each figure as recorded and as simulated. ``generations``: recorded ones with the same tasks of
            each process in the simulation. ``probe``: for each window the time without output, summed and of the worst
            task, and restored bytes.
    """
    real = list(recorded.get("generations", ()))
    bounds = [action["t_ms"] for action in document["actions"]]
    rows = []
    for action, end in zip(document["actions"], [*bounds[1:], None], strict=True):
        within = _within(real, action["t_ms"], end)
        stable = _last_assignment(recorded.get("changes"), within, action["t_ms"], end)
        rows.append(
            {
                "t_ms": action["t_ms"],
                "action": action["action"],
                "who": action["who"],
                "rebalances": {"recorded": len(within), "simulated": action["rebalances"]},
                "until_stable_ms": {"recorded": stable, "simulated": action["until_stable_ms"]},
            }
        )
    same = same_placements(document, recorded)
    return {
        "actions": rows,
        "generations": {
            "recorded": len(same),
            "same_active_tasks": sum(active for active, _ in same),
            "same_tasks": sum(every for _, every in same),
        },
        "probe": [_window(window, document, reads) for window in recorded.get("probe", ())],
    }


def _within(generations: Sequence[Mapping[str, Any]], begin: int, end: int | None) -> list[Mapping[str, Any]]:
    return [each for each in generations if begin <= each["t_ms"] and (end is None or each["t_ms"] < end)]


def _last_assignment(
    changes: Sequence[int] | None, generations: Sequence[Mapping[str, Any]], begin: int, end: int | None
) -> int | None:
    if changes is None:
        return int(generations[-1]["assignment_t_ms"] - begin) if generations else None
    within = [each for each in changes if begin <= each and (end is None or each < end)]
    return within[-1] - begin if within else None


def same_placements(document: Mapping[str, Any], recorded: Mapping[str, Any]) -> list[tuple[bool, bool]]:
    """For each recorded generation since the first action whether each process has the same simulated tasks.

    The simulated generation is the one at the same time, or of the same number after the action: one of the two is
    slower.
    """
    bounds = [action["t_ms"] for action in document["actions"]]
    real, ours = list(recorded.get("generations", ())), document["generations"]
    found = []
    for begin, end in zip(bounds, [*bounds[1:], None], strict=True):
        theirs, here = _within(real, begin, end), _within(ours, begin, end)
        for place, generation in enumerate(theirs):
            in_force = [each for each in ours if each["assignment_t_ms"] <= generation["assignment_t_ms"]][-1:]
            candidates = [*in_force, *here[place : place + 1]]
            found.append(
                (
                    any(_active(each) == _active(generation) for each in candidates),
                    any(_placed(each) == _placed(generation) for each in candidates),
                )
            )
    return found


def _active(generation: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: tasks["active"] for name, tasks in generation["assigned"].items()}


def _placed(generation: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (tasks["active"], tasks["standby"]) for name, tasks in generation["assigned"].items()}


def _window(
    window: Mapping[str, Any], document: Mapping[str, Any], reads: Sequence[tuple[int, float | None]]
) -> dict[str, Any]:
    begin, end = window["t_ms"] - _GRACE_MS, window["end_ms"] - _GRACE_MS
    real = {task: sum(length for _, length in seen) for task, seen in window["tasks"].items()}
    ours = {
        task: sum(
            to - start
            for start, to in merged_interruptions(document["tasks"][task]["intervals"])
            if begin <= start < end and to - start >= _SHORTEST_MS
        )
        for task in window["tasks"]
        if task in document["tasks"]
    }
    return {
        "t_ms": window["t_ms"],
        "action": window["action"],
        "interrupted": {"recorded": _count(real), "simulated": _count(ours)},
        "unavailable_ms": {"recorded": sum(real.values()), "simulated": sum(ours.values())},
        "worst_ms": {"recorded": max(real.values(), default=0), "simulated": max(ours.values(), default=0)},
        "restored_bytes": {
            "recorded": (window.get("restored_bytes") or 0) + (window.get("standby_bytes") or 0),
            "simulated": _sum(size for begun, size in reads if window["t_ms"] <= begun < window["end_ms"]),
        },
    }


def _sum(sizes: Iterable[float | None]) -> int | None:
    total = 0.0
    for size in sizes:
        if size is None:
            return None
        total += size
    return round(total)


def _count(away: Mapping[str, int]) -> int:
    return sum(milliseconds > 0 for milliseconds in away.values())


def merged_interruptions(intervals: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Interruptions with consecutive causes merged."""
    merged: list[tuple[int, int]] = []
    for begin, end, _cause in intervals:
        if merged and merged[-1][1] == begin:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    return merged
