"""The division of the work: by its likely cost, and never all at once."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from assignment_api.plugins import discover
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring import Generated
from assignor_lab.scoring.engine.costs import FIRST_GUESS_MS, Costs, Spent, dealt, spent_on
from assignor_lab.scoring.sources.reading import plan_sources

REGISTRY = discover()
SCHEMA = pa.schema(
    [("item", pa.int64()), ("round", pa.int32()), ("source", pa.int32()), ("family", pa.string())]
    + [(name, pa.float64()) for name in ("assign_ms", "build_ms", "metrics_ms")]
)


def rows(*entries: Mapping[str, Any]) -> pa.Table:
    filled = {"round": 0, "source": 0, "family": "f", "assign_ms": 1.0, "build_ms": 2.0, "metrics_ms": 4.0}
    return pa.Table.from_pylist([{**filled, **entry} for entry in entries], schema=SCHEMA)


def history(number: int, seed: int = 0, source: int = 0) -> WorkItem:
    return WorkItem(number, source, family="f", seed=seed)


@pytest.mark.parametrize("hands", [1, 2, 3, 7])
def test_dear_items_are_dealt_first_and_the_smallest_heap_is_next(hands: int) -> None:
    items = [history(number, seed=(number * 37) % 50 + 1) for number in range(100)]
    heaps = dealt(items, hands, lambda item: float(item.seed or 0))
    assert sorted(item.number for heap in heaps for item in heap) == list(range(100))
    costs = [sum(item.seed or 0 for item in heap) for heap in heaps]
    assert max(costs) - min(costs) <= 50
    for heap in heaps:
        seeds = [item.seed or 0 for item in heap]
        assert seeds == sorted(seeds, reverse=True)


def test_one_huge_item_keeps_a_heap_to_itself() -> None:
    items = [history(number) for number in range(9)]
    heaps = dealt(items, 2, lambda item: 100.0 if item.number == 4 else 1.0)
    assert [item.number for item in heaps[0]] == [4]


def test_there_are_no_empty_heaps() -> None:
    assert dealt([history(0), history(1)], 8, lambda _item: 1.0) == [[history(0)], [history(1)]]


def test_time_of_a_shared_state_counts_once() -> None:
    assert spent_on(rows({"item": 1}, {"item": 1})) == Spent(4.0, 2.0, 8.0)
    assert spent_on(rows({"item": 1, "family": None}, {"item": 1, "family": None})) == Spent(2.0, 2.0, 8.0)
    assert spent_on(rows({"item": 1, "assign_ms": None})).total == 6.0


def test_what_was_measured_replaces_the_first_guess() -> None:
    costs = Costs()
    first = [history(0), history(1)]
    assert [costs.of(item) for item in first] == [FIRST_GUESS_MS] * 2
    costs.learn(first, rows({"item": 0}, {"item": 1, "assign_ms": 9.0}))
    assert costs.of(history(2)) == 11.0
    # An unknown source is assumed to be like the others.
    assert costs.of(history(3, source=1)) == 11.0


def test_a_family_tells_its_sizes() -> None:
    costs = Costs({"f": float})
    first = [history(0, seed=3), history(1, seed=11)]
    costs.learn(first, rows({"item": 0}, {"item": 1}))
    assert [costs.of(history(number, seed=number)) for number in (2, 10)] == [2.0, 10.0]


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -1.0, 0.0, "many", None])
def test_a_family_that_tells_nonsense_costs_nobody_anything(answer: Any) -> None:
    assert Costs({"f": lambda _seed: answer}).units(history(0)) == 1.0


def test_a_family_that_fails_costs_nobody_anything() -> None:
    def fails(_seed: int) -> float:
        raise RuntimeError("no")

    assert Costs({"f": fails}).units(history(0)) == 1.0


def test_a_larger_document_is_dearer() -> None:
    costs = Costs()
    assert costs.of(WorkItem(0, 0, "x" * 100_000)) > 10 * costs.of(WorkItem(1, 0, "x" * 100))


def test_a_plan_of_a_thousand_million_histories_is_counted_not_held() -> None:
    tracemalloc.start()
    with plan_sources([Generated("streams_4x40", 10**9, 5)], REGISTRY) as plan:
        assert plan.items == 10**9
        first = list(itertools.islice(plan.work(), 1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first[-1] == WorkItem(999, 0, family="streams_4x40", seed=1004)
    assert peak < 2**20


@pytest.mark.parametrize("family", [found.name for found in REGISTRY.families() if found.plugin.size is not None])
def test_installed_families_tell_sizes_of_some_use(family: str) -> None:
    size = REGISTRY.family(family).plugin.size
    assert size is not None
    sizes = [size(seed) for seed in range(200)]
    assert sizes == [size(seed) for seed in range(200)]
    assert 0 < min(sizes) < max(sizes)
