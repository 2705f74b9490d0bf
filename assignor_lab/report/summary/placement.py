"""Placement before and after: the tasks of each client, and the change of each task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

import attrs

from assignor_lab.documents.wording import plural
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.model.pictures import AssignorPlacement, ClientTasks, SnapshotClient, SnapshotPlacement

__all__ = [
    "TaskChange",
    "AnswerColumn",
    "ActiveMove",
    "ClientRow",
    "Slot",
    "client_labels",
    "column",
    "runs_before",
    "task_ranges",
]


class TaskChange(Enum):
    """A task's change on one client, as ``docs/reference/summary-format.md`` defines it, with sign and words."""

    STAYS = ("", "stays", "")
    STARTS = ("→", "starts here, ran elsewhere before", "moved")
    TAKES_OVER = ("↑", "was a standby copy here, now runs here", "moved")
    STEPS_DOWN = ("↓", "ran here, now a standby copy here", "moved")
    SHIFTS = ("⇄", "was on another thread of this process before", "moved")
    NEW = ("∗", "starts here, ran nowhere before", "new")
    COPY = ("+", "new standby copy", "new")
    WARMS_UP = ("~", "warms up here, to take the task over", "new")
    LEAVES = ("−", "leaves this client", "gone")

    @property
    def of_members(self) -> bool:
        """True if it happens only if rows are members of processes."""
        return self in (TaskChange.SHIFTS, TaskChange.WARMS_UP)

    @property
    def is_copy(self) -> bool:
        return self in (TaskChange.COPY, TaskChange.STEPS_DOWN, TaskChange.WARMS_UP)

    @property
    def sign(self) -> str:
        return self.value[0]

    @property
    def words(self) -> str:
        return self.value[1]

    @property
    def mark(self) -> str:
        """Class of its drawing: only tasks in a new place stand out."""
        return self.value[2]


@attrs.frozen
class Slot:
    """One task in one role on one client."""

    task: str
    stateful: bool
    change: TaskChange


@attrs.frozen
class ClientRow:
    """The tasks of one client; ``client`` is ``None`` for tasks without an active."""

    client: SnapshotClient | None
    active: tuple[Slot, ...]
    standby: tuple[Slot, ...]
    leaving: tuple[Slot, ...]


@attrs.frozen
class ActiveMove:
    """An active task in a new place; ``source`` is ``None`` if it had no owner before.

    ``warm``: a standby was there, ``lacking`` words for its lag; ``within``: process and state stay the same.
    """

    task: str
    stateful: bool
    source: SnapshotClient | None
    target: SnapshotClient
    warm: bool
    within: bool = False
    lacking: str = ""


@attrs.frozen
class AnswerColumn:
    """One assignor's answer, client by client, and its moves."""

    answer: AssignorPlacement
    rows: tuple[ClientRow, ...]
    moves: tuple[ActiveMove, ...]
    new_copies: int


_NOTHING = ClientTasks((), ())


def runs_before(placement: SnapshotPlacement) -> tuple[ClientRow, ...]:
    """The tasks of each client, and last those without an owner; every task ``STAYS``, for nothing has changed yet."""
    stateful = {task.id: task.stateful for task in placement.tasks}
    rows = []
    for client in placement.clients:
        had = placement.before.get(client.process_id, _NOTHING)
        rows.append(ClientRow(client, _still(had.active, stateful), _still(had.copies, stateful), ()))
    running = {task for had in placement.before.values() for task in had.active}
    idle = [task.id for task in placement.tasks if task.id not in running]
    return (*rows, ClientRow(None, _still(idle, stateful), (), ()))


def column(placement: SnapshotPlacement, answer: AssignorPlacement) -> AnswerColumn:
    """The effect of ``answer`` on the state; no rows without a comparable assignment."""
    if answer.assignment is None or answer.not_comparable is not None:
        return AnswerColumn(answer, (), (), 0)
    stateful = {task.id: task.stateful for task in placement.tasks}
    clients = {client.process_id: client for client in placement.clients}
    ran_on = {task: process for process, had in placement.before.items() for task in had.active}
    rows: list[ClientRow] = []
    moves: list[ActiveMove] = []
    for client, had in zip(placement.clients, _had(placement), strict=True):
        has = answer.assignment.get(client.process_id, _NOTHING)
        row = _row(client, had, has, ran_on, stateful)
        rows.append(row)
        for slot in row.active:
            if slot.change is not TaskChange.STAYS:
                source = clients.get(ran_on.get(slot.task, ""))
                warm, within = slot.change is TaskChange.TAKES_OVER, slot.change is TaskChange.SHIFTS
                lacking = _lacking(placement, client, slot.task) if warm else ""
                moves.append(ActiveMove(slot.task, slot.stateful, source, client, warm, within, lacking))
    runs = {task for has in answer.assignment.values() for task in has.active}
    left_out = [task.id for task in placement.tasks if task.id not in runs]
    rows.append(ClientRow(None, _still(left_out, stateful), (), ()))
    copies = sum(slot.change is TaskChange.COPY for row in rows for slot in row.standby)
    return AnswerColumn(answer, tuple(rows), tuple(moves), copies)


