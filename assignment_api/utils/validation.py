"""Checks of an assignor's answer: Kafka's own, and a stricter one."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, KeysView, Sequence
from collections.abc import Set as AbstractSet

import attrs

from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import (
    AssignedTaskType,
    AssignmentError,
    StreamsClientAssignment,
    TaskAssignment,
)
from assignment_api.streams.ids import ProcessID, TaskId

__all__ = ["StrictFinding", "StrictFindingKind", "strict_findings", "validate_task_assignment"]


def validate_task_assignment(application: ApplicationMetadata, assignment: TaskAssignment) -> AssignmentError:
    """First error of Kafka's ``TaskAssignmentUtils.validateTaskAssignment``, or ``NONE``.

    Order: unknown task or second active, standby of a task without state store, missing client, unknown client.

    Kafka does *not* detect missing tasks, two assignments for one client, or too many standbys: see
    :func:`strict_findings`.
    """
    infos = application.task_infos()
    active: set[TaskId] = set()
    standby: dict[TaskId, None] = {}
    for client in assignment.assignments:
        held = client.active_tasks()
        if not infos.keys() >= {task.id for task in client.tasks} or not active.isdisjoint(held):
            return _first_task_error(client, infos.keys(), active)
        active.update(held)
        standby.update(dict.fromkeys(client.standby_tasks()))
    if any(not infos[task].is_stateful for task in standby):
        return AssignmentError.INVALID_STANDBY_TASK
    states = application.streams_client_states()
    placed = {client.process_id for client in assignment.assignments}
    if any(process not in placed for process in states):
        return AssignmentError.MISSING_PROCESS_ID
    if any(client.process_id not in states for client in assignment.assignments):
        return AssignmentError.UNKNOWN_PROCESS_ID
    return AssignmentError.NONE


def _first_task_error(
    client: StreamsClientAssignment, known: KeysView[TaskId], active: AbstractSet[TaskId]
) -> AssignmentError:
    """In the order of Kafka's hash map."""
    for task in client.tasks_in_map_order():
        if task.id not in known:
            return AssignmentError.UNKNOWN_TASK_ID
        if task.type is AssignedTaskType.ACTIVE and task.id in active:
            return AssignmentError.ACTIVE_TASK_ASSIGNED_MULTIPLE_TIMES
    raise AssertionError("called for a client without a wrong task")


class StrictFindingKind(enum.Enum):
    """Harmful faults that Kafka's validation accepts."""

    TASK_NOT_ASSIGNED = "TASK_NOT_ASSIGNED"
    ACTIVE_AND_STANDBY_IN_ONE_PROCESS = "ACTIVE_AND_STANDBY_IN_ONE_PROCESS"
    STANDBY_IN_ONE_PROCESS_TWICE = "STANDBY_IN_ONE_PROCESS_TWICE"
    TOO_MANY_STANDBYS = "TOO_MANY_STANDBYS"
    STANDBY_WITHOUT_CHANGELOG = "STANDBY_WITHOUT_CHANGELOG"
    CLIENT_ASSIGNED_TWICE = "CLIENT_ASSIGNED_TWICE"


@attrs.frozen
class StrictFinding:
    """A fault from :func:`strict_findings`.

    Args:
        task: The task concerned, or ``None``.
        process_id: The client concerned, or ``None``.
        message: One sentence.
    """

    kind: StrictFindingKind
    task: TaskId | None
    process_id: ProcessID | None
    message: str


def strict_findings(
    application: ApplicationMetadata, assignment: TaskAssignment, warmup_replicas: int | None = None
) -> tuple[StrictFinding, ...]:
    """Faults that Kafka's validation does not detect.

    Args:
        assignment: An answer that passes Kafka's validation.
        warmup_replicas: Allowed standbys over all tasks beyond the configured number; default: ``max.warmup.replicas``.

    Returns:
        Tasks in the application's order, then clients in the answer's order.
    """
    configs = application.assignment_configs()
    standbys = max(configs.num_standby_replicas, 0)
    warmups = configs.max_warmup_replicas if warmup_replicas is None else warmup_replicas
    clients = assignment.assignments
    if _is_faultless(application, clients, standbys, warmups):
        return ()
    return (*_task_findings(application, clients, standbys, warmups), *_client_findings(clients))


def _is_faultless(
    application: ApplicationMetadata, clients: Sequence[StreamsClientAssignment], standbys: int, warmups: int
) -> bool:
    """Quick test, many times faster; nearly every answer passes."""
    if len({client.process_id for client in clients}) < len(clients):
        return False
    placed = [[task.id for task in client.tasks] for client in clients]
    if any(len(set(held)) < len(held) for held in placed):
        return False
    replicas = Counter([task for client in clients for task in client.standby_tasks()])
    active = {task for client in clients for task in client.active_tasks()}
    return (
        active >= application.all_tasks()
        and replicas.keys() <= application.stateful_tasks()
        and sum([held - standbys for held in replicas.values() if held > standbys]) <= warmups
    )


def _task_findings(
    application: ApplicationMetadata, clients: Iterable[StreamsClientAssignment], standbys: int, warmups: int
) -> Iterator[StrictFinding]:
    active: dict[TaskId, list[ProcessID]] = {}
    standby: dict[TaskId, list[ProcessID]] = {}
    for client in clients:
        for task in client.tasks:
            holders = active if task.type is AssignedTaskType.ACTIVE else standby
            holders.setdefault(task.id, []).append(client.process_id)
    surplus = 0
    for task_id, info in application.task_infos().items():
        if task_id not in active:
            yield StrictFinding(
                StrictFindingKind.TASK_NOT_ASSIGNED, task_id, None, f"task {task_id} is active on no client"
            )
        holders_of_standby = standby.get(task_id, [])
        for process in holders_of_standby:
            if process in active.get(task_id, ()):
                yield StrictFinding(
                    StrictFindingKind.ACTIVE_AND_STANDBY_IN_ONE_PROCESS,
                    task_id,
                    process,
                    f"client {process} holds task {task_id} as active and as standby",
                )
        if len(set(holders_of_standby)) < len(holders_of_standby):
            twice = next(process for process in holders_of_standby if holders_of_standby.count(process) > 1)
            yield StrictFinding(
                StrictFindingKind.STANDBY_IN_ONE_PROCESS_TWICE,
                task_id,
                twice,
                f"client {twice} holds task {task_id} as standby twice",
            )
        if holders_of_standby and not info.is_logged:
            yield StrictFinding(
                StrictFindingKind.STANDBY_WITHOUT_CHANGELOG,
                task_id,
                holders_of_standby[0],
                f"task {task_id} has a standby but no changelog to follow",
            )
        surplus += max(len(holders_of_standby) - standbys, 0)
        if surplus > warmups and len(holders_of_standby) > standbys:
            yield StrictFinding(
                StrictFindingKind.TOO_MANY_STANDBYS,
                task_id,
                None,
                f"task {task_id} has {len(holders_of_standby)} standbys: {standbys} are configured, and the "
                f"{warmups} warm-ups allowed over all tasks are used up",
            )


def _client_findings(clients: Iterable[StreamsClientAssignment]) -> Iterator[StrictFinding]:
    seen: set[ProcessID] = set()
    for client in clients:
        if client.process_id in seen:
            yield StrictFinding(
                StrictFindingKind.CLIENT_ASSIGNED_TWICE,
                None,
                client.process_id,
                f"client {client.process_id} has two assignments: Kafka keeps the last one only",
            )
        seen.add(client.process_id)
