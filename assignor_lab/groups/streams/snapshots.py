"""The full picture of one state: the previous holders, and each assignor's answer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from assignment_api import ApplicationMetadata, StreamsClientState, TaskAssignment, TaskId
from assignment_api.streams.client_state import UNTOLD_LAG
from assignor_lab.groups.streams.answers import StreamsAnswer, equals_observed, followup_of
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.pictures import (
    AssignorPlacement,
    ClientTasks,
    SnapshotClient,
    SnapshotPlacement,
    SnapshotTask,
    StateSource,
)

__all__ = ["detail_of"]

#: Kafka's lag of a copy with unknown offsets.
UNKNOWN_LAG = -3


def detail_of(answers: Sequence[StreamsAnswer], assignor: str | None = None) -> SnapshotPlacement:
    """Answers to one item and round, at least one.

    In the later rounds of a history each assignor has its own state. The picture then shows that of ``assignor``
    (``None``: the first valid one), with the answers to it. Settings are no part of the state: a variant's answer to
    the same group stands beside the others. The reason of the choice is unknown here.
    """
    made = [answer for answer in answers if answer.state is not None]
    own = [answer for answer in made if answer.assignor == assignor]
    seen = (own or made or answers)[0]
    scenario, application = seen.scenario, seen.state
    group = _group(application)
    return attrs.evolve(
        group,
        scenario="" if scenario is None else scenario.id,
        round=seen.round,
        source=None if scenario is None or scenario.source is None else StateSource(dict(scenario.source)),
        assumptions=() if scenario is None else tuple(scenario.assumptions),
        # Kafka decided under its own settings, which is another state than that of the others.
        after=tuple(
            _after(each)
            for each in answers
            if each.state is application or each.assignor == OBSERVED or _group(each.state) == group
        ),
    )


def _group(application: ApplicationMetadata | None) -> SnapshotPlacement:
    if application is None:
        return SnapshotPlacement(scenario="", round=0, assumptions=(), lags={})
    return SnapshotPlacement(
        scenario="",
        round=0,
        assumptions=(),
        clients=tuple(_client(client) for client in _clients(application)),
        tasks=_tasks(application),
        before=_before(application),
        lags=_lags(application),
    )


def _clients(application: ApplicationMetadata) -> list[StreamsClientState]:
    clients = application.streams_client_states().values()
    return sorted(clients, key=lambda client: client.process_id.sort_key())


def _client(client: StreamsClientState) -> SnapshotClient:
    return SnapshotClient(
        process_id=str(client.process_id),
        host=None if client.host_info is None else str(client.host_info),
        rack=client.rack_id,
        tags=dict(client.client_tags),
        threads=client.num_stream_threads,
        consumers=tuple(client.consumers),
    )


def _tasks(application: ApplicationMetadata) -> tuple[SnapshotTask, ...]:
    stateful = application.stateful_tasks()
    ordered = sorted(application.all_tasks(), key=TaskId.sort_key)
    return tuple(SnapshotTask(str(task), task in stateful) for task in ordered)


def _before(application: ApplicationMetadata) -> dict[str, ClientTasks]:
    tasks = application.all_tasks()
    return {
        str(client.process_id): ClientTasks(
            tuple(str(task) for task in client.previous_active_tasks if task in tasks),
            tuple(str(task) for task in client.previous_standby_tasks if task in tasks),
        )
        for client in _clients(application)
    }


def _lags(application: ApplicationMetadata) -> dict[str, dict[str, int | None]]:
    """The lags of copies that clients had and did not run, if above zero; null: unknown."""
    known = application.for_next_assignor()
    if not known.compute_task_lags():
        return {}
    found: dict[str, dict[str, int | None]] = {}
    for client in _clients(known):
        lags = client.stateful_tasks_to_lag_sums()
        behind = {
            str(task): lag if 0 <= lag < UNTOLD_LAG else None
            for task in client.previous_standby_tasks
            if (lag := lags.get(task, 0)) > 0 or lag == UNKNOWN_LAG
        }
        if behind:
            found[str(client.process_id)] = behind
    return found


def _after(answer: StreamsAnswer) -> AssignorPlacement:
    assignment = answer.outcome.answer
    return AssignorPlacement(
        assignor=answer.assignor,
        error=answer.problem,
        followup=followup_of(answer),
        equals_observed=equals_observed(answer),
        not_comparable=answer.not_comparable,
        assignment=None if assignment is None else _placed(answer.state, assignment),
    )


def _placed(application: ApplicationMetadata | None, assignment: TaskAssignment) -> dict[str, ClientTasks]:
    placed = {str(client.process_id): client for client in assignment.assignments}
    if application is None:
        return {}
    result = {}
    for client in _clients(application):
        held = placed.get(str(client.process_id))
        active, standby = ((), ()) if held is None else (held.active_tasks(), held.standby_tasks())
        result[str(client.process_id)] = ClientTasks(_texts(active), _texts(standby))
    return result


def _texts(tasks: Sequence[TaskId]) -> tuple[str, ...]:
    return tuple(str(task) for task in sorted(tasks, key=TaskId.sort_key))
