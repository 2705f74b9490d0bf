"""Conversion between ids and dense indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
)
from assignment_api.streams.assignment import assignment_of_distinct, with_steps
from builtin_assignors._known_tasks import KnownTasks, known_tasks
from builtin_assignors._steps_taken import StepsTaken
from builtin_assignors._sticky_steps.placement import StickyPlacement
from builtin_assignors._sticky_steps.problem import StickyProblem
from builtin_assignors._sticky_steps.task_orders import TaskOrders
from builtin_assignors._sticky_steps.tracing import StickySteps

__all__ = ["StickyIds", "client_map_order", "steps_of", "to_assignment", "to_problem"]


@attrs.frozen
class StickyIds:
    """The ids behind the indices of a :class:`StickyProblem`."""

    tasks: Sequence[TaskId]
    processes: Sequence[ProcessID]
    #: The cached tasks, if the application has no others.
    known: KnownTasks | None = None


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
    """Number the tasks and clients of an application.

    Args:
        jdk: JDK generation that sets the sizes of copied sets.
    """
    states = list(application.streams_client_states().values())
    tasks = _known(application.task_infos())
    try:
        before = _before(tasks, states)
    except KeyError:
        tasks = _Tasks.with_gone(application.task_infos(), states)
        before = _before(tasks, states)
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
        previous_active=[before[place][0] for place in order],
        previous_standby=[before[place][1] for place in order],
        num_standbys=application.assignment_configs().num_standby_replicas,
        jdk=jdk,
        orders=tasks.orders(jdk),
    )
    return problem, StickyIds(tasks.ascending, [states[place].process_id for place in order], tasks.known)


def steps_of(problem: StickyProblem, ids: StickyIds) -> StickySteps:
    tasks, clients = list(map(str, ids.tasks)), list(map(str, ids.processes))
    return StickySteps(StepsTaken(tasks, clients, problem.tasks))


def _task_hash(task: TaskId) -> int:
    return task_id_hash(task.subtopology, task.partition, task.topology_name)


@attrs.frozen(eq=False)
class _Tasks:
    ascending: Sequence[TaskId]
    hashes: Sequence[int]
    #: Places of the application's tasks, in the order of the input.
    #: Then places of the tasks with a changelog.
    listed: Sequence[int]
    stateful: Sequence[int]
    place_of: Mapping[TaskId, int]
    known: KnownTasks | None
    _orders: dict[JdkGeneration, TaskOrders] = attrs.field(factory=dict, init=False)

    def orders(self, jdk: JdkGeneration) -> TaskOrders:
        """The orders of the tasks: the same object each time."""
        if jdk not in self._orders:
            self._orders[jdk] = TaskOrders(self.hashes, self.listed, self.stateful, jdk)
        return self._orders[jdk]

    @classmethod
    def of_known(cls, known: KnownTasks) -> _Tasks:
        stateful = [place for place in known.listed if known.logged[place]]
        return cls(known.ids, _hashes(known.ids), known.listed, stateful, known.place_of, known)

    @classmethod
    def with_gone(cls, infos: Mapping[TaskId, TaskInfo], states: Sequence[StreamsClientState]) -> _Tasks:
        """The tasks of an application, and others that clients had before."""
        before = [task for state in states for task in (*state.previous_active_tasks, *state.previous_standby_tasks)]
        ids = list({**infos, **dict.fromkeys(before)})
        if any(task.topology_name is not None for task in ids):
            order = sorted(range(len(ids)), key=[task.sort_key() for task in ids].__getitem__)
        else:
            order = sorted(range(len(ids)), key=[(task.subtopology, task.partition) for task in ids].__getitem__)
        places = [0] * len(ids)
        for place, index in enumerate(order):
            places[index] = place
        ascending = [ids[index] for index in order]
        return cls(
            ascending=ascending,
            hashes=_hashes(ascending),
            listed=places[: len(infos)],
            stateful=[place for place, info in zip(places, infos.values(), strict=False) if info.is_logged],
            place_of=dict(zip(ids, places, strict=True)),
            known=None,
        )


def _known(infos: Mapping[TaskId, TaskInfo]) -> _Tasks:
    known = known_tasks(infos)
    tasks: _Tasks | None = known.memory.get(_Tasks)
    if tasks is None:
        tasks = known.memory[_Tasks] = _Tasks.of_known(known)
    return tasks


def _before(tasks: _Tasks, states: Sequence[StreamsClientState]) -> list[tuple[list[int], list[int]]]:
    """Previous active and standby tasks of each client.

    Raises:
        KeyError: if one is not among the tasks.
    """
    place_of = tasks.place_of
    return [
        (
            [place_of[task] for task in state.previous_active_tasks],
            [place_of[task] for task in state.previous_standby_tasks],
        )
        for state in states
    ]


def _hashes(ascending: Sequence[TaskId]) -> list[int]:
    if any(task.topology_name is not None for task in ascending):
        return [_task_hash(task) for task in ascending]
    return unnamed_task_id_hashes([(task.subtopology, task.partition) for task in ascending])


def to_assignment(
    application: ApplicationMetadata,
    ids: StickyIds,
    placement: StickyPlacement,
    followup_rebalance_deadline_ms: int | None = None,
) -> TaskAssignment:
    """The answer: clients in the order of the input; their active tasks, then their standbys, in the order of placing.

    Kafka fills the maps of an answer in that order, and the distribution over threads can depend on it (Kafka:
    ``StreamsPartitionAssignor.assignTasksToThreads``). It can also depend on tasks that an optimiser removed from a map
    again, so those are recorded, too.

    Args:
        followup_rebalance_deadline_ms: For the leader's client (the first client if the leader is unknown), or None.
    """
    tasks, known = ids.tasks, ids.known
    if known is None:
        as_active = [AssignedTask(task, AssignedTaskType.ACTIVE) for task in tasks]
        as_standby = [AssignedTask(task, AssignedTaskType.STANDBY) for task in tasks]
    else:
        as_active, as_standby = known.as_active, known.as_standby
    tasks_of = {
        process: (*[as_active[task] for task in actives], *[as_standby[task] for task in standbys])
        for process, actives, standbys in zip(ids.processes, placement.actives, placement.standbys, strict=True)
    }
    processes = list(application.streams_client_states())
    leader = application.leader_process_id() or (processes[0] if processes else None)
    assignments = {
        process: assignment_of_distinct(
            process, tasks_of[process], followup_rebalance_deadline_ms if process == leader else None
        )
        for process in processes
    }
    for process, history in zip(ids.processes, placement.histories, strict=False):
        with_steps(assignments[process], [(tasks[task if task >= 0 else ~task], task >= 0) for task in history])
    return TaskAssignment(list(assignments.values()))
