from __future__ import annotations

import random
import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    AssignmentConfigs,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskId,
    TaskInfo,
)
from assignment_api.optimum import (
    Goal,
    GoalError,
    NoAnswerError,
    Problem,
    SolverMissingError,
    gaps,
    goals_of,
    optimum,
    problem_of,
    spread_of,
)
from assignment_api.optimum.problem import loads, value
from tests.assignment_api.optimum.brute_force import better_answers, difference

USUAL = goals_of("ready, balance, fill, moves")


def problem(threads: list[int], before: Sequence[tuple[int, ...]], **more: Any) -> Problem:
    return Problem(threads, before, more.pop("ready", [()] * len(before)), **more)


def test_optimum_and_gaps_equal_the_best_of_all_placements() -> None:
    assert [text for text in map(difference, range(100)) if text] == []


@pytest.mark.slow
def test_no_answer_of_a_built_in_is_better_than_the_bound() -> None:
    found, answers = better_answers(0)
    assert found == []
    assert answers > 40


def test_a_new_process_takes_its_share_and_nothing_else_moves() -> None:
    found = optimum(problem([1, 1, 1], [(0,)] * 3 + [(1,)] * 3), goals_of("balance, fill, moves"))
    assert found.is_optimal
    assert sorted(found.owners) == [0, 0, 1, 1, 2, 2]
    assert [best.value for best in found.goals] == [2, 0, 2]


def test_an_earlier_goal_wins_where_two_contradict_each_other() -> None:
    crowded = problem([1, 1], [(0,)] * 4)
    assert optimum(crowded, goals_of("balance, moves")).goals[1].value == 2
    assert optimum(crowded, goals_of("moves, balance")).goals[1].value == 4


def test_three_of_six_moves_are_unavoidable() -> None:
    before = [(0,)] * 4 + [(1,)] * 4 + [(2,)] * 4
    answer = [3, 3, 3, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    balance, moves = gaps(problem([1, 1, 1, 1], before), goals_of("balance, moves"), answer)
    assert (balance.absolute, moves.value, moves.bound) == (0, 6, 3)
    assert (moves.absolute, moves.relative, moves.is_exact) == (3, 0.5, True)


def test_the_moves_of_an_unbalanced_answer_are_measured_against_its_own_balance() -> None:
    _, moves = gaps(problem([1, 1], [(0,)] * 4), goals_of("balance, moves"), [0, 0, 0, 1])
    assert (moves.value, moves.bound) == (1, 1)


def test_copies_take_different_values_of_the_tags() -> None:
    """Zones a, b, b and clusters x, x, y: a copy beside the one in a and x has two new values in b and y alone."""
    tags = {"zone": ("a", "b", "b"), "cluster": ("x", "x", "y")}
    processes = [ProcessID.parse(f"00000000-0000-0000-0000-00000000000{number}") for number in range(3)]
    clients = [
        StreamsClientState(process, 1, client_tags={key: values[number] for key, values in tags.items()})
        for number, process in enumerate(processes)
    ]
    task = TaskInfo(TaskId(0, 0), is_stateful=True, is_logged=True)
    configs = AssignmentConfigs(num_standby_replicas=1, rack_aware_assignment_tags=tuple(tags))
    numbered = problem_of(ApplicationMetadata(configs, [task], clients))
    goals = goals_of("spread(tags), balance")
    assert [value(numbered.problem, goals[0], [owner]) for owner in range(3)] == [0, 1, 0]

    def placed(active: int, *standbys: int) -> TaskAssignment:
        held = [[AssignedTask(task.id, AssignedTaskType.ACTIVE)] if number == active else [] for number in range(3)]
        for number in standbys:
            held[number].append(AssignedTask.standby(task.id))
        return TaskAssignment(list(map(StreamsClientAssignment.of, processes, held)))

    for answer, clashes in ((placed(0, 2), 0), (placed(0, 1), 1), (placed(0), 2), (placed(0, 1, 2), 0)):
        assert spread_of(numbered, answer) == clashes
        gap = gaps(numbered.problem, goals, [0], spread=spread_of(numbered, answer))[0]
        assert (gap.value, gap.bound, gap.is_exact) == (clashes, 0, True)


@pytest.mark.parametrize("configs", [{}, {"num_standby_replicas": 1}, {"rack_aware_assignment_tags": ("zone",)}])
def test_spread_needs_tags_and_standbys(configs: dict[str, Any]) -> None:
    clients = [
        StreamsClientState(ProcessID.parse(f"00000000-0000-0000-0000-00000000000{number}"), 1) for number in (1, 2)
    ]
    task = TaskInfo(TaskId(0, 0), is_stateful=True, is_logged=True)
    numbered = problem_of(ApplicationMetadata(AssignmentConfigs(**configs), [task], clients))
    with pytest.raises(GoalError, match=r"goal spread\(tags\) needs rack.aware.assignment.tags, standbys"):
        optimum(numbered.problem, goals_of("spread"))


def test_no_tasks_have_an_optimum_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert optimum(problem([1], []), USUAL).is_optimal
    assert [gap.absolute for gap in gaps(problem([1], []), USUAL, [])] == [0, 0, 0, 0]


def test_one_process_takes_everything() -> None:
    found = optimum(problem([2], [(), (0,)]), USUAL)
    assert (found.owners, found.is_optimal) == ([0, 0], True)


def test_tasks_without_a_process_are_an_error() -> None:
    with pytest.raises(NoAnswerError, match="2 tasks and no process"):
        optimum(problem([], [(), ()]), USUAL)


def test_a_missing_solver_is_an_error_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(SolverMissingError, match=r"assignor-lab\[optimum\]"):
        optimum(problem([1, 1], [(0,)] * 3), USUAL)


def test_unknown_racks_and_weights_are_errors_with_a_remedy() -> None:
    with pytest.raises(GoalError, match="racks of every source partition"):
        optimum(problem([1], [()]), goals_of("racks"))
    with pytest.raises(GoalError, match="give a workload"):
        optimum(problem([1], [()]), goals_of("balance(load)"))
    with pytest.raises(GoalError, match="not a number from 0"):
        optimum(problem([1], [()], weights={"load": [-1.0]}), goals_of("balance(load)"))
    with pytest.raises(GoalError, match="not a number from 0"):
        optimum(problem([1], [()], weights={"load": [float("nan")]}), goals_of("balance(load)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 1 to 16 goals"),
        ("balance,balance(tasks)", "occurs twice"),
        ("speed", "unknown goal 'speed'"),
        ("moves(weight)", "unknown weight 'weight'"),
        ("moves(partitions)", "cannot have weight"),
        ("racks(bytes)", "cannot have weight"),
        ("moves(", "malformed goal"),
        ("ready," * 400, "expected 1 to 16 goals"),
    ],
)
def test_a_malformed_list_of_goals_is_refused(text: str, message: str) -> None:
    with pytest.raises(GoalError, match=message):
        goals_of(text)


