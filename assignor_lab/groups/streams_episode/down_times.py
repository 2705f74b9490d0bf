"""The downtime of each task of a played episode: its length, its cause, and the owners before and after."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

from assignor_lab.model.pictures import DownTask, DownTimes
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["CAUSES", "MOST_INTERVALS", "begun_ms", "down_times"]

#: Causes of a task's downtime, in the order in which they follow one another; intervals hold their positions.
CAUSES = (NOBODY, NOT_NOTICED, REBALANCE, REVOKED, RESTORING)
#: Most listed tasks, and most intervals of one of them.
MOST_TASKS = 60
MOST_INTERVALS = 100
#: Clocks of simulations begin at 1; a time after the year 2000 is a real one.
_REAL_TIME_MS = 946_684_800_000

#: From, to, position in ``CAUSES``, since the first event.
_Interval = tuple[int, int, int]


def down_times(played: PlayedStreamsEpisode) -> DownTimes:
    """The downtimes; the same spans of time as in the totals of the play."""
    first, ledger, names = played.first_ms, played.world.ledger, list(played.world.instances)
    by_cause = [0] * len(CAUSES)
    found = []
    for task, intervals in zip(played.world.tasks, ledger.intervals, strict=True):
        within = [
            (max(begin, first) - first, to - first, CAUSES.index(cause)) for begin, to, cause in intervals if to > first
        ]
        for begin, to, cause in within:
            by_cause[cause] += to - begin
        found.append((str(task), _stretches(within)))
    worst = sorted(range(len(found)), key=lambda number: -_length(found[number][1]))
    place = {name: number for number, name in enumerate(names)}
    shown = [number for number in worst[:MOST_TASKS] if found[number][1]]
    ran = [
        [(begin - first, place[owner]) for begin, to, owner in ledger.runs[number] if to is None or to > begin]
        for number in range(len(found))
    ]
    return DownTimes(
        begun_ms=_clock(first),
        causes=CAUSES,
        by_cause_ms=tuple(by_cause),
        instances=tuple(names),
        tasks=tuple(_task(*found[number], ran[number]) for number in shown),
        tasks_left_out=sum(bool(stretches) for _, stretches in found) - len(shown),
    )


def begun_ms(episode: StreamsEpisode) -> int | None:
    """Time of the first event of an episode, in epoch milliseconds; ``None``: it has no real time."""
    first = min((event.at_ms for event in episode.events), default=0) if not episode.clients else 0
    return _clock(episode.start_ms + first)


def _clock(at_ms: int) -> int | None:
    return at_ms if at_ms >= _REAL_TIME_MS else None


def _stretches(intervals: Sequence[_Interval]) -> list[list[_Interval]]:
    stretches: list[list[_Interval]] = []
    for each in intervals:
        if stretches and stretches[-1][-1][1] == each[0]:
            stretches[-1].append(each)
        else:
            stretches.append([each])
    return stretches


def _length(stretches: Sequence[Sequence[_Interval]]) -> int:
    return sum(each[-1][1] - each[0][0] for each in stretches)


def _task(task: str, stretches: Sequence[list[_Interval]], ran: Sequence[tuple[int, int]]) -> DownTask:
    kept: list[list[_Interval]] = []
    intervals = 0
    for stretch in sorted(stretches, key=lambda each: each[0][0] - each[-1][1]):
        intervals += len(stretch)
        if intervals > MOST_INTERVALS and kept:
            break
        kept.append(stretch[:MOST_INTERVALS])
    rows: list[tuple[int, ...]] = []
    for stretch in sorted(kept):
        before = bisect_left(ran, stretch[0][0], key=itemgetter(0)) - 1
        after = bisect_right(ran, stretch[-1][1] - 1, key=itemgetter(0))
        owners = (ran[before][1] if before >= 0 else -1, ran[after][1] if after < len(ran) else -1)
        rows += [(*each, *owners) for each in stretch]
    longest = max(each[-1][1] - each[0][0] for each in stretches)
    return DownTask(
        task=task,
        down_ms=_length(stretches),
        times=len(stretches),
        longest_ms=longest,
        intervals=tuple(rows),
        intervals_left_out=sum(map(len, stretches)) - len(rows),
    )
