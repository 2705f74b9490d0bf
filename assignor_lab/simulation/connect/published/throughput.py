"""A model of throughput: what tasks get done while they are started and stopped.

All running tasks share a capacity evenly, none exceeds a ceiling of its own, and only committed progress counts.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from statistics import median

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.simulation.connect.surroundings.job_runs import JobRuns

__all__ = [
    "Shares", "TaskWork", "Throughput", "ThroughputModel", "Work",
    "measure_work", "throughput_of",
]  # fmt: skip


@attrs.frozen
class ThroughputModel:
    """Assumptions about the work.

    Args:
        capacity_mb_s: What all tasks together can do.
        ceiling_mb_s: What one task can do at most.
        window_ms: How long is measured, from the first start of a task on.
        commit_ms: Progress is committed every so often in a run.
        file_mb: A file of the sink; its offsets are committed when it is complete, besides. Matters only for
            definitions of a task's throughput that look at single commits.
        input_mb: What there is for one task to read. Matters only for the definition that asks when it has read it.
        commits_on_stop: Whether a task that is stopped commits what it has done; if not, that is lost.
    """

    capacity_mb_s: float = 450.0
    ceiling_mb_s: float = 4.0
    window_ms: int = 1_560_000
    commit_ms: int = 60_000
    file_mb: float = 20.0
    input_mb: float = 400.0
    commits_on_stop: bool = False


@attrs.frozen
class TaskWork:
    """What one task did.

    Args:
        started_ms: When it ran for the first time.
        committed: Megabytes that count, over the window.
        stretches: Its lives within the window: from, until, and until when its progress counts.
    """

    started_ms: int
    committed: float
    stretches: Sequence[tuple[int, int, int]]


@attrs.frozen(eq=False)
class Work:
    """What all tasks did.

    Args:
        model: The assumptions.
        begin_ms: First start of any task.
        tasks: Every task that ever ran.
        shares: What a task that runs all the time has done by a moment.
    """

    model: ThroughputModel
    begin_ms: int
    tasks: Sequence[TaskWork]
    shares: Shares

    @property
    def end_ms(self) -> int:
        """End of the window."""
        return self.begin_ms + self.model.window_ms


@attrs.frozen
class Throughput:
    """Committed megabytes per second.

    Args:
        aggregate: Of all tasks together.
        minimum: Of the slowest task.
        maximum: Of the fastest one.
        median: Of the task in the middle.
    """

    aggregate: float
    minimum: float
    maximum: float
    median: float


def throughput_of(rates: Sequence[float]) -> Throughput:
    """The figures of Table 1 from each task's rate; zeros if there is no task."""
    if not rates:
        return Throughput(0.0, 0.0, 0.0, 0.0)
    return Throughput(sum(rates), min(rates), max(rates), median(rates))


def measure_work(runs: JobRuns, model: ThroughputModel, as_of_ms: int) -> Work:
    """What every task that ever ran did.

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
    shares = Shares([(start, finish or end) for each in lives for start, finish in each], end, model)
    return Work(model, begin, [_work_of(each, end, shares, model) for each in lives], shares)


def _work_of(lives: Sequence[tuple[int, int | None]], end: int, shares: Shares, model: ThroughputModel) -> TaskWork:
    stretches = []
    total = 0.0
    for start, finish in lives:
        if start >= end:
            continue
        until = end if finish is None else min(finish, end)
        counts = until
        if finish is not None and finish <= end and not model.commits_on_stop:
            counts = start + (until - start) // model.commit_ms * model.commit_ms
        total += shares.until(counts) - shares.until(start)
        stretches.append((start, until, counts))
    return TaskWork(min(start for start, _ in lives), total, stretches)


class Shares:
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

    def when(self, megabytes: float) -> float | None:
        """The moment by which so much is done; ``None``: never."""
        index = bisect.bisect_left(self._sums, megabytes) - 1
        if index < 0:
            return float(self._times[0])
        if index >= len(self._rates) or self._rates[index] == 0:
            return None
        return self._times[index] + (megabytes - self._sums[index]) / self._rates[index] * 1000
