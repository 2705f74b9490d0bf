"""The two solvers cancel exactly the cycles that Kafka's graph cancels, for any costs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api.errors import AssignorLabError
from assignment_api.utils.rack_aware import cycle_canceling
from assignment_api.utils.rack_aware.flow_problem import FlowProblem
from assignment_api.utils.rack_aware.growth import play_period
from assignment_api.utils.rack_aware.internal import InternalRackOptimizer
from assignment_api.utils.rack_aware.one_group import _Clients
from assignment_api.utils.rack_aware.placement import _maximal_flow, _second_stage, balance_subtopology, min_traffic
from assignment_api.utils.rack_aware.task_racks import NO_COST
from assignment_api.utils.rack_aware.whole_graph import EndlessOptimizationError, _Search, cancel_all_cycles
from tests.assignment_api.utils.plain_graph import (
    EndlessCyclesError,
    LiteralGraph,
    literal_balance,
    literal_min_traffic,
)


@st.composite
def problems(draw: st.DrawFn, *, groups: bool) -> FlowProblem:
    tasks = draw(st.integers(1, 14))
    clients = draw(st.integers(1, 6))
    racks = draw(st.integers(1, 3))
    cost = st.integers(0, 3).map(lambda crossed: crossed * draw(st.sampled_from([0, 1, 10])))
    group_of = sorted(draw(st.lists(st.integers(0, 2), min_size=tasks, max_size=tasks))) if groups else [0] * tasks
    numbers = {group: number for number, group in enumerate(sorted(set(group_of)))}
    return FlowProblem(
        [numbers[group] for group in group_of],
        draw(st.lists(st.integers(0, racks - 1), min_size=clients, max_size=clients)),
        [draw(st.lists(cost, min_size=tasks, max_size=tasks)) for _ in range(racks)],
        draw(st.sampled_from([0, 1, 2, 10])),
        draw(st.lists(st.integers(0, clients - 1), min_size=tasks, max_size=tasks)),
    )


def counts(problem: FlowProblem) -> list[int]:
    return [list(problem.holder).count(client) for client in range(len(problem.rack_of))]


@given(problems(groups=False))
def test_minimal_traffic_is_kafkas(problem: FlowProblem) -> None:
    assert min_traffic(problem) == literal_min_traffic(problem)


@given(problems(groups=True))
def test_balanced_subtopologies_are_kafkas(problem: FlowProblem) -> None:
    held = counts(problem)
    assert balance_subtopology(problem, held) == literal_balance(problem, held, _second_stage(problem, held))


@given(problems(groups=False))
def test_every_client_keeps_its_number_of_tasks_and_traffic_does_not_grow(problem: FlowProblem) -> None:
    owner = min_traffic(problem)
    assert sorted(owner) == sorted(problem.holder)
    assert problem.total_cost(owner) <= problem.total_cost(problem.holder)


def large_problem(seed: int, *, balanced: bool) -> FlowProblem:
    rng = random.Random(seed)
    tasks, clients = 60, 12
    group_of = [task // 12 if balanced else 0 for task in range(tasks)]
    costs = [[10 * rng.choice([0, 0, 1, 1, 2]) for _ in range(tasks)] for _ in range(3)]
    holder = [rng.randrange(clients) for _ in range(tasks)]
    return FlowProblem(group_of, [rng.randrange(3) for _ in range(clients)], costs, 1, holder)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_periods_of_sweeps_over_groups_are_skipped_without_another_answer(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = large_problem(seed, balanced=True)
    skipped = []

    def watched(*arguments: object) -> int:
        skipped.append(play_period(*arguments))  # type: ignore[arg-type]
        return skipped[-1]

    monkeypatch.setattr(cycle_canceling, "play_period", watched)
    held = counts(problem)
    assert balance_subtopology(problem, held) == literal_balance(problem, held, _second_stage(problem, held))
    assert any(periods > 0 for periods in skipped)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_periods_of_sweeps_over_one_group_are_skipped_without_another_answer(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = large_problem(seed, balanced=False)
    sweeps = []
    swept, next_cycle = _Clients._swept, _Clients.next_cycle

    def watched(clients: _Clients) -> dict[int, int] | None:
        sweeps.append(0)
        return next_cycle(clients)

    def counted(clients: _Clients, distance: list[int]) -> list[int]:
        sweeps[-1] += 1
        return swept(clients, distance)

    monkeypatch.setattr(_Clients, "next_cycle", watched)
    monkeypatch.setattr(_Clients, "_swept", counted)
    assert min_traffic(problem) == literal_min_traffic(problem)
    assert len(sweeps) > 10
    assert sum(sweeps) < 30 * len(sweeps)  # of 74 sweeps for each cycle


#: Costs of traffic and of moves that Kafka accepts, and that overflow in sums or are their own negative.
ODD_COSTS = st.sampled_from(
    [-(2**31), -(2**30), -(10**9), -7, -1, 0, 1, 10, 5 * 10**8, 10**9, 2**30, 2**30 + 1, 2**31 - 1]
) | st.integers(-(2**31), 2**31 - 1)


@st.composite
def odd_problems(draw: st.DrawFn, *, groups: bool) -> FlowProblem:
    plain = draw(problems(groups=groups))
    traffic = draw(ODD_COSTS)
    crossed = draw(st.sampled_from([1, 2, 3, 9]))
    costs = [[traffic * draw(st.integers(0, crossed)) for _ in row] for row in plain.rack_costs]
    return FlowProblem(plain.group_of, plain.rack_of, costs, draw(ODD_COSTS), plain.holder)


def answer_or_endless(solve: Callable[[], list[int] | None]) -> list[int] | str | None:
    try:
        return solve()
    except (EndlessCyclesError, EndlessOptimizationError):
        return "endless"


@pytest.mark.slow
@settings(max_examples=300)
@given(odd_problems(groups=False))
def test_minimal_traffic_is_kafkas_for_any_costs(problem: FlowProblem) -> None:
    assert answer_or_endless(lambda: min_traffic(problem)) == answer_or_endless(lambda: literal_min_traffic(problem))


@pytest.mark.slow
@settings(max_examples=300)
@given(odd_problems(groups=True))
def test_balanced_subtopologies_are_kafkas_for_any_costs(problem: FlowProblem) -> None:
    held = counts(problem)
    expected = answer_or_endless(lambda: literal_balance(problem, held, _second_stage(problem, held)))
    assert answer_or_endless(lambda: balance_subtopology(problem, held)) == expected


@given(odd_problems(groups=True))
def test_the_solver_for_any_costs_gives_the_same_as_the_one_for_plain_costs(problem: FlowProblem) -> None:
    costs = [[abs(cost) % 100 for cost in row] for row in problem.rack_costs]
    plain = FlowProblem(problem.group_of, problem.rack_of, costs, abs(problem.non_overlap_cost) % 100, problem.holder)
    held = counts(plain)
    capacities = _second_stage(plain, held)
    owner = _maximal_flow(plain, held, capacities)
    assert cancel_all_cycles(plain, owner, capacities) == balance_subtopology(plain, held)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("traffic_cost", [-10, 10**9])
def test_long_tails_of_sweeps_are_skipped_for_any_costs_without_another_answer(
    balanced: bool, traffic_cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(11)
    tasks, clients = 48, 8
    group_of = [task // 12 if balanced else 0 for task in range(tasks)]
    costs = [[traffic_cost * rng.choice([0, 0, 1, 1, 3]) for _ in range(tasks)] for _ in range(3)]
    holder = [rng.randrange(clients) for _ in range(tasks)]
    problem = FlowProblem(group_of, [rng.randrange(3) for _ in range(clients)], costs, 1, holder)
    skipped = []
    play_whole = _Search.play_period

    def watched(search: _Search, length: int, falls: Sequence[int]) -> int:
        skipped.append(play_whole(search, length, falls))
        return skipped[-1]

    monkeypatch.setattr(_Search, "play_period", watched)
    held = counts(problem)
    if balanced:
        assert balance_subtopology(problem, held) == literal_balance(problem, held, _second_stage(problem, held))
    else:
        assert min_traffic(problem) == literal_min_traffic(problem)
    assert any(periods > 0 for periods in skipped)


def test_a_search_that_never_ends_in_kafka_is_an_error() -> None:
    lowest = -(2**31)
    problem = FlowProblem([0, 0], [0, 1], [[0, lowest], [lowest, 0]], 0, [0, 1])
    with pytest.raises(EndlessOptimizationError, match="never ends"):
        min_traffic(problem)


def test_the_reference_examples_of_the_graph_hold() -> None:
    graph = LiteralGraph(0, 4)
    for start, end, capacity, cost, flow in [(0, 1, 1, 1, 0), (0, 3, 1, 1, 1), (1, 2, 2, 1, 0), (1, 3, 1, 1, 0)]:
        graph.add_edge(start, end, capacity, cost, flow)
    for start, end, capacity, cost, flow in [(2, 4, 2, 1, 0), (3, 4, 1, 1, 1)]:
        graph.add_edge(start, end, capacity, cost, flow)
    assert graph.solve_max_flow() == 1


@st.composite
def standbys(draw: st.DrawFn) -> tuple[list[int], list[list[int]], list[set[int]], list[set[int]], int, int]:
    """Racks of clients, changelogs read across racks, actives and standbys of clients, and both costs."""
    clients, tasks, racks = draw(st.integers(1, 5)), draw(st.integers(1, 12)), draw(st.integers(1, 3))
    counted = [draw(st.lists(st.integers(0, 3), min_size=tasks, max_size=tasks)) for _ in range(racks)]
    for task in draw(st.sets(st.integers(0, tasks - 1), max_size=1)):
        for row in counted:
            row[task] = NO_COST
    active: list[set[int]] = [set() for _ in range(clients)]
    standby: list[set[int]] = [set() for _ in range(clients)]
    for task in range(tasks):
        holders = draw(st.lists(st.integers(0, clients - 1), min_size=1, max_size=3, unique=True))
        active[holders[0]].add(task)
        for holder in holders[1:]:
            standby[holder].add(task)
    racks_of = draw(st.lists(st.integers(0, racks - 1), min_size=clients, max_size=clients))
    costs = st.sampled_from([0, 1, 10, -2, 1 << 20])
    return racks_of, counted, active, standby, draw(costs), draw(costs)


def exchanged(given_standbys: tuple[Any, ...], *, quickly: bool) -> list[set[int]] | str:
    racks_of, counted, active, standby, traffic_cost, non_overlap_cost = given_standbys
    optimizer = object.__new__(InternalRackOptimizer if quickly else _WithoutQuickCheck)
    optimizer._rack_of, optimizer._changelog = racks_of, counted
    moved = [set(held) for held in standby]
    try:
        optimizer.optimize_standby(active, moved, traffic_cost, non_overlap_cost, None)
    except AssignorLabError as error:
        return str(error)
    return moved


class _WithoutQuickCheck(InternalRackOptimizer):
    def _quick_check(self, *_costs: object) -> Callable[[object], bool]:
        return lambda _pair: True


@given(standbys())
def test_an_exchange_that_is_not_tried_does_not_pay(given_standbys: tuple[Any, ...]) -> None:
    assert exchanged(given_standbys, quickly=True) == exchanged(given_standbys, quickly=False)
