"""The two assignors, and their discovery by the lab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api import (
    LATEST_OFFSET,
    ApplicationMetadata,
    AssignmentConfigs,
    AssignmentError,
    ConfigError,
    ProcessID,
    StreamsClientState,
    TaskAssignment,
    TaskAssignmentError,
    TaskAssignor,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)
from assignment_api.plugins import discover
from assignment_api.utils import TaskAssignmentUtils
from assignor_round_robin import RoundRobinTaskAssignor, WeightedSpreadTaskAssignor

FIRST, SECOND, THIRD = (ProcessID.parse(f"00000000-0000-0000-0000-00000000000{number}") for number in (1, 2, 3))
TASKS = [TaskId(0, partition) for partition in range(6)]


def info(task: TaskId) -> TaskInfo:
    partitions = (
        TaskTopicPartition("in", task.partition, is_source=True, is_changelog=False),
        TaskTopicPartition("log", task.partition, is_source=False, is_changelog=True),
    )
    return TaskInfo(task, is_stateful=True, is_logged=True, state_store_names=("s",), topic_partitions=partitions)


def client(
    process: ProcessID, threads: int, tasks: Sequence[TaskId] = (), lags: Mapping[TaskId, int] | None = None
) -> StreamsClientState:
    behind: Mapping[Any, Any] = {task: LATEST_OFFSET if task in tasks else 1_000 for task in TASKS} | dict(lags or {})
    return StreamsClientState(process, threads, previous_active_tasks=tasks, lags=behind)


def application(*clients: StreamsClientState, standbys: int = 0) -> ApplicationMetadata:
    configs = AssignmentConfigs(num_standby_replicas=standbys)
    return ApplicationMetadata(configs, [info(task) for task in TASKS], clients)


def actives(assignment: TaskAssignment) -> dict[ProcessID, list[TaskId]]:
    return {held.process_id: sorted(held.active_tasks()) for held in assignment.assignments}


def moves(assignment: TaskAssignment, state: ApplicationMetadata) -> int:
    before = {
        task: process for process, held in state.streams_client_states().items() for task in held.previous_active_tasks
    }
    return sum(before.get(task, process) != process for process, tasks in actives(assignment).items() for task in tasks)


def test_round_robin_deals_to_threads_in_turn() -> None:
    placed = actives(RoundRobinTaskAssignor().assign(application(client(FIRST, 2), client(SECOND, 1))))
    assert placed == {FIRST: [TASKS[0], TASKS[2], TASKS[3], TASKS[5]], SECOND: [TASKS[1], TASKS[4]]}


def test_weighted_spread_leaves_a_balanced_group_alone() -> None:
    state = application(client(FIRST, 1, TASKS[3:]), client(SECOND, 1, TASKS[:3]))
    assert actives(WeightedSpreadTaskAssignor().assign(state)) == {FIRST: TASKS[3:], SECOND: TASKS[:3]}


def test_weighted_spread_moves_only_what_a_new_client_must_get() -> None:
    state = application(client(FIRST, 1, TASKS[:3]), client(SECOND, 1, TASKS[3:]), client(THIRD, 1))
    answer = WeightedSpreadTaskAssignor().assign(state)
    assert Counter(map(len, actives(answer).values())) == {2: 3}
    assert moves(answer, state) == 2


def test_weighted_spread_gives_orphans_to_the_client_that_is_least_behind() -> None:
    state = application(client(FIRST, 1, TASKS[:2]), client(SECOND, 1, TASKS[2:4], lags={TASKS[5]: 3}))
    assert TASKS[5] in actives(WeightedSpreadTaskAssignor().assign(state))[SECOND]


def test_weighted_spread_gives_shares_by_threads() -> None:
    placed = actives(WeightedSpreadTaskAssignor().assign(application(client(FIRST, 2), client(SECOND, 1))))
    assert {process: len(tasks) for process, tasks in placed.items()} == {FIRST: 4, SECOND: 2}


def test_weighted_spread_moves_no_more_than_it_may_and_asks_for_another_rebalance() -> None:
    state = application(client(FIRST, 1, TASKS), client(SECOND, 1))
    assignor = WeightedSpreadTaskAssignor()
    assignor.configure({"assignor.weighted_spread.max_moves": "1"})
    answer = assignor.assign(state)
    assert moves(answer, state) == 1
    assert [held.followup_rebalance_deadline_ms for held in answer.assignments] == [600_000, None]


def test_weighted_spread_refuses_a_setting_that_is_no_number() -> None:
    with pytest.raises(ConfigError, match=r"assignor\.weighted_spread\.max_moves"):
        WeightedSpreadTaskAssignor().configure({"assignor.weighted_spread.max_moves": "many"})


@pytest.mark.parametrize("assignor", [RoundRobinTaskAssignor, WeightedSpreadTaskAssignor])
def test_a_group_without_threads_keeps_its_old_assignment(assignor: type[TaskAssignor]) -> None:
    with pytest.raises(TaskAssignmentError):
        assignor().assign(application(client(FIRST, 0)))


@pytest.mark.parametrize("assignor", [RoundRobinTaskAssignor, WeightedSpreadTaskAssignor])
@given(
    threads=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    owners=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    standbys=st.integers(0, 2),
)
def test_kafka_accepts_every_answer(
    assignor: type[TaskAssignor], threads: list[int], owners: list[int], standbys: int
) -> None:
    processes = (FIRST, SECOND, THIRD)
    clients = [
        client(processes[number], count, [task for task, owner in zip(TASKS, owners, strict=True) if owner == number])
        for number, count in enumerate(threads)
    ]
    state = application(*clients, standbys=standbys)
    answer = assignor().assign(state)
    assert TaskAssignmentUtils.validate_task_assignment(state, answer) is AssignmentError.NONE
    assert sum(map(len, actives(answer).values())) == len(TASKS)


@pytest.mark.parametrize("name", ["round_robin", "weighted_spread"])
def test_the_lab_finds_it_by_its_entry_point(name: str) -> None:
    found = discover().task_assignor(name)
    assert found.distribution == "assignor-round-robin"
    assert isinstance(found.create(), TaskAssignor)
