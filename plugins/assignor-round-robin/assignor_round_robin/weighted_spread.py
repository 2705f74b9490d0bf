"""Shares of clients by threads, with few moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import (
    LATEST_OFFSET,
    ApplicationMetadata,
    ProcessID,
    TaskAssignment,
    TaskAssignmentError,
    TaskAssignor,
    TaskId,
)
from assignment_api.plugins import Setting
from assignor_round_robin.round_robin import answer

__all__ = ["MAX_MOVES", "WeightedSpreadTaskAssignor"]

MAX_MOVES = Setting(
    "assignor.weighted_spread.max_moves",
    type="int",
    default=None,
    summary="Most stateful tasks that move in one rebalance; without it, as many as balance needs.",
    least=0,
)

#: Above every real lag.
_NO_STATE = 2**63


class WeightedSpreadTaskAssignor(TaskAssignor):
    """Shares by threads; a task stays while its client's share allows it."""

    def __init__(self) -> None:
        self._max_moves: int | None = None

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Reads ``assignor.weighted_spread.max_moves``.

        Raises:
            ConfigError: if it is not a number from 0.
        """
        self._max_moves = MAX_MOVES.value_in(configs)

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Places stateful tasks first; each kind has its own shares.

        Raises:
            TaskAssignmentError: if no client has a thread.
        """
        threads = {
            process: max(0, client.num_stream_threads)
            for process, client in sorted(application.streams_client_states().items())
        }
        if not any(threads.values()):
            raise TaskAssignmentError("no client has a thread to run a task on")
        stateful = sorted(application.stateful_tasks())
        stateless = sorted(task for task in application.all_tasks() if task not in application.stateful_tasks())
        owners = _owners(application)
        board = _Board(threads, owners, _lags(application))
        postponed = board.place(stateful, self._max_moves)
        board.place(stateless, None)
        result = answer(application, board.actives)
        return _with_followup(result, application) if postponed else result


@attrs.define
class _Board:
    """Active tasks of each client so far.

    Args:
        threads: Of each client, by process id.
        owners: Task to its previous client.
        lags: Client to task to lag, in offsets; 0 on the previous client.
    """

    threads: Mapping[ProcessID, int]
    owners: Mapping[TaskId, ProcessID]
    lags: Mapping[ProcessID, Mapping[TaskId, int]]
    actives: dict[ProcessID, list[TaskId]] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.actives = {process: [] for process in self.threads}

    def place(self, tasks: list[TaskId], max_moves: int | None) -> bool:
        """True if more tasks would have moved than ``max_moves`` allows."""
        held: dict[ProcessID, list[TaskId]] = {process: [] for process in self.threads}
        homeless: list[TaskId] = []
        for task in tasks:
            owner = self.owners.get(task)
            (homeless if owner is None else held[owner]).append(task)
        shares = _shares(self.threads, {process: len(kept) for process, kept in held.items()}, len(tasks))
        surplus = [task for process, kept in held.items() for task in kept[shares[process] :]]
        leaving = surplus if max_moves is None else surplus[:max_moves]
        moved = set(leaving)
        room: dict[ProcessID, int] = {}
        for process, tasks_before in held.items():
            kept = [task for task in tasks_before if task not in moved]
            self.actives[process] += kept
            room[process] = shares[process] - len(kept)
        for task in [*homeless, *leaving]:
            taker = min(room, key=lambda candidate: self._rank(task, candidate, room[candidate]))
            self.actives[taker].append(task)
            room[taker] -= 1
        return len(surplus) > len(leaving)

    def _rank(self, task: TaskId, process: ProcessID, room: int) -> tuple[bool, int, int, ProcessID]:
        return (room <= 0, self.lags[process].get(task, _NO_STATE), -room, process)


def _owners(application: ApplicationMetadata) -> dict[TaskId, ProcessID]:
    """Of several owners the smallest process id counts."""
    owners: dict[TaskId, ProcessID] = {}
    for process, client in sorted(application.streams_client_states().items()):
        for task in client.previous_active_tasks:
            owners.setdefault(task, process)
    return owners


def _lags(application: ApplicationMetadata) -> dict[ProcessID, dict[TaskId, int]]:
    clients = application.streams_client_states()
    if not application.compute_task_lags():
        return {process: {} for process in clients}
    return {
        process: {task: _behind(lag) for task, lag in client.stateful_tasks_to_lag_sums().items()}
        for process, client in clients.items()
    }


def _behind(lag: int) -> int:
    if lag == LATEST_OFFSET:
        return 0
    return lag if lag >= 0 else _NO_STATE


def _shares(threads: Mapping[ProcessID, int], held: Mapping[ProcessID, int], tasks: int) -> dict[ProcessID, int]:
    """Largest remainders; ties go to clients that keep a task with it, then by process id."""
    total = sum(threads.values())
    shares = {process: tasks * count // total for process, count in threads.items()}

    def rank(process: ProcessID) -> tuple[int, bool, ProcessID]:
        return (-(tasks * threads[process] % total), held[process] <= shares[process], process)

    for process in sorted(threads, key=rank)[: tasks - sum(shares.values())]:
        shares[process] += 1
    return shares


def _with_followup(result: TaskAssignment, application: ApplicationMetadata) -> TaskAssignment:
    deadline = application.current_time_ms() + application.assignment_configs().probing_rebalance_interval_ms
    first, *others = result.assignments
    return TaskAssignment([first.with_followup_rebalance(deadline), *others])
