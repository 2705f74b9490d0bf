"""From a scenario to the result row that one assignor, or one of the SPI's utilities, gives for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignorLabError,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignmentUtils,
    TaskId,
)
from assignment_api.java import iteration_order, uuid_hash
from assignment_api.plugins import ConfigSources, FoundTaskAssignor, Registry
from assignor_lab.groups.connect.answering import connect_row
from assignor_lab.groups.streams_group.answering import group_row
from assignor_lab.kafka.leader.fallback import is_internal, replacement_without_lags
from assignor_lab.kafka.leader.threads import ConsumerTasks, spread_over_consumers
from assignor_lab.runtime.invocation import MESSAGE_LIMIT, Failure, InvalidAnswerError, failure_of, invoke
from assignor_lab.scenarios import Scenario, ScenarioKindError, error_row, result_row

__all__ = ["UTILITIES", "Answer", "AnswerOptions", "answerer"]

#: A scenario to its result row.
Answer = Callable[[Scenario], dict[str, Any]]


#: Remarks of one answer that are passed on, each cut to ``MESSAGE_LIMIT`` characters.
MOST_REMARKS = 20


def _ignore(_problem: str) -> None:
    """Nobody wants to know."""


@attrs.frozen
class AnswerOptions:
    """What the rows are to hold, and under which configuration they are made.

    Args:
        sources: Configuration around each scenario's own.
        threads: Add which consumer runs what.
        followups: Add the deadlines of follow-up rebalances.
        on_problem: Takes what rows have no place for, in sentences: remarks of an answer, failures of observers.
    """

    sources: ConfigSources
    threads: bool = False
    followups: bool = False
    on_problem: Callable[[str], None] = _ignore

    def application(self, scenario: Scenario) -> ApplicationMetadata:
        """The scenario's application; explicit configuration replaces the scenario's own."""
        return scenario.application_with(self.sources.explicit_values())


def answerer(selector: str, registry: Registry, options: AnswerOptions, *, may_run_code: bool = False) -> Answer:
    """What answers under the name ``selector``.

    Args:
        selector: Selector of an assignor, the name of a utility (``UTILITIES``), or ``threads``.
        registry: Where assignors are found.
        options: What the rows are to hold.
        may_run_code: ``module:attribute`` may be imported.

    Raises:
        UnknownPluginError, AmbiguousPluginError, PluginLoadError, UntrustedCodeError: as the registry does. The answer
            itself raises ScenarioKindError for a scenario of a kind that this name does not answer.
    """
    return _by_kind(selector, _answers(selector, registry, options, may_run_code=may_run_code))


def _answers(selector: str, registry: Registry, options: AnswerOptions, *, may_run_code: bool) -> dict[str, Answer]:
    """Kind of scenarios to who answers them under the name ``selector``."""
    utility = UTILITIES.get(selector)
    if utility is not None:
        return {"streams": lambda scenario: _utility_row(selector, utility, scenario, options)}
    if selector == "threads":
        return {"streams": lambda scenario: _threads_row(scenario, options)}
    answers: dict[str, Answer] = {}
    kinds = registry.assignor_kinds(selector, may_run_code=may_run_code)
    if "connect-assignor" in kinds:
        leader = registry.connect_assignor(selector, may_run_code=may_run_code)
        answers["connect"] = lambda scenario: connect_row(leader, options.sources, scenario, options.on_problem)
    if "group-assignor" in kinds:
        group = registry.group_assignor(selector)
        answers["streams-group"] = lambda scenario: group_row(group, options.sources, scenario)
    if "task-assignor" in kinds or not answers:
        found = registry.task_assignor(selector, may_run_code=may_run_code)
        asked = _Asked(found, replacement_without_lags(found, registry), registry)
        answers["streams"] = lambda scenario: _assignor_row(asked, scenario, options)
    return answers


def _by_kind(selector: str, answers: Mapping[str, Answer]) -> Answer:
    def answer(scenario: Scenario) -> dict[str, Any]:
        by_kind = answers.get(scenario.kind)
        if by_kind is None:
            raise ScenarioKindError(
                f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, and {selector} answers "
                f"{' and '.join(map(repr, answers))} only: choose an assignor of that kind (`assignor plugins` lists "
                "them), or convert the scenario"
            )
        return by_kind(scenario)

    return answer


@attrs.frozen
class _Asked:
    """An assignor, who answers where lags are not there, and who is told of the answer."""

    found: FoundTaskAssignor
    without_lags: FoundTaskAssignor
    registry: Registry


def _assignor_row(asked: _Asked, scenario: Scenario, options: AnswerOptions) -> dict[str, Any]:
    found = asked.found
    try:
        application = options.application(scenario)
    except AssignorLabError as error:
        return _failure_row(scenario, found.name, failure_of(error))
    has_lags = all(client.has_lags() for client in application.streams_client_states().values())
    chosen = found if has_lags else asked.without_lags
    configs = options.sources.effective(scenario.config, str(scenario.place)).values_for(chosen.name)
    outcome = invoke(chosen, application, configs)
    for problem in asked.registry.notify_assignment_computed(
        found.name,
        application,
        outcome.assignment,
        outcome.validation if outcome.assignment is not None else None,
        None if outcome.failure is None else outcome.failure.message,
    ):
        options.on_problem(f"observer {problem.name} of {problem.distribution}: {problem.reason}")
    if outcome.assignment is None:
        failure = outcome.failure or Failure("InternalError", None, "neither an answer nor a failure")
        return _failure_row(scenario, found.name, failure)
    remarks = outcome.assignment.remarks
    for remark in remarks[:MOST_REMARKS]:
        options.on_problem(f"{scenario.place}: {found.name}: {remark[:MESSAGE_LIMIT]}")
    if len(remarks) > MOST_REMARKS:
        options.on_problem(f"{scenario.place}: {found.name}: {len(remarks) - MOST_REMARKS} more remarks")
    try:
        threads = _threads_of(application, outcome.assignment, is_internal(found)) if options.threads else None
    except AssignorLabError as error:
        return _failure_row(scenario, found.name, failure_of(error))
    return result_row(scenario, found.name, outcome.assignment, threads=threads, with_followups=options.followups)


def _failure_row(scenario: Scenario, assignor: str, failure: Failure) -> dict[str, Any]:
    return error_row(scenario, assignor, failure.type, failure.java_type, failure.message)


def _threads_of(
    application: ApplicationMetadata,
    assignment: TaskAssignment,
    sorted_sets: bool,  # noqa: FBT001 - passed on as it is
) -> dict[str, dict[str, tuple[TaskId, ...]]]:
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


#: One of the SPI's utilities: application and scenario to the assignment after the call, and what else the row holds.
Utility = Callable[[ApplicationMetadata, Scenario], tuple[TaskAssignment, dict[str, Any]]]


def given_assignment(scenario: Scenario) -> dict[ProcessID, StreamsClientAssignment]:
    """The scenario's ``assignment``, in the order of the document, actives first; empty where it has none."""
    given = {}
    for process_text, tasks in (scenario.document.get("assignment") or {}).items():
        process = ProcessID.parse(process_text)
        active = [AssignedTask.active(TaskId.parse(task)) for task in tasks["active"]]
        standby = [AssignedTask.standby(TaskId.parse(task)) for task in tasks["standby"]]
        given[process] = StreamsClientAssignment.of(process, active + standby)
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


