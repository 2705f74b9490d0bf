"""The ledger of a simulation: which job ran where and when, and what can be read from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from assignment_api.connect import ConnectorTaskId

__all__ = ["Job", "JobRuns", "Overlap", "Run"]

#: A connector instance, by its connector's name, or a task.
Job = str | ConnectorTaskId


@attrs.define
class Run:
    """One life of a job on one process.

    Args:
        process: Number of the worker's process, unique in a simulation.
        worker: Name of the worker.
        start_ms: When it ran; may lie ahead while it is being started.
        end_ms: When it no longer ran, or ``None``: it still does.
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
        job: The job.
        first: The worker that ran it first.
        second: The worker that ran it, too.
        start_ms: Since when.
        end_ms: Until when.
        reason: Name of Kafka's own behaviour that allows it, or empty: a fault of the simulation.
    """

    job: Job
    first: str
    second: str
    start_ms: int
    end_ms: int
    reason: str


class JobRuns:
    """The ledger. Jobs are in the order in which they first started."""

    __slots__ = ("_open", "_reasons", "runs", "starts", "stops")

    def __init__(self) -> None:
        self.runs: dict[Job, list[Run]] = {}
        self._open: dict[int, dict[Job, Run]] = {}
        #: Why a process may run what is no longer its own: process to (since when, reason).
        self._reasons: dict[int, list[tuple[int, str]]] = {}
        self.starts = 0
        self.stops = 0

    def start(self, job: Job, process: int, worker: str, time_ms: int) -> None:
        """A job begins to run at ``time_ms``, which may lie ahead."""
        self.starts += 1
        run = Run(process, worker, time_ms)
        self.runs.setdefault(job, []).append(run)
        self._open.setdefault(process, {})[job] = run

    def stop(self, job: Job, process: int, time_ms: int, ending: str = "stop") -> None:
        """A job ends; what had not begun to run yet leaves no run."""
        run = self._open.get(process, {}).pop(job, None)
        if run is None:
            return
        self.stops += 1
        run.end_ms = max(time_ms, run.start_ms)
        run.ending = ending

    def end_process(self, process: int, time_ms: int) -> None:
        """Everything on a process ends at once."""
        for job in list(self._open.get(process, ())):
            self.stop(job, process, time_ms, "crash")

    def allow(self, process: int, time_ms: int, reason: str) -> None:
        """From ``time_ms`` on, a process may run what others run, too, for a reason that is Kafka's own."""
        self._reasons.setdefault(process, []).append((time_ms, reason))

    def running(self, process: int) -> Mapping[Job, Run]:
        """What a process runs or is about to run."""
        return self._open.get(process, {})

    def open_runs(self) -> Iterator[tuple[Job, Run]]:
        """Everything that runs or is about to run, by process."""
        for jobs in self._open.values():
            yield from jobs.items()

    def overlaps(self, until_ms: int) -> list[Overlap]:
        """Every stretch in which a job ran on two processes, up to ``until_ms``; by job, then by time."""
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
        """How long a job did not run between two moments, counted from its first start on."""
        runs = self.runs.get(job, ())
        begun = [run for run in runs if run.end_ms is None or run.end_ms > run.start_ms]
        if not begun:
            return 0
        start = max(start_ms, min(run.start_ms for run in begun))
        if end_ms <= start:
            return 0
        covered, reached = 0, start
        for run in sorted(begun, key=lambda run: run.start_ms):
            begin = max(run.start_ms, reached)
            end = min(end_ms if run.end_ms is None else run.end_ms, end_ms)
            if end > begin:
                covered += end - begin
                reached = end
        return end_ms - start - covered
