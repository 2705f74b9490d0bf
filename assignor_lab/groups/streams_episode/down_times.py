"""The downtime of each task of a history: its length, its cause, and the owners before and after."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import attrs

from assignor_lab.model.courses import OwnedTime, UnownedTime
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.pictures import DownTask, DownTimes
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED

__all__ = ["CAUSES", "MOST_INTERVALS", "down_times"]

#: Causes of a task's downtime, in the order in which they follow one another; intervals hold their positions.
CAUSES = (NOBODY, NOT_NOTICED, REBALANCE, REVOKED, RESTORING)
#: Most listed tasks, and most intervals of one of them.
MOST_TASKS = 60
MOST_INTERVALS = 100
#: Clocks of simulations begin at 1; a time after the year 2000 is a real one.
_REAL_TIME_MS = 946_684_800_000


def down_times(history: GroupHistory, causes: Sequence[str] = CAUSES) -> DownTimes:
    """The downtimes of a history with courses; the same spans of time as in the totals of a play.

    Args:
        causes: Possible causes of its waits.
    """
    first = history.begin_ms or 0
    place = {each.name: number for number, each in enumerate(history.instances)}
    by_cause = [0] * len(causes)
    found: dict[str, list[list[UnownedTime]]] = {}
    for task, course in history.courses.items():
        stretches = [
            [attrs.evolve(each, begin_ms=max(each.begin_ms, first)) for each in stretch if each.end_ms > first]
            for stretch in course.interruptions
        ]
        found[task] = [stretch for stretch in stretches if stretch]
        for stretch in found[task]:
            for each in stretch:
                by_cause[causes.index(each.cause)] += each.length_ms
    down = [task for task in sorted(found, key=lambda task: -_length(found[task])) if found[task]]
    return DownTimes(
        begun_ms=_clock(first),
        causes=tuple(causes),
        by_cause_ms=tuple(by_cause),
        instances=tuple(place),
        tasks=tuple(
            _task(task, found[task], history.courses[task].runs, first, causes, place) for task in down[:MOST_TASKS]
        ),
        tasks_left_out=len(down[MOST_TASKS:]),
    )


def _clock(at_ms: int) -> int | None:
    return at_ms if at_ms >= _REAL_TIME_MS else None


def _length(stretches: Sequence[Sequence[UnownedTime]]) -> int:
    return sum(each[-1].end_ms - each[0].begin_ms for each in stretches)


def _task(
    task: str,
    stretches: Sequence[list[UnownedTime]],
    runs: Sequence[OwnedTime],
    first: int,
    causes: Sequence[str],
    place: Mapping[str, int],
) -> DownTask:
    kept: list[list[UnownedTime]] = []
    intervals = 0
    for stretch in sorted(stretches, key=lambda each: each[0].begin_ms - each[-1].end_ms):
        intervals += len(stretch)
        if intervals > MOST_INTERVALS and kept:
            break
        kept.append(stretch[:MOST_INTERVALS])
    ran = [each for each in runs if each.end_ms > each.begin_ms]
    rows: list[tuple[int, ...]] = []
    for stretch in sorted(kept, key=lambda each: each[0].begin_ms):
        before = bisect_left(ran, stretch[0].begin_ms, key=lambda each: each.begin_ms) - 1
        after = bisect_right(ran, stretch[-1].end_ms - 1, key=lambda each: each.begin_ms)
        owners = (
            place[ran[before].instance] if before >= 0 else -1,
            place[ran[after].instance] if after < len(ran) else -1,
        )
        rows += [(each.begin_ms - first, each.end_ms - first, causes.index(each.cause), *owners) for each in stretch]
    return DownTask(
        task=task,
        down_ms=_length(stretches),
        times=len(stretches),
        longest_ms=max(each[-1].end_ms - each[0].begin_ms for each in stretches),
        intervals=tuple(rows),
        intervals_left_out=sum(map(len, stretches)) - len(rows),
    )