def _optimize(optimize: Callable[..., dict[ProcessID, StreamsClientAssignment]]) -> Utility:
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


#: Name on the command line to the utility.
UTILITIES: Mapping[str, Utility] = {
    "utils.default_standby": _default_standby,
    "utils.identity": _identity,
    "utils.optimize_active": _optimize(TaskAssignmentUtils.optimize_rack_aware_active_tasks),
    "utils.optimize_standby": _optimize(TaskAssignmentUtils.optimize_rack_aware_standby_tasks),
    "utils.validate": _validate,
}


def _utility_row(name: str, utility: Utility, scenario: Scenario, options: AnswerOptions) -> dict[str, Any]:
    try:
        assignment, further = utility(options.application(scenario), scenario)
    except AssignorLabError as error:
        return _failure_row(scenario, name, failure_of(error))
    return {**result_row(scenario, name, assignment, with_followups=options.followups), **further}


def _threads_row(scenario: Scenario, options: AnswerOptions) -> dict[str, Any]:
    """Spreads the scenario's own ``assignment``; ``params.via`` says what kind of assignor it came from."""
    assignment = TaskAssignment(given_assignment(scenario))
    via = (scenario.document.get("params") or {}).get("via", "custom")
    try:
        threads = _threads_of(options.application(scenario), assignment, via == "legacy")
    except AssignorLabError as error:
        return _failure_row(scenario, "threads", failure_of(error))
    return {**result_row(scenario, "threads", assignment, threads=threads), "followup": None}
