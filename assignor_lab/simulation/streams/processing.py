"""Ledger of processing: the thread that processes each task, and causes of interruptions."""

from __future__ import annotations

from collections.abc import Collection, Iterable

__all__ = ["NOBODY", "NOT_NOTICED", "REBALANCE", "RESTORING", "REVOKED", "Ledger"]

#: The group has no members, or had none yet.
NOBODY = "nobody"
#: Its owner is gone, unnoticed by the group.
NOT_NOTICED = "not_noticed"
#: Noticed, but not reassigned yet.
REBALANCE = "rebalance"
#: Its new owner opens the store, restores, or fetches the first records.
RESTORING = "restoring"
#: Revoked for a new owner that does not have it yet.
REVOKED = "revoked"


class Ledger:
    """Owners of tasks over time."""

    __slots__ = ("_cause", "_exists", "_owner", "_since", "intervals", "runs", "threads")

    def __init__(self, tasks: int, now_ms: int) -> None:
        self.intervals: list[list[tuple[int, int, str]]] = [[] for _ in range(tasks)]
        self.runs: list[list[tuple[int, int | None, str]]] = [[] for _ in range(tasks)]
        #: The key of the thread of each run.
        self.threads: list[list[int]] = [[] for _ in range(tasks)]
        self._owner: list[str | None] = [None] * tasks
        self._since = [now_ms] * tasks
        self._cause = [NOBODY] * tasks
        self._exists = [True] * tasks

    def owner(self, task: int) -> str | None:
        return self._owner[task]

    def cause(self, task: int) -> str:
        return self._cause[task]

    def starts(self, task: int, now_ms: int, owner: str, thread: int = 0) -> None:
        if self._owner[task] is None:
            self._write(task, now_ms)
        else:
            self._end_run(task, now_ms)
        self._owner[task], self._since[task] = owner, now_ms
        self.runs[task].append((now_ms, None, owner))
        self.threads[task].append(thread)

    def stops(self, task: int, now_ms: int, cause: str) -> None:
        if self._owner[task] is None:
            self.caused(task, now_ms, cause)
            return
        self._end_run(task, now_ms)
        self._owner[task], self._since[task], self._cause[task] = None, now_ms, cause

    def caused(self, task: int, now_ms: int, cause: str) -> None:
        if self._owner[task] is None and self._cause[task] != cause:
            self._write(task, now_ms)
            self._since[task], self._cause[task] = now_ms, cause

    def replace_cause(self, tasks: Iterable[int], now_ms: int, old: str, new: str) -> None:
        for task in tasks:
            if self._owner[task] is None and self._cause[task] == old:
                self.caused(task, now_ms, new)

    def exist(self, tasks: Collection[int], now_ms: int) -> None:
        """Absences of other tasks do not count from now on."""
        for task, existed in enumerate(self._exists):
            exists = task in tasks
            if exists == existed:
                continue
            if self._owner[task] is None:
                self._write(task, now_ms)
                self._since[task] = now_ms
                if self._cause[task] == REVOKED:
                    self._cause[task] = REBALANCE
            self._exists[task] = exists

    def close(self, now_ms: int) -> None:
        for task, owner in enumerate(self._owner):
            if owner is None:
                self._write(task, now_ms)
            else:
                self._end_run(task, now_ms)
            self._since[task] = now_ms

    def _write(self, task: int, now_ms: int) -> None:
        if self._exists[task] and now_ms > self._since[task]:
            self.intervals[task].append((self._since[task], now_ms, self._cause[task]))

    def _end_run(self, task: int, now_ms: int) -> None:
        begin, _, owner = self.runs[task][-1]
        self.runs[task][-1] = (begin, now_ms, owner)
