"""Ledger of a simulation: each job's runs, and figures derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from assignment_api.connect import ConnectorTaskId
from assignor_lab.model.courses import OwnedTime, TaskCourse, UnownedTime

__all__ = ["Job", "JobRuns", "Overlap", "JobRun"]

#: A connector instance, by its connector, or a task.
Job = str | ConnectorTaskId


@attrs.define
class JobRun:
    """One life of a job on one process.

    Args:
        start_ms: In the future while it is being started.
        end_ms: ``None``: it still runs.
        ending: ``stop``, ``crash``, or empty while it runs.
    """

    process: int
    worker: str
    start_ms: int
    end_ms: int | None = None
    ending: str = ""


@attrs.frozen
class Overlap:
    """A job that ran on two workers at once.

    Args:
        reason: Name of Kafka's behaviour that allows it; empty: a fault of the simulation.
    """

    job: Job
    first: str
    second: str
    start_ms: int
    end_ms: int
    reason: str


class JobRuns:
    """The ledger. Jobs are in the order of their first start."""

    __slots__ = ("_open", "_reasons", "runs", "starts", "stops")

    def __init__(self) -> None:
        self.runs: dict[Job, list[JobRun]] = {}
        self._open: dict[int, dict[Job, JobRun]] = {}
        #: Process to (since when, reason) for jobs of others.
        self._reasons: dict[int, list[tuple[int, str]]] = {}
        self.starts = 0
        self.stops = 0

    def start(self, job: Job, process: int, worker: str, time_ms: int) -> None:
        self.starts += 1
        run = JobRun(process, worker, time_ms)
        self.runs.setdefault(job, []).append(run)
        self._open.setdefault(process, {})[job] = run

    def stop(self, job: Job, process: int, time_ms: int, ending: str = "stop") -> None:
        """A job that had not begun to run leaves no run."""
        run = self._open.get(process, {}).pop(job, None)
        if run is None:
            return
        self.stops += 1
        run.end_ms = max(time_ms, run.start_ms)
        run.ending = ending

    def end_process(self, process: int, time_ms: int) -> None:
        for job in list(self._open.get(process, ())):
            self.stop(job, process, time_ms, "crash")

    def allow(self, process: int, time_ms: int, reason: str) -> None:
        """Allow a process to run jobs of others, for a reason that is Kafka's own."""
        self._reasons.setdefault(process, []).append((time_ms, reason))

    def running(self, process: int) -> Mapping[Job, JobRun]:
        return self._open.get(process, {})

    def open_runs(self) -> Iterator[tuple[Job, JobRun]]:
        for jobs in self._open.values():
            yield from jobs.items()

    def overlaps(self, until_ms: int) -> list[Overlap]:
        """Periods with a job on two processes; by job, then by time."""
        found = []
        for job, runs in self.runs.items():
            if len(runs) < 2:
                continue
            ordered = sorted(runs, key=lambda run: (run.start_ms, run.process))
            latest = ordered[0]
            for run in ordered[1:]:
                end = until_ms if latest.end_ms is None else latest.end_ms
                if run.start_ms < end and run.process != latest.process:
                    stretch_end = min(end, until_ms if run.end_ms is None else run.end_ms)
                    if stretch_end > run.start_ms:
                        reason = self._reason((latest.process, run.process), stretch_end)
                        found.append(Overlap(job, latest.worker, run.worker, run.start_ms, stretch_end, reason))
                if run.end_ms is None or (latest.end_ms is not None and run.end_ms > latest.end_ms):
                    latest = run
        return found

    def _reason(self, processes: Iterable[int], by_ms: int) -> str:
        for process in processes:
            for since, reason in self._reasons.get(process, ()):
                if since <= by_ms:
                    return reason
        return ""

    def idle_ms(self, job: Job, start_ms: int, end_ms: int) -> int:
        """Time without a run, counted from the job's first start."""
        return self.course(job, start_ms, end_ms).downtime_ms

    def course(self, job: Job, start_ms: int, end_ms: int, *, lasts: bool = True) -> TaskCourse:
        """Runs and times without one between two moments, without causes.

        Args:
            lasts: False if the job was deleted: it is not missing after its last stop.
        """
        if not lasts:
            stops = [end_ms if run.end_ms is None else run.end_ms for run in self.runs.get(job, ())]
            end_ms = min(end_ms, max(stops, default=end_ms))
        begun = [run for run in self.runs.get(job, ()) if run.end_ms is None or run.end_ms > run.start_ms]
        runs, waits = [], []
        reached: int | None = None
        for run in sorted(begun, key=lambda run: run.start_ms):
            begin, end = max(start_ms, run.start_ms), end_ms if run.end_ms is None else min(end_ms, run.end_ms)
            if run.start_ms >= end_ms:
                break
            if reached is not None and begin > reached:
                waits.append(UnownedTime(reached, begin, ""))
            reached = max(end, begin if reached is None else reached)
            if end > begin:
                runs.append(OwnedTime(begin, end, run.worker, lasts=run.end_ms is None or run.end_ms > end_ms))
        if reached is not None and end_ms > reached:
            waits.append(UnownedTime(reached, end_ms, ""))
        return TaskCourse(tuple(runs), tuple(waits))
