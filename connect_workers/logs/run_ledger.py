"""Ledger of running tasks: their workers, and tasks that ran twice at a time."""

from __future__ import annotations

import threading

import attrs

from assignment_api.connect import ConnectorTaskId

__all__ = ["DoubleRun", "RunLedger"]

#: Double runs that are remembered; further ones are only counted.
_MOST_REMEMBERED = 100


@attrs.frozen
class DoubleRun:
    """A job that began while it was still running."""

    job: str | ConnectorTaskId
    first_worker: str
    second_worker: str


class RunLedger:
    """The ledger of a cluster. Threads of jobs write it: from just before ``start`` until just after ``stop``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str | ConnectorTaskId, dict[int, str]] = {}
        self._next = 0
        self.double_runs: list[DoubleRun] = []
        self.double_run_count = 0
        self.starts = 0

    def begin(self, job: str | ConnectorTaskId, worker: str) -> int:
        """A job begins; the answer is for :meth:`end`."""
        with self._lock:
            self._next += 1
            self.starts += 1
            others = self._running.setdefault(job, {})
            for other in others.values():
                self.double_run_count += 1
                if len(self.double_runs) < _MOST_REMEMBERED:
                    self.double_runs.append(DoubleRun(job, other, worker))
            others[self._next] = worker
            return self._next

    def end(self, job: str | ConnectorTaskId, number: int) -> None:
        with self._lock:
            self._running[job].pop(number, None)
            if not self._running[job]:
                del self._running[job]

    def running(self) -> dict[str | ConnectorTaskId, list[str]]:
        with self._lock:
            return {job: list(workers.values()) for job, workers in self._running.items()}
