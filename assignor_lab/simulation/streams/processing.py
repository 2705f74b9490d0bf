"""The ledger of processing: which thread works on each task, and why nobody does where nobody does."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["NOBODY", "NOT_NOTICED", "REBALANCE", "RESTORING", "REVOKED", "Ledger"]

#: No member is in the group, or none has been there yet.
NOBODY = "nobody"
#: Its owner has gone, and the group does not know yet.
NOT_NOTICED = "not_noticed"
#: The group knows, and has not given it to anybody yet.
REBALANCE = "rebalance"
#: Somebody has it and is not ready yet: its store is opened, its state comes back, its first records are fetched.
RESTORING = "restoring"
#: Its owner gave it up for somebody else who has not been given it yet.
REVOKED = "revoked"


class Ledger:
    """Who works on each task.

    Args:
        tasks: Number of tasks.
        now_ms: What the clock shows; until a task is run for the first time, nobody runs it.
    """

    __slots__ = ("_cause", "_owner", "_since", "intervals", "runs")

    def __init__(self, tasks: int, now_ms: int) -> None:
        #: For each task the stretches in which nobody worked on it: from, to, cause; by time.
        self.intervals: list[list[tuple[int, int, str]]] = [[] for _ in range(tasks)]
        #: For each task the stretches in which somebody did: from, to (``None``: still), name of the instance.
        self.runs: list[list[tuple[int, int | None, str]]] = [[] for _ in range(tasks)]
        self._owner: list[str | None] = [None] * tasks
        self._since = [now_ms] * tasks
        self._cause = [NOBODY] * tasks

    def owner(self, task: int) -> str | None:
        """Who works on a task, or ``None``."""
        return self._owner[task]

    def cause(self, task: int) -> str:
        """Why nobody works on a task, or did not last."""
        return self._cause[task]

    def starts(self, task: int, now_ms: int, owner: str) -> None:
        """Somebody works on it from now on."""
        if self._owner[task] is None:
            self._write(task, now_ms)
        else:
            self._end_run(task, now_ms)
        self._owner[task], self._since[task] = owner, now_ms
        self.runs[task].append((now_ms, None, owner))

    def stops(self, task: int, now_ms: int, cause: str) -> None:
        """Nobody works on it from now on."""
        if self._owner[task] is None:
            self.caused(task, now_ms, cause)
            return
        self._end_run(task, now_ms)
        self._owner[task], self._since[task], self._cause[task] = None, now_ms, cause

    def caused(self, task: int, now_ms: int, cause: str) -> None:
        """There is another cause now why nobody works on it; nothing happens if somebody does."""
        if self._owner[task] is None and self._cause[task] != cause:
            self._write(task, now_ms)
            self._since[task], self._cause[task] = now_ms, cause

    def replace_cause(self, tasks: Iterable[int], now_ms: int, old: str, new: str) -> None:
        """The same for all of ``tasks`` that have the cause ``old``."""
        for task in tasks:
            if self._owner[task] is None and self._cause[task] == old:
                self.caused(task, now_ms, new)

    def close(self, now_ms: int) -> None:
        """Writes down what is still open at the end."""
        for task, owner in enumerate(self._owner):
            if owner is None:
                self._write(task, now_ms)
            else:
                self._end_run(task, now_ms)
            self._since[task] = now_ms

    def _write(self, task: int, now_ms: int) -> None:
        if now_ms > self._since[task]:
            self.intervals[task].append((self._since[task], now_ms, self._cause[task]))

    def _end_run(self, task: int, now_ms: int) -> None:
        begin, _, owner = self.runs[task][-1]
        self.runs[task][-1] = (begin, now_ms, owner)
