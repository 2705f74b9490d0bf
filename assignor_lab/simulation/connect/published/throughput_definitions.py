"""Definitions that "throughput of a task" may have had in the published table, and what each makes of a run.

The text says only that throughput was derived from the times of offset commits. Where tasks share a capacity, the first
ones are alone for some seconds; then there are so many that none reaches its ceiling. So 3.82 MB/s can only have been
seen between two commits, near the beginning, and not over the whole test like the other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import attrs

from assignor_lab.simulation.connect.published.throughput import (
    TaskWork,
    Throughput,
    ThroughputModel,
    Work,
    measure_work,
    throughput_of,
)
from assignor_lab.simulation.connect.surroundings.job_runs import JobRuns

__all__ = ["DEFINITIONS", "Definition", "as_compared"]


@attrs.frozen
class Definition:
    """A meaning of "throughput of a task".

    Args:
        name: A short name.
        meaning: What is divided by what.
        rate: The rate of a task in MB/s; ``None`` = it has none.
        window_ms: The window has to be so long; ``None``: as the model has it.
    """

    name: str
    meaning: str
    rate: Callable[[Work, TaskWork], float | None]
    window_ms: int | None = None

    def measure(self, runs: JobRuns, model: ThroughputModel, as_of_ms: int) -> Throughput:
        """The four figures, with the arguments of :func:`measure_work`."""
        if self.window_ms is not None:
            model = attrs.evolve(model, window_ms=self.window_ms)
        return self.of(measure_work(runs, model, as_of_ms))

    def of(self, work: Work) -> Throughput:
        """The four figures of the table; ``aggregate`` is the sum over tasks."""
        rates = [self.rate(work, task) for task in work.tasks]
        return throughput_of([rate for rate in rates if rate is not None])


def _over_the_window(work: Work, task: TaskWork) -> float | None:
    return task.committed / (work.model.window_ms / 1000)


def _since_own_start(work: Work, task: TaskWork) -> float | None:
    return task.committed / ((work.end_ms - task.started_ms) / 1000)


def _between_first_and_last(work: Work, task: TaskWork) -> float | None:
    commits = [moment for stretch in task.stretches for moment in _commits(work, stretch)]
    if len(commits) < 2 or commits[-1] == commits[0]:
        return None
    done = sum(
        work.shares.until(counts) - work.shares.until(max(start, min(commits[0], counts)))
        for start, _, counts in task.stretches
    )
    return done / ((commits[-1] - commits[0]) / 1000)


def _best_between_two(work: Work, task: TaskWork) -> float | None:
    best = 0.0
    for stretch in task.stretches:
        moments = [stretch[0], *_commits(work, stretch)]
        for one, following in pairwise(moments):
            best = max(best, _rate(work, one, following))
    return best


#: A task is fastest at the beginning of a stretch, when others have not yet started.
_FIRST_FILES = 4


def _best_file(work: Work, task: TaskWork) -> float | None:
    best = 0.0
    before: float = task.started_ms
    for start, until, _ in task.stretches:
        # A stop throws the open file away: each stretch begins a new one.
        done = work.shares.until(start) + work.model.file_mb
        for _file in range(_FIRST_FILES):
            moment = work.shares.when(done)
            if moment is None or moment > until:
                break
            best = max(best, work.model.file_mb / ((moment - before) / 1000))
            before, done = moment, done + work.model.file_mb
    return best


def _until_all_is_read(work: Work, task: TaskWork) -> float | None:
    left = work.model.input_mb
    for start, _, counts in task.stretches:
        done = work.shares.until(counts) - work.shares.until(start)
        if done >= left:
            moment = work.shares.when(work.shares.until(start) + left)
            return None if moment is None else work.model.input_mb / ((moment - task.started_ms) / 1000)
        left -= done
    return None


def _commits(work: Work, stretch: tuple[int, int, int]) -> Sequence[int]:
    start, _, counts = stretch
    return range(start + work.model.commit_ms, counts + 1, work.model.commit_ms)


def _rate(work: Work, one: int, following: int) -> float:
    return (work.shares.until(following) - work.shares.until(one)) / ((following - one) / 1000)


_BEST_FILE = Definition(
    "best file", "best rate between two commits, one for each complete file of 20 MB, stops included", _best_file
)

#: In the comparison aggregate, minimum and median are the first one's, and the maximum is that of the best file.
DEFINITIONS: Sequence[Definition] = (
    Definition("window", "committed, over the whole window", _over_the_window),
    Definition("own time", "committed, over the time since the task's own first start", _since_own_start),
    Definition("first to last", "committed between the task's first and last commit, over that time",
               _between_first_and_last),
    Definition("best minute", "best rate between two commits, one a minute", _best_between_two),
    _BEST_FILE,
    Definition("finite input", "400 MB, over the time since the task's own first start until it has read them",
               _until_all_is_read, 6_000_000),
)  # fmt: skip


def as_compared(work: Work) -> Throughput:
    """The figures that are set beside the published ones: over the window, and the maximum between two commits."""
    return attrs.evolve(DEFINITIONS[0].of(work), maximum=_BEST_FILE.of(work).maximum)
