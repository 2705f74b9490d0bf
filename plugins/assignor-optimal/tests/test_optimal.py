"""The assignor of goals, and its discovery by the lab."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
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
from assignment_api.optimum import Goal, GoalError, Optimum, Problem, SolverMissingError, optimum
from assignment_api.plugins import discover
from assignment_api.streams.workload import TaskWorkload, Workload
from assignment_api.utils import TaskAssignmentUtils
from assignor_optimal import LoadAwareTaskAssignor, OptimalTaskAssignor
from assignor_optimal import transition as transition_module

FIRST, SECOND, THIRD = (ProcessID.parse(f"00000000-0000-0000-0000-00000000000{number}") for number in (1, 2, 3))
TASKS = [TaskId(0, partition) for partition in range(6)]
BOTH = [OptimalTaskAssignor, LoadAwareTaskAssignor]


def info(task: TaskId) -> TaskInfo:
    partitions = (
        TaskTopicPartition("in", task.partition, is_source=True, is_changelog=False),
        TaskTopicPartition("log", task.partition, is_source=False, is_changelog=True),
    )
    return TaskInfo(task, is_stateful=True, is_logged=True, state_store_names=("s",), topic_partitions=partitions)


def client(
    process: ProcessID,
    tasks: Sequence[TaskId] = (),
    *,
    threads: int = 1,
    copies: Sequence[TaskId] = (),
    lags: Mapping[TaskId, int] | None = None,
    tags: Mapping[str, str] | None = None,
) -> StreamsClientState:
    behind: Mapping[Any, Any] = {
        task: LATEST_OFFSET if task in tasks else 0 if task in copies else 100_000 for task in TASKS
    } | dict(lags or {})
    return StreamsClientState(
        process,
        threads,
        previous_active_tasks=tasks,
        previous_standby_tasks=copies,
        lags=behind,
        client_tags=tags or {},
    )


def application(*clients: StreamsClientState, weights: Sequence[float] = (), **configs: Any) -> ApplicationMetadata:
    workload = (
        Workload(
            {task: TaskWorkload(1_000.0, weight=weight) for task, weight in zip(TASKS, weights, strict=True)}, 10.0
        )
        if weights
        else None
    )
    return ApplicationMetadata(AssignmentConfigs(**configs), [info(task) for task in TASKS], clients, workload=workload)


def decided(assignor: TaskAssignor, state: ApplicationMetadata, **configs: Any) -> TaskAssignment:
    name = "optimal" if isinstance(assignor, OptimalTaskAssignor) else "load_aware"
    assignor.configure({f"assignor.{name}.{key}": value for key, value in configs.items()})
    return assignor.assign(state)


def actives(answer: TaskAssignment) -> dict[ProcessID, list[TaskId]]:
    return {held.process_id: sorted(held.active_tasks()) for held in answer.assignments}


def standbys(answer: TaskAssignment) -> dict[ProcessID, list[TaskId]]:
    return {held.process_id: sorted(held.standby_tasks()) for held in answer.assignments}


@pytest.mark.parametrize("assignor", BOTH)
def test_a_balanced_group_stays_as_it_is(assignor: type[TaskAssignor]) -> None:
    answer = assignor().assign(application(client(FIRST, TASKS[3:]), client(SECOND, TASKS[:3])))
    assert actives(answer) == {FIRST: TASKS[3:], SECOND: TASKS[:3]}
    assert [held.followup_rebalance_deadline_ms for held in answer.assignments] == [None, None]


@pytest.mark.parametrize("assignor", BOTH)
def test_a_new_process_gets_warm_ups_first_and_the_group_rebalances_again(assignor: type[TaskAssignor]) -> None:
    answer = assignor().assign(application(client(FIRST, TASKS[:3]), client(SECOND, TASKS[3:]), client(THIRD)))
    assert actives(answer) == {FIRST: TASKS[:3], SECOND: TASKS[3:], THIRD: []}
    assert len(standbys(answer)[THIRD]) == 2
    assert answer.assignments[0].followup_rebalance_deadline_ms == 600_000


@pytest.mark.parametrize("assignor", BOTH)
def test_no_more_warm_ups_than_allowed(assignor: type[TaskAssignor]) -> None:
    answer = assignor().assign(application(client(FIRST, TASKS), client(SECOND), max_warmup_replicas=1))
    assert sum(map(len, standbys(answer).values())) == 1


def test_a_warm_copy_takes_its_task_over() -> None:
    copies = [TASKS[0], TASKS[4]]
    answer = OptimalTaskAssignor().assign(
        application(client(FIRST, TASKS[:3]), client(SECOND, TASKS[3:]), client(THIRD, copies=copies))
    )
    assert actives(answer)[THIRD] == copies


def test_a_warm_up_that_began_goes_on() -> None:
    began = [TASKS[2], TASKS[5]]
    late = dict.fromkeys(began, 50_000)
    state = application(client(FIRST, TASKS[:3]), client(SECOND, TASKS[3:]), client(THIRD, copies=began, lags=late))
    assert standbys(OptimalTaskAssignor().assign(state))[THIRD] == began


def test_standbys_keep_apart_from_actives_and_by_tags() -> None:
    zones = [{"zone": "a"}, {"zone": "a"}, {"zone": "b"}]
    state = application(
        client(FIRST, TASKS[:2], tags=zones[0]),
        client(SECOND, TASKS[2:4], tags=zones[1]),
        client(THIRD, TASKS[4:], tags=zones[2]),
        num_standby_replicas=1,
        rack_aware_assignment_tags=["zone"],
    )
    placed = standbys(OptimalTaskAssignor().assign(state))
    assert placed[THIRD] == TASKS[:4]
    assert sorted(placed[FIRST] + placed[SECOND]) == TASKS[4:]


def test_explain_names_the_goal_that_decided() -> None:
    state = application(client(FIRST, TASKS), client(SECOND, copies=TASKS))
    traced = OptimalTaskAssignor().traced(state)
    assert traced.answer == OptimalTaskAssignor().assign(state)
    rules = Counter(step.rule for step in traced.steps)
    assert rules == {"goal-balance": 6}
    assert {step.rule for step in traced.steps} <= set(traced.rules)


def test_goals_without_their_facts_are_left_out_with_a_remark() -> None:
    answer = decided(OptimalTaskAssignor(), application(client(FIRST)), goals="balance(load), moves")
    assert answer.remarks == ("goal balance(load) is left out: the state lacks its facts",)


def test_standbys_that_must_repeat_tags_are_proved_and_need_no_remark() -> None:
    zones = [{"zone": "a"}, {"zone": "a"}, {"zone": "b"}]
    clients = [client(process, tags=tags) for process, tags in zip((FIRST, SECOND, THIRD), zones, strict=True)]
    state = application(*clients, num_standby_replicas=2, rack_aware_assignment_tags=["zone"])
    answer = OptimalTaskAssignor().assign(state)
    assert not any("standbys repeat" in remark for remark in answer.remarks)


def test_standbys_without_a_proof_have_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition_module, "standbys_of", lambda numbered, *_: [()] * len(numbered.tasks))
    zones = [{"zone": "a"}, {"zone": "a"}, {"zone": "b"}]
    clients = [client(process, tags=tags) for process, tags in zip((FIRST, SECOND, THIRD), zones, strict=True)]
    state = application(*clients, num_standby_replicas=1, rack_aware_assignment_tags=["zone"])
    answer = OptimalTaskAssignor().assign(state)
    assert "standbys repeat 6 values of tags, not proved to be the fewest (bound 0)" in answer.remarks


def test_a_slack_spares_moves() -> None:
    weights = [1.0, 1.01, 0.99, 1.02, 1.0, 1.03]
    state = application(client(FIRST, TASKS[:3]), client(SECOND, TASKS[3:]), weights=weights)
    exact = decided(OptimalTaskAssignor(), state, goals="balance(load), moves")
    assert any(standbys(exact).values())
    loose = decided(OptimalTaskAssignor(), state, goals="balance(load) within 5 %, moves")
    assert actives(loose) == {FIRST: TASKS[:3], SECOND: TASKS[3:]}
    assert not any(standbys(loose).values())
    assert loose.remarks == ()


def test_of_contradicting_goals_the_first_wins() -> None:
    state = application(client(FIRST, TASKS), client(SECOND, copies=TASKS))
    still = decided(OptimalTaskAssignor(), state, goals="moves, balance")
    even = decided(OptimalTaskAssignor(), state, goals="balance, moves")
    assert (len(actives(still)[FIRST]), len(actives(even)[FIRST])) == (6, 3)


def test_a_spent_budget_still_places_every_task_and_reports_its_gap() -> None:
    answer = decided(OptimalTaskAssignor(), application(client(FIRST, TASKS), client(SECOND)), seconds=0)
    assert sum(map(len, actives(answer).values())) == len(TASKS)
    assert any("not proved to be optimal" in remark for remark in answer.remarks)


def test_both_searches_of_a_decision_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float | None] = []

    def slow(problem: Problem, goals: Sequence[Goal], seconds: float | None, nodes: int) -> Optimum:
        given.append(seconds)
        return attrs.evolve(optimum(problem, goals, seconds, nodes), solver_seconds=7.5)

    monkeypatch.setattr("assignor_optimal.optimal.optimum", slow)
    OptimalTaskAssignor().assign(application(client(FIRST, TASKS), client(SECOND)))
    assert given == [10.0, 2.5]


def test_a_missing_solver_is_an_error_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(SolverMissingError, match=r"assignor-lab\[optimum\]"):
        OptimalTaskAssignor().assign(application(client(FIRST, TASKS), client(SECOND)))


@pytest.mark.parametrize("assignor", BOTH)
def test_one_process_no_tasks_and_no_clients(assignor: type[TaskAssignor]) -> None:
    assert actives(assignor().assign(application(client(FIRST)))) == {FIRST: TASKS}
    none = ApplicationMetadata(AssignmentConfigs(), [], [client(FIRST)])
    assert actives(assignor().assign(none)) == {FIRST: []}
    with pytest.raises(TaskAssignmentError, match="no client"):
        assignor().assign(application())


@pytest.mark.parametrize(
    ("assignor", "key", "value"),
    [
        (OptimalTaskAssignor, "assignor.optimal.seconds", "soon"),
        (OptimalTaskAssignor, "assignor.optimal.nodes", -1),
        (OptimalTaskAssignor, "assignor.optimal.goals", 3),
        (LoadAwareTaskAssignor, "assignor.load_aware.horizon.seconds", "nan"),
    ],
)
def test_a_setting_of_the_wrong_type_is_refused(assignor: type[TaskAssignor], key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        assignor().configure({key: value})


def test_an_unknown_goal_is_refused() -> None:
    with pytest.raises(GoalError, match="unknown goal 'speed'"):
        OptimalTaskAssignor().configure({"assignor.optimal.goals": ["speed"]})


# --- load -----------------------------------------------------------------------------------------


def test_the_heavy_task_gets_a_process_for_itself() -> None:
    state = application(client(FIRST, TASKS), client(SECOND, copies=TASKS), weights=[10, 2, 2, 2, 2, 2])
    answer = LoadAwareTaskAssignor().assign(state)
    assert sorted(len(tasks) for tasks in actives(answer).values()) == [1, 5]
    assert answer.remarks[0].startswith("1 moves for load: gain 3.6e+03 s of work, cost 5 s")


def test_a_move_that_costs_more_than_it_gains_is_not_made() -> None:
    # 1,000 bytes at 10 bytes a second: 100 seconds, against a gain of at most the horizon.
    state = application(client(FIRST, TASKS[:4]), client(SECOND, TASKS[4:]), weights=[1, 1, 1, 1, 1, 1])
    moved = decided(LoadAwareTaskAssignor(), state, **{"horizon.seconds": 0})
    assert actives(moved)[FIRST] == TASKS[:4]
    traced = LoadAwareTaskAssignor()
    traced.configure({"assignor.load_aware.horizon.seconds": 3_600})
    steps = [step for step in traced.traced(state).steps if step.rule == "gain"]
    assert [step.words(lambda name: name[-1]) for step in steps] == [
        "moves from 1 to 2: gain 1.2e+03 s of work, cost 100 s"
    ]
    traced.configure({"assignor.load_aware.horizon.seconds": 200})
    assert not [step for step in traced.traced(state).steps if step.rule == "gain"]


def measured_group(
    threads: Sequence[int],
    held: Sequence[Sequence[int]],
    weights: Sequence[float],
    *,
    sizes: bool = True,
    now_ms: int = 0,
) -> ApplicationMetadata:
    """A stateful group; task numbers by process. Without sizes, the time to restore a task is unknown."""
    tasks = [TaskId(0, number) for number in range(len(weights))]
    clients = [
        StreamsClientState(
            ProcessID.parse(f"00000000-0000-0000-0000-{process + 1:012}"),
            threads[process],
            previous_active_tasks=[tasks[number] for number in numbers],
            lags=dict.fromkeys(tasks, 100000) | {tasks[number]: LATEST_OFFSET for number in numbers},
        )
        for process, numbers in enumerate(held)
    ]
    known = {
        task: TaskWorkload(1_000_000.0 if sizes else None, weight=weight)
        for task, weight in zip(tasks, weights, strict=True)
    }
    workload = Workload(known, 100_000.0 if sizes else None)
    return ApplicationMetadata(
        AssignmentConfigs(), [info(task) for task in tasks], clients, workload=workload, current_time_ms=now_ms
    )


def wanted_places(state: ApplicationMetadata, **configs: Any) -> dict[str, str]:
    """Process of each task that `load_aware` moves for its load."""
    assignor = LoadAwareTaskAssignor()
    assignor.configure({f"assignor.load_aware.{key}": value for key, value in configs.items()})
    return {step.task: step.clients[1] for step in assignor.traced(state).steps if step.rule == "gain"}


@pytest.mark.parametrize("count", [3, 5, 8, 16])
def test_noise_of_measured_loads_moves_no_task(count: int) -> None:
    drawn = random.Random(count)
    held = [list(range(process, 64, count)) for process in range(count)]
    for _ in range(250):
        weights = [drawn.gauss(1.0, 0.05) for _ in range(64)]
        assert wanted_places(measured_group([1] * count, held, weights)) == {}


def test_without_a_dead_band_noise_moves_tasks() -> None:
    drawn = random.Random(8)
    held = [list(range(process, 64, 8)) for process in range(8)]
    state = measured_group([1] * 8, held, [drawn.gauss(1.0, 0.05) for _ in range(64)])
    assert wanted_places(state, **{"dead.band": 0})


def test_moves_of_an_hour_are_limited_over_all_its_rebalances() -> None:
    """Each rebalance of an hour may move the same tasks only; the other tasks follow in later hours."""
    held: list[Sequence[int]] = [range(24), []]
    moved: dict[int, set[str]] = {}
    for minute in range(0, 8 * 60, 10):
        state = measured_group([1, 1], held, [1.0 + number / 100 for number in range(24)], now_ms=minute * 60_000)
        found = wanted_places(state, **{"moves.per.hour": 3, "horizon.seconds": 1_000_000})
        moved.setdefault(minute // 60, set()).update(found)
    assert all(len(tasks) <= 3 for tasks in moved.values())
    assert len(set().union(*moved.values())) > 10


def test_a_process_that_is_not_the_idlest_takes_a_task_if_only_it_can() -> None:
    # Loads of 3, 2 and 2.25 per thread: one task more would be 3 on the second process, and 2.5 on the third.
    held = [range(12), range(12, 14), range(14, 23)]
    answer = LoadAwareTaskAssignor().assign(measured_group([4, 1, 4], held, [1.0] * 23))
    assert sum(len(placed.standby_tasks()) for placed in answer.assignments) == 1
    assert len(answer.assignments[2].standby_tasks()) == 1


def test_two_tasks_change_places_if_no_move_helps() -> None:
    moved = wanted_places(measured_group([1, 1], [[0, 1], [2, 3]], [6.0, 4.0, 3.0, 2.0]))
    assert len(moved) == 2
    assert len(set(moved.values())) == 2


def test_restoring_of_unknown_length_is_not_free() -> None:
    state = measured_group([1, 1], [[0, 1], [2, 3]], [3.0, 2.5, 1.5, 1.5], sizes=False)
    assert wanted_places(state)
    assert not wanted_places(state, **{"unknown.restore.seconds": 3_600})


@pytest.mark.parametrize("assignor", BOTH)
@settings(max_examples=40, deadline=None)
@given(
    threads=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    owners=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    copies=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    count=st.integers(0, 2),
)
def test_every_answer_keeps_the_rules(
    assignor: type[TaskAssignor], threads: list[int], owners: list[int], copies: list[int], count: int
) -> None:
    held = [
        client(
            process,
            [task for task, owner in zip(TASKS, owners, strict=True) if owner == number],
            threads=threads[number],
            copies=[
                task
                for task, copy, owner in zip(TASKS, copies, owners, strict=True)
                if copy == number and owner != number
            ],
        )
        for number, process in enumerate((FIRST, SECOND, THIRD)[: len(threads)])
    ]
    state = application(*held, num_standby_replicas=count)
    answer = assignor().assign(state)
    assert TaskAssignmentUtils.validate_task_assignment(state, answer) is AssignmentError.NONE
    assert sorted(task for tasks in actives(answer).values() for task in tasks) == TASKS
    copies_of = Counter(task for tasks in standbys(answer).values() for task in tasks)
    wanted = min(count, len(threads) - 1)
    assert sum(copies_of.values()) <= wanted * len(TASKS) + 2
    assert all(copies_of[task] >= wanted for task in TASKS)


@pytest.mark.parametrize("name", ["optimal", "load_aware"])
def test_the_lab_finds_it_by_its_entry_point(name: str) -> None:
    found = discover().task_assignor(name)
    assert found.distribution == "assignor-optimal"
    assert isinstance(found.create(), TaskAssignor)
