"""Model of throughput: work of tasks while they are started and stopped.

Running tasks share a capacity evenly, none exceeds its own ceiling, and only committed progress counts.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from statistics import median

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.simulation.connect.surroundings.job_runs import JobRuns

__all__ = [
    "Shares", "TaskWork", "Throughput", "ThroughputModel", "ThroughputWork",
    "measure_work", "throughput_of",
]  # fmt: skip


@attrs.frozen
class ThroughputModel:
    """Assumptions about the work.

    Args:
        capacity_mb_s: Capacity of all tasks together.
        ceiling_mb_s: Capacity of one task.
        window_ms: Measured time, from the first start of a task on.
        file_mb: A file of the sink, with a commit at its end; for definitions with single commits.
        input_mb: Input of one task; for the definition with its reading time.
        commits_on_stop: Otherwise a stopped task loses its work.
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
    """Work of one task.

    Args:
        stretches: Its lives within the window: from, until, and end of the committed progress.
    """

    started_ms: int
    committed: float
    stretches: Sequence[tuple[int, int, int]]


@attrs.frozen(eq=False)
class ThroughputWork:
    """Work of all tasks.

    Args:
        shares: Work of an always running task by a given time.
    """

    model: ThroughputModel
    begin_ms: int
    tasks: Sequence[TaskWork]
    shares: Shares

    @property
    def end_ms(self) -> int:
        return self.begin_ms + self.model.window_ms


@attrs.frozen
class Throughput:
    """Committed megabytes per second."""

    aggregate: float
    minimum: float
    maximum: float
    median: float


def throughput_of(rates: Sequence[float]) -> Throughput:
    if not rates:
        return Throughput(0.0, 0.0, 0.0, 0.0)
    return Throughput(sum(rates), min(rates), max(rates), median(rates))


def measure_work(runs: JobRuns, model: ThroughputModel, as_of_ms: int) -> ThroughputWork:
    """Work of every task that ever ran; those that run at ``as_of_ms`` run on.

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
    return ThroughputWork(model, begin, [_work_of(each, end, shares, model) for each in lives], shares)


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
    """Work of an always running task by a given time, in megabytes."""

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
        index = bisect.bisect_right(self._times, time_ms) - 1
        if index < 0:
            return 0.0
        return self._sums[index] + self._rates[index] * (time_ms - self._times[index]) / 1000

    def when(self, megabytes: float) -> float | None:
        """The time at which this work is done; ``None``: never."""
        index = bisect.bisect_left(self._sums, megabytes) - 1
        if index < 0:
            return float(self._times[0])
        if index >= len(self._rates) or self._rates[index] == 0:
            return None
        return self._times[index] + (megabytes - self._sums[index]) / self._rates[index] * 1000
