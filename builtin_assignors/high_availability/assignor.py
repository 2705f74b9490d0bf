"""``high_availability``: Kafka's default assignor behind the SPI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

import attrs

from assignment_api import (
    ApplicationMetadata,
    IllegalAssignmentStateError,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskAssignor,
    TaskId,
    UnknownTaskError,
)
from assignment_api.java.hash_table import JavaHashTable, iteration_order
from assignment_api.java.hashing import task_id_hash, uuid_hash
from assignment_api.streams.assignment import assignment_of_distinct
from assignment_api.streams.listed_lags import listed
from assignment_api.tracing import RuleStep, Traced
from assignment_api.utils.rack_aware.internal import InternalRackOptimizer
from assignment_api.utils.standby import ClientTags
from builtin_assignors._known_tasks import KnownTasks, known_tasks
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._steps_taken import SILENT, StepsTaken
from builtin_assignors.high_availability.algorithm import HighAvailabilityAnswer, HighAvailabilityProblem, decide
from builtin_assignors.high_availability.tracing import HighAvailabilitySteps
from builtin_assignors.probing_rebalance import probing_deadline_ms

__all__ = ["HighAvailabilityTaskAssignor", "NoClientsError"]

#: Result of Kafka's lag computation for a task if the end offsets could not be fetched.
_UNKNOWN_LAG = -3


class NoClientsError(IllegalAssignmentStateError):
    """The application has tasks, but no clients."""

    java_type = "NoSuchElementException"


class HighAvailabilityTaskAssignor(TaskAssignor):
    """Kafka's ``HighAvailabilityTaskAssignor`` of 4.3.1 (KIP-441, KIP-708), with identical answers.

    Stateful tasks are spread evenly, regardless of previous owners. If a task's new client is still restoring, the task
    stays with a caught-up client and the new one gets a warm-up replica. While any task waits, the leader's own client
    must rebalance again after ``probing.rebalance.interval.ms``. *Stateful* means logged to a changelog here, as in all
    of Kafka's internal assignors.

    If ``compute_task_lags()`` returns false, every lag counts as unknown (-3). Then no client is caught up or ahead of
    another, and the ideal placement is the answer. Kafka never calls the assignor in that case: its partition assignor
    takes ``FallbackPriorTaskAssignor`` instead. That choice is up to the caller.

    The order of clients and tasks in the input does not matter.
    """

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Places every task; tasks of a client come sorted, actives first, clients in the order of the input.

        Raises:
            UnknownTaskError: if a client has lags, but none for one of the stateful tasks.
            NoClientsError: if there are tasks and no clients.
        """
        return _decided(application, None)

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        found: list[RuleStep] = []
        return Traced(_decided(application, found), found, RULE_TEXTS)


def _decided(application: ApplicationMetadata, found: list[RuleStep] | None) -> TaskAssignment:
    states = application.streams_client_states()
    clients = sorted(states.values(), key=_process_order)
    known = known_tasks(application.task_infos())
    if known.ids and not clients:
        raise NoClientsError("there are tasks, but no client to run them: give at least one client")
    problem = _problem(application, clients, known)
    racks = InternalRackOptimizer.of(application, known.ids, clients)
    steps: HighAvailabilitySteps = SILENT if found is None else _steps(application, clients, known, problem)
    answer = decide(problem, _client_hash_order(clients), _pending_task_order(known.ids), racks, steps)
    if found is not None:
        found += steps.taken.steps
    return _assignment(application, clients, known, answer)


def _steps(
    application: ApplicationMetadata,
    clients: Sequence[StreamsClientState],
    known: KnownTasks,
    problem: HighAvailabilityProblem,
) -> HighAvailabilitySteps:
    taken = StepsTaken(list(map(str, known.ids)), [str(client.process_id) for client in clients])
    configs = application.assignment_configs()
    return HighAvailabilitySteps(
        taken,
        problem.lags,
        problem.acceptable_recovery_lag,
        problem.max_warmup_replicas,
        configs.rack_aware_assignment_strategy,
        uses_tags=problem.tags is not None,
    )


def _process_order(client: StreamsClientState) -> tuple[int, int]:
    return client.process_id.sort_key()


def _problem(
    application: ApplicationMetadata, clients: Sequence[StreamsClientState], known: KnownTasks
) -> HighAvailabilityProblem:
    configs = application.assignment_configs()
    keys = configs.rack_aware_assignment_tags
    roles = known.memory.get(_Roles)
    if roles is None:
        roles = known.memory[_Roles] = _Roles.of(known)
    return HighAvailabilityProblem(
        stateful=roles.stateful,
        stateless=roles.stateless,
        capacities=[client.num_stream_threads for client in clients],
        lags=_lag_rows(clients, roles, known) if application.compute_task_lags() else _unknown_lags(clients, known.ids),
        acceptable_recovery_lag=configs.acceptable_recovery_lag,
        max_warmup_replicas=configs.max_warmup_replicas,
        num_standby_replicas=configs.num_standby_replicas,
        tags=ClientTags.of([client.client_tags for client in clients], keys) if keys else None,
        traffic_cost=configs.rack_aware_traffic_cost,
        non_overlap_cost=configs.rack_aware_non_overlap_cost,
    )


