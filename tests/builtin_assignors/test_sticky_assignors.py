from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    AssignmentError,
    AssignorLabError,
    ProcessID,
    StreamsClientState,
    TaskAssignor,
    TaskId,
    TaskInfo,
    TaskTopicPartition,
)
from assignment_api.releases import release_named
from assignment_api.utils.validation import strict_findings, validate_task_assignment
from builtin_assignors.fallback_prior import FallbackPriorTaskAssignor
from builtin_assignors.legacy_sticky import LegacyStickyTaskAssignor
from builtin_assignors.sticky import StickyTaskAssignor

ROOT = Path(__file__).parents[2]
ASSIGNORS: list[Callable[[], TaskAssignor]] = [StickyTaskAssignor, LegacyStickyTaskAssignor, FallbackPriorTaskAssignor]
TASKS = [TaskId(g, p) for g in range(3) for p in range(4)]


def info(task: TaskId) -> TaskInfo:
    source = TaskTopicPartition("in", task.partition, True, False)
    changelog = TaskTopicPartition("store-changelog", task.partition, False, True)
    if task.subtopology == 2:
        return TaskInfo(task, False, False, (), (source,))
    return TaskInfo(task, True, True, ("store",), (source, changelog))


def client(
    number: int, threads: int = 1, active: tuple[TaskId, ...] = (), standby: tuple[TaskId, ...] = ()
) -> StreamsClientState:
    return StreamsClientState(
        ProcessID(UUID(int=number)), threads, previous_active_tasks=active, previous_standby_tasks=standby
    )


def application(
    clients: list[StreamsClientState], tasks: list[TaskId] = TASKS, standbys: int = 1
) -> ApplicationMetadata:
    configs = AssignmentConfigs(num_standby_replicas=standbys)
    return ApplicationMetadata(configs, [info(task) for task in tasks], clients)


@st.composite
def applications(draw: st.DrawFn) -> ApplicationMetadata:
    numbers = draw(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=6, unique=True))
    owners = {task: draw(st.sampled_from([*numbers, None])) for task in TASKS}
    shadows = {task: draw(st.sets(st.sampled_from(numbers))) for task in TASKS if task.subtopology < 2}
    clients = [
        client(
            number,
            draw(st.integers(1, 3)),
            tuple(task for task in TASKS if owners[task] == number),
            tuple(task for task in shadows if number in shadows[task] and owners[task] != number),
        )
        for number in numbers
    ]
    existing = draw(st.lists(st.sampled_from(TASKS), unique=True))
    return application(clients, existing, draw(st.integers(0, 7)))


@settings(deadline=None)
@given(applications())
def test_every_answer_is_valid_by_kafkas_rules_and_by_the_stricter_ones(app: ApplicationMetadata) -> None:
    for make in ASSIGNORS:
        answer = make().assign(app)
        assert (make, validate_task_assignment(app, answer)) == (make, AssignmentError.NONE)
        assert (make, strict_findings(app, answer, warmup_replicas=0)) == (make, ())


@settings(deadline=None)
@given(applications())
def test_one_state_has_one_answer_and_is_left_as_it_was(app: ApplicationMetadata) -> None:
    before = repr((app.streams_client_states(), app.task_infos()))
    for make in ASSIGNORS:
        assert (make, make().assign(app)) == (make, make().assign(app))
        assert (make, repr((app.streams_client_states(), app.task_infos()))) == (make, before)


@settings(deadline=None)
@given(applications())
def test_each_stateful_task_gets_as_many_standbys_as_there_are_other_clients(app: ApplicationMetadata) -> None:
    possible = min(app.assignment_configs().num_standby_replicas, len(app.streams_client_states()) - 1)
    expected = sorted(task for task in app.stateful_tasks() for _ in range(possible))
    for make in ASSIGNORS:
        held = [task for one in make().assign(app).assignments for task in one.standby_tasks()]
        assert (make, sorted(held)) == (make, expected)


