"""Possible definitions of "throughput of a task" in the published table, and their results for a run.

The text says only that throughput was derived from the times of offset commits. The first tasks are alone for some
seconds; later there are so many that none reaches its ceiling. So 3.82 MB/s can only have been measured between two
commits near the beginning, unlike the other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import attrs

from assignor_lab.simulation.connect.published.throughput import (
    TaskWork,
    Throughput,
    ThroughputModel,
    ThroughputWork,
    measure_work,
    throughput_of,
)
from assignor_lab.simulation.connect.surroundings.job_runs import JobRuns

__all__ = ["DEFINITIONS", "ThroughputDefinition", "as_compared"]


@attrs.frozen
class ThroughputDefinition:
    """A meaning of "throughput of a task".

    Args:
        window_ms: ``None``: that of the model.
    """

    name: str
    meaning: str
    rate: Callable[[ThroughputWork, TaskWork], float | None]
    window_ms: int | None = None

    def measure(self, runs: JobRuns, model: ThroughputModel, as_of_ms: int) -> Throughput:
        if self.window_ms is not None:
            model = attrs.evolve(model, window_ms=self.window_ms)
        return self.of(measure_work(runs, model, as_of_ms))

    def of(self, work: ThroughputWork) -> Throughput:
        rates = [self.rate(work, task) for task in work.tasks]
        return throughput_of([rate for rate in rates if rate is not None])


def _over_the_window(work: ThroughputWork, task: TaskWork) -> float | None:
    return task.committed / (work.model.window_ms / 1000)


def _since_own_start(work: ThroughputWork, task: TaskWork) -> float | None:
    return task.committed / ((work.end_ms - task.started_ms) / 1000)


def _between_first_and_last(work: ThroughputWork, task: TaskWork) -> float | None:
    commits = [moment for stretch in task.stretches for moment in _commits(work, stretch)]
    if len(commits) < 2 or commits[-1] == commits[0]:
        return None
    done = sum(
        work.shares.until(counts) - work.shares.until(max(start, min(commits[0], counts)))
        for start, _, counts in task.stretches
    )
    return done / ((commits[-1] - commits[0]) / 1000)


def _best_between_two(work: ThroughputWork, task: TaskWork) -> float | None:
    best = 0.0
    for stretch in task.stretches:
        moments = [stretch[0], *_commits(work, stretch)]
        for one, following in pairwise(moments):
            best = max(best, _rate(work, one, following))
    return best


#: A task is fastest before others have started.
_FIRST_FILES = 4


def _best_file(work: ThroughputWork, task: TaskWork) -> float | None:
    best = 0.0
    before: float = task.started_ms
    for start, until, _ in task.stretches:
        # A stop discards the open file.
        done = work.shares.until(start) + work.model.file_mb
        for _file in range(_FIRST_FILES):
            moment = work.shares.when(done)
            if moment is None or moment > until:
                break
            best = max(best, work.model.file_mb / ((moment - before) / 1000))
            before, done = moment, done + work.model.file_mb
    return best


def _until_all_is_read(work: ThroughputWork, task: TaskWork) -> float | None:
    left = work.model.input_mb
    for start, _, counts in task.stretches:
        done = work.shares.until(counts) - work.shares.until(start)
        if done >= left:
            moment = work.shares.when(work.shares.until(start) + left)
            return None if moment is None else work.model.input_mb / ((moment - task.started_ms) / 1000)
        left -= done
    return None


def _commits(work: ThroughputWork, stretch: tuple[int, int, int]) -> Sequence[int]:
    start, _, counts = stretch
    return range(start + work.model.commit_ms, counts + 1, work.model.commit_ms)


def _rate(work: ThroughputWork, one: int, following: int) -> float:
    return (work.shares.until(following) - work.shares.until(one)) / ((following - one) / 1000)


_BEST_FILE = ThroughputDefinition(
    "best file", "best rate between two commits, one for each complete file of 20 MB, stops included", _best_file
)

#: The comparison takes the maximum from the best file, the other figures from the first one.
DEFINITIONS: Sequence[ThroughputDefinition] = (
    ThroughputDefinition("window", "committed, over the whole window", _over_the_window),
    ThroughputDefinition("own time", "committed, over the time since the task's own first start", _since_own_start),
    ThroughputDefinition("first to last", "committed between the task's first and last commit, over that time",
                         _between_first_and_last),
    ThroughputDefinition("best minute", "best rate between two commits, one a minute", _best_between_two),
    _BEST_FILE,
    ThroughputDefinition("finite input",
                         "400 MB, over the time since the task's own first start until it has read them",
                         _until_all_is_read, 6_000_000),
)  # fmt: skip


def as_compared(work: ThroughputWork) -> Throughput:
    """The figures over the window, with the maximum between two commits."""
    return attrs.evolve(DEFINITIONS[0].of(work), maximum=_BEST_FILE.of(work).maximum)
