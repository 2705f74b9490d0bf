"""Placement before and after: who runs what, and what happens to each task on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

import attrs

from assignor_lab.documents.wording import plural
from assignor_lab.groups.labels import client_labels
from assignor_lab.report.pictures import AssignorPlacement, Client, ClientTasks, Placement

__all__ = ["Change", "Column", "Move", "Row", "Slot", "client_labels", "column", "runs_before", "task_ranges"]


class Change(Enum):
    """A task's change on one client, as ``docs/reference/summary-format.md`` defines it, with sign and words."""

    STAYS = ("", "stays", "")
    STARTS = ("→", "starts here, ran elsewhere before", "moved")
    TAKES_OVER = ("↑", "was a standby copy here, now runs here", "moved")
    STEPS_DOWN = ("↓", "ran here, now a standby copy here", "moved")
    SHIFTS = ("⇄", "was on another thread of this process before", "moved")
    NEW = ("∗", "starts here, nobody ran it before", "new")
    COPY = ("+", "new standby copy", "new")
    WARMS_UP = ("~", "warms up here, to take the task over", "new")
    LEAVES = ("−", "leaves this client", "gone")

    @property
    def of_members(self) -> bool:
        """Whether it happens only where rows are members of processes."""
        return self in (Change.SHIFTS, Change.WARMS_UP)

    @property
    def is_copy(self) -> bool:
        """Whether it happens to copies alone."""
        return self in (Change.COPY, Change.STEPS_DOWN, Change.WARMS_UP)

    @property
    def sign(self) -> str:
        """What marks it without colour."""
        return self.value[0]

    @property
    def words(self) -> str:
        """What it means."""
        return self.value[1]

    @property
    def mark(self) -> str:
        """Class of its drawing: only what was in one place and is now in another stands out."""
        return self.value[2]


@attrs.frozen
class Slot:
    """One task in one role on one client."""

    task: str
    stateful: bool
    change: Change


@attrs.frozen
class Row:
    """What one client runs; ``client`` ``None`` is nobody: tasks without an active."""

    client: Client | None
    active: tuple[Slot, ...]
    standby: tuple[Slot, ...]
    leaving: tuple[Slot, ...]


@attrs.frozen
class Move:
    """An active task that runs elsewhere than before; ``source`` ``None``: nobody ran it.

    ``warm``: a standby was there, ``lacking`` words for what it lacked; ``within``: the process is the same, and so is
    the state.
    """

    task: str
    stateful: bool
    source: Client | None
    target: Client
    warm: bool
    within: bool = False
    lacking: str = ""


@attrs.frozen
class Column:
    """One assignor's answer, client by client, and what it moves."""

    answer: AssignorPlacement
    rows: tuple[Row, ...]
    moves: tuple[Move, ...]
    new_copies: int


_NOTHING = ClientTasks((), ())


def runs_before(placement: Placement) -> tuple[Row, ...]:
    """What each client ran, and last what nobody did; every task ``STAYS``, for nothing has happened yet."""
    stateful = {task.id: task.stateful for task in placement.tasks}
    rows = []
    for client in placement.clients:
        had = placement.before.get(client.process_id, _NOTHING)
        rows.append(Row(client, _still(had.active, stateful), _still((*had.standby, *had.warmup), stateful), ()))
    running = {task for had in placement.before.values() for task in had.active}
    idle = [task.id for task in placement.tasks if task.id not in running]
    return (*rows, Row(None, _still(idle, stateful), (), ()))


def column(placement: Placement, answer: AssignorPlacement) -> Column:
    """What ``answer`` makes of the state; no rows without an assignment, or with one that says nothing."""
    if answer.assignment is None or answer.not_comparable is not None:
        return Column(answer, (), (), 0)
    stateful = {task.id: task.stateful for task in placement.tasks}
    clients = {client.process_id: client for client in placement.clients}
    ran_on = {task: process for process, had in placement.before.items() for task in had.active}
    rows: list[Row] = []
    moves: list[Move] = []
    for client, had in zip(placement.clients, _had(placement), strict=True):
        has = answer.assignment.get(client.process_id, _NOTHING)
        row = _row(client, had, has, ran_on, stateful)
        rows.append(row)
        for slot in row.active:
            if slot.change is not Change.STAYS:
                source = clients.get(ran_on.get(slot.task, ""))
                warm, within = slot.change is Change.TAKES_OVER, slot.change is Change.SHIFTS
                lacking = _lacking(placement, client, slot.task) if warm else ""
                moves.append(Move(slot.task, slot.stateful, source, client, warm, within, lacking))
    runs = {task for has in answer.assignment.values() for task in has.active}
    left_out = [task.id for task in placement.tasks if task.id not in runs]
    rows.append(Row(None, _still(left_out, stateful), (), ()))
    copies = sum(slot.change is Change.COPY for row in rows for slot in row.standby)
    return Column(answer, tuple(rows), tuple(moves), copies)


def _lacking(placement: Placement, client: Client, task: str) -> str:
    """What a client's copy of a task lacked, in words; empty: nothing, as far as is known."""
    behind = placement.lags.get(client.process_id, {})
    if task not in behind:
        return ""
    lag = behind[task]
    return "lacks nobody knows how much" if lag is None else f"lacks {plural(lag, 'record')}"


@attrs.frozen
class _Had:
    """What a client had, and where clients are members of processes, what its whole process had."""

    active: tuple[str, ...]
    copies: tuple[str, ...]
    process_active: frozenset[str] = frozenset()
    process_copies: frozenset[str] = frozenset()

    def active_change(self, task: str, ran_on: dict[str, str]) -> Change:
        """What happens to a task that is to run here."""
        if task in self.active:
            return Change.STAYS
        if task in self.process_active:
            return Change.SHIFTS
        if task in self.copies or task in self.process_copies:
            return Change.TAKES_OVER
        return Change.STARTS if task in ran_on else Change.NEW

    def copy_change(self, task: str, fresh: Change) -> Change:
        """What happens to a task of which a copy is to be here; ``fresh`` where nothing of it was."""
        if task in self.copies:
            return Change.STAYS
        if task in self.active or task in self.process_active:
            return Change.STEPS_DOWN
        return Change.SHIFTS if task in self.process_copies else fresh


def _had(placement: Placement) -> list[_Had]:
    """What each client had, in their order."""
    held = [placement.before.get(client.process_id, _NOTHING) for client in placement.clients]
    found = [_Had(had.active, (*had.standby, *had.warmup)) for had in held]
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


def _row(client: Client, had: _Had, has: ClientTasks, ran_on: dict[str, str], stateful: dict[str, bool]) -> Row:
    now = {*has.active, *has.standby, *has.warmup}
    copies = [(task, had.copy_change(task, Change.COPY)) for task in has.standby]
    copies += [(task, had.copy_change(task, Change.WARMS_UP)) for task in has.warmup]
    return Row(
        client,
        tuple(Slot(task, stateful.get(task, False), had.active_change(task, ran_on)) for task in has.active),
        tuple(Slot(task, stateful.get(task, False), change) for task, change in copies),
        tuple(
            Slot(task, stateful.get(task, False), Change.LEAVES)
            for task in (*had.active, *had.copies)
            if task not in now
        ),
    )


def _still(tasks: Iterable[str], stateful: dict[str, bool]) -> tuple[Slot, ...]:
    return tuple(Slot(task, stateful.get(task, False), Change.STAYS) for task in tasks)


def task_ranges(tasks: Sequence[str]) -> str:
    """Task ids in few words: ``0_0–0_7, 0_9, 1_3``. Ids that are none stand for themselves."""
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
