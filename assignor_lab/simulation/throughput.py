"""What tasks get done while they are started and stopped: a model of throughput.

All running tasks share a capacity evenly, none exceeds a ceiling of its own, and only committed progress counts.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from statistics import median

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.simulation.job_runs import JobRuns

__all__ = ["Throughput", "ThroughputModel", "measure_throughput"]


@attrs.frozen
class ThroughputModel:
    """Assumptions about the work (reference 11.4).

    Args:
        capacity_mb_s: What all tasks together can do.
        ceiling_mb_s: What one task can do at most.
        window_ms: How long is measured, from the first start of a task on.
        commit_ms: Progress is committed every so often in a run.
        commits_on_stop: Whether a task that is stopped commits what it has done; if not, that is lost.
    """

    capacity_mb_s: float = 548.0
    ceiling_mb_s: float = 4.0
    window_ms: int = 1_560_000
    commit_ms: int = 60_000
    commits_on_stop: bool = False


@attrs.frozen
class Throughput:
    """Committed megabytes per second.

    Args:
        aggregate: Of all tasks together, over the window.
        minimum: Of the slowest task, over the window.
        maximum: Of the fastest one.
        median: Of the task in the middle.
        peak: The highest rate that any task kept up between its start and a commit, or for ten seconds.
    """

    aggregate: float
    minimum: float
    maximum: float
    median: float
    peak: float


#: Shortest stretch over which a task's peak is taken.
_PEAK_MS = 10_000


def measure_throughput(runs: JobRuns, model: ThroughputModel, as_of_ms: int) -> Throughput:
    """Committed throughput of every task that ever ran, under ``model``.

    Args:
        runs: The ledger.
        model: The assumptions.
        as_of_ms: What ran at this moment is taken to run on, whatever happened to it later.

    Raises:
        ValueError: if no task ever ran.
    """
    lives = [
        [
            (run.start_ms, run.end_ms if run.end_ms is not None and run.end_ms <= as_of_ms else None)
            for run in each
            if run.start_ms <= as_of_ms and (run.end_ms is None or run.end_ms > run.start_ms)
        ]
        for job, each in runs.runs.items()
        if isinstance(job, ConnectorTaskId)
    ]
    begin = min(start for each in lives for start, _ in each)
    end = begin + model.window_ms
    shares = _Shares([(start, finish or end) for each in lives for start, finish in each], end, model)
    done = []
    peak = 0.0
    for each in lives:
        total = 0.0
        for start, finish in each:
            if start >= end:
                continue
            until = end if finish is None else min(finish, end)
            stopped = finish is not None and finish <= end
            if stopped and not model.commits_on_stop:
                until = start + (until - start) // model.commit_ms * model.commit_ms
            if until > start:
                total += shares.until(until) - shares.until(start)
                if until - start >= _PEAK_MS:
                    peak = max(peak, (shares.until(start + _PEAK_MS) - shares.until(start)) / (_PEAK_MS / 1000))
        done.append(total / (model.window_ms / 1000))
    return Throughput(sum(done), min(done), max(done), median(done), peak)


class _Shares:
    """How much a task that runs all the time has done by a moment, in megabytes."""

    def __init__(self, stretches: Sequence[tuple[int, int]], end_ms: int, model: ThroughputModel) -> None:
        changes: dict[int, int] = {}
        for start, finish in stretches:
            changes[start] = changes.get(start, 0) + 1
            changes[min(finish, end_ms)] = changes.get(min(finish, end_ms), 0) - 1
        self._times = sorted(changes)
        self._rates: list[float] = []
        self._sums = [0.0]
        running = 0
        for index, time in enumerate(self._times):
            running += changes[time]
            rate = min(model.ceiling_mb_s, model.capacity_mb_s / running) if running > 0 else 0.0
            self._rates.append(rate)
            following = self._times[index + 1] if index + 1 < len(self._times) else time
            self._sums.append(self._sums[-1] + rate * (following - time) / 1000)

    def until(self, time_ms: int) -> float:
        """Megabytes by a moment."""
        index = bisect.bisect_right(self._times, time_ms) - 1
        if index < 0:
            return 0.0
        return self._sums[index] + self._rates[index] * (time_ms - self._times[index]) / 1000