def _lacking(placement: SnapshotPlacement, client: SnapshotClient, task: str) -> str:
    """Lag of a client's copy of a task, in words; empty if it has no known lag."""
    behind = (placement.lags or {}).get(client.process_id, {})
    if task not in behind:
        return ""
    lag = behind[task]
    return "lacks an unknown amount" if lag is None else f"lacks {plural(lag, 'record')}"


@attrs.frozen
class _Had:
    """Previous tasks of a client, and of its whole process if clients are members of processes."""

    active: tuple[str, ...]
    copies: tuple[str, ...]
    process_active: frozenset[str] = frozenset()
    process_copies: frozenset[str] = frozenset()

    def active_change(self, task: str, ran_on: dict[str, str]) -> TaskChange:
        if task in self.active:
            return TaskChange.STAYS
        if task in self.process_active:
            return TaskChange.SHIFTS
        if task in self.copies or task in self.process_copies:
            return TaskChange.TAKES_OVER
        return TaskChange.STARTS if task in ran_on else TaskChange.NEW

    def copy_change(self, task: str, fresh: TaskChange) -> TaskChange:
        if task in self.copies:
            return TaskChange.STAYS
        if task in self.active or task in self.process_active:
            return TaskChange.STEPS_DOWN
        return TaskChange.SHIFTS if task in self.process_copies else fresh


def _had(placement: SnapshotPlacement) -> list[_Had]:
    held = [placement.before.get(client.process_id, _NOTHING) for client in placement.clients]
    found = [_Had(had.active, had.copies) for had in held]
    active: dict[str | None, set[str]] = {}
    copies: dict[str | None, set[str]] = {}
    for client, had in zip(placement.clients, found, strict=True):
        active.setdefault(client.process, set()).update(had.active)
        copies.setdefault(client.process, set()).update(had.copies)
    whole = {process: (frozenset(active[process]), frozenset(copies[process])) for process in active}
    return [
        had if client.process is None else _Had(had.active, had.copies, *whole[client.process])
        for client, had in zip(placement.clients, found, strict=True)
    ]


def _row(
    client: SnapshotClient, had: _Had, has: ClientTasks, ran_on: dict[str, str], stateful: dict[str, bool]
) -> ClientRow:
    now = {*has.active, *has.copies}
    copies = [(task, had.copy_change(task, TaskChange.COPY)) for task in has.standby]
    copies += [(task, had.copy_change(task, TaskChange.WARMS_UP)) for task in has.warmup or ()]
    return ClientRow(
        client,
        tuple(Slot(task, stateful.get(task, False), had.active_change(task, ran_on)) for task in has.active),
        tuple(Slot(task, stateful.get(task, False), change) for task, change in copies),
        tuple(
            Slot(task, stateful.get(task, False), TaskChange.LEAVES)
            for task in (*had.active, *had.copies)
            if task not in now
        ),
    )


def _still(tasks: Iterable[str], stateful: dict[str, bool]) -> tuple[Slot, ...]:
    return tuple(Slot(task, stateful.get(task, False), TaskChange.STAYS) for task in tasks)


def task_ranges(tasks: Sequence[str]) -> str:
    """Task ids in few words: ``0_0–0_7, 0_9, 1_3``. Other ids stay as they are."""
    runs: list[list[str]] = []
    for task in tasks:
        if runs and _follows(runs[-1][-1], task):
            runs[-1].append(task)
        else:
            runs.append([task])
    return ", ".join(
        run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs
    )


def _follows(before: str, task: str) -> bool:
    group, _, number = before.rpartition("_")
    next_group, _, next_number = task.rpartition("_")
    if group != next_group or not (number.isdecimal() and next_number.isdecimal()):
        return False
    return len(number) < 12 and len(next_number) < 12 and int(number) + 1 == int(next_number)
