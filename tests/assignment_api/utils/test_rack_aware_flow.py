"""The fast solver cancels the very cycles that Kafka's graph cancels."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api.utils.rack_aware import cycle_canceling
from assignment_api.utils.rack_aware.flow_problem import FlowProblem
from assignment_api.utils.rack_aware.growth import play_period
from assignment_api.utils.rack_aware.literal_graph import LiteralGraph
from assignment_api.utils.rack_aware.placement import (
    _literal_balance,
    _literal_min_traffic,
    _second_stage,
    balance_subtopology,
    min_traffic,
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
    assert min_traffic(problem) == _literal_min_traffic(problem)


@given(problems(groups=True))
def test_balanced_subtopologies_are_kafkas(problem: FlowProblem) -> None:
    held = counts(problem)
    assert balance_subtopology(problem, held) == _literal_balance(problem, held, _second_stage(problem, held))


@given(problems(groups=False))
def test_every_client_keeps_its_number_of_tasks_and_traffic_does_not_grow(problem: FlowProblem) -> None:
    owner = min_traffic(problem)
    assert sorted(owner) == sorted(problem.holder)
    assert problem.total_cost(owner) <= problem.total_cost(problem.holder)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_long_tails_of_sweeps_are_skipped_without_another_answer(
    balanced: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    tasks, clients = 60, 12
    group_of = [task // 12 if balanced else 0 for task in range(tasks)]
    costs = [[10 * rng.choice([0, 0, 1, 1, 2]) for _ in range(tasks)] for _ in range(3)]
    holder = [rng.randrange(clients) for _ in range(tasks)]
    problem = FlowProblem(group_of, [rng.randrange(3) for _ in range(clients)], costs, 1, holder)
    skipped = []

    def watched(*arguments: object) -> int:
        skipped.append(play_period(*arguments))  # type: ignore[arg-type]
        return skipped[-1]

    monkeypatch.setattr(cycle_canceling, "play_period", watched)
    held = counts(problem)
    if balanced:
        assert balance_subtopology(problem, held) == _literal_balance(problem, held, _second_stage(problem, held))
    else:
        assert min_traffic(problem) == _literal_min_traffic(problem)
    assert any(periods > 0 for periods in skipped)


@settings(max_examples=50)
@given(problems(groups=False), st.integers(-20, -1))
def test_negative_costs_go_through_kafkas_own_graph(problem: FlowProblem, cost: int) -> None:
    negative = FlowProblem(problem.group_of, problem.rack_of, problem.rack_costs, cost, problem.holder)
    owner = min_traffic(negative)
    assert sorted(owner) == sorted(problem.holder)
    assert negative.total_cost(owner) <= negative.total_cost(problem.holder)


def test_the_reference_examples_of_the_graph_hold() -> None:
    graph = LiteralGraph(0, 4)
    for start, end, capacity, cost, flow in [(0, 1, 1, 1, 0), (0, 3, 1, 1, 1), (1, 2, 2, 1, 0), (1, 3, 1, 1, 0)]:
        graph.add_edge(start, end, capacity, cost, flow)
    for start, end, capacity, cost, flow in [(2, 4, 2, 1, 0), (3, 4, 1, 1, 1)]:
        graph.add_edge(start, end, capacity, cost, flow)
    assert graph.solve_max_flow() == 1
