"""The boundary at which ids become indices, and indices ids again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from assignment_api.java import (
    DEFAULT_JDK,
    JdkGeneration,
    iteration_order,
    task_id_hash,
    unnamed_task_id_hashes,
    uuid_hash,
)
from assignment_api.streams import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
)
from assignment_api.streams.assignment import with_steps
from builtin_assignors._sticky_steps.placement import Placement
from builtin_assignors._sticky_steps.problem import StickyProblem

__all__ = ["StickyIds", "client_map_order", "to_assignment", "to_problem"]


@attrs.frozen
class StickyIds:
    """The ids behind the indices of a :class:`StickyProblem`."""

    #: Task of each index.
    tasks: Sequence[TaskId]
    #: Client of each index.
    processes: Sequence[ProcessID]


def client_map_order(clients: Sequence[int], hashes: Sequence[int], rank_of: Callable[[int], int]) -> list[int]:
    """The order of a ``HashMap`` of clients that are inserted in the order of ``clients``.

    Args:
        clients: Places of the clients in the input.
        hashes: Java's hash code of each place's process id.
        rank_of: Place in Java's order of process ids.
    """
    return iteration_order(clients, [hashes[client] for client in clients], sort_key=rank_of)


def to_problem(
    application: ApplicationMetadata,
    client_order: Callable[[Sequence[int], Sequence[int], Callable[[int], int]], Sequence[int]],
    jdk: JdkGeneration = DEFAULT_JDK,
) -> tuple[StickyProblem, StickyIds]:
    """Numbers tasks and clients.

    Args:
        application: The input.
        client_order: The order in which the assignor sees the clients: a function like :func:`client_map_order`.
        jdk: Whose rule the sizes of copied sets follow.
    """
    states = list(application.streams_client_states().values())
    tasks = _Tasks.of(application.task_infos(), states)
    hashes = [
        uuid_hash(state.process_id.most_significant_bits, state.process_id.least_significant_bits) for state in states
    ]
    ascending = sorted(range(len(states)), key=lambda place: states[place].process_id.sort_key())
    ranks = [0] * len(states)
    for rank, place in enumerate(ascending):
        ranks[place] = rank
    order = client_order(range(len(states)), hashes, ranks.__getitem__)
    problem = StickyProblem(
        task_hashes=tasks.hashes,
        tasks=tasks.listed,
        stateful_tasks=tasks.stateful,
        capacities=[states[place].num_stream_threads for place in order],
        client_hashes=[hashes[place] for place in order],
        client_ranks=[ranks[place] for place in order],
        previous_active=[tasks.places(states[place].previous_active_tasks) for place in order],
        previous_standby=[tasks.places(states[place].previous_standby_tasks) for place in order],
        num_standbys=application.assignment_configs().num_standby_replicas,
        jdk=jdk,
    )
    return problem, StickyIds(tasks.ascending, [states[place].process_id for place in order])


def _task_hash(task: TaskId) -> int:
    return task_id_hash(task.subtopology, task.partition, task.topology_name)


@attrs.frozen
class _Tasks:
    """All task ids in ascending order, and where the application's are among them."""

    ascending: Sequence[TaskId]
    hashes: Sequence[int]
    #: Places of the application's tasks, in the order of the input; then of those with a changelog.
    listed: Sequence[int]
    stateful: Sequence[int]
    _place_of: dict[TaskId, int]

    @classmethod
    def of(cls, infos: Mapping[TaskId, TaskInfo], states: Sequence[StreamsClientState]) -> _Tasks:
        ids = list(infos)
        has_previous = any(state.previous_active_tasks or state.previous_standby_tasks for state in states)
        gone = {
            task: None
            for state in states
            for previous in (state.previous_active_tasks, state.previous_standby_tasks)
            for task in previous
            if task not in infos
        }
        ids += gone
        if any(task.topology_name is not None for task in ids):
            order = sorted(range(len(ids)), key=[task.sort_key() for task in ids].__getitem__)
            hashes = [_task_hash(ids[place]) for place in order]
        else:
            numbers = [(task.subtopology, task.partition) for task in ids]
            order = sorted(range(len(ids)), key=numbers.__getitem__)
            hashes = unnamed_task_id_hashes([numbers[place] for place in order])
        places = [0] * len(ids)
        for place, index in enumerate(order):
            places[index] = place
        return cls(
            ascending=[ids[index] for index in order],
            hashes=hashes,
            listed=places[: len(infos)],
            stateful=[place for place, info in zip(places, infos.values(), strict=False) if info.is_logged],
            place_of=dict(zip(ids, places, strict=True)) if has_previous else {},
        )

    def places(self, tasks: Iterable[TaskId]) -> list[int]:
        """The places of some of the tasks."""
        place_of = self._place_of
        return [place_of[task] for task in tasks]


def to_assignment(
    application: ApplicationMetadata,
    ids: StickyIds,
    placement: Placement,
    followup_rebalance_deadline_ms: int | None = None,
) -> TaskAssignment:
    """The answer: clients in the order of the input, their active tasks and then their standbys as they came.

    Kafka's maps of an answer are filled in that order, and the spread over threads can depend on it (Kafka:
    ``StreamsPartitionAssignor.assignTasksToThreads``); and on what an optimiser took out of a map again, so that is
    noted with them.

    Args:
        application: The input.
        ids: The ids behind the placement.
        placement: Who holds what.
        followup_rebalance_deadline_ms: For the leader's client (the first client where no leader is known), or None.
    """
    tasks = ids.tasks
    as_standby: dict[int, AssignedTask] = {}
    tasks_of = {}
    for client, process in enumerate(ids.processes):
        held = [AssignedTask(tasks[task], AssignedTaskType.ACTIVE) for task in placement.actives[client]]
        for task in placement.standbys[client]:
            standby = as_standby.get(task)
            if standby is None:
                standby = as_standby[task] = AssignedTask(tasks[task], AssignedTaskType.STANDBY)
            held.append(standby)
        tasks_of[process] = held
    processes = list(application.streams_client_states())
    leader = application.leader_process_id() or (processes[0] if processes else None)
    assignments = {
        process: StreamsClientAssignment(
            process,
            tuple(tasks_of[process]),
            followup_rebalance_deadline_ms if process == leader else None,
        )
        for process in processes
    }
    for process, history in zip(ids.processes, placement.histories, strict=False):
        with_steps(assignments[process], [(tasks[task if task >= 0 else ~task], task >= 0) for task in history])
    return TaskAssignment(assignments)
