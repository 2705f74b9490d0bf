"""Rack-aware steps of public ``sticky``, by the public utilities (Kafka: ``StickyTaskAssignor``).

The utilities refuse to run unless both costs are configured, so the assignor's defaults for them never apply.
"""

from __future__ import annotations

from assignment_api.streams import (
    ApplicationMetadata,
    AssignedTask,
    ProcessID,
    StreamsClientAssignment,
    TaskInfo,
)
from assignment_api.utils.rack_aware import public_reason_against
from assignment_api.utils.rack_aware.public import Moves, move_active_tasks, move_standby_tasks
from builtin_assignors._sticky_steps import StickyIds, StickyPlacement

__all__ = ["move_actives", "move_standbys"]

#: Costs for stateless tasks.
STATELESS_TRAFFIC_COST = 1
STATELESS_NON_OVERLAP_COST = 0


def move_actives(application: ApplicationMetadata, ids: StickyIds, placement: StickyPlacement) -> None:
    """Optimise the stateful tasks, then the others."""
    if public_reason_against(application, lambda info: info.topic_partitions or ()) is not None:
        return
    infos = application.task_infos().values()
    assignments = _assignments(ids, placement)
    journal: Moves = []
    stateful = [info.id for info in infos if info.is_stateful]
    assignments = move_active_tasks(application, assignments, stateful, None, None, journal)
    assignments = move_active_tasks(
        application,
        assignments,
        [info.id for info in infos if not info.is_stateful],
        STATELESS_TRAFFIC_COST,
        STATELESS_NON_OVERLAP_COST,
        journal,
    )
    _note_moves(ids, placement, journal)
    index = {task: number for number, task in enumerate(ids.tasks)}
    moves: list[tuple[int, int]] = []
    for client, process in enumerate(ids.processes):
        held = [index[task] for task in assignments[process].active_tasks()]
        moves += [(task, client) for task in held if placement.owner[task] != client]
    placement.replace_active(moves)


def move_standbys(application: ApplicationMetadata, ids: StickyIds, placement: StickyPlacement) -> None:
    for history, standbys in zip(placement.histories, placement.standbys, strict=False):
        history += standbys
    if application.assignment_configs().num_standby_replicas <= 0:
        return
    if public_reason_against(application, TaskInfo.changelog_partitions) is not None:
        return
    journal: Moves = []
    assignments = move_standby_tasks(application, _assignments(ids, placement), None, None, None, journal)
    _note_moves(ids, placement, journal)
    index = {task: number for number, task in enumerate(ids.tasks)}
    for client, process in enumerate(ids.processes):
        placement.standbys[client] = [index[task] for task in assignments[process].standby_tasks()]


def _note_moves(ids: StickyIds, placement: StickyPlacement, journal: Moves) -> None:
    """Record the changes of each client's map, if an optimiser moved any task."""
    if not journal:
        return
    if not placement.histories:
        placement.histories = [[*placement.actives[client], *placement.standbys[client]] for client in _clients(ids)]
    index = {task: number for number, task in enumerate(ids.tasks)}
    client_of = {process: client for client, process in enumerate(ids.processes)}
    for task, giver, taker in journal:
        placement.histories[client_of[giver]].append(~index[task])
        placement.histories[client_of[taker]].append(index[task])


def _clients(ids: StickyIds) -> range:
    return range(len(ids.processes))


def _assignments(ids: StickyIds, placement: StickyPlacement) -> dict[ProcessID, StreamsClientAssignment]:
    assignments = {}
    for client, process in enumerate(ids.processes):
        held = [AssignedTask.active(ids.tasks[task]) for task in placement.actives[client]]
        held += [AssignedTask.standby(ids.tasks[task]) for task in placement.standbys[client]]
        assignments[process] = StreamsClientAssignment.of(process, held)
    return assignments
