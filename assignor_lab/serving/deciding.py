"""Decisions: one question at a time for each group, several groups in parallel, each with a warm assignor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue
from time import monotonic
from typing import Any

from assignor_lab.documents.errors import Place
from assignor_lab.groups.runner.result_lines import Answerer
from assignor_lab.scenarios import Scenario, scenario_from_document

__all__ = ["BusyError", "Decider", "warm_up_state"]

#: Remembered groups; more than a host has instances.
_MAX_GROUPS = 1_000


class BusyError(Exception):
    """No assignor was free in time; the text has the reason."""


class Decider:
    """The assignors of all groups.

    Each question has a new task assignor, so any of them may answer any group. Separate processes keep a hanging call
    from blocking other groups.
    """

    def __init__(self, make: Callable[[], Answerer], most: int) -> None:
        self._idle: LifoQueue[Answerer] = LifoQueue()
        for _ in range(most):
            self._idle.put(make())
        self._groups: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def warm_up(self) -> dict[str, Any]:
        """Has the next assignor import its modules, with a state of one task.

        Raises:
            ScenarioKindError: if it is no task assignor.
        """
        answer = self._idle.get()
        try:
            return answer(warm_up_state())
        finally:
            self._idle.put(answer)

    def decide(self, scenario: Scenario, group: str, seconds: float, report: Callable[[dict[str, Any]], None]) -> None:
        """Calls the assignor, and passes the result line on at once.

        Raises:
            BusyError: if an earlier question of the group, or all simultaneous ones, take longer.
            ScenarioKindError: if it is no task assignor.
        """
        end = monotonic() + seconds
        with self._group(group, end), self._answerer(end) as answer:
            line = answer(scenario)
            report(line)
            if line["error"] is not None:
                # Its process may have ended: a new one is started before the next question.
                answer(warm_up_state())

    @contextmanager
    def _group(self, group: str, end: float) -> Iterator[None]:
        with self._guard:
            if len(self._groups) >= _MAX_GROUPS:
                self._groups = {name: lock for name, lock in self._groups.items() if lock.locked()}
            lock = self._groups.setdefault(group, threading.Lock())
        if not lock.acquire(timeout=max(end - monotonic(), 0)):
            raise BusyError("an earlier question of this group is still being answered")
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _answerer(self, end: float) -> Iterator[Answerer]:
        try:
            answer = self._idle.get(timeout=max(end - monotonic(), 0))
        except Empty:
            raise BusyError("the limit of groups with an answer in progress is reached (--parallel)") from None
        try:
            yield answer
        finally:
            self._idle.put(answer)


def warm_up_state() -> Scenario:
    """A state of one stateless task and one client."""
    client: dict[str, Any] = {
        "process_id": "00000000-0000-0000-0000-000000000001", "rack": None, "tags": {}, "host": None, "threads": 1,
        "consumers": ["warm-up"], "previous_active": [], "previous_standby": [], "lags": {},
        "previous_by_consumer": None,
    }  # fmt: skip
    task = {"id": "0_0", "stateful": False, "logged": False, "stores": None, "partitions": None}
    document = {"format": 1, "kind": "streams", "id": "warm-up", "config": {}, "tasks": [task], "clients": [client]}
    return scenario_from_document(document, Place("warm-up"))
