"""Kafka's optimiser for authors of assignors.

Kafka: ``TaskAssignmentUtils.optimizeRackAwareActiveTasks`` and ``optimizeRackAwareStandbyTasks``, with their oddities:
both costs must be configured, active tasks pay for changelog partitions, too, and client tags are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from assignment_api.errors import IllegalAssignmentArgumentError, IllegalAssignmentStateError
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import AssignedTask, AssignedTaskType, StreamsClientAssignment
from assignment_api.streams.configs import RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.streams.tasks import TaskInfo
from assignment_api.utils.client_order import clients_in_map_order
from assignment_api.utils.default_standby import UnknownClientError
from assignment_api.utils.rack_aware.flow_problem import FlowProblem
from assignment_api.utils.rack_aware.gates import public_reason_against
from assignment_api.utils.rack_aware.internal import MAX_STANDBY_ROUNDS
from assignment_api.utils.rack_aware.placement import balance_subtopology, min_traffic
from assignment_api.utils.rack_aware.task_racks import NO_COST, Partitions, all_partitions, task_racks
from assignment_api.utils.rack_aware.traffic import costs_of, numbered_racks

__all__ = ["StrangerError", "optimize_rack_aware_active_tasks", "optimize_rack_aware_standby_tasks"]

Assignments = dict[ProcessID, StreamsClientAssignment]

#: (task, from, to), in order: the hash maps of tasks depend on it.
Moves = list[tuple[TaskId, ProcessID, ProcessID]]


class StrangerError(IllegalAssignmentArgumentError):
    """An assignment is for a client that the application lacks."""

    java_type = "IndexOutOfBoundsException"


class UnknownTaskToOptimizeError(IllegalAssignmentArgumentError):
    """The application lacks a task that may move."""

    java_type = "NullPointerException"


def optimize_rack_aware_active_tasks(
    application: ApplicationMetadata,
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    tasks: Iterable[TaskId] | None = None,
    *,
    traffic_cost: int | None = None,
    non_overlap_cost: int | None = None,
) -> Assignments:
    """Move active tasks to racks of their partitions; clients keep their number of tasks.

    No effect if there is nothing to optimise, the strategy is ``none``, a cost is not configured (an override does not
    replace that), a client has no rack, or the racks of a partition are unknown.
    :func:`assignment_api.utils.rack_aware.public_reason_against` returns the reason.

    Args:
        assignments: Not changed.
        tasks: Tasks that may move, each active on exactly one client; ``None``: all.
        traffic_cost: Overrides ``rack.aware.assignment.traffic_cost``.
        non_overlap_cost: Overrides ``rack.aware.assignment.non_overlap_cost``.

    Returns:
        Those given in their order, then clients that had none.

    Raises:
        IllegalAssignmentArgumentError: if a task is active on no known client, or on several.
        UnknownTaskToOptimizeError: if a task is none of the application's.
    """
    return move_active_tasks(application, assignments, tasks, traffic_cost, non_overlap_cost, [])


def move_active_tasks(
    application: ApplicationMetadata,
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    tasks: Iterable[TaskId] | None,
    traffic_cost: int | None,
    non_overlap_cost: int | None,
    moves: Moves,
) -> Assignments:
    """:func:`optimize_rack_aware_active_tasks`; adds each move to ``moves``."""
    chosen = _chosen(assignments, tasks, AssignedTaskType.ACTIVE)
    if not chosen or public_reason_against(application, all_partitions) is not None:
        return dict(assignments)
    state = _State.of(
        application, assignments, AssignedTaskType.ACTIVE, all_partitions, traffic_cost, non_overlap_cost, moves
    )
    holder = state.single_holders(chosen)
    state.solve(chosen, range(len(state.processes)), holder, _groups(chosen))
    return state.assignments


def optimize_rack_aware_standby_tasks(
    application: ApplicationMetadata,
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    tasks: Iterable[TaskId] | None = None,
    *,
    traffic_cost: int | None = None,
    non_overlap_cost: int | None = None,
) -> Assignments:
    """Exchange standbys between racks; clients keep their number of standbys.

    No effect as for :func:`optimize_rack_aware_active_tasks`, but only changelog partitions need racks. Costs and
    result as there.

    Args:
        assignments: Not changed.
        tasks: As in Kafka, only decides *whether* to run: then every standby may move. ``None``: all standbys.

    Raises:
        IllegalAssignmentArgumentError: if one of ``tasks`` is a standby on no known client.
        UnknownTaskToOptimizeError: if one of them, or another movable standby, is none of the application's.
        UnknownClientError: with tags, if an unknown client holds a movable standby.
        IllegalAssignmentStateError: if strategy ``balance_subtopology`` finds a standby that is not among ``tasks``.
        StrangerError: if an assignment is for a client that the application lacks.
    """
    return move_standby_tasks(application, assignments, tasks, traffic_cost, non_overlap_cost, [])


def move_standby_tasks(
    application: ApplicationMetadata,
    assignments: Mapping[ProcessID, StreamsClientAssignment],
    tasks: Iterable[TaskId] | None,
    traffic_cost: int | None,
    non_overlap_cost: int | None,
    moves: Moves,
) -> Assignments:
    """:func:`optimize_rack_aware_standby_tasks`; adds each move to ``moves``."""
    chosen = _chosen(assignments, tasks, AssignedTaskType.STANDBY)
    changelogs = TaskInfo.changelog_partitions
    if not chosen or public_reason_against(application, changelogs) is not None:
        return dict(assignments)
    state = _State.of(
        application, assignments, AssignedTaskType.STANDBY, changelogs, traffic_cost, non_overlap_cost, moves
    )
    state.check_held(chosen)
    groups = _groups(chosen)
    for _ in range(MAX_STANDBY_ROUNDS):
        moved = False
        for first in range(len(state.processes)):
            for second in range(first + 1, len(state.processes)):
                if state.rack_of[first] != state.rack_of[second]:
                    moved = state.exchange(first, second, groups) or moved
            state.check_no_strangers()
        if not moved:
            break
    return state.assignments


def _chosen(
    assignments: Mapping[ProcessID, StreamsClientAssignment], tasks: Iterable[TaskId] | None, kind: AssignedTaskType
) -> list[TaskId]:
    if tasks is None:
        held = (task.id for assignment in assignments.values() for task in assignment.tasks if task.type is kind)
        tasks = set(held)
    return sorted(set(tasks), key=TaskId.sort_key)


def _groups(tasks: Iterable[TaskId]) -> dict[TaskId, int]:
    """By number alone: unlike the internal assignors, names do not count."""
    return {task: task.subtopology for task in tasks}


@attrs.define(eq=False)
class _State:
    """Clients are in the order of Kafka's map."""

    application: ApplicationMetadata
    kind: AssignedTaskType
    assignments: Assignments
    processes: list[ProcessID]
    rack_of: list[int]
    infos: dict[TaskId, int]
    crossed: list[list[int]]
    traffic_cost: int
    non_overlap_cost: int
    held: list[set[TaskId]]
    everything: list[set[TaskId]]
    of_strangers: set[TaskId]
    moves: Moves

    @classmethod
    def of(
        cls,
        application: ApplicationMetadata,
        given: Mapping[ProcessID, StreamsClientAssignment],
        kind: AssignedTaskType,
        partitions: Partitions,
        traffic_cost: int | None,
        non_overlap_cost: int | None,
        moves: Moves,
    ) -> _State:
        states = application.streams_client_states()
        processes = clients_in_map_order(states)
        assignments = dict(given)
        for process in states:
            assignments.setdefault(process, StreamsClientAssignment.of(process, ()))
        racks, rack_of = numbered_racks(states[process].rack_id for process in processes)
        known = task_racks(application.task_infos())
        # A task without partitions costs nothing here.
        crossed = [[0 if count == NO_COST else count for count in known.crossed(partitions, rack)] for rack in racks]
        configs = application.assignment_configs()
        tasks = [assignments[process].tasks for process in processes]
        return cls(
            application,
            kind,
            assignments,
            processes,
            rack_of,
            {task: number for number, task in enumerate(known.tasks)},
            crossed,
            (configs.rack_aware_traffic_cost or 0) if traffic_cost is None else traffic_cost,
            (configs.rack_aware_non_overlap_cost or 0) if non_overlap_cost is None else non_overlap_cost,
            [{task.id for task in of_client if task.type is kind} for of_client in tasks],
            [{task.id for task in of_client} for of_client in tasks],
            {task.id for process, held in given.items() if process not in states for task in held.tasks},
            moves,
        )

    def single_holders(self, tasks: Sequence[TaskId]) -> list[int]:
        holder_of: dict[TaskId, int] = {}
        second_of: dict[TaskId, int] = {}
        wanted = set(tasks)
        for client, held in enumerate(self.held):
            for task in held & wanted:
                if holder_of.setdefault(task, client) != client:
                    second_of.setdefault(task, client)
        for task in tasks:
            if task in second_of and task in self.infos:
                raise IllegalAssignmentArgumentError(
                    f"Task {task} assigned to multiple clients {self.processes[second_of[task]]}, "
                    f"{self.processes[holder_of[task]]}"
                )
            self._check_held(task, task in holder_of)
        return [holder_of[task] for task in tasks]

    def check_held(self, tasks: Iterable[TaskId]) -> None:
        for task in tasks:
            self._check_held(task, any(task in held for held in self.held))

    def _check_held(self, task: TaskId, is_held: bool) -> None:  # noqa: FBT001 - it is data
        if self.processes:
            self._check_known(task)
        if not is_held:
            raise IllegalAssignmentArgumentError(f"Task {task} not assigned to any client")

    def _check_known(self, task: TaskId) -> None:
        if task not in self.infos:
            raise UnknownTaskToOptimizeError(f"task {task} cannot move: it is none of the application's tasks")

    def check_no_strangers(self) -> None:
        """Kafka counts assignments, and runs out of clients after the pairs of the first one."""
        states = self.application.streams_client_states()
        stranger = next((process for process in self.assignments if process not in states), None)
        if stranger is not None:
            length = len(self.processes)
            raise StrangerError(
                f"Index {length} out of bounds for length {length}: there is an assignment for client {stranger}, "
                "which the application does not have"
            )

    def exchange(self, first: int, second: int, groups: Mapping[TaskId, int]) -> bool:
        """Exchange tasks that the other client lacks; True if any moved."""
        there = self.held[first] - self.everything[second]
        back = self.held[second] - self.everything[first]
        if self.of_strangers:
            self._check_tags_known(there | back)
        if not there or not back:
            return False
        tasks = sorted(there | back, key=TaskId.sort_key)
        pair = sorted((first, second), key=lambda client: self.processes[client].sort_key())
        holder = [pair.index(first if task in there else second) for task in tasks]
        return self.solve(tasks, pair, holder, groups)

    def _check_tags_known(self, tasks: Iterable[TaskId]) -> None:
        """Kafka needs the tags of all other clients with a movable standby."""
        if self.application.assignment_configs().rack_aware_assignment_tags:
            for task in tasks:
                if task in self.of_strangers:
                    raise UnknownClientError(
                        f"an assignment for a client that the application does not have holds task {task}: "
                        "its tags are unknown"
                    )

    def solve(
        self, tasks: Sequence[TaskId], clients: Sequence[int], holder: Sequence[int], groups: Mapping[TaskId, int]
    ) -> bool:
        """Place ``tasks`` again; holders are indices in ``clients``. True if any moved."""
        strategy = self.application.assignment_configs().rack_aware_assignment_strategy
        balanced = strategy == RACK_AWARE_STRATEGY_BALANCE_SUBTOPOLOGY
        order = list(range(len(tasks)))
        numbers = [0] * len(tasks)
        if balanced:
            stranger = next((task for task in tasks if task not in groups), None)
            if stranger is not None:
                raise IllegalAssignmentStateError(f"Task {stranger} not in tasksForTopicGroup")
        for task in tasks:
            self._check_known(task)
        if balanced:
            order.sort(key=lambda place: groups[tasks[place]])
            present = sorted({groups[task] for task in tasks})
            numbers = [present.index(groups[tasks[place]]) for place in order]
        ordered = [tasks[place] for place in order]
        before = [holder[place] for place in order]
        rows = [self.crossed[self.rack_of[client]] for client in clients]
        costs = costs_of(rows, [self.infos[task] for task in ordered], self.traffic_cost)
        problem = FlowProblem(numbers, range(len(clients)), costs, self.non_overlap_cost, before)
        if balanced:
            now = balance_subtopology(problem, [before.count(client) for client in range(len(clients))])
        else:
            now = min_traffic(problem)
        moved = False
        for task, source, destination in zip(ordered, before, now, strict=True):
            if source != destination:
                self._move(task, clients[source], clients[destination])
                moved = True
        return moved

    def _move(self, task: TaskId, source: int, destination: int) -> None:
        giver, taker = self.processes[source], self.processes[destination]
        self.assignments[giver] = self.assignments[giver].without_task(task)
        self.assignments[taker] = self.assignments[taker].with_task(AssignedTask(task, self.kind))
        self.held[source].discard(task)
        self.everything[source].discard(task)
        self.held[destination].add(task)
        self.everything[destination].add(task)
        self.moves.append((task, giver, taker))