@settings(deadline=None)
@given(applications())
def test_fallback_prior_never_moves_an_active_task(app: ApplicationMetadata) -> None:
    answer = FallbackPriorTaskAssignor().assign(app)
    active = {task: one.process_id for one in answer.assignments for task in one.active_tasks()}
    for state in app.streams_client_states().values():
        for task in state.previous_active_tasks:
            assert active.get(task, state.process_id) == state.process_id


def test_fallback_prior_asks_the_leaders_client_alone_for_a_probing_rebalance() -> None:
    clients = [client(1), client(2)]
    app = ApplicationMetadata(
        AssignmentConfigs(probing_rebalance_interval_ms=60_000),
        [info(task) for task in TASKS],
        clients,
        current_time_ms=5,
        leader_process_id=clients[1].process_id,
    )
    answer = FallbackPriorTaskAssignor().assign(app)
    assert [one.followup_rebalance_deadline_ms for one in answer.assignments] == [None, 60_005]


def test_without_a_known_leader_the_first_client_is_asked() -> None:
    answer = FallbackPriorTaskAssignor().assign(application([client(2), client(1)]))
    assert [one.followup_rebalance_deadline_ms for one in answer.assignments] == [600_000, None]


@pytest.mark.parametrize("make", [StickyTaskAssignor, LegacyStickyTaskAssignor])
def test_the_other_two_never_ask_for_one(make: type[TaskAssignor]) -> None:
    answer = make().assign(application([client(1), client(2)]))
    assert {one.followup_rebalance_deadline_ms for one in answer.assignments} == {None}


def test_clients_come_in_the_order_of_the_input() -> None:
    answer = StickyTaskAssignor().assign(application([client(3), client(1), client(2)]))
    assert [one.process_id.id.int for one in answer.assignments] == [3, 1, 2]


def test_previous_tasks_that_no_longer_exist_are_given_to_nobody() -> None:
    gone = TaskId(9, 9)
    app = application([client(1, active=(gone,)), client(2, standby=(gone,))], [TaskId(0, 0)])
    held = [task.id for one in StickyTaskAssignor().assign(app).assignments for task in one.tasks]
    assert held == [TaskId(0, 0), TaskId(0, 0)]


@pytest.mark.parametrize(
    ("make", "java_type"),
    [
        (partial(StickyTaskAssignor, release=release_named("4.3")), "ArithmeticException"),
        (LegacyStickyTaskAssignor, "IllegalStateException"),
        (FallbackPriorTaskAssignor, "IllegalStateException"),
    ],
)
@pytest.mark.parametrize("clients", [[], [client(1, threads=0)]])
def test_without_any_thread_they_fail_as_kafka_does(
    make: Callable[[], TaskAssignor], java_type: str, clients: list[StreamsClientState]
) -> None:
    with pytest.raises(AssignorLabError, match="thread") as raised:
        make().assign(application(clients))
    assert raised.value.java_type == java_type


def test_since_4_4_public_sticky_fails_without_any_thread_only_if_a_previous_client_is_judged() -> None:
    cold = StickyTaskAssignor().assign(application([client(1, threads=0)]))
    assert [len(one.tasks) for one in cold.assignments] == [len(TASKS)]
    with pytest.raises(AssignorLabError, match="thread") as raised:
        StickyTaskAssignor().assign(application([client(1, threads=0, active=(TASKS[0],))]))
    assert raised.value.java_type == "ArithmeticException"


def test_legacy_sticky_refuses_to_compare_a_client_without_threads() -> None:
    app = application([client(1, threads=0), client(2)], standbys=0)
    with pytest.raises(AssignorLabError, match="greater than 0") as raised:
        LegacyStickyTaskAssignor().assign(app)
    assert raised.value.java_type == "IllegalStateException"


@pytest.mark.slow
@pytest.mark.parametrize("make", ASSIGNORS)
def test_more_tasks_than_kafka_can_pair_are_refused(make: type[TaskAssignor]) -> None:
    tasks = [TaskInfo(TaskId(0, partition), False, False) for partition in range(46_342)]
    with pytest.raises(AssignorLabError, match="Illegal initial capacity: -1073716337") as raised:
        make().assign(ApplicationMetadata(AssignmentConfigs(), tasks, [client(1)]))
    assert raised.value.java_type == "IllegalArgumentException"
