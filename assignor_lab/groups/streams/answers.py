"""Readings of an answer for Streams: a digest, the follow-up, and equality with Kafka's own decision."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignorLabError,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
)
from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.metrics.definition import derived
from assignor_lab.groups.streams.placement import StreamsPlacement, StreamsState, StreamsTopology, placement_of
from assignor_lab.groups.work import OBSERVED
from assignor_lab.runtime.invocation import CallOutcome, failure_of
from assignor_lab.scenarios import Scenario

__all__ = [
    "StreamsAnswer",
    "answer_digest",
    "equals_observed",
    "followup_of",
    "has_followup",
    "observed_assignment",
    "observed_outcome",
]

StreamsAnswer = ContenderAnswer[ApplicationMetadata, TaskAssignment]


def observed_outcome(scenario: Scenario) -> CallOutcome[TaskAssignment] | None:
    """Kafka's decision in a captured state, as an outcome; ``None`` if unknown."""
    if scenario.observed is None:
        return None
    try:
        return CallOutcome(observed_assignment(scenario.observed))
    except AssignorLabError as error:
        return CallOutcome(failure_of(error))


def observed_assignment(observed: Mapping[str, Any]) -> TaskAssignment:
    return TaskAssignment(
        tuple(
            StreamsClientAssignment(
                ProcessID.parse(process),
                (
                    *(AssignedTask.active(TaskId.parse(task)) for task in tasks["active"]),
                    *(AssignedTask.standby(TaskId.parse(task)) for task in tasks["standby"]),
                ),
            )
            for process, tasks in observed["assignment"].items()
        )
    )


def has_followup(assignment: TaskAssignment) -> bool:
    return any(client.followup_rebalance_deadline_ms is not None for client in assignment.assignments)


def followup_of(answer: StreamsAnswer) -> bool | None:
    """True if a follow-up rebalance is requested; ``None``: unknown, or there is no answer."""
    assignment = answer.outcome.answer
    if assignment is None:
        return None
    if answer.assignor == OBSERVED:
        observed = None if answer.scenario is None else answer.scenario.observed
        return None if observed is None else observed.get("followup")
    return has_followup(assignment)


def equals_observed(answer: StreamsAnswer) -> bool | None:
    """True if an answer is Kafka's own: the tasks of every client, and the follow-up if it is known."""
    observed = answer.scenario.observed if answer.scenario is not None else None
    assignment = answer.outcome.answer
    if observed is None or assignment is None or answer.assignor == OBSERVED:
        return None
    if observed.get("followup") is not None and observed["followup"] != followup_of(answer):
        return False
    return _tasks_by_client(assignment) == _tasks_by_client(observed_assignment(observed))


def answer_digest(application: ApplicationMetadata, assignment: TaskAssignment) -> str:
    """16 hex digits of the holders of tasks: equal for equal answers, in any order."""
    placement = placement_of(application, assignment)
    placed = _placed(placement) if placement.is_exact else _tasks_by_client(assignment)
    text = "".join([f"{process}|{','.join(active)}|{','.join(standby)}\n" for process, active, standby in placed])
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _placed(placement: StreamsPlacement) -> list[tuple[str, list[str], list[str]]]:
    processes = _processes_by_text(placement.state)
    active: list[list[str]] = [[] for _ in processes]
    standby: list[list[str]] = [[] for _ in processes]
    owner, standbys = placement.owner, placement.standbys
    for task, text in _tasks_by_text(placement.state.topology):
        if owner[task] >= 0:
            active[owner[task]].append(text)
        for client in standbys[task]:
            standby[client].append(text)
    return [(text, active[client], standby[client]) for client, text in processes if active[client] or standby[client]]


@derived
def _tasks_by_text(topology: StreamsTopology) -> list[tuple[int, str]]:
    return sorted([(number, str(task)) for task, number in topology.number.items()], key=itemgetter(1))


@derived
def _processes_by_text(state: StreamsState) -> list[tuple[int, str]]:
    return sorted(enumerate(map(_text_of, state.application.streams_client_states())), key=itemgetter(1))


@lru_cache(maxsize=4_096)  # rounds of a history share their processes
def _text_of(process: ProcessID) -> str:
    return str(process)


def _tasks_by_client(assignment: TaskAssignment) -> list[tuple[str, list[str], list[str]]]:
    clients = {str(client.process_id): client for client in assignment.assignments}
    return [
        (process, sorted(map(str, client.active_tasks())), sorted(map(str, client.standby_tasks())))
        for process, client in sorted(clients.items())
        if client.tasks
    ]