def test_a_spent_budget_leaves_an_answer_and_no_proof() -> None:
    crowded = problem([1, 1, 1], [(0,)] * 30)
    found = optimum(crowded, goals_of("balance, moves"), seconds=0)
    assert not found.is_optimal
    assert [best.value for best in found.goals] == [10, 20]
    assert all(best.value >= best.bound for best in found.goals)


def test_more_weights_than_the_solver_takes_have_a_bound_and_a_placement() -> None:
    weights = [float(number % 977 + 1) / 7 for number in range(3_000)]
    many = problem([1] * 300, [(number % 200,) for number in range(3_000)], weights={"load": weights})
    goals = goals_of("balance(load), moves")
    found = optimum(many, goals)
    assert not found.is_optimal
    balance, _ = found.goals
    assert balance.bound <= balance.value < 1.05 * balance.bound
    assert balance.value == pytest.approx(float(value(many, Goal("balance", "load"), found.owners)))


def measured(seed: int) -> Problem:
    draw = random.Random(seed)
    weights = [draw.lognormvariate(0, 0.6) for _ in range(40)]
    return problem([1] * 4, [(task % 4,) for task in range(40)], weights={"load": weights})


@pytest.mark.parametrize("seed", range(4))
def test_a_slack_of_measured_loads_is_proved_with_few_moves(seed: int) -> None:
    group = measured(seed)
    found = optimum(group, goals_of("balance(load) within 5 %, moves(tasks)"), nodes=500)
    assert found.is_optimal
    assert found.goals[1].value <= 3
    load = loads(group, Goal("balance", "load"), found.owners)
    # A process has about ten tasks, each rounded by half a twentieth of the mean at most.
    assert max(load) <= 1.05 * found.goals[0].bound + 10 / 40
    (balance, moves) = gaps(group, goals_of("balance(load) within 5 %, moves(tasks)"), found.owners)
    assert (balance.absolute, moves.absolute) == (0, 0)


def test_goals_with_a_slack_are_read_and_shown() -> None:
    (goal,) = goals_of("balance( load )  within 2.5%")
    assert (goal.kind, goal.weight, goal.slack) == ("balance", "load", Fraction(1, 40))
    assert str(goal) == "balance(load) within 2.5 %"
    assert goals_of(str(goal)) == (goal,)
    assert goals_of("moves within 10 %")[0] == Goal("moves", "tasks", Fraction(1, 10))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fill(load) within 5 %", "goal fill cannot have a slack: balance, moves, racks can"),
        ("balance within 101 %", "expected a slack from 0 to 100 %, not 101 %"),
        ("balance within much", "malformed goal 'balance within much'"),
        ("balance within 5 %, balance", "goal balance(tasks) occurs twice"),
    ],
)
def test_an_impossible_slack_is_refused(text: str, message: str) -> None:
    with pytest.raises(GoalError, match=re.escape(message)):
        goals_of(text)
