"""Who was given which task when, by the decisions of a history: rows of stretches of time, as a picture needs them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assignment_api.streams import TaskId
from assignor_lab.capture.histories.moments import Moment
from assignor_lab.capture.histories.presence import instance_names

__all__ = ["given_tasks"]

#: Tasks that have a row: those that were given to others most often.
MOST_ROWS = 60
#: How long the last decision is drawn, as a part of the time before it: nobody knows when it ended.
_LAST = 0.02

_Runs = list[tuple[int, int, int]]


def given_tasks(moments: Sequence[Moment]) -> dict[str, Any]:
    """A picture of active tasks, in the form of an episode's: what is given counts from its decision to the next one.

    Args:
        moments: Decisions by time, at least one.

    Returns:
        ``until_ms``, ``instances``, ``rows`` (``task``, ``runs``: from, to, instance; ``waits``: from, to and 0 where
        nobody was given it), ``rows_left_out``, and ``marks``, the decisions; milliseconds since the first one.
    """
    begin = moments[0].time_ms
    times = [moment.time_ms - begin for moment in moments]
    until = max(times[-1] + max(int(times[-1] * _LAST), 1), 1)
    names = instance_names(moments, ())
    instances = {name: number for number, name in enumerate(dict.fromkeys(names.values()))}
    runs: dict[str, _Runs] = {}
    for moment, at, end in zip(moments, times, [*times[1:], until], strict=True):
        for process, (active, _) in moment.placed.items():
            if process in names:
                for task in active:
                    _add(runs.setdefault(task, []), at, end, instances[names[process]])
    kept = sorted(
        sorted(runs, key=lambda task: -len(runs[task]))[:MOST_ROWS], key=lambda task: TaskId.parse(task).sort_key()
    )
    return {
        "until_ms": until,
        "instances": list(instances),
        "rows": [
            {"task": task, "runs": [list(each) for each in runs[task]], "waits": _gaps(runs[task], until)}
            for task in kept
        ],
        "rows_left_out": len(runs) - len(kept),
        "marks": times,
    }


def _add(runs: _Runs, at: int, end: int, instance: int) -> None:
    """A stretch of time, joined with the one before it where nothing changed."""
    if runs and runs[-1][1] == at and runs[-1][2] == instance:
        at = runs.pop()[0]
    runs.append((at, end, instance))


def _gaps(runs: Iterable[tuple[int, int, int]], until: int) -> list[list[int]]:
    gaps, reached = [], 0
    for begin, end, _ in runs:
        if begin > reached:
            gaps.append([reached, begin, 0])
        reached = max(reached, end)
    return gaps if reached >= until else [*gaps, [reached, until, 0]]