@attrs.define(eq=False)
class _Roles:
    """Cached values about the tasks of an application.

    Args:
        listed: Tasks of the last reported lags, in their order.
        places: Place of each task among those; -1: none.
    """

    stateful: list[int]
    stateless: list[int]
    listed: tuple[TaskId, ...] | None = None
    places: list[int] = attrs.field(factory=list)

    @classmethod
    def of(cls, known: KnownTasks) -> _Roles:
        places = list(enumerate(known.logged))
        return cls([place for place, logged in places if logged], [place for place, logged in places if not logged])


def _unknown_lags(clients: Sequence[StreamsClientState], tasks: Sequence[TaskId]) -> list[list[int]]:
    row = [_UNKNOWN_LAG] * len(tasks)
    return list(repeat(row, len(clients)))


def _lag_rows(clients: Sequence[StreamsClientState], roles: _Roles, known: KnownTasks) -> list[list[int]]:
    """Lag of each task, for each client; entries of stateless tasks are never read.

    Clients usually list the same tasks in the same order: then entries are picked by position, without hashing.
    Clients that share one mapping share one row.
    """
    rows: list[list[int]] = []
    shared: dict[int, list[int]] = {}
    for client in clients:
        lags = client.stateful_tasks_to_lag_sums()
        row = shared.get(id(lags))
        if row is None:
            reported, values = listed(lags)
            if reported is not roles.listed and reported != roles.listed:
                roles.listed = None
                roles.places = _places(reported, known.ids, known.logged)
                roles.listed = reported
            values = (*values, _UNKNOWN_LAG)
            row = shared[id(lags)] = [values[place] for place in roles.places]
        rows.append(row)
    return rows


def _places(reported: Sequence[TaskId], tasks: Sequence[TaskId], logged: Sequence[bool]) -> list[int]:
    """Place of each task among the reported ones; -1 for a missing stateless task."""
    place_of = {task: place for place, task in enumerate(reported)}
    places = [place_of.get(task, -1) for task in tasks]
    for task, place, is_logged in zip(tasks, places, logged, strict=True):
        if is_logged and place < 0:
            raise UnknownTaskError(f"Tried to lookup lag for unknown task {task}")
    return places


def _client_hash_order(clients: Sequence[StreamsClientState]) -> Callable[[Sequence[int]], Sequence[int]]:
    def order(chosen: Sequence[int]) -> Sequence[int]:
        ids = [clients[client].process_id for client in chosen]
        hashes = [uuid_hash(process.most_significant_bits, process.least_significant_bits) for process in ids]
        return iteration_order(chosen, hashes)

    return order


def _pending_task_order(tasks: Sequence[TaskId]) -> Callable[[Sequence[int], Sequence[int]], Sequence[int]]:
    def order(inserted: Sequence[int], removed: Sequence[int]) -> Sequence[int]:
        table: JavaHashTable[int, None] = JavaHashTable(
            lambda task: task_id_hash(tasks[task].subtopology, tasks[task].partition, tasks[task].topology_name),
            lambda task: tasks[task].sort_key(),
        )
        for task in inserted:
            table.put(task, None)
        for task in removed:
            table.remove(task)
        return list(table)

    return order


def _assignment(
    application: ApplicationMetadata,
    clients: Sequence[StreamsClientState],
    known: KnownTasks,
    answer: HighAvailabilityAnswer,
) -> TaskAssignment:
    deadline = probing_deadline_ms(application)
    states = application.streams_client_states()
    leader: ProcessID | None = None
    if answer.followup:
        leader = application.leader_process_id() or next(iter(states))
    by_process: dict[ProcessID, StreamsClientAssignment] = {}
    as_active, as_standby = known.as_active, known.as_standby
    for client, active, standby in zip(clients, answer.active, answer.standby, strict=True):
        process = client.process_id
        assigned = [as_active[task] for task in sorted(active)]
        assigned += [as_standby[task] for task in sorted(standby)]
        # In Kafka's answer a client can hold a task in both roles; the class refuses that.
        make = assignment_of_distinct if active.isdisjoint(standby) else StreamsClientAssignment
        by_process[process] = make(process, tuple(assigned), deadline if process == leader else None)
    return TaskAssignment([by_process[process] for process in states])
