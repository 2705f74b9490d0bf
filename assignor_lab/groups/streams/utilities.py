"""Utilities that answer applications of Streams line by line: the SPI's, and the spread over threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignmentUtils,
    TaskId,
)
from assignment_api.java import iteration_order, uuid_hash
from assignor_lab.groups.kind import AnswerOptions, Utility
from assignor_lab.kafka.leader.threads import ConsumerTasks, spread_over_consumers
from assignor_lab.runtime.invocation import InvalidAnswerError
from assignor_lab.scenarios import Scenario, result_row

__all__ = ["UTILITIES", "threads_of"]


def threads_of(
    application: ApplicationMetadata,
    assignment: TaskAssignment,
    *,
    sorted_sets: bool,
) -> dict[str, dict[str, tuple[TaskId, ...]]]:
    """Consumer to its tasks, by Kafka's spread of a client's tasks over its threads.

    Raises:
        InvalidAnswerError: if a client of the assignment is none of the application's.
    """
    shown = application.for_next_assignor()
    shown.compute_task_lags()
    threads: dict[str, ConsumerTasks] = {}
    states = shown.streams_client_states()
    for client in assignment.assignments:
        if client.process_id not in states:
            raise InvalidAnswerError(
                f"client {client.process_id} has tasks and is none of the application's: remove it, or add the client"
            )
        threads.update(spread_over_consumers(states[client.process_id], client, sorted_sets=sorted_sets))
    for state in states.values():
        for consumer in state.consumers:
            threads.setdefault(consumer, ConsumerTasks((), ()))
    return {consumer: {"active": tasks.active, "standby": tasks.standby} for consumer, tasks in threads.items()}


# --- utilities ------------------------------------------------------------------------------------


_Call = Callable[[ApplicationMetadata, Scenario], tuple[TaskAssignment, dict[str, Any]]]


def given_assignment(scenario: Scenario) -> dict[ProcessID, StreamsClientAssignment]:
    """The scenario's ``assignment``, in the order of the document, actives first; empty if it has none.

    A client's tasks with their roles are a set in Kafka: a task that is listed twice in one role counts once.
    """
    given = {}
    for process_text, tasks in (scenario.document.get("assignment") or {}).items():
        process = ProcessID.parse(process_text)
        active = [AssignedTask.active(TaskId.parse(task)) for task in tasks["active"]]
        standby = [AssignedTask.standby(TaskId.parse(task)) for task in tasks["standby"]]
        given[process] = StreamsClientAssignment.of(process, dict.fromkeys(active + standby))
    return given


def _identity(application: ApplicationMetadata, _scenario: Scenario) -> tuple[TaskAssignment, dict[str, Any]]:
    return TaskAssignment(TaskAssignmentUtils.identity_assignment(application)), {}


def _validate(application: ApplicationMetadata, scenario: Scenario) -> tuple[TaskAssignment, dict[str, Any]]:
    given = given_assignment(scenario)
    # The callers in Java hold a hash map of clients, and the first error found depends on its order.
    hashes = [uuid_hash(*process.sort_key()) for process in given]
    assignment = TaskAssignment(
        iteration_order(list(given.values()), hashes, sort_key=lambda held: held.process_id.sort_key())
    )
    error = TaskAssignmentUtils.validate_task_assignment(application, assignment)
    return assignment, {"validation": error.name}


def _default_standby(application: ApplicationMetadata, scenario: Scenario) -> tuple[TaskAssignment, dict[str, Any]]:
    given = given_assignment(scenario)
    return TaskAssignment(TaskAssignmentUtils.default_standby_task_assignment(application, given)), {}


def _optimize(optimize: Callable[..., dict[ProcessID, StreamsClientAssignment]]) -> _Call:
    """``params`` selects the tasks (``all``, ``stateful``, ``stateless``, a list) and may override the costs."""

    def utility(application: ApplicationMetadata, scenario: Scenario) -> tuple[TaskAssignment, dict[str, Any]]:
        params = scenario.document.get("params") or {}
        optimized = optimize(
            application,
            given_assignment(scenario),
            _selected_tasks(application, params.get("tasks", "all")),
            traffic_cost=params.get("traffic_cost"),
            non_overlap_cost=params.get("non_overlap_cost"),
        )
        return TaskAssignment(optimized), {}

    return utility


def _selected_tasks(application: ApplicationMetadata, selection: str | list[str]) -> list[TaskId] | None:
    if selection == "all":
        return None
    if isinstance(selection, str):
        wanted = selection == "stateful"
        return [task for task, info in application.task_infos().items() if info.is_stateful == wanted]
    return [TaskId.parse(task) for task in selection]


def _utility(name: str, call: _Call) -> Utility:
    def row(scenario: Scenario, options: AnswerOptions) -> dict[str, Any]:
        assignment, further = call(_application(scenario, options), scenario)
        return {**result_row(scenario, name, assignment, with_followups=options.followups), **further}

    return row


def _threads(scenario: Scenario, options: AnswerOptions) -> dict[str, Any]:
    """Spreads the scenario's own ``assignment``; ``params.via`` is the kind of assignor that created it."""
    assignment = TaskAssignment(given_assignment(scenario))
    via = (scenario.document.get("params") or {}).get("via", "custom")
    threads = threads_of(_application(scenario, options), assignment, sorted_sets=via == "legacy")
    return {**result_row(scenario, "threads", assignment, threads=threads), "followup": None}


def _application(scenario: Scenario, options: AnswerOptions) -> ApplicationMetadata:
    return scenario.application_with(options.sources.explicit_values())


_CALLS: Mapping[str, _Call] = {
    "utils.default_standby": _default_standby,
    "utils.identity": _identity,
    "utils.optimize_active": _optimize(TaskAssignmentUtils.optimize_rack_aware_active_tasks),
    "utils.optimize_standby": _optimize(TaskAssignmentUtils.optimize_rack_aware_standby_tasks),
    "utils.validate": _validate,
}
UTILITIES: Mapping[str, Utility] = {
    **{name: _utility(name, call) for name, call in _CALLS.items()},
    "threads": _threads,
}
