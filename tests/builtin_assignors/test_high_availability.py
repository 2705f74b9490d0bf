from __future__ import annotations

import random
from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    AssignmentError,
    ProcessID,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
    UnknownTaskError,
)
from assignment_api.utils import strict_findings, validate_task_assignment
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor, NoClientsError
from tests.builtin_assignors.applications import applications

LATEST = -2


def assign(application: ApplicationMetadata) -> TaskAssignment:
    return HighAvailabilityTaskAssignor().assign(application.for_next_assignor())


def client(number: int, lags: dict[Any, Any] | None, threads: int = 1) -> StreamsClientState:
    return StreamsClientState(ProcessID(UUID(int=number)), threads, lags=lags)


def stateful(*texts: str) -> list[TaskInfo]:
    return [TaskInfo(TaskId.parse(text), is_stateful=True, is_logged=True) for text in texts]


@given(applications())
def test_every_answer_is_valid(application: ApplicationMetadata) -> None:
    answer = assign(application)
    assert validate_task_assignment(application, answer) is AssignmentError.NONE
    assert strict_findings(application, answer) == ()


@given(applications())
def test_the_input_stays_as_it_was(application: ApplicationMetadata) -> None:
    application.compute_task_lags()
    before = _plain(application)
    HighAvailabilityTaskAssignor().assign(application)
    assert _plain(application) == before


def _plain(application: ApplicationMetadata) -> object:
    states = application.streams_client_states()
    return (
        application.assignment_configs(),
        list(application.task_infos().items()),
        [(process, dict(state.stateful_tasks_to_lag_sums()), state.client_tags) for process, state in states.items()],
    )


@given(applications(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(application: ApplicationMetadata, dice: random.Random) -> None:
    tasks = list(application.task_infos().values())
    clients = list(application.streams_client_states().values())
    leader = next(iter(application.streams_client_states()))
    dice.shuffle(tasks)
    dice.shuffle(clients)
    shuffled = ApplicationMetadata(
        application.assignment_configs(), tasks, clients, application.current_time_ms(), leader
    )
    assert set(assign(shuffled).assignments) == set(assign(application).assignments)


@given(applications())
def test_stateless_and_stateful_tasks_are_spread_by_threads(application: ApplicationMetadata) -> None:
    """All clients are caught up, so no task waits. Then clients differ by at most one thread's share."""
    states = application.streams_client_states()
    level = ApplicationMetadata(
        application.assignment_configs(),
        application.task_infos().values(),
        [client(process.id.int, dict.fromkeys(application.stateful_tasks(), 0)) for process in states],
    )
    counts = [len(assigned.active_tasks()) for assigned in assign(level).assignments]
    assert max(counts) - min(counts) <= 1


@given(applications())
def test_an_ideal_placement_that_runs_everywhere_is_kept(application: ApplicationMetadata) -> None:
    """If all clients already run their ideal placement, and no other client has state, no follow-up is needed."""
    ideal = assign(
        ApplicationMetadata(
            application.assignment_configs(),
            application.task_infos().values(),
            [
                client(process.id.int, dict.fromkeys(application.stateful_tasks(), 0))
                for process in application.streams_client_states()
            ],
        )
    )
    running = ApplicationMetadata(
        application.assignment_configs(),
        application.task_infos().values(),
        [
            client(
                assigned.process_id.id.int,
                {
                    task: LATEST
                    if task in assigned.active_tasks()
                    else 0
                    if task in assigned.standby_tasks()
                    else 10**9
                    for task in application.stateful_tasks()
                },
            )
            for assigned in ideal.assignments
        ],
    )
    assert assign(running) == ideal


def test_the_leader_is_told_to_come_back_after_the_probing_interval() -> None:
    tasks = stateful("0_0", "0_1")
    ahead = client(1, {info.id: LATEST for info in tasks})
    behind = client(2, {info.id: 100_000 for info in tasks})
    application = ApplicationMetadata(
        AssignmentConfigs(probing_rebalance_interval_ms=60_000), tasks, [ahead, behind], 1_000, behind.process_id
    )
    assigned = {each.process_id: each for each in assign(application).assignments}
    assert assigned[behind.process_id].followup_rebalance_deadline_ms == 61_000
    assert assigned[ahead.process_id].followup_rebalance_deadline_ms is None
    assert assigned[ahead.process_id].active_tasks() == tuple(info.id for info in tasks)
    assert assigned[behind.process_id].standby_tasks() == (TaskId(0, 1),)


def test_without_a_known_leader_the_first_client_is_told() -> None:
    tasks = stateful("0_0", "0_1")
    clients = [client(2, {info.id: 100_000 for info in tasks}), client(1, {info.id: LATEST for info in tasks})]
    answer = assign(ApplicationMetadata(AssignmentConfigs(), tasks, clients, 1_000))
    assert [each.followup_rebalance_deadline_ms for each in answer.assignments] == [601_000, None]


def test_without_lags_the_ideal_placement_is_the_answer() -> None:
    tasks = stateful("0_0", "0_1", "0_2")
    answer = assign(ApplicationMetadata(AssignmentConfigs(), tasks, [client(1, None), client(2, None)]))
    assert [[str(task) for task in each.active_tasks()] for each in answer.assignments] == [["0_0", "0_2"], ["0_1"]]
    assert [each.followup_rebalance_deadline_ms for each in answer.assignments] == [None, None]


def test_a_missing_lag_names_the_task() -> None:
    tasks = stateful("0_0", "0_1")
    clients = [client(1, {TaskId(0, 0): 0, TaskId(0, 1): 0}), client(2, {TaskId(0, 0): 0})]
    with pytest.raises(UnknownTaskError, match=r"^Tried to lookup lag for unknown task 0_1$") as caught:
        assign(ApplicationMetadata(AssignmentConfigs(), tasks, clients))
    assert caught.value.java_type == "IllegalStateException"


def test_tasks_without_clients_are_refused() -> None:
    with pytest.raises(NoClientsError, match="at least one client"):
        assign(ApplicationMetadata(AssignmentConfigs(), stateful("0_0"), []))


def test_nothing_to_place_is_an_answer_too() -> None:
    assert assign(ApplicationMetadata(AssignmentConfigs(), [], [])).assignments == ()
    (alone,) = assign(ApplicationMetadata(AssignmentConfigs(), [], [client(1, {})])).assignments
    assert alone.tasks == ()


def test_a_task_with_a_store_but_no_changelog_counts_as_stateless() -> None:
    task = TaskInfo(TaskId(0, 0), is_stateful=True, is_logged=False)
    configs = AssignmentConfigs(num_standby_replicas=1)
    answer = assign(ApplicationMetadata(configs, [task], [client(1, {}), client(2, {})]))
    assert Counter(each.type.value for assigned in answer.assignments for each in assigned.tasks) == {"active": 1}


def test_a_client_without_threads_gets_its_turn_but_nothing_for_balance() -> None:
    """Kafka divides by the number of threads: such a client counts as infinitely busy, or as busier if it is idle."""
    tasks = [*stateful("0_0", "0_1", "0_2"), *(TaskInfo(TaskId(1, number), False, False) for number in range(3))]
    lags = dict.fromkeys([task.id for task in tasks if task.is_logged], 0)
    idle, busy = assign(
        ApplicationMetadata(AssignmentConfigs(), tasks, [client(1, lags, 0), client(2, lags)])
    ).assignments
    assert [str(task) for task in idle.active_tasks()] == ["0_0", "0_2"]
    assert [str(task) for task in busy.active_tasks()] == ["0_1", "1_0", "1_1", "1_2"]
