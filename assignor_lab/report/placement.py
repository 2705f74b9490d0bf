"""Who runs what before and after, and what happens to each task on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

import attrs

from assignor_lab.report.pictures import AssignorPlacement, Client, ClientTasks, Placement

__all__ = ["Change", "Column", "Move", "Row", "Slot", "client_labels", "column", "runs_before", "task_ranges"]

#: Longest client id that is fit to be a label; Kafka's default ones hold a UUID and say nothing.
LABEL_LIMIT = 24


class Change(Enum):
    """A task's change on one client, as ``docs/reference/summary-format.md`` defines it, with sign and words."""

    STAYS = ("", "stays", "")
    STARTS = ("→", "starts here, ran elsewhere before", "moved")
    TAKES_OVER = ("↑", "was a standby copy here, now runs here", "moved")
    STEPS_DOWN = ("↓", "ran here, now a standby copy here", "moved")
    NEW = ("∗", "starts here, nobody ran it before", "new")
    COPY = ("+", "new standby copy", "new")
    LEAVES = ("−", "leaves this client", "gone")

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
    """An active task that runs elsewhere than before; ``source`` ``None``: nobody ran it."""

    task: str
    stateful: bool
    source: Client | None
    target: Client
    warm: bool


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
        rows.append(Row(client, _still(had.active, stateful), _still(had.standby, stateful), ()))
    running = {task for had in placement.before.values() for task in had.active}
    idle = [task.id for task in placement.tasks if task.id not in running]
    return (*rows, Row(None, _still(idle, stateful), (), ()))


def column(placement: Placement, answer: AssignorPlacement) -> Column:
    """What ``answer`` makes of the state; without an assignment, no rows."""
    if answer.assignment is None:
        return Column(answer, (), (), 0)
    stateful = {task.id: task.stateful for task in placement.tasks}
    clients = {client.process_id: client for client in placement.clients}
    ran_on = {task: process for process, had in placement.before.items() for task in had.active}
    rows: list[Row] = []
    moves: list[Move] = []
    for client in placement.clients:
        had = placement.before.get(client.process_id, _NOTHING)
        has = answer.assignment.get(client.process_id, _NOTHING)
        row = _row(client, had, has, ran_on, stateful)
        rows.append(row)
        for slot in row.active:
            if slot.change is not Change.STAYS:
                source = clients.get(ran_on.get(slot.task, ""))
                moves.append(Move(slot.task, slot.stateful, source, client, slot.change is Change.TAKES_OVER))
    runs = {task for has in answer.assignment.values() for task in has.active}
    left_out = [task.id for task in placement.tasks if task.id not in runs]
    rows.append(Row(None, _still(left_out, stateful), (), ()))
    copies = sum(slot.change is Change.COPY for row in rows for slot in row.standby)
    return Column(answer, tuple(rows), tuple(moves), copies)


def _row(client: Client, had: ClientTasks, has: ClientTasks, ran_on: dict[str, str], stateful: dict[str, bool]) -> Row:
    was_active, was_standby = set(had.active), set(had.standby)
    now = {*has.active, *has.standby}

    def active(task: str) -> Change:
        if task in was_active:
            return Change.STAYS
        if task in was_standby:
            return Change.TAKES_OVER
        return Change.STARTS if task in ran_on else Change.NEW

    def standby(task: str) -> Change:
        if task in was_standby:
            return Change.STAYS
        return Change.STEPS_DOWN if task in was_active else Change.COPY

    return Row(
        client,
        tuple(Slot(task, stateful.get(task, False), active(task)) for task in has.active),
        tuple(Slot(task, stateful.get(task, False), standby(task)) for task in has.standby),
        tuple(
            Slot(task, stateful.get(task, False), Change.LEAVES)
            for task in (*had.active, *had.standby)
            if task not in now
        ),
    )


def _still(tasks: Iterable[str], stateful: dict[str, bool]) -> tuple[Slot, ...]:
    return tuple(Slot(task, stateful.get(task, False), Change.STAYS) for task in tasks)


def client_labels(clients: Sequence[Client]) -> dict[str, str]:
    """Process id → the shortest name that a person knows the client by and that no other client has.

    That is the client id where it is short and all consumers share it, else the host, else the process id.
    """
    for naming in (_client_id, lambda client: client.host or ""):
        names = [naming(client) for client in clients]
        if all(names) and len(set(names)) == len(names):
            return {client.process_id: name for client, name in zip(clients, names, strict=True)}
    short = [client.process_id[:8] for client in clients]
    unique = len(set(short)) == len(short)
    return {client.process_id: client.process_id[:8] if unique else client.process_id for client in clients}


def _client_id(client: Client) -> str:
    # Kafka Streams names a consumer <client id>-StreamThread-<n>-consumer-<uuid>.
    found = {consumer.partition("-StreamThread-")[0] for consumer in client.consumers}
    name = found.pop() if len(found) == 1 else ""
    return name if len(name) <= LABEL_LIMIT and all("-StreamThread-" in each for each in client.consumers) else ""


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
