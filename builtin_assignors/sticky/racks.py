"""The rack-aware steps of public ``sticky``, by the public utilities (reference 2.6).

They refuse to run unless both costs are configured, so the defaults that the assignor has for them never count.
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
from assignment_api.utils.rack_aware.public import MostHeld, move_active_tasks, move_standby_tasks
from builtin_assignors._sticky_steps import Placement, StickyIds

__all__ = ["move_actives", "move_standbys"]

#: Costs for tasks without state.
STATELESS_TRAFFIC_COST = 1
STATELESS_NON_OVERLAP_COST = 0


def move_actives(application: ApplicationMetadata, ids: StickyIds, placement: Placement) -> None:
    """Optimises the tasks with a state store, then the others."""
    if public_reason_against(application, lambda info: info.topic_partitions or ()) is not None:
        return
    infos = application.task_infos().values()
    assignments = _assignments(ids, placement)
    most_held: MostHeld = {}
    stateful = [info.id for info in infos if info.is_stateful]
    assignments = move_active_tasks(application, assignments, stateful, None, None, most_held)
    assignments = move_active_tasks(
        application,
        assignments,
        [info.id for info in infos if not info.is_stateful],
        STATELESS_TRAFFIC_COST,
        STATELESS_NON_OVERLAP_COST,
        most_held,
    )
    index = {task: number for number, task in enumerate(ids.tasks)}
    moves: list[tuple[int, int]] = []
    for client, process in enumerate(ids.processes):
        held = [index[task] for task in assignments[process].active_tasks()]
        moves += [(task, client) for task in held if placement.owner[task] != client]
    placement.replace_active(moves)
    _note_most_held(ids, placement, most_held)


def move_standbys(application: ApplicationMetadata, ids: StickyIds, placement: Placement) -> None:
    """Optimises the standbys, if any are asked for."""
    if application.assignment_configs().num_standby_replicas <= 0:
        return
    if public_reason_against(application, TaskInfo.changelog_partitions) is not None:
        return
    most_held: MostHeld = {}
    assignments = move_standby_tasks(application, _assignments(ids, placement), None, None, None, most_held)
    index = {task: number for number, task in enumerate(ids.tasks)}
    for client, process in enumerate(ids.processes):
        placement.standbys[client] = [index[task] for task in assignments[process].standby_tasks()]
    _note_most_held(ids, placement, most_held)


def _note_most_held(ids: StickyIds, placement: Placement, most_held: MostHeld) -> None:
    for client, process in enumerate(ids.processes):
        placement.most_held[client] = max(placement.most_held[client], most_held.get(process, 0))


def _assignments(ids: StickyIds, placement: Placement) -> dict[ProcessID, StreamsClientAssignment]:
    assignments = {}
    for client, process in enumerate(ids.processes):
        held = [AssignedTask.active(ids.tasks[task]) for task in placement.actives[client]]
        held += [AssignedTask.standby(ids.tasks[task]) for task in placement.standbys[client]]
        assignments[process] = StreamsClientAssignment.of(process, held)
    return assignments
